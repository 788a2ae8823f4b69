//! Estimator (b): the composite maximum likelihood answer of a parity sketch.

use crate::answer::{likelihood_ratio, root_ratio};
use crate::estimate::Parts;
use crate::information::variance;
use crate::interval::{Ends, crossing_above_zero, crossings, log_wald};
use crate::maximum::{maximise, maximise_inside};
use crate::parity::ParityCounts;
use crate::solve::{Peak, Summit};
use crate::{Confidence, Estimate, Status};

/// The number of items (or their total weight) behind the ones of a parity sketch, with its standard error and interval.
///
/// The value is the global maximum over `[0, n_cap]` of the composite likelihood `Σ Z·ln P + (m − Z)·ln(1 − P)`, where a cell
/// reads one with probability `P(n) = (1 − c·e^{−k·n})/2`. It is the likelihood of [`estimate`](crate::estimate()) behind the
/// channel with `P(1 → 1) = 1/2`, and one solver finds both.
///
/// The standard error is `√(1/J − n̂)`: the cells of a fixed set are multinomial, slightly negatively dependent, and
/// their scores vary by `n·J²` less than independent ones. For weighted items `Σw²` takes the place of `n̂`, and 0 where it is
/// not known. The interval holds every `n` with `2·(l(n̂) − l(n)) ≤ z²·(1 − n̂·J(n̂))`, 0 included when it qualifies; it has
/// no upper end when `n_cap` qualifies.
///
/// | where the likelihood is highest | status | value |
/// |---|---|---|
/// | inside, with `2·std_error ≤ n̂` and an upper end | `ok` | `n̂` |
/// | inside, otherwise | `low_information` | `n̂` |
/// | at 0 | `below_noise`, or `empty` of a noiseless sketch without a one | 0 |
/// | at `n_cap`, and no other maximum fits as well | `saturated` | none, a lower bound |
/// | at `n_cap`, but a maximum inside the interval has a value | `low_information` | that maximum |
///
/// The last line is for sketches so noisy that they exclude next to nothing, where which maximum wins is chance. It makes
/// this estimator answer wherever the [interval intersection](crate::parity::IntervalIntersection) does.
///
/// Source: ours, after the likelihood of \[HTC23\]; variance and interval are checked by simulation in
/// `tests/parity_statistical.rs`.
///
/// Never panics and never returns NaN, whatever the counts.
///
/// # Examples
/// ```
/// use cardinality_estimators::parity::{ItemWeights, ParityCounts, ParityLayout, ParityModel, parity_estimate};
/// use cardinality_estimators::{Confidence, Status};
/// let layout = ParityLayout::regular(12, 128)?;
/// let ones = [57, 66, 53, 54, 44, 40, 32, 35, 37, 33, 42, 32];
/// let contrast = 0.5_f64.tanh(); // ε = 1
/// let counts = ParityCounts::new(&layout, ParityModel::Set, ItemWeights::Unit, &ones, contrast)?;
/// let answer = parity_estimate(&counts, Confidence::P95);
/// assert_eq!(answer.status(), Status::Ok);
/// assert!(answer.value().is_some_and(|n| (n - 773.6).abs() < 0.1) && answer.covers(1000.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
pub fn parity_estimate(counts: &ParityCounts, confidence: Confidence) -> Estimate {
    let answer = Answer { counts, confidence };
    let Summit { peak, alone } = maximise(counts.level_counts());
    match peak {
        Peak::Zero => answer.at_zero(alone),
        Peak::Inside(n) => answer.inside(n, alone),
        Peak::Cap => answer.at_cap(),
        Peak::Lost => Estimate::not_converged(confidence),
    }
}

/// One sketch and the confidence asked for.
struct Answer<'a> {
    counts: &'a ParityCounts,
    confidence: Confidence,
}

