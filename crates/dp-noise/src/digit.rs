//! Laws too wide for one table: a table for the leading digits, uniform last digits, and a coin that nearly always falls
//! the same way.
//!
//! Write `|x| = 2^s y + z` with `z < 2^s`. With `ζ = z/2^s`, and the law of `y` the same law 2^s times narrower on
//! `y >= 0`,
//!
//! ```text
//! Gaussian  exp(−|x|²/(2σ²)) = exp(−y²/(2σ₀²)) · exp(−ζ (ζ + 2y)/(2σ₀²)),   σ = 2^s σ₀
//! Laplace   exp(−|x|/t)      = exp(−y/t₀)      · exp(−ζ/t₀),                t = 2^s t₀
//! ```
//!
//! So: draw y from its table and z uniformly, accept with the last factor `e^-γ`, draw a sign and reject `(−, 0)`. γ is
//! below 1/10, and the coin is decided by `1 − γ <= e^-γ <= 1 − γ + γ²/2` all but once in some ten thousand times; then
//! it is decided exactly.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::exp::{Enclosure, exp_minus_enclosed};
use crate::fixed::Fixed;
use crate::table::{Law, RandomFraction, Table, halves, table_for, with_sign};
use crate::{NoiseSource, SampleError};

/// Words drawn at a time, three for two proposals or four.
const BLOCK: usize = 192;
/// Proposals in a row after which the generator must be broken: nine in ten are accepted at the least.
const MAX_REFUSED: u32 = 10_000;

/// How γ depends on the digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// `γ = ζ (ζ + 2y) · rate`
    Quadratic,
    /// `γ = ζ · rate`
    Linear,
}

/// A law split into a table for `y` and `shift` uniform digits.
#[derive(Clone, Debug)]
pub(crate) struct DigitSplit {
    leading: Arc<Table>,
    shape: Shape,
    shift: u32,
    /// The rate is `numerator/denominator`, halved for the quadratic shape: `1/(2σ₀²)` or `1/t₀`, below 1.
    numerator: u128,
    denominator: u128,
    /// `2⁶⁹` times the rate, rounded up.
    rate: u64,
}

/// `2^RATE_PLACES` times a rate of at most `2⁻⁶` fits into a word.
const RATE_PLACES: u32 = 69;

impl DigitSplit {
    /// `P[x] ∝ exp(−x²/(2σ²))` with `σ² = 4^shift σ₀²` and `1/σ₀² = numerator/denominator < 2⁻⁵`; `1 <= shift <= 32`.
    pub(crate) fn gaussian(numerator: u128, denominator: u128, shift: u32) -> Result<Self, SampleError> {
        let law = Law { family: crate::table::Family::GaussianHalf, numerator, denominator };
        Self::new(law, Shape::Quadratic, shift)
    }

    /// `P[x] ∝ exp(−|x|/t)` with `t = 2^shift t₀` and `1/t₀ = numerator/denominator < 2⁻⁶`; `1 <= shift`.
    pub(crate) fn laplace(numerator: u128, denominator: u128, shift: u32) -> Result<Self, SampleError> {
        let law = Law { family: crate::table::Family::Geometric, numerator, denominator };
        Self::new(law, Shape::Linear, shift)
    }

    fn new(law: Law, shape: Shape, shift: u32) -> Result<Self, SampleError> {
        let Law { numerator, denominator, .. } = law;
        let mut split = Self { leading: table_for(law)?, shape, shift, numerator, denominator, rate: 0 };
        split.rate = split.exact_rate::<4>().high.scaled_up(RATE_PLACES);
        Ok(split)
    }

    /// The rate, to about `64 (N − 1)` digits.
    fn exact_rate<const N: usize>(&self) -> Enclosure<N> {
        let ratio = Enclosure::of_ratio(self.numerator, self.denominator);
        match self.shape {
            Shape::Quadratic => ratio.halved(),
            Shape::Linear => ratio,
        }
    }

