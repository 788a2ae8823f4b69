//! Exact Bernoulli bits, one or sixty-four at a time.

use zeroize::Zeroizing;

use crate::reservoir::Reservoir;
use crate::{DyadicProbability, NoiseSource};

/// Words that are compared digit by digit together: enough for vector instructions, few enough to wipe in passing.
const BLOCK: usize = 32;
/// Digits that are compared in all lanes before the lanes still undecided are dealt with singly.
///
/// A digit costs a random bit a lane and halves the undecided lanes, each of which costs a few steps. Measured best
/// with `ChaCha20`: 5 digits take 5.06 random bits a bit, against 7.34 by digits alone.
const SHARED_DIGITS: u32 = 5;

/// One bit that is true with probability exactly `p`.
///
/// A uniform 64-bit word is compared with the numerator, strictly (`<=` would raise the probability).
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{DyadicProbability, NoiseRng, bernoulli};
/// let mut noise = NoiseRng::from_os()?;
/// assert!(!bernoulli(DyadicProbability::ZERO, &mut noise));
/// # }
/// # Ok::<(), dp_noise::EntropyError>(())
/// ```
pub fn bernoulli<R: NoiseSource + ?Sized>(p: DyadicProbability, noise: &mut R) -> bool {
    noise.next_u64() < p.numerator()
}

/// Fills `out` with independent bits, each 1 with probability exactly `p`.
///
/// Every lane compares a uniform binary fraction with `p`, most significant digit first, and is 1 when the fraction is
/// less. Trailing zeros of `p` take no randomness: `p = 1/2` uses one word for 64 bits, `p = 0` none. The amount of
/// work depends on `p`, on the length and on the random bits, never on a secret.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{DyadicProbability, NoiseRng, bernoulli_words};
/// let mut noise = NoiseRng::from_os()?;
/// let mut words = [0; 1000];
/// bernoulli_words(DyadicProbability::from_numerator(1 << 62), &mut noise, &mut words);
/// let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
/// assert!((15_000..17_000).contains(&ones)); // 64,000 bits with p = 1/4; standard deviation 110
/// # }
/// # Ok::<(), dp_noise::EntropyError>(())
/// ```
pub fn bernoulli_words<R: NoiseSource + ?Sized>(p: DyadicProbability, noise: &mut R, out: &mut [u64]) {
    long_bernoulli_words(LongProbability { first: p, tail: 0 }, noise, out);
}

/// A probability of 128 binary digits: `first + tail / 2¹²⁸`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongProbability {
    pub(crate) first: DyadicProbability,
    pub(crate) tail: u64,
}

impl LongProbability {
    /// How many leading digits of the first 64 have to be compared.
    const fn leading_digits(self) -> u32 {
        if self.tail == 0 { self.first.significant_digits() } else { 64 }
    }
}

/// [`bernoulli_words`] for a longer probability.
pub(crate) fn long_bernoulli_words<R: NoiseSource + ?Sized>(p: LongProbability, noise: &mut R, out: &mut [u64]) {
    let LongProbability { first: leading, tail } = p;
    let digits = p.leading_digits();
    let mut random = Zeroizing::new([0; BLOCK]);
    let mut undecided = Zeroizing::new([0; BLOCK]);
    let mut reservoir = None;
    for block in out.chunks_mut(BLOCK) {
        let (random, undecided) = (&mut random[..block.len()], &mut undecided[..block.len()]);
        block.fill(0);
        undecided.fill(u64::MAX);
        for place in 0..digits.min(SHARED_DIGITS) {
            let ones = digit_mask(leading.numerator(), place);
            noise.fill_words(random);
            for ((word, open), draw) in block.iter_mut().zip(undecided.iter_mut()).zip(random.iter()) {
                // Where the random bit differs from the digit the lane is decided: 1 if the digit is the larger.
                *word |= *open & ones & !draw;
                *open &= !(draw ^ ones);
            }
        }
        if digits > SHARED_DIGITS {
            let rest = Digits { leading: leading.numerator() << SHARED_DIGITS, count: digits - SHARED_DIGITS, tail };
            let reservoir = reservoir.get_or_insert_with(|| Reservoir::new(noise));
            for (word, open) in block.iter_mut().zip(undecided.iter()) {
                *word |= rest.decide_singly(*open, reservoir, noise);
            }
        }
    }
}

/// The law of [`bernoulli_words`] by an amount of work that does not depend on the random bits either.
///
/// It draws as many words for 64 bits as `p` has digits (up to 64), about ten times the work.
pub fn bernoulli_words_fixed_time<R: NoiseSource + ?Sized>(p: DyadicProbability, noise: &mut R, out: &mut [u64]) {
    long_bernoulli_words_fixed_time(LongProbability { first: p, tail: 0 }, noise, out);
}

/// [`bernoulli_words_fixed_time`] for a longer probability.
pub(crate) fn long_bernoulli_words_fixed_time<R: NoiseSource + ?Sized>(
    p: LongProbability,
    noise: &mut R,
    out: &mut [u64],
) {
    let places = |digits: u64, count: u32| (0..count).rev().map(move |place| digit_mask(digits, place));
    let mut random = Zeroizing::new([0; BLOCK]);
    for block in out.chunks_mut(BLOCK) {
        let random = &mut random[..block.len()];
        block.fill(0);
        // From the last digit to the first; `word` says whether the digits seen so far are below those of p.
        let masks = places(p.tail, if p.tail == 0 { 0 } else { 64 });
        for ones in masks.chain(places(p.first.numerator(), p.leading_digits())) {
            noise.fill_words(random);
            for (word, draw) in block.iter_mut().zip(random.iter()) {
                *word = (!draw & (*word | ones)) | (draw & *word & ones);
            }
        }
    }
}

/// All ones where the binary digit at `place` is 1, else 0.
fn digit_mask(digits: u64, place: u32) -> u64 {
    ((digits << place) >> 63).wrapping_neg()
}

/// The digits of `p` after the shared ones, left-aligned.
#[derive(Clone, Copy)]
struct Digits {
    leading: u64,
    count: u32,
    /// The 64 digits after those.
    tail: u64,
}

impl Digits {
    /// Draws a bit for each undecided lane by comparing these digits with random bits, one lane after the other.
    fn decide_singly<R: NoiseSource + ?Sized>(
        self,
        mut undecided: u64,
        reservoir: &mut Reservoir,
        noise: &mut R,
    ) -> u64 {
        let mut word = 0;
        while undecided != 0 {
            let lane = undecided.trailing_zeros();
            undecided &= undecided - 1;
            // The first difference decides; the lane is 1 if p has the 1 there. After the last digit of p only zeros
            // follow, so a lane without a difference gets the 0 it should: its fraction is not less than p.
            let equal = ((reservoir.peek() ^ self.leading) | 1).leading_zeros();
            word |= ((self.leading << equal) >> 63) << lane;
            reservoir.take((equal + 1).min(self.count), noise);
            if equal >= self.count && self.tail != 0 {
                word |= u64::from(noise.next_u64() < self.tail) << lane;
            }
        }
        word
    }
}

#[cfg(test)]
mod tests;
