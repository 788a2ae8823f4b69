//! Kinds `set_ops` and `joint_fisher`: two sketches together.

use cardinality_estimators::diagnostics::{joint_parity_information, joint_parity_law};
use cardinality_estimators::parity::{ItemWeights, JointParityCounts, SetSizes};

use super::parity::{contrast, layout, model};
use crate::golden::{CaseError, Got, Input};

pub(super) fn set_ops(input: Input<'_>) -> Result<Got, CaseError> {
    let (first, second) = (input.number("card_a")?, input.number("card_b")?);
    let sizes = SetSizes::from_symmetric_difference(first, second, input.number("card_symdiff")?);
    Ok(Got::fields([
        ("intersection_raw", Got::Number(sizes.intersection_raw)),
        ("intersection", Got::Number(sizes.intersection)),
        ("union", Got::Number(sizes.union)),
        ("a_minus_b", Got::Number(sizes.only_first)),
        ("b_minus_a", Got::Number(sizes.only_second)),
        ("jaccard", sizes.jaccard.map_or(Got::Absent, Got::Number)),
    ]))
}

pub(super) fn joint_fisher(input: Input<'_>) -> Result<Got, CaseError> {
    let contrasts = [contrast(input, "p_a")?, contrast(input, "p_b")?];
    // Information and law do not depend on what was counted.
    let pairs = vec![[input.integer("cells")?, 0, 0, 0]; input.integer("levels")?];
    let counts = JointParityCounts::new(&layout(input)?, model(input)?, ItemWeights::Unit, &pairs, contrasts)
        .map_err(CaseError::refused)?;
    let regions = [input.number("only_a")?, input.number("only_b")?, input.number("both")?];
    let information = joint_parity_information(&counts, regions);
    let law = joint_parity_law(&counts, regions).first().copied().unwrap_or_default();
    Ok(Got::fields([
        ("fisher", Got::List(information.iter().map(|row| Got::numbers(row.iter().copied())).collect())),
        ("se", Got::numbers(inverse_diagonal(&information).map(f64::sqrt))),
        ("cell_probs_level0", Got::numbers(law)),
    ]))
}

/// The diagonal of the inverse of a symmetric matrix, by cofactors.
fn inverse_diagonal(m: &[[f64; 3]; 3]) -> [f64; 3] {
    let minor = |i: usize, j: usize| m[i][i] * m[j][j] - m[i][j] * m[j][i];
    let determinant = m[0][0] * minor(1, 2) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    [minor(1, 2), minor(0, 2), minor(0, 1)].map(|minor| minor / determinant)
}
