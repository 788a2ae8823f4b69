//! Amounts and budgets against decimal text and integers.
#![expect(clippy::float_cmp, reason = "these floats are exact")]
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

use dp_noise::{
    Amount, AmountError, Budget, BudgetError, Delta, DisjointParts, Epsilon, Permit, Rho, RhoBudget, StatementError,
    delta_beside_distance, delta_for_distance, zcdp_delta, zcdp_to_dp,
};
use proptest::prelude::*;

fn cost(text: &str) -> Amount {
    Amount::parse_cost(text).unwrap()
}

fn total(text: &str) -> Amount {
    Amount::parse_total(text).unwrap()
}

#[test]
fn ten_tenths_fit_in_one_and_the_eleventh_does_not() {
    let tenth = Epsilon::new(0.1).unwrap();
    let mut budget = Budget::new(total("1"));
    for _ in 0..10 {
        let permit = budget.spend(tenth).unwrap();
        assert_eq!(permit.amount(), cost("0.1"));
    }
    assert_eq!(budget.remaining(), Amount::ZERO);
    let refused = budget.spend(tenth).unwrap_err();
    assert_eq!(refused, BudgetError::Exceeded { requested: cost("0.1"), remaining: Amount::ZERO });
    assert_eq!(budget.spent(), total("1"), "a refused cost is not booked");
}

#[test]
fn sevenths_are_booked_as_their_shortest_decimal() {
    // 1/7 prints as 0.14285714285714285; seven times that is 0.99999999999999995.
    let seventh = Epsilon::new(1.0 / 7.0).unwrap();
    for (whole, fits) in [("1", 7), ("0.99999999999999995", 7), ("0.99999999999999994", 6)] {
        let mut budget = Budget::new(total(whole));
        assert_eq!((0..7).filter(|_| budget.spend(seventh).is_ok()).count(), fits, "{whole}");
    }
}

#[test]
fn text_finer_than_a_unit_rounds_up_as_a_cost_and_down_as_a_total() {
    for (text, up, down) in [
        ("0.1", 100_000_000_000_000_000, 100_000_000_000_000_000),
        ("0.1000000000000000001", 100_000_000_000_000_001, 100_000_000_000_000_000),
        ("1e-18", 1, 1),
        ("1e-19", 1, 0),
        ("9.99e-19", 1, 0),
        ("1e-999999999999999999999", 1, 0),
        ("0e-999999999999999999999", 0, 0),
        ("0e999999999999999999999", 0, 0),
        ("0.000000000000000000000", 0, 0),
        ("1.50", 1_500_000_000_000_000_000, 1_500_000_000_000_000_000),
        ("+2.5E+1", 25_000_000_000_000_000_000, 25_000_000_000_000_000_000),
        ("250e-1", 25_000_000_000_000_000_000, 25_000_000_000_000_000_000),
        (".5", 500_000_000_000_000_000, 500_000_000_000_000_000),
        ("5.", 5_000_000_000_000_000_000, 5_000_000_000_000_000_000),
        ("0005", 5_000_000_000_000_000_000, 5_000_000_000_000_000_000),
        ("340282366920938463463.374607431768211455", u128::MAX, u128::MAX),
    ] {
        assert_eq!((cost(text).units(), total(text).units()), (up, down), "{text}");
    }
}

#[test]
fn text_that_is_no_amount_is_refused_with_its_reason() {
    for text in ["", " ", "one", "1,5", "0x10", "1_000", "1e", "1e+", "e5", ".", "+", "-", "--1", "1.2.3", "1e1.5"] {
        assert!(matches!(Amount::parse_cost(text), Err(AmountError::NotDecimal { .. })), "{text:?}");
    }
    for text in ["NaN", "nan", "inf", "-inf", "infinity", "-0", "-0.0", "1 ", "٣", "½"] {
        assert!(matches!(Amount::parse_total(text), Err(AmountError::NotDecimal { .. })), "{text:?}");
    }
    for text in ["-1", "-0.1", "-1e-30"] {
        assert!(matches!(Amount::parse_cost(text), Err(AmountError::Negative { .. })), "{text:?}");
    }
    for text in ["1e21", "1e999999999999999999999", "340282366920938463463.374607431768211456"] {
        assert!(matches!(Amount::parse_total(text), Err(AmountError::TooLarge { .. })), "{text:?}");
    }
    // Rounding up must not wrap around either.
    assert!(Amount::parse_cost("340282366920938463463.3746074317682114551").is_err());
    let long = format!("{}x", "1".repeat(100_000));
    assert!(Amount::parse_cost(&long).unwrap_err().to_string().len() < 200, "errors quote the beginning only");
    assert_eq!(
        Amount::parse_cost("one").unwrap_err().to_string(),
        "expected a decimal number such as 0.1, found \"one\""
    );
}

