//! Faults found in other implementations, as tests of this one: a biased merge, empty sketches, changed sources,
//! short hashes, workers without rows and unchecked parameters.
#![expect(clippy::cast_precision_loss, reason = "a uniform number may round")]
#![expect(clippy::float_cmp, reason = "levels are stored as given")]

mod support;

use cardinality_estimators::{BitChannel, Confidence, LevelCounts, Status, estimate};
use dp_noise::Epsilon;
use dp_noise::rand_core::Rng;
use sfm_pcsa::diagnostics::{gate_table, mechanisms};
use sfm_pcsa::{BooleanOp, MergeError, MergeForm, OutputForm, PcsaShape, PcsaSketch, SfmSketch};
use sketch_hash::{DefaultHash, Item};
use sketch_testkit::assert_mean;
use support::{noise, other_key, raw, released, shape, value};

fn symmetric(epsilon: f64) -> (f64, f64) {
    let flips = mechanisms(Some(Epsilon::new(epsilon).expect("an epsilon in range"))).symmetric;
    (flips.p, flips.q)
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-6, "got {got}, want {want}");
}

// prestodb/presto#28461: the merged bit was set too often, and clamping hid it.

#[test]
fn p1_a_the_published_merge_of_two_at_epsilon_one_has_the_right_table() {
    let merged = gate_table(BooleanOp::Or, OutputForm::Symmetric, symmetric(1.0), symmetric(1.0)).expect("a gate");
    close(merged.epsilon, 0.510_120);
    close(merged.q, 0.375_165);
    close(merged.p, 0.624_835);
    for (got, want) in merged.v.into_iter().zip([0.0, 0.854_698, 0.854_698, 0.540_272]) {
        close(got, want);
    }
    let (p, q) = symmetric(1.0);
    for (s1, s2) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let one = [q, p];
        let probability = |t: usize, s: usize| if t == 1 { one[s] } else { 1.0 - one[s] };
        let set: f64 = (0..4).map(|t| probability(t >> 1, s1) * probability(t & 1, s2) * merged.v[t]).sum();
        close(set, if s1 + s2 == 0 { 0.375_165 } else { 0.624_835 });
    }
}

#[test]
fn p1_b_published_merges_of_other_levels_have_the_right_tables() {
    let table = |first, second| {
        gate_table(BooleanOp::Or, OutputForm::Symmetric, symmetric(first), symmetric(second)).expect("a gate")
    };
    let merged = table(1.0, 3.0);
    close(merged.epsilon, 0.917_915);
    for (got, want) in merged.v.into_iter().zip([0.0, 0.750_196, 0.977_510, 0.701_528]) {
        close(got, want);
    }
    close(table(0.5, 0.5).epsilon, 0.168_203);
    close(table(2.0, 2.0).epsilon, 1.376_919);
    // p*/p2, p*/p1 and p*(p1 + p2 - 1)/(p1 p2), derived by inverting the flip matrices.
    let ((p1, _), (p2, _)) = (symmetric(1.0), symmetric(3.0));
    let expected = [0.0, merged.p / p2, merged.p / p1, merged.p * (p1 + p2 - 1.0) / (p1 * p2)];
    for (got, want) in merged.v.into_iter().zip(expected) {
        assert!((got - want).abs() < 1e-14);
    }
}

#[test]
fn p1_c_merges_of_disjoint_halves_are_unbiased() {
    let shape = PcsaShape::DEFAULT;
    for (form, rse) in [(MergeForm::Symmetric, 0.0517), (MergeForm::Extremal, 0.0431)] {
        let mut coins = noise(28_461);
        let errors: Vec<f64> = (0..200)
            .map(|_| {
                // A fresh set of items each time, so that placement varies too.
                let start = coins.next_u64() >> 1;
                let halves = [start..start + 50_000, start + 50_000..start + 100_000];
                let [a, b] = halves.map(|items| released(raw(shape, items), 1.0, &mut coins));
                value(&a.merge(&b, form, &mut coins).expect("a merge")) - 100_000.0
            })
            .collect();
        // The estimator's own bias is below its variance over n, 0.3%, a twentieth of a standard deviation.
        let bias = rse * rse * 100_000.0;
        let unbiased: Vec<f64> = errors.iter().map(|error| error - bias / 2.0).collect();
        assert_mean(&unbiased, 0.0, rse * 100_000.0);
    }
}

// apache/druid#10042: an empty sketch forgot its seed.

