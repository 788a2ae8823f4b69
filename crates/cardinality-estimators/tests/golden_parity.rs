//! Golden cases of parity sketches, computed independently with 60-digit arithmetic (generator: Python with mpmath).
//!
//! `|got − want| ≤ tol_abs + tol_rel·|want|`, element by element. Every field that a case expects must be compared.

#![expect(clippy::unwrap_used, reason = "a golden file of another shape must fail the test")]

use cardinality_estimators::parity::{
    IntervalIntersection, ItemWeights, JointParityCounts, ParityCounts, ParityErrors, ParityLayout, ParityModel,
    PlanRequest, Radius, SetSizes, Subsampling, expected_ones, expected_ones_of_weights, parity_asymptotic_rse,
    parity_estimate, sampling_variance,
};
use cardinality_estimators::{Confidence, LevelCounts, Status, diagnostics};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

const GOLDEN: &str = include_str!("golden/f0_estimators.json");

struct Case<'a> {
    case: &'a Value,
    asked: RefCell<BTreeSet<&'static str>>,
}

impl Case<'_> {
    fn number(&self, field: &str) -> f64 {
        self.case["input"][field].as_f64().unwrap()
    }

    fn whole(&self, field: &str) -> u32 {
        u32::try_from(self.case["input"][field].as_u64().unwrap()).unwrap()
    }

    fn list(&self, field: &str) -> Vec<f64> {
        self.case["input"][field].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }

    fn layout(&self) -> ParityLayout {
        ParityLayout::regular(u8::try_from(self.whole("levels")).unwrap(), self.whole("cells")).unwrap()
    }

    fn model(&self) -> ParityModel {
        match self.case["input"]["model"].as_str() {
            None | Some("parity") => ParityModel::Set,
            Some("presampled") => ParityModel::Presampled,
            Some(other) => panic!("model {other}"),
        }
    }

    fn contrast(&self) -> f64 {
        1.0 - 2.0 * self.number("p")
    }

    fn counts(&self) -> ParityCounts {
        let ones: Vec<u64> =
            self.case["input"]["ones"].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect();
        ParityCounts::new(&self.layout(), self.model(), ItemWeights::Unit, &ones, self.contrast()).unwrap()
    }

    fn expected(&self, field: &'static str) -> Option<&Value> {
        self.asked.borrow_mut().insert(field);
        self.case["expected"].get(field)
    }

    /// Compares a field if the case has it. Infinite and absent numbers are null.
    fn check(&self, field: &'static str, got: impl Into<Value>) {
        if let Some(want) = self.expected(field) {
            self.compare(field, &got.into(), want);
        }
    }

    fn compare(&self, field: &str, got: &Value, want: &Value) {
        match (got, want) {
            (Value::Array(got), Value::Array(want)) => {
                assert_eq!(got.len(), want.len(), "{} {field}", self.case["id"]);
                got.iter().zip(want).for_each(|(got, want)| self.compare(field, got, want));
            }
            (Value::Number(got), Value::Number(want)) => {
                let (got, want) = (got.as_f64().unwrap(), want.as_f64().unwrap());
                let tolerance = |name: &str| self.case[name].as_f64().unwrap();
                let allowed = tolerance("tol_abs") + tolerance("tol_rel") * want.abs();
                assert!((got - want).abs() <= allowed, "{} {field}: got {got}, want {want}", self.case["id"]);
            }
            _ => assert_eq!(got, want, "{} {field}", self.case["id"]),
        }
    }
}

fn run(kind: &str, check: impl Fn(&Case<'_>)) {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    let chosen: Vec<&Value> = cases.iter().filter(|case| case["kind"] == kind).collect();
    assert!(!chosen.is_empty(), "no case of kind {kind}");
    for case in chosen {
        let read = Case { case, asked: RefCell::default() };
        check(&read);
        let asked = read.asked.into_inner();
        for field in case["expected"].as_object().unwrap().keys() {
            assert!(asked.contains(field.as_str()), "{} expects {field}, which nobody compares", case["id"]);
        }
    }
}

#[test]
fn every_case_is_of_a_kind_that_is_checked() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    let kinds: BTreeSet<_> = cases.iter().map(|case| case["kind"].as_str().unwrap()).collect();
    let checked = [
        "expected_ones",
        "interval",
        "joint_fisher",
        "loglik",
        "mle",
        "plan",
        "predicted_error",
        "set_ops",
        "subsample",
        "weighted_expected_ones",
    ];
    assert_eq!(kinds, BTreeSet::from(checked));
    assert_eq!(golden["count"].as_u64(), Some(cases.len() as u64));
}

