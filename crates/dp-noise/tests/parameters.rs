//! Parameters that must not be accepted, and rounding that must not go the wrong way.

#![expect(clippy::float_cmp, reason = "these floats are exact")]

use dp_noise::{
    BitSlicedLaplace, Delta, DiscreteGaussian, DiscreteLaplace, Epsilon, FixedTimeGaussian, FractionError,
    L1Sensitivity, Neighbouring, NoiseSampler, ParameterError, PolyaShare, Rho, SampleError, Scale, SensitivityError,
    SquaredL2Sensitivity, Variance,
};
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

#[test]
fn noise_parameters_that_are_no_numbers_of_the_range_are_refused() {
    assert_eq!(Variance::new(1, 0), Err(FractionError::ZeroDenominator { name: "variance" }));
    assert_eq!(Scale::new(1, 0), Err(FractionError::ZeroDenominator { name: "scale" }));
    for (numerator, denominator) in [(0, 1), (1, 1025), ((1 << 80) + 1, 1), (u128::MAX, u64::MAX >> 20), (1, u64::MAX)]
    {
        let text = Variance::new(numerator, denominator).unwrap_err().to_string();
        assert!(text.starts_with("the variance must lie in 0.0009765625 ..= "), "{text}");
        assert!(Scale::new(numerator, denominator).is_err());
    }
    for (numerator, denominator) in [(1, 1024), (1 << 80, 1), (u128::MAX >> 1, 1 << 47), (3 << 60, 3 << 60)] {
        assert!(Variance::new(numerator, denominator).is_ok() && Scale::new(numerator, denominator).is_ok());
    }
    // Reduced: the same number is the same parameter, however it was written.
    assert_eq!(Scale::new(10, 4), Scale::new(5, 2));
}

#[test]
fn sensitivities_of_zero_are_refused_and_substitution_doubles_the_norm() {
    assert_eq!(L1Sensitivity::new(0), Err(SensitivityError::Zero { name: "L1 sensitivity" }));
    assert_eq!(SquaredL2Sensitivity::new(0), Err(SensitivityError::Zero { name: "squared L2 sensitivity" }));
    let (l1, l2) = (L1Sensitivity::new(7).unwrap(), SquaredL2Sensitivity::new(7).unwrap());
    assert_eq!(l1.under(Neighbouring::AddRemove).unwrap(), l1);
    assert_eq!(l1.under(Neighbouring::Substitute).unwrap().get(), 14);
    assert_eq!(l2.under(Neighbouring::Substitute).unwrap().get(), 28);
    let large = L1Sensitivity::new(1 << 127).unwrap();
    assert!(matches!(large.under(Neighbouring::Substitute), Err(SensitivityError::TooLarge { .. })));
    assert!(SquaredL2Sensitivity::new(1 << 126).unwrap().under(Neighbouring::Substitute).is_err());
}

#[test]
fn samplers_refuse_what_they_cannot_draw_and_take_the_ends_of_the_range() {
    let (least, most) = (Scale::new(1, 1024).unwrap(), Scale::new(1 << 80, 1).unwrap());
    for refused in [
        DiscreteLaplace::new(most).map(|_| ()),
        BitSlicedLaplace::new(most).map(|_| ()),
        PolyaShare::new(Scale::new(4097, 1).unwrap(), 3).map(|_| ()),
        FixedTimeGaussian::new(Variance::new(257, 1).unwrap()).map(|_| ()),
    ] {
        assert!(matches!(refused, Err(SampleError::TooLarge { .. })), "{refused:?}");
    }
    assert_eq!(PolyaShare::new(least, 0).unwrap_err(), SampleError::NoShares);
    let text = DiscreteLaplace::new(most).unwrap_err().to_string();
    assert_eq!(text, "the scale must be at most 4503599627370496.0 for this sampler, found 1.2089258196146292e24");

    assert_eq!(DiscreteLaplace::new(least).unwrap().variance(), 0.0, "2 e^-1024, less than any f64");
    assert!(DiscreteLaplace::new(Scale::new(1 << 52, 1).unwrap()).is_ok());
    assert!(DiscreteGaussian::new(Variance::MIN).unwrap().variance() < 1e-200);
    assert_eq!(DiscreteGaussian::new(Variance::MAX).unwrap().variance(), 2.0_f64.powi(80));
    assert!(BitSlicedLaplace::new(least).is_ok() && PolyaShare::new(least, u32::MAX).is_ok());
    // Fractions with the longest numerators and denominators.
    let long = Variance::new((1 << 127) - 1, (1 << 63) - 25).unwrap();
    assert!(DiscreteGaussian::new(long).is_ok());
    assert!(DiscreteLaplace::new(Scale::new((1 << 115) - 1, u64::MAX - 58).unwrap()).is_ok());
}

