//! Secret coins that are in two sketches: known for what they are, and never put together.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

mod support;

use dp_noise::hazmat::InsecureTestRng;
use f0_sketch::{
    CellShare, F0Sketch, MergeError, NoiseRule, Presampled, PrivateF0Sketch, Refused, ReleaseError, SharedNoise,
    SharingError, SketchPair, Unit,
};
use sketch_hash::DefaultHash;
use support::{bytes, empty, epsilon, general, noise, permit, released, stream};

type Stream = F0Sketch<Presampled>;

/// A copy, as a file makes it.
fn copy(sketch: &Stream) -> Stream {
    F0Sketch::from_sensitive_bytes(&bytes(sketch), DefaultHash::default()).unwrap()
}

fn keep(sketch: &mut Stream, random: &mut InsecureTestRng) -> PrivateF0Sketch<Presampled> {
    sketch.release_keeping(NoiseRule::Tight, Unit::Item, permit(2.0), random).unwrap()
}

/// Both ways of putting two releases together name both of them.
#[track_caller]
fn assert_kept_apart(a: &PrivateF0Sketch<Presampled>, b: &PrivateF0Sketch<Presampled>) {
    let ids = [a.leaves()[0].id(), b.leaves()[0].id()];
    let (merged, pair) = (a.merge(b).unwrap_err(), SketchPair::new(a, b).unwrap_err());
    for refused in [merged, pair, PrivateF0Sketch::merge_all(&[b, a]).unwrap_err()] {
        let MergeError::SharedCoins { coin, first, second } = refused else { panic!("{refused}") };
        assert!(ids.contains(&first) && ids.contains(&second) && first != second);
        assert!(a.coins().any(|(name, _)| name == coin) && b.coins().any(|(name, _)| name == coin));
    }
}

#[test]
fn two_releases_of_one_stream_are_kept_apart() {
    let mut random = noise(1);
    let mut raw = stream(general(), &[1, 2, 3], &mut random);
    let first = keep(&mut raw, &mut random);
    let second = keep(&mut raw, &mut random);
    assert_kept_apart(&first, &second);
    // More data in between makes no difference.
    raw.observe_u64_batch(&[4, 5], &mut random).unwrap();
    assert_kept_apart(&first, &keep(&mut raw, &mut random));
    // Nor do bytes.
    let read = |sketch: &PrivateF0Sketch<Presampled>| {
        PrivateF0Sketch::<Presampled>::from_bytes_allowing_insecure_noise(&sketch.to_bytes()).unwrap()
    };
    assert_kept_apart(&read(&first), &read(&second));
    let (kept, prepared) = raw.prepare_release(NoiseRule::Tight, Unit::Item, epsilon(1.0)).unwrap();
    let prepared = prepared.release(permit(1.0), &mut random).unwrap();
    assert_kept_apart(&first, &prepared);
    assert_kept_apart(&prepared, &released(kept, 1.0, &mut random));
}

#[test]
fn days_and_the_week_that_they_make_up_are_kept_apart_in_any_order() {
    let mut random = noise(2);
    let days: Vec<Stream> = (0..3).map(|day| stream(general(), &[day, 9], &mut random)).collect();
    let mut week = copy(&days[0]);
    for day in &days[1..] {
        week.merge(&mut copy(day)).unwrap();
    }
    assert_eq!(week.coins().len(), 3);
    // The week first, from copies: no day has a record of it.
    let week = released(week, 1.0, &mut random);
    let days: Vec<_> = days.into_iter().map(|day| released(day, 1.0, &mut random)).collect();
    for day in &days {
        assert_kept_apart(day, &week);
    }
    let all: Vec<_> = days.iter().collect();
    let union = PrivateF0Sketch::merge_all(&all).unwrap();
    assert_eq!((union.coins().len(), union.leaves().len()), (3, 3));
    // A merge knows the coins of all its releases.
    let refused = union.merge(&week).unwrap_err();
    assert!(matches!(refused, MergeError::SharedCoins { .. }), "{refused}");
}

#[test]
fn raw_streams_with_coins_in_common_do_not_merge_and_stay_as_they_are() {
    let mut random = noise(3);
    let mut raw = stream(general(), &[1, 2], &mut random);
    let mut other = copy(&raw);
    let before = bytes(&raw);
    for _ in 0..2 {
        let refused = raw.merge(&mut other).unwrap_err();
        assert!(matches!(refused, MergeError::RepeatedCoins { coin } if coin == raw.coins()[0]), "{refused}");
        assert_eq!((bytes(&raw), bytes(&other).len()), (before.clone(), before.len()));
        // Different cells by now, and still the same coins.
        other.observe_u64_batch(&[7; 9], &mut random).unwrap();
    }
    let mut unseen = copy(&raw).release_unseen(permit(1.0), &mut random).unwrap();
    let refused = unseen.absorb(other).unwrap_err();
    assert!(matches!(refused.error(), MergeError::RepeatedCoins { .. }));
    unseen.absorb(stream(general(), &[5], &mut random)).unwrap();
    let published = unseen.publish();
    assert_eq!((published.coins().len(), published.leaves().len()), (2, 1));
    assert_kept_apart(&published, &released(raw, 1.0, &mut random));
}

