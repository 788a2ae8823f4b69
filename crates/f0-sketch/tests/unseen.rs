//! Releases that nobody has seen take in more raw data.

mod support;

use f0_sketch::{F0Sketch, MergeError, NoiseRule, Presampled, Refused, Unit, WeightRule};
use support::{empty, general, noise, other_key, permit, raw, released, shape, stream};

/// Why raw data was refused.
fn why(absorbed: Result<(), Refused<support::Raw, MergeError>>) -> MergeError {
    absorbed.expect_err("a refusal").into_error()
}

#[test]
fn absorbed_data_is_released_as_if_it_had_been_there() {
    let parts = || (raw(general(), 0..40), raw(general(), 20..60), raw(general(), 50..90));
    let (first, second, third) = parts();
    let mut unseen = first.release_unseen(permit(1.0), &mut noise(1)).expect("a release");
    unseen.absorb(second).expect("one kind");
    unseen.absorb(third).expect("one kind");
    let (mut all, second, third) = parts();
    all.xor(&second).expect("one kind");
    all.xor(&third).expect("one kind");
    assert_eq!(unseen.publish(), released(all, 1.0, &mut noise(1)));
}

#[test]
fn only_raw_data_of_the_same_kind_for_items_is_absorbed() {
    let mut unseen = raw(general(), 0..40).release_unseen(permit(1.0), &mut noise(1)).expect("a release");
    let stranger: support::Raw = F0Sketch::new(general(), WeightRule::Unit, other_key());
    assert!(matches!(why(unseen.absorb(stranger)), MergeError::Hash { .. }));
    assert!(matches!(why(unseen.absorb(raw(shape(3, 32), []))), MergeError::Shape { .. }));
    let bounded = raw(general(), []).with_unit(Unit::user(2).expect("two")).expect("a first bound");
    assert!(matches!(why(unseen.absorb(bounded)), MergeError::Unit { .. }));
    assert_eq!(unseen.publish(), released(raw(general(), 0..40), 1.0, &mut noise(1)), "nothing changed");
}

/// Three items of a user in each of two parts are six cells at ε/3: 2ε.
#[test]
fn data_that_was_bounded_for_users_takes_in_no_more() {
    let user = Unit::user(3).expect("three");
    let bounded = || raw(general(), 0..3).with_unit(user).expect("a first bound");
    let mut unseen = bounded().release_unseen(permit(3.0), &mut noise(1)).expect("a release");
    let error = why(unseen.absorb(raw(general(), 3..6)));
    assert!(matches!(error, MergeError::Unit { first, second: Unit::Item } if first == user));
    assert!(matches!(why(unseen.absorb(bounded())), MergeError::Unit { .. }));
    assert_eq!(unseen.publish(), released(bounded(), 3.0, &mut noise(1)), "nothing changed");
    // A bound on what users have in all parts together is stated for the release.
    let whole = raw(general(), 0..3).release_unseen_with(NoiseRule::Tight, user, permit(3.0), &mut noise(1));
    let mut whole = whole.expect("a release");
    whole.absorb(raw(general(), 3..6)).expect("no part is bounded by itself");
    assert_eq!(whole.publish().units(), [user]);
}

#[test]
fn refused_raw_data_is_handed_back() {
    let mut unseen = raw(general(), 0..40).release_unseen(permit(1.0), &mut noise(1)).expect("a release");
    let other = raw(shape(3, 32), 0..9);
    let refused = unseen.absorb(other.clone()).expect_err("another shape");
    assert!(refused.to_string().starts_with("shape mismatch") && format!("{refused:?}").starts_with("Refused(Shape"));
    assert_eq!(refused.into_inner(), other);
}

#[test]
fn coins_that_were_released_need_noise_made_for_it() {
    let mut random = noise(2);
    let mut kept = stream(general(), &[1, 2, 3], &mut random);
    kept.release_keeping(NoiseRule::Tight, Unit::Item, permit(1.0), &mut random).expect("a release");
    let exposure = kept.exposure();
    let fresh: F0Sketch<Presampled> = stream(general(), &[4], &mut random);
    let unseen = fresh.release_unseen(permit(1.0), &mut random).expect("a release");
    let refused = unseen.check_absorb(&kept).expect_err("exposed");
    assert!(matches!(refused, MergeError::Exposure { found, .. } if found.to_bits() == exposure.to_bits()));
    // The other way round the noise is enough.
    let mut unseen = kept.release_unseen(permit(1.0), &mut random).expect("a release");
    unseen.absorb(stream(general(), &[4], &mut random)).expect("fresh coins");
    assert!(unseen.publish().leaves()[0].flip_probability() > 0.2);
}

#[test]
fn insecure_coins_mark_what_absorbs_them() {
    #[cfg(feature = "os-rng")]
    {
        let mut secure = dp_noise::NoiseRng::from_os().expect("a generator");
        let mut unseen = empty::<Presampled>(general()).release_unseen(permit(1.0), &mut secure).expect("entropy");
        unseen.absorb(stream(general(), &[1], &mut noise(1))).expect("one kind");
        assert!(unseen.publish().insecure_noise());
    }
    assert!(empty::<Presampled>(general()).is_zero());
}
