//! Faults that other sketch libraries had.

mod support;

use f0_sketch::{F0Sketch, MaxWeight, MergeError, Presampled, PrivateF0Sketch, ReleaseError, Set, Unit, WeightRule};
use sketch_hash::DefaultHash;
use sketch_testkit::assert_binomial;
use support::{Raw, bytes, empty, epsilon, general, noise, other_key, permit, raw, released, shape, stream};

#[test]
fn an_empty_sketch_merges_under_its_key_and_no_other() {
    let empty_bytes = bytes(&raw(general(), []));
    let none = Raw::from_sensitive_bytes(&empty_bytes, DefaultHash::default()).expect("its own bytes");
    let full = raw(general(), 0..1000);
    let mut joined = full.clone();
    joined.merge(&none).expect("one key");
    assert_eq!(bytes(&joined), bytes(&full));
    let stranger: Raw = F0Sketch::new(general(), WeightRule::Unit, other_key());
    for (mut into, from) in [(full, stranger.clone()), (stranger, none)] {
        let message = into.merge(&from).expect_err("another key").to_string();
        assert!(message.contains("hash key mismatch"), "{message}");
        assert!(message.contains(&into.hash_id().to_string()) && message.contains(&from.hash_id().to_string()));
    }
}

#[test]
fn an_empty_sketch_survives_a_round_trip() {
    let fresh = raw(general(), []);
    let read = Raw::from_sensitive_bytes(&bytes(&fresh), DefaultHash::default()).expect("its own bytes");
    assert!(read.is_zero());
    assert_eq!(bytes(&read), bytes(&fresh));
    let mut emptied = raw(general(), []);
    emptied.insert(b"x");
    assert!(!emptied.is_zero());
    emptied.delete(b"x");
    assert_eq!(bytes(&emptied), bytes(&fresh));
    let stream_bytes = bytes(&empty::<Presampled>(general()));
    let read = F0Sketch::<Presampled>::from_sensitive_bytes(&stream_bytes, DefaultHash::default());
    assert_eq!(bytes(&read.expect("its own bytes")), stream_bytes);
}

#[test]
fn merging_leaves_what_is_merged_in_alone_and_a_set_with_itself_is_empty() {
    let a = raw(general(), 0..2000);
    let before = bytes(&a);
    let mut b = raw(general(), []);
    b.merge(&a).expect("one key");
    assert_eq!((bytes(&a), bytes(&b)), (before.clone(), before));
    let mut twice = a.clone();
    twice.merge(&a).expect("one key");
    assert_eq!(twice, raw(general(), []));

    let mut random = noise(1);
    let (first, second) = (released(a, 1.0, &mut random), released(b, 1.0, &mut random));
    let (before, other) = (first.to_bytes(), second.to_bytes());
    let merged = first.merge(&second).expect("two releases");
    assert_eq!((first.to_bytes(), second.to_bytes()), (before, other));
    assert!(matches!(first.merge(&first), Err(MergeError::RepeatedRelease { .. })));
    assert!(matches!(merged.merge(&second), Err(MergeError::RepeatedRelease { .. })), "nor inside a merge");
}

