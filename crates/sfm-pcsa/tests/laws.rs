//! Laws that hold for any sketches.
#![expect(clippy::float_cmp, reason = "one half is exact")]

mod support;

use dp_noise::NoiseSource;
use proptest::prelude::*;
use sfm_pcsa::cardinality_estimators::{Confidence, Status};
use sfm_pcsa::{ChannelError, MergeError, MergeForm, ParamError, PcsaShape, PcsaSketch, SfmSketch, union_estimate};
use sketch_hash::{DefaultHash, Item, PrestoHash};
use sketch_testkit::{assert_associates, assert_commutes, assert_idempotent, assert_neutral, assert_round_trips};
use support::{Raw, noise, permit, raw, released};

fn shapes() -> impl Strategy<Value = PcsaShape> {
    (1..=9_u8).prop_flat_map(|index_bits| {
        (1..=64 - index_bits).prop_map(move |levels| PcsaShape::from_index_bits(index_bits, levels).expect("in range"))
    })
}

/// A shape and one it folds to.
fn foldable() -> impl Strategy<Value = (PcsaShape, PcsaShape)> {
    shapes().prop_flat_map(|from| {
        (1..=from.index_bits(), 1..=from.levels()).prop_map(move |(index_bits, levels)| {
            (from, PcsaShape::from_index_bits(index_bits, levels).expect("smaller"))
        })
    })
}

fn items() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![any::<u64>(), 0..50_u64], 0..200)
}

fn join(a: &Raw, b: &Raw) -> Raw {
    let mut joined = a.clone();
    joined.merge(b).expect("one hash and shape");
    joined
}

fn forms() -> impl Strategy<Value = MergeForm> {
    prop_oneof![Just(MergeForm::Extremal), Just(MergeForm::Symmetric)]
}

