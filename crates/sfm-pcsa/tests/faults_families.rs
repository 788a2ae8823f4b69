//! Faults found in other implementations, as tests of this one, for every family and for many groups: wrong memory
//! figures, empty sets that tell they are empty, empty sketches that do not merge, sketches that have no level.

mod support;

use dp_noise::NoiseSource;
use sfm_pcsa::cardinality_estimators::Confidence;
use sfm_pcsa::{
    BitmapShape, BloomShape, LegionsShape, LinearShape, MergeError, MergeForm, PcsaCells, PcsaShape, PrivateBitmap,
    RawBitmap, SfmSketch, UnionError, set_estimate, union_estimate,
};
use sketch_hash::{DefaultHash, Item};
use support::{noise, other_key, permit, raw, released};

/// Calls a generic check with a shape of every family.
macro_rules! for_every_family {
    ($check:ident) => {{
        $check(PcsaShape::new(256, 16).expect("a valid shape"));
        $check(LinearShape::new(3000).expect("a valid shape"));
        $check(BloomShape::new(3000, 3).expect("a valid shape"));
        $check(LegionsShape::new(3000, 10.0).expect("a valid shape"));
    }};
}

// prestodb/presto#21722: the memory of a grouped merge was counted down below zero.

#[test]
fn p2_stated_memory_covers_every_live_buffer_and_falls_with_the_groups() {
    let hash = DefaultHash::default();
    let shape = PcsaShape::DEFAULT;
    let stated = |groups: &[PcsaCells]| groups.iter().map(PcsaCells::heap_bytes).sum::<usize>();
    let mut groups = vec![PcsaCells::new(shape); 1000];
    assert_eq!(stated(&groups), 0);
    for (group, cells) in groups.iter_mut().enumerate().filter(|(group, _)| group % 2 == 0) {
        for item in 0..20_u64 {
            cells.insert_hash(Item::from(1000 * item + group as u64).hash64(&hash));
        }
    }
    // 20 cells of four bytes are live in every second group.
    let sparse = stated(&groups);
    assert!(sparse >= 500 * 20 * 4, "{sparse}");
    let mut dense = PcsaCells::new(shape);
    for item in 0..100_000_u64 {
        dense.insert_hash(Item::from(item).hash64(&hash));
    }
    for cells in &mut groups {
        cells.merge(&dense).expect("one shape");
    }
    let all = stated(&groups);
    assert!(all >= 1000 * shape.cells() / 8, "{all}");
    groups.drain(..500);
    let half = stated(&groups);
    assert!(half >= 500 * shape.cells() / 8 && half < all, "{half} of {all}");
    groups.clear();
    assert_eq!(stated(&groups), 0);
}

// prestodb/presto#21290: NULL over no rows tells that the group is empty.

#[test]
fn p3_an_empty_set_is_released_as_noise_and_estimated_as_a_count() {
    let mut coins = noise(21_290);
    for _ in 0..20 {
        let empty: SfmSketch = released(raw(PcsaShape::DEFAULT, []), 1.0, &mut coins);
        // 98,304 cells that are one with q = 1/(1 + e): 26,438 with standard deviation 139. Six of them are exceeded with
        // probability 2e-9.
        let ones: u64 = empty.ones_per_level().iter().sum();
        assert!(ones.abs_diff(26_438) <= 6 * 139, "{ones}");
        let answer = empty.estimate(Confidence::P95);
        // The noise floor is 106 items.
        assert!(answer.value().is_some_and(|n| (0.0..1000.0).contains(&n)), "{answer}");
    }
}

#[test]
fn p3_empty_sets_of_every_family_are_released_like_any_other() {
    fn check<S: BitmapShape>(shape: S) {
        let mut coins = noise(3);
        let [empty, full] = [0, 500].map(|items| released(raw(shape, 0..items), 2.0, &mut coins));
        assert_eq!(empty.to_bytes().len(), full.to_bytes().len());
        assert_eq!((empty.epsilon(), empty.channel()), (full.epsilon(), full.channel()));
        assert!(empty.estimate(Confidence::P95).value().is_some());
    }
    for_every_family!(check);
}

// apache/druid#10042 and apache/datasketches-rust#143: empty sketches that did not merge or not survive their own bytes.

