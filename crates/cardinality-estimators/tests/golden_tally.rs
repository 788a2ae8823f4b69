//! Golden cases of tallies, computed independently (generator: see the file's head) at the tolerances stated there.
//!
//! `positive_weights` may differ by one, which moves the weight of the shared law a little; the answers have their own
//! tolerances. `multiplicities_indicative` is not compared.

#![expect(clippy::unwrap_used, reason = "a golden file of another shape must fail the test")]

use cardinality_estimators::tally::{
    LawEstimate, SizeSpread, TallyClass, TallyCounts, TallyEstimate, estimate_union, point_union,
};
use cardinality_estimators::{BitChannel, CellLayout, Confidence, diagnostics};
use serde_json::Value;

const GOLDEN: &str = include_str!("golden/beyond_golden.json");

fn cases(kind: &str) -> Vec<Value> {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let all = golden["cases"].as_array().unwrap();
    assert_eq!(golden["count"].as_u64(), Some(all.len() as u64));
    let chosen: Vec<Value> = all.iter().filter(|case| case["kind"] == kind).cloned().collect();
    assert_eq!(chosen.len(), 25, "cases of kind {kind}");
    chosen
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn index(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn channel(input: &Value) -> BitChannel {
    BitChannel::new(number(&input["p"]), number(&input["q"])).unwrap()
}

fn counts(input: &Value) -> TallyCounts {
    let buckets = u32::try_from(input["buckets"].as_u64().unwrap()).unwrap();
    let levels = u8::try_from(input["levels"].as_u64().unwrap()).unwrap();
    let class = TallyClass { channel: channel(input), sketches: index(&input["k"]) };
    let histogram = |h: &Value| h.as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect();
    let histograms = input["histograms"].as_array().unwrap().iter().map(histogram).collect();
    TallyCounts::new(&CellLayout::pcsa(buckets, levels).unwrap(), &[class], histograms).unwrap()
}

fn sizes(input: &Value) -> SizeSpread {
    let (sizes, variances) = (numbers(&input["sizes"]), numbers(&input["size_variances"]));
    SizeSpread::new(&sizes.into_iter().zip(variances).collect::<Vec<_>>()).unwrap()
}

#[track_caller]
fn near(id: &str, what: &str, got: f64, want: f64, rtol: f64, atol: f64) {
    assert!((got - want).abs() <= atol + rtol * want.abs(), "{id} {what}: got {got}, want {want}");
}

#[test]
fn kernels_hold() {
    for case in cases("tally_kernel") {
        let (id, k) = (case["id"].as_str().unwrap(), index(&case["input"]["k"]));
        let kernel = diagnostics::tally_kernel(channel(&case["input"]), k);
        for entry in case["expect"]["entries"].as_array().unwrap() {
            let got = kernel[index(&entry[0]) * (k + 1) + index(&entry[1])];
            near(id, "entry", got, number(&entry[2]), number(&case["rtol"]), 0.0);
        }
    }
}

#[test]
fn profile_likelihoods_and_scores_hold() {
    for case in cases("tally_loglik") {
        let id = case["id"].as_str().unwrap();
        let counts = counts(&case["input"]);
        let heights = numbers(&case["expect"]["profile_loglik"]);
        let scores = case["expect"]["score"].as_array().unwrap();
        for ((n, want), score) in numbers(&case["input"]["n"]).into_iter().zip(heights).zip(scores) {
            let got = diagnostics::tally_free_law(&counts, n, 1e-9);
            near(id, "log-likelihood", got.log_likelihood, want, 0.0, number(&case["atol"]));
            assert!(got.gap <= 1e-8, "{id}: {} at {n}", got.gap);
            if let Some(want) = score.as_f64() {
                near(id, "score", got.score, want, 0.0, 1e-4 * want.abs().max(1e-3 / n));
            }
        }
    }
}

fn check_law(id: &str, got: &LawEstimate, want: &Value) {
    near(id, "n_hat", got.n_hat(), number(&want["n_hat"]), 1e-4, 0.0);
    near(id, "log-likelihood", got.log_likelihood(), number(&want["loglik"]), 0.0, 1e-3);
    let (low, high) = got.interval().unwrap();
    near(id, "low", low, number(&want["low"]), 3e-3, 0.0);
    near(id, "high", high.unwrap(), number(&want["high"]), 3e-3, 0.0);
}

fn check_weights(id: &str, got: usize, want: &Value) {
    assert!(got.abs_diff(index(want)) <= 1, "{id}: {got} positive weights, want {want}");
}

fn check_default(id: &str, got: &TallyEstimate, want: &Value, points: &TallyEstimate) {
    let estimate = got.estimate();
    near(id, "default", estimate.value().unwrap(), number(&want["estimate"]), 2e-3, 0.0);
    near(id, "default low", estimate.lower().unwrap(), number(&want["low"]), 5e-3, 0.0);
    near(id, "default high", estimate.upper().unwrap(), number(&want["high"]), 5e-3, 0.0);
    near(id, "point", points.estimate().value().unwrap(), number(&want["estimate"]), 2e-3, 0.0);
}

#[test]
fn answers_hold() {
    for case in cases("tally_mle") {
        let (id, input, expect) = (case["id"].as_str().unwrap(), &case["input"], &case["expect"]);
        let (counts, sizes) = (counts(input), sizes(input));
        let got = estimate_union(&counts, Some(&sizes), Confidence::P95).unwrap();
        check_law(id, &got.free(), &expect["profile"]);
        check_law(id, &got.shared(), &expect["shared"]);
        // The file has six digits of it.
        near(id, "misfit", got.misfit(), number(&expect["misfit_G"]), 5e-6, 2e-3);
        check_weights(id, got.free().positive_weights(), &expect["positive_weights"]["free"]);
        check_weights(id, got.shared().positive_weights(), &expect["positive_weights"]["shared"]);
        near(id, "size_cv2", sizes.size_cv2(), number(&expect["size_cv2"]), 1e-4, 0.0);
        near(id, "size_z", sizes.size_z(), number(&expect["size_z"]), 1e-4, 0.0);
        let points = point_union(&counts, Some(&sizes), Confidence::P95).unwrap();
        check_default(id, &got, &expect["default"], &points);
        let without = estimate_union(&counts, None, Confidence::P95).unwrap();
        let points = point_union(&counts, None, Confidence::P95).unwrap();
        check_default(id, &without, &expect["default_sizes_unknown"], &points);
        if got.free().positive_weights() == index(&expect["positive_weights"]["free"]) {
            near(id, "weight", got.shared_weight(), number(&expect["default"]["weight_shared"]), 2e-3, 1e-4);
        }
    }
}
