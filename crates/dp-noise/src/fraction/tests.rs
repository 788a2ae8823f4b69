use proptest::prelude::*;

use super::*;

fn fraction(numerator: u128, denominator: u64) -> Fraction {
    Fraction::new("test value", numerator, denominator).unwrap()
}

#[test]
fn fractions_are_reduced_and_kept_exact() {
    for (given, reduced) in [((6, 4), (3, 2)), ((1 << 80, 1), (1 << 80, 1)), ((5 << 60, 10 << 60), (1, 2))] {
        let made = fraction(given.0, given.1);
        assert_eq!((made.numerator, made.denominator), reduced);
    }
}

#[test]
fn values_outside_the_range_are_refused() {
    assert_eq!(Fraction::new("test value", 1, 0), Err(FractionError::ZeroDenominator { name: "test value" }),);
    for (numerator, denominator) in [(0, 1), (1, 1025), ((1 << 80) + 1, 1), (u128::MAX, 1), (1, u64::MAX)] {
        let refused = Fraction::new("test value", numerator, denominator);
        assert!(matches!(refused, Err(FractionError::Range { .. })), "{numerator}/{denominator}");
    }
    assert_eq!(
        Fraction::new("variance", 0, 1).unwrap_err().to_string(),
        "the variance must lie in 0.0009765625 ..= 1.2089258196146292e24, found 0.0"
    );
}

#[test]
fn computed_values_below_the_range_are_raised_and_above_it_refused() {
    let at_least = |n: u128, d: u128| Fraction::at_least("test value", Wide::from(n), d);
    assert_eq!(at_least(1, 1 << 100), Ok(Fraction::MIN));
    assert_eq!(at_least(1, 1025), Ok(Fraction::MIN));
    assert_eq!(at_least(1 << 80, 1), Ok(Fraction::MAX));
    assert!(at_least((1 << 80) + 1, 1).is_err());
    assert!(at_least(u128::MAX, u128::MAX >> 81).is_err());
    assert!(at_least(1, 0).is_err() && at_least(0, 1).is_err());
}

#[test]
fn floats_split_into_odd_digits_and_a_power() {
    assert_eq!(odd_digits(0.75), (3, -2));
    assert_eq!(odd_digits(65536.0), (1, 16));
    assert_eq!(odd_digits(0.1), (3_602_879_701_896_397, -55));
}

proptest! {
    #[test]
    fn rounding_is_up_and_tight(n in 1_u128 << 100.., d in 1_u128 << 70..1 << 110) {
        let Ok(made) = Fraction::at_least("test value", Wide::from(n), d) else { return Ok(()) };
        // made · d >= n, and made · (1 − 2^-52) is below n / d.
        let scaled = Wide::product(made.numerator, d);
        let target = Wide::product(n, made.denominator.into());
        prop_assert!(scaled >= target);
        if made != Fraction::MIN && made.numerator < 1 << 60 {
            let less = Wide::product(made.numerator * ((1 << 52) - 1), d);
            prop_assert!(less < target.checked_shl(52).unwrap());
        }
    }

    #[test]
    fn conversion_is_to_the_nearest(numerator in 1_u128..1 << 70, denominator in 1_u64..1 << 40) {
        let Ok(made) = Fraction::new("test value", numerator, denominator) else { return Ok(()) };
        let value = made.to_f64();
        // |value − n/d| <= |neighbour − n/d| for both neighbours, compared as distances from the midpoints.
        let below_midpoint = |a: f64, b: f64| {
            let (digits_a, exponent_a) = odd_digits(a);
            let (digits_b, exponent_b) = odd_digits(b);
            let least = exponent_a.min(exponent_b);
            let sum = (u128::from(digits_a) << (exponent_a - least)) + (u128::from(digits_b) << (exponent_b - least));
            // n/d against sum · 2^(least − 1)
            let shift = least - 1;
            let left = Wide::from(made.numerator).checked_shl(shift.min(0).unsigned_abs()).unwrap();
            let right = Wide::product(sum, made.denominator.into()).checked_shl(shift.max(0).unsigned_abs()).unwrap();
            left.cmp(&right)
        };
        prop_assert!(below_midpoint(value, value.next_up()).is_le());
        prop_assert!(below_midpoint(value, value.next_down()).is_ge());
    }

    #[test]
    fn sums_are_exact_or_rounded_up(a in 1_u128..1 << 40, b in 1_u64..1 << 10, c in 1_u128..1 << 40, d in 1_u64..1 << 10) {
        let (Ok(x), Ok(y)) = (Fraction::new("x", a, b), Fraction::new("y", c, d)) else { return Ok(()) };
        let sum = x.plus("sum", y).unwrap();
        let expected = fraction(a * u128::from(d) + c * u128::from(b), b * d);
        prop_assert_eq!(sum, expected);
    }

    #[test]
    fn bounds_of_quotients_are_the_next_float_up(n in 1_u128.., d in 1_u128.., shift in -3..3_i32) {
        let bound = quotient_up(Wide::from(n), d, shift).unwrap();
        let at_most = |value: f64| {
            let (digits, exponent) = odd_digits(value);
            // digits · 2^exponent · d against n · 2^shift
            let places = exponent - shift;
            let left = Wide::product(d, digits.into()).checked_shl(places.max(0).unsigned_abs());
            let right = Wide::from(n).checked_shl(places.min(0).unsigned_abs());
            match (left, right) {
                (Some(left), Some(right)) => left >= right,
                (left, _) => left.is_none(),
            }
        };
        prop_assert!(at_most(bound));
        prop_assert!(!at_most(bound.next_down()));
    }
}
