//! Linear counting, Bloom filters and Liquid Legions obey the laws of PCSA: written once, for any shape.

mod support;

use dp_noise::NoiseSource;
use proptest::prelude::*;
use sfm_pcsa::cardinality_estimators::{Confidence, Status};
use sfm_pcsa::diagnostics::legions_boundaries;
use sfm_pcsa::{
    BitmapShape, BloomShape, DecodeError, LegionsShape, LinearShape, MergeError, MergeForm, ParamError, PrivateBitmap,
    RawBitmap, union_estimate,
};
use sketch_hash::{DefaultHash, Item, KeyedHash, PrestoHash};
use sketch_testkit::{assert_associates, assert_commutes, assert_idempotent, assert_neutral, assert_round_trips};
use support::{noise, other_key, permit, raw, released};

fn items() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![any::<u64>(), 0..50_u64], 0..200)
}

/// A shape of each family.
fn shapes() -> impl Strategy<Value = (LinearShape, BloomShape, LegionsShape)> {
    (2..3000_u32, 1..=64_u8, 0.0625..=24.0).prop_map(|(cells, hashes, decay)| {
        let linear = LinearShape::new(cells).expect("in range");
        let bloom = BloomShape::new(cells, hashes).expect("in range");
        (linear, bloom, LegionsShape::new(cells, decay).expect("in range"))
    })
}

fn join<S: BitmapShape>(a: &RawBitmap<S>, b: &RawBitmap<S>) -> RawBitmap<S> {
    let mut joined = a.clone();
    joined.merge(b).expect("one hash and shape");
    joined
}

fn merging_is_the_union<S: BitmapShape>(shape: S, a: &[u64], b: &[u64], c: &[u64]) {
    let sketch = |items: &[u64]| raw(shape, items.iter().copied());
    let [sa, sb, sc] = [a, b, c].map(sketch);
    assert_commutes(&sa, &sb, join);
    assert_associates(&sa, &sb, &sc, join);
    assert_idempotent(&sa, join);
    assert_neutral(&sketch(&[]), &sa, join);
    let both: Vec<u64> = b.iter().chain(a).chain(b).copied().collect();
    assert_eq!(join(&sa, &sb), sketch(&both));
    assert_eq!(sa.is_empty(), a.is_empty());
}

fn every_way_to_add_an_item_agrees<S: BitmapShape>(shape: S, texts: &[String], integers: &[u64]) {
    let mut singly = RawBitmap::new(shape, DefaultHash::default());
    let (mut typed, mut batched) = (singly.clone(), singly.clone());
    for text in texts {
        singly.update(text.as_bytes());
        typed.update_item(&Item::from(text.as_str()));
    }
    for &integer in integers {
        singly.update_u64(integer);
        typed.update_item(&Item::from(integer));
    }
    batched.update_batch(&texts.iter().map(String::as_bytes).collect::<Vec<_>>());
    batched.update_u64_batch(integers);
    assert_eq!(typed, singly);
    assert_eq!(batched, singly);
}

fn raw_bytes_round_trip<S: BitmapShape>(shape: S, items: &[u64]) {
    let mut sketch = raw(shape, items.iter().copied());
    sketch.record_release();
    let encode = |sketch: &RawBitmap<S>| sketch.to_sensitive_bytes().to_vec();
    assert_round_trips(&sketch, encode, |bytes| RawBitmap::from_sensitive_bytes(bytes, DefaultHash::default()));
    let refused = RawBitmap::<S, _>::from_sensitive_bytes(&encode(&sketch), PrestoHash).expect_err("another hash");
    assert!(matches!(refused, DecodeError::HashMismatch { .. }));
    assert!(PrivateBitmap::<S>::from_bytes_allowing_insecure_noise(&encode(&sketch)).is_err());
}

fn private_bytes_round_trip<S: BitmapShape>(shape: S, items: &[u64], seed: u64) {
    let mut coins = noise(seed);
    let a = released(raw(shape, items.iter().copied()), 20.0, &mut coins);
    let b = released(raw(shape, []), 64.0, &mut coins);
    let read = PrivateBitmap::<S>::from_bytes_allowing_insecure_noise;
    for form in [MergeForm::Extremal, MergeForm::Symmetric] {
        let merged = a.merge(&b, form, &mut coins).expect("fresh releases");
        assert_round_trips(&merged, PrivateBitmap::to_bytes, read);
        assert_eq!((merged.epsilon(), merged.epsilon_total()), (64.0, Some(84.0)));
    }
    assert_round_trips(&a, PrivateBitmap::to_bytes, read);
    assert!(matches!(PrivateBitmap::<S>::from_bytes(&a.to_bytes()), Err(DecodeError::InsecureNoise)));
}

fn folding_is_building_smaller<S: BitmapShape>(from: S, to: S, items: &[u64]) {
    let folded = raw(from, items.iter().copied()).fold(to).expect("a divisor");
    assert_eq!(folded, raw(to, items.iter().copied()));
    if from != to {
        let refused = folded.fold(from);
        assert_eq!(refused, Err(ParamError::Fold { from: to.into(), to: from.into() }));
    }
}

