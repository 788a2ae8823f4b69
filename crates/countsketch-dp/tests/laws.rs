//! Linearity: of updates, merges and multiples, raw and private; and the round trips of bytes.
#![allow(clippy::float_cmp, clippy::cast_precision_loss, reason = "values are exact or small by construction")]

mod support;

use countsketch_dp::{
    ContributionBound, CountSketch, Granularity, MergeError, PrivateCountSketch, UpdateError, UserContribution,
};
use dp_noise::DisjointParts;
use proptest::prelude::*;
use sketch_hash::DefaultHash;
use sketch_testkit::{assert_associates, assert_commutes, assert_neutral, assert_round_trips};
use support::{Raw, cells, entry, noise, other_key, raw, released, shape};

const MAX: u64 = 1 << 40;

fn records() -> impl Strategy<Value = Vec<(u64, i64)>> {
    let weight = -(1_i64 << 40)..=1 << 40;
    prop::collection::vec((0_u64..50, weight), 0..80)
}

fn build(records: &[(u64, i64)]) -> Raw {
    raw(shape(5, 13), entry(MAX), records.iter().copied())
}

fn merged(a: &Raw, b: &Raw) -> Raw {
    let mut sum = a.clone();
    sum.merge(b).expect("alike");
    sum
}

proptest! {
    #[test]
    fn the_sketch_of_two_data_sets_is_the_sum(a in records(), b in records(), c in records()) {
        let [x, y, z] = [&a, &b, &c].map(|records| build(records));
        let both: Vec<_> = a.iter().chain(&b).copied().collect();
        prop_assert_eq!(&merged(&x, &y), &build(&both));
        assert_commutes(&x, &y, merged);
        let join = |a: &Raw, b: &Raw| merged(a, b);
        assert_associates(&x, &y, &z, join);
        assert_neutral(&build(&[]), &x, join);
    }

    #[test]
    fn differences_and_multiples_are_those_of_the_weights(a in records(), b in records(), factor in -1000_i64..1000) {
        let [x, y] = [&a, &b].map(|records| build(records));
        let mut difference = merged(&x, &y);
        difference.subtract(&y).unwrap();
        prop_assert_eq!(cells(&difference), cells(&x));
        prop_assert_eq!(cells(&merged(&x, &x.negate())), vec![0; 65]);
        if factor != 0 {
            let scaled = x.scale(factor).unwrap();
            let weights = a.iter().map(|&(item, weight)| (item, weight * factor));
            let direct = raw(shape(5, 13), entry(MAX * factor.unsigned_abs()), weights);
            prop_assert_eq!(scaled, direct);
        }
    }

    #[test]
    fn batches_are_single_updates(items in prop::collection::vec(any::<u64>(), 0..3000), width in 2_u32..5000) {
        let new = || raw(shape(3, width), entry(9), []);
        let (mut single, mut batch, mut weighted) = (new(), new(), new());
        items.iter().try_for_each(|&item| single.update_u64(item, 1)).unwrap();
        batch.update_u64_batch(&items).unwrap();
        prop_assert_eq!(&batch, &single);
        let weights: Vec<i64> = (0..items.len()).map(|i| i64::try_from(i % 19).unwrap() - 9).collect();
        weighted.update_u64_weighted(&items, &weights).unwrap();
        let one_by_one = raw(shape(3, width), entry(9), items.iter().copied().zip(weights.iter().copied()));
        prop_assert_eq!(weighted, one_by_one);
    }

    #[test]
    fn bytes_come_back(records in records(), seed: u64) {
        let raw = build(&records);
        let read = |bytes: &[u8]| CountSketch::from_sensitive_bytes(bytes, DefaultHash::default());
        assert_round_trips(&raw, |sketch| sketch.to_sensitive_bytes().to_vec(), read);
        let private = released(raw, 100.0, seed);
        let read = PrivateCountSketch::from_bytes_allowing_insecure_noise;
        assert_round_trips(&private, PrivateCountSketch::to_bytes, read);
    }

    #[test]
    fn private_sketches_are_linear(a in records(), b in records(), factor in 1_i64..1000) {
        let [x, y] = [(&a, 1), (&b, 2)].map(|(records, seed)| released(build(records), 100.0, seed));
        let sum = x.merge(&y).unwrap();
        let cell_sums: Vec<i64> = x.all_cells().iter().zip(y.all_cells()).map(|(x, y)| x + y).collect();
        prop_assert_eq!(sum.all_cells(), &cell_sums[..]);
        let turned = y.merge(&x).unwrap();
        prop_assert_eq!(turned.all_cells(), &cell_sums[..]);
        prop_assert_eq!(sum.noise_variance(), x.noise_variance() + y.noise_variance());
        let difference = x.subtract(&y).unwrap();
        prop_assert_eq!(difference.noise_variance(), sum.noise_variance());
        prop_assert_eq!(difference.leaves()[1].factor(), -1);
        let scaled = x.scale(-factor).unwrap();
        prop_assert!(scaled.all_cells().iter().zip(x.all_cells()).all(|(scaled, cell)| *scaled == -factor * cell));
        prop_assert_eq!(scaled.noise_variance(), x.noise_variance() * (factor * factor) as f64);
        prop_assert_eq!(scaled.rho_total(), x.rho_total());
        prop_assert_eq!(x.negate().negate(), x);
    }
}

