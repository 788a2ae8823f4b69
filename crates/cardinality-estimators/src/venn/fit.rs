//! The fit of all regions, and what is known of it.

use super::answer::{Answers, Question, inverse, without_value};
use super::climb::{Climbed, Peak, climb};
use super::model::Model;
use super::surface::Surface;
use super::symmetric::Symmetric;
use crate::estimate::Parts;
use crate::number::to_f64;
use crate::{Confidence, Estimate, ParamError, PatternCounts, SetFormula, Status};

/// The most sets of one fit.
pub const MAX_SETS: usize = 4;

/// Fits the sizes of all regions of up to [`MAX_SETS`] sets.
///
/// With `x_A` items in region `A` (a mask of the sets that hold them and no other) a cell that an item hits at `rate` is empty
/// in all sets of `T` with probability `E_T = e^(−rate·Σ{x_A: A meets T})`. That fixes the law of the true bits of the cell in
/// all sets, and the channels make of it the law of the noisy ones. The sizes maximise the likelihood of all patterns counted.
///
/// A fit costs some tens of evaluations of the likelihood: one or two milliseconds for three PCSA sketches of 24 levels.
///
/// # Errors
/// [`ParamError::VennSets`] for more than [`MAX_SETS`] sketches. Counts that no sizes explain are no error: the fit says so by
/// its [`status`](VennFit::status).
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, CellLayout, Confidence, PatternCounts, SetFormula, venn};
/// let layout = CellLayout::linear(1000)?;
/// // Patterns 00, 10, 01, 11: the expected counts of |A| = 800, |B| = 600 and |A ∩ B| = 200 without noise.
/// let patterns = PatternCounts::new(&layout, &[BitChannel::NOISELESS; 2], vec![vec![301, 248, 148, 303]])?;
/// let fit = venn::fit(&patterns)?;
/// assert!(fit.region(0b11, Confidence::P95)?.covers(200.0));
/// assert!(fit.union(Confidence::P95).value().is_some_and(|n| (n - 1200.0).abs() < 5.0));
/// let only_first = SetFormula::from_membership(2, |sets| sets == 0b01)?;
/// assert!(fit.formula(&only_first, Confidence::P95)?.covers(600.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
pub fn fit(patterns: &PatternCounts) -> Result<VennFit, ParamError> {
    if patterns.sketches() > MAX_SETS {
        return Err(ParamError::VennSets { found: patterns.sketches() });
    }
    Ok(VennFit::new(Model::Patterns(patterns.clone())))
}

/// The maximum likelihood sizes of all regions of a few sets, and every answer that follows from them.
///
/// See [`fit()`].
#[derive(Clone, Debug, PartialEq)]
pub struct VennFit {
    model: Model,
    outcome: Result<Fitted, Status>,
}

#[derive(Clone, Debug, PartialEq)]
struct Fitted {
    peak: Peak,
    information: Symmetric,
    /// The inverse of the information: the covariance if the number of items in every region were Poisson.
    poisson: Symmetric,
    covariance: Symmetric,
}

impl VennFit {
    pub(crate) fn new(mut model: Model) -> Self {
        let surface = model.surface();
        let outcome = highest(surface.as_ref()).and_then(|peak| Fitted::new(&model, surface.as_ref(), peak));
        drop(surface);
        if let Ok(fitted) = &outcome {
            model.settle(&fitted.peak.regions);
        }
        Self { model, outcome }
    }