#[test]
fn expected_ones_hold() {
    run("expected_ones", |case| {
        let (layout, model) = (case.layout(), case.model());
        let ones = expected_ones(&layout, model, ItemWeights::Unit, case.contrast(), case.number("n")).unwrap();
        case.check("ones", ones);
    });
}

#[test]
fn weighted_expected_ones_hold() {
    run("weighted_expected_ones", |case| {
        let (layout, model, weights) = (case.layout(), case.model(), case.list("weights"));
        let total: f64 = weights.iter().sum();
        case.check("total_weight", total);
        case.check("ones_exact", expected_ones_of_weights(&layout, model, case.contrast(), &weights).unwrap());
        let poisson = expected_ones(&layout, model, ItemWeights::Weighted, case.contrast(), total).unwrap();
        case.check("ones_poisson", poisson);
        case.check("sampling_variance", sampling_variance(&weights));
    });
}

#[test]
fn likelihoods_hold() {
    run("loglik", |case| {
        let (counts, n) = (case.counts(), case.number("n"));
        let got = diagnostics::log_likelihood(counts.level_counts(), n);
        case.check("loglik", got.value);
        case.check("d1", got.d1);
        case.check("d2", got.d2);
        let errors = ParityErrors::new(&case.layout(), case.model(), case.contrast()).unwrap();
        case.check("fisher", errors.information(n));
    });
}

#[test]
fn maxima_hold() {
    run("mle", |case| {
        let counts = case.counts();
        let levels = counts.level_counts();
        let saturated = case.expected("saturated").is_some_and(|flag| flag == &json!(true));
        for maximum in [diagnostics::mle(levels), diagnostics::mle_on_grid(levels)] {
            case.check("n_hat", maximum.n_hat);
            case.check("loglik", diagnostics::log_likelihood(levels, maximum.n_hat).value);
            assert_eq!(maximum.status == Status::Saturated, saturated);
        }
        check_errors(case, levels);
        let answer = parity_estimate(&counts, Confidence::P95);
        match answer.value() {
            Some(value) => case.check("n_hat", value),
            None => assert!(saturated),
        }
    });
}

fn check_errors(case: &Case<'_>, levels: &LevelCounts) {
    let n = diagnostics::mle(levels).n_hat;
    let errors = ParityErrors::new(&case.layout(), case.model(), case.contrast()).unwrap();
    let information = errors.information(n);
    let se = information.sqrt().recip();
    case.check("fisher", information);
    case.check("se", se);
    case.check("se_fixed_n", (1.0 / information - n).max(0.0).sqrt());
    let (lower, upper) = diagnostics::plain_likelihood_ratio_interval(levels, Confidence::P95);
    case.check("lr_ci", json!([lower, upper]));
    let factor = (Confidence::P95.z() * se / n).exp();
    case.check("wald_log_ci", json!([n / factor, n * factor]));
}

#[test]
fn predicted_errors_hold() {
    run("predicted_error", |case| {
        let n = case.number("n");
        let errors = ParityErrors::new(&case.layout(), case.model(), case.contrast()).unwrap();
        case.check("fisher", errors.information(n));
        case.check("rse", errors.rse_poisson(n));
        case.check("rse_fixed_n", errors.rse(n));
        case.check("rse_smooth", parity_asymptotic_rse(u64::from(case.whole("cells")), case.contrast()));
        case.check("se_at_zero", errors.at_zero());
    });
}

#[test]
fn plans_hold() {
    run("plan", |case| {
        assert_eq!(case.case["input"]["mode"], "set");
        let request = PlanRequest {
            model: ParityModel::Set,
            epsilon: case.number("eps"),
            merges: case.whole("merged_sketches"),
            target_rse: case.number("target_rse"),
            n_min: 0.0,
            n_max: case.number("n_max"),
        };
        let plan = request.plan().unwrap();
        case.check("p", plan.flip_probability());
        assert_eq!(case.expected("cells").unwrap(), &json!(plan.cells_per_level()));
        assert_eq!(case.expected("levels").unwrap(), &json!(plan.levels()));
    });
}

