//! Parameters that must not be accepted, and rounding that must not go the wrong way.

use dp_noise::{Delta, Epsilon, ParameterError, Rho};
use proptest::prelude::*;

/// Values no privacy parameter may have.
const NEVER: [f64; 12] = [
    0.0,
    -0.0,
    -1.0,
    -1e-9,
    f64::NAN,
    -f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e-320,
    f64::MIN_POSITIVE,
    1e300,
    f64::MAX,
];

#[test]
fn values_outside_the_range_are_refused_by_name() {
    for value in NEVER {
        for error in [Epsilon::new(value).unwrap_err(), Delta::new(value).unwrap_err(), Rho::new(value).unwrap_err()] {
            assert_eq!(error.value().to_bits(), value.to_bits());
            let text = error.to_string();
            assert!(text.starts_with(error.name()) && text.contains(&format!("{value:?}")), "{text}");
            assert!(text.contains(&format!("{:?} ..= {:?}", error.min(), error.max())), "{text}");
        }
    }
    assert!([1.0, 2.0, 0.5_f64.next_up()].iter().all(|&delta| Delta::new(delta).is_err()));
}

#[test]
fn the_ends_of_the_ranges_are_accepted_and_nothing_beyond() {
    fn ends<T>(min: f64, max: f64, new: impl Fn(f64) -> Result<T, ParameterError>) {
        assert!(new(min).is_ok() && new(max).is_ok());
        assert!(new(min.next_down()).is_err() && new(max.next_up()).is_err());
    }
    ends(2.0_f64.powi(-30), 256.0, Epsilon::new);
    ends(2.0_f64.powi(-300), 0.5, Delta::new);
    ends(2.0_f64.powi(-40), 65536.0, Rho::new);
}

#[test]
fn conversion_checks_like_the_constructor() {
    assert_eq!(Epsilon::try_from(1.0), Epsilon::new(1.0));
    assert_eq!(Delta::try_from(1e-6), Delta::new(1e-6));
    assert_eq!(Rho::try_from(0.5), Rho::new(0.5));
    assert!(Epsilon::try_from(f64::NAN).is_err());
}

#[test]
fn weak_parameters_are_told() {
    assert!(!Epsilon::new(10.0).unwrap().is_weak());
    assert!(Epsilon::new(10.000_001).unwrap().is_weak());
    assert!(!Delta::new(1e-3).unwrap().is_weak());
    assert!(Delta::new(2e-3).unwrap().is_weak());
}

#[test]
fn shares_and_sums_outside_the_range_are_refused() {
    let least = Epsilon::new(Epsilon::MIN).unwrap();
    assert!(least.divide(2).is_err());
    assert!(least.divide(0).is_err());
    assert!(Epsilon::new(Epsilon::MAX).unwrap().plus(least).is_err());
    assert!(Rho::new(Rho::MAX).unwrap().plus(Rho::new(1.0).unwrap()).is_err());
    assert!(Delta::new(0.5).unwrap().plus(Delta::new(Delta::MIN).unwrap()).is_err());
}

/// A positive `f64` as an integer in units of 2^-100, for values between 2^-40 and 2^9 (at most 2^109 · 2^-100).
fn units(value: f64) -> u128 {
    let bits = value.to_bits();
    let mantissa = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
    mantissa << ((bits >> 52) + 100 - 1075)
}

proptest! {
    #[test]
    fn a_share_is_the_largest_float_not_above_the_quotient(value in 1e-3..256.0_f64, parts in 1..1000_u32) {
        let share = Epsilon::new(value).unwrap().divide(parts).unwrap().get();
        prop_assert!(units(share) * u128::from(parts) <= units(value));
        prop_assert!(units(share.next_up()) * u128::from(parts) > units(value));
        prop_assert_eq!(Rho::new(value).unwrap().divide(parts).unwrap().get().to_bits(), share.to_bits());
    }

    #[test]
    fn a_sum_is_the_least_float_not_below_it(a in 1e-6..100.0_f64, b in 1e-6..100.0_f64) {
        let sum = Epsilon::new(a).unwrap().plus(Epsilon::new(b).unwrap()).unwrap().get();
        prop_assert!(units(sum) >= units(a) + units(b));
        prop_assert!(units(sum.next_down()) < units(a) + units(b));
    }
}
