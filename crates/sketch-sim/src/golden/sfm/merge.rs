//! Kinds `merge` and `nway_or`: channels of merged bits.

use sfm_pcsa::diagnostics::{self, GateTable, MergedChannel};
use sfm_pcsa::{BooleanOp, ChannelError, OutputForm};

use crate::golden::{CaseError, Got, Input};

pub(super) fn merge(input: Input<'_>) -> Result<Got, CaseError> {
    let op = operation(input.text("op")?)?;
    let (first, second) = (pair(input, "pq1")?, pair(input, "pq2")?);
    let table = |form| diagnostics::gate_table(op, form, first, second).map(gate).map_err(CaseError::refused);
    Ok(Got::fields([("extremal", table(OutputForm::Extremal)?), ("symmetric", table(OutputForm::Symmetric)?)]))
}

fn gate(table: GateTable) -> Got {
    Got::fields([
        ("p", Got::Number(table.p)),
        ("q", Got::Number(table.q)),
        ("v_00_01_10_11", Got::numbers(table.v)),
        ("eps", Got::Number(table.epsilon)),
    ])
}

fn operation(word: &str) -> Result<BooleanOp, CaseError> {
    Ok(match word {
        "or" => BooleanOp::Or,
        "and" => BooleanOp::And,
        "xor" => BooleanOp::Xor,
        "diff" => BooleanOp::Difference,
        "implies" => BooleanOp::Implies,
        "nor" => BooleanOp::Nor,
        "nand" => BooleanOp::Nand,
        "xnor" => BooleanOp::Xnor,
        _ => return Err(crate::golden::input::missing("op", "a known operation")),
    })
}

fn pair(input: Input<'_>, field: &str) -> Result<(f64, f64), CaseError> {
    match input.list(field)? {
        [p, q] => p.as_f64().zip(q.as_f64()),
        _ => None,
    }
    .ok_or_else(|| crate::golden::input::missing(field, "a pair of probabilities"))
}

pub(super) fn nway_or(input: Input<'_>) -> Result<Got, CaseError> {
    let epsilons = input.numbers_or_infinity("eps")?;
    let symmetric: Vec<(f64, f64)> = epsilons.iter().map(|&epsilon| symmetric_response(epsilon)).collect();
    let xor_family: Vec<(f64, f64)> = epsilons.iter().map(|&epsilon| (0.5, 0.5 * (-epsilon).exp())).collect();
    let or = |form, inputs: &[(f64, f64)]| diagnostics::nway_or_from_errors(form, inputs).map(channel);
    let all = || -> Result<Got, ChannelError> {
        Ok(Got::fields([
            ("symmetric", or(OutputForm::Symmetric, &symmetric)?),
            ("xor_family", or(OutputForm::Extremal, &xor_family)?),
            ("extremal", or(OutputForm::Extremal, &symmetric)?),
        ]))
    };
    all().map_err(CaseError::refused)
}

fn channel(merged: MergedChannel) -> Got {
    Got::fields([
        ("eps", Got::Number(merged.epsilon)),
        ("p", Got::Number(merged.p)),
        ("q", Got::Number(merged.q)),
        ("d", Got::Number(merged.d)),
    ])
}

/// `(1 − p, q)` of symmetric randomised response with the real probabilities, not the rounded ones of a release.
fn symmetric_response(epsilon: f64) -> (f64, f64) {
    let odds = (-epsilon).exp();
    (odds / (1.0 + odds), odds / (1.0 + odds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_word() {
        for op in BooleanOp::ALL {
            let name = format!("{op:?}").to_lowercase();
            let word = if op == BooleanOp::Difference { "diff" } else { &name };
            assert_eq!(operation(word).ok(), Some(op));
        }
        assert!(operation("maybe").is_err());
    }

    #[test]
    fn a_pair_has_two_numbers() {
        let json = serde_json::json!({ "pq1": [0.5, 0.25], "pq2": [0.5] });
        assert_eq!(pair(Input::new(&json), "pq1").ok(), Some((0.5, 0.25)));
        assert!(pair(Input::new(&json), "pq2").is_err());
    }
}