#[test]
fn costs_beyond_every_number_do_not_wrap() {
    let mut budget = Budget::resume(Amount::from_units(u128::MAX), Amount::from_units(u128::MAX - 1));
    assert!(budget.spend(cost("0.1")).is_err());
    assert_eq!(budget.remaining(), Amount::from_units(1));
}

#[test]
fn a_total_lowered_below_what_is_spent_leaves_nothing() {
    let mut budget = Budget::resume(total("1"), total("2"));
    assert_eq!(budget.remaining(), Amount::ZERO);
    assert!(budget.spend(Epsilon::new(0.5).unwrap()).is_err());
}

#[test]
fn an_amount_that_is_no_epsilon_is_refused_and_not_booked() {
    let mut budget = Budget::new(total("1000"));
    for amount in [Amount::ZERO, Amount::from_units(1), cost("256.000000000000000001"), cost("257")] {
        let result = budget.spend(amount);
        assert_eq!(result.is_ok(), amount == cost("256.000000000000000001"), "{amount}: {result:?}");
    }
    // 256 and a unit is booked as such, and the mechanism gets 256.
    assert_eq!(budget.spent(), cost("256.000000000000000001"));
    assert!(matches!(budget.spend(Amount::ZERO), Err(BudgetError::Cost(_))));
}

#[test]
fn a_split_books_its_amount_once() {
    let mut whole = Budget::new(total("1"));
    let parts = whole.split_disjoint(cost("0.75"), 3, DisjointParts::EachUnitInOnePart).unwrap();
    assert_eq!(parts.len(), 3);
    for mut part in parts {
        assert!(part.spend(Epsilon::new(0.75).unwrap()).is_ok());
        assert_eq!(part.remaining(), Amount::ZERO);
    }
    assert_eq!(whole.remaining(), cost("0.25"));
    let refused = whole.split_disjoint(cost("0.5"), 2, DisjointParts::EachUnitInOnePart).map(|_| ()).unwrap_err();
    assert_eq!(refused, BudgetError::Exceeded { requested: cost("0.5"), remaining: cost("0.25") });
    assert!(DisjointParts::EachUnitInOnePart.statement().contains("one part only"));
}

#[test]
fn a_split_into_four_thousand_million_parts_allocates_nothing() {
    let mut whole = Budget::new(total("1"));
    let mut parts = whole.split_disjoint(cost("1"), u32::MAX, DisjointParts::EachUnitInOnePart).unwrap();
    assert_eq!(parts.next().map(|part| part.remaining()), Some(cost("1")));
}

#[test]
fn a_standalone_permit_keeps_to_the_stated_decimal() {
    let permit = Permit::standalone(Epsilon::new(0.3).unwrap());
    assert_eq!(permit.amount(), cost("0.3"));
    // The f64 0.3 is below the decimal 0.3, so it is used as it is.
    assert_eq!((permit.cost().get(), permit.stated().get()), (0.3, 0.3));
    // The f64 0.1 is above the decimal 0.1.
    assert_eq!(Permit::standalone(Epsilon::new(0.1).unwrap()).cost().get(), 0.1_f64.next_down());
}

