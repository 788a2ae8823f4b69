//! The errors of one shape.

use cardinality_estimators::{BitChannel, CellLayout, Status, noise_floor, predicted_rse};
use dp_noise::RandomizedResponse;
use serde_json::{Value, json};
use sfm_pcsa::diagnostics::nway_or_from_errors;
use sfm_pcsa::{OutputForm, PcsaShape};

use super::{Plan, PlannedAnswer, finite};

/// How far an answer will stray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    relative_error: f64,
    noise_floor: f64,
    distinct: f64,
    saturated: bool,
}

impl Prediction {
    /// Errors that are infinite say that nothing can be learnt.
    pub(crate) const fn new(relative_error: f64, noise_floor: f64, distinct: f64, saturated: bool) -> Self {
        Self { relative_error, noise_floor, distinct, saturated }
    }

    /// The predicted standard error over the count; infinite when nothing can be learnt.
    #[must_use]
    pub const fn relative_error(&self) -> f64 {
        self.relative_error
    }

    /// The predicted standard error in items.
    #[must_use]
    pub fn std_error(&self) -> f64 {
        self.relative_error * self.distinct
    }

    /// The standard error when there is no item at all: counts well below it look like nothing.
    #[must_use]
    pub const fn noise_floor(&self) -> f64 {
        self.noise_floor
    }

    /// The status that the answer will most likely have.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.relative_error {
            _ if self.saturated => Status::Saturated,
            // Half of the noise lies below zero, and what does not reach beyond it is not told from nothing.
            error if error > 1.0 => Status::BelowNoise,
            error if error > 0.5 => Status::LowInformation,
            _ => Status::Ok,
        }
    }

    pub(crate) fn to_json(self, answer: PlannedAnswer) -> Value {
        json!({
            "answer": answer.as_str(),
            "predicted_rse": finite(self.relative_error),
            "std_error": finite(self.std_error()),
            "noise_floor": finite(self.noise_floor),
            "status": self.status().as_str(),
        })
    }
}

impl Plan {
    /// Predicts an answer.
    ///
    /// One sketch and merged ones are predicted by the channel of their bits (`1/H − n`, see
    /// [`predicted_rse`](cardinality_estimators::predicted_rse)), the files together by the same formula for the product
    /// statistic, with disjoint sets of equal size.
    #[must_use]
    pub fn prediction(&self, answer: PlannedAnswer) -> Prediction {
        let flips = RandomizedResponse::symmetric(self.purpose.bit_epsilon());
        let own = BitChannel::symmetric(flips.q().to_f64()).ok();
        let parties = self.purpose.parties;
        let layout = CellLayout::pcsa(self.shape.buckets(), self.shape.levels()).ok();
        let n = self.purpose.distinct;
        let saturated = layout.as_ref().is_some_and(|layout| n >= layout.n_cap());
        let through = |channel: Option<BitChannel>| {
            let (layout, channel) = (layout.as_ref()?, channel?);
            Some((predicted_rse(layout, channel, n), floor(self.shape, layout, channel)?))
        };
        let found = match answer {
            PlannedAnswer::One => through(own),
            PlannedAnswer::Merged => through(own.and_then(|own| merged(own, parties, OutputForm::Extremal))),
            PlannedAnswer::MergedSymmetric => through(own.and_then(|own| merged(own, parties, OutputForm::Symmetric))),
            PlannedAnswer::Together => layout
                .as_ref()
                .zip(own)
                .map(|(layout, own)| (together(layout, own, parties, n) / n, together(layout, own, parties, 0.0))),
        };
        let (relative_error, noise_floor) = found.unwrap_or((f64::INFINITY, f64::INFINITY));
        Prediction::new(relative_error, noise_floor, n, saturated)
    }
}

fn floor(shape: PcsaShape, layout: &CellLayout, channel: BitChannel) -> Option<f64> {
    let zeros = vec![0; usize::from(shape.levels())];
    layout.counts(&zeros, channel).ok().map(|counts| noise_floor(&counts))
}

/// The channel of so many sketches merged at once; `None` when nothing is left of the signal.
fn merged(own: BitChannel, parties: u32, form: OutputForm) -> Option<BitChannel> {
    if parties == 1 {
        return Some(own);
    }
    let merged = nway_or_from_errors(form, &vec![(own.miss(), own.q()); usize::try_from(parties).ok()?]).ok()?;
    // Nearly noiseless channels keep their digits in the errors, nearly useless ones in what is left of the signal.
    if merged.d > 0.5 {
        BitChannel::from_errors(merged.miss, merged.q).ok()
    } else {
        BitChannel::from_keep(merged.p, merged.a).ok()
    }
}

/// The standard error of the product statistic for `n` items in disjoint sets of equal size.
///
/// In a cell that is empty in a sketch, `u = (p − t)/d` has `E u = 1` and `E u² = A = 1 + q(1−q)/d²`; in an occupied one
/// `E u = 0` and `E u² = B = p(1−p)/d²`. A cell is empty in one of `m` disjoint sets of `n/m` items with probability
/// `g^(1/m)`, `g = e^(−rate·n)`, so the product `y` over the sketches has `Var y = (g^(1/m)·A + (1 − g^(1/m))·B)^m − g²`, and
/// with the best weights `1/Var n̂ = Σ cells·(rate·g)²/Var y`. As for one sketch, to which this reduces, a fixed number of
/// items takes `n` off the variance.
fn together(layout: &CellLayout, own: BitChannel, parties: u32, n: f64) -> f64 {
    let square = own.d() * own.d();
    let (empty, occupied) = (1.0 + own.q() * (1.0 - own.q()) / square, own.p() * own.miss() / square);
    let m = f64::from(parties);
    let information = |(cells, rate): (u64, f64)| {
        let share = -(-rate * n / m).exp_m1();
        // ln E y², without cancellation where A is near one.
        let second = m * ((empty - 1.0) - share * (empty - occupied)).ln_1p();
        #[expect(clippy::cast_precision_loss, reason = "at most 2^20 cells")]
        let cells = cells as f64;
        // (rate·g)²/(E y² − g²), with g² = exp(−2·rate·n) divided out.
        cells * rate * rate / (second + 2.0 * rate * n).exp_m1()
    };
    let information: f64 = layout.groups().map(information).sum();
    if information > 0.0 { (1.0 / information - n).max(1e-12 * n).sqrt() } else { f64::INFINITY }
}
