//! Calibration against the golden cases, and properties that hold for all parameters.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

use dp_noise::diagnostics::{zcdp_epsilon, zcdp_epsilon_simple, zcdp_optimal_order};
use dp_noise::{
    CalibrationError, Delta, Epsilon, L1Sensitivity, Rho, Scale, SquaredL2Sensitivity, Variance,
    analytic_gaussian_sigma, calibrate_exact_rows, classical_gaussian_sigma, distributed_gaussian_rho, dp_to_zcdp,
    exact_rows_delta, gaussian_delta, group_epsilon, group_rho, integer_query_delta, merged_noise_rho, pure_to_zcdp,
    split_rho, top_up_rho, top_up_variance, zcdp_delta, zcdp_to_dp, zcdp_to_dp_simple,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use sketch_testkit::{GoldenCase, GoldenFile};

fn golden(kind: &'static str) -> Vec<GoldenCase> {
    let name = if kind.starts_with("discrete") { "discrete_laws" } else { "calibration" };
    let file = GoldenFile::read(format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let cases: Vec<GoldenCase> = file.of_kind(kind).cloned().collect();
    assert!(!cases.is_empty(), "{kind}");
    cases
}

fn number(case: &GoldenCase, field: &str) -> f64 {
    case.input[field].as_f64().unwrap()
}

fn count(case: &GoldenCase, field: &str) -> u128 {
    case.input[field].as_u64().unwrap().into()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

fn rho(value: f64) -> Rho {
    Rho::new(value).unwrap()
}

fn l1(value: u128) -> L1Sensitivity {
    L1Sensitivity::new(value).unwrap()
}

fn l2(square: u128) -> SquaredL2Sensitivity {
    SquaredL2Sensitivity::new(square).unwrap()
}

/// A variance written as a decimal of few places.
fn variance(value: f64) -> Variance {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "multiples of 1/1024 in the files")]
    let numerator = (value * 1024.0) as u128;
    let made = Variance::new(numerator, 1024).unwrap();
    assert!((made.to_f64() - value).abs() < 1e-15 * value);
    made
}

#[test]
fn laplace_scales_are_golden() {
    for case in golden("laplace_scale") {
        let sensitivity = l1(count(&case, "k") * count(&case, "l1"));
        let scale = Scale::for_epsilon(sensitivity, epsilon(number(&case, "eps"))).unwrap();
        case.assert(&json!({"scale": scale.to_f64()}));
        assert!(scale.epsilon_cost(sensitivity).unwrap().get() <= number(&case, "eps"));
    }
}

#[test]
fn variances_for_zcdp_are_golden() {
    for case in golden("sigma_zcdp") {
        let square = l2(count(&case, "k") * count(&case, "l1").pow(2));
        let variance = Variance::for_rho(square, rho(number(&case, "rho"))).unwrap();
        let root = Variance::new(square.get(), 1).unwrap().to_f64().sqrt();
        let s2 = variance.to_f64();
        case.assert(&json!({"l2_sensitivity": root, "sigma2": s2, "sigma": s2.sqrt()}));
        assert!(variance.rho_cost(square).unwrap().get() <= number(&case, "rho"));
    }
}

#[test]
fn the_analytic_gaussian_is_golden() {
    for case in golden("analytic_gaussian") {
        let (eps, d) = (number(&case, "eps"), number(&case, "sensitivity"));
        let target = delta(number(&case, "delta"));
        let sigma = analytic_gaussian_sigma(eps, target, d).unwrap();
        let want = case.expect["sigma"].as_f64().unwrap();
        let got = json!({
            "sigma": sigma,
            "sigma_hp": case.expect["sigma_hp"],
            "classical_sigma": classical_gaussian_sigma(eps, target, d).ok(),
            "delta_at_sigma": gaussian_delta(eps, d, want).unwrap(),
        });
        case.assert(&got);
        // The forty digits say on which side: never less noise than that.
        let exact: f64 = case.expect["sigma_hp"].as_str().unwrap().parse().unwrap();
        assert!(sigma >= exact && sigma <= exact * (1.0 + 1e-11), "{}: {sigma}, least {exact}", case.id);
    }
}

#[test]
fn deltas_of_the_continuous_gaussian_are_golden() {
    for case in golden("gaussian_delta") {
        let value = gaussian_delta(number(&case, "eps"), number(&case, "sensitivity"), number(&case, "sigma")).unwrap();
        case.assert(&json!({"delta": value}));
        assert!(value >= case.expect["delta"].as_f64().unwrap());
    }
}

#[test]
fn conversions_of_zcdp_are_golden() {
    for case in golden("zcdp_to_dp") {
        // One case has a δ above the largest that a guarantee may state.
        let (level, target) = (rho(number(&case, "rho")), number(&case, "delta"));
        let (tight, simple) = (zcdp_epsilon(level, target).unwrap(), zcdp_epsilon_simple(level, target).unwrap());
        if let Ok(target) = Delta::new(target) {
            assert_eq!((zcdp_to_dp(level, target), zcdp_to_dp_simple(level, target)), (tight, simple));
        }
        let got = json!({
            "eps_tight": tight,
            "eps_simple": simple,
            "alpha_opt": zcdp_optimal_order(level, case.expect["eps_tight"].as_f64().unwrap()),
        });
        case.assert(&got);
        assert!(tight >= case.expect["eps_tight"].as_f64().unwrap());
    }
    for case in golden("dp_to_zcdp") {
        let level = dp_to_zcdp(epsilon(number(&case, "eps")), delta(number(&case, "delta"))).unwrap();
        case.assert(&json!({"rho": level.get()}));
        assert!(level.get() <= case.expect["rho"].as_f64().unwrap());
    }
    for case in golden("zcdp_delta") {
        let (level, eps) = (rho(number(&case, "rho")), number(&case, "eps"));
        case.assert(&json!({"delta": zcdp_delta(level, eps), "alpha_opt": zcdp_optimal_order(level, eps)}));
        assert!(zcdp_delta(level, eps) >= case.expect["delta"].as_f64().unwrap());
    }
}

#[test]
fn deltas_of_one_integer_query_are_golden() {
    for case in golden("discrete_gaussian_delta_1d") {
        let step = u64::try_from(count(&case, "sensitivity")).unwrap();
        let value = integer_query_delta(variance(number(&case, "s2")), step, epsilon(number(&case, "eps"))).unwrap();
        case.assert(&json!({"delta": value}));
        assert!(value >= case.expect["delta"].as_f64().unwrap());
    }
}

#[test]
fn deltas_of_rows_are_golden() {
    for case in golden("exact_delta_rows") {
        let (k, s2, eps) = (count(&case, "k"), variance(number(&case, "sigma2")), number(&case, "eps"));
        let value = exact_rows_delta(u32::try_from(k).unwrap(), s2, 1, epsilon(eps)).unwrap();
        let cost = s2.rho_cost(l2(k)).unwrap();
        let root = Variance::new(k, 1).unwrap().to_f64().sqrt();
        case.assert(&json!({
            "rho": cost.get(),
            "delta_exact": value,
            "delta_zcdp": zcdp_delta(cost, eps),
            "delta_continuous": gaussian_delta(eps, root, s2.to_f64().sqrt()).unwrap(),
        }));
    }
}

#[test]
fn distributed_noise_is_golden() {
    for case in golden("distributed_dgauss") {
        let (m, share) = (u32::try_from(count(&case, "m")).unwrap(), variance(number(&case, "s2_share")));
        let square = number(&case, "l2_sensitivity").powi(2).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small integer")]
        let (first, second) = (l1(count(&case, "l1_sensitivity")), l2(square as u128));
        let cells = u64::try_from(count(&case, "d")).unwrap();
        let bound = distributed_gaussian_rho(m, share, cells, first, second).unwrap();
        let total = (1..m).try_fold(share, |sum, _| sum.checked_add(share)).unwrap();
        case.assert(&json!({
            "tau": bound.tau(),
            "rho": bound.rho(),
            "rho_if_single_gaussian": total.rho_cost(second).unwrap().get(),
        }));
        assert!(bound.rho() >= case.expect["rho"].as_f64().unwrap());
        assert_eq!(bound.cost().is_ok(), bound.rho() <= Rho::MAX);
    }
}

#[test]
fn merges_top_ups_and_hierarchies_are_golden() {
    for case in golden("merge") {
        let rhos: Vec<Rho> = case.input["rhos"].as_array().unwrap().iter().map(|r| rho(r.as_f64().unwrap())).collect();
        let shared = rhos[1..].iter().try_fold(rhos[0], |sum, &next| sum.plus(next)).unwrap();
        let largest = rhos.iter().map(|r| r.get()).fold(0.0, f64::max);
        let noise = merged_noise_rho(&rhos);
        case.assert(&json!({"effective_noise_rho": noise, "loss_shared": shared.get(), "loss_disjoint": largest}));
    }
    for case in golden("top_up") {
        let [have, want] = ["rho_have", "rho_want"]
            .map(|field| Variance::for_rho(l2(count(&case, "k")), rho(number(&case, field))).unwrap());
        // Both cases have parts of at least 2, or are refused and compared by subtraction.
        let extra = top_up_variance(have, want).or_else(|_| want.checked_sub(have)).unwrap();
        case.assert(&json!({"extra_sigma2": extra.to_f64()}));
    }
    for case in golden("hierarchy") {
        let weights: Vec<u32> = case.input["weights"].as_array().unwrap().iter().map(to_u32).collect();
        let shares = split_rho(rho(number(&case, "rho")), &weights).unwrap();
        let sketch = l2(count(&case, "k"));
        let variances: Vec<f64> = shares.iter().map(|&r| Variance::for_rho(sketch, r).unwrap().to_f64()).collect();
        case.assert(&json!({"sigma2": variances}));
    }
}

fn to_u32(value: &Value) -> u32 {
    value.as_u64().unwrap().try_into().unwrap()
}

#[test]
fn a_small_top_up_is_refused_and_a_large_one_costs_what_the_bound_says() {
    let [ten, little, sum] = [(10, 1), (1, 20), (201, 20)].map(|(n, d)| Variance::new(n, d).unwrap());
    assert!(top_up_variance(ten, sum).is_err());
    assert!(top_up_rho(ten, little, 100, l1(1), l2(1)).is_err());
    let bound = top_up_rho(ten, ten, 100, l1(1), l2(1)).unwrap();
    // τ = 10 e^(−2π²·5), next to nothing: the cost is that of one Gaussian of variance 20.
    assert!((bound.tau() / (10.0 * (-98.696_044_010_893_6_f64).exp()) - 1.0).abs() < 1e-9);
    assert!((bound.rho() / 0.025 - 1.0).abs() < 1e-9 && bound.rho() >= 0.025);
    assert!(top_up_variance(ten, ten).is_err() && top_up_variance(sum, ten).is_err());
}

/// Terms that are bounded together are never less than they are, and a few percent more at most.
#[test]
fn bounds_for_many_shares_are_sums_of_all_terms() {
    let pi = std::f64::consts::PI;
    for (shares, s2) in [(1_u32, 2_u32), (2, 2), (1025, 2), (1026, 1), (5000, 2), (1 << 20, 1), (1 << 20, 3)] {
        let term = |j: u32| 10.0 * (-2.0 * pi * pi * f64::from(s2) * f64::from(j) / f64::from(j + 1)).exp();
        let all: f64 = (1..shares).map(term).sum();
        let share = Variance::new(u128::from(s2), 1).unwrap();
        let found = distributed_gaussian_rho(shares, share, 1000, l1(1), l2(1)).unwrap().tau();
        assert!(found >= all * (1.0 - 1e-12) && found <= all * 1.03, "{shares} {s2}: {found} {all}");
    }
}

#[test]
fn many_shares_take_no_time_and_keep_an_upper_bound() {
    let share = Variance::new(2, 1).unwrap();
    let bound = distributed_gaussian_rho(u32::MAX, share, 1000, l1(1), l2(1)).unwrap();
    // τ is about 10 (e^(−2π²) + m e^(−4π²)).
    let about = 10.0 * ((-19.739_208_802_178_7_f64).exp() + 4_294_967_295.0 * (-39.478_417_604_357_4_f64).exp());
    assert!(bound.tau() >= about && bound.tau() <= about * 1.01, "{} and {about}", bound.tau());
    assert!(distributed_gaussian_rho(0, share, 1, l1(1), l2(1)).is_err());
    assert!(distributed_gaussian_rho(1, share, 0, l1(1), l2(1)).is_err());
    assert!(distributed_gaussian_rho(1, Variance::new(1, 5).unwrap(), 1, l1(1), l2(1)).is_err());
}

/// All sums of `rows` draws, enumerated: the probabilities by direct multiplication and the definition of δ.
fn delta_by_enumeration(rows: u32, s2: f64, step: f64, eps: f64) -> f64 {
    let reach = 9;
    let weight = |x: i32| (-f64::from(x * x) / (2.0 * s2)).exp();
    let norm: f64 = (-60..=60).map(weight).sum();
    let values: Vec<i32> = (-reach..=reach).collect();
    let mut total = 0.0;
    for index in 0..values.len().pow(rows) {
        let mut rest = index;
        let draw: Vec<i32> = (0..rows)
            .map(|_| {
                let x = values[rest % values.len()];
                rest /= values.len();
                x
            })
            .collect();
        // Outputs y = x against y = x + step in every row: p(x) and p(x − step), row by row.
        let loss: f64 = draw
            .iter()
            .map(|&x| {
                let x = f64::from(x);
                ((x - step).powi(2) - x * x) / (2.0 * s2)
            })
            .sum();
        let p: f64 = draw.iter().map(|&x| weight(x) / norm).product();
        total += p * (1.0 - (eps - loss).exp()).max(0.0);
    }
    total
}

#[test]
fn deltas_of_rows_are_those_of_enumeration() {
    for (rows, (numerator, denominator), step, eps) in [
        (1, (1_u32, 1_u32), 1, 1.0),
        (2, (1, 2), 1, 2.0),
        (3, (3, 4), 1, 3.0),
        (3, (1, 1), 2, 6.0),
        (4, (1, 2), 1, 4.0),
    ] {
        let s2 = f64::from(numerator) / f64::from(denominator);
        let parameter = Variance::new(numerator.into(), denominator.into()).unwrap();
        let value = exact_rows_delta(rows, parameter, step, epsilon(eps)).unwrap();
        #[expect(clippy::cast_precision_loss, reason = "1 or 2")]
        let want = delta_by_enumeration(rows, s2, step as f64, eps);
        assert!(value >= want * (1.0 - 1e-12) && value <= want * (1.0 + 1e-9), "{rows} rows: {value}, {want}");
    }
}

#[test]
fn refusals_of_row_calibration_are_typed() {
    let (one, eps) = (Variance::new(1, 1).unwrap(), epsilon(1.0));
    assert!(exact_rows_delta(0, one, 1, eps).is_err());
    assert!(exact_rows_delta(1, one, 0, eps).is_err());
    assert!(exact_rows_delta(1, Variance::new(1 << 41, 1).unwrap(), 1, eps).is_err());
    for (rows, step) in [(0, 1), (1, 0), (u32::MAX, u64::MAX), (3, 1 << 40)] {
        assert!(calibrate_exact_rows(rows, step, eps, delta(1e-6)).is_err(), "{rows} {step}");
    }
}

/// Standard deviations of all rows together through zCDP, `k S/√(2ρ)` with ρ = 0.0244 at ε = 1 and δ = 10⁻⁶: 4.53 k S.
#[test]
fn a_search_that_would_take_long_is_refused_at_once() {
    let (eps, target) = (epsilon(1.0), delta(1e-6));
    for (rows, step) in [(1, 3_700_u32), (15, 245), (255, 15), (1, 100_000), (31, 1 << 20)] {
        let refused = calibrate_exact_rows(rows, step.into(), eps, target);
        let wide = 4.53 * f64::from(rows) * f64::from(step);
        assert!(
            matches!(refused, Err(CalibrationError::TooWide { std_dev, max })
                if (max - 16_384.0).abs() < 1e-9 && (std_dev / wide - 1.0).abs() < 1e-2),
            "{rows} {step}: {refused:?}"
        );
    }
    for (rows, step) in [(1, 3_500), (15, 235), (255, 14)] {
        assert!(calibrate_exact_rows(rows, step, eps, target).is_ok(), "{rows} {step}");
    }
}

#[test]
fn calibrated_rows_meet_delta_with_less_noise_than_zcdp() {
    for (rows, step, eps, target) in [
        (1, 1, 1.0, 1e-6),
        (15, 1, 1.0, 1e-6),
        (5, 1, 8.0, 1e-9),
        (31, 4, 0.5, 1e-10),
        (255, 1, 3.0, 1e-30),
        (1, 1, 0.01, 0.1),
    ] {
        let (eps, target) = (epsilon(eps), delta(target));
        let variance = calibrate_exact_rows(rows, step, eps, target).unwrap();
        assert!(exact_rows_delta(rows, variance, step, eps).unwrap() <= target.get());
        let square = l2(u128::from(rows) * u128::from(step).pow(2));
        let by_zcdp = Variance::for_rho(square, dp_to_zcdp(eps, target).unwrap()).unwrap();
        assert!(variance.is_below(by_zcdp), "{rows}: {} and {}", variance.to_f64(), by_zcdp.to_f64());
        // A tenth less noise would not be enough.
        let less = Variance::new(variance.numerator() * 9, variance.denominator().checked_mul(10).unwrap()).unwrap();
        assert!(exact_rows_delta(rows, less, step, eps).unwrap() > target.get());
    }
}

/// `σ` of a widely copied routine stops when δ is within 1e-12 absolutely: wrong for small δ.
#[test]
fn small_deltas_are_met_relatively() {
    for target in [1e-12, 1e-15, 1e-30, 1e-60, Delta::MIN] {
        for eps in [0.01, 1.0, 20.0] {
            let sigma = analytic_gaussian_sigma(eps, delta(target), 1.0).unwrap();
            assert!(gaussian_delta(eps, 1.0, sigma).unwrap() <= target);
            assert!(gaussian_delta(eps, 1.0, sigma * 0.999_999).unwrap() > target, "eps {eps}, delta {target:e}");
        }
    }
}

#[test]
fn bad_numbers_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, -0.0, 1e-320] {
        assert!(gaussian_delta(1.0, bad, 1.0).is_err() && gaussian_delta(1.0, 1.0, bad).is_err(), "{bad}");
        assert!(analytic_gaussian_sigma(1.0, delta(0.1), bad).is_err());
        assert!(classical_gaussian_sigma(1.0, delta(0.1), bad).is_err());
    }
    for bad in [f64::NAN, f64::INFINITY, -1.0, -1e-300, 257.0] {
        assert!(gaussian_delta(bad, 1.0, 1.0).is_err() && analytic_gaussian_sigma(bad, delta(0.1), 1.0).is_err());
    }
    for bad in [1.0_f64.next_up(), 2.0, 0.0, f64::NAN] {
        assert!(classical_gaussian_sigma(bad, delta(0.1), 1.0).is_err(), "{bad}");
    }
    // Not a number is no reason for a small delta.
    assert!(zcdp_delta(rho(1.0), f64::NAN) >= zcdp_delta(rho(1.0), 0.0));
    assert!(group_rho(rho(1.0), 0).is_err() && group_epsilon(epsilon(1.0), 0).is_err());
    assert!(group_rho(rho(1.0), 1000).is_err() && group_epsilon(epsilon(1.0), 257).is_err());
    assert!(split_rho(rho(1.0), &[1, 0]).is_err() && split_rho(rho(1.0), &[]).unwrap().is_empty());
    assert_eq!(merged_noise_rho(&[]), None);
}

