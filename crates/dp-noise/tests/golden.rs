//! Flip probabilities against the golden cases and against a table of high-precision decimals.
//!
//! `mechanism.json` holds the published cases; `mechanism_table.json` is written by `make_mechanism_table.py`.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, Epsilon, NoiseSampler, RandomizedResponse, Scale, Variance, diagnostics,
};
use sketch_testkit::{GoldenCase, GoldenFile, close};

fn read(name: &str) -> GoldenFile {
    GoldenFile::read(format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn text<'a>(case: &'a GoldenCase, field: &str) -> &'a str {
    case.expect[field].as_str().unwrap()
}

fn float(bits: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(bits, 16).unwrap())
}

/// The rule for numerators: never less noise than the level asks for, and hardly more.
fn assert_numerator(got: u64, least: u64, case: &GoldenCase) {
    let most = least + (least >> 40) + 2;
    assert!((least..=most).contains(&got), "{}: got {got}, want {least} ..= {most}", case.id);
}

#[test]
fn published_cases_hold() {
    let file = read("mechanism.json");
    let mut seen = 0;
    for case in file.of_kind("mechanism") {
        // ε = "inf" is the channel without noise, which cannot be made from an `Epsilon`.
        let Some(epsilon) = case.input["eps"].as_f64() else { continue };
        let epsilon = Epsilon::new(epsilon).unwrap();
        for (channel, want) in [
            (RandomizedResponse::symmetric(epsilon), &case.expect["symmetric"]),
            (RandomizedResponse::xor_family(epsilon), &case.expect["xor_family"]),
        ] {
            let least = want["min_q_numerator_over_2pow64"].as_str().unwrap().parse().unwrap();
            assert_numerator(channel.q().numerator(), least, case);
            assert!(close(channel.p().to_f64(), want["p"].as_f64().unwrap(), case.tolerance));
            assert!(close(channel.q().to_f64(), want["q"].as_f64().unwrap(), case.tolerance));
        }
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn numerators_are_the_least_that_keep_the_level() {
    for case in read("mechanism_table.json").of_kind("mechanism_table") {
        let epsilon = Epsilon::new(float(case.input["eps_bits"].as_str().unwrap())).unwrap();
        for (channel, field) in [
            (RandomizedResponse::symmetric(epsilon), "symmetric_min"),
            (RandomizedResponse::xor_family(epsilon), "xor_min"),
        ] {
            let least = text(case, field).parse().unwrap();
            assert_numerator(channel.q().numerator(), least, case);
            // More than the rule asks: the bounds are so close that the numerator is the least one itself.
            assert_eq!(channel.q().numerator(), least, "{} {field}", case.id);
        }
    }
}

#[test]
fn stated_levels_are_rounded_up_and_never_above_the_request() {
    for case in read("mechanism_table.json").of_kind("mechanism_table") {
        let epsilon = Epsilon::new(float(case.input["eps_bits"].as_str().unwrap())).unwrap();
        for (channel, field) in [
            (RandomizedResponse::symmetric(epsilon), "symmetric_level"),
            (RandomizedResponse::xor_family(epsilon), "xor_level"),
        ] {
            let realised = float(text(case, field));
            let stated = channel.epsilon_upper();
            assert!(stated <= epsilon, "{} {field}: {stated:?} is above {epsilon:?}", case.id);
            assert!(stated.get() >= realised, "{} {field}: {stated:?} is below {realised}", case.id);
            let near = realised * (1.0 + 4.0 * f64::EPSILON);
            assert!(stated.get() <= near.max(Epsilon::MIN), "{} {field}: {stated:?}, not {realised}", case.id);
        }
    }
}

#[test]
fn levels_beyond_64_bits_keep_a_numerator_of_one() {
    for epsilon in [44.37, 50.0, 100.0, 256.0] {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let (symmetric, xor) = (RandomizedResponse::symmetric(epsilon), RandomizedResponse::xor_family(epsilon));
        assert_eq!((symmetric.q().numerator(), symmetric.p().numerator()), (1, u64::MAX));
        assert_eq!((xor.q().numerator(), xor.p().numerator()), (1, 1 << 63));
        // ln(2^64 − 1) and ln(2^63)
        assert!((symmetric.epsilon_upper().get() - 44.361_419_555_836_5).abs() < 1e-13);
        assert!((xor.epsilon_upper().get() - 43.668_272_375_276_55).abs() < 1e-13);
    }
}

fn integer(case: &GoldenCase, field: &str) -> u64 {
    case.input[field].as_u64().unwrap()
}

/// The wanted `field` of every entry of a list, beside what is computed from its key.
fn assert_entries(case: &GoldenCase, list: &str, key: &str, field: &str, compute: impl Fn(i64) -> f64) {
    for entry in case.expect[list].as_array().into_iter().flatten() {
        let x = entry[key].as_i64().unwrap();
        let (got, want) = (compute(x), entry[field].as_f64().unwrap());
        assert!(close(got, want, case.tolerance), "{}: {list} at {x} is {got}, not {want}", case.id);
    }
}

#[test]
fn the_numbers_of_the_discrete_gaussian_are_golden() {
    for case in read("discrete_laws.json").of_kind("discrete_gaussian") {
        let variance = Variance::new(integer(case, "s2_num").into(), integer(case, "s2_den")).unwrap_or(Variance::MIN);
        let law = DiscreteGaussian::new(variance).unwrap();
        let want = |field: &str| case.expect[field].as_f64().unwrap();
        assert!(close(diagnostics::gaussian_norm(variance), want("norm"), case.tolerance), "{}", case.id);
        assert!(close(law.variance(), want("variance"), case.tolerance), "{}", case.id);
        let deficit = diagnostics::gaussian_variance_deficit(variance);
        assert!((deficit - want("one_minus_var_over_s2")).abs() <= 1e-12, "{}: {deficit}", case.id);
        assert_entries(case, "pmf", "x", "p", |x| diagnostics::gaussian_probability(variance, x));
        assert_entries(case, "tail", "m", "prob_ge", |m| diagnostics::gaussian_tail(variance, m).unwrap());
    }
}

#[test]
fn the_numbers_of_the_discrete_laplace_law_are_golden() {
    for case in read("discrete_laws.json").of_kind("discrete_laplace") {
        let scale = Scale::new(integer(case, "t_num").into(), integer(case, "t_den")).unwrap();
        let law = DiscreteLaplace::new(scale).unwrap();
        let want = |field: &str| case.expect[field].as_f64().unwrap();
        assert!(close(law.variance(), want("variance"), case.tolerance), "{}", case.id);
        assert!(close(diagnostics::laplace_mean_magnitude(scale), want("mean_abs"), case.tolerance), "{}", case.id);
        assert_entries(case, "pmf", "x", "p", |x| diagnostics::laplace_probability(scale, x));
    }
}

#[test]
fn the_digits_that_coins_are_compared_with_are_golden() {
    for case in read("bernoulli_exp.json").of_kind("bernoulli_exp") {
        let (numerator, denominator) = (integer(case, "num").into(), integer(case, "den").into());
        let [a, b, c] = diagnostics::exp_minus_digits(numerator, denominator).unwrap();
        assert_eq!(format!("{a:016x}{b:016x}{c:016x}"), text(case, "hex"), "{}", case.id);
    }
}
