//! The schema `beyond-golden/1`: tallies of many releases, and joint likelihoods of the regions of few.

mod tally;
mod venn;

use super::compare::Got;
use super::input::{CaseError, Input};
use super::schema::{Case, Schema, listed_cases};

/// How the runner reads and computes these files.
pub(super) const SCHEMA: Schema = Schema {
    name: "beyond-golden/1",
    kinds: &["tally_kernel", "tally_loglik", "tally_mle", "joint_venn", "venn_expr"],
    cases: listed_cases,
    compute,
};

fn compute(case: &Case) -> Result<Got, CaseError> {
    let (input, expect) = (Input::new(&case.input), Input::new(&case.expect));
    match case.kind.as_str() {
        "tally_kernel" => tally::kernel(input, expect),
        "tally_loglik" => tally::log_likelihood(input, expect),
        "tally_mle" => tally::maximum(input, expect),
        "joint_venn" => venn::joint(input),
        "venn_expr" => venn::expression(input),
        _ => Err(CaseError::UnknownKind),
    }
}