proptest! {
    #[test]
    fn conversions_are_safe_and_tight(log_eps in -20.0..5.5_f64, log_delta in -207.0..-0.7_f64) {
        let (eps, target) = (epsilon(log_eps.exp()), delta(log_delta.exp()));
        let Ok(level) = dp_to_zcdp(eps, target) else { return Ok(()) };
        prop_assert!(zcdp_delta(level, eps.get()) <= target.get());
        prop_assert!(zcdp_to_dp(level, target) <= eps.get() * (1.0 + 1e-6) + 1e-12);
        if level.get() * (1.0 + 1e-6) < Rho::MAX {
            let more = rho(level.get() * (1.0 + 1e-6));
            prop_assert!(zcdp_delta(more, eps.get()) > target.get() * (1.0 - 1e-9));
        }
    }

    #[test]
    fn stated_levels_hold(log_rho in -27.0..11.0_f64, log_delta in -207.0..-0.7_f64) {
        let (level, target) = (rho(log_rho.exp()), delta(log_delta.exp()));
        let eps = zcdp_to_dp(level, target);
        prop_assert!(eps >= 0.0 && zcdp_delta(level, eps) <= target.get());
        prop_assert!(eps <= zcdp_to_dp_simple(level, target));
        // Not much more than needed.
        prop_assert!(eps == 0.0 || zcdp_delta(level, eps * (1.0 - 1e-6)) > target.get() * (1.0 - 1e-9));
    }

    #[test]
    fn the_continuous_gaussian_is_below_zcdp(log_signal in -6.0..2.0_f64, eps in 0.0..20.0_f64) {
        // A Gaussian of signal D/σ is (D/σ)²/2-zCDP, so its δ is at most that of the conversion.
        let signal = log_signal.exp();
        let by_zcdp = zcdp_delta(rho((signal * signal / 2.0).max(Rho::MIN)), eps);
        let exact = gaussian_delta(eps, signal, 1.0).unwrap();
        prop_assert!(exact <= by_zcdp * (1.0 + 1e-9), "{exact} and {by_zcdp}");
        // More noise, less delta.
        prop_assert!(gaussian_delta(eps, signal, 1.01).unwrap() <= exact);
    }

    #[test]
    fn pure_costs_are_rounded_up(value in Epsilon::MIN..=Epsilon::MAX) {
        let cost = pure_to_zcdp(epsilon(value)).unwrap().get();
        // 2·cost >= value²; both sides compared exactly by their errors.
        prop_assert!(value.mul_add(value, -2.0 * cost) <= 0.0);
        prop_assert!(cost == Rho::MIN || value.mul_add(value, -2.0 * cost.next_down()) > 0.0);
    }

    #[test]
    fn groups_pay_at_least_the_square(level in 1e-6..1.0_f64, size in 1_u32..200) {
        let square = f64::from(size * size);
        let cost = group_rho(rho(level), size).unwrap().get();
        prop_assert!(level.mul_add(square, -cost) <= 0.0 && cost <= level * square * (1.0 + 1e-15));
        let pure = group_epsilon(epsilon(level), size).unwrap().get();
        prop_assert!(level.mul_add(f64::from(size), -pure) <= 0.0 && pure <= level * f64::from(size) * (1.0 + 1e-15));
    }

    #[test]
    fn shares_never_exceed_the_whole(level in 1e-3..100.0_f64, weights in prop::collection::vec(1_u32..1000, 1..20)) {
        let shares = split_rho(rho(level), &weights).unwrap();
        let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        for (share, &weight) in shares.iter().zip(&weights) {
            // share · total <= level · weight, exactly: both products are fused against each other's rounding.
            #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
            let (total, weight) = (total as f64, f64::from(weight));
            let product = level * weight;
            let lost = level.mul_add(weight, -product);
            prop_assert!(share.get().mul_add(total, -product) <= lost);
            prop_assert!(share.get() >= level * weight / total * (1.0 - 1e-15));
        }
    }
}
