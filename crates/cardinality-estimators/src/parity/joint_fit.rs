//! The sizes of the three regions that make the joint likelihood highest, freely or on a plane.

use crate::diagnostics::mle;
use crate::parity::SetSizes;
use crate::parity::joint::{JointParityCounts, Regions, dot};
use crate::parity::quadratic::{Plane, best_step};
use crate::{ParamError, Status};

/// A maximum of the joint likelihood and its height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Peak {
    pub(crate) regions: Regions,
    pub(crate) height: f64,
}

impl JointParityCounts {
    /// The highest of the maxima found from three starts: the plug-in sizes, two sets apart, and two sets alike.
    ///
    /// `Err` holds the status of an answer without a value: one of the sketches is full, or no climb came to rest.
    pub(crate) fn fit(&self) -> Result<Result<Peak, Status>, ParamError> {
        let counts = [self.first()?, self.second()?, self.xor()?];
        let maxima = counts.each_ref().map(|counts| mle(counts.level_counts()));
        for maximum in &maxima[..2] {
            if !maximum.status.has_value() {
                return Ok(Err(maximum.status));
            }
        }
        let cap = counts[0].level_counts().n_cap();
        let [first, second, xor] = maxima.map(|maximum| maximum.n_hat);
        let plugged =
            if maxima[2].status.has_value() { self.plug_in(first, second, xor) } else { [first, second, 0.0] };
        let alike = first.min(second);
        let starts = [plugged, [first, second, 0.0], [first - alike, second - alike, alike]];
        // Half an item keeps the starts off the edges, where noiseless cells may be impossible.
        let peaks = starts.iter().filter_map(|start| self.climb(start.map(|n| n + 0.5), None));
        let Some(best) = peaks.reduce(|best, peak| if peak.height > best.height { peak } else { best }) else {
            return Ok(Err(Status::NotConverged));
        };
        let full = best.regions.iter().any(|&n| n >= cap);
        Ok(if full { Err(Status::Saturated) } else { Ok(best) })
    }

    fn plug_in(&self, first: f64, second: f64, xor: f64) -> Regions {
        let sizes = match self.model() {
            super::ParityModel::Set => SetSizes::from_symmetric_difference(first, second, xor),
            super::ParityModel::Presampled => SetSizes::from_union(first, second, xor),
        };
        [sizes.only_first, sizes.only_second, sizes.intersection]
    }

    /// Projected Fisher scoring from `start`; on a plane the first step leads onto it. `None` when it does not come to rest.
    pub(crate) fn climb(&self, start: Regions, plane: Option<Plane>) -> Option<Peak> {
        let mut at = start;
        if plane.is_some() {
            at = step_from(at, best_step(&self.slope(at), at, plane)?, 1.0);
        }
        let mut height = self.log_likelihood(at);
        let mut left = f64::INFINITY;
        for _ in 0..100 {
            let slope = self.slope(at);
            let step = best_step(&slope, at, plane)?;
            left = dot(slope.gradient, step);
            // Half of what is left is the distance to the top in log-likelihood: here 1e-5 standard errors.
            if left < 1e-10 {
                break;
            }
            match self.search_along(at, step, left, height) {
                Some((next, top)) => (at, height) = (next, top),
                // Rounding hides what is left.
                None => break,
            }
        }
        (height.is_finite() && left < 1e-4).then_some(Peak { regions: at, height })
    }

    /// The first of ever shorter steps that gains a share of what the slope promises, or a better one on the way there.
    fn search_along(&self, at: Regions, step: Regions, gain: f64, height: f64) -> Option<(Regions, f64)> {
        let mut share = 1.0;
        for _ in 0..40 {
            let next = step_from(at, step, share);
            let top = self.log_likelihood(next);
            if top > height + 1e-4 * share * gain {
                return Some(self.shorten(at, step, (share, gain), height, (next, top)));
            }
            share /= 2.0;
        }
        None
    }

    /// Where noise is strong the likelihood of the data bends more than it is expected to, and full steps swing from side to
    /// side. The parabola through what is known has its top at a shorter step; the better of the two is taken.
    fn shorten(
        &self,
        at: Regions,
        step: Regions,
        (share, gain): (f64, f64),
        height: f64,
        full: (Regions, f64),
    ) -> (Regions, f64) {
        let promised = share * gain;
        let best = share * promised / (2.0 * (promised - (full.1 - height)));
        if !(0.1 * share..0.9 * share).contains(&best) {
            return full;
        }
        let next = step_from(at, step, best);
        let top = self.log_likelihood(next);
        if top > full.1 { (next, top) } else { full }
    }
}

/// `at + share·step`, held at 0 or above.
fn step_from(at: Regions, step: Regions, share: f64) -> Regions {
    core::array::from_fn(|i| (at[i] + share * step[i]).max(0.0))
}