#[test]
fn releases_add_up_and_stop_at_the_top() {
    let mut a = raw(general(), 0..10);
    assert_eq!((a.record_release(), a.record_release()), (1, 2));
    let mut b = raw(general(), 0..10);
    b.record_release();
    b.xor(&a).expect("one key");
    assert_eq!(b.releases(), 3, "data that was released three times");
    assert!(b.is_zero());
    let mut full = bytes(&b);
    // The count stands behind header and frame.
    let at = 32 + 26 + 3 * 12;
    full[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    sketch_testkit::reseal(&mut full);
    let mut most = Raw::from_sensitive_bytes(&full, DefaultHash::default()).expect("a right checksum");
    assert_eq!(most.record_release(), u32::MAX);
    most.xor(&a).expect("one key");
    assert_eq!(most.releases(), u32::MAX);
}

/// An empty sketch is released like any other. False alarm 10⁻⁶.
#[test]
fn a_release_of_nothing_is_full_of_noise() {
    let released = released(raw(shape(24, 4096), []), 1.0, &mut noise(2));
    let ones: u64 = released.ones_per_table().iter().sum();
    assert_binomial(ones, 98_304, 1.0 / (1.0 + 1_f64.exp()));
    let coins: F0Sketch<Presampled> = empty(shape(24, 4096));
    let released = support::released(coins, 1.0, &mut noise(3));
    assert_binomial(released.ones_per_table().iter().sum(), 98_304, (-1_f64).exp() / 2.0);
}

#[test]
fn refused_releases_say_why_before_anything_is_paid() {
    let bounded = raw(general(), 0..3).with_unit(Unit::user(3).expect("three")).expect("a first bound");
    let other = Unit::user(2).expect("two");
    for unit in [Unit::Item, other] {
        let refused = bounded.check_release(unit, epsilon(1.0)).expect_err("bounded for others");
        assert!(
            matches!(refused, ReleaseError::Unit { expected, found } if (expected, found) == (bounded.unit(), unit))
        );
    }
    assert!(bounded.check_release(bounded.unit(), epsilon(1.0)).is_ok());
    let many = Unit::user(1_000_000).expect("many");
    let unbounded = raw(general(), 0..3);
    let refused = unbounded.check_release(many, epsilon(1e-4)).expect_err("below the least ε");
    assert!(matches!(refused, ReleaseError::Share { cells: 1_000_000, .. }), "{refused}");
    let mut stream: F0Sketch<Presampled> = empty(general());
    let before = bytes(&stream);
    assert!(stream.record_release(many, epsilon(1e-4)).is_err());
    let kept = stream.release_keeping(f0_sketch::NoiseRule::Tight, many, permit(1e-4), &mut noise(1));
    assert!(kept.is_err());
    assert_eq!(bytes(&stream), before);
}

/// Three items at ε/3 each: stated anew as one item at ε, they would lose 3ε.
#[test]
fn a_bound_on_users_is_stated_once() {
    let [three, one] = [3, 1].map(|items| Unit::user(items).expect("some"));
    let bounded = raw(general(), 0..3).with_unit(three).expect("a first bound");
    for unit in [one, Unit::Item, Unit::user(4).expect("four")] {
        let refused = bounded.clone().with_unit(unit);
        assert!(matches!(refused, Err(ReleaseError::Unit { expected, found }) if (expected, found) == (three, unit)));
    }
    assert_eq!(bounded.clone().with_unit(three).expect("the same").unit(), three);
}

/// The name of a bad weight would be a person's value.
#[test]
fn refused_weights_are_not_repeated() {
    let max = MaxWeight::new(10.0).expect("in range");
    for (value, why) in [(-12_345.5, "negative"), (f64::INFINITY, "infinite"), (f64::NAN, "not a number")] {
        let error = max.weight(value).expect_err("no weight");
        let shown = format!("{error} {error:?}");
        assert!(
            error.to_string().ends_with(&format!("found one that is {why}")) && !shown.contains("12345"),
            "{shown}"
        );
    }
}

/// Recorded for ten users at ε/10 and released at ε for an item, the next release would be made with too little noise.
#[test]
fn a_prepared_release_is_held_to_its_record() {
    let rule = f0_sketch::NoiseRule::Tight;
    let many = Unit::user(10).expect("ten");
    let make = || stream(general(), &[1, 2, 3], &mut noise(1)).prepare_release(rule, many, epsilon(1.0));
    let (kept, prepared) = make().expect("in range");
    assert_eq!((prepared.unit(), prepared.epsilon()), (many, epsilon(1.0)));
    let refused = prepared.release(permit(2.0), &mut noise(2));
    assert!(matches!(refused, Err(ReleaseError::Permit { expected: 1.0, found: 2.0 })));
    let (again, prepared) = make().expect("in range");
    assert_eq!(again, kept);
    let released = prepared.release(permit(1.0), &mut noise(2)).expect("a release");
    assert_eq!(released.units(), [many]);
    // What was written back is what a sketch that was kept would record.
    let mut direct = stream(general(), &[1, 2, 3], &mut noise(1));
    assert_eq!(direct.release_keeping(rule, many, permit(1.0), &mut noise(2)).expect("a release"), released);
    assert!((direct.exposure() / kept.exposure() - 1.0).abs() < 1e-12 && kept.exposure() >= direct.exposure());
    assert!(stream(general(), &[1], &mut noise(1)).prepare_release(rule, many, epsilon(1e-9)).is_err());
}

#[test]
fn coins_that_are_moved_leave_no_record_behind() {
    let mut random = noise(1);
    let mut from = stream(general(), &[1], &mut random);
    from.record_release(Unit::Item, epsilon(1.0)).expect("in range");
    let mut into = stream(general(), &[2], &mut random);
    into.merge(&mut from).expect("one kind");
    assert_eq!((into.releases(), from.releases()), (1, 0));
    assert_eq!(bytes(&from), bytes(&empty::<Presampled>(general())));
}

#[test]
fn debug_shows_no_cell_and_no_key() {
    let sketch = raw(general(), 0..50);
    let shown = format!("{sketch:?}");
    assert!(shown.starts_with("F0Sketch { mode: Set, shape: F0Shape(3 tables of 96 cells), weights: Unit"), "{shown}");
    assert!(shown.contains("..") && !shown.contains("cells:") && !shown.contains("words"));
    let bytes = sketch.to_sensitive_bytes();
    assert_eq!(format!("{bytes:?}"), format!("SensitiveBytes({} bytes)", bytes.len()));
    let private = released(sketch.clone(), 1.0, &mut noise(1));
    let shown = format!("{private:?}");
    assert!(shown.contains("releases: 1") && !shown.contains("bits"), "{shown}");
    let unseen = sketch.release_unseen(permit(1.0), &mut noise(1)).expect("a release");
    assert!(!format!("{unseen:?}").contains("bits"));
}

#[test]
fn noise_and_names_of_releases_never_coincide() {
    let mut random = noise(7);
    let released: Vec<PrivateF0Sketch<Set>> = (0..50).map(|_| released(raw(general(), []), 1.0, &mut random)).collect();
    let mut noises: Vec<Vec<u8>> =
        released.iter().map(|sketch| sketch.to_bytes()[32 + 26 + 36 + 8 + 37 + 8..].to_vec()).collect();
    noises.sort();
    noises.dedup();
    let mut names: Vec<_> = released.iter().map(|sketch| sketch.leaves()[0].id()).collect();
    names.sort();
    names.dedup();
    assert_eq!((noises.len(), names.len()), (50, 50));
}

#[cfg(feature = "os-rng")]
#[test]
fn insecure_coins_mark_what_is_released_from_them() {
    let mut secure = dp_noise::NoiseRng::from_os().expect("a generator");
    let mut clean: F0Sketch<Presampled> = empty(general());
    clean.observe_u64_batch(&[1, 2], &mut secure).expect("entropy");
    let mut tainted = support::stream(general(), &[3], &mut noise(1));
    let read = F0Sketch::<Presampled>::from_sensitive_bytes(&bytes(&tainted), DefaultHash::default());
    assert!(released(read.expect("its own bytes"), 1.0, &mut secure).insecure_noise(), "also through bytes");
    clean.merge(&mut tainted).expect("one kind");
    assert!(released(clean, 1.0, &mut secure).insecure_noise(), "and through merges");
    // What was moved out left nothing behind.
    assert!(!released(tainted, 1.0, &mut secure).insecure_noise());
    let single = &mut empty::<Presampled>(general());
    single.observe(b"x", &mut noise(1));
    assert!(
        single
            .release_keeping(f0_sketch::NoiseRule::Tight, Unit::Item, permit(1.0), &mut secure)
            .expect("entropy")
            .insecure_noise()
    );
}

#[test]
fn a_largest_weight_is_part_of_the_kind() {
    let weighted = |max| -> Raw {
        let rule = WeightRule::Weighted(MaxWeight::new(max).expect("in range"));
        F0Sketch::new(general(), rule, DefaultHash::default())
    };
    let error = weighted(1.0).merge(&weighted(2.0)).expect_err("another unit");
    assert_eq!(error.to_string(), "weight mismatch: expected weights up to 1, found weights up to 2");
}
