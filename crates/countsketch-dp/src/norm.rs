//! Norms read off a released sketch.

use cardinality_estimators::{Confidence, Estimate, Status};

use crate::answer::{answer, clamped_at_zero};
use crate::combiner::{count, integer};
use crate::leaf::{Leaf, NoiseLaw};
use crate::private::PrivateCountSketch;
use crate::theory::{DomainError, f2_variance};

impl PrivateCountSketch {
    /// The second moment `F₂ = Σ x²` without bias, in squared units of weight; it may be negative.
    ///
    /// The mean over the rows of `Σ_j C[i][j]² − b·s²`, where `s²` is the variance of the noise that was really drawn. Use
    /// this one where answers are summed or averaged, and [`second_moment`](Self::second_moment) to show one.
    #[must_use]
    pub fn second_moment_unbiased(&self) -> f64 {
        f2_unbiased(self) * self.granularity().step().powi(2)
    }

    /// The second moment `F₂ = Σ x²`, in squared units of weight, with its error.
    ///
    /// The variance is at most `(2F₂²/b + 4s²F₂ + 2bs⁴ + bκ₄)/k`, evaluated at the estimate; `κ₄` is the fourth cumulant of
    /// the noise, 0 for Gaussian noise. The interval is normal, `± z` standard errors, and ends at 0.
    ///
    /// A value below 0 is shown as 0 with status `below_noise`: nothing can be told from noise. A standard error above half
    /// the value makes the status `low_information`.
    ///
    /// # Errors
    /// [`DomainError`] when cells are so large that squares leave the range of `f64`.
    pub fn second_moment(&self, confidence: Confidence) -> Result<Estimate, DomainError> {
        let (value, std_error) = (f2_unbiased(self), f2_std_error(self)?);
        let unit = self.granularity().step().powi(2);
        clamped_at_zero(value * unit, std_error * unit, confidence)
    }

    /// The Euclidean norm `‖x‖₂ = √F₂`, in units of weight: the root of [`second_moment`](Self::second_moment) and of the
    /// ends of its interval, with standard error `se/(2√F₂)` (none where the value is 0).
    ///
    /// # Errors
    /// As [`second_moment`](Self::second_moment).
    pub fn norm(&self, confidence: Confidence) -> Result<Estimate, DomainError> {
        let square = self.second_moment(confidence)?;
        let value = square.value().unwrap_or(0.0).sqrt();
        let std_error = square.std_error().filter(|_| value > 0.0).map(|error| 0.5 * error / value);
        let status = match std_error {
            _ if square.status() == Status::BelowNoise => Status::BelowNoise,
            Some(error) if error <= 0.5 * value => Status::Ok,
            _ => Status::LowInformation,
        };
        answer(status, value, std_error, (square.lower().map(f64::sqrt), square.upper().map(f64::sqrt)), confidence)
    }
}

/// `F₂` without bias, in squared grid units.
pub(crate) fn f2_unbiased(sketch: &PrivateCountSketch) -> f64 {
    let rows = usize::from(sketch.shape().rows());
    let noise = f64::from(sketch.shape().width()) * sketch.noise_variance();
    // Row by row, so that large numbers are subtracted before they are summed.
    (0..rows).map(|row| row_square(sketch.cells(row)) - noise).sum::<f64>() / count(rows)
}

fn f2_std_error(sketch: &PrivateCountSketch) -> Result<f64, DomainError> {
    let (b, s2) = (f64::from(sketch.shape().width()), sketch.noise_variance());
    let gaussian = f2_variance(f2_unbiased(sketch).max(0.0), 0.0, b, s2)?;
    let variance = gaussian + b * noise_fourth_cumulant(sketch);
    Ok((variance / f64::from(sketch.shape().rows())).sqrt())
}

/// `E B⁴ − 3·s⁴` of the noise in a cell: how much heavier its tails are than a Gaussian's.
fn noise_fourth_cumulant(sketch: &PrivateCountSketch) -> f64 {
    let of_leaf = |leaf: &Leaf| integer(leaf.factor()).powi(4) * law_fourth_cumulant(&leaf.law());
    sketch.leaves().iter().map(of_leaf).sum()
}

/// Cumulants of independent summands add up. A discrete Laplace variable is the difference of two geometric ones, which
/// gives `3V² + V` for variance V; a discrete Gaussian one has none but where its variance is below 1, and at most `V` there,
/// as anything has whose values are mostly 0 and ±1.
fn law_fourth_cumulant(law: &NoiseLaw) -> f64 {
    let gaussian = |variance: f64| if variance < 1.0 { variance } else { 0.0 };
    match *law {
        NoiseLaw::Laplace { .. } => {
            let variance = law.variance();
            (3.0 * variance + 1.0) * variance
        }
        NoiseLaw::LaplaceShares { secret, summed, .. } => {
            let parts = f64::from(summed) / f64::from(secret.max(1));
            let whole = law.variance() / parts;
            parts * (3.0 * whole + 1.0) * whole
        }
        NoiseLaw::Gaussian { .. } => gaussian(law.variance()),
        NoiseLaw::GaussianShares { summed, .. } => {
            let shares = f64::from(summed.max(1));
            shares * gaussian(law.variance() / shares)
        }
    }
}

/// `Σ C²`, summed in pieces so that rounding stays far below one part in 2^40.
fn row_square(cells: &[i64]) -> f64 {
    cells.chunks(256).map(|piece| piece.iter().map(|&cell| integer(cell).powi(2)).sum::<f64>()).sum()
}
