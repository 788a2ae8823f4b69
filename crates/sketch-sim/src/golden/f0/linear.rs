//! Kinds `gf2_…`: linear algebra over GF(2).

use gf2_linalg::{BitMatrix, BitVector, Solution};

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};

pub(super) fn rref(input: Input<'_>) -> Result<Got, CaseError> {
    let form = matrix(input, "rows")?.rref();
    Ok(Got::fields([
        ("rank", Got::Integer(form.rank() as u64)),
        ("nullity", Got::Integer(form.nullity() as u64)),
        ("pivots", Got::integers(form.pivots().iter().map(|&pivot| pivot as u64))),
        ("rref", rows(form.matrix())),
    ]))
}

pub(super) fn mul(input: Input<'_>) -> Result<Got, CaseError> {
    let product = matrix(input, "a")?.mul(&matrix(input, "b")?).map_err(CaseError::refused)?;
    Ok(Got::fields([("product", rows(&product))]))
}

pub(super) fn inverse(input: Input<'_>) -> Result<Got, CaseError> {
    let inverse = matrix(input, "a")?.inverse().map_err(CaseError::refused)?;
    Ok(Got::fields([("inverse", rows(&inverse))]))
}

pub(super) fn solve(input: Input<'_>) -> Result<Got, CaseError> {
    let solution = matrix(input, "a")?.solve(&bits(input.text("b")?)?).map_err(CaseError::refused)?;
    let mut fields = vec![("consistent".to_owned(), Got::Truth(solution != Solution::Inconsistent))];
    if let Some(x) = solution.particular() {
        fields.push(("unique".to_owned(), Got::Truth(matches!(solution, Solution::Unique(_)))));
        fields.push(("x".to_owned(), Got::text(x.to_string())));
    }
    Ok(Got::Fields(fields))
}

pub(super) fn vector(input: Input<'_>) -> Result<Got, CaseError> {
    let (a, b) = (bits(input.text("a")?)?, bits(input.text("b")?)?);
    let mut sum = a.clone();
    sum.xor_assign(&b).map_err(CaseError::refused)?;
    Ok(Got::fields([
        ("xor", Got::text(sum.to_string())),
        ("and_popcount", Got::Integer(a.and_popcount(&b).map_err(CaseError::refused)?)),
        ("dot", Got::Integer(a.dot(&b).map_err(CaseError::refused)?.into())),
        ("popcount_a", Got::Integer(a.count_ones())),
    ]))
}

/// A matrix from a string for each row.
fn matrix(input: Input<'_>, field: &str) -> Result<BitMatrix, CaseError> {
    let text = input.list(field)?.iter().map(serde_json::Value::as_str).collect::<Option<Vec<_>>>();
    let rows = text.ok_or_else(|| missing(field, "a list of strings"))?;
    rows.join("\n").parse().map_err(CaseError::refused)
}

fn bits(text: &str) -> Result<BitVector, CaseError> {
    text.parse().map_err(CaseError::refused)
}

fn rows(matrix: &BitMatrix) -> Got {
    Got::List(matrix.to_string().lines().map(Got::text).collect())
}