/// Exact comparison of `value` with a decimal of 18 places, through the exact decimal expansion of an `f64`.
fn is_at_most(value: f64, amount: Amount) -> bool {
    // 120 places show every f64 above 2^-68 exactly.
    let expansion = format!("{value:.120}");
    let (whole, places) = expansion.split_once('.').unwrap();
    let units: u128 = format!("{whole}{}", &places[..18]).parse().unwrap();
    units < amount.units() || (units == amount.units() && places[18..].bytes().all(|digit| digit == b'0'))
}

proptest! {
    #[test]
    fn display_reads_back(units: u128) {
        let amount = Amount::from_units(units);
        prop_assert_eq!(cost(&amount.to_string()), amount);
        prop_assert_eq!(total(&amount.to_string()), amount);
    }

    #[test]
    fn an_exponent_only_moves_the_point(units in 0..10_u128.pow(30), exponent in -30..9_i64) {
        let plain = format!("{units}e{}", exponent - 18);
        let moved = format!("{}e{exponent}", Amount::from_units(units));
        prop_assert_eq!(cost(&plain), cost(&moved));
        let exact = if exponent >= 0 {
            units.checked_mul(10_u128.pow(exponent.unsigned_abs().try_into().unwrap()))
        } else {
            Some(units.div_ceil(10_u128.pow(exponent.unsigned_abs().try_into().unwrap())))
        };
        prop_assert_eq!(Some(cost(&plain).units()), exact);
    }

    #[test]
    fn the_mechanism_gets_the_largest_float_not_above_the_amount(units in 10_u128.pow(9)..256 * 10_u128.pow(18)) {
        let amount = Amount::from_units(units);
        let level = amount.to_epsilon().unwrap().get();
        prop_assert!(is_at_most(level, amount));
        prop_assert!(!is_at_most(level.next_up(), amount));
    }

    #[test]
    fn a_permit_never_grants_more_than_asked_or_booked(value in Epsilon::MIN..=Epsilon::MAX) {
        let asked = Epsilon::new(value).unwrap();
        let permit = Budget::new(total("1000")).spend(asked).unwrap();
        prop_assert!(permit.cost() <= asked);
        prop_assert!(is_at_most(permit.cost().get(), permit.amount()));
        prop_assert_eq!(permit.stated(), asked);
        prop_assert_eq!(&permit, &Permit::standalone(asked));
    }

    #[test]
    fn small_levels_are_booked_too(exponent in -30.0..-9.0_f64) {
        let asked = Epsilon::new(exponent.exp2()).unwrap();
        let permit = Permit::standalone(asked);
        prop_assert!(permit.cost() <= asked && is_at_most(permit.cost().get(), permit.amount()));
    }

    #[test]
    fn spending_is_associative(costs in prop::collection::vec(1_u64..1 << 62, 1..20)) {
        let sum: u128 = costs.iter().map(|&units| u128::from(units)).sum();
        let mut budget = Budget::new(Amount::from_units(sum));
        let mut shuffled = Budget::new(Amount::from_units(sum));
        for (&one, &other) in costs.iter().zip(costs.iter().rev()) {
            let _ = budget.spend(Amount::from_units(one.into()));
            let _ = shuffled.spend(Amount::from_units(other.into()));
        }
        // Amounts below the least epsilon are refused and booked in neither.
        prop_assert_eq!(budget, shuffled);
    }
}

#[test]
fn a_ledger_of_rho_adds_decimals_and_books_pure_costs_exactly() {
    let mut budget = RhoBudget::new(total("0.5"));
    for _ in 0..4 {
        let _ = budget.spend(Rho::new(0.1).unwrap()).unwrap();
    }
    // 0.3²/2 = 0.045 and 0.1²/2 = 0.005 in decimals, not those of the nearest binary fractions.
    let permit = budget.spend_pure(Epsilon::new(0.3).unwrap()).unwrap();
    assert_eq!((permit.stated().get(), permit.amount()), (0.3, cost("0.3")));
    let _ = budget.spend_pure(Epsilon::new(0.1).unwrap()).unwrap();
    assert_eq!((budget.spent(), budget.remaining()), (cost("0.45"), cost("0.05")));
    let refused = budget.spend(Rho::new(0.1).unwrap()).unwrap_err();
    assert_eq!(refused, BudgetError::Exceeded { requested: cost("0.1"), remaining: cost("0.05") });
    assert!(budget.spend_pure(Epsilon::new(0.4).unwrap()).is_err(), "0.08 is more than 0.05");
    assert_eq!(budget.spent(), cost("0.45"), "refused costs are not booked");
    let parts: Vec<RhoBudget> =
        budget.split_disjoint(cost("0.05"), 3, DisjointParts::EachUnitInOnePart).unwrap().collect();
    assert!(parts.iter().all(|part| part.remaining() == cost("0.05")) && budget.remaining() == Amount::ZERO);
}

