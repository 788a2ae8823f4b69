//! Faults that were reported about other libraries, as tests of this one.

mod support;

use std::collections::BTreeSet;

use countsketch_dp::{
    ContributionBound, CountSketch, DecodeError, Granularity, MergeError, PrivateCountSketch, UpdateError,
};
use dp_noise::{Epsilon, Rho};
use sketch_hash::{DefaultHash, Item};
use support::{Raw, cells, entry, epsilon, noise, other_key, raw, released, rho, shape};

fn read(bytes: &[u8]) -> Raw {
    CountSketch::from_sensitive_bytes(bytes, DefaultHash::default()).expect("own bytes")
}

/// apache/druid#10042: empty sketches stored no seed hash, and did not merge after a round trip.
#[test]
fn an_empty_sketch_merges_after_a_round_trip() {
    let full = raw(shape(5, 64), entry(1), (0..1000).map(|item| (item, 1)));
    let mut empty = read(&raw(shape(5, 64), entry(1), []).to_sensitive_bytes());
    empty.merge(&full).unwrap();
    assert_eq!(empty.to_sensitive_bytes(), full.to_sensitive_bytes());

    let mut other = CountSketch::new(shape(5, 64), other_key(), entry(1));
    let message = other.merge(&full).unwrap_err().to_string();
    let [expected, found] = [other_key(), DefaultHash::default()].map(|hash| {
        use sketch_hash::KeyedHash;
        hash.id().to_string()
    });
    assert!(message.contains("hash key mismatch") && message.contains(&expected) && message.contains(&found));
    let refused = CountSketch::from_sensitive_bytes(&full.to_sensitive_bytes(), other_key());
    assert!(matches!(refused, Err(DecodeError::HashMismatch { .. })));
}

/// apache/datasketches-rust#143: an empty sketch did not survive its bytes.
#[test]
fn empty_sketches_and_emptied_ones_survive_their_bytes() {
    let fresh = raw(shape(5, 64), entry(1), []);
    let mut emptied = fresh.clone();
    emptied.update(b"x", 1).unwrap();
    emptied.update(b"x", -1).unwrap();
    for sketch in [&fresh, &emptied] {
        let bytes = sketch.to_sensitive_bytes();
        let back = read(&bytes);
        assert_eq!(back.to_sensitive_bytes(), bytes);
        assert!(sketch.is_empty() && back.is_empty());
        assert_eq!(bytes, fresh.to_sensitive_bytes());
    }
}

/// google/zetasketch#17: a merge changed the sketch merged from.
#[test]
fn a_merge_leaves_the_other_sketch_alone() {
    let mut a = raw(shape(5, 64), entry(1), (0..2000).map(|item| (item, 1)));
    let mut b = raw(shape(5, 64), entry(1), []);
    let before = a.to_sensitive_bytes();
    b.merge(&a).unwrap();
    assert_eq!(a.to_sensitive_bytes(), before);
    assert_eq!(a, b);
    let doubled: Vec<i64> = cells(&a).iter().map(|cell| 2 * cell).collect();
    a.merge(&b).unwrap();
    assert_eq!(cells(&a), doubled);

    let private = released(b, 0.5, 1);
    let bytes = private.to_bytes();
    for refused in [private.merge(&private), private.subtract(&private), private.merge(&private.negate())] {
        let Err(MergeError::RepeatedRelease { id }) = refused else { panic!("noise was used twice") };
        assert_eq!(id, private.leaves()[0].id());
    }
    assert_eq!(private.to_bytes(), bytes);
    // Also inside of a sum, and after a round trip.
    let other = released(raw(shape(5, 64), entry(1), []), 0.5, 2);
    let sum = private.merge(&other).unwrap();
    let back = PrivateCountSketch::from_bytes_allowing_insecure_noise(&sum.to_bytes()).unwrap();
    assert!(matches!(back.merge(&private), Err(MergeError::RepeatedRelease { .. })));
}

/// ClickHouse/ClickHouse#63066: a 32-bit hash.
#[test]
fn items_keep_64_bits() {
    let hash = DefaultHash::default();
    let keys: BTreeSet<u64> = (0..1 << 17_u64).map(|item: u64| Item::from(item * item).hash64(&hash)).collect();
    assert_eq!(keys.len(), 1 << 17);
}

/// RedisBloom/RedisBloom#295: counters that wrap.
#[test]
fn an_overflow_changes_nothing_in_any_row() {
    let bound = entry(ContributionBound::MAX_WEIGHT);
    let mut sketch = raw(shape(5, 64), bound, []);
    assert!(matches!(sketch.update(b"x", i64::MIN), Err(UpdateError::CounterOverflow)));
    assert!(sketch.is_empty());
    sketch.update(b"x", i64::MAX).unwrap();
    let before = sketch.to_sensitive_bytes();
    assert!(matches!(sketch.update(b"x", 1), Err(UpdateError::CounterOverflow)));
    assert!(matches!(sketch.update(b"x", i64::MIN), Err(UpdateError::CounterOverflow)));
    // A batch of which the first items fit, and one that goes up and down again.
    let keys: Vec<u64> = (0..100).chain([Item::from("x").hash64(&DefaultHash::default())]).collect();
    assert!(matches!(sketch.update_hashes(&keys), Err(UpdateError::CounterOverflow)));
    let (same, up_and_down) = ([keys[100]; 3], [-5, 6, -6]);
    assert!(matches!(sketch.update_weighted_hashes(&same, &up_and_down), Err(UpdateError::CounterOverflow)));
    assert!(matches!(sketch.merge(&sketch.clone()), Err(MergeError::Overflow)));
    assert!(matches!(sketch.scale(1), Ok(same) if same == sketch));
    assert_eq!(sketch.to_sensitive_bytes(), before);
    // What comes down fits again.
    sketch.update_weighted_hashes(&same, &[-6, 5, -5]).unwrap();
    sketch.update(b"x", -(i64::MAX - 6)).unwrap();
    assert!(sketch.is_empty());
    sketch.update(b"x", -i64::MAX).unwrap();
    assert!(matches!(sketch.update(b"x", -1), Err(UpdateError::CounterOverflow)));
    assert_eq!(cells(&sketch.negate()).iter().map(|cell| cell.unsigned_abs()).max(), Some(u64::MAX >> 1));
}