proptest! {
    #[test]
    fn raw_merging_is_the_union_of_sets(shape in shapes(), a in items(), b in items(), c in items()) {
        let [sa, sb, sc] = [&a, &b, &c].map(|items| raw(shape, items.iter().copied()));
        assert_commutes(&sa, &sb, join);
        assert_associates(&sa, &sb, &sc, join);
        assert_idempotent(&sa, join);
        assert_neutral(&raw(shape, []), &sa, join);
        prop_assert_eq!(join(&sa, &sb), raw(shape, a.into_iter().chain(b)));
    }

    #[test]
    fn order_and_repetition_do_not_matter(shape in shapes(), mut items in items()) {
        let once = raw(shape, items.iter().copied());
        items.reverse();
        items.extend_from_within(..);
        prop_assert_eq!(raw(shape, items), once);
    }

    #[test]
    fn every_way_to_add_an_item_sets_the_same_cell(shape in shapes(), texts in prop::collection::vec(".{0,20}", 0..50)) {
        let hash = DefaultHash::default();
        let mut singly = PcsaSketch::new(shape, hash.clone());
        let (mut typed, mut batched, mut hashed) = (singly.clone(), singly.clone(), singly.clone());
        for text in &texts {
            singly.update(text.as_bytes());
            typed.update_item(&Item::from(text.as_str()));
            hashed.update_hash(Item::from(text.as_str()).hash64(&hash));
        }
        let slices: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        batched.update_batch(&slices);
        prop_assert_eq!(&typed, &singly);
        prop_assert_eq!(&batched, &singly);
        prop_assert_eq!(&hashed, &singly);
    }

    #[test]
    fn folding_is_building_smaller((from, to) in foldable(), items in items()) {
        let folded = raw(from, items.iter().copied()).fold(to).expect("smaller");
        prop_assert_eq!(&folded, &raw(to, items));
        if from != to {
            prop_assert_eq!(folded.fold(from), Err(ParamError::Fold { from: to.into(), to: from.into() }));
        }
    }

    #[test]
    fn folding_and_merging_commute((from, to) in foldable(), a in items(), b in items()) {
        let [a, b] = [a, b].map(|items| raw(from, items));
        let fold = |sketch: &Raw| sketch.fold(to).expect("smaller");
        prop_assert_eq!(fold(&join(&a, &b)), join(&fold(&a), &fold(&b)));
    }

    #[test]
    fn raw_bytes_round_trip(shape in shapes(), items in items(), releases in 0..5) {
        let mut sketch = raw(shape, items.iter().copied());
        for _ in 0..releases {
            sketch.record_release();
        }
        let encode = |sketch: &Raw| sketch.to_sensitive_bytes().to_vec();
        assert_round_trips(&sketch, encode, |bytes| Raw::from_sensitive_bytes(bytes, DefaultHash::default()));
        let mut presto = PcsaSketch::new(shape, PrestoHash);
        presto.update_u64_batch(&items);
        let bytes = presto.to_sensitive_bytes();
        prop_assert_eq!(PcsaSketch::from_sensitive_bytes(&bytes, PrestoHash).expect("its own bytes"), presto);
        prop_assert!(PcsaSketch::from_sensitive_bytes(&bytes, DefaultHash::default()).is_err());
    }

    #[test]
    fn private_bytes_round_trip(
        shape in shapes(), items in items(), epsilons in prop::collection::vec(0.1..60.0, 1..5), seed: u64, form in forms(),
    ) {
        let mut coins = noise(seed);
        let mut joined = released(raw(shape, items.iter().copied()), epsilons[0], &mut coins);
        for &epsilon in &epsilons[1..] {
            let other = released(raw(shape, []), epsilon, &mut coins);
            joined = joined.merge(&other, form, &mut coins).expect("fresh releases");
            assert_round_trips(&joined, SfmSketch::to_bytes, SfmSketch::from_bytes_allowing_insecure_noise);
        }
        assert_round_trips(&joined, SfmSketch::to_bytes, SfmSketch::from_bytes_allowing_insecure_noise);
        prop_assert_eq!(joined.leaves().len(), epsilons.len());
    }

    #[test]
    fn merged_channels_do_not_depend_on_the_order(
        epsilons in prop::array::uniform3(0.2..8.0_f64), form in forms(), seed: u64,
    ) {
        let shape = PcsaShape::new(64, 4).expect("valid");
        let mut coins = noise(seed);
        let [a, b, c] = epsilons.map(|epsilon| released(raw(shape, 0..20), epsilon, &mut coins));
        let all = SfmSketch::merge_all(&[&a, &b, &c], form, &mut coins).expect("fresh releases").channel();
        let mut pairwise = |x: &SfmSketch, y: &SfmSketch, z: &SfmSketch| {
            let inner = x.merge(y, form, &mut coins).expect("fresh releases");
            inner.merge(z, form, &mut coins).expect("fresh releases").channel()
        };
        for channel in [pairwise(&a, &b, &c), pairwise(&c, &a, &b), pairwise(&b, &c, &a)] {
            prop_assert!((channel.p() / all.p() - 1.0).abs() < 1e-15);
            prop_assert!((channel.a() / all.a() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_xor_merge_is_the_exclusive_or_and_draws_nothing(
        index_bits in 1..8_u8, levels in 1..10_u8, count in 2..20_usize, seed: u64,
    ) {
        let shape = PcsaShape::from_index_bits(index_bits, levels).expect("valid");
        let mut coins = noise(seed);
        let parts: Vec<SfmSketch> = (0..count)
            .map(|_| raw(shape, 0..30).release_xor_family(permit(1.0), &mut coins).expect("a release"))
            .collect();
        let mut untouched = coins.clone();
        let merged = SfmSketch::merge_all(&parts.iter().collect::<Vec<_>>(), MergeForm::Xor, &mut coins).expect("p = 1/2");
        let ones = |sketch: &SfmSketch| sketch.to_bytes()[sketch.to_bytes().len() - 8 * shape.cells().div_ceil(64)..].to_vec();
        let parity = parts.iter().map(ones).reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a ^ b).collect());
        prop_assert_eq!(Some(ones(&merged)), parity);
        let [mut after, mut before] = [[0; 4]; 2];
        coins.fill_words(&mut after);
        untouched.fill_words(&mut before);
        prop_assert_eq!(after, before);
        let channel = merged.channel();
        let keep = (1.0 - (-1f64).exp()).powi(i32::try_from(count).expect("few"));
        prop_assert!(channel.p() == 0.5 && (channel.a() / keep - 1.0).abs() < 1e-12);
    }

    #[test]
    fn unions_do_not_depend_on_the_order(seed: u64, epsilons in prop::array::uniform3(1.0..8.0_f64)) {
        let shape = PcsaShape::new(256, 12).expect("valid");
        let mut coins = noise(seed);
        let [a, b, c] = epsilons.map(|epsilon| released(raw(shape, 0..2000), epsilon, &mut coins));
        let forwards = union_estimate(&[&a, &b, &c], Confidence::P95).expect("fresh releases");
        let backwards = union_estimate(&[&c, &b, &a], Confidence::P95).expect("fresh releases");
        prop_assert_eq!(forwards.status(), backwards.status());
        if let (Some(x), Some(y)) = (forwards.value(), backwards.value()) {
            prop_assert!((x - y).abs() <= 1e-9 * x.max(1.0), "{} {}", x, y);
        }
    }
}

#[test]
fn sketches_of_other_shapes_and_keys_are_refused_by_name() {
    let mut coins = noise(1);
    let small = released(raw(support::shape(64, 8), 0..10), 1.0, &mut coins);
    let large = released(raw(support::shape(128, 8), 0..10), 1.0, &mut coins);
    let message = small.merge(&large, MergeForm::Extremal, &mut coins).expect_err("another shape").to_string();
    assert!(message.contains("64 x 8") && message.contains("128 x 8"), "{message}");
    assert!(union_estimate(&[&small, &large], Confidence::P95).is_err());
    assert!(union_estimate(&[&small, &small], Confidence::P95).is_err());
    assert!(union_estimate::<PcsaShape>(&[], Confidence::P95).is_err());
    let mut raw_small = raw(support::shape(64, 8), []);
    let message = raw_small.merge(&raw(support::shape(64, 9), [])).expect_err("another shape").to_string();
    assert!(message.contains("64 x 8") && message.contains("64 x 9"), "{message}");
}

#[test]
fn a_union_of_hopelessly_noisy_sketches_has_no_value() {
    // a = 0.01 each: the products of 400 estimates reach 10^800.
    let mut coins = noise(3);
    let parts: Vec<SfmSketch> = (0..400).map(|_| released(raw(support::shape(64, 4), []), 0.01, &mut coins)).collect();
    let all: Vec<&SfmSketch> = parts.iter().collect();
    let union = union_estimate(&all, Confidence::P95).expect("an answer");
    assert_eq!((union.status(), union.value()), (Status::NotConverged, None));
    assert!(matches!(
        SfmSketch::merge_all(&all, MergeForm::Extremal, &mut coins),
        Err(MergeError::Channel(ChannelError::NoSignal { .. }))
    ));
}

#[test]
fn the_xor_merge_refuses_other_flips() {
    let mut coins = noise(2);
    let shape = support::shape(64, 8);
    let symmetric = released(raw(shape, 0..10), 1.0, &mut coins);
    let half = raw(shape, 0..10).release_xor_family(permit(1.0), &mut coins).expect("a release");
    assert!(symmetric.merge(&half, MergeForm::Xor, &mut coins).is_err());
    // The general forms take any mix.
    let mixed = symmetric.merge(&half, MergeForm::Extremal, &mut coins).expect("a merge");
    assert_eq!(mixed.channel().p(), 0.5);
}

#[test]
fn debug_output_shows_no_cells() {
    let shape = PcsaShape::DEFAULT;
    let (empty, full) = (raw(shape, []), raw(shape, 0..100_000));
    assert_eq!(format!("{empty:?}"), format!("{full:?}"));
    assert!(format!("{full:?}").len() < 300);
}
