//! What inexact sampling costs.

use core::fmt;

use crate::calibration::MARGIN;
use crate::dyadic::to_f64;
use crate::parameter::power_of_two;
use crate::{Delta, Epsilon};

/// The largest share of δ that inexactness may take.
const SHARE: f64 = power_of_two(-20);

/// Inexact sampling takes more of δ than it may.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceError {
    addition: f64,
    limit: f64,
}

impl DistanceError {
    /// What inexactness adds to δ.
    #[must_use]
    pub fn addition(&self) -> f64 {
        self.addition
    }

    /// The most that it may add, `δ / 2²⁰`.
    #[must_use]
    pub fn limit(&self) -> f64 {
        self.limit
    }
}

impl fmt::Display for DistanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "inexact sampling adds {:e} to delta, at most {:e} may be added", self.addition, self.limit)
    }
}

impl core::error::Error for DistanceError {}

/// What draws at a total-variation distance from their law add to δ at level ε: `distance (1 + e^ε)`, rounded up.
///
/// `distance` is the sum over all draws of [`NoiseSampler::statistical_distance`](crate::NoiseSampler::statistical_distance).
/// It does not make the release "δ-approximate zCDP": a cut tail has infinite loss. So a ledger adds ρ and the distance
/// apart, and joins them when it states (ε, δ). A negative or missing distance or ε (NaN) adds infinitely much.
///
/// # Examples
/// ```
/// let added = dp_noise::delta_for_distance(1e-30, 1.0);
/// assert!((added / 3.718_281_828_459_045e-30 - 1.0).abs() < 1e-11);
/// assert_eq!(dp_noise::delta_for_distance(0.0, 256.0), 0.0);
/// ```
#[must_use]
pub fn delta_for_distance(distance: f64, epsilon: f64) -> f64 {
    if !(distance >= 0.0 && epsilon >= 0.0) {
        return f64::INFINITY;
    }
    if distance == 0.0 {
        return 0.0;
    }
    (distance * (1.0 + epsilon.exp()) * (1.0 + MARGIN)).max(f64::MIN_POSITIVE)
}

/// The δ that is left for the mechanism when `draws` draws at distance `each` take their part of `delta` at `epsilon`.
///
/// Exact samplers leave all of it.
///
/// # Errors
/// [`DistanceError`] when the part is above `δ / 2²⁰`: then nothing may be stated at this ε and δ.
///
/// # Examples
/// ```
/// use dp_noise::{BitSlicedLaplace, Delta, Epsilon, NoiseSampler, Scale, delta_beside_distance};
/// let each = BitSlicedLaplace::new(Scale::new(10, 1)?)?.statistical_distance();
/// let (delta, draws) = (Delta::new(1e-9)?, 20_480);
/// assert!(delta_beside_distance(delta, Epsilon::new(1.0)?, draws, each)? < delta);
/// // e^100 of a total distance of 2^-111 is more than everything.
/// assert!(delta_beside_distance(delta, Epsilon::new(100.0)?, draws, each).is_err());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn delta_beside_distance(delta: Delta, epsilon: Epsilon, draws: u64, each: f64) -> Result<Delta, DistanceError> {
    if draws == 0 || each == 0.0 {
        return Ok(delta);
    }
    let total = to_f64(draws) * each * (1.0 + MARGIN);
    let addition = allowed(total, epsilon.get(), delta.get())?;
    // At most δ/2²⁰ is taken, so only a δ at the very end of the range can leave it.
    let limit = delta.get() * SHARE;
    Delta::new((delta.get() - addition).next_down()).map_err(|_| DistanceError { addition, limit })
}

/// The addition for a total distance, where it is allowed.
pub(crate) fn allowed(total: f64, epsilon: f64, delta: f64) -> Result<f64, DistanceError> {
    let (addition, limit) = (delta_for_distance(total, epsilon), delta * SHARE);
    if addition <= limit { Ok(addition) } else { Err(DistanceError { addition, limit }) }
}

/// What is left of δ in the worst case that is allowed.
pub(crate) fn rest(delta: f64) -> f64 {
    (delta * (1.0 - SHARE)).next_down()
}