#[test]
fn p4_an_empty_sketch_merges_under_its_key_and_only_under_it() {
    let shape = PcsaShape::DEFAULT;
    let thousand = raw(shape, 0..1000);
    let bytes = raw(shape, []).to_sensitive_bytes();
    let mut empty = PcsaSketch::from_sensitive_bytes(&bytes, DefaultHash::default()).expect("its own bytes");
    empty.merge(&thousand).expect("the same key");
    assert_eq!(empty.to_sensitive_bytes(), thousand.to_sensitive_bytes());

    let mut foreign = PcsaSketch::new(shape, other_key());
    let error = foreign.merge(&thousand).expect_err("another key");
    assert!(matches!(error, MergeError::Hash { .. }));
    let message = error.to_string();
    assert!(message.starts_with("hash key mismatch"), "{message}");
    for sketch in [&foreign, &thousand] {
        assert!(message.contains(&sketch.hash_id().key().to_string()), "{message}");
    }
    assert!(foreign.is_empty(), "a refused merge changes nothing");

    let mut coins = noise(4);
    let private = released(thousand, 1.0, &mut coins);
    let empty = PcsaSketch::new(shape, other_key()).release(support::permit(1.0), &mut coins).expect("a release");
    let refused = private.merge(&empty, MergeForm::Extremal, &mut coins);
    assert!(matches!(refused, Err(MergeError::Hash { .. })));
}

// apache/datasketches-rust#143: an empty sketch did not survive a round trip.

#[test]
fn p5_empty_sketches_survive_a_round_trip() {
    for shape in [PcsaShape::DEFAULT, shape(2, 1), shape(2, 63), shape(64, 40)] {
        let empty = raw(shape, []);
        let bytes = empty.to_sensitive_bytes();
        let read = PcsaSketch::from_sensitive_bytes(&bytes, DefaultHash::default()).expect("its own bytes");
        assert!(read.is_empty());
        assert_eq!(read.to_sensitive_bytes(), bytes);

        let private = released(empty, 1.0, &mut noise(5));
        let bytes = private.to_bytes();
        let read = SfmSketch::from_bytes_allowing_insecure_noise(&bytes).expect("its own bytes");
        assert_eq!(read.to_bytes(), bytes);
    }
}

// google/zetasketch#17: merging emptied the sketch merged from.

#[test]
fn p6_merging_leaves_the_source_alone_and_a_raw_self_merge_changes_nothing() {
    let source = raw(PcsaShape::DEFAULT, 0..2000);
    let before = source.to_sensitive_bytes();
    let count = source.estimate(Confidence::P95);
    let mut target = raw(PcsaShape::DEFAULT, []);
    target.merge(&source).expect("one hash and shape");
    assert_eq!(source.to_sensitive_bytes(), before);
    assert_eq!(source.estimate(Confidence::P95), count);
    assert_eq!(target, source);

    let copy = source.clone();
    target.merge(&copy).expect("one hash and shape");
    assert_eq!(target.to_sensitive_bytes(), before);
}

#[test]
fn p6_a_private_sketch_never_merges_with_itself() {
    let mut coins = noise(6);
    let a = released(raw(PcsaShape::DEFAULT, 0..2000), 1.0, &mut coins);
    let b = released(raw(PcsaShape::DEFAULT, 0..2000), 1.0, &mut coins);
    let before = a.to_bytes();
    let ab = a.merge(&b, MergeForm::Extremal, &mut coins).expect("two releases");
    assert_eq!(a.to_bytes(), before);
    let read = SfmSketch::from_bytes_allowing_insecure_noise(&before).expect("its own bytes");
    for (left, right) in [(&a, &a), (&a, &read), (&ab, &a), (&b, &ab), (&ab, &ab)] {
        for form in [MergeForm::Extremal, MergeForm::Symmetric, MergeForm::Xor] {
            let refused = left.merge(right, form, &mut coins);
            let Err(MergeError::RepeatedRelease { id }) = refused else { panic!("{refused:?}") };
            assert!(left.leaves().iter().any(|leaf| leaf.id() == id));
        }
    }
}

// ClickHouse/ClickHouse#63066: 32 bits of hash end at some billions.