/// Everything in a private file behind the history.
fn cells_of<S: BitmapShape>(sketch: &PrivateBitmap<S>) -> Vec<u8> {
    let bytes = sketch.to_bytes();
    bytes[bytes.len() - 8 * sketch.shape().cells().div_ceil(64)..].to_vec()
}

fn the_xor_merge_draws_nothing<S: BitmapShape>(shape: S, seed: u64) {
    let mut coins = noise(seed);
    let parts = [0, 1, 2].map(|part| {
        let sketch = raw(shape, part * 20..part * 20 + 30);
        sketch.release_xor_family(permit(64.0), &mut coins).expect("a release")
    });
    let mut untouched = coins.clone();
    let merged = PrivateBitmap::merge_all(&parts.each_ref(), MergeForm::Xor, &mut coins).expect("p = 1/2");
    let parity = parts.iter().map(cells_of).reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a ^ b).collect());
    assert_eq!(Some(cells_of(&merged)), parity);
    let [mut after, mut before] = [[0; 4]; 2];
    coins.fill_words(&mut after);
    untouched.fill_words(&mut before);
    assert_eq!(after, before);
}

fn what_does_not_belong_together_is_refused<S: BitmapShape>(shape: S, other: S) {
    let mut coins = noise(1);
    let mut release = |sketch: RawBitmap<S>| released(sketch, 64.0, &mut coins);
    let (a, b) = (release(raw(shape, 0..10)), release(raw(other, 0..10)));
    let foreign = RawBitmap::new(shape, other_key());
    let c = foreign.release(permit(64.0), &mut noise(2)).expect("a release");
    let mut coins = noise(3);
    for form in [MergeForm::Extremal, MergeForm::Symmetric, MergeForm::Xor] {
        let refused = a.merge(&b, form, &mut coins).expect_err("another shape");
        let message = refused.to_string();
        assert!(message.contains(&shape.to_string()) && message.contains(&other.to_string()), "{message}");
        assert!(matches!(a.merge(&c, form, &mut coins), Err(MergeError::Hash { .. })));
        assert!(matches!(a.merge(&a, form, &mut coins), Err(MergeError::RepeatedRelease { .. })));
    }
    for wrong in [[&a, &b], [&a, &c], [&a, &a]] {
        assert!(union_estimate(&wrong, Confidence::P95).is_err());
    }
    let mut first = raw(shape, 0..10);
    assert!(matches!(first.merge(&raw(other, [])), Err(MergeError::Shape { .. })));
    assert_eq!(first, raw(shape, 0..10));
}

proptest! {
    #[test]
    fn raw_sketches_merge_to_the_union_of_sets((linear, bloom, legions) in shapes(), a in items(), b in items(), c in items()) {
        merging_is_the_union(linear, &a, &b, &c);
        merging_is_the_union(bloom, &a, &b, &c);
        merging_is_the_union(legions, &a, &b, &c);
    }

    #[test]
    fn items_are_the_same_however_they_are_added(
        (linear, bloom, legions) in shapes(), texts in prop::collection::vec(".{0,20}", 0..30), integers in items(),
    ) {
        every_way_to_add_an_item_agrees(linear, &texts, &integers);
        every_way_to_add_an_item_agrees(bloom, &texts, &integers);
        every_way_to_add_an_item_agrees(legions, &texts, &integers);
    }

    #[test]
    fn bytes_round_trip((linear, bloom, legions) in shapes(), items in items(), seed: u64) {
        raw_bytes_round_trip(linear, &items);
        raw_bytes_round_trip(bloom, &items);
        raw_bytes_round_trip(legions, &items);
        private_bytes_round_trip(linear, &items, seed);
        private_bytes_round_trip(bloom, &items, seed);
        private_bytes_round_trip(legions, &items, seed);
    }

    #[test]
    fn rows_fold_to_divisors(
        small in 2..200_u32, joined in 1..20_u32, hashes in 1..=64_u8, decay in 0.0625..=24.0_f64, items in items(),
    ) {
        let cells = small * joined;
        let linear = [cells, small].map(|cells| LinearShape::new(cells).expect("in range"));
        let bloom = [cells, small].map(|cells| BloomShape::new(cells, hashes).expect("in range"));
        let legions = [cells, small].map(|cells| LegionsShape::new(cells, decay).expect("in range"));
        folding_is_building_smaller(linear[0], linear[1], &items);
        folding_is_building_smaller(bloom[0], bloom[1], &items);
        folding_is_building_smaller(legions[0], legions[1], &items);
    }

    #[test]
    fn xor_merges_are_exclusive_ors((linear, bloom, legions) in shapes(), seed: u64) {
        the_xor_merge_draws_nothing(linear, seed);
        the_xor_merge_draws_nothing(bloom, seed);
        the_xor_merge_draws_nothing(legions, seed);
    }

    #[test]
    fn legions_boundaries_fold_exactly(small in 2..100_u32, joined in 1..300_u32, decay in 0.0625..=24.0_f64) {
        let firsts = |cells| legions_boundaries(LegionsShape::new(cells, decay).expect("in range"));
        let every: Vec<u64> = firsts(small * joined).into_iter().step_by(joined as usize).collect();
        prop_assert_eq!(every, firsts(small));
    }
}

