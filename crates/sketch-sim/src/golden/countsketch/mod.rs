//! The schema `countsketch-golden-v1`: noise and its calibration, and the numbers behind the answers of count sketches.

mod calibration;
mod law;
mod theory;

use serde_json::Value;

use super::compare::Got;
use super::input::{CaseError, Input};
use super::schema::{Case, Schema};
use super::sections::{Section, section_cases};

/// How the runner reads and computes these files.
pub(super) const SCHEMA: Schema = Schema {
    name: "countsketch-golden-v1",
    kinds: &[
        "sigma_zcdp",
        "laplace_scale",
        "analytic_gaussian",
        "gaussian_delta",
        "zcdp_to_dp",
        "dp_to_zcdp",
        "zcdp_delta",
        "discrete_gaussian",
        "discrete_gaussian_delta_1d",
        "discrete_laplace",
        "bernoulli_exp",
        "distributed_dgauss",
        "median_tail",
        "median_of_gaussians",
        "min_of_gaussians_mean",
        "order_statistic_ci",
        "row_probability",
        "row_probability_slope",
        "count_mean_central",
        "count_mean_local",
        "f2_inner",
        "merge",
        "top_up",
        "hierarchy",
        "exact_delta_rows",
    ],
    cases,
    compute,
};

const SECTIONS: &[Section] = &[
    Section::new("sigma_zcdp", &["k", "rho", "l1"]),
    Section::new("laplace_scale", &["k", "eps", "l1"]),
    Section::new("analytic_gaussian", &["eps", "delta", "sensitivity"]),
    Section::new("gaussian_delta", &["eps", "sensitivity", "sigma"]),
    Section::new("zcdp_to_dp", &["rho", "delta"]),
    Section::new("dp_to_zcdp", &["eps", "delta"]),
    Section::new("zcdp_delta", &["rho", "eps"]),
    Section::new("discrete_gaussian", &["s2_num", "s2_den"]),
    Section::new("discrete_gaussian_delta_1d", &["eps", "s2", "sensitivity"]),
    Section::new("discrete_laplace", &["t_num", "t_den"]),
    Section::new("bernoulli_exp", &["num", "den", "bits"]),
    Section::new("distributed_dgauss", &["m", "s2_share", "d", "l1_sensitivity", "l2_sensitivity"]),
    Section::new("median_tail", &["k", "p"]),
    Section::new("median_of_gaussians", &["k"]),
    Section::new("min_of_gaussians_mean", &["k", "rho"]),
    Section::new("order_statistic_ci", &["k", "beta"]),
    Section::new("row_probability", &["gamma", "v", "s2"]),
    Section { name: "row_probability_slope", lists: &[], inputs: &[] },
    Section::new("count_mean_central", &["b", "N", "row_values"]),
    Section::new("count_mean_local", &["eps", "k", "m", "reports", "query_buckets"]),
    Section {
        name: "f2_inner",
        lists: &["f2", "inner"],
        inputs: &["F2", "F4", "b", "sigma2", "x2", "y2", "xy", "x2y2", "sa2", "sb2"],
    },
    Section::new("merge", &["rhos"]),
    Section::new("top_up", &["k", "rho_have", "rho_want"]),
    Section::new("hierarchy", &["k", "rho", "weights"]),
    Section::new("exact_delta_rows", &["k", "sigma2", "eps"]),
];

fn cases(file: &Value) -> Result<Vec<Case>, String> {
    section_cases(file, SECTIONS)
}

fn compute(case: &Case) -> Result<Got, CaseError> {
    let (input, expect) = (Input::new(&case.input), Input::new(&case.expect));
    match case.kind.as_str() {
        "sigma_zcdp" => calibration::sigma_zcdp(input),
        "laplace_scale" => calibration::laplace_scale(input),
        "analytic_gaussian" => calibration::analytic_gaussian(input, expect),
        "gaussian_delta" => calibration::gaussian(input),
        "zcdp_to_dp" => calibration::zcdp_to_dp(input, expect),
        "dp_to_zcdp" => calibration::from_dp(input),
        "zcdp_delta" => calibration::delta_of_zcdp(input),
        "discrete_gaussian" => law::discrete_gaussian(input, expect),
        "discrete_gaussian_delta_1d" => calibration::one_query(input),
        "discrete_laplace" => law::discrete_laplace(input, expect),
        "bernoulli_exp" => law::bernoulli_exp(input),
        "distributed_dgauss" => calibration::distributed(input),
        "median_tail" => theory::tail_of_median(input),
        "median_of_gaussians" => theory::median_of_gaussians(input, expect),
        "min_of_gaussians_mean" => theory::minimum_of_gaussians(input),
        "order_statistic_ci" => theory::order_statistics(input),
        "row_probability" => theory::row_probability(input),
        "row_probability_slope" => Ok(Got::fields([("value", Got::Number(theory::SLOPE))])),
        "count_mean_central" => theory::central_count_mean(input, expect),
        "count_mean_local" => theory::local_count_mean(input),
        "f2_inner" => theory::f2_inner(input),
        "merge" => theory::merge(input),
        "top_up" => theory::top_up(input),
        "hierarchy" => theory::hierarchy(input),
        "exact_delta_rows" => calibration::exact_rows(input),
        _ => Err(CaseError::UnknownKind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_a_kind_and_every_kind_a_section() {
        let sections: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
        assert_eq!(sections, SCHEMA.kinds);
    }
}
