//! How far one unit moves a sketch.

use dp_noise::{L1Sensitivity, Neighbouring, SensitivityError, SquaredL2Sensitivity};

use crate::bound::{ContributionBound, Kind};
use crate::shape::CountSketchShape;

impl ContributionBound {
    /// `D₁` for a unit whose data is in up to `parts` sketches that were bounded apart, and then merged.
    ///
    /// # Errors
    /// [`SensitivityError::TooLarge`] where it does not fit, [`SensitivityError::Zero`] for no part.
    pub fn l1(
        self,
        shape: CountSketchShape,
        parts: u32,
        relation: Neighbouring,
    ) -> Result<L1Sensitivity, SensitivityError> {
        // k ≤ 2^8, W < 2^63 and parts < 2^32.
        let rows = u128::from(shape.rows());
        let mut norm = rows * u128::from(self.total_weight());
        if let Kind::Clipped { max_items, squared_norm, .. } = self.0 {
            // Cauchy and Schwarz over the k m cells; and |v| ≤ v² for integers.
            let cells = rows * u128::from(max_items);
            norm = norm.min(squared_norm).min(cells.saturating_mul(squared_norm).isqrt());
        }
        L1Sensitivity::new(norm * u128::from(parts))?.under(relation)
    }

    /// `D₂²` for a unit whose data is in up to `parts` sketches that were bounded apart, and then merged.
    ///
    /// # Errors
    /// [`SensitivityError::TooLarge`] where it does not fit, [`SensitivityError::Zero`] for no part.
    pub fn squared_l2(
        self,
        shape: CountSketchShape,
        parts: u32,
        relation: Neighbouring,
    ) -> Result<SquaredL2Sensitivity, SensitivityError> {
        let too_large = |value| SensitivityError::TooLarge { name: "squared L2 sensitivity", value };
        let total = u128::from(self.total_weight()).pow(2);
        let mut square = total.checked_mul(u128::from(shape.rows())).ok_or(too_large(total))?;
        if let Kind::Clipped { squared_norm, .. } = self.0 {
            square = square.min(squared_norm);
        }
        let all = square.checked_mul(u128::from(parts).pow(2)).ok_or(too_large(square))?;
        SquaredL2Sensitivity::new(all)?.under(relation)
    }
}
