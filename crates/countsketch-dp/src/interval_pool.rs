//! All cells of a sketch together: the law of a row's error.

use crate::combiner::{count, integer, wide};
use crate::private::PrivateCountSketch;
use crate::theory::BinomialTail;

/// The absolute values of all cells, largest first.
///
/// The bucket of an item in a row does not depend on the other items, so the item's error there has the law of any bucket
/// of that row with a random sign.
#[derive(Clone, Debug)]
pub(crate) struct BucketPool {
    descending: Box<[u64]>,
}

impl BucketPool {
    pub(crate) fn new(sketch: &PrivateCountSketch) -> Self {
        let rows = 0..usize::from(sketch.shape().rows());
        Self::of_cells(rows.flat_map(|row| sketch.cells(row)).map(|cell| cell.unsigned_abs()).collect())
    }

    fn of_cells(mut cells: Vec<u64>) -> Self {
        cells.sort_unstable_by(|a, b| b.cmp(a));
        Self { descending: cells.into() }
    }

    pub(crate) const fn len(&self) -> usize {
        self.descending.len()
    }

    pub(crate) fn cells(&self) -> &[u64] {
        &self.descending
    }

    /// The least `g` that at most `above` cells exceed.
    pub(crate) fn with_at_most_above(&self, above: usize) -> Option<f64> {
        self.descending.get(above).map(|&cell| magnitude(cell))
    }

    /// The least `g` that at most `above` cells exceed when the cells in `own` are left out.
    pub(crate) fn without(&self, own: &mut [u64], above: usize) -> Option<f64> {
        own.sort_unstable_by(|a, b| b.cmp(a));
        // The wanted cell stands `0 ..= own.len()` places further down; the condition holds from the largest on.
        let candidates = self.descending.get(above..)?;
        let candidates = &candidates[..candidates.len().min(own.len() + 1)];
        let holds = candidates.partition_point(|&g| {
            let all = self.descending.partition_point(|&cell| cell > g);
            let left_out = own.partition_point(|&cell| cell > g);
            all - left_out <= above
        });
        candidates[..holds].last().map(|&cell| magnitude(cell))
    }

    /// The standard deviation of the median of `rows` cells with random signs:
    /// `E M² = Σ c²·(P[|M| ≥ c] − P[|M| > c])` over the cells, with `P[|M| > c] = 2·P[Bin(k, q) ≥ (k+1)/2]` and `q`
    /// half the share of larger cells.
    pub(crate) fn median_std_error(&self, rows: u32) -> f64 {
        let tail = BinomialTail::new(rows, rows / 2 + 1);
        let total = 2.0 * count(self.len());
        let (mut start, mut before, mut sum) = (0, 0.0_f64, 0.0_f64);
        while start < self.len() {
            // The largest cells one by one, then groups of a hundredth of what came before.
            let end = (start + 1 + start / 100).min(self.len());
            let group = &self.descending[start..end];
            let mean_square = group.iter().map(|&cell| magnitude(cell).powi(2)).sum::<f64>() / count(group.len());
            let outside: f64 = (2.0 * tail.at(count(end) / total)).min(1.0);
            sum += mean_square * (outside - before);
            (start, before) = (end, outside);
        }
        sum.max(0.0).sqrt()
    }
}

/// An absolute value as `f64`.
pub(crate) fn magnitude(cell: u64) -> f64 {
    i64::try_from(cell).map_or_else(|_| wide(i128::from(cell)), integer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn leaving_out_agrees_with_a_pool_without(
            cells in proptest::collection::vec(0_u64..20, 6..60), own in 1_usize..6, above in 0_usize..50,
        ) {
            let pool = BucketPool::of_cells(cells.clone());
            let rest = BucketPool::of_cells(cells[own..].to_vec());
            let got = pool.without(&mut cells[..own].to_vec(), above);
            if above < rest.len() {
                prop_assert_eq!(got, rest.with_at_most_above(above));
            }
        }
    }

    #[test]
    fn the_standard_error_of_one_row_is_the_root_mean_square() {
        let pool = BucketPool::of_cells(vec![3, 4, 0, 0]);
        assert!((pool.median_std_error(1) - 2.5).abs() < 1e-12);
    }

    /// Two cells, 0 and c: |M| = c when at least two of three rows have c with the same sign.
    #[test]
    fn the_standard_error_of_three_rows_is_counted_by_hand() {
        let pool = BucketPool::of_cells(vec![0, 8]);
        let q = 0.25_f64;
        let outside = 2.0 * (3.0 * q * q * (1.0 - q) + q.powi(3));
        assert!((pool.median_std_error(3) - (64.0 * outside).sqrt()).abs() < 1e-12);
    }
}