#[test]
fn a_merge_moves_the_coins_and_what_is_left_draws_its_own() {
    let mut random = noise(4);
    let (mut into, mut from) = (stream(general(), &[1], &mut random), stream(general(), &[2], &mut random));
    into.merge(&mut from).unwrap();
    assert_eq!((into.coins().len(), from.coins().len()), (2, 0));
    from.observe_u64(3, &mut random);
    assert_eq!(from.coins().len(), 1);
    assert!(!into.coins().contains(&from.coins()[0]));
    released(into, 1.0, &mut random).merge(&released(from, 1.0, &mut random)).unwrap();
}

#[test]
fn an_empty_stream_has_as_many_names_as_a_full_one() {
    let mut random = noise(5);
    let mut raws = [stream(general(), &[], &mut random), stream(general(), &[1, 2], &mut random), empty(general())];
    raws[2].rename_coins(&mut random).unwrap();
    for raw in &raws {
        assert_eq!(raw.coins().len(), 1);
    }
    let lengths = raws.map(|raw| released(raw, 1.0, &mut random).to_bytes().len());
    // One that nothing was ever observed into draws a name when it is released.
    let never: Stream = empty(general());
    let never = released(never, 1.0, &mut random);
    assert_eq!(never.coins().len(), 1);
    assert_eq!(lengths, [never.to_bytes().len(); 3]);
}

#[test]
fn renamed_coins_have_one_name() {
    let mut random = noise(6);
    let mut sum = stream(general(), &[1], &mut random);
    for item in 2..9 {
        sum.merge(&mut stream(general(), &[item], &mut random)).unwrap();
    }
    assert_eq!(sum.coins().len(), 8);
    let before = sum.coins().to_vec();
    sum.rename_coins(&mut random).unwrap();
    assert_eq!(sum.coins().len(), 1);
    assert!(!before.contains(&sum.coins()[0]));
}

#[test]
fn coins_that_were_released_keep_their_names() {
    let mut random = noise(9);
    let mut kept = stream(general(), &[1, 2], &mut random);
    let first = keep(&mut kept, &mut random);
    let mut recorded = stream(general(), &[1, 2], &mut random);
    recorded.record_release(Unit::Item, epsilon(1.0)).unwrap();
    let raw = stream(general(), &[1, 2], &mut random);
    let (prepared, _) = raw.prepare_release(NoiseRule::Tight, Unit::Item, epsilon(1.0)).unwrap();
    // Into a sketch of its own or read back: what went in was released.
    let mut sum = stream(general(), &[3], &mut random);
    sum.merge(&mut copy(&kept)).unwrap();
    for mut sketch in [copy(&kept), recorded, prepared, sum] {
        let before = bytes(&sketch);
        let refused = sketch.rename_coins(&mut random).unwrap_err();
        assert!(matches!(refused, ReleaseError::Named { releases: 1 }), "{refused}");
        assert_eq!(bytes(&sketch), before);
    }
    assert_kept_apart(&first, &released(kept, 1.0, &mut random));
}

#[test]
fn shares_state_the_coins_of_all_parties() {
    let mut random = noise(7);
    let plan = SharedNoise::new::<Presampled>(2, 2, Unit::Item, epsilon(1.0)).unwrap();
    let parties = [1, 2].map(|item| stream(general(), &[item], &mut random));
    let copied = copy(&parties[0]);
    let [mut first, second] =
        parties.map(|party| party.into_shares(&plan, permit(1.0), &mut random).map_err(Refused::into_error).unwrap());
    let again: [CellShare<Presampled>; 2] =
        copied.into_shares(&plan, permit(1.0), &mut random).map_err(Refused::into_error).unwrap();
    let [one, _] = again;
    let refused = first[0].merge(one).unwrap_err();
    assert!(matches!(refused.error(), SharingError::Mismatch(MergeError::RepeatedCoins { .. })));
    for (sum, share) in first.iter_mut().zip(second) {
        sum.merge(share).unwrap();
    }
    let [left, right] = first;
    let opened = left.open(right).map_err(Refused::into_error).unwrap();
    assert_eq!((opened.coins().len(), opened.leaves().len()), (2, 1));
}

#[test]
fn sets_have_no_coins() {
    let mut random = noise(8);
    let raw = support::raw(general(), 0..9);
    assert!(raw.coins().is_empty());
    let (a, b) = (released(raw.clone(), 1.0, &mut random), released(raw, 1.0, &mut random));
    assert_eq!(a.merge(&b).unwrap().coins().len(), 0, "two noisy copies of one set do merge");
}
