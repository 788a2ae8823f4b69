//! The rows as hash functions, on structured items and fixed keys. False alarms: one in a million for each check.

mod support;

use countsketch_dp::RowHashes;
use sketch_hash::{DefaultHash, HashKey, Item, KeyedHash};
use sketch_testkit::{assert_binomial, assert_frequencies, assert_mean};
use support::shape;

fn hash(seed: u8) -> DefaultHash {
    DefaultHash::new(HashKey::from_bytes([seed; 16]))
}

/// Bucket and sign of the integers below `count` in one row under one key.
fn row(rows: &RowHashes, hash: &DefaultHash, row: usize, count: u64) -> Vec<(usize, i64)> {
    (0..count).map(|item| rows.bucket_and_sign(row, Item::from(item).hash64(hash))).collect()
}

#[test]
fn buckets_and_signs_are_uniform_and_independent() {
    const ITEMS: u64 = 100_000;
    for width in [2_u32, 16, 97, 128] {
        let (rows, hash) = (RowHashes::new(shape(7, width), hash(1).id()), hash(1));
        for index in 0..7 {
            let mut counts = vec![0_u64; 2 * width as usize];
            for (bucket, sign) in row(&rows, &hash, index, ITEMS) {
                counts[2 * bucket + usize::from(sign < 0)] += 1;
            }
            assert_frequencies(&counts, &vec![0.5 / f64::from(width); counts.len()]);
        }
    }
}

#[test]
fn rows_are_independent_of_each_other() {
    const ITEMS: u64 = 100_000;
    let (rows, hash) = (RowHashes::new(shape(5, 8), hash(2).id()), hash(2));
    let places: Vec<_> = (0..5).map(|index| row(&rows, &hash, index, ITEMS)).collect();
    for first in 0..5 {
        for second in 0..first {
            let mut counts = vec![0_u64; 16 * 16];
            for (a, b) in places[first].iter().zip(&places[second]) {
                let cell = |place: &(usize, i64)| 2 * place.0 + usize::from(place.1 < 0);
                counts[16 * cell(a) + cell(b)] += 1;
            }
            assert_frequencies(&counts, &[1.0 / 256.0; 256]);
        }
    }
}

/// Items that collide in one row collide in another no more often than others: no row is computed from another one.
#[test]
fn collisions_do_not_repeat_in_other_rows() {
    let (rows, hash) = (RowHashes::new(shape(3, 64), hash(3).id()), hash(3));
    let places: Vec<_> = (0..3).map(|index| row(&rows, &hash, index, 4000)).collect();
    let (mut pairs, mut again) = (0, 0);
    // Neighbours in a list sorted by bucket: disjoint pairs, so that they are independent.
    let mut order: Vec<usize> = (0..4000).collect();
    order.sort_by_key(|&item| places[0][item].0);
    for pair in order.chunks_exact(2).filter(|pair| places[0][pair[0]].0 == places[0][pair[1]].0) {
        pairs += 1;
        again += u64::from(places[1][pair[0]].0 == places[1][pair[1]].0);
    }
    assert!(pairs > 1900);
    assert_binomial(again, pairs, 1.0 / 64.0);
}

/// Products of four signs, over keys: what the variance of norms needs. Items are chosen with `x₁ + x₂ = x₃ + x₄`, where a
/// linear hash without the item hash before it fails.
#[test]
fn signs_are_four_wise_independent_over_keys() {
    let mut positive = 0;
    let mut tries = 0;
    for key in 0..1000_u64 {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&key.to_le_bytes());
        let hash = DefaultHash::new(HashKey::from_bytes(bytes));
        let rows = RowHashes::new(shape(5, 16), hash.id());
        for index in 0..5 {
            let product: i64 = [10, 13, 11, 12]
                .map(|item: u64| rows.bucket_and_sign(index, Item::from(item).hash64(&hash)).1)
                .iter()
                .product();
            positive += u64::from(product > 0);
            tries += 1;
        }
    }
    assert_binomial(positive, tries, 0.5);
}

/// The second moment of a row, over keys: mean `F₂` and variance `2(F₂² − F₄)/b`, and no correlation between two rows.
#[test]
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn second_moments_have_the_variance_of_four_wise_signs() {
    const WIDTH: u32 = 16;
    let weights: Vec<i64> = (1..=20).collect();
    let f2 = weights.iter().map(|w| w * w).sum::<i64>() as f64;
    let f4 = weights.iter().map(|w| w.pow(4)).sum::<i64>() as f64;
    let variance = 2.0 * (f2 * f2 - f4) / f64::from(WIDTH);
    let (mut moments, mut products) = (Vec::new(), Vec::new());
    for key in 0..2000_u64 {
        let mut bytes = [1; 16];
        bytes[..8].copy_from_slice(&key.to_le_bytes());
        let hash = DefaultHash::new(HashKey::from_bytes(bytes));
        let rows = RowHashes::new(shape(3, WIDTH), hash.id());
        let moment = |index| {
            let mut cells = [0_i64; WIDTH as usize];
            for (item, weight) in (0_u64..).zip(&weights) {
                let (bucket, sign) = rows.bucket_and_sign(index, Item::from(item).hash64(&hash));
                cells[bucket] += sign * weight;
            }
            cells.iter().map(|cell| cell * cell).sum::<i64>() as f64
        };
        let all = [0, 1, 2].map(moment);
        products.push((all[0] - f2) * (all[1] - f2));
        moments.extend(all);
    }
    assert_mean(&moments, f2, variance.sqrt());
    assert_mean(&products, 0.0, variance);
    // Squares have heavy tails: their spread is taken from themselves.
    let squares: Vec<f64> = moments.iter().map(|m| (m - f2).powi(2)).collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    let spread = (squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / squares.len() as f64).sqrt();
    assert_mean(&squares, variance, spread);
}

#[test]
fn every_hash_has_rows_of_its_own() {
    let key = Item::from(1_u64).hash64(&hash(1));
    let places = |rows: RowHashes| (0..rows.len()).map(|row| rows.bucket_and_sign(row, key)).collect::<Vec<_>>();
    let [a, b, presto] = [hash(1).id(), hash(2).id(), sketch_hash::PrestoHash.id()]
        .map(|id| places(RowHashes::new(shape(31, 1024), id)));
    assert!(a != b && a != presto && b != presto);
    // A row does not depend on how many there are, or on the width's cap.
    assert_eq!(places(RowHashes::new(shape(5, 1024), hash(1).id())), a[..5]);
}
