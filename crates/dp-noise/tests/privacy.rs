//! The inequalities behind each guarantee, output by output.
//!
//! Those of randomised response hold in integers, for the numbers that are drawn: `p <= e^ε q` and `1 − q <= e^ε (1 − p)` are checked as `p · E <= 2^128 q` with `E = ⌈2^128 e^-ε⌉` from the table of
//! high-precision decimals, so nothing here is rounded in the test's favour.

use dp_noise::diagnostics::{gaussian_probability, laplace_probability};
use dp_noise::{
    DyadicProbability, Epsilon, L1Sensitivity, RandomizedResponse, Rho, Scale, SquaredL2Sensitivity, Variance,
    exact_rows_delta, zcdp_delta,
};
use proptest::prelude::*;
use sketch_testkit::GoldenFile;

/// Whether `a · shrink <= 2^128 · b`, where `shrink < 2^128`.
fn holds(a: u64, shrink: u128, b: u64) -> bool {
    let [low, high] = [shrink & u128::from(u64::MAX), shrink >> 64].map(|half| half * u128::from(a));
    // a · shrink = high · 2^64 + low
    let (middle, carried) = high.overflowing_add(low >> 64);
    assert!(!carried);
    let rest = (middle & u128::from(u64::MAX)) != 0 || (low & u128::from(u64::MAX)) != 0;
    (middle >> 64) + u128::from(rest) <= u128::from(b)
}

#[test]
fn no_probability_ratio_exceeds_the_level() {
    let file = format!("{}/tests/golden/mechanism_table.json", env!("CARGO_MANIFEST_DIR"));
    for case in GoldenFile::read(file).unwrap().of_kind("mechanism_table") {
        let bits = u64::from_str_radix(case.input["eps_bits"].as_str().unwrap(), 16).unwrap();
        let epsilon = Epsilon::new(f64::from_bits(bits)).unwrap();
        let shrink = u128::from_str_radix(case.expect["shrink_upper"].as_str().unwrap(), 16).unwrap();
        for channel in [RandomizedResponse::symmetric(epsilon), RandomizedResponse::xor_family(epsilon)] {
            let (p, q) = (channel.p().numerator(), channel.q().numerator());
            assert!(q > 0 && q < p);
            // Output 1: P[1 | 1] = p against P[1 | 0] = q. Output 0: 1 − q against 1 − p, both numerators below 2^64.
            let [not_p, not_q] = [p, q].map(u64::wrapping_neg);
            assert!(holds(p, shrink, q), "{}: output 1", case.id);
            assert!(holds(not_q, shrink, not_p), "{}: output 0", case.id);
            // The other direction of neighbours is weaker, as q < p.
            assert!(q < p && not_p < not_q);
        }
    }
}

proptest! {
    #[test]
    fn more_privacy_means_more_noise(a in Epsilon::MIN..=Epsilon::MAX, b in Epsilon::MIN..=Epsilon::MAX) {
        let [low, high] = [a.min(b), a.max(b)].map(|value| Epsilon::new(value).unwrap());
        for make in [RandomizedResponse::symmetric, RandomizedResponse::xor_family] {
            prop_assert!(make(low).q() >= make(high).q());
            prop_assert!(make(low).epsilon_upper() <= make(high).epsilon_upper());
        }
    }

    #[test]
    fn a_channel_is_accepted_at_its_stated_level(value in Epsilon::MIN..=Epsilon::MAX) {
        let epsilon = Epsilon::new(value).unwrap();
        for channel in [RandomizedResponse::symmetric(epsilon), RandomizedResponse::xor_family(epsilon)] {
            let stated = channel.epsilon_upper();
            prop_assert!(stated <= epsilon);
            prop_assert_eq!(RandomizedResponse::from_parts(channel.p(), channel.q(), stated), Ok(channel));
        }
    }

    #[test]
    fn stated_levels_cover_any_channel(p in 2..u64::MAX, q in 1..u64::MAX) {
        let (p, q) = (p.max(q), p.min(q));
        prop_assume!(q < p);
        let [p, q] = [p, q].map(DyadicProbability::from_numerator);
        let channel = RandomizedResponse::from_parts(p, q, Epsilon::new(256.0).unwrap()).unwrap();
        let stated = channel.epsilon_upper();
        prop_assert!(RandomizedResponse::from_parts(p, q, stated).is_ok());
        let level = (p.to_f64() / q.to_f64()).ln().max(((1.0 - q.to_f64()) / (1.0 - p.to_f64())).ln());
        prop_assert!((stated.get() - level).abs() <= 1e-9 * (1.0 + level) || !level.is_finite());
    }
}

/// The likelihood ratio of Laplace noise, output by output, for data that differ by the sensitivity.
#[test]
fn laplace_noise_keeps_every_ratio_within_the_level() {
    for (level, move_by) in [(0.1, 1), (1.0, 1), (1.0, 5), (3.0, 2)] {
        let epsilon = Epsilon::new(level).unwrap();
        let scale = Scale::for_epsilon(L1Sensitivity::new(move_by).unwrap(), epsilon).unwrap();
        let move_by = i64::try_from(move_by).unwrap();
        for x in -200..200 {
            let ratio = laplace_probability(scale, x) / laplace_probability(scale, x - move_by);
            assert!(ratio <= level.exp() * (1.0 + 1e-12), "epsilon {level}, output {x}: {ratio}");
            assert!(ratio >= (-level).exp() * (1.0 - 1e-12));
        }
    }
}

/// Rényi divergences of discrete Gaussians one apart, summed over all outputs: at most `ρ α`.
#[test]
fn gaussian_noise_keeps_every_divergence_within_zcdp() {
    // Orders for which the outputs that matter have probabilities that an f64 can hold.
    for (level, orders) in [(0.05, [1.5, 2.0, 5.0, 20.0]), (0.5, [1.5, 2.0, 5.0, 20.0]), (2.0, [1.1, 1.5, 2.0, 5.0])] {
        let rho = Rho::new(level).unwrap();
        let variance = Variance::for_rho(SquaredL2Sensitivity::new(1).unwrap(), rho).unwrap();
        for order in orders {
            let sum: f64 = (-300..=300)
                .map(|x| {
                    let (p, q) = (gaussian_probability(variance, x), gaussian_probability(variance, x - 1));
                    if p.min(q) > 1e-290 { (order * p.ln() + (1.0 - order) * q.ln()).exp() } else { 0.0 }
                })
                .sum();
            let divergence = f64::ln(sum) / (order - 1.0);
            assert!(divergence <= level * order * (1.0 + 1e-9) + 1e-12, "rho {level}, order {order}: {divergence}");
        }
    }
}

/// `Σ max(0, P[x] − e^ε P[x − D])`: the definition of δ, against the conversion and the exact one.
#[test]
fn gaussian_noise_keeps_every_delta_within_the_statements() {
    for (level, eps) in [(0.05, 0.5), (0.5, 2.0), (2.0, 6.0)] {
        let rho = Rho::new(level).unwrap();
        let variance = Variance::for_rho(SquaredL2Sensitivity::new(1).unwrap(), rho).unwrap();
        let delta: f64 = (-300..=300)
            .map(|x| gaussian_probability(variance, x) - f64::exp(eps) * gaussian_probability(variance, x + 1))
            .map(|gain| gain.max(0.0))
            .sum();
        let exact = exact_rows_delta(1, variance, 1, Epsilon::new(eps).unwrap()).unwrap();
        assert!(delta <= exact * (1.0 + 1e-9) && exact <= delta * (1.0 + 1e-9), "{delta} and {exact}");
        assert!(exact <= zcdp_delta(rho, eps));
    }
}
