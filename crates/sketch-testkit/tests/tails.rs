//! Tails against exact and high-precision values.
//!
//! The decimals come from Python's `math.erfc` (normal) and from sums of 60-digit decimals (binomial).

use sketch_testkit::{
    Tolerance, assert_binomial, assert_frequencies, assert_mean, assert_variance, binomial_at_least, binomial_at_most,
    binomial_two_sided, chi_square_above, chi_square_below, chi_square_bounds, close, normal_tail, two_sided_z,
};

fn relative(relative: f64) -> Tolerance {
    Tolerance { absolute: 0.0, relative }
}

#[test]
fn normal_tails_match_the_error_function() {
    let table = [
        (0.5, 0.308_537_538_725_986_9),
        (1.0, 0.158_655_253_931_457_07),
        (1.999, 0.022_804_176_932_658_883),
        (2.0, 0.022_750_131_948_179_22),
        (3.0, 0.001_349_898_031_630_095_7),
        (5.0, 2.866_515_718_791_946e-7),
        (8.0, 6.220_960_574_271_819e-16),
        (20.0, 2.753_624_118_606_331_4e-89),
    ];
    for (x, tail) in table {
        assert!(close(normal_tail(x), tail, relative(2e-13)), "{x}: {}", normal_tail(x));
        assert!(close(normal_tail(-x), 1.0 - tail, relative(1e-15)), "{x}");
    }
}

#[test]
fn the_quantile_inverts_the_tail() {
    for false_alarm in [0.5, 0.05, 1e-3, 1e-6, 1e-12] {
        assert!(close(2.0 * normal_tail(two_sided_z(false_alarm)), false_alarm, relative(1e-12)), "{false_alarm}");
    }
}

#[test]
fn binomial_tails_match_sums_of_exact_probabilities() {
    // p = a / 8, so that all probabilities are integers over 8^n, up to 8^20 < 2^64.
    for n in 1..=20_u32 {
        for a in 0..=8_u64 {
            let p = f64::from(u32::try_from(a).unwrap_or(0)) / 8.0;
            let outcome = |k: u32| choose(n, k) * u128::from(a).pow(k) * u128::from(8 - a).pow(n - k);
            for k in 0..=n {
                let exact = as_f64((k..=n).map(outcome).sum()) / 8_f64.powi(i32::try_from(n).unwrap_or(0));
                let below = as_f64((0..=k).map(outcome).sum()) / 8_f64.powi(i32::try_from(n).unwrap_or(0));
                let tolerance = Tolerance { absolute: 1e-15, relative: 1e-11 };
                assert!(close(binomial_at_least(k.into(), n.into(), p), exact, tolerance), "{k} of {n}, {a}/8");
                assert!(close(binomial_at_most(k.into(), n.into(), p), below, tolerance), "{k} of {n}, {a}/8");
            }
        }
    }
}

fn choose(n: u32, k: u32) -> u128 {
    (0..k).fold(1, |product, j| product * u128::from(n - j) / u128::from(j + 1))
}

#[expect(clippy::cast_precision_loss, reason = "rounded on purpose, to compare with doubles")]
fn as_f64(count: u128) -> f64 {
    count as f64
}

#[test]
fn far_binomial_tails_keep_their_relative_accuracy() {
    let table = [
        (5_250, 10_000, 0.5, 3.003_456_672_517_703e-7),
        (290, 100_000, 0.002, 1.379_274_644_709_408e-9),
        (27_500, 100_000, 0.265_625, 1.157_185_196_103_807e-11),
        (3, 1_000_000, 1.0 / 1_048_576.0, 7.198_056_087_526_272e-2),
        (30, 1_000_000, 1.0 / 1_048_576.0, 3.610_327_882_738_749e-34),
    ];
    for (k, n, p, tail) in table {
        let found = binomial_at_least(k, n, p);
        assert!(close(found, tail, relative(1e-9)), "{k} of {n}: {found}");
        assert!(close(binomial_at_most(n - k, n, 1.0 - p), tail, relative(1e-9)), "{k} of {n}");
    }
}

#[test]
fn chi_square_tails_add_up_to_one_and_match_the_normal_law() {
    for x in [0.0, 1e-3, 0.7, 3.0, 30.0, 80.0] {
        for freedom in 1..60 {
            let sum = chi_square_above(x, freedom) + chi_square_below(x, freedom);
            assert!(close(sum, 1.0, relative(1e-12)), "{x} {freedom}: {sum}");
            // Two more squares can only add.
            assert!(chi_square_above(x, freedom) <= chi_square_above(x, freedom + 2));
        }
        // One degree of freedom is the square of a normal variable.
        assert!(close(chi_square_above(x, 1), 2.0 * normal_tail(x.sqrt()), relative(1e-12)), "{x}");
    }
}

#[test]
fn chi_square_bounds_leave_out_the_stated_probability() {
    for freedom in [1, 2, 3, 9, 100, 101, 12_345, 1_000_000] {
        for false_alarm in [0.1, 2e-6] {
            let (low, high) = chi_square_bounds(freedom, false_alarm);
            assert!(close(chi_square_below(low, freedom), 0.5 * false_alarm, relative(1e-8)), "{freedom} {low}");
            assert!(close(chi_square_above(high, freedom), 0.5 * false_alarm, relative(1e-8)), "{freedom} {high}");
        }
    }
}

#[test]
fn certain_outcomes_are_never_refused() {
    assert!(close(binomial_two_sided(0, 50, 0.0), 1.0, Tolerance::EXACT));
    assert!(close(binomial_two_sided(50, 50, 1.0), 1.0, Tolerance::EXACT));
    assert!(close(binomial_two_sided(1, 50, 0.0), 0.0, Tolerance::EXACT));
    assert_binomial(25, 50, 0.5);
}

#[test]
fn fitting_samples_pass() {
    // The 1000 midpoints of equal slices of a uniform law: mean 1/2, variance 1/12.
    let samples: Vec<f64> = (0..1000).map(|k| (f64::from(k) + 0.5) / 1000.0).collect();
    assert_mean(&samples, 0.5, (1.0_f64 / 12.0).sqrt());
    assert_variance(&samples, 1.0 / 12.0);
    assert_frequencies(&[250, 500, 250], &[0.25, 0.5, 0.25]);
}

#[test]
#[should_panic(expected = "mean of 1000")]
fn a_shifted_mean_fails() {
    // 5 standard errors of 1/sqrt(1000).
    assert_mean(&[0.158_2; 1000], 0.0, 1.0);
}

#[test]
#[should_panic(expected = "variance of 1000")]
fn a_doubled_variance_fails() {
    let samples: Vec<f64> = (0..1000).map(|k| if k % 2 == 0 { -1.0 } else { 1.0 }).collect();
    assert_variance(&samples, 0.5);
}

#[test]
#[should_panic(expected = "do not fit")]
fn wrong_frequencies_fail() {
    assert_frequencies(&[200, 600, 200], &[0.25, 0.5, 0.25]);
}

#[test]
#[should_panic(expected = "mean of 2")]
fn a_mean_that_is_not_a_number_fails() {
    assert_mean(&[f64::NAN, 0.0], 0.0, 1.0);
}
