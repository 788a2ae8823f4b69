//! How many cells hold which numbers.

use core::ops::Range;

use super::planes::Planes;
use crate::union::{mask, words};

/// For each run of cells the number of cells with every combination of numbers: with `k_1, k_2, …` bitmaps counted in the
/// first, second, … of `counters`, the numbers `x_1, x_2, …` have the index `x_1 + (k_1 + 1) x_2 + …`.
///
/// `states` is the product of the `k_i + 1`.
pub(crate) fn joint_numbers<'a>(
    counters: &[&'a Planes],
    states: usize,
    runs: impl Iterator<Item = Range<usize>>,
) -> Vec<Vec<u64>> {
    let mut planes: Vec<Plane<'a>> = Vec::new();
    let mut stride = 1;
    for counter in counters {
        planes.extend(counter.planes().enumerate().map(|(digit, words)| Plane { words, weight: stride << digit }));
        stride *= counter.count() as usize + 1;
    }
    let mut column = vec![(0, 0); planes.len()];
    let mut count = |run: Range<usize>| {
        let mut counts = vec![0; states];
        for (word, lanes) in words(run).filter(|(_, lanes)| !lanes.is_empty()) {
            for (slot, plane) in column.iter_mut().zip(&planes) {
                *slot = (plane.words[word], plane.weight);
            }
            split(&column, mask(&lanes), 0, &mut counts);
        }
        counts
    };
    runs.map(&mut count).collect()
}

/// One digit of a counter, and what it adds to an index.
struct Plane<'a> {
    words: &'a [u64],
    weight: usize,
}

/// Counts the `lanes` of one word. Those alike in the planes before these share `index`; each plane splits them in two.
fn split(column: &[(u64, usize)], lanes: u64, index: usize, counts: &mut [u64]) {
    let Some((&(word, weight), rest)) = column.split_last() else {
        counts[index] += u64::from(lanes.count_ones());
        return;
    };
    let (ones, zeros) = (lanes & word, lanes & !word);
    if ones != 0 {
        split(rest, ones, index + weight, counts);
    }
    if zeros != 0 {
        split(rest, zeros, index, counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_counted_at_the_index_of_its_numbers() {
        // Cell c of bitmap i holds a one if c is divisible by i + 2.
        let bitmap = |i: usize| -> Vec<u64> {
            (0..4)
                .map(|word| (0..64).fold(0, |bits, lane| bits | u64::from((64 * word + lane) % (i + 2) == 0) << lane))
                .collect()
        };
        let counter = |range: Range<usize>| {
            range.fold(Planes::new(), |mut planes, i| {
                planes.add_bits(&bitmap(i));
                planes
            })
        };
        let number = |range: Range<usize>, cell: usize| range.filter(|i| cell.is_multiple_of(i + 2)).count();
        let (a, b, c) = (counter(0..5), counter(5..6), counter(6..10));
        let runs = [0..3, 3..64, 64..64, 64..128, 128..200, 200..201, 201..256];
        let found = joint_numbers(&[&a, &b, &c], 6 * 2 * 5, runs.iter().cloned());
        for (run, counts) in runs.into_iter().zip(found) {
            let mut expected = vec![0; 60];
            for cell in run {
                expected[number(0..5, cell) + 6 * number(5..6, cell) + 12 * number(6..10, cell)] += 1;
            }
            assert_eq!(counts, expected);
        }
    }
}