#[test]
fn p4_p5_empty_sketches_of_every_family_keep_their_key_and_survive_a_round_trip() {
    fn check<S: BitmapShape>(shape: S) {
        let thousand = raw(shape, 0..1000);
        let bytes = raw(shape, []).to_sensitive_bytes();
        let mut empty = RawBitmap::<S>::from_sensitive_bytes(&bytes, DefaultHash::default()).expect("its own bytes");
        assert!(empty.is_empty());
        assert_eq!(empty.to_sensitive_bytes(), bytes);
        empty.merge(&thousand).expect("the same key");
        assert_eq!(empty.to_sensitive_bytes(), thousand.to_sensitive_bytes());

        let mut foreign = RawBitmap::new(shape, other_key());
        let before = foreign.to_sensitive_bytes();
        let message = foreign.merge(&thousand).expect_err("another key").to_string();
        assert!(message.contains(&thousand.hash_id().key().to_string()), "{message}");
        assert!(message.contains(&foreign.hash_id().key().to_string()), "{message}");
        assert_eq!(foreign.to_sensitive_bytes(), before);
    }
    for_every_family!(check);
}

// google/zetasketch#17: merging changed the sketch merged from.

#[test]
fn p6_merging_leaves_sources_of_every_family_alone_and_no_release_counts_twice() {
    fn check<S: BitmapShape>(shape: S) {
        let source = raw(shape, 0..2000);
        let before = source.to_sensitive_bytes();
        let mut target = raw(shape, []);
        target.merge(&source).expect("one hash and shape");
        assert_eq!((source.to_sensitive_bytes(), &target), (before, &source));

        let mut coins = noise(6);
        let a = released(source, 2.0, &mut coins);
        let refused = a.merge(&a, MergeForm::Extremal, &mut coins);
        assert!(matches!(refused, Err(MergeError::RepeatedRelease { .. })));
    }
    for_every_family!(check);
}

// Query-farm/datasketches#8: a worker that saw no rows.

#[test]
fn p9_workers_without_rows_are_neutral_in_every_family() {
    fn check<S: BitmapShape>(shape: S) {
        let mut joined = raw(shape, []);
        for rows in [0..0, 0..100, 0..0] {
            joined.merge(&raw(shape, rows)).expect("one hash and shape");
        }
        assert_eq!(joined, raw(shape, 0..100));
    }
    for_every_family!(check);
}

// google-deepmind/jax_privacy#384: parameters that nobody checked.

#[test]
fn p13_bad_shapes_of_every_family_name_value_and_range() {
    for (message, words) in [
        (LinearShape::new(1).expect_err("one cell").to_string(), ["1", "67108864"]),
        (BloomShape::new(1000, 65).expect_err("too many hashes").to_string(), ["65", "64"]),
        (LegionsShape::new(1000, 25.0).expect_err("too steep").to_string(), ["25", "24"]),
        (LegionsShape::new(1000, f64::NAN).expect_err("no number").to_string(), ["NaN", "24"]),
    ] {
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

// apache/datasketches-postgresql#35: nothing at all is not the empty set.

#[test]
fn p14_of_no_sketch_nothing_is_made_up() {
    fn check<S: BitmapShape>(shape: S) {
        let mut coins = noise(14);
        let none: [&PrivateBitmap<S>; 0] = [];
        let merged = PrivateBitmap::merge_all(&none, MergeForm::Extremal, &mut coins);
        assert!(matches!(merged, Err(MergeError::Empty)));
        let union = union_estimate(&none, Confidence::P95);
        assert!(matches!(union, Err(UnionError::Mismatch(MergeError::Empty))));
        // No coin was drawn for it.
        let mut fresh = noise(14);
        assert_eq!(draw(&mut coins), draw(&mut fresh));
        // An empty set, on the other hand, has a level, and merges.
        let empty = raw(shape, []).release(permit(4.0), &mut coins).expect("a release");
        let other = released(raw(shape, 0..100), 4.0, &mut coins);
        let both = empty.merge(&other, MergeForm::Extremal, &mut coins).expect("two releases");
        assert_eq!(both.epsilon_total(), Some(8.0));
        let formula = sfm_pcsa::cardinality_estimators::SetFormula::from_membership(1, |_| true).expect("one set");
        assert!(matches!(set_estimate(&none, &formula, Confidence::P95), Err(UnionError::Mismatch(MergeError::Empty))));
    }
    for_every_family!(check);
}

fn draw(noise: &mut impl NoiseSource) -> [u8; 8] {
    let mut bytes = [0; 8];
    noise.fill_bytes(&mut bytes);
    bytes
}