#[test]
fn subsampling_holds() {
    run("subsample", |case| {
        let sampling = Subsampling::new(case.number("eps"), case.number("gamma")).unwrap();
        let merges = case.whole("merged_sketches");
        case.check("eps0", sampling.inner_epsilon());
        case.check("p_single", sampling.flip_probability());
        case.check("contrast_merged", sampling.contrast(merges));
        case.check("eps_user_in_all_shared_key", sampling.epsilon_under_one_key(merges));
    });
}

#[test]
fn intersections_hold() {
    run("interval", |case| {
        let counts = case.counts();
        let radius = match case.case["input"].get("delta") {
            Some(delta) => Radius::FailureProbability(delta.as_f64().unwrap()),
            None => Radius::Cells(case.number("radius")),
        };
        let intersection = IntervalIntersection::new(&counts, radius).unwrap();
        let finite = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
        let tables = intersection.tables();
        case.check("radius", tables[0].radius);
        let ends = |counts: Option<(f64, f64)>| counts.map_or(json!([null, 0]), |(l, u)| json!([finite(l), finite(u)]));
        case.check("intervals", tables.iter().map(|table| ends(table.counts)).collect::<Vec<_>>());
        // The ends as the file has them: also of tables without a common count.
        let lower = tables.iter().map(|table| table.counts.map_or(f64::INFINITY, |ends| ends.0)).fold(0.0, f64::max);
        let upper = tables.iter().map(|table| table.counts.map_or(0.0, |ends| ends.1)).fold(f64::INFINITY, f64::min);
        case.check("lo", finite(lower));
        case.check("hi", finite(upper));
        case.check("minimax", intersection.minimax());
        let answer = intersection.estimate();
        case.check("estimate", answer.value().map_or(Value::Null, Value::from));
        let word = if answer.status() == Status::NotConverged { "empty" } else { answer.status().as_str() };
        case.check("status", word);
    });
}

#[test]
fn set_operations_hold() {
    run("set_ops", |case| {
        let [a, b, d] = ["card_a", "card_b", "card_symdiff"].map(|field| case.number(field));
        let sizes = SetSizes::from_symmetric_difference(a, b, d);
        case.check("intersection_raw", sizes.intersection_raw);
        case.check("intersection", sizes.intersection);
        case.check("union", sizes.union);
        case.check("a_minus_b", sizes.only_first);
        case.check("b_minus_a", sizes.only_second);
        case.check("jaccard", sizes.jaccard.map_or(Value::Null, Value::from));
    });
}

#[test]
fn joint_information_holds() {
    run("joint_fisher", |case| {
        let contrasts = ["p_a", "p_b"].map(|field| 1.0 - 2.0 * case.number(field));
        let cells = u64::from(case.whole("cells"));
        let pairs = vec![[cells, 0, 0, 0]; usize::try_from(case.whole("levels")).unwrap()];
        let counts =
            JointParityCounts::new(&case.layout(), case.model(), ItemWeights::Unit, &pairs, contrasts).unwrap();
        let regions = ["only_a", "only_b", "both"].map(|field| case.number(field));
        let information = diagnostics::joint_parity_information(&counts, regions);
        case.check("fisher", information.iter().map(|row| json!(row)).collect::<Vec<_>>());
        case.check("cell_probs_level0", diagnostics::joint_parity_law(&counts, regions)[0].to_vec());
        case.check("se", inverse_diagonal(&information).map(f64::sqrt).to_vec());
    });
}

/// The diagonal of the inverse of a symmetric matrix by cofactors.
fn inverse_diagonal(m: &[[f64; 3]; 3]) -> [f64; 3] {
    let minor = |i: usize, j: usize| m[i][i] * m[j][j] - m[i][j] * m[j][i];
    let determinant = m[0][0] * minor(1, 2) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    [minor(1, 2), minor(0, 2), minor(0, 1)].map(|minor| minor / determinant)
}
