//! The schema `sfm-golden/1`: mechanisms, merges, likelihoods, placement.

mod hash;
mod legions;
mod likelihood;
mod mechanism;
mod merge;
mod occupancy;
mod presto;

use super::compare::Got;
use super::input::{CaseError, Input};
use super::schema::{Case, Schema, listed_cases};

/// How the runner reads and computes these files.
pub(super) const SCHEMA: Schema = Schema {
    name: "sfm-golden/1",
    kinds: &[
        "mechanism",
        "dp_level",
        "merge",
        "nway_or",
        "likelihood",
        "edge",
        "asymptotic",
        "linear_counting",
        "bloom",
        "liquid_legions",
        "hash",
        "placement",
        "presto_bytes",
        "product_statistic",
    ],
    cases: listed_cases,
    compute,
};

fn compute(case: &Case) -> Result<Got, CaseError> {
    let (input, expect) = (Input::new(&case.input), Input::new(&case.expect));
    match case.kind.as_str() {
        "mechanism" => mechanism::mechanism(input),
        "dp_level" => mechanism::dp_level(input),
        "merge" => merge::merge(input),
        "nway_or" => merge::nway_or(input),
        "likelihood" => likelihood::likelihood(input, expect),
        "edge" => likelihood::edge(input),
        "asymptotic" => likelihood::asymptotic(input),
        "linear_counting" => occupancy::linear_counting(input),
        "bloom" => occupancy::bloom(input),
        "liquid_legions" => legions::liquid_legions(input),
        "hash" => hash::hash(input),
        "placement" => hash::placement(input),
        "presto_bytes" => presto::presto_bytes(input),
        "product_statistic" => occupancy::product_statistic(input),
        _ => Err(CaseError::UnknownKind),
    }
}
