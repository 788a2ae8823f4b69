//! How much a secret sample amplifies privacy.

use core::fmt;

use crate::dyadic::to_f64;
use crate::exp::exp_minus;
use crate::fixed::Fixed;
use crate::parameter::{checked, power_of_two};
use crate::{DyadicProbability, Epsilon, ParameterError, Permit, RandomizedResponse};

/// Limbs of the fixed-point bounds: 64 integer and 192 fraction bits.
const LIMBS: usize = 4;

/// The probability γ with which a secret coin keeps an item, as the threshold over 2⁶⁴ that decides it.
///
/// A bit that one item sets or toggles, if it is kept, and that is then flipped with probability `p`, reads one with
/// probability `p` without the item and with `(1 − γ) p + γ (1 − p)` with it. To whoever does not know the coin the item is
/// protected at ε when these probabilities, and those of zero, differ by the factor `e^ε` at most:
///
/// ```text
/// p ≥ γ / (e^ε − 1 + 2γ),     which is noise of level  ε₀ = ln(1 + (e^ε − 1)/γ)
/// ```
///
/// γ is the rate that is realised, rounded down from what was asked for; everything else is computed from it and rounded
/// towards more noise. Source: ours; the amplification is \[HTC23\], Corollary 4.5, at any rate.
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, SampleRate};
/// let rate = SampleRate::new(0.057)?;
/// let inner = rate.inner_level(Epsilon::new(1.0)?);
/// assert!((inner.get() - (1.0 + 1_f64.exp_m1() / 0.057).ln()).abs() < 1e-9); // 3.44
/// assert!(SampleRate::new(1.0).is_err(), "everything is no sample");
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleRate(u64);

impl SampleRate {
    /// The smallest rate, 2⁻³².
    pub const MIN: f64 = power_of_two(-32);
    /// The largest rate below 1 that an `f64` holds.
    pub const MAX: f64 = 1.0 - f64::EPSILON / 2.0;

    /// The rate, rounded down to a multiple of 2⁻⁶⁴.
    ///
    /// # Errors
    /// [`ParameterError`] unless `2⁻³² ≤ gamma < 1`; NaN is refused.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounds down; positive and below 2^64")]
    pub fn new(gamma: f64) -> Result<Self, ParameterError> {
        checked("sampling rate", gamma, Self::MIN, Self::MAX).map(|gamma| Self((gamma * power_of_two(64)) as u64))
    }

    /// From the numerator over 2⁶⁴, as a sketch states it; `None` below 2⁻³².
    #[must_use]
    pub const fn from_numerator(numerator: u64) -> Option<Self> {
        if numerator < 1 << 32 { None } else { Some(Self(numerator)) }
    }

    /// The numerator over 2⁶⁴.
    #[must_use]
    pub const fn numerator(self) -> u64 {
        self.0
    }

    /// γ, to nearest.
    #[must_use]
    pub fn get(self) -> f64 {
        to_f64(self.0) * power_of_two(-64)
    }

    /// ε₀: the level of noise that protects an item at `level` while the coin is secret, rounded down; at most
    /// [`Epsilon::MAX`]. It is also what whoever learns the key faces, to a few digits of the last place.
    ///
    /// Symmetric flips at it are sure to [keep](Self::keeps) `level`.
    #[must_use]
    pub fn inner_level(self, level: Epsilon) -> Epsilon {
        let target = (level.get().exp_m1() / self.get()).ln_1p();
        let mut margin = power_of_two(-44);
        loop {
            let inner = Epsilon::at_least_min((target * (1.0 - margin)).clamp(level.get(), Epsilon::MAX));
            // Without amplification the level itself is always enough.
            if inner <= level || self.keeps(RandomizedResponse::symmetric(inner).q(), level) {
                return inner;
            }
            margin = (2.0 * margin).min(1.0);
        }
    }

    /// Whether flips with probability `flips` protect an item at `level` while the coin is secret, decided by integers and
    /// with `e^−level` rounded up.
    #[must_use]
    pub fn keeps(self, flips: DyadicProbability, level: Epsilon) -> bool {
        self.keeps_at(flips, level.get())
    }

    fn keeps_at(self, flips: DyadicProbability, level: f64) -> bool {
        let p = flips.numerator();
        if p == 0 || p >= 1 << 63 {
            return false;
        }
        let shrink = Fixed::<LIMBS>::from_f64(level).map_or(Fixed::from_integer(1), |x| exp_minus(x).high);
        let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
        // Ones with the item, over 2^128: (1 − γ) p + γ (1 − p).
        let ones = wide(self.0.wrapping_neg(), p) + wide(self.0, p.wrapping_neg());
        at_most(&shrink, ones, wide(p, 1) << 64)
            && at_most(&shrink, wide(p.wrapping_neg(), 1) << 64, ones.wrapping_neg())
    }

    /// The level at which an item is protected by flips with probability `flips` while the coin is secret, rounded up; infinite
    /// where they are no noise (0) or nothing but noise (from 1/2 on).
    #[must_use]
    pub fn level(self, flips: DyadicProbability) -> f64 {
        let p = flips.numerator();
        if p == 0 || p >= 1 << 63 {
            return f64::INFINITY;
        }
        // From the integers: near a half, 1 − 2p of the rounded p has no digit left.
        let odds = 2.0 * to_f64((1 << 63) - p) / to_f64(p);
        let mut level = (self.get() * odds).ln_1p() * (1.0 - 64.0 * f64::EPSILON);
        let mut step = 1;
        while !self.keeps_at(flips, level) {
            level = (0..step).fold(level, |level, _| level.next_up());
            step = 16;
        }
        level
    }
}

