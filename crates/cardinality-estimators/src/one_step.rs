//! An unclamped estimate for averages over many small groups.

use crate::LevelCounts;

/// The standard error of the estimate when nothing was counted, `H(0)^(−1/2)`: about `√(3·buckets·q(1−q))/d` items for
/// PCSA. Zero without noise.
#[must_use]
pub fn noise_floor(counts: &LevelCounts) -> f64 {
    counts.information().expected(0.0).sqrt().recip()
}

/// One Newton step from 0, `l'(0)/H(0)`: unbiased for small counts and negative about half the time when nothing was
/// counted.
///
/// [`estimate`](crate::estimate) never goes below 0, so an average of its values over many small groups is too high;
/// average these instead. Far above [`noise_floor`] it is much too small and the likelihood estimate is the one to use.
/// `None` where zeros never turn into ones: there is no noise to average out and the step is not defined.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, LevelCounts, signed_one_step};
/// // Fewer ones than the noise alone makes on average.
/// let counts = LevelCounts::pcsa(1000, &[99, 99], BitChannel::symmetric(0.1)?)?;
/// assert!(signed_one_step(&counts).is_some_and(|step| step < 0.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[must_use]
pub fn signed_one_step(counts: &LevelCounts) -> Option<f64> {
    let channel = counts.channel();
    let slope = counts.derivatives(0.0, f64::INFINITY);
    let step = slope.d1 / slope.information;
    (channel.q() > 0.0 && step.is_finite()).then_some(step)
}