#[test]
fn p7_a_hundred_thousand_items_have_different_hashes() {
    let hash = DefaultHash::default();
    let mut coins = noise(7);
    let mut items: Vec<u64> = (0..1 << 17).map(|_| coins.next_u64()).collect();
    items.sort_unstable();
    items.dedup();
    let mut hashes: Vec<u64> = items.iter().map(|&item| Item::from(item).hash64(&hash)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    // Two of 2^17 random 64-bit words agree with probability 5e-10.
    assert_eq!(hashes.len(), items.len());
}

/// Counts of ones of a 4096-bucket bitmap after `n` items: every cell drawn with its own probability.
fn expected_bitmap(levels: u8, n: f64, channel: BitChannel, seed: u64) -> LevelCounts {
    let mut coins = noise(seed);
    let mut uniform = || coins.next_u64() as f64 / 2f64.powi(64);
    let ones: Vec<u64> = (0..levels)
        .map(|level| {
            let exponent = if level == levels - 1 { level } else { level + 1 };
            let hit = -(n * (-(2f64.powi(-i32::from(exponent)) / 4096.0)).ln_1p()).exp_m1();
            let one = channel.q() + channel.d() * hit;
            (0..4096).map(|_| u64::from(uniform() < one)).sum()
        })
        .collect();
    LevelCounts::pcsa(4096, &ones, channel).expect("counts of a bitmap")
}

#[test]
fn p7_b_fifty_billion_items_are_counted() {
    let (p, q) = symmetric(3.0);
    let channel = BitChannel::new(p, q).expect("a channel");
    let found = estimate(&expected_bitmap(32, 5e10, channel, 63_066), Confidence::P95);
    let value = found.value().expect("a value");
    // Standard error 1.3%: 10% is more than seven of them.
    assert!((value / 5e10 - 1.0).abs() < 0.1, "{value}");
}

#[test]
fn p7_c_a_full_sketch_says_saturated_and_gives_a_lower_bound_only() {
    let (p, q) = symmetric(3.0);
    for channel in [BitChannel::new(p, q).expect("a channel"), BitChannel::NOISELESS] {
        let found = estimate(&expected_bitmap(24, 1e12, channel, 7), Confidence::P95);
        assert_eq!(found.status(), Status::Saturated);
        assert_eq!((found.value(), found.upper()), (None, None));
        assert!(found.lower().expect("a lower bound") > 1e10);
    }
}

// Query-farm/datasketches#8 and #2: a worker that saw no rows.

#[test]
fn p9_a_worker_without_rows_is_neutral() {
    let shape = PcsaShape::DEFAULT;
    let whole = raw(shape, 0..100);
    let mut joined = raw(shape, []);
    for worker in 0..8 {
        let rows = if worker == 3 { 0..100 } else { 0..0 };
        joined.merge(&raw(shape, rows)).expect("one hash and shape");
    }
    assert_eq!(joined, whole);

    // Of private sketches one alone is what it was, and an empty data set adds nothing but noise.
    let mut coins = noise(9);
    let single = released(whole, 4.0, &mut coins);
    let same = SfmSketch::merge_all(&[&single], MergeForm::Extremal, &mut coins).expect("one sketch");
    assert_eq!(same, single);
    let empty = released(raw(shape, []), 4.0, &mut coins);
    let merged = single.merge(&empty, MergeForm::Extremal, &mut coins).expect("a merge");
    // 15 items of noise a sketch at epsilon 4, a little more after merging.
    assert!((value(&merged) - 100.0).abs() < 200.0);
    assert!(matches!(SfmSketch::merge_all(&[], MergeForm::Extremal, &mut coins), Err(MergeError::Empty)));
}

// google-deepmind/jax_privacy#384 and #394: parameters that nobody checked.

#[test]
fn p13_bad_levels_never_reach_a_release() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, -0.0, 1e-320, 1e300] {
        let message = Epsilon::new(bad).expect_err("out of range").to_string();
        assert!(message.contains("epsilon") && message.contains("256"), "{message}");
    }
    let mut coins = noise(13);
    for extreme in [Epsilon::MIN, Epsilon::MAX] {
        let private = released(raw(shape(64, 8), 0..100), extreme, &mut coins);
        assert_eq!(private.epsilon(), extreme);
        let read = SfmSketch::from_bytes_allowing_insecure_noise(&private.to_bytes()).expect("its own bytes");
        assert_eq!(read, private);
    }
}

#[test]
fn p13_bad_shapes_name_the_argument_the_value_and_the_range() {
    let message = PcsaShape::new(1000, 24).expect_err("no power of two").to_string();
    assert!(message.contains("buckets") && message.contains("1000") && message.contains("1048576"), "{message}");
    let message = PcsaShape::new(4096, 53).expect_err("too many levels").to_string();
    assert!(message.contains("levels") && message.contains("53") && message.contains("52"), "{message}");
}
