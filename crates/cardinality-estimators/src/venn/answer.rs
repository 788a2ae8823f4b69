//! Answers from a fit: values, standard errors, intervals and statuses.

use super::model::Model;
use super::symmetric::Symmetric;
use crate::estimate::Parts;
use crate::{Confidence, Estimate, Status};

/// A fit that has sizes, and where they come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers<'a> {
    pub(crate) model: &'a Model,
    pub(crate) regions: &'a [f64],
    /// The inverse information there.
    pub(crate) poisson: &'a Symmetric,
}

/// A quantity to be answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) value: f64,
    /// Its derivatives in the sizes of the regions.
    pub(crate) gradient: &'a [f64],
    /// The largest value there is.
    pub(crate) most: f64,
    /// The share of the value that the standard error of a sure answer may have.
    pub(crate) bearable: f64,
}

/// Arms beyond this many times `z` standard errors: the standard error does not tell how far an answer may stray.
const MOST_STRETCH: f64 = 1.25;

impl Answers<'_> {
    pub(crate) fn estimate(&self, question: &Question<'_>, confidence: Confidence) -> Estimate {
        if self.model.is_empty() && question.most.is_infinite() {
            let nothing = Some(0.0);
            let parts = Parts { value: nothing, std_error: nothing, lower: nothing, upper: nothing };
            return Estimate::from_parts(Status::Empty, parts, confidence);
        }
        let std_error = self.std_error(question.gradient, self.regions, self.poisson);
        let value = question.value.clamp(0.0, question.most);
        if !(value.is_finite() && std_error.is_finite()) {
            return Estimate::not_converged(confidence);
        }
        let arms = self.arms(question.gradient, std_error, confidence);
        let reach = MOST_STRETCH * confidence.z() * std_error;
        let is_telling = arms.iter().all(|arm| *arm <= reach);
        let [below, above] = arms.map(|arm| arm + self.model.bias() * std_error);
        let (lower, upper) = if std_error < 0.25 * value {
            (value / (below / value).exp(), value * (above / value).exp())
        } else {
            ((value - below).max(0.0), value + above)
        };
        let whole = self.model.is_noiseless() && question.most > 1.0;
        let upper = Some(if whole { upper.ceil() } else { upper }.min(question.most)).filter(|upper| upper.is_finite());
        let status = if value > 0.0 {
            let sure = std_error <= question.bearable * value && is_telling && upper.is_some();
            if sure { Status::Ok } else { Status::LowInformation }
        } else {
            Status::BelowNoise
        };
        let parts = Parts { value: Some(value), std_error: Some(std_error), lower: Some(lower), upper };
        Estimate::from_parts(status, parts, confidence)
    }

    /// For fixed sets of these sizes, `√(w'I⁻¹w − Σ w²·n/hashes)`.
    fn std_error(&self, gradient: &[f64], regions: &[f64], poisson: &Symmetric) -> f64 {
        let fixed: f64 = regions.iter().zip(gradient).map(|(n, w)| w * w * n / self.model.hashes()).sum();
        (poisson.quadratic(gradient) - fixed).max(1e-12 * fixed).sqrt()
    }

    /// The arms of the interval below and above the value, at least `z` standard errors.
    ///
    /// The error of noisy sketches grows with the sets, so an answer that came out too low states an error that is too small.
    /// Each arm is therefore `z` standard errors of the sizes at its own end, on the line along which sizes that give the
    /// quantity another value are likeliest.
    fn arms(&self, gradient: &[f64], std_error: f64, confidence: Confidence) -> [f64; 2] {
        let z = confidence.z();
        let line = self.poisson.times(gradient);
        let unit = self.poisson.quadratic(gradient).sqrt().recip();
        let surface = self.model.surface();
        let arm = |sign: f64| {
            if !unit.is_finite() || std_error <= 0.0 {
                return z * std_error;
            }
            let moved = self.moved(gradient, &line, sign * z * unit, surface.cap());
            let there = inverse(&surface.slope(&moved).information);
            let error = there.map_or(f64::INFINITY, |poisson| self.std_error(gradient, &moved, &poisson));
            z * if error.is_finite() { error.max(std_error) } else { f64::INFINITY }
        };
        [arm(-1.0), arm(1.0)]
    }

    /// The sizes `stride` along a line, held at 0 or above. Where that holds some back, the others that count are scaled so
    /// that they do not add up to more than the line says.
    fn moved(&self, gradient: &[f64], line: &[f64], stride: f64, cap: f64) -> Vec<f64> {
        let mut moved: Vec<f64> =
            self.regions.iter().zip(line).map(|(n, x)| (n + stride * x).clamp(0.0, cap)).collect();
        let change = |to: &[f64]| to.iter().zip(gradient).map(|(n, w)| n * w.max(0.0)).sum::<f64>();
        let aim: f64 = change(self.regions) + stride * change(line);
        let excess = change(&moved) / aim.max(0.0);
        if excess > 1.0 && excess.is_finite() {
            for (n, _) in moved.iter_mut().zip(gradient).filter(|(_, w)| **w > 0.0) {
                *n /= excess;
            }
        }
        moved
    }
}

/// The inverse; directions of which the data say nothing get a huge variance, not an infinite one.
pub(crate) fn inverse(information: &Symmetric) -> Option<Symmetric> {
    [0.0, 1e-13, 1e-12, 1e-11].into_iter().find_map(|ridge| {
        let mut matrix = information.clone();
        for i in 0..matrix.size() {
            matrix.add_to_diagonal(i, ridge * information.at(i, i) + f64::MIN_POSITIVE);
        }
        let inverse = matrix.factor()?.inverse();
        inverse.entries().iter().all(|x| x.is_finite()).then_some(inverse)
    })
}

pub(crate) fn without_value(status: Status, confidence: Confidence) -> Estimate {
    let lower = (status == Status::Saturated).then_some(0.0);
    Estimate::from_parts(status, Parts { value: None, std_error: None, lower, upper: None }, confidence)
}
