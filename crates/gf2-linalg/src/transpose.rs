//! Transposing bits: every round exchanges the upper right with the lower left quarters of all blocks of one size
//! (Warren, Hacker's Delight, 2nd edition, section 7-3).

use multiversion::multiversion;

/// Transposes a 64 × 64 matrix of bits: bit `j` of word `i` becomes bit `i` of word `j`.
///
/// # Examples
/// ```
/// let mut block = [0; 64];
/// block[3] = 1 << 50;
/// gf2_linalg::transpose64(&mut block);
/// assert_eq!(block[50], 1 << 3);
/// ```
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub fn transpose64(block: &mut [u64; 64]) {
    exchange::<32>(block, 0x0000_0000_ffff_ffff);
    within_halves(block);
}

/// Transposes two 32 × 32 matrices of bits, one in the low halves of the words and one in the high halves: bit `j` of
/// word `i` becomes bit `i` of word `j`, and bit `32 + j` becomes bit `32 + i`.
///
/// A little less than half the work of [`transpose64`]; it serves columns of at most 32 bits.
///
/// # Examples
/// ```
/// let mut block = [0; 32];
/// block[3] = 1 << 20 | 1 << (32 + 9);
/// gf2_linalg::transpose32_pairs(&mut block);
/// assert_eq!((block[20], block[9]), (1 << 3, 1 << (32 + 3)));
/// ```
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub fn transpose32_pairs(block: &mut [u64; 32]) {
    within_halves(block);
}

/// The rounds that move bits inside the halves of words.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a function of its own would be compiled without the caller's instructions")]
fn within_halves(words: &mut [u64]) {
    exchange::<16>(words, 0x0000_ffff_0000_ffff);
    exchange::<8>(words, 0x00ff_00ff_00ff_00ff);
    exchange::<4>(words, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(words, 0x3333_3333_3333_3333);
    exchange::<1>(words, 0x5555_5555_5555_5555);
}

/// One round, over all blocks of `2 · WIDTH` rows. `mask` has the low `WIDTH` of every `2 · WIDTH` bits set.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a function of its own would be compiled without the caller's instructions")]
fn exchange<const WIDTH: usize>(words: &mut [u64], mask: u64) {
    for block in words.chunks_exact_mut(2 * WIDTH) {
        let (top, bottom) = block.split_at_mut(WIDTH);
        for (a, b) in top.iter_mut().zip(bottom) {
            let swap = (*a >> WIDTH ^ *b) & mask;
            *a ^= swap << WIDTH;
            *b ^= swap;
        }
    }
}
