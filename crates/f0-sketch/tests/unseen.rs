//! Releases that nobody has seen take in more raw data.

mod support;

use f0_sketch::{F0Sketch, MergeError, NoiseRule, Presampled, Unit, WeightRule};
use support::{empty, general, noise, other_key, permit, raw, released, shape, stream};

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
    assert!(matches!(unseen.absorb(stranger), Err(MergeError::Hash { .. })));
    assert!(matches!(unseen.absorb(raw(shape(3, 32), [])), Err(MergeError::Shape { .. })));
    let bounded = raw(general(), []).with_unit(Unit::user(2).expect("two"));
    assert!(matches!(unseen.absorb(bounded), Err(MergeError::Unit { .. })));
    assert_eq!(unseen.publish(), released(raw(general(), 0..40), 1.0, &mut noise(1)), "nothing changed");
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
