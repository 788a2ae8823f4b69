//! From the levels of a bucket to the buckets of a level.

use gf2_linalg::transpose64;
use zeroize::Zeroize;

use crate::PcsaShape;

/// Level-major bits of a table with one `u32` of levels a bucket: cell (bucket, level) becomes bit
/// `level · buckets + bucket`. The time depends on the shape only.
pub(crate) fn level_major_narrow(table: &[u32], shape: PcsaShape) -> Vec<u64> {
    let mut out = vec![0; shape.words()];
    if table.len() < 64 {
        level_major_small(table.iter().map(|&levels| u64::from(levels)), shape, &mut out);
        return out;
    }
    let stride = table.len() / 64;
    let mut block = [0_u64; 32];
    for (column, buckets) in table.chunks_exact(64).enumerate() {
        let (low, high) = buckets.split_at(32);
        for (row, (&a, &b)) in block.iter_mut().zip(low.iter().zip(high)) {
            *row = u64::from(a) | u64::from(b) << 32;
        }
        transpose_32_pairs(&mut block);
        for (level, row) in block[..usize::from(shape.levels())].iter().enumerate() {
            out[level * stride + column] = *row;
        }
    }
    block.zeroize();
    out
}

/// The same of a table with one `u64` a bucket.
pub(crate) fn level_major_wide(table: &[u64], shape: PcsaShape) -> Vec<u64> {
    let mut out = vec![0; shape.words()];
    if table.len() < 64 {
        level_major_small(table.iter().copied(), shape, &mut out);
        return out;
    }
    let stride = table.len() / 64;
    let mut block = [0_u64; 64];
    for (column, buckets) in table.chunks_exact(64).enumerate() {
        block.copy_from_slice(buckets);
        transpose64(&mut block);
        for (level, row) in block[..usize::from(shape.levels())].iter().enumerate() {
            out[level * stride + column] = *row;
        }
    }
    block.zeroize();
    out
}

/// Fewer than 64 buckets: levels are not aligned to words.
fn level_major_small(table: impl Iterator<Item = u64>, shape: PcsaShape, out: &mut [u64]) {
    for (bucket, levels) in table.enumerate() {
        for level in 0..usize::from(shape.levels()) {
            let cell = level * shape.buckets() as usize + bucket;
            out[cell / 64] |= (levels >> level & 1) << (cell % 64);
        }
    }
}

/// The inverse of [`level_major_narrow`].
pub(crate) fn bucket_major_narrow(bits: &[u64], shape: PcsaShape, table: &mut [u32]) {
    if table.len() < 64 {
        for (bucket, levels) in table.iter_mut().enumerate() {
            *levels = low_half(column_of(bits, shape, bucket));
        }
        return;
    }
    let stride = table.len() / 64;
    for (column, buckets) in table.chunks_exact_mut(64).enumerate() {
        let mut block = [0_u64; 32];
        for (level, row) in block[..usize::from(shape.levels())].iter_mut().enumerate() {
            *row = bits[level * stride + column];
        }
        transpose_32_pairs(&mut block);
        let (low, high) = buckets.split_at_mut(32);
        for (row, (a, b)) in block.iter().zip(low.iter_mut().zip(high)) {
            (*a, *b) = (low_half(*row), low_half(row >> 32));
        }
        block.zeroize();
    }
}

/// The inverse of [`level_major_wide`].
pub(crate) fn bucket_major_wide(bits: &[u64], shape: PcsaShape, table: &mut [u64]) {
    if table.len() < 64 {
        for (bucket, levels) in table.iter_mut().enumerate() {
            *levels = column_of(bits, shape, bucket);
        }
        return;
    }
    let stride = table.len() / 64;
    for (column, buckets) in table.chunks_exact_mut(64).enumerate() {
        let mut block = [0_u64; 64];
        for (level, row) in block[..usize::from(shape.levels())].iter_mut().enumerate() {
            *row = bits[level * stride + column];
        }
        transpose64(&mut block);
        buckets.copy_from_slice(&block);
        block.zeroize();
    }
}

/// The levels of one bucket.
fn column_of(bits: &[u64], shape: PcsaShape, bucket: usize) -> u64 {
    (0..usize::from(shape.levels())).fold(0, |levels, level| {
        let cell = level * shape.buckets() as usize + bucket;
        levels | (bits[cell / 64] >> (cell % 64) & 1) << level
    })
}

/// The low 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the other half is wanted elsewhere, or is zero")]
#[inline]
pub(crate) const fn low_half(word: u64) -> u32 {
    word as u32
}

/// Transposes the two 32 × 32 matrices in the low and in the high halves of the rows.
///
/// The five exchanges of the 64 × 64 transpose that stay inside a half (Warren, Hacker's Delight, section 7-3).
fn transpose_32_pairs(rows: &mut [u64; 32]) {
    exchange::<16>(rows, 0x0000_ffff_0000_ffff);
    exchange::<8>(rows, 0x00ff_00ff_00ff_00ff);
    exchange::<4>(rows, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(rows, 0x3333_3333_3333_3333);
    exchange::<1>(rows, 0x5555_5555_5555_5555);
}

/// Swaps the upper right with the lower left quarter of every `2 WIDTH × 2 WIDTH` block.
fn exchange<const WIDTH: usize>(rows: &mut [u64; 32], mask: u64) {
    for block in rows.chunks_exact_mut(2 * WIDTH) {
        let (top, bottom) = block.split_at_mut(WIDTH);
        for (a, b) in top.iter_mut().zip(bottom) {
            let swap = (*a >> WIDTH ^ *b) & mask;
            *a ^= swap << WIDTH;
            *b ^= swap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random words without any dependency (`SplitMix64`).
    fn words(count: usize) -> Vec<u64> {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn fast_transpositions_move_every_bit_where_the_definition_says() {
        for (index_bits, levels) in [(1, 5), (5, 32), (6, 1), (6, 32), (8, 24), (6, 58), (9, 40), (3, 61)] {
            let shape = PcsaShape::from_index_bits(index_bits, levels).unwrap();
            let table: Vec<u64> =
                words(shape.buckets() as usize).iter().map(|word| word & (u64::MAX >> (64 - levels))).collect();
            let mut expected = vec![0; shape.words()];
            level_major_small(table.iter().copied(), shape, &mut expected);
            assert_eq!(level_major_wide(&table, shape), expected, "{shape}");
            if levels <= 32 {
                let narrow: Vec<u32> = table.iter().map(|&word| u32::try_from(word).unwrap()).collect();
                assert_eq!(level_major_narrow(&narrow, shape), expected, "{shape}");
                let mut back = vec![0; narrow.len()];
                bucket_major_narrow(&expected, shape, &mut back);
                assert_eq!(back, narrow, "{shape}");
            }
            let mut back = vec![0; table.len()];
            bucket_major_wide(&expected, shape, &mut back);
            assert_eq!(back, table, "{shape}");
        }
    }
}