/// The noise of a release of a secret sample; see [`SampleRate::noise_for`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledNoise {
    of_unit: Epsilon,
    of_cell: Epsilon,
}

impl SampledNoise {
    /// ε₀ for one unit: what a release of the sample by itself states, and what whoever knows the key faces.
    #[must_use]
    pub const fn of_unit(&self) -> Epsilon {
        self.of_unit
    }

    /// ε₀ for one cell, as the flips realise it: what [`loss_under_one_key`] adds up.
    #[must_use]
    pub const fn of_cell(&self) -> Epsilon {
        self.of_cell
    }
}

impl SampleRate {
    /// The noise that protects a unit, of which `items` cells may change, at `level` while the coins are secret.
    ///
    /// Each cell has the level `level / items`, rounded down, and ε₀ for that. A release made by a permit for
    /// [`of_unit`](SampledNoise::of_unit), divided by the items again, is sure to keep it.
    ///
    /// # Errors
    /// [`ParameterError`] when a cell's part of the level is below the least ε, or the ε₀ of the unit above the largest.
    ///
    /// # Examples
    /// ```
    /// use dp_noise::{Epsilon, SampleRate};
    /// let noise = SampleRate::new(0.5)?.noise_for(Epsilon::new(2.0)?, 2)?;
    /// assert!((noise.of_unit().get() - 2.0 * (2.0 * 1_f64.exp() - 1.0).ln()).abs() < 1e-9);
    /// # Ok::<(), dp_noise::ParameterError>(())
    /// ```
    pub fn noise_for(self, level: Epsilon, items: u32) -> Result<SampledNoise, ParameterError> {
        let inner = self.inner_level(level.divide(items)?);
        let of_unit = Epsilon::new(multiply_down(inner.get(), f64::from(items)))?;
        let share = Permit::standalone(of_unit).cost().divide(items)?;
        Ok(SampledNoise { of_unit, of_cell: RandomizedResponse::symmetric(share).epsilon_upper() })
    }
}

/// The largest `f64` that is not above `a · b`; both are positive and the product is normal.
fn multiply_down(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a.mul_add(b, -product) < 0.0 { product.next_down() } else { product }
}

impl fmt::Display for SampleRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.get())
    }
}

/// Whether `shrink · a ≤ b` for numerators over 2¹²⁸.
fn at_most(shrink: &Fixed<LIMBS>, a: u128, b: u128) -> bool {
    let part = |value: u128| Fixed::<LIMBS>::from_fraction(&split(value));
    let (product, inexact) = shrink.times(&part(a));
    let product = if inexact { product.plus(&Fixed::unit()) } else { product };
    product <= part(b)
}

#[expect(clippy::cast_possible_truncation, reason = "taking the two halves is the point")]
const fn split(value: u128) -> [u64; 2] {
    [(value >> 64) as u64, value as u64]
}

/// What one item loses through several releases of samples under **one** key, given the rate and the level of noise `l` (ε₀ for
/// one cell) of each, rounded up: `ln E[exp(Σ l)]` over the one coin of the item, which keeps it in all samples whose rate is
/// above the coin. At one rate γ that is
///
/// ```text
/// ln(1 + γ (e^(l₁ + l₂ + …) − 1)),
/// ```
///
/// more than the sum of the ε, since all samples have the item or none. Copies of one sketch count like sketches of their own. Under
/// keys of their own the releases cost the sum of their ε. For users with `M` items: `M` times that.
///
/// The proof: for each value of the coin the releases are independent and the odds of any outcome change by the factor `e^(Σ l)` at
/// most, so its probability grows by the mean of that factor at most; it shrinks by no more, since `1/E[1/X] ≤ E[X]`.
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, SampleRate, loss_under_one_key};
/// let rate = SampleRate::new(0.0082)?;
/// let inner = rate.inner_level(Epsilon::new(1.0)?).get(); // 5.35
/// assert!((loss_under_one_key(&[(rate, inner)]) - 1.0).abs() < 1e-9);
/// assert!((loss_under_one_key(&[(rate, inner); 2]) - 5.9).abs() < 0.05, "not 2");
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[must_use]
pub fn loss_under_one_key(releases: &[(SampleRate, f64)]) -> f64 {
    /// Covers the error of a few thousand operations of `f64`.
    const UP: f64 = 1.0 + power_of_two(-38);
    /// Beyond it e^x is summed in logarithms.
    const LARGE: f64 = 600.0;
    let mut releases: Vec<(SampleRate, f64)> = releases.to_vec();
    releases.sort_by_key(|(rate, _)| core::cmp::Reverse(*rate));
    let total: f64 = releases.iter().map(|(_, level)| level).sum();
    if total.is_nan() || total == f64::INFINITY {
        return f64::INFINITY;
    }
    // The part of the coins that keep the item in this many of the samples, the largest first.
    let weight = |place: usize| {
        let next = releases.get(place + 1).map_or(0, |(rate, _)| rate.numerator());
        to_f64(releases[place].0.numerator() - next) * power_of_two(-64)
    };
    let (mut sum, mut together, shift) = (0.0, 0.0, if total > LARGE { total } else { 0.0 });
    for (place, (_, level)) in releases.iter().enumerate() {
        together += level;
        sum += weight(place) * if shift > 0.0 { (together - shift).exp() } else { together.exp_m1() };
    }
    let loss = if shift > 0.0 { shift + (sum + (-shift).exp()).ln() } else { sum.ln_1p() };
    loss * UP
}

#[cfg(test)]
mod tests;