#[test]
fn other_shapes_other_keys_and_used_releases_are_refused() {
    let linear = [100, 200].map(|cells| LinearShape::new(cells).expect("in range"));
    what_does_not_belong_together_is_refused(linear[0], linear[1]);
    let bloom = [3, 4].map(|hashes| BloomShape::new(100, hashes).expect("in range"));
    what_does_not_belong_together_is_refused(bloom[0], bloom[1]);
    let legions = [8.0, 9.0].map(|decay| LegionsShape::new(100, decay).expect("in range"));
    what_does_not_belong_together_is_refused(legions[0], legions[1]);
}

#[test]
fn shapes_out_of_range_are_refused_with_the_range() {
    let message = |error: ParamError| error.to_string();
    assert!(message(LinearShape::new(1).expect_err("one cell")).contains("2 ..= 67108864, found 1"));
    assert!(LinearShape::new(LinearShape::MAX_CELLS).is_ok() && LinearShape::new(LinearShape::MAX_CELLS + 1).is_err());
    assert!(BloomShape::new(BloomShape::MAX_CELLS + 1, 1).is_err() && BloomShape::new(0, 1).is_err());
    assert!(message(BloomShape::new(2, 0).expect_err("no hash")).contains("1 ..= 64, found 0"));
    assert!(BloomShape::new(2, 65).is_err() && BloomShape::new(2, 64).is_ok());
    assert!(LegionsShape::new(LegionsShape::MAX_CELLS + 1, 12.0).is_err());
    for decay in [0.0, -1.0, 0.06, 24.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(LegionsShape::new(100, decay), Err(ParamError::Decay { .. })), "{decay}");
    }
    assert_eq!(LegionsShape::default(), LegionsShape::new(100_000, 12.0).expect("in range"));
}

#[test]
fn folds_that_are_not_exact_are_refused() {
    let linear = |cells| LinearShape::new(cells).expect("in range");
    assert!(raw(linear(100), []).fold(linear(30)).is_err() && raw(linear(100), []).fold(linear(200)).is_err());
    let bloom = |cells, hashes| BloomShape::new(cells, hashes).expect("in range");
    assert!(raw(bloom(100, 3), []).fold(bloom(50, 2)).is_err());
    let legions = |cells, decay| LegionsShape::new(cells, decay).expect("in range");
    assert!(raw(legions(100, 3.0), []).fold(legions(50, 3.5)).is_err());
}

fn ends_have_their_status<S: BitmapShape>(shape: S, hashes_of_all: impl Fn(u64) -> S::Digest) {
    let mut sketch = raw(shape, []);
    assert_eq!(sketch.estimate(Confidence::P95).status(), Status::Empty);
    for word in 0..1 << 16 {
        sketch.update_hash(hashes_of_all(word << 48));
    }
    assert_eq!(sketch.estimate(Confidence::P95).status(), Status::Saturated);
    let mut coins = noise(9);
    let full = released(sketch, 64.0, &mut coins);
    assert!(full.estimate(Confidence::P95).value().is_none());
    let empty = released(raw(shape, []), 64.0, &mut coins).estimate(Confidence::P95);
    assert_eq!(empty.value(), Some(0.0), "an empty sketch is released like any other");
}

#[test]
fn empty_and_full_sketches_have_their_status() {
    ends_have_their_status(LinearShape::new(500).expect("in range"), |word| word);
    ends_have_their_status(BloomShape::new(500, 3).expect("in range"), |word| [word, word.rotate_left(7)]);
    ends_have_their_status(LegionsShape::new(100, 3.0).expect("in range"), |word| word);
}

#[test]
fn raw_sketches_print_their_shape_and_nothing_else() {
    let sketch = raw(BloomShape::new(300, 2).expect("in range"), 0..50);
    let shown = format!("{sketch:?}");
    assert!(shown.starts_with("BloomSketch { shape: BloomShape { cells: 300, hashes: 2 }, hash: "), "{shown}");
    let private = released(raw(LinearShape::new(64).expect("in range"), 0..50), 2.0, &mut noise(1));
    assert!(format!("{private:?}").starts_with("PrivateLinearCounting { shape: LinearShape"), "{private:?}");
}

#[test]
fn every_hash_function_places_items_by_its_own_bits() {
    let shape = BloomShape::new(1000, 5).expect("in range");
    let mut presto = RawBitmap::new(shape, PrestoHash);
    presto.update_u64(17);
    let mut by_hash = RawBitmap::new(shape, PrestoHash);
    by_hash.update_hash(PrestoHash.hash128_word(sketch_hash::Domain::Integer, 17));
    assert_eq!(presto, by_hash);
}