/// Batches of hashed items are cut into pieces only where everything is sure to fit.
#[test]
fn a_batch_that_overflows_at_its_end_adds_nothing() {
    let mut sketch = raw(shape(3, 64), entry(ContributionBound::MAX_WEIGHT), [(7, i64::MAX - 2)]);
    let before = sketch.to_sensitive_bytes();
    let many: Vec<u64> = (100..5100).chain([7, 7, 7]).collect();
    assert!(matches!(sketch.update_u64_batch(&many), Err(UpdateError::CounterOverflow)));
    assert_eq!(sketch.to_sensitive_bytes(), before);
    #[cfg(feature = "rayon")]
    {
        assert!(matches!(sketch.par_update_u64_batch(&many), Err(UpdateError::CounterOverflow)));
        assert_eq!(sketch.to_sensitive_bytes(), before);
    }
    sketch.update_u64_batch(&[7, 7]).unwrap();
    assert!(sketch.update_u64(7, 1).is_err());
}

#[test]
fn weights_may_be_negative() {
    let mut sketch = raw(shape(5, 64), entry(10), []);
    sketch.update(b"y", 5).unwrap();
    sketch.update(b"y", -8).unwrap();
    let key = Item::from("y").hash64(&DefaultHash::default());
    let cells = cells(&sketch);
    for row in 0..5 {
        let (bucket, sign) = sketch.rows().bucket_and_sign(row, key);
        assert_eq!(sign * cells[row * 64 + bucket], -3);
    }
}

/// A release never depends on whether a counter fits: refusing would tell that one is large.
#[test]
fn the_largest_counters_are_released_like_any_other() {
    let mut sketch = raw(shape(3, 2), entry(ContributionBound::MAX_WEIGHT), []);
    sketch.update(b"x", i64::MAX).unwrap();
    let terms = sketch.exposure(dp_noise::Neighbouring::AddRemove);
    assert!(terms.gaussian(Rho::new(1.0).unwrap()).is_err(), "no noise is large enough for such records");
    // Bounded for small records, though, and built from many of them.
    let bytes = {
        let mut bytes = raw(shape(3, 2), entry(1), []).to_sensitive_bytes().to_vec();
        for (cell, value) in bytes[support::RAW_CELLS..].chunks_exact_mut(8).zip([i64::MAX, -i64::MAX, 1, 0, 0, 0]) {
            cell.copy_from_slice(&value.to_le_bytes());
        }
        sketch_testkit::reseal(&mut bytes);
        bytes
    };
    let private = read(&bytes).release(rho(0.5), &mut noise(1)).unwrap();
    let near = |cell: i64, to: i64| (cell - to).abs() < 100;
    let cells = private.all_cells();
    assert!(near(cells[0], 1 << 62) && near(cells[1], -(1 << 62)) && near(cells[2], 1));
}

type Release = fn(Raw, &mut dp_noise::hazmat::InsecureTestRng) -> PrivateCountSketch;

/// opendp/opendp#414: low-order bits betray the value.
#[test]
fn the_same_integers_can_come_out_of_neighbouring_data() {
    const TRIES: u64 = 100_000;
    // Cells on a grid of eighths: what is released are whole numbers of them.
    let grid = Granularity::new(3).unwrap();
    let empty = CountSketch::with_granularity(shape(1, 2), DefaultHash::default(), entry(8), grid);
    let mut one = empty.clone();
    one.update_u64(7, 8).unwrap();
    let bucket = cells(&one).iter().position(|&cell| cell != 0).unwrap();
    let gaussian: Release = |raw, noise| raw.release(rho(2.0), noise).unwrap();
    let laplace: Release = |raw, noise| raw.release_laplace(epsilon(4.0), noise).unwrap();
    for release in [gaussian, laplace] {
        let mut noise = noise(11);
        let mut outputs = |sketch: &Raw| -> BTreeSet<i64> {
            (0..TRIES).map(|_| release(sketch.clone(), &mut noise).all_cells()[bucket]).collect()
        };
        let (zero, one) = (outputs(&empty), outputs(&one));
        // Gaussian σ² = 16, Laplace t = 2: everything within ten is seen from both.
        let middle: Vec<i64> = (-4..=4).collect();
        assert!(middle.iter().all(|value| zero.contains(value) && one.contains(value)));
    }
}

/// google-deepmind/jax_privacy#384: parameters that are not checked.
#[test]
fn parameters_out_of_range_are_refused_by_name() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, -0.0, 1e-320, 1e300] {
        assert!(Epsilon::new(bad).is_err() && Rho::new(bad).is_err(), "{bad}");
    }
    let message = CountSketch::new(shape(3, 8), DefaultHash::default(), entry(1 << 60))
        .release(rho(1e-9), &mut noise(1))
        .unwrap_err();
    assert!(std::error::Error::source(&message).is_some_and(|source| source.to_string().contains("variance")));
    assert!(ContributionBound::entry(0).unwrap_err().to_string().contains("found 0"));
    assert!(Granularity::new(53).unwrap_err().to_string().contains("0 ..= 52"));
}
