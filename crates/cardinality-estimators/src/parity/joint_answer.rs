//! Sizes of unions, intersections and differences of two sets, and their similarity, from the joint likelihood.

use core::cell::Cell;

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::estimate::Parts;
use crate::interval::crossing;
use crate::parity::ItemWeights;
use crate::parity::joint::{JointParityCounts, Regions, dot};
use crate::parity::joint_fit::Peak;
use crate::parity::joint_likelihood::quadratic_form;
use crate::parity::quadratic::{Plane, inverse};
use crate::{Confidence, Estimate, ParamError, Status};

/// A combination of two sets whose size can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetCombination {
    /// `A ∪ B`.
    Union,
    /// `A ∩ B`.
    Intersection,
    /// `A ∖ B`.
    OnlyFirst,
    /// `B ∖ A`.
    OnlySecond,
    /// `A △ B`.
    SymmetricDifference,
    /// `A`, with what `B` tells about it.
    First,
    /// `B`, with what `A` tells about it.
    Second,
}

impl SetCombination {
    /// Every combination.
    pub const ALL: [Self; 7] = [
        Self::Union,
        Self::Intersection,
        Self::OnlyFirst,
        Self::OnlySecond,
        Self::SymmetricDifference,
        Self::First,
        Self::Second,
    ];

    /// Which of the regions "only A", "only B", "both" it holds.
    const fn regions(self) -> Regions {
        match self {
            Self::Union => [1.0, 1.0, 1.0],
            Self::Intersection => [0.0, 0.0, 1.0],
            Self::OnlyFirst => [1.0, 0.0, 0.0],
            Self::OnlySecond => [0.0, 1.0, 0.0],
            Self::SymmetricDifference => [1.0, 1.0, 0.0],
            Self::First => [1.0, 0.0, 1.0],
            Self::Second => [0.0, 1.0, 1.0],
        }
    }
}

/// The joint maximum likelihood sizes of two sets, from which any combination is answered.
///
/// The sizes of "only A", "only B" and "both" maximise the likelihood of the pairs of cells over all sizes that are not
/// negative, by projected Fisher scoring. Errors come from the inverse of the expected information, less the sizes
/// themselves for items of weight 1 (as `1/J − n` for one sketch). A combination strays less where a region is near 0, which
/// it cannot fall below: its standard error is at most the longer arm of its interval over `z`. Intervals hold every size `t` with
/// `2·(l(max) − l(max | size = t)) ≤ χ²·(share of the variance left)`, the profile likelihood. `χ²` is the quantile with one
/// degree of freedom, `z²`, unless holding the size at `t` also empties regions that the data would fill; each of them counts
/// as one more, as in tests against the edge of a cone \[SL87\]. So intervals stay honest at 0, where they cover more.
///
/// Source: ours. \[PS21\] gives the sketches and their xor, not a joint estimate.
///
/// # Examples
/// ```
/// use cardinality_estimators::{Confidence, Status};
/// use cardinality_estimators::parity::{
///     ItemWeights, JointFit, JointParityCounts, ParityLayout, ParityModel, SetCombination,
/// };
/// // The pairs 00, 01, 10, 11 to expect of 300 items in A only, 500 in B only and 200 in both, in one table.
/// let layout = ParityLayout::regular(1, 4096)?;
/// let pairs = [[2962, 530, 396, 208]];
/// let joint = JointParityCounts::new(&layout, ParityModel::Set, ItemWeights::Unit, &pairs, [0.9, 0.9])?;
/// let fit = JointFit::new(joint)?;
/// let union = fit.estimate(SetCombination::Union, Confidence::P95);
/// assert_eq!(union.status(), Status::Ok);
/// assert!(union.value().is_some_and(|n| (n - 1000.0).abs() < 5.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct JointFit {
    counts: JointParityCounts,
    outcome: Result<Fitted, Status>,
}

#[derive(Clone, Copy, Debug)]
struct Fitted {
    peak: Peak,
    /// The inverse information, if the data tell the regions apart.
    covariance: Option<[Regions; 3]>,
}

impl JointFit {
    /// Fits the sizes.
    ///
    /// # Errors
    /// None in practice: the counts were checked when they were built.
    pub fn new(counts: JointParityCounts) -> Result<Self, ParamError> {
        let outcome = counts.fit()?.map(|peak| {
            let covariance = inverse(&counts.slope(peak.regions).information);
            Fitted { peak, covariance }
        });
        Ok(Self { counts, outcome })
    }

