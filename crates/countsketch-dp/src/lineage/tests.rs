use dp_noise::{Epsilon, Neighbouring, Rho, Variance};

use super::*;
use crate::bound::ContributionBound;
use crate::leaf::{Guarantee, NoiseLaw};

fn leaf(id: u8, cost: PrivacyCost, bound: ContributionBound) -> Leaf {
    let guarantee = Guarantee { bound, parts: 1, relation: Neighbouring::AddRemove, cost };
    let law = NoiseLaw::Gaussian { variance: Variance::new(4, 1).unwrap() };
    Leaf { id: ReleaseId::from_bytes([id; 16]), law, factor: 1, guarantee: Some(guarantee) }
}

fn rho(id: u8, rho: f64) -> Lineage {
    Lineage::single(leaf(id, PrivacyCost::Rho(Rho::new(rho).unwrap()), ContributionBound::UNIT_ENTRY))
}

fn sum(inputs: &[&Lineage]) -> Lineage {
    Lineage::joined(inputs, false).unwrap()
}

#[test]
fn costs_add_up_and_disjoint_parts_cost_the_largest() {
    let [a, b, c] = [rho(1, 0.5), rho(2, 0.25), rho(3, 0.125)];
    assert_eq!(sum(&[&a, &b, &c]).total().rho(), Some(0.875));
    let either = Lineage::joined(&[&a, &b], true).unwrap();
    assert_eq!(either.total().rho(), Some(0.5));
    assert_eq!(sum(&[&either, &c]).total().rho(), Some(0.625));
    assert_eq!(Lineage::joined(&[&sum(&[&a, &b]), &c], true).unwrap().total().rho(), Some(0.75));
}

#[test]
fn a_sum_has_one_spelling_whatever_its_order_of_making() {
    let [a, b, c] = [rho(1, 0.5), rho(2, 0.25), rho(3, 0.125)];
    let left = sum(&[&sum(&[&a, &b]), &c]);
    assert_eq!(left, sum(&[&a, &sum(&[&b, &c])]));
    assert_eq!(left.steps(), [Step::Releases { count: 3 }, Step::Sum { arity: 3 }]);
}

#[test]
fn pure_costs_count_as_half_their_square() {
    let pure = |id, e| {
        let cost = PrivacyCost::Epsilon(Epsilon::new(e).unwrap());
        Lineage::single(leaf(id, cost, ContributionBound::UNIT_ENTRY))
    };
    let both = sum(&[&pure(1, 1.0), &pure(2, 0.5)]);
    assert_eq!((both.total().rho(), both.total().epsilon()), (Some(0.625), Some(1.5)));
    let mixed = sum(&[&pure(1, 1.0), &rho(2, 0.25)]);
    assert_eq!((mixed.total().rho(), mixed.total().epsilon()), (Some(0.75), None));
}

#[test]
fn costs_of_records_and_of_users_do_not_add_up() {
    let user = ContributionBound::user_total(3).unwrap();
    let of_user = Lineage::single(leaf(1, PrivacyCost::Rho(Rho::new(0.5).unwrap()), user));
    assert_eq!(sum(&[&of_user, &rho(2, 0.5)]).total().rho(), None);
}

#[test]
fn sums_round_up() {
    let tenths: Vec<Lineage> = (0..10).map(|id| rho(id, 0.1)).collect();
    let total = sum(&tenths.iter().collect::<Vec<_>>()).total().rho().unwrap();
    assert!((1.0..1.0 + 1e-14).contains(&total), "{total}");
    assert_eq!(add_up(1.0, 2f64.powi(-80)).to_bits(), 1.0f64.next_up().to_bits());
    assert_eq!(add_up(1.0, 2.0).to_bits(), 3.0f64.to_bits());
}

#[test]
fn programs_that_do_not_run_are_refused() {
    let leaves = |count: u8| (0..count).map(|id| rho(id, 0.5).leaves()[0]).collect::<Vec<_>>();
    let run = |count, steps: &[Step]| Lineage::from_parts(leaves(count), steps.to_vec()).map(|_| ());
    let releases = |count| Step::Releases { count };
    assert_eq!(run(1, &[releases(1)]), Ok(()));
    assert_eq!(run(0, &[]), Err(LineageError::Releases { found: 0 }));
    for (count, steps, at) in [
        (1, vec![], 0),
        (1, vec![releases(0)], 0),
        (1, vec![releases(2)], 0),
        (2, vec![releases(2)], 1),
        (2, vec![releases(1)], 1),
        (2, vec![releases(2), Step::Sum { arity: 1 }], 1),
        (2, vec![releases(2), Step::Sum { arity: 0 }], 1),
        (2, vec![releases(2), Step::Largest { arity: 3 }], 1),
        (2, vec![releases(2), Step::Sum { arity: u32::MAX }], 1),
    ] {
        assert_eq!(run(count, &steps), Err(LineageError::Malformed { step: at }), "{steps:?}");
    }
    let twice = vec![rho(1, 0.5).leaves()[0]; 2];
    let refused = Lineage::from_parts(twice, vec![releases(2), Step::Sum { arity: 2 }]);
    assert!(matches!(refused, Err(LineageError::Repeated { .. })));
}

#[test]
fn noise_without_data_is_no_history_of_its_own() {
    let noise = |id| Leaf {
        guarantee: None,
        ..leaf(id, PrivacyCost::Rho(Rho::new(1.0).unwrap()), ContributionBound::UNIT_ENTRY)
    };
    let (single, sum) = (vec![Step::Releases { count: 1 }], vec![Step::Releases { count: 2 }, Step::Sum { arity: 2 }]);
    assert_eq!(Lineage::from_parts(vec![noise(1)], single), Err(LineageError::NoGuarantee { found: 1 }));
    assert_eq!(Lineage::from_parts(vec![noise(1), noise(2)], sum.clone()), Err(LineageError::NoGuarantee { found: 2 }));
    let data = leaf(2, PrivacyCost::Rho(Rho::new(0.5).unwrap()), ContributionBound::UNIT_ENTRY);
    assert_eq!(Lineage::from_parts(vec![noise(1), data], sum).unwrap().total().rho(), Some(0.5));
}

#[test]
fn losses_of_different_units_have_no_sum() {
    let user = ContributionBound::user_total(1).unwrap();
    let [record, other, user] = [(1, ContributionBound::UNIT_ENTRY), (2, ContributionBound::UNIT_ENTRY), (3, user)]
        .map(|(id, bound)| Lineage::single(leaf(id, PrivacyCost::Rho(Rho::new(0.5).unwrap()), bound)).total());
    assert_eq!(record.plus(other).rho(), Some(1.0));
    assert_eq!(record.plus(user).rho(), None);
}