#[test]
fn too_much_noise_is_an_error_and_too_little_is_raised() {
    let least = Rho::new(Rho::MIN).unwrap();
    assert!(Variance::for_rho(SquaredL2Sensitivity::new(u128::MAX).unwrap(), least).is_err());
    assert!(Scale::for_epsilon(L1Sensitivity::new(u128::MAX).unwrap(), Epsilon::new(Epsilon::MIN).unwrap()).is_err());
    let one = SquaredL2Sensitivity::new(1).unwrap();
    assert_eq!(Variance::for_rho(one, Rho::new(Rho::MAX).unwrap()), Ok(Variance::MIN));
    // 2^-10 is more noise than asked for, and costs less.
    assert_eq!(Variance::MIN.rho_cost(one).unwrap().get(), 512.0);
    assert!(Variance::MIN.rho_cost(SquaredL2Sensitivity::new(1000).unwrap()).is_err());
    assert!(Scale::MIN.epsilon_cost(L1Sensitivity::new(1).unwrap()).is_err(), "1024 is above the largest epsilon");
}

#[test]
fn variances_add_subtract_and_scale() {
    let [third, half, six] = [(1, 3), (1, 2), (6, 1)].map(|(n, d)| Variance::new(n, d).unwrap());
    assert_eq!(third.checked_add(half), Variance::new(5, 6));
    assert_eq!(six.checked_sub(half), Variance::new(11, 2));
    assert!(half.checked_sub(six).is_err() && half.checked_sub(half).is_err());
    assert_eq!(half.times_square(-3), Variance::new(9, 2));
    assert_eq!(half.times_square(i64::MIN).map_err(|_| ()), Err(()), "2^125");
    assert!(half.times_square(0).is_err() && Variance::MAX.checked_add(third).is_err());
    // Denominators that do not fit together: rounded up, by less than 2^-52.
    let [p, q] =
        [(1_u128 << 60, (1_u64 << 61) - 1), (1 << 62, (1 << 63) - 25)].map(|(n, d)| Variance::new(n, d).unwrap());
    let sum = p.checked_add(q).unwrap();
    assert!(sum.to_f64() >= 1.0 && sum.to_f64() <= 1.0 + 1e-15);
    assert!(p.is_below(sum) && !sum.is_below(sum));
}

proptest! {
    #[test]
    fn noise_costs_no_more_than_it_was_made_for(level in Rho::MIN..=Rho::MAX, square in 1_u64..) {
        let (rho, square) = (Rho::new(level).unwrap(), SquaredL2Sensitivity::new(square.into()).unwrap());
        let Ok(variance) = Variance::for_rho(square, rho) else { return Ok(()) };
        let cost = variance.rho_cost(square).unwrap();
        prop_assert!(cost <= rho);
        prop_assert!(variance == Variance::MIN || cost.get() >= level * (1.0 - 1e-15));
    }

    #[test]
    fn small_levels_too(exponent in -39.0..16.0_f64, square in 1_u128..1 << 30) {
        let (rho, square) = (Rho::new(exponent.exp2()).unwrap(), SquaredL2Sensitivity::new(square).unwrap());
        let Ok(variance) = Variance::for_rho(square, rho) else { return Ok(()) };
        prop_assert!(variance.rho_cost(square).unwrap() <= rho);
    }

    #[test]
    fn laplace_scales_cost_no_more_than_they_were_made_for(exponent in -30.0..8.0_f64, norm in 1_u64..) {
        let (epsilon, norm) = (Epsilon::new(exponent.exp2()).unwrap(), L1Sensitivity::new(norm.into()).unwrap());
        let Ok(scale) = Scale::for_epsilon(norm, epsilon) else { return Ok(()) };
        let cost = scale.epsilon_cost(norm).unwrap();
        prop_assert!(cost <= epsilon);
        prop_assert!(scale == Scale::MIN || cost.get() >= epsilon.get() * (1.0 - 1e-15));
    }
}