#[test]
fn pure_costs_round_up_to_a_unit() {
    // (10^-9 + 10^-18)²/2 is a little more than half a unit; the largest epsilon costs 32768.
    for (epsilon, booked) in [(1e-9, 1), (256.0, 32_768 * 10_u128.pow(18)), (3e-9, 5)] {
        let mut budget = RhoBudget::new(total("100000"));
        let _ = budget.spend_pure(Epsilon::new(epsilon).unwrap()).unwrap();
        assert_eq!(budget.spent().units(), booked, "{epsilon}");
    }
}

#[test]
fn statements_join_rho_and_the_distance_of_the_samplers() {
    let delta = Delta::new(1e-6).unwrap();
    let mut budget = RhoBudget::new(total("10"));
    assert_eq!(budget.statement(delta).unwrap(), 0.0, "nothing spent");
    let _ = budget.spend(Rho::new(0.5).unwrap()).unwrap();
    let exact = budget.statement(delta).unwrap();
    let converted = zcdp_to_dp(Rho::new(0.5).unwrap(), delta);
    assert!(exact >= converted && exact < converted * (1.0 + 1e-12));
    budget.record_distance(1_000_000, 0.0);
    assert_eq!(budget.distance(), 0.0);
    budget.record_distance(1 << 20, 2.0_f64.powi(-121));
    let inexact = budget.statement(delta).unwrap();
    assert!(inexact > exact && inexact < exact * (1.0 + 1e-6));
    assert!(zcdp_delta(Rho::new(0.5).unwrap(), inexact) + delta_for_distance(budget.distance(), inexact) <= 1e-6);
    // A δ of 10^-30 would be taken up by a distance of 2^-101.
    assert!(matches!(budget.statement(Delta::new(1e-30).unwrap()), Err(StatementError::Distance(_))));
    budget.record_distance(1, f64::NAN);
    assert!(budget.statement(delta).is_err() && budget.distance().is_infinite());
    let over = RhoBudget::resume(total("100000"), total("70000"), 0.0);
    assert!(matches!(over.statement(delta), Err(StatementError::Rho(_))));
}

#[test]
fn distances_that_are_no_numbers_are_infinite() {
    for (distance, epsilon) in [(f64::NAN, 1.0), (-1e-9, 1.0), (1e-9, f64::NAN), (1e-9, -1.0)] {
        assert!(delta_for_distance(distance, epsilon).is_infinite());
    }
    let (delta, one) = (Delta::new(1e-6).unwrap(), Epsilon::new(1.0).unwrap());
    assert_eq!(delta_beside_distance(delta, one, 0, 1.0), Ok(delta));
    let refused = delta_beside_distance(delta, one, 100, 1e-6).unwrap_err();
    assert!(refused.addition() > refused.limit() && refused.limit() < 1e-12);
    assert!(delta_beside_distance(delta, one, 100, f64::NAN).is_err());
    let left = delta_beside_distance(delta, one, 1000, 1e-30).unwrap();
    assert!(left < delta && left.get() > 0.999_999 * delta.get());
}

#[test]
fn a_permit_for_rho_keeps_to_the_stated_decimal() {
    let permit = Permit::standalone(Rho::new(0.1).unwrap());
    assert_eq!((permit.amount(), permit.stated().get(), permit.cost().get()), (cost("0.1"), 0.1, 0.1_f64.next_down()));
    assert_eq!(Amount::from(Rho::new(0.25).unwrap()), cost("0.25"));
    assert!(Amount::from_units(1).to_rho().is_err(), "below the least rho");
}
