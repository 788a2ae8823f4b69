//! Bits drawn with chosen probabilities, 64 at a time.

use dp_noise::NoiseSource;
use zeroize::Zeroizing;

use crate::channel::{ChannelError, probability};
use crate::double_double::{DoubleDouble, TWO_64};

/// The probability of a 1 as an integer over 2⁶⁴: a uniform word below the integer gives 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threshold {
    /// `t / 2⁶⁴`.
    Below(u64),
    /// Probability 1, which is not a 64-bit numerator.
    Always,
}

impl Threshold {
    /// Never 1.
    pub(crate) const NEVER: Self = Self::Below(0);

    /// The multiple of 2⁻⁶⁴ next to `v` on the side of 1/2, where the output tells less; `v` itself if it is one.
    ///
    /// `v` carries about 100 bits, so anything within 2⁻⁷⁶ of a multiple is taken for it. The rounding is less than
    /// 2⁻⁶⁴ either way.
    pub(crate) fn from_probability(v: DoubleDouble) -> Result<Self, ChannelError> {
        /// 2⁻¹² units of 2⁻⁶⁴.
        const EXACT: f64 = 1.0 / 4096.0;
        let v = probability(v)?;
        let scaled = v.scale(TWO_64);
        let whole = scaled.to_f64().floor();
        let rest = (scaled.to_f64() - whole) + scaled.tail();
        let below = rest.floor();
        let fraction = rest - below;
        let numerator = to_integer(whole) + to_integer(below);
        let up = if fraction <= EXACT {
            false
        } else if fraction >= 1.0 - EXACT {
            true
        } else {
            v < DoubleDouble::HALF
        };
        let numerator = numerator + i128::from(up);
        Ok(u64::try_from(numerator).map_or(Self::Always, Self::Below))
    }

    /// As a number, to nearest.
    #[cfg(test)]
    pub(crate) fn to_probability(self) -> DoubleDouble {
        match self {
            Self::Below(t) => DoubleDouble::from_numerator(t),
            Self::Always => DoubleDouble::ONE,
        }
    }
}

/// A whole number of magnitude at most 2⁶⁴.
#[expect(clippy::cast_possible_truncation, reason = "whole and of magnitude at most 2^64")]
fn to_integer(whole: f64) -> i128 {
    whole as i128
}

/// Digits of a probability that are compared in all lanes at once. A digit costs a word of random bits and halves the
/// lanes still undecided, each of which costs a few steps; as few as five leave two lanes of 64.
const SHARED_DIGITS: u32 = 5;
const BUFFER: usize = 256;

/// Uniform words for one operation, drawn in pieces and wiped afterwards.
pub(crate) struct Coins<'a, R: NoiseSource + ?Sized> {
    noise: &'a mut R,
    words: Zeroizing<[u64; BUFFER]>,
    next: usize,
    /// Bits for single lanes, from the top down.
    bits: Zeroizing<u128>,
    /// How many of them there are, at least 64 once the first were drawn.
    available: u32,
}

impl<'a, R: NoiseSource + ?Sized> Coins<'a, R> {
    pub(crate) fn new(noise: &'a mut R) -> Self {
        let words = Zeroizing::new([0; BUFFER]);
        Self { noise, words, next: BUFFER, bits: Zeroizing::new(0), available: 0 }
    }

    /// The next words; a few left over at the end of the buffer are passed by.
    #[inline]
    fn words<const N: usize>(&mut self) -> [u64; N] {
        if self.next + N > BUFFER {
            self.noise.fill_words(&mut self.words[..]);
            self.next = 0;
        }
        let words = core::array::from_fn(|i| self.words[self.next + i]);
        self.next += N;
        words
    }

    /// One bit in each lane of `undecided`, the others 0. `digit(k)` holds bit `k` of the thresholds of all lanes, and
    /// `threshold(lane)` the threshold of one.
    ///
    /// A uniform number and the threshold of its lane are compared from the top digit down until they differ: the first
    /// digits in all lanes at once, the rest lane by lane in the few that are still equal. A number equal to its
    /// threshold is not below it and gives 0.
    #[inline]
    pub(crate) fn lanes(&mut self, undecided: u64, digit: impl Fn(u32) -> u64, threshold: impl Fn(u32) -> u64) -> u64 {
        if undecided == 0 {
            return 0;
        }
        let (mut open, mut out) = (undecided, 0);
        for (k, uniform) in (64 - SHARED_DIGITS..64).rev().zip(self.words::<{ SHARED_DIGITS as usize }>()) {
            let ones = digit(k);
            out |= open & ones & !uniform;
            open &= !(ones ^ uniform);
        }
        while open != 0 {
            let lane = open.trailing_zeros();
            open &= open - 1;
            out |= self.below(threshold(lane) << SHARED_DIGITS) << lane;
        }
        out
    }

    /// Whether further random digits are below these, of which the last [`SHARED_DIGITS`] are zero.
    fn below(&mut self, digits: u64) -> u64 {
        const REST: u32 = 64 - SHARED_DIGITS;
        while self.available < 64 {
            let [word] = self.words();
            *self.bits |= u128::from(word) << (64 - self.available);
            self.available += 64;
        }
        // The lowest bit only bounds the count: without a difference the zero digit there is the right answer.
        let equal = ((top_half(*self.bits) ^ digits) | 1).leading_zeros();
        let used = (equal + 1).min(REST);
        *self.bits <<= used;
        self.available -= used;
        digits << equal >> 63
    }

    /// One bit in each lane, by classes: every lane lies in the mask of at most one of `classes` and is drawn with that
    /// class's probability; lanes in none are 0. At most 16 classes.
    pub(crate) fn by_class(&mut self, classes: &[(u64, Threshold)]) -> u64 {
        let (mut certain, mut undecided) = (0, 0);
        let mut open = [(0, 0); 16];
        let mut count = 0;
        for &(mask, threshold) in classes {
            match threshold {
                Threshold::Always => certain |= mask,
                Threshold::Below(t) => {
                    if t != 0 && mask != 0 {
                        open[count] = (mask, t);
                        count += 1;
                        undecided |= mask;
                    }
                }
            }
        }
        let drawn = match &open[..count] {
            [] => 0,
            // Digits of lanes that are decided do not matter.
            &[(_, t)] => self.lanes(undecided, |k| digit(t, k), |_| t),
            &[(mask, t), (_, other)] => self.lanes(
                undecided,
                |k| (mask & digit(t, k)) | (!mask & digit(other, k)),
                |lane| if mask >> lane & 1 == 1 { t } else { other },
            ),
            many => self.lanes(
                undecided,
                |k| many.iter().fold(0, |plane, &(mask, t)| plane | (mask & digit(t, k))),
                |lane| many.iter().find(|(mask, _)| mask >> lane & 1 == 1).map_or(0, |&(_, t)| t),
            ),
        };
        certain | drawn
    }
}

/// Bit `k` of `t` in all lanes.
const fn digit(t: u64, k: u32) -> u64 {
    (t >> k & 1).wrapping_neg()
}

/// The high 64 bits.
const fn top_half(bits: u128) -> u64 {
    (bits >> 64) as u64
}
