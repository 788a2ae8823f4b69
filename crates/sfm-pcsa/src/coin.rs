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

/// Uniform words for one operation, drawn in pieces and wiped afterwards.
pub(crate) struct Coins<'a, R: NoiseSource + ?Sized> {
    noise: &'a mut R,
    words: Zeroizing<[u64; 256]>,
    next: usize,
}

impl<'a, R: NoiseSource + ?Sized> Coins<'a, R> {
    pub(crate) fn new(noise: &'a mut R) -> Self {
        Self { noise, words: Zeroizing::new([0; 256]), next: 256 }
    }

    fn word(&mut self) -> u64 {
        if self.next == self.words.len() {
            self.noise.fill_words(&mut self.words[..]);
            self.next = 0;
        }
        let word = self.words[self.next];
        self.next += 1;
        word
    }

    /// One bit in each lane of `undecided`, the others 0; `digit(k)` holds bit `k` of the thresholds of all lanes.
    ///
    /// A uniform number and the threshold of its lane are compared from the top digit down, in all lanes at once, until
    /// each lane has met a difference. A lane whose number equals its threshold is not below it and stays 0. About
    /// log₂ 64 + 2 words are drawn.
    pub(crate) fn lanes(&mut self, undecided: u64, digit: impl Fn(u32) -> u64) -> u64 {
        let (mut undecided, mut out) = (undecided, 0);
        for k in (0..64).rev() {
            if undecided == 0 {
                break;
            }
            let (threshold, uniform) = (digit(k), self.word());
            out |= undecided & threshold & !uniform;
            undecided &= !(threshold ^ uniform);
        }
        out
    }

    /// One bit in each lane, by classes: every lane lies in the mask of at most one of `classes` and is drawn with that
    /// class's probability; lanes in none are 0.
    pub(crate) fn by_class(&mut self, classes: &[(u64, Threshold)]) -> u64 {
        let (mut certain, mut undecided) = (0, 0);
        for &(mask, threshold) in classes {
            match threshold {
                Threshold::Always => certain |= mask,
                Threshold::NEVER => {}
                Threshold::Below(_) => undecided |= mask,
            }
        }
        let digit = |k: u32| {
            classes.iter().fold(0, |plane, &(mask, threshold)| match threshold {
                Threshold::Below(t) => plane | (mask & (t >> k & 1).wrapping_neg()),
                Threshold::Always => plane,
            })
        };
        certain | self.lanes(undecided, digit)
    }
}
