//! Schema 1: parity sketches and linear algebra over GF(2).

mod linear;
mod mechanism;
mod pairs;
mod parity;

use serde_json::Value;

use super::compare::Got;
use super::input::{CaseError, Input};
use super::schema::{Case, Schema, listed};

/// How the runner reads and computes these files.
pub(super) const SCHEMA: Schema = Schema {
    name: "1",
    kinds: &[
        "noise",
        "xor_compose",
        "level_from_hash",
        "expected_ones",
        "weighted_expected_ones",
        "loglik",
        "mle",
        "predicted_error",
        "plan",
        "subsample",
        "interval",
        "set_ops",
        "joint_fisher",
        "gf2_rref",
        "gf2_mul",
        "gf2_inverse",
        "gf2_solve",
        "gf2_vec",
    ],
    cases,
    compute,
};

/// The fields of a case have names of their own in this schema.
fn cases(file: &Value) -> Result<Vec<Case>, String> {
    listed(file, "expected", ["tol_rel", "tol_abs"])
}

fn compute(case: &Case) -> Result<Got, CaseError> {
    let input = Input::new(&case.input);
    match case.kind.as_str() {
        "noise" => mechanism::noise(input),
        "xor_compose" => mechanism::xor_compose(input),
        "level_from_hash" => mechanism::level_from_hash(input),
        "expected_ones" => parity::expected(input),
        "weighted_expected_ones" => parity::weighted_expected(input),
        "loglik" => parity::loglik(input),
        "mle" => parity::mle(input),
        "predicted_error" => parity::predicted_error(input),
        "plan" => parity::plan(input),
        "subsample" => mechanism::subsample(input),
        "interval" => parity::interval(input),
        "set_ops" => pairs::set_ops(input),
        "joint_fisher" => pairs::joint_fisher(input),
        "gf2_rref" => linear::rref(input),
        "gf2_mul" => linear::mul(input),
        "gf2_inverse" => linear::inverse(input),
        "gf2_solve" => linear::solve(input),
        "gf2_vec" => linear::vector(input),
        _ => Err(CaseError::UnknownKind),
    }
}
