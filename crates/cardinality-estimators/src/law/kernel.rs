//! What noise makes of the number of sketches that hold a cell.

use crate::BitChannel;

/// Smaller probabilities count as 0: nothing depends on them, and numbers below the normal ones are slow.
const NEGLIGIBLE: f64 = 1e-290;

/// `K[x, m]` at `x·(k+1) + m`: of `k` sketches behind one channel, `x` show a one in a cell that `m` of them hold.
///
/// `X ~ Bin(m, p) + Bin(k − m, q)`, built sketch by sketch from sums of positive terms.
pub(crate) fn kernel(channel: BitChannel, sketches: usize) -> Vec<f64> {
    let width = sketches + 1;
    let mut kernel = vec![0.0; width * width];
    kernel[0] = 1.0;
    let (p, miss, q, stay) = (channel.p(), channel.miss(), channel.q(), 1.0 - channel.q());
    for k in 1..width {
        // The new sketch holds the cell in the last column only.
        for x in 0..=k {
            let at = |x: usize, m: usize| kernel[x * width + m];
            kernel[x * width + k] = miss * at(x, k - 1) + if x > 0 { p * at(x - 1, k - 1) } else { 0.0 };
        }
        for x in (0..=k).rev() {
            let (before, here) = kernel.split_at_mut(x * width);
            let here = &mut here[..k];
            match before.len().checked_sub(width) {
                Some(start) => here.iter_mut().zip(&before[start..]).for_each(|(to, from)| *to = stay * *to + q * from),
                None => here.iter_mut().for_each(|to| *to *= stay),
            }
        }
    }
    for entry in &mut kernel {
        if *entry < NEGLIGIBLE {
            *entry = 0.0;
        }
    }
    kernel
}

/// The kernel of several classes of sketches: states and columns are counted in mixed radix, the first class fastest, and
/// entries are products.
pub(crate) fn product_kernel(classes: &[(BitChannel, usize)]) -> Vec<f64> {
    let mut width = 1;
    let mut product = vec![1.0];
    for &(channel, sketches) in classes {
        let (own, own_width) = (kernel(channel, sketches), sketches + 1);
        let all = width * own_width;
        let mut next = vec![0.0; all * all];
        for (y, own_row) in own.chunks_exact(own_width).enumerate() {
            for (x, row) in product.chunks_exact(width).enumerate() {
                let target = &mut next[(y * width + x) * all..(y * width + x + 1) * all];
                for (target, factor) in target.chunks_exact_mut(width).zip(own_row) {
                    target.iter_mut().zip(row).for_each(|(to, from)| *to = factor * from);
                }
            }
        }
        (product, width) = (next, all);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::to_f64;

    #[test]
    fn columns_are_laws_with_the_right_mean() {
        let channel = BitChannel::new(0.8, 0.3).expect("a channel");
        let kernel = kernel(channel, 7);
        for m in 0..8_u32 {
            let column = |x: usize| kernel[x * 8 + m as usize];
            let total: f64 = (0..8).map(column).sum();
            let mean: f64 = (0..8).map(|x| to_f64(x as u64) * column(x)).sum();
            let want = 0.8 * f64::from(m) + 0.3 * (7.0 - f64::from(m));
            assert!((total - 1.0).abs() < 1e-14 && (mean - want).abs() < 1e-13);
        }
    }

    #[test]
    fn entries_are_those_of_all_patterns() {
        // Of four sketches the first m hold the cell: sum over all patterns of noisy bits.
        let channel = BitChannel::new(0.9, 0.2).expect("a channel");
        let kernel = kernel(channel, 4);
        for m in 0..5_usize {
            let mut sums = [0.0; 5];
            for pattern in 0..16_u32 {
                let bit = |i: usize| (pattern >> i) & 1 == 1;
                let one = |i: usize| if i < m { 0.9 } else { 0.2 };
                let probability: f64 = (0..4).map(|i| if bit(i) { one(i) } else { 1.0 - one(i) }).product();
                sums[pattern.count_ones() as usize] += probability;
            }
            for (x, sum) in sums.iter().enumerate() {
                assert!((kernel[x * 5 + m] - sum).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn classes_multiply() {
        let (first, second) = (BitChannel::new(0.9, 0.2).expect("one"), BitChannel::new(0.7, 0.1).expect("two"));
        let both = product_kernel(&[(first, 2), (second, 1)]);
        let (a, b) = (kernel(first, 2), kernel(second, 1));
        for (x, y, m, n) in (0..36).map(|i| (i % 3, i / 3 % 2, i / 6 % 3, i / 18)) {
            let got = both[(x + 3 * y) * 6 + m + 3 * n];
            assert!((got - a[x * 3 + m] * b[y * 2 + n]).abs() < 1e-16);
        }
    }
}