    /// The number of sets.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.model.sets()
    }

    /// What the fit is worth: `ok`, `empty` (noiseless sketches without a one), `below_noise` (the likelihood is highest
    /// without any item), `saturated` (the sketches are too full) or `not_converged`.
    ///
    /// The last two have no sizes.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.outcome {
            Err(status) => *status,
            Ok(_) if self.model.is_empty() => Status::Empty,
            Ok(fitted) if fitted.peak.regions.iter().all(|n| *n <= 0.0) => Status::BelowNoise,
            Ok(_) => Status::Ok,
        }
    }

    /// The sizes of the regions: that of mask `A` at `A − 1`. Bit `i` of a mask says that its items are in set `i`, a clear
    /// bit that they are not.
    #[must_use]
    pub fn regions(&self) -> Option<&[f64]> {
        self.outcome.as_ref().ok().map(|fitted| fitted.peak.regions.as_slice())
    }

    /// The covariance matrix of the sizes for fixed sets, row by row: the inverse of the expected information, less the sizes
    /// (over the number of darts an item throws, for Bloom filters) on its diagonal.
    ///
    /// Regions of size 0 are included as if they were free, so errors are rather too large there.
    #[must_use]
    pub fn covariance(&self) -> Option<&[f64]> {
        self.outcome.as_ref().ok().map(|fitted| fitted.covariance.entries())
    }

    /// The expected information about the sizes, row by row.
    #[must_use]
    pub fn information(&self) -> Option<&[f64]> {
        self.outcome.as_ref().ok().map(|fitted| fitted.information.entries())
    }

    /// `Σ c·ln f` over all groups and patterns, without multinomial coefficients.
    #[must_use]
    pub fn log_likelihood(&self) -> Option<f64> {
        self.outcome.as_ref().ok().map(|fitted| fitted.peak.height)
    }

    /// The number of items in all sets of `mask` and in no other.
    ///
    /// # Errors
    /// [`ParamError::Region`] unless `1 ≤ mask < 2^sets`.
    pub fn region(&self, mask: usize, confidence: Confidence) -> Result<Estimate, ParamError> {
        if mask == 0 || mask >> self.sets() != 0 {
            return Err(ParamError::Region { mask, sets: self.sets() });
        }
        self.formula(&SetFormula::from_membership(self.sets(), |sets| sets == mask)?, confidence)
    }

    /// The value of a set formula.
    ///
    /// # Errors
    /// [`ParamError::Operands`] for a formula of another number of sets.
    pub fn formula(&self, formula: &SetFormula, confidence: Confidence) -> Result<Estimate, ParamError> {
        if formula.sketches() != self.sets() {
            return Err(ParamError::Operands { expected: formula.sketches(), found: self.sets() });
        }
        Ok(self.answer(&region_weights(formula), formula.as_union().is_some(), confidence))
    }

    /// The number of items in any of the sets.
    ///
    /// Of few items and little noise 95 % intervals cover some 92 %, missing upwards: see the book's chapter.
    pub fn union(&self, confidence: Confidence) -> Estimate {
        self.answer(&vec![1.0; (1 << self.sets()) - 1], true, confidence)
    }

    /// The Jaccard similarity: the share of the items in any set that are in all of them. An [`Estimate`] of a share, not of a
    /// count.
    ///
    /// The standard error is that of the first-order expansion. Of sets that may well be empty nothing is known: the value is
    /// 0 and the interval `0 ..= 1`.
    pub fn jaccard(&self, confidence: Confidence) -> Estimate {
        let answers = match self.answers() {
            Ok(answers) => answers,
            Err(status) => return without_value(status, confidence),
        };
        let (union, common) = (answers.regions.iter().sum::<f64>(), answers.regions.last().copied().unwrap_or(0.0));
        if union <= 0.0 {
            let status = if self.model.is_empty() { Status::Empty } else { Status::BelowNoise };
            let parts = Parts { value: Some(0.0), std_error: None, lower: Some(0.0), upper: Some(1.0) };
            return Estimate::from_parts(status, parts, confidence);
        }
        let share = common / union;
        let mut gradient = vec![-share / union; answers.regions.len()];
        if let Some(last) = gradient.last_mut() {
            *last = (1.0 - share) / union;
        }
        answers.estimate(&Question { value: share, gradient: &gradient, most: 1.0, bearable: 1.0 }, confidence)
    }

    fn answer(&self, weights: &[f64], is_union: bool, confidence: Confidence) -> Estimate {
        match self.answers() {
            Err(status) => without_value(status, confidence),
            Ok(answers) => {
                let value = answers.regions.iter().zip(weights).map(|(n, w)| n * w).sum();
                // As any count, or as any other formula.
                let bearable = if is_union { 0.5 } else { 1.0 };
                answers.estimate(&Question { value, gradient: weights, most: f64::INFINITY, bearable }, confidence)
            }
        }
    }

    fn answers(&self) -> Result<Answers<'_>, Status> {
        let fitted = self.outcome.as_ref().map_err(|status| *status)?;
        Ok(Answers { model: &self.model, regions: &fitted.peak.regions, poisson: &fitted.poisson })
    }
}

impl Fitted {
    fn new(model: &Model, surface: &dyn Surface, peak: Peak) -> Result<Self, Status> {
        let information = surface.slope(&peak.regions).information;
        let poisson = inverse(&information).ok_or(Status::NotConverged)?;
        let mut covariance = poisson.clone();
        for (i, n) in peak.regions.iter().enumerate() {
            let own = covariance.at(i, i);
            covariance.add_to_diagonal(i, -(n / model.hashes()).min(own));
        }
        Ok(Self { peak, information, poisson, covariance })
    }
}

/// The highest of the maxima that the climbs find.
fn highest(surface: &dyn Surface) -> Result<Peak, Status> {
    let cap = surface.cap();
    let share = to_f64(surface.dimensions() as u64).recip();
    let alike = |total: f64| vec![total * share; surface.dimensions()];
    let mut best: Option<(f64, f64)> = None;
    for total in surface.totals() {
        let height = surface.rough_height(&alike(total));
        if height.is_finite() && best.is_none_or(|(_, top)| height > top) {
            best = Some((total, height));
        }
    }
    let (total, _) = best.ok_or(Status::NotConverged)?;
    let Climbed { peak, at_rest } = climb(surface, alike(total));
    let size: f64 = peak.regions.iter().sum();
    if size >= cap * (1.0 - 1e-9) {
        Err(Status::Saturated)
    } else if at_rest && size.is_finite() {
        Ok(peak)
    } else {
        Err(Status::NotConverged)
    }
}

/// The weight of every region, mask `A` at `A − 1`.
pub(crate) fn region_weights(formula: &SetFormula) -> Vec<f64> {
    formula.weights().iter().skip(1).map(|&weight| signed(weight)).collect()
}

/// Weights stay far below 2^53.
fn signed(weight: i64) -> f64 {
    let size = to_f64(weight.unsigned_abs());
    if weight < 0 { -size } else { size }
}