#[test]
fn single_updates_match_the_definition() {
    // 1000 items of weight 1, cell by cell.
    let sketch = raw(shape(7, 32), entry(1), (0..1000).map(|item| (item, 1)));
    let hash = DefaultHash::default();
    let mut expected = vec![0; 7 * 32];
    for item in 0..1000_u64 {
        let key = sketch_hash::Item::from(item).hash64(&hash);
        for row in 0..7 {
            let (bucket, sign) = sketch.rows().bucket_and_sign(row, key);
            expected[row * 32 + bucket] += sign;
        }
    }
    assert_eq!(cells(&sketch), expected);
}

#[test]
fn sketches_that_differ_in_anything_do_not_merge() {
    let base = || raw(shape(3, 8), entry(2), [(1, 1)]);
    let mut sketch = base();
    let hash = DefaultHash::default();
    let other_hash = CountSketch::new(shape(3, 8), other_key(), entry(2));
    assert!(matches!(sketch.merge(&other_hash), Err(MergeError::Hash { .. })));
    assert!(matches!(sketch.merge(&raw(shape(3, 9), entry(2), [])), Err(MergeError::Shape { .. })));
    assert!(matches!(sketch.merge(&raw(shape(5, 8), entry(2), [])), Err(MergeError::Shape { .. })));
    assert!(matches!(sketch.merge(&raw(shape(3, 8), entry(1), [])), Err(MergeError::Bound { .. })));
    let fine = CountSketch::with_granularity(shape(3, 8), hash, entry(2), Granularity::new(1).unwrap());
    assert!(matches!(sketch.merge(&fine), Err(MergeError::Granularity { .. })));
    assert_eq!(sketch, base(), "nothing changed");

    let private = released(base(), 1.0, 1);
    let others = [raw(shape(3, 9), entry(2), []), raw(shape(5, 8), entry(2), [])];
    for (seed, other) in (2..).zip(others) {
        assert!(matches!(private.merge(&released(other, 1.0, seed)), Err(MergeError::Shape { .. })));
    }
    assert!(matches!(private.merge(&released(other_hash, 1.0, 4)), Err(MergeError::Hash { .. })));
    assert!(matches!(private.merge(&released(fine, 1.0, 5)), Err(MergeError::Granularity { .. })));
    assert!(matches!(PrivateCountSketch::sum(&[]), Err(MergeError::Empty)));
    assert!(matches!(private.scale(0), Err(MergeError::ZeroFactor)));
    assert!(matches!(private.scale(i64::MAX), Err(MergeError::Overflow)));
}

