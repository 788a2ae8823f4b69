//! Kind `liquid_legions`: probabilities of cells, and the cell of a hash.

use cardinality_estimators::legions_probability;
use sfm_pcsa::LegionsShape;
use sfm_pcsa::diagnostics::legions_boundaries;

use crate::golden::{CaseError, Got, Input};
use crate::number;

pub(super) fn liquid_legions(input: Input<'_>) -> Result<Got, CaseError> {
    let (cells, decay) = (input.integer("cells")?, input.number("decay")?);
    let probability = |index| legions_probability(u64::from(cells), decay, index).map_err(CaseError::refused);
    let rho: Vec<f64> = input.integers("indices")?.into_iter().map(probability).collect::<Result<_, _>>()?;
    let firsts = legions_boundaries(LegionsShape::new(cells, decay).map_err(CaseError::refused)?);
    let places = input.numbers("u")?.into_iter().map(|share| cell(&firsts, share));
    Ok(Got::fields([("rho", Got::numbers(rho)), ("cell", Got::integers(places))]))
}

/// The last cell whose first hash is not above the hash `share · 2^64`; a share of 1 is the largest hash.
fn cell(firsts: &[u64], share: f64) -> u64 {
    let hash = number::whole((share * 18_446_744_073_709_551_616.0).floor()).unwrap_or(u64::MAX);
    firsts.partition_point(|&first| first <= hash).saturating_sub(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_from_0_to_1_have_a_cell() {
        let firsts = [0, 1 << 62, 1 << 63];
        assert_eq!([0.0, 0.2, 0.25, 0.6, 1.0].map(|share| cell(&firsts, share)), [0, 0, 1, 2, 2]);
    }
}
