//! How far the shared law may be believed, and the answer of both laws together.

use super::SizeSpread;
use super::free_fit::FreeFit;
use super::shared_fit::SharedFit;
use crate::number::to_f64;
use crate::solve::Peak;

/// A coefficient of variation of the sizes of a tenth halves the weight of the shared law.
const SPREAD: f64 = 0.01;
/// Intervals of the shared law are lengthened by this, on the scale of `ln n`.
const SHARED_ARM: f64 = 1.06;
/// Those of the free law by this, less `FREE_RELIEF` where the shared law agrees.
const FREE_ARM: f64 = 1.12;
const FREE_RELIEF: f64 = 0.12;

/// What one law says of the union.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawEstimate {
    pub(crate) n_hat: f64,
    pub(crate) log_likelihood: f64,
    pub(crate) positive_weights: usize,
    /// The standard error of `ln n`.
    pub(crate) reach: f64,
    pub(crate) ends: Option<(f64, Option<f64>)>,
}

impl LawEstimate {
    /// Where the likelihood is highest: 0 (the shared law: or as good as 0), the end of the range, or between.
    #[must_use]
    pub const fn n_hat(&self) -> f64 {
        self.n_hat
    }

    /// The log-likelihood there, without constants.
    #[must_use]
    pub const fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// How many weights of the law are not 0, counted as the guard counts degrees of freedom.
    #[must_use]
    pub const fn positive_weights(&self) -> usize {
        self.positive_weights
    }

    /// The relative standard error from the bend of the likelihood; `None` where it does not bend.
    #[must_use]
    pub fn relative_error(&self) -> Option<f64> {
        Some(self.reach).filter(|reach| reach.is_finite())
    }

    /// The likelihood ratio interval of the law itself, not lengthened; `None` if none was asked for, or if the answer does not
    /// use this law. An end that does not exist is `None`.
    #[must_use]
    pub const fn interval(&self) -> Option<(f64, Option<f64>)> {
        self.ends
    }
}

/// What the guard found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Guard {
    /// `w`.
    pub(crate) weight: f64,
    /// `u`: the share of the shared law's own interval.
    pub(crate) sharp: f64,
    /// `G`.
    pub(crate) misfit: f64,
}

impl Guard {
    /// All trust in the free law.
    pub(crate) const FREE: Self = Self { weight: 0.0, sharp: 0.0, misfit: f64::INFINITY };

    /// Misfit against its mean under the shared law, about the difference `d` in positive weights, plus two standard
    /// deviations of a `χ²`; and the spread of the sizes.
    pub(crate) fn new(free: &FreeFit, shared: &SharedFit, sizes: Option<&SizeSpread>) -> Self {
        let misfit = 2.0 * (free.log_likelihood - shared.log_likelihood);
        let usable = matches!(free.peak, Peak::Inside(_)) && matches!(shared.peak, Peak::Inside(_) | Peak::Zero);
        if !(usable && misfit.is_finite()) {
            return Self::FREE;
        }
        let more = free.positive_weights.saturating_sub(shared.positive_weights()).max(1);
        let degrees = to_f64(more as u64);
        let allowed = degrees + 2.0 * (2.0 * degrees).sqrt();
        let fitting = if misfit > allowed { (allowed / misfit) * (allowed / misfit) } else { 1.0 };
        let (even, surprise) = sizes.map_or((1.0, f64::INFINITY), |sizes| {
            let spread = sizes.size_cv2() / SPREAD;
            (1.0 / (1.0 + spread * spread), sizes.size_z())
        });
        let weight = fitting * even;
        let sharp = ((weight - 0.6) / 0.3).clamp(0.0, 1.0) * (2.0 - surprise).clamp(0.0, 1.0);
        if shared.peak == Peak::Zero {
            // Nothing to mix on a logarithmic scale: believed or not.
            return Self { weight: if weight < 0.05 { 0.0 } else { weight }, sharp: 0.0, misfit };
        }
        Self { weight, sharp, misfit }
    }

    /// `ln n = w·ln S + (1 − w)·ln F`; of `S = 0` and `F` the likelier one.
    pub(crate) fn value(&self, free: f64, shared: f64) -> f64 {
        if shared <= 0.0 {
            return if self.weight < 0.5 { free } else { 0.0 };
        }
        mix(self.weight, shared.ln(), free.ln()).exp()
    }

    /// The standard error of `ln n` from the bends of the likelihoods.
    pub(crate) fn mixed_reach(&self, free: &LawEstimate, shared: &LawEstimate) -> f64 {
        if self.weight > 0.0 && shared.n_hat > 0.0 { mix(self.weight, shared.reach, free.reach) } else { free.reach }
    }

    /// The interval around `value`; infinite above without an end.
    pub(crate) fn interval(&self, value: f64, free: &LawEstimate, shared: &LawEstimate) -> (f64, f64) {
        let trust = (4.0 * self.weight).min(1.0);
        let ends = |law: &LawEstimate, arm: f64| {
            let (low, high) = law.ends.unwrap_or((0.0, None));
            let at = law.n_hat.ln();
            (at - arm * (at - low.ln()), at + arm * (high.unwrap_or(f64::INFINITY).ln() - at))
        };
        let is_nothing = shared.n_hat <= 0.0 && self.weight > 0.0;
        let free = ends(free, FREE_ARM - FREE_RELIEF * trust);
        if is_nothing {
            return (0.0, free.1.exp().max(value));
        }
        let shared = if self.weight > 0.0 { ends(shared, SHARED_ARM) } else { free };
        // The hull of both where the shared law is credible, the free law's interval where it is not.
        let wide = (mix(trust, free.0.min(shared.0), free.0), mix(trust, free.1.max(shared.1), free.1));
        let (low, high) = (mix(self.sharp, shared.0, wide.0).exp(), mix(self.sharp, shared.1, wide.1).exp());
        (low.min(value), high.max(value))
    }
}

/// `share·x + (1 − share)·y`, also where one of them is infinite and has no share.
fn mix(share: f64, x: f64, y: f64) -> f64 {
    if share >= 1.0 {
        x
    } else if share <= 0.0 {
        y
    } else {
        share * x + (1.0 - share) * y
    }
}
