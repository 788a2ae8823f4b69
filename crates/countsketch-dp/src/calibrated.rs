//! Gaussian noise for a pair of ε and δ.

use dp_noise::{Delta, Epsilon, Neighbouring, calibrate_exact_rows, dp_to_zcdp};

use crate::error::ReleaseError;
use crate::exposure::{Exposure, GaussianTerms};

impl Exposure {
    /// Gaussian noise for (ε, δ)-differential privacy through zCDP: the largest ρ whose tight conversion gives at most δ at ε.
    ///
    /// Valid for every bound and relation.
    ///
    /// # Errors
    /// [`ReleaseError`] where sensitivity or noise are out of range.
    pub fn gaussian_for(&self, epsilon: Epsilon, delta: Delta) -> Result<GaussianTerms, ReleaseError> {
        self.gaussian(dp_to_zcdp(epsilon, delta)?)
    }

    /// Gaussian noise for (ε, δ)-differential privacy of one record added or removed, by the exact δ of the discrete law.
    ///
    /// A record moves one cell in each row by at most its weight, so δ is a sum over one integer, and the noise is about 7%
    /// smaller (in standard deviation) than [through zCDP](Self::gaussian_for) at ε = 1, δ = 10⁻⁶. In a ledger of ρ it costs
    /// what its variance costs, which is more than the ρ of [`gaussian_for`](Self::gaussian_for).
    ///
    /// # Errors
    /// [`ReleaseError::NotExact`] for users, for replaced records, and for a record in several
    /// [parts](Self::parts), which move other cells in every row: δ is not a function of the norm then. Otherwise as for [`gaussian_for`](Self::gaussian_for).
    pub fn gaussian_exact(&self, epsilon: Epsilon, delta: Delta) -> Result<GaussianTerms, ReleaseError> {
        let one_cell_a_row = !self.bound().is_user() && self.parts() == 1;
        if !one_cell_a_row || self.relation() != Neighbouring::AddRemove {
            return Err(ReleaseError::NotExact { bound: self.bound() });
        }
        let rows = u32::from(self.shape().rows());
        self.with_variance(calibrate_exact_rows(rows, self.bound().max_weight(), epsilon, delta)?)
    }
}
