//! Sketches split between two servers.

mod support;

use f0_sketch::{
    CellShare, F0Sketch, MergeError, NoiseRule, Presampled, PrivateF0Sketch, ReleaseError, Set, SharedNoise,
    SharingError, Unit, WeightRule,
};
use sketch_testkit::assert_binomial;
use support::{empty, epsilon, general, noise, other_key, permit, raw, shape, stream};

fn plan(parties: u32) -> SharedNoise {
    SharedNoise::new::<Set>(parties, parties, Unit::Item, epsilon(1.0)).expect("a plan")
}

/// The shares of one party with these items.
fn shares(plan: &SharedNoise, items: std::ops::Range<u64>, seed: u64) -> [CellShare; 2] {
    raw(general(), items).into_shares(plan, permit(1.0), &mut noise(seed)).expect("shares")
}

#[test]
fn an_opened_sum_is_one_release_of_all_parties() {
    let plan = plan(3);
    let [mut first, mut second] = shares(&plan, 0..10, 1);
    for (seed, items) in [(2, 10..20), (3, 15..40)] {
        let [a, b] = shares(&plan, items, seed);
        first.merge(&a).expect("another party");
        second.merge(&b).expect("another party");
    }
    assert_eq!((first.server(), second.server(), first.parties()), (0, 1, 3));
    let opened = first.open(second).expect("all parties");
    assert_eq!((opened.leaves().len(), opened.epsilon()), (1, 1.0));
    assert_eq!(opened.epsilon_total(), Some(1.0));
    assert!((opened.contrast() / 0.5_f64.tanh() - 1.0).abs() < 1e-9);
    let read = PrivateF0Sketch::<Set>::from_bytes_allowing_insecure_noise(&opened.to_bytes());
    assert_eq!(read.expect("its own bytes"), opened);
}

/// The noise of 50 parties on nothing. False alarm 10⁻⁶.
#[test]
fn the_noise_of_all_parties_is_that_of_one_release() {
    let plan = SharedNoise::new::<Presampled>(50, 50, Unit::Item, epsilon(1.0)).expect("a plan");
    let party = |seed| {
        let nothing: F0Sketch<Presampled> = empty(shape(24, 4096));
        nothing.into_shares(&plan, permit(1.0), &mut noise(seed)).expect("shares")
    };
    let [mut first, mut second] = party(0);
    for seed in 1..50 {
        let [a, b] = party(seed);
        first.merge(&a).expect("another party");
        second.merge(&b).expect("another party");
    }
    let opened = first.open(second).expect("all parties");
    assert_binomial(opened.ones_per_table().iter().sum(), 98_304, (-1_f64).exp() / 2.0);
}

#[test]
fn shares_that_do_not_belong_together_are_refused() {
    let two = plan(2);
    let [mut first, second] = shares(&two, 0..10, 1);
    assert!(matches!(first.merge(&second), Err(SharingError::Server { expected: 0, found: 1 })));
    let [again, _] = shares(&two, 0..10, 1);
    assert!(matches!(first.merge(&again), Err(SharingError::Mismatch(MergeError::RepeatedRelease { .. }))));
    let [other_plan, _] = shares(&plan(3), 0..10, 2);
    assert!(matches!(first.merge(&other_plan), Err(SharingError::Plan)));
    let stranger: support::Raw = F0Sketch::new(general(), WeightRule::Unit, other_key());
    let [stranger, _] = stranger.into_shares(&two, permit(1.0), &mut noise(3)).expect("shares");
    assert!(matches!(first.merge(&stranger), Err(SharingError::Mismatch(MergeError::Hash { .. }))));
    assert_eq!(first.parties(), 1, "nothing was added");
    // One party of two: its own small noise would be all that protects it.
    assert!(matches!(first.open(second), Err(SharingError::Parties { expected: 2, found: 1 })));

    let ([first, _], [_, other]) = (shares(&two, 0..10, 1), shares(&two, 0..10, 2));
    assert!(matches!(first.open(other), Err(SharingError::DifferentParties)));
    let ([first, _], [same, _]) = (shares(&two, 0..10, 1), shares(&two, 0..10, 2));
    assert!(matches!(first.open(same), Err(SharingError::Server { expected: 1, found: 0 })));
}

#[test]
fn plans_fit_the_data_and_the_permit() {
    let two = plan(2);
    let make = |level| raw(general(), 0..10).into_shares(&two, permit(level), &mut noise(1));
    assert!(matches!(make(0.5), Err(SharingError::Plan)) && matches!(make(2.0), Err(SharingError::Plan)));
    let bounded = raw(general(), 0..10).with_unit(Unit::user(3).expect("three"));
    let refused = bounded.into_shares(&two, permit(1.0), &mut noise(1));
    assert!(matches!(refused, Err(SharingError::Release(ReleaseError::Unit { .. }))));
    let wrong_mode = stream(general(), &[1], &mut noise(1)).into_shares(&two, permit(1.0), &mut noise(1));
    assert!(matches!(wrong_mode, Err(SharingError::Plan)));
    let coins = SharedNoise::new::<Presampled>(2, 2, Unit::Item, epsilon(1.0)).expect("a plan");
    let mut exposed = stream(general(), &[1], &mut noise(1));
    exposed.release_keeping(NoiseRule::Tight, Unit::Item, permit(1.0), &mut noise(2)).expect("a release");
    let refused = exposed.into_shares(&coins, permit(1.0), &mut noise(3));
    assert!(matches!(refused, Err(SharingError::Mismatch(MergeError::Exposure { .. }))));
}

#[test]
fn ten_parties_behind_colluding_servers_are_left_with_little() {
    // c = tanh(1/2)^(1/10), p = (1 − c)/2, ln((1−p)/p) = 3.26.
    let plan = plan(10);
    assert!((plan.level_if_servers_collude() - 3.2555).abs() < 1e-3);
}