    pub(crate) fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        let mut words = Zeroizing::new([0_u64; BLOCK]);
        let mut place = Place { out, filled: 0, refused: 0 };
        while let missing @ 1.. = place.missing() {
            // Last digits that fit into half a word share one with those of another proposal.
            let share = self.shift <= 32;
            let wanted = if share { missing.div_ceil(2).saturating_mul(3) } else { missing.saturating_mul(2) };
            let words = &mut words[..wanted.min(BLOCK)];
            noise.fill_words(words);
            if share {
                for three in words.chunks_exact(3) {
                    for (word, half) in three.iter().zip(halves(three[2])) {
                        place.take(self.propose(*word, u64::from(half) >> (32 - self.shift), noise)?);
                    }
                }
            } else {
                for two in words.chunks_exact(2) {
                    place.take(self.propose(two[0], two[1] >> (64 - self.shift), noise)?);
                }
            }
            if place.refused > MAX_REFUSED {
                return Err(SampleError::Rounds { rounds: place.refused });
            }
        }
        Ok(())
    }

    /// One proposal: sign and leading digits from one half of the word, the coin from the other.
    #[inline]
    fn propose<R: NoiseSource + ?Sized>(&self, word: u64, z: u64, noise: &mut R) -> Result<Option<i64>, SampleError> {
        let [half, coin] = halves(word);
        let negative = half >> 31 == 1;
        let y = self.leading.invert(half, noise)?;
        if !self.accepts(y, z, coin, noise)? {
            return Ok(None);
        }
        let magnitude = (y << self.shift) | z;
        Ok(if negative && magnitude == 0 { None } else { Some(with_sign(negative, magnitude)) })
    }

    /// A coin true with probability `e^-γ`, of whose uniform number `coin` is the first 32 digits.
    #[inline]
    fn accepts<R: NoiseSource + ?Sized>(&self, y: u64, z: u64, coin: u32, noise: &mut R) -> Result<bool, SampleError> {
        // ζ rounded up to 32 digits, at most 1.
        let zeta = if self.shift <= 32 { z << (32 - self.shift) } else { (z >> (self.shift - 32)) + 1 };
        let factor = match self.shape {
            Shape::Quadratic => zeta + (y << 33),
            Shape::Linear => 1 << 32,
        };
        // γ rounded up to 32 digits, by less than three units in all. ζ and the factor have 32 places each, the rate 69.
        let product = ((u128::from(zeta) * u128::from(factor)) >> 32) + 1;
        let gamma = ((product * u128::from(self.rate)) >> RATE_PLACES) + 1;
        // The uniform number lies in coin .. coin + 1, in units of 2^-32.
        let gap = u128::from(u32::MAX - coin) + 1;
        if gap > gamma {
            return Ok(true); // coin + 1 <= 1 − γ
        }
        if gap + ((gamma * gamma) >> 33) + 5 <= gamma {
            return Ok(false); // coin >= 1 − γ + γ²/2
        }
        self.decide(y, z, coin, noise)
    }

    /// The same when these bounds of `e^-γ` do not decide.
    #[cold]
    fn decide<R: NoiseSource + ?Sized>(&self, y: u64, z: u64, coin: u32, noise: &mut R) -> Result<bool, SampleError> {
        let mut fraction = RandomFraction::starting_with(u64::from(coin), 32, noise);
        fraction.is_less(|| exp_minus_enclosed(self.gamma(y, z)), || exp_minus_enclosed(self.gamma(y, z)), noise)
    }

    /// γ to about `64 (N − 1)` digits.
    fn gamma<const N: usize>(&self, y: u64, z: u64) -> Enclosure<N> {
        let zeta = Fixed::<N>::from_fraction(&[z << (64 - self.shift)]);
        let factor = match self.shape {
            Shape::Quadratic => zeta.plus(&Fixed::from_integer(2 * y)),
            Shape::Linear => Fixed::from_integer(1),
        };
        Enclosure::exactly(zeta).times(&Enclosure::exactly(factor)).times(&self.exact_rate())
    }
}

/// The draws so far.
struct Place<'a> {
    out: &'a mut [i64],
    filled: usize,
    /// Proposals refused in a row.
    refused: u32,
}

impl Place<'_> {
    fn missing(&self) -> usize {
        self.out.len() - self.filled
    }

    /// Keeps an accepted draw; one too many is dropped, whatever it is.
    #[inline]
    fn take(&mut self, proposal: Option<i64>) {
        match (proposal, self.out.get_mut(self.filled)) {
            (Some(draw), Some(next)) => {
                *next = draw;
                self.filled += 1;
                self.refused = 0;
            }
            (Some(_), None) => {}
            (None, _) => self.refused += 1,
        }
    }
}

#[cfg(test)]
mod tests;