impl Answer<'_> {
    fn information(&self, n: f64) -> f64 {
        self.counts.level_counts().information().expected(n)
    }

    fn std_error(&self, n: f64) -> f64 {
        variance(self.information(n), self.counts.weights().fixed(n)).sqrt()
    }

    /// The share of the score's variance that is left with these very items, `1 − Σw²·J`.
    fn share_left(&self, n: f64) -> f64 {
        let information = self.information(n);
        let fixed = self.counts.weights().fixed(n);
        if fixed > 0.0 && information.is_finite() {
            (variance(information, fixed) * information).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }

    /// How far, in `√(2·Δl)`, the interval reaches.
    fn cut(&self, n: f64) -> f64 {
        self.confidence.z() * self.share_left(n).sqrt()
    }

    fn ends(&self, n: f64, std_error: f64, alone: bool) -> Ends {
        let levels = self.counts.level_counts();
        if alone {
            let wald = log_wald(n, std_error, self.confidence.z());
            crossings(n, wald, levels.n_cap(), self.cut(n), root_ratio(levels, n))
        } else {
            likelihood_ratio(levels, n, self.share_left(n), self.confidence)
        }
    }

    fn inside(&self, n: f64, alone: bool) -> Estimate {
        let std_error = self.std_error(n);
        if !std_error.is_finite() {
            return Estimate::not_converged(self.confidence);
        }
        let ends = self.ends(n, std_error, alone);
        let ends = if self.counts.is_noiseless() { ends.to_whole_items() } else { ends };
        let status = Status::of_value(n, std_error, ends.upper);
        self.answer(status, Some(n), Some(std_error), ends)
    }

    fn at_zero(&self, alone: bool) -> Estimate {
        let levels = self.counts.level_counts();
        let empty = self.counts.is_noiseless() && levels.is_all_zero();
        let status = if empty { Status::Empty } else { Status::BelowNoise };
        let std_error = self.information(0.0).sqrt().recip();
        let upper = if alone {
            let guess = (self.confidence.z() * std_error).max(1.0);
            crossing_above_zero(guess, levels.n_cap(), self.cut(0.0), root_ratio(levels, 0.0))
        } else {
            likelihood_ratio(levels, 0.0, self.share_left(0.0), self.confidence).upper
        };
        let std_error = Some(std_error).filter(|error| error.is_finite());
        self.answer(status, Some(0.0), std_error, Ends { lower: 0.0, upper })
    }

    fn at_cap(&self) -> Estimate {
        let levels = self.counts.level_counts();
        let cap = levels.n_cap();
        let lower = likelihood_ratio(levels, cap, self.share_left(cap), self.confidence).lower;
        let ends = Ends { lower, upper: None };
        let fits = |&n: &f64| n >= lower && root_ratio(levels, cap)(n) <= self.cut(cap);
        match maximise_inside(levels).filter(fits) {
            Some(n) => {
                let std_error = Some(self.std_error(n)).filter(|error| error.is_finite());
                self.answer(Status::LowInformation, Some(n), std_error, ends)
            }
            None => self.answer(Status::Saturated, None, None, ends),
        }
    }

    fn answer(&self, status: Status, value: Option<f64>, std_error: Option<f64>, ends: Ends) -> Estimate {
        let parts = Parts { value, std_error, lower: Some(ends.lower), upper: ends.upper };
        Estimate::from_parts(status, parts, self.confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::{ItemWeights, ParityLayout, ParityModel, expected_ones};

    fn answer(ones: &[u64], contrast: f64, weights: ItemWeights) -> Estimate {
        let layout = ParityLayout::regular(8, 1000).expect("a valid layout");
        let counts = ParityCounts::new(&layout, ParityModel::Set, weights, ones, contrast).expect("valid counts");
        parity_estimate(&counts, Confidence::P95)
    }

    #[test]
    fn a_sketch_without_a_one_is_empty_only_without_noise() {
        assert_eq!(answer(&[0; 8], 1.0, ItemWeights::Unit).status(), Status::Empty);
        let noisy = answer(&[0; 8], 0.9, ItemWeights::Unit);
        assert_eq!((noisy.status(), noisy.value(), noisy.lower()), (Status::BelowNoise, Some(0.0), Some(0.0)));
        assert!(noisy.upper().is_some());
    }

    #[test]
    fn half_ones_everywhere_are_a_full_sketch() {
        let full = answer(&[500; 8], 0.9, ItemWeights::Unit);
        assert_eq!((full.status(), full.value(), full.upper()), (Status::Saturated, None, None));
        assert!(full.lower().is_some_and(|lower| lower > 1e5));
    }

    #[test]
    fn cells_that_are_coins_exclude_nothing() {
        let coins = answer(&[502, 498, 505, 490, 507, 499, 510, 495], 1e-9, ItemWeights::Unit);
        assert_eq!((coins.lower(), coins.upper()), (Some(0.0), None), "{coins}");
        assert!(matches!(coins.status(), Status::LowInformation | Status::BelowNoise), "{coins}");
    }

    #[test]
    fn squares_of_weights_narrow_the_interval_and_leave_the_value() {
        let layout = ParityLayout::regular(8, 1000).expect("a valid layout");
        let expected = expected_ones(&layout, ParityModel::Set, ItemWeights::Weighted, 0.98, 3000.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ones of a thousand cells")]
        let ones: Vec<u64> = expected.expect("valid").iter().map(|ones| ones.round() as u64).collect();
        let blind = answer(&ones, 0.98, ItemWeights::Weighted);
        let knowing = answer(&ones, 0.98, ItemWeights::SquaresSumTo(2500.0));
        assert_eq!(blind.value(), knowing.value());
        assert!(blind.value().is_some_and(|sum| (sum / 3000.0 - 1.0).abs() < 0.01));
        assert!(knowing.std_error() < blind.std_error());
        assert!(blind.lower() < knowing.lower() && knowing.upper() < blind.upper());
        // More than weights of at most 1 can have is taken as the sum itself.
        let most = answer(&ones, 0.98, ItemWeights::SquaresSumTo(1e12));
        let unit = answer(&ones, 0.98, ItemWeights::SquaresSumTo(blind.value().expect("a value")));
        assert_eq!(most.std_error(), unit.std_error());
    }
}
