//! Networks that bring the middle rows of many items to their places, without a branch.

use multiversion::multiversion;

use crate::combiner::{count, integer, wide};

/// Items side by side.
pub(crate) const LANES: usize = 32;

/// What an exchange must leave: rows that nobody reads again are not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Both,
    Smaller,
    Larger,
}

#[derive(Clone, Copy, Debug)]
struct Exchange {
    low: u8,
    high: u8,
    keep: Keep,
}

/// A network of minima and maxima after which rows `first ..= last` hold what they would hold sorted.
///
/// Merge exchange \[B68\] for any number of rows, without the exchanges that no wanted row depends on.
#[derive(Clone, Debug)]
pub(crate) struct SelectionNetwork {
    exchanges: Box<[Exchange]>,
}

impl SelectionNetwork {
    /// The network for `rows` rows.
    pub(crate) fn new(rows: u8, first: u8, last: u8) -> Self {
        let mut wanted = [false; 256];
        wanted[usize::from(first)..=usize::from(last)].fill(true);
        let mut kept: Vec<Exchange> = Vec::new();
        for (low, high) in merge_exchange(rows).into_iter().rev() {
            let places = [usize::from(low), usize::from(high)];
            let keep = match places.map(|place| wanted[place]) {
                [true, true] => Keep::Both,
                [true, false] => Keep::Smaller,
                [false, true] => Keep::Larger,
                [false, false] => continue,
            };
            kept.push(Exchange { low, high, keep });
            for place in places {
                wanted[place] = true;
            }
        }
        kept.reverse();
        Self { exchanges: kept.into() }
    }

    /// How many exchanges there are.
    #[cfg(test)]
    fn exchanges(&self) -> usize {
        self.exchanges.len()
    }

    /// Brings the wanted rows to their places, in every lane by itself.
    pub(crate) fn run<T: Lane>(&self, rows: &mut [[T; LANES]]) {
        T::run(&self.exchanges, rows);
    }
}

/// The comparisons of Batcher's merge exchange, Algorithm M of \[K98\], 5.2.2, in order; each has `low < high`.
fn merge_exchange(rows: u8) -> Vec<(u8, u8)> {
    let count = u16::from(rows);
    let mut pairs = Vec::new();
    let start = count.next_power_of_two() / 2;
    let mut step = start;
    while step > 0 {
        let (mut round, mut offset, mut distance) = (start, 0, step);
        loop {
            for low in (0..count.saturating_sub(distance)).filter(|low| low & step == offset) {
                if let (Ok(low), Ok(high)) = (u8::try_from(low), u8::try_from(low + distance)) {
                    pairs.push((low, high));
                }
            }
            if round == step {
                break;
            }
            distance = round - step;
            round /= 2;
            offset = step;
        }
        step /= 2;
    }
    pairs
}

/// Numbers that are exchanged: each type is its own loop, so that the compiler sees one width.
pub(crate) trait Lane: Copy + Ord + Default + core::fmt::Debug {
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "called through `SelectionNetwork::run`")]
    fn run(exchanges: &[Exchange], rows: &mut [[Self; LANES]]);
    /// The cell with the sign given by the lowest bit of a hash.
    fn signed(self, hash: u64) -> Self;
    /// As a wide integer.
    fn widen(self) -> i64;
    /// The mean of the rows in every lane.
    fn means(rows: &[[Self; LANES]]) -> [f64; LANES];
}

impl Lane for i32 {
    #[expect(private_interfaces, reason = "called through `SelectionNetwork::run`")]
    fn run(exchanges: &[Exchange], rows: &mut [[Self; LANES]]) {
        run_narrow(exchanges, rows);
    }

    #[inline]
    fn signed(self, hash: u64) -> Self {
        let mask = -Self::from(hash & 1 == 1);
        (self ^ mask) - mask
    }

    #[inline]
    fn widen(self) -> i64 {
        i64::from(self)
    }

    fn means(rows: &[[Self; LANES]]) -> [f64; LANES] {
        narrow_sums(rows).map(|sum| integer(sum) / count(rows.len()))
    }
}

impl Lane for i64 {
    #[expect(private_interfaces, reason = "called through `SelectionNetwork::run`")]
    fn run(exchanges: &[Exchange], rows: &mut [[Self; LANES]]) {
        run_wide(exchanges, rows);
    }

    #[inline]
    fn signed(self, hash: u64) -> Self {
        let mask = -Self::from(hash & 1 == 1);
        (self ^ mask) - mask
    }

    #[inline]
    fn widen(self) -> i64 {
        self
    }

