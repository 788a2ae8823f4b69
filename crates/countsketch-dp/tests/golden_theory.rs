//! The numbers behind the answers against tables computed with 60-digit arithmetic (mpmath) from the definitions.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

use countsketch_dp::theory::{
    CountMeanLocal, MedianOfGaussians, MinimumOfGaussians, NormPair, ROW_PROBABILITY_SLOPE, count_mean_central,
    count_mean_noise_variance, disjoint_loss, f2_variance, hierarchy_variances, inner_product_variance, median_tail,
    merged_noise_rho, order_statistic_interval, row_probability_chebyshev, row_probability_fejer, shared_loss,
    top_up_variance,
};
use serde_json::{Map, Value, json};
use sketch_testkit::{Tolerance, compare};

type Outcome = Result<Value, Box<dyn core::error::Error>>;

fn sections() -> Map<String, Value> {
    let text = include_str!("golden/theory.json");
    let root: Value = serde_json::from_str(text).unwrap();
    root["sections"].as_object().unwrap().clone()
}

fn number(case: &Value, field: &str) -> f64 {
    case[field].as_f64().unwrap_or_else(|| panic!("no number {field} in {case}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn count(case: &Value, field: &str) -> u32 {
    let wide = case[field].as_u64().unwrap_or_else(|| panic!("no count {field} in {case}"));
    u32::try_from(wide).unwrap()
}

/// Compares every computed field, each with its own tolerance, and that no case is without one.
fn check(name: &str, list: &str, fields: &[&str], compute: impl Fn(&Value) -> Outcome) {
    let section = &sections()[name];
    let cases = section[list].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let got = compute(case).unwrap_or_else(|error| panic!("{name} {case}: {error}"));
        for &field in fields {
            let absolute = section["atol"][field].as_f64().unwrap_or(0.0);
            let tolerance = Tolerance { absolute, relative: section["rtol"].as_f64().unwrap() };
            let failures = compare(&case[field], &got[field], tolerance);
            assert!(failures.is_empty(), "{name}.{field} {case}: {failures:?}");
        }
    }
}

#[test]
fn no_section_is_left_out() {
    let tested = [
        "count_mean_central",
        "count_mean_local",
        "f2_inner",
        "hierarchy",
        "median_of_gaussians",
        "median_tail",
        "merge",
        "min_of_gaussians_mean",
        "order_statistic_ci",
        "row_probability",
        "row_probability_slope",
        "top_up",
    ];
    let mut found: Vec<String> = sections().keys().cloned().collect();
    found.sort();
    assert_eq!(found, tested);
}

#[test]
fn median_tails() {
    check("median_tail", "cases", &["exact", "hoeffding"], |case| {
        let tail = median_tail(count(case, "k"), number(case, "p"))?;
        Ok(json!({"exact": tail.exact, "hoeffding": tail.hoeffding}))
    });
}

#[test]
fn medians_of_gaussians() {
    check("median_of_gaussians", "cases", &["mean_abs", "variance", "quantiles_abs", "cdf_abs"], |case| {
        let k = count(case, "k");
        let law = MedianOfGaussians::new(k, f64::from(k))?;
        let map = |field: &str, f: &dyn Fn(f64) -> f64| -> Value {
            let entries = case[field].as_object().unwrap().keys();
            entries.map(|key| (key.clone(), json!(f(key.parse().unwrap())))).collect::<Map<_, _>>().into()
        };
        Ok(json!({
            "mean_abs": law.mean_abs(),
            "variance": law.variance(),
            "quantiles_abs": map("quantiles_abs", &|p| law.quantile_abs(p).unwrap()),
            "cdf_abs": map("cdf_abs", &|x| law.cdf_abs(x).unwrap()),
        }))
    });
}

#[test]
fn minima_of_gaussians() {
    check("min_of_gaussians_mean", "cases", &["bias"], |case| {
        let k = count(case, "k");
        let variance = f64::from(k) / (2.0 * number(case, "rho"));
        Ok(json!({"bias": MinimumOfGaussians::new(k, variance)?.mean()}))
    });
}

#[test]
fn order_statistics() {
    check("order_statistic_ci", "cases", &["r", "miss_prob"], |case| {
        let found = order_statistic_interval(count(case, "k"), number(case, "beta"))?;
        assert_eq!(u64::from(found.rank), case["r"].as_u64().unwrap());
        Ok(json!({"r": found.rank, "miss_prob": found.miss_probability}))
    });
}

#[test]
fn row_probabilities() {
    check("row_probability", "cases", &["fourier", "cheb"], |case| {
        let (gamma, v, s2) = (number(case, "gamma"), number(case, "v"), number(case, "s2"));
        Ok(json!({
            "fourier": row_probability_fejer(gamma, v, s2)?,
            "cheb": row_probability_chebyshev(gamma, v, s2)?,
        }))
    });
}

#[test]
fn slope_of_the_row_probability() {
    let want = number(&sections()["row_probability_slope"], "value");
    assert!((ROW_PROBABILITY_SLOPE / want - 1.0).abs() < 1e-15);
}

#[test]
fn central_count_mean() {
    check("count_mean_central", "cases", &["estimate", "noise_variance_for_sigma2"], |case| {
        let rows = numbers(&case["row_values"]);
        let noise = &case["noise_variance_for_sigma2"];
        let (k, b) = (u32::try_from(rows.len())?, count(case, "b"));
        let variance = count_mean_noise_variance(k, b, number(noise, "sigma2"))?;
        Ok(json!({
            "estimate": count_mean_central(b, number(case, "N"), &rows)?,
            "noise_variance_for_sigma2": {"sigma2": noise["sigma2"], "value": variance},
        }))
    });
}

#[test]
fn local_count_mean() {
    let fields = ["c_eps", "flip_prob", "estimate", "per_report_noise_variance"];
    check("count_mean_local", "cases", &fields, |case| {
        let local = CountMeanLocal::new(number(case, "eps"))?;
        let reports = case["reports"].as_array().unwrap();
        let entry = |report: &Value| -> f64 {
            let bucket = &case["query_buckets"][usize::try_from(report["row"].as_u64().unwrap()).unwrap()];
            report["v"][usize::try_from(bucket.as_u64().unwrap()).unwrap()].as_f64().unwrap()
        };
        let sum = reports.iter().map(entry).sum();
        let total = f64::from(u32::try_from(reports.len())?);
        Ok(json!({
            "c_eps": local.scale(),
            "flip_prob": local.flip_probability(),
            "estimate": local.estimate(count(case, "m"), total, sum)?,
            "per_report_noise_variance": local.report_variance(),
        }))
    });
}

#[test]
fn norms_and_inner_products() {
    check("f2_inner", "f2", &["variance"], |case| {
        let [f2, f4, b, s2] = ["F2", "F4", "b", "sigma2"].map(|field| number(case, field));
        Ok(json!({"variance": f2_variance(f2, f4, b, s2)?}))
    });
    check("f2_inner", "inner", &["variance"], |case| {
        let [left, right, inner, squares] = ["x2", "y2", "xy", "x2y2"].map(|field| number(case, field));
        let [b, left_noise, right_noise] = ["b", "sa2", "sb2"].map(|field| number(case, field));
        let norms = NormPair { left, right, inner, squares };
        Ok(json!({"variance": inner_product_variance(norms, b, left_noise, right_noise)?}))
    });
}

#[test]
fn levels_of_noise() {
    check("merge", "cases", &["effective_noise_rho", "loss_shared", "loss_disjoint"], |case| {
        let rhos = numbers(&case["rhos"]);
        Ok(json!({
            "effective_noise_rho": merged_noise_rho(&rhos)?,
            "loss_shared": shared_loss(&rhos)?,
            "loss_disjoint": disjoint_loss(&rhos)?,
        }))
    });
    check("top_up", "cases", &["extra_sigma2"], |case| {
        let extra = top_up_variance(count(case, "k"), number(case, "rho_have"), number(case, "rho_want"))?;
        Ok(json!({"extra_sigma2": extra}))
    });
    check("hierarchy", "cases", &["sigma2"], |case| {
        let weights = numbers(&case["weights"]);
        Ok(json!({"sigma2": hierarchy_variances(count(case, "k"), number(case, "rho"), &weights)?}))
    });
}
