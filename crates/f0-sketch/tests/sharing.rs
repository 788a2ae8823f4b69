//! Sketches split between two servers.

mod support;

use f0_sketch::{
    CellShare, F0Sketch, MergeError, NoiseRule, Presampled, PrivateF0Sketch, Refused, Set, SharedNoise, SharingError,
    Unit, WeightRule,
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

/// Why it was refused.
fn why<T, K>(done: Result<T, Refused<K, SharingError>>) -> SharingError {
    done.err().expect("a refusal").into_error()
}

#[test]
fn an_opened_sum_is_one_release_of_all_parties() {
    let plan = plan(3);
    let [mut first, mut second] = shares(&plan, 0..10, 1);
    for (seed, items) in [(2, 10..20), (3, 15..40)] {
        let [a, b] = shares(&plan, items, seed);
        first.merge(a).expect("another party");
        second.merge(b).expect("another party");
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
        first.merge(a).expect("another party");
        second.merge(b).expect("another party");
    }
    let opened = first.open(second).expect("all parties");
    assert_binomial(opened.ones_per_table().iter().sum(), 98_304, (-1_f64).exp() / 2.0);
}

#[test]
fn shares_that_do_not_belong_together_are_refused() {
    let two = plan(2);
    let [mut first, second] = shares(&two, 0..10, 1);
    let refused = first.merge(second).expect_err("the other server");
    assert!(matches!(refused.error(), SharingError::Server { expected: 0, found: 1 }));
    let second = refused.into_inner();
    let [again, _] = shares(&two, 0..10, 1);
    assert!(matches!(why(first.merge(again)), SharingError::Mismatch(MergeError::RepeatedRelease { .. })));
    let [other_plan, _] = shares(&plan(3), 0..10, 2);
    assert!(matches!(why(first.merge(other_plan)), SharingError::Plan));
    let stranger: support::Raw = F0Sketch::new(general(), WeightRule::Unit, other_key());
    let [stranger, _] = stranger.into_shares(&two, permit(1.0), &mut noise(3)).expect("shares");
    assert!(matches!(why(first.merge(stranger)), SharingError::Mismatch(MergeError::Hash { .. })));
    assert_eq!(first.parties(), 1, "nothing was added");
    // One party of two: its own small noise would be all that protects it.
    let refused = first.open(second).expect_err("a party is missing");
    assert!(matches!(refused.error(), SharingError::Parties { expected: 2, found: 1 }));
    let [mut first, mut second] = refused.into_inner();
    let [a, b] = shares(&two, 0..10, 4);
    first.merge(a).expect("another party");
    second.merge(b).expect("another party");
    assert!(first.open(second).is_ok(), "nothing was lost");

    let ([first, _], [_, other]) = (shares(&two, 0..10, 1), shares(&two, 0..10, 2));
    assert!(matches!(why(first.open(other)), SharingError::DifferentParties));
    let ([first, _], [same, _]) = (shares(&two, 0..10, 1), shares(&two, 0..10, 2));
    assert!(matches!(why(first.open(same)), SharingError::Server { expected: 1, found: 0 }));
}

#[test]
fn plans_fit_the_data_and_the_permit() {
    let two = plan(2);
    let make = |level| raw(general(), 0..10).into_shares(&two, permit(level), &mut noise(1));
    assert!(matches!(why(make(0.5)), SharingError::Plan) && matches!(why(make(2.0)), SharingError::Plan));
    assert_eq!(make(2.0).expect_err("another permit").into_inner(), raw(general(), 0..10), "nothing is lost");
    let wrong_mode = stream(general(), &[1], &mut noise(1)).into_shares(&two, permit(1.0), &mut noise(1));
    assert!(matches!(why(wrong_mode), SharingError::Plan));
    let coins = SharedNoise::new::<Presampled>(2, 2, Unit::Item, epsilon(1.0)).expect("a plan");
    let mut exposed = stream(general(), &[1], &mut noise(1));
    exposed.release_keeping(NoiseRule::Tight, Unit::Item, permit(1.0), &mut noise(2)).expect("a release");
    let refused = exposed.into_shares(&coins, permit(1.0), &mut noise(3));
    assert!(matches!(why(refused), SharingError::Mismatch(MergeError::Exposure { .. })));
}

/// A user with four items at each of three parties changes twelve cells, and the plan has noise for four.
#[test]
fn data_that_one_party_bounded_is_not_shared() {
    let user = Unit::user(4).expect("four");
    for unit in [user, Unit::Item] {
        let plan = SharedNoise::new::<Set>(3, 3, unit, epsilon(2.0)).expect("a plan");
        let bounded = raw(general(), 0..4).with_unit(user).expect("a first bound");
        assert!(matches!(bounded.check_shares(&plan), Err(SharingError::Bounded { found }) if found == user));
        let refused = bounded.clone().into_shares(&plan, permit(2.0), &mut noise(1)).expect_err("bounded");
        assert!(matches!(refused.error(), SharingError::Bounded { found } if *found == user));
        assert_eq!(refused.into_inner(), bounded);
        // The plan states the bound over all parties.
        assert!(raw(general(), 0..4).into_shares(&plan, permit(2.0), &mut noise(1)).is_ok());
    }
}

/// Ten parties of whom five may leave out their noise: all ten noises are there, and five are promised.
#[test]
fn an_opened_sum_states_no_better_level_than_its_honest_parties_give() {
    #[cfg(feature = "os-rng")]
    {
        let plan = SharedNoise::new::<Set>(10, 5, Unit::Item, epsilon(1.0)).expect("a plan");
        let mut secure = dp_noise::NoiseRng::from_os().expect("a generator");
        let mut party = || raw(general(), 0..4).into_shares(&plan, permit(1.0), &mut secure).expect("shares");
        let [mut first, mut second] = party();
        for [a, b] in (1..10).map(|_| party()) {
            first.merge(a).expect("another party");
            second.merge(b).expect("another party");
        }
        let opened = first.open(second).expect("all parties");
        let leaf = opened.leaves()[0];
        assert!(leaf.is_opened() && leaf.flip_probability() > 0.38, "more noise than the 0.269 of one release");
        assert!((leaf.realised_level() - 1.0).abs() < 1e-12);
        assert!((opened.epsilon_if_seen_alone().expect("secure noise") - 1.0).abs() < 1e-12);
        let read = PrivateF0Sketch::<Set>::from_bytes(&opened.to_bytes()).expect("its own bytes");
        assert_eq!(read, opened);
        // With a release at ε = 1 the level is that of two releases: c = tanh(1/2)^2, ln((1+c)/(1−c)) = 0.4338.
        let other = raw(general(), 0..4).release(permit(1.0), &mut secure).expect("a release");
        let merged = opened.merge(&other).expect("two releases");
        assert!((merged.epsilon_if_seen_alone().expect("secure noise") - 0.433_78).abs() < 1e-4);
    }
    assert!(plan(2).contrast() > 0.0);
}

/// 2 artanh(2⁻⁴⁰) for one honest party of one is the limit; a plan just above it opens to a sketch that can be read.
#[test]
fn plans_that_leave_nothing_are_refused() {
    assert!(SharedNoise::new::<Set>(57, 1, Unit::Item, epsilon(1.0)).is_err(), "a contrast of 7.8e-20");
    // tanh(1/2)^35 = 1.9e-12 and ^36 = 8.6e-13, around 2⁻⁴⁰ = 9.1e-13.
    assert!(SharedNoise::new::<Set>(36, 1, Unit::Item, epsilon(1.0)).is_err());
    let plan = SharedNoise::new::<Set>(35, 1, Unit::Item, epsilon(1.0)).expect("some signal");
    let party = |seed| raw(general(), 0..4).into_shares(&plan, permit(1.0), &mut noise(seed)).expect("shares");
    let [mut first, mut second] = party(0);
    for [a, b] in (1..35).map(party) {
        first.merge(a).expect("another party");
        second.merge(b).expect("another party");
    }
    let opened = first.open(second).expect("all parties");
    assert!((opened.contrast() / plan.contrast() - 1.0).abs() < 1e-6);
    let read = PrivateF0Sketch::<Set>::from_bytes_allowing_insecure_noise(&opened.to_bytes());
    assert_eq!(read.expect("its own bytes"), opened);
}

#[test]
fn ten_parties_behind_colluding_servers_are_left_with_little() {
    // c = tanh(1/2)^(1/10), p = (1 − c)/2, ln((1−p)/p) = 3.26.
    let plan = plan(10);
    assert!((plan.level_if_servers_collude() - 3.2555).abs() < 1e-3);
}
