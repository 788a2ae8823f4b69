//! Numbers behind the sketches, for simulations, tables and tests. Nothing here touches data.

use dp_noise::{DyadicProbability, Epsilon};

use crate::contrast::Contrast;
use crate::error::ReleaseError;
use crate::mode::ModeKind;
use crate::noise::{NoiseRule, channel, flip_probability as flips, multiply_up};
use crate::release::share_of;
use crate::shape::F0Shape;
use crate::unit::Unit;

/// The flip probability of a first release as a numerator over 2⁶⁴, rounded up.
///
/// # Errors
/// [`ReleaseError::Share`] when a cell's part of ε is below the least ε.
///
/// # Examples
/// ```
/// use f0_sketch::{ModeKind, NoiseRule, Unit, diagnostics};
/// use f0_sketch::dp_noise::Epsilon;
/// let third = diagnostics::flip_numerator(ModeKind::Set, NoiseRule::Paper, Epsilon::new(1.0)?, Unit::Item)?;
/// assert_eq!(third, u64::MAX / 3 + 1);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn flip_numerator(mode: ModeKind, rule: NoiseRule, epsilon: Epsilon, unit: Unit) -> Result<u64, ReleaseError> {
    Ok(flips(mode, rule, share_of(epsilon, unit)?, 0.0).numerator())
}

/// What one unit loses through flips with this numerator over 2⁶⁴, rounded up; infinite where that is no noise (0) or too
/// much (from 2⁶³ on).
///
/// # Examples
/// ```
/// use f0_sketch::{ModeKind, Unit, diagnostics};
/// // p = 1/3 spends ln 2, and ln(3/2) where coins amplify.
/// let third = u64::MAX / 3 + 1;
/// assert!((diagnostics::spent_level(ModeKind::Set, third, Unit::Item) - 2_f64.ln()).abs() < 1e-12);
/// assert!((diagnostics::spent_level(ModeKind::Presampled, third, Unit::Item) - 1.5_f64.ln()).abs() < 1e-12);
/// ```
#[must_use]
pub fn spent_level(mode: ModeKind, flip_numerator: u64, unit: Unit) -> f64 {
    let p = DyadicProbability::from_numerator(flip_numerator);
    let cell = channel(mode, p).map_or(f64::INFINITY, crate::noise::CellChannel::level);
    multiply_up(cell, f64::from(unit.max_items()))
}

/// The contrast `Π (1 − 2p)` of flips one after the other, as a merge computes it from numerators over 2⁶⁴.
///
/// # Examples
/// ```
/// use f0_sketch::diagnostics::merged_contrast;
/// assert_eq!(merged_contrast(&[1 << 62, 1 << 62]), 0.25);
/// ```
#[must_use]
pub fn merged_contrast(flip_numerators: &[u64]) -> f64 {
    flip_numerators.iter().fold(Contrast::ONE, |contrast, &p| contrast.flipped(p)).to_f64()
}

/// The table of an item and its place in it, from its 128 hash bits.
///
/// # Examples
/// ```
/// use f0_sketch::{F0Shape, diagnostics::place};
/// assert_eq!(place(&F0Shape::DEFAULT, [1 << 60, 1 << 63]), (3, 2048));
/// ```
#[must_use]
pub fn place(shape: &F0Shape, hash: [u64; 2]) -> (usize, usize) {
    let cell = shape.placement().cell(hash);
    let before = |range: &core::ops::Range<usize>| range.end <= cell;
    let table = shape.ranges().take_while(before).count();
    let start = shape.ranges().nth(table).map_or(0, |range| range.start);
    (table, cell - start)
}