    /// The counts that were fitted.
    #[must_use]
    pub const fn counts(&self) -> &JointParityCounts {
        &self.counts
    }

    /// The sizes of "only A", "only B" and "both"; `None` when a sketch is full or the fit did not converge.
    #[must_use]
    pub fn regions(&self) -> Option<[f64; 3]> {
        self.outcome.as_ref().ok().map(|fitted| fitted.peak.regions)
    }

    /// The covariance matrix of those three for a fixed pair of sets: the inverse information, for items of weight 1 less
    /// the sizes on its diagonal. `None` when the data do not tell the regions apart.
    #[must_use]
    pub fn covariance(&self) -> Option<[[f64; 3]; 3]> {
        let fitted = self.outcome.as_ref().ok()?;
        let mut covariance = fitted.covariance?;
        for (i, row) in covariance.iter_mut().enumerate() {
            row[i] = (row[i] - self.fixed(fitted.peak.regions)[i]).max(0.0);
        }
        Some(covariance)
    }

    /// The size of a combination of the two sets.
    ///
    /// The status is `low_information` where the standard error exceeds the value or nothing bounds it from above, and
    /// `below_noise` with value 0 where the likelihood is highest without such items.
    pub fn estimate(&self, combination: SetCombination, confidence: Confidence) -> Estimate {
        let fitted = match &self.outcome {
            Ok(fitted) => fitted,
            Err(status) => return without_value(*status, confidence),
        };
        let weights = combination.regions();
        let value = dot(weights, fitted.peak.regions);
        let errors = self.errors(fitted, weights);
        let plane = |size: f64| Plane { normal: weights, level: size };
        let profile = Profile::new(&self.counts, fitted.peak, plane);
        let cap = self.counts.first().map_or(f64::INFINITY, |counts| counts.level_counts().n_cap());
        let (lower, upper) = profile.ends(value, errors, (0.0, cap), confidence);
        answer(value, errors.std_error, (lower, upper), confidence)
    }

    /// The Jaccard similarity `|A ∩ B|/|A ∪ B|`: an [`Estimate`] of a share.
    ///
    /// Of two sets that may well be empty nothing is known: the value is 0 with status `below_noise` and the interval
    /// `0 ..= 1`.
    pub fn jaccard(&self, confidence: Confidence) -> Estimate {
        let fitted = match &self.outcome {
            Ok(fitted) => fitted,
            Err(status) => return without_value(*status, confidence),
        };
        let [first, second, both] = fitted.peak.regions;
        let union = first + second + both;
        if union <= 0.0 {
            return answer(0.0, None, (0.0, Some(1.0)), confidence);
        }
        let share = both / union;
        let errors = self.errors(fitted, [-share / union, -share / union, (1.0 - share) / union]);
        // |both| = share·|union| is a plane through the origin.
        let plane = |share: f64| Plane { normal: [-share, -share, 1.0 - share], level: 0.0 };
        let profile = Profile::new(&self.counts, fitted.peak, plane);
        let (lower, upper) = profile.ends(share, errors, (0.0, 1.0), confidence);
        answer(share, errors.std_error, (lower, upper.or(Some(1.0))), confidence)
    }

    /// What a fixed pair of sets takes from the variance of each region.
    fn fixed(&self, regions: Regions) -> Regions {
        if self.counts.weights() == ItemWeights::Unit { regions } else { [0.0; 3] }
    }

    /// Variance of `weights·regions` by first order, and the share of it that is left with fixed sets.
    fn errors(&self, fitted: &Fitted, weights: Regions) -> Errors {
        let Some(covariance) = fitted.covariance else { return Errors { std_error: None, share_left: 1.0 } };
        let poisson = quadratic_form(&covariance, weights);
        let fixed = dot(weights.map(|w| w * w), self.fixed(fitted.peak.regions));
        let left = (poisson - fixed).max(1e-12 * fixed);
        let std_error = Some(left.sqrt()).filter(|error| error.is_finite());
        let share_left = left / poisson;
        Errors { std_error, share_left: if share_left.is_finite() { share_left.clamp(0.0, 1.0) } else { 1.0 } }
    }
}

#[derive(Clone, Copy, Debug)]
struct Errors {
    std_error: Option<f64>,
    share_left: f64,
}