#[test]
fn the_order_of_a_sum_leaves_no_trace() {
    let parts: Vec<_> = (0..5).map(|seed| released(raw(shape(3, 8), entry(1), [(seed, 1)]), 0.5, seed)).collect();
    let all = PrivateCountSketch::sum(&parts.iter().collect::<Vec<_>>()).unwrap();
    let one_by_one = parts[1..].iter().fold(parts[0].clone(), |sum, part| sum.merge(part).unwrap());
    assert_eq!(all, one_by_one);
    assert_eq!((all.rho_total(), all.leaves().len()), (Some(2.5), 5));
    let apart = PrivateCountSketch::sum_disjoint(&parts.iter().collect::<Vec<_>>(), DisjointParts::EachUnitInOnePart);
    assert_eq!(apart.unwrap().rho_total(), Some(0.5));
}

#[test]
fn a_user_in_two_merged_sketches_counts_twice_unless_the_parts_are_disjoint() {
    let bound = ContributionBound::user_items(2, 3).unwrap();
    let new = || {
        let mut sketch = CountSketch::new(shape(3, 8), DefaultHash::default(), bound);
        let mut user = UserContribution::new(DefaultHash::default());
        user.add(b"x", 1);
        sketch.add_user(user).unwrap();
        sketch
    };
    let (mut both, mut apart) = (new(), new());
    both.merge(&new()).unwrap();
    apart.merge_disjoint(&new(), DisjointParts::EachUnitInOnePart).unwrap();
    assert_eq!((both.parts(), apart.parts()), (2, 1));
    both.merge(&both.clone()).unwrap();
    assert_eq!(both.parts(), 4);
    let variance = |sketch: Raw| sketch.release(support::rho(0.5), &mut noise(1)).unwrap().noise_variance();
    // k (m c)² / 2ρ = 3 · 36, times the square of the parts.
    assert_eq!((variance(apart), variance(both)), (108.0, 108.0 * 16.0));
}

#[test]
fn a_sketch_takes_what_its_bound_is_for() {
    let mut records = raw(shape(3, 8), entry(2), []);
    let user = || {
        let mut user = UserContribution::new(DefaultHash::default());
        user.add_u64(1, 1);
        user
    };
    assert!(matches!(records.add_user(user()), Err(UpdateError::Record { .. })));
    assert!(matches!(records.update_u64(1, 3), Err(UpdateError::Weight { max: 2 })));
    assert!(matches!(records.update_u64(1, -3), Err(UpdateError::Weight { max: 2 })));
    assert!(matches!(records.update_u64_weighted(&[1, 2], &[1]), Err(UpdateError::Lengths { expected: 2, found: 1 })));
    assert!(matches!(records.update_u64_weighted(&[1, 2], &[1, 3]), Err(UpdateError::Weight { max: 2 })));
    assert!(records.is_empty());
    let mut users = CountSketch::new(shape(3, 8), DefaultHash::default(), ContributionBound::user_total(4).unwrap());
    assert!(matches!(users.update_u64(1, 1), Err(UpdateError::User { .. })));
    assert!(matches!(users.update_u64_batch(&[1]), Err(UpdateError::User { .. })));
    let mut other = CountSketch::new(shape(3, 8), other_key(), ContributionBound::user_total(4).unwrap());
    assert!(matches!(other.add_user(UserContribution::new(DefaultHash::default())), Err(UpdateError::Hash { .. })));
    users.add_user(user()).unwrap();
    assert!(!users.is_empty());
}

#[cfg(feature = "rayon")]
#[test]
fn threads_change_nothing() {
    let items: Vec<u64> = (0..200_000_u64).map(|n| n * n).collect();
    let weights: Vec<i64> = (0..200_000).map(|n| n % 7 - 3).collect();
    for width in [7, 4096, 70_000] {
        let new = || raw(shape(5, width), entry(3), []);
        let (mut sequential, mut parallel) = (new(), new());
        sequential.update_u64_batch(&items).unwrap();
        parallel.par_update_u64_batch(&items).unwrap();
        assert_eq!(parallel, sequential);
        sequential.update_u64_weighted(&items, &weights).unwrap();
        parallel.par_update_u64_weighted(&items, &weights).unwrap();
        assert_eq!(parallel, sequential);
    }
}
