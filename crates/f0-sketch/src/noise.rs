//! How strongly cells are flipped.

use dp_noise::{DyadicProbability, Epsilon, RandomizedResponse};

use crate::mode::ModeKind;

/// How the flip probability follows from ε.
///
/// With `k` cells that one unit may change, every cell has the level `ε/k`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoiseRule {
    /// The least noise that keeps ε: `p = 1/(1 + e^(ε/k))` in mode `set`, `p = e^(−ε/k)/2` in mode `presampled`.
    #[default]
    Tight,
    /// `p = 1/(2 + ε/k)`, as we read \[PS21\]. It spends `k ln(1 + ε/k)` only, in mode `presampled` `k ln(1 + ε/2k)`, and
    /// is booked at ε all the same: see [`Leaf::realised_level`](crate::Leaf::realised_level).
    Paper,
}

/// The probability with which each cell is inverted at the level `share` of a cell, rounded up to a multiple of 2⁻⁶⁴.
///
/// `exposure` is the sum of the levels at which the same coins were released before; 0 in mode `set`, where every release
/// costs its own level.
pub(crate) fn flip_probability(mode: ModeKind, rule: NoiseRule, share: Epsilon, exposure: f64) -> DyadicProbability {
    match (rule, mode) {
        (NoiseRule::Paper, _) => paper(share),
        (NoiseRule::Tight, ModeKind::Set) => RandomizedResponse::symmetric(share).q(),
        (NoiseRule::Tight, ModeKind::Presampled) if exposure > 0.0 => exposed(share, exposure),
        // A cell that is hit is a fair bit, and noise leaves it fair: the channel (1/2, p).
        (NoiseRule::Tight, ModeKind::Presampled) => RandomizedResponse::xor_family(share).q(),
    }
}

/// Whether a flip probability keeps the level `share`, by itself.
pub(crate) fn keeps(mode: ModeKind, p: DyadicProbability, share: Epsilon) -> bool {
    channel(mode, p).is_some_and(|channel| channel.keeps(share))
}

/// What one unit's cell goes through: ones stay with probability `1 − p`, or, where they are fair coins, 1/2.
pub(crate) fn channel(mode: ModeKind, p: DyadicProbability) -> Option<CellChannel> {
    let kept = match mode {
        ModeKind::Set => p.complement()?,
        ModeKind::Presampled => DyadicProbability::half(),
    };
    Some(CellChannel { kept, p })
}

/// P(1→1) and P(0→1) of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellChannel {
    kept: DyadicProbability,
    p: DyadicProbability,
}

impl CellChannel {
    fn keeps(self, share: Epsilon) -> bool {
        RandomizedResponse::from_parts(self.kept, self.p, share).is_ok()
    }

    /// The least level that it keeps, rounded up.
    pub(crate) fn level(self) -> f64 {
        // Every probability from 2^-64 on keeps the largest level.
        let widest = Epsilon::new(Epsilon::MAX).ok();
        let channel = widest.and_then(|widest| RandomizedResponse::from_parts(self.kept, self.p, widest).ok());
        channel.map_or(f64::INFINITY, |channel| channel.epsilon_upper().get())
    }
}

/// `ln((1−p)/p)`, rounded up.
pub(crate) fn level_of(p: DyadicProbability) -> f64 {
    channel(ModeKind::Set, p).map_or(f64::INFINITY, CellChannel::level)
}

/// `⌈2⁶⁴ / (2 + ε)⌉`, with ε rounded down to a multiple of 2⁻⁶⁰.
fn paper(share: Epsilon) -> DyadicProbability {
    /// 2⁶⁰.
    const SCALE: f64 = 1_152_921_504_606_846_976.0;
    let steps = integer_part(share.get() * SCALE);
    let numerator = (1_u128 << 124).div_ceil((1 << 61) + steps);
    DyadicProbability::from_numerator(low_word(numerator))
}

/// `1/(1 + e^l)` for the level `l` at which a further release costs `ε`: `e^l = e^ε + (e^ε − 1) e^−s` for coins that were
/// released at levels of sum `s` before.
fn exposed(share: Epsilon, exposure: f64) -> DyadicProbability {
    /// 1 + 2⁻⁴⁰: covers the error of a few operations of `f64`.
    const UP: f64 = 1.0 + 1.0 / 1_099_511_627_776.0;
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    let gain = share.get().exp_m1();
    let probability = UP / (2.0 + gain + gain * (-exposure).exp());
    let numerator = low_word(integer_part((probability * TWO_64).ceil()));
    // Without amplification the symmetric channel is enough, with all of it (1/2, p) is needed.
    let most = RandomizedResponse::symmetric(share).q();
    let least = RandomizedResponse::xor_family(share).q();
    DyadicProbability::from_numerator(numerator).clamp(least, most)
}

/// The loss from releases of one presampled state by flips with the probabilities `pᵢ`: `ln(1 + (Π e^lᵢ − 1)/2)` with
/// `lᵢ = ln((1−pᵢ)/pᵢ)`, rounded up; infinite where one of them is no noise (0) or too much (from 1/2 on).
///
/// It is asked about the flips of the [leaves](crate::Leaf::flip_numerator), not about the ε of the permits. All copies share the coins, so that together they lose more
/// than the sum of what each loses by itself; with one release this is its ε. It is what one item with an own cell loses;
/// a user with `k` items loses `k` times that.
///
/// A sketch that [keeps](crate::F0Sketch::release_keeping) its coins books this by itself: it makes each further release
/// for what its permit adds to the loss.
///
/// # Examples
/// ```
/// use f0_sketch::{ModeKind, NoiseRule, Unit, diagnostics, presampled_cost};
/// use f0_sketch::dp_noise::{DyadicProbability, Epsilon};
/// // ε = 1 needs p = e⁻¹/2, which is noise of level ln(2e − 1).
/// let first = diagnostics::flip_numerator(ModeKind::Presampled, NoiseRule::Tight, Epsilon::new(1.0)?, Unit::Item)?;
/// let p = DyadicProbability::from_numerator(first);
/// assert!((presampled_cost(&[p]) - 1.0).abs() < 1e-12);
/// assert!((presampled_cost(&[p, p]) - 2.336).abs() < 1e-3, "not 2");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn presampled_cost(flips: &[DyadicProbability]) -> f64 {
    presampled_loss(flips.iter().fold(0.0, |sum, &p| add_up(sum, level_of(p))))
}

/// `ln((1 + e^s)/2)`, rounded up.
pub(crate) fn presampled_loss(sum: f64) -> f64 {
    /// Covers a few roundings of relative size 2⁻⁵³.
    const UP: f64 = 1.0 + 8.0 * f64::EPSILON;
    let loss = if sum < 700.0 { (sum.exp_m1() / 2.0).ln_1p() } else { sum - core::f64::consts::LN_2 };
    loss * UP
}

/// The least `f64` that is not below `a + b`.
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// The least `f64` that is not below `a · b`; both are positive and the product is normal.
pub(crate) fn multiply_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a.mul_add(b, -product) > 0.0 { product.next_up() } else { product }
}

/// The integer part of a number in `0 ..= 2^100`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and far below 2^128")]
pub(crate) const fn integer_part(number: f64) -> u128 {
    number as u128
}

/// A number below 2⁶⁴ as a word.
pub(crate) fn low_word(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