/// The likelihood along a family of planes, each climb starting where the one before it ended.
struct Profile<'a, P> {
    counts: &'a JointParityCounts,
    peak: Peak,
    plane: P,
    last: Cell<Regions>,
}

impl<'a, P: Fn(f64) -> Plane> Profile<'a, P> {
    fn new(counts: &'a JointParityCounts, peak: Peak, plane: P) -> Self {
        Self { counts, peak, plane, last: Cell::new(peak.regions) }
    }

    /// `√(2·(l(max) − l(max | size)))` and by how many dimensions the plane narrows the choice of regions; 0 where no maximum
    /// is found, so that the size is not refused.
    fn distance(&self, size: f64) -> (f64, usize) {
        // Off the edges, where a climb could not tell which way is up without noise.
        let start = self.last.get().map(|n| n.max(1e-3));
        let plane = (self.plane)(size);
        let Some(best) = self.counts.climb(start, Some(plane)) else { return (0.0, 1) };
        self.last.set(best.regions);
        let lost = dimensions(self.peak.regions, None).saturating_sub(dimensions(best.regions, Some(plane)));
        ((2.0 * (self.peak.height - best.height)).max(0.0).sqrt(), lost.clamp(1, 3))
    }

    /// Where the distance reaches its quantile below and above `value`; the lower limit and no end where it does not.
    fn ends(&self, value: f64, errors: Errors, limits: (f64, f64), confidence: Confidence) -> (f64, Option<f64>) {
        let scale = errors.share_left.sqrt();
        if scale <= 0.0 {
            return (value, Some(value));
        }
        let cuts = [1, 2, 3].map(|lost| scale * chi_quantile(confidence, lost));
        let stride = errors.std_error.map_or(0.0, |error| error * confidence.z());
        let stride = stride.max(1e-9 * (limits.1 - limits.0).min(1.0));
        let gap = |size: f64| {
            let (distance, lost) = self.distance(size);
            (distance / cuts[lost - 1] - 1.0) * cuts[0]
        };
        let end = |stride: f64, limit: f64| {
            self.last.set(self.peak.regions);
            crossing(stride, limit - value, cuts[0], |at| gap(value + at)).map(|at| value + at)
        };
        let lower = if value > limits.0 { end(-stride, limits.0) } else { None };
        let upper = if value < limits.1 { end(stride, limits.1) } else { None };
        (lower.unwrap_or(limits.0).clamp(limits.0, value), upper.map(|upper| upper.max(value)))
    }
}

/// The dimension of the face of sizes with the same regions at 0, within a plane if there is one.
fn dimensions(regions: Regions, plane: Option<Plane>) -> usize {
    let total: f64 = regions.iter().sum();
    let is_free = |i: &usize| regions[*i] > 1e-9 + 1e-6 * total;
    let free = (0..3).filter(is_free).count();
    let cuts = plane.is_some_and(|plane| (0..3).filter(is_free).any(|i| plane.normal[i] != 0.0));
    free - usize::from(cuts)
}

/// The square root of the quantile of `χ²` with so many degrees of freedom.
fn chi_quantile(confidence: Confidence, degrees: u32) -> f64 {
    if degrees == 1 {
        return confidence.z();
    }
    ChiSquared::new(f64::from(degrees)).map_or(confidence.z(), |law| law.inverse_cdf(confidence.get()).sqrt())
}

fn without_value(status: Status, confidence: Confidence) -> Estimate {
    let lower = (status == Status::Saturated).then_some(0.0);
    Estimate::from_parts(status, Parts { value: None, std_error: None, lower, upper: None }, confidence)
}

fn answer(value: f64, std_error: Option<f64>, (lower, upper): (f64, Option<f64>), confidence: Confidence) -> Estimate {
    let longer_arm = upper.map_or(f64::INFINITY, |upper| (upper - value).max(value - lower));
    let std_error = std_error.map(|error| error.min(longer_arm / confidence.z()));
    let status = if value <= 0.0 {
        Status::BelowNoise
    } else if upper.is_some() && std_error.is_some_and(|error| error <= value) {
        Status::Ok
    } else {
        Status::LowInformation
    };
    let parts = Parts { value: Some(value.max(0.0)), std_error, lower: Some(lower), upper };
    Estimate::from_parts(status, parts, confidence)
}
