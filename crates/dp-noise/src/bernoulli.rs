//! Exact Bernoulli bits, one or sixty-four at a time.

use crate::{DyadicProbability, NoiseSource};

/// One bit that is true with probability exactly `p`.
///
/// A uniform 64-bit word is compared with the numerator, strictly (`<=` would raise the probability).
pub fn bernoulli<R: NoiseSource + ?Sized>(p: DyadicProbability, noise: &mut R) -> bool {
    noise.next_u64() < p.numerator()
}

/// Fills `out` with independent bits that are each 1 with probability exactly `p`.
pub fn bernoulli_words<R: NoiseSource + ?Sized>(p: DyadicProbability, noise: &mut R, out: &mut [u64]) {
    let digits = p.significant_digits();
    for word in out {
        *word = 0;
        let mut undecided = u64::MAX;
        for place in 0..digits {
            if undecided == 0 {
                break;
            }
            let random = noise.next_u64();
            if p.numerator() << place >> 63 == 1 {
                *word |= undecided & !random;
                undecided &= random;
            } else {
                undecided &= !random;
            }
        }
    }
}

/// The same law as [`bernoulli_words`] by an amount of work that does not even depend on the random bits.
pub fn bernoulli_words_fixed_time<R: NoiseSource + ?Sized>(p: DyadicProbability, noise: &mut R, out: &mut [u64]) {
    let digits = p.significant_digits();
    for word in out {
        *word = 0;
        for place in (0..digits).rev() {
            let random = noise.next_u64();
            let digit = (p.numerator() << place) >> 63;
            // Digit 1: below unless the random bit is 1 and the rest is not below. Digit 0: below only if the bit is 0.
            let ones = digit.wrapping_neg();
            *word = (ones & (!random | *word)) | (!ones & !random & *word);
        }
    }
}