    fn means(rows: &[[Self; LANES]]) -> [f64; LANES] {
        let mut sums = [0_i128; LANES];
        for row in rows {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum += i128::from(value);
            }
        }
        sums.map(|sum| wide(sum) / count(rows.len()))
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn run_narrow(exchanges: &[Exchange], rows: &mut [[i32; LANES]]) {
    for exchange in exchanges {
        apply(*exchange, rows);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn run_wide(exchanges: &[Exchange], rows: &mut [[i64; LANES]]) {
    for exchange in exchanges {
        apply(*exchange, rows);
    }
}

/// Sums over at most 255 rows of 32-bit numbers, which fit.
#[multiversion(targets("x86_64+avx2"))]
fn narrow_sums(rows: &[[i32; LANES]]) -> [i64; LANES] {
    let mut sums = [0; LANES];
    for row in rows {
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum += i64::from(value);
        }
    }
    sums
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with the instructions of its caller")]
fn apply<T: Copy + Ord>(exchange: Exchange, rows: &mut [[T; LANES]]) {
    let (low, high) = (usize::from(exchange.low), usize::from(exchange.high));
    let Some((before, after)) = rows.split_at_mut_checked(high) else { return };
    let (Some(smaller), Some(larger)) = (before.get_mut(low), after.first_mut()) else { return };
    match exchange.keep {
        Keep::Both => {
            for lane in 0..LANES {
                let (a, b) = (smaller[lane], larger[lane]);
                smaller[lane] = a.min(b);
                larger[lane] = a.max(b);
            }
        }
        Keep::Smaller => {
            for lane in 0..LANES {
                smaller[lane] = smaller[lane].min(larger[lane]);
            }
        }
        Keep::Larger => {
            for lane in 0..LANES {
                larger[lane] = smaller[lane].max(larger[lane]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dp_noise::NoiseSource;
    use dp_noise::hazmat::InsecureTestRng;

    /// The zero-one principle: a network of minima and maxima that is right for all inputs of zeros and ones is right.
    #[test]
    fn every_input_of_zeros_and_ones_is_selected() {
        for rows in 1..=15_u8 {
            let (first, last) = (rows / 4, rows - 1 - rows / 4);
            for (first, last) in [(rows / 2, rows / 2), (first, last), (0, rows - 1)] {
                let network = SelectionNetwork::new(rows, first, last);
                let inputs: Vec<u32> = (0..1 << rows).collect();
                for chunk in inputs.chunks(LANES) {
                    check_chunk(&network, rows, (first, last), chunk);
                }
            }
        }
    }

    fn check_chunk(network: &SelectionNetwork, rows: u8, wanted: (u8, u8), chunk: &[u32]) {
        let mut lanes = vec![[0_i32; LANES]; usize::from(rows)];
        for (lane, input) in chunk.iter().enumerate() {
            for row in 0..rows {
                lanes[usize::from(row)][lane] = i32::from(input >> row & 1 == 1);
            }
        }
        network.run(&mut lanes);
        for (lane, input) in chunk.iter().enumerate() {
            let zeros = u32::from(rows) - input.count_ones();
            for row in wanted.0..=wanted.1 {
                assert_eq!(lanes[usize::from(row)][lane], i32::from(u32::from(row) >= zeros), "{rows} {wanted:?}");
            }
        }
    }

    #[test]
    fn large_networks_agree_with_sorting() {
        let mut noise = InsecureTestRng::from_u64(1);
        for rows in [16_u8, 31, 32, 33, 63, 101, 255] {
            let (first, last) = (rows / 4, rows - 1 - rows / 4);
            let network = SelectionNetwork::new(rows, first, last);
            let median = SelectionNetwork::new(rows, rows / 2, rows / 2);
            for _ in 0..50 {
                let mut lanes = vec![[0_i64; LANES]; usize::from(rows)];
                for row in &mut lanes {
                    let mut words = [0; LANES];
                    noise.fill_words(&mut words);
                    *row = words.map(|word| i64::from_le_bytes(word.to_le_bytes()) >> (word % 64));
                }
                let mut want = lanes.clone();
                let mut middle = lanes.clone();
                network.run(&mut lanes);
                median.run(&mut middle);
                for lane in 0..LANES {
                    let mut column: Vec<i64> = want.iter().map(|row| row[lane]).collect();
                    column.sort_unstable();
                    for (row, value) in want.iter_mut().zip(column) {
                        row[lane] = value;
                    }
                }
                let kept = usize::from(first)..=usize::from(last);
                assert_eq!(lanes[kept.clone()], want[kept]);
                assert_eq!(middle[usize::from(rows / 2)], want[usize::from(rows / 2)]);
            }
        }
    }

    #[test]
    fn the_whole_network_has_the_known_size() {
        // Merge exchange sorts 3, 5, 16 and 32 with 3, 9, 63 and 191 comparisons.
        for (rows, size) in [(3, 3), (5, 9), (16, 63), (32, 191)] {
            assert_eq!(SelectionNetwork::new(rows, 0, rows - 1).exchanges(), size);
        }
        assert!(SelectionNetwork::new(31, 15, 15).exchanges() < 160);
    }
}
