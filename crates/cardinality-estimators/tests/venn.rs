//! The fit of all regions against golden cases, computed independently with other solvers, and against single sketches.
//!
//! `|got − want| ≤ atol + rtol·|want|` with the tolerances of each case, but `rtol = 1e-3` for the information, as the cases
//! say themselves.

#![expect(clippy::unwrap_used, reason = "a golden file of another shape must fail the test")]

use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, LevelCounts, PatternCounts, SetFormula, Status, diagnostics, venn,
};
use serde_json::Value;

const GOLDEN: &str = include_str!("golden/beyond_golden.json");

fn cases(kind: &str) -> Vec<Value> {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(golden["count"].as_u64(), Some(cases.len() as u64));
    cases.iter().filter(|case| case["kind"] == kind).cloned().collect()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn close(case: &Value, what: &str, got: f64, want: f64, rtol: f64, atol: f64) {
    assert!((got - want).abs() <= atol + rtol * want.abs(), "{} {what}: got {got}, want {want}", case["id"]);
}

fn patterns(input: &Value) -> PatternCounts {
    let count = |field: &str| input[field].as_u64().unwrap();
    let layout =
        CellLayout::pcsa(u32::try_from(count("buckets")).unwrap(), u8::try_from(count("levels")).unwrap()).unwrap();
    let channels: Vec<BitChannel> = numbers(&input["p"])
        .into_iter()
        .zip(numbers(&input["q"]))
        .map(|(p, q)| BitChannel::new(p, q).unwrap())
        .collect();
    let counts = input["pattern_counts"].as_array().unwrap().iter();
    let counts = counts.map(|row| row.as_array().unwrap().iter().map(|c| c.as_u64().unwrap()).collect()).collect();
    PatternCounts::new(&layout, &channels, counts).unwrap()
}

#[test]
fn joint_fits_are_the_golden_ones() {
    let cases = cases("joint_venn");
    assert_eq!(cases.len(), 25);
    for case in &cases {
        let patterns = patterns(&case["input"]);
        let fit = venn::fit(&patterns).unwrap();
        assert_eq!(fit.status(), Status::Ok);
        let (rtol, atol) = (case["rtol"].as_f64().unwrap(), case["atol"].as_f64().unwrap());
        let expect = &case["expect"];
        let regions = fit.regions().unwrap();
        let want = numbers(&expect["regions"]);
        assert_eq!(regions.len(), want.len());
        for (got, want) in regions.iter().zip(&want) {
            close(case, "region", *got, *want, rtol, atol);
        }
        close(case, "loglik", fit.log_likelihood().unwrap(), expect["loglik"].as_f64().unwrap(), rtol, atol);
        let fisher = expect["fisher"].as_array().unwrap();
        assert_eq!(fit.information().unwrap().len(), fisher.len() * fisher.len());
        for (got, row) in fit.information().unwrap().chunks_exact(fisher.len()).zip(fisher) {
            for (got, want) in got.iter().zip(numbers(row)) {
                close(case, "fisher", *got, want, 1e-3, 0.0);
            }
        }
        let sets = patterns.sketches();
        let all = (1 << sets) - 1;
        let formulas = [("union", usize::MAX), ("intersection", all)];
        for (name, only) in formulas {
            let formula = SetFormula::from_membership(sets, |mask| only == usize::MAX || mask == only).unwrap();
            let answer = fit.formula(&formula, Confidence::P95).unwrap();
            close(case, name, answer.value().unwrap(), expect[name]["estimate"].as_f64().unwrap(), rtol, atol);
            let std_error = answer.std_error().unwrap();
            close(case, name, std_error, expect[name]["se"].as_f64().unwrap(), rtol, atol);
            // As many items as a Poisson draw: the value comes on top of the variance.
            let poisson = (std_error * std_error + answer.value().unwrap()).sqrt();
            close(case, name, poisson, expect[name]["se_poisson"].as_f64().unwrap(), rtol, atol);
        }
    }
}

#[test]
fn formulas_have_the_golden_errors() {
    let cases = cases("venn_expr");
    assert_eq!(cases.len(), 25);
    for case in &cases {
        let (input, expect) = (&case["input"], &case["expect"]);
        let sets = input["names"].as_array().unwrap().len();
        let covariance: Vec<f64> = input["covariance"].as_array().unwrap().iter().flat_map(numbers).collect();
        let mut weights = vec![0];
        weights.extend(expect["weights"].as_array().unwrap().iter().map(|w| w.as_i64().unwrap()));
        let formula = SetFormula::from_regions(sets, &weights).unwrap();
        let (value, std_error) =
            diagnostics::formula_of_regions(&formula, &numbers(&input["regions"]), &covariance).unwrap();
        let rtol = case["rtol"].as_f64().unwrap();
        close(case, "estimate", value, expect["estimate"].as_f64().unwrap(), rtol, 0.0);
        close(case, "se", std_error, expect["se"].as_f64().unwrap(), rtol, 0.0);
    }
}

/// With one sketch the only region is the set, and the likelihood that of one sketch.
#[test]
fn one_sketch_is_estimated_like_any_other() {
    for (channel, ones) in [
        (BitChannel::symmetric(0.2).unwrap(), [80_u64, 70, 60, 55, 48, 44, 40, 41]),
        (BitChannel::NOISELESS, [90, 70, 40, 22, 11, 5, 3, 2]),
    ] {
        let layout = CellLayout::pcsa(100, 8).unwrap();
        let counts = ones.iter().map(|&ones| vec![100 - ones, ones]).collect();
        let fit = venn::fit(&PatternCounts::new(&layout, &[channel], counts).unwrap()).unwrap();
        let single = LevelCounts::pcsa(100, &ones, channel).unwrap();
        let want = diagnostics::mle_on_grid(&single).n_hat;
        assert!((fit.regions().unwrap()[0] - want).abs() < 1e-6 * want);
        assert!((fit.information().unwrap()[0] / diagnostics::information(&layout, channel, want) - 1.0).abs() < 1e-9);
    }
}

/// `w'x/1'x` and the first-order error `√(g'Vg)` with `g = (w − share)/union`, from the fit's own regions and covariance.
#[test]
fn similarity_is_a_ratio_of_regions_with_its_first_order_error() {
    for case in &cases("joint_venn") {
        let fit = venn::fit(&patterns(&case["input"])).unwrap();
        let (regions, covariance) = (fit.regions().unwrap(), fit.covariance().unwrap());
        let union: f64 = regions.iter().sum();
        let share = regions[regions.len() - 1] / union;
        let gradient: Vec<f64> =
            (1..=regions.len()).map(|mask| (f64::from(u8::from(mask == regions.len())) - share) / union).collect();
        let rows = covariance.chunks_exact(regions.len()).zip(&gradient);
        let variance: f64 = rows.map(|(row, x)| x * row.iter().zip(&gradient).map(|(v, y)| v * y).sum::<f64>()).sum();
        let answer = fit.jaccard(Confidence::P95);
        close(case, "jaccard", answer.value().unwrap(), share, 1e-12, 0.0);
        close(case, "jaccard error", answer.std_error().unwrap(), variance.sqrt(), 1e-9, 0.0);
        assert!(answer.lower().unwrap() >= 0.0 && answer.upper().unwrap() <= 1.0);
    }
}

/// One full sketch takes the sizes of all regions with it.
#[test]
fn a_full_sketch_saturates_the_fit() {
    let layout = CellLayout::pcsa(256, 6).unwrap();
    let channel = BitChannel::symmetric(0.1).unwrap();
    // The first sketch reads one in more than nine cells of ten everywhere; the second has a few hundred items.
    let level = |ones: u64| vec![24 - ones / 10, 232 - (ones - ones / 10), ones / 10, ones - ones / 10];
    let counts = [110_u64, 80, 60, 45, 35, 35].into_iter().map(level).collect();
    let fit = venn::fit(&PatternCounts::new(&layout, &[channel; 2], counts).unwrap()).unwrap();
    assert_eq!(fit.status(), Status::Saturated);
}
