//! How many cells hold which bits in several bitmaps.

use gf2_linalg::{and_into, and_popcount, popcount};

/// Words counted together, so that intermediate results stay in the first-level cache.
const BLOCK: usize = 512;

/// For every run of cells, in the order of the bits, the number of cells with each pattern: bit `i` of a pattern is the
/// bit of bitmap `i`.
///
/// Whole words are counted by the numbers of cells set in all bitmaps of a subset, which vector instructions find, and
/// these are turned into counts of patterns by differences; the cells at ragged ends are taken one by one.
pub(crate) fn count_patterns(bitmaps: &[&[u64]], runs: impl IntoIterator<Item = usize>) -> Vec<Vec<u64>> {
    let mut start = 0;
    let mut count = |cells: usize| {
        let end = start + cells;
        let mut counts = vec![0; 1 << bitmaps.len()];
        let (first, last) = (start.div_ceil(64), end / 64);
        if first < last {
            one_by_one(bitmaps, start..first * 64, &mut counts);
            by_words(bitmaps, first..last, &mut counts);
            one_by_one(bitmaps, last * 64..end, &mut counts);
        } else {
            one_by_one(bitmaps, start..end, &mut counts);
        }
        start = end;
        counts
    };
    runs.into_iter().map(&mut count).collect()
}

fn one_by_one(bitmaps: &[&[u64]], cells: core::ops::Range<usize>, counts: &mut [u64]) {
    for cell in cells {
        let bit = |(i, words): (usize, &&[u64])| usize::from(words[cell / 64] >> (cell % 64) & 1 == 1) << i;
        counts[bitmaps.iter().enumerate().map(bit).sum::<usize>()] += 1;
    }
}

fn by_words(bitmaps: &[&[u64]], words: core::ops::Range<usize>, counts: &mut [u64]) {
    let mut all_set = vec![0; counts.len()];
    let mut scratch = vec![[0; BLOCK]; bitmaps.len()];
    let (mut start, end) = (words.start, words.end);
    while start < end {
        let stop = end.min(start + BLOCK);
        let columns: Vec<&[u64]> = bitmaps.iter().map(|bitmap| &bitmap[start..stop]).collect();
        all_set[0] += 64 * (stop - start) as u64;
        for (i, column) in columns.iter().enumerate() {
            all_set[1 << i] += popcount(column);
            count_larger(&columns, 1 << i, i + 1, column, &mut scratch, &mut all_set);
        }
        start = stop;
    }
    // Cells set in all of a subset, less those set in another one too: what is left is set in exactly the subset.
    for bit in (0..bitmaps.len()).map(|i| 1 << i) {
        for subset in (0..all_set.len()).filter(|subset| subset & bit == 0) {
            all_set[subset] -= all_set[subset | bit];
        }
    }
    counts.iter_mut().zip(all_set).for_each(|(count, more)| *count += more);
}

/// Counts the cells set in all bitmaps of `subset` and of one or more from `next` on; `set` holds those set in `subset`.
fn count_larger(
    columns: &[&[u64]],
    subset: usize,
    next: usize,
    set: &[u64],
    scratch: &mut [[u64; BLOCK]],
    all_set: &mut [u64],
) {
    for i in next..columns.len() {
        let larger = subset | 1 << i;
        if i + 1 == columns.len() {
            all_set[larger] += and_popcount(set, columns[i]);
        } else if let Some((own, rest)) = scratch.split_first_mut() {
            let both = &mut own[..set.len()];
            both.copy_from_slice(set);
            and_into(both, columns[i]);
            all_set[larger] += popcount(both);
            count_larger(columns, larger, i + 1, both, rest, all_set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random words without any dependency (`SplitMix64`), some bits more likely than others.
    fn bitmap(seed: u64, words: usize) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        };
        (0..words).map(|_| if seed.is_multiple_of(2) { next() } else { next() | next() }).collect()
    }

    #[test]
    fn counts_by_words_are_those_of_single_cells() {
        for sketches in 1..=8 {
            let bitmaps: Vec<Vec<u64>> = (0..sketches).map(|seed| bitmap(seed, 1200)).collect();
            let bitmaps: Vec<&[u64]> = bitmaps.iter().map(Vec::as_slice).collect();
            // Ragged, within a word, aligned, longer than a block, and single cells.
            let runs = [1, 70, 57, 64, 128, 3, 0, 61 + 64, 600 * 64 + 5, 1, 1, 4096];
            let found = count_patterns(&bitmaps, runs);
            let mut start = 0;
            for (run, counts) in runs.into_iter().zip(found) {
                let mut expected = vec![0; 1 << sketches];
                one_by_one(&bitmaps, start..start + run, &mut expected);
                assert_eq!(counts, expected, "{sketches} sketches, {run} cells from {start}");
                start += run;
            }
        }
    }
}
