//! Bytes that nobody meant well with: decoders refuse them or accept exactly what they would write.

mod support;

use countsketch_dp::{CountSketch, DecodeError, LineageError, PrivateCountSketch};
use dp_noise::{DisjointParts, Variance};
use proptest::prelude::*;
use sketch_hash::DefaultHash;
use sketch_testkit::{
    CountingAllocator, assert_accepted_is_canonical, assert_damage_is_refused, measure_thread, reseal,
};
use support::{RAW_CELLS, Raw, entry, epsilon, noise, raw, released, shape};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn read_raw(bytes: &[u8]) -> Result<Raw, DecodeError> {
    CountSketch::from_sensitive_bytes(bytes, DefaultHash::default())
}

fn read(bytes: &[u8]) -> Result<PrivateCountSketch, DecodeError> {
    PrivateCountSketch::from_bytes_allowing_insecure_noise(bytes)
}

fn small() -> Raw {
    raw(shape(3, 4), entry(2), [(1, 2), (2, -1)])
}

/// All kinds of steps and releases, small enough to damage everywhere.
fn tree() -> PrivateCountSketch {
    let [a, b] = [1, 2].map(|seed| released(small(), 0.25, seed));
    let laplace = small().release_laplace(epsilon(0.5), &mut noise(3)).expect("a release");
    let apart = a.merge_disjoint(&b, DisjointParts::EachUnitInOnePart).expect("fresh releases");
    let topped_up = apart.top_up(Variance::new(7, 2).expect("in range"), &mut noise(4)).expect("Gaussian");
    topped_up.subtract(&laplace).expect("fresh releases")
}

#[test]
fn damaged_files_are_refused() {
    assert_damage_is_refused(&tree().to_bytes(), read);
    assert_damage_is_refused(&small().to_sensitive_bytes(), read_raw);
}

#[test]
fn forged_files_are_refused_or_canonical() {
    let (accepted, tried) = assert_accepted_is_canonical(&tree().to_bytes(), read, PrivateCountSketch::to_bytes);
    // Flips of cells, of release names and of costs upwards are other valid sketches.
    assert!(accepted > 0 && accepted < tried / 2, "{accepted} of {tried}");
    let encode = |sketch: &Raw| sketch.to_sensitive_bytes().to_vec();
    assert_accepted_is_canonical(&small().to_sensitive_bytes(), read_raw, encode);
}

/// Offsets in a private file with one release.
const LEAF: usize = 32 + 23;
const STEP: usize = LEAF + 99 + 8;
const CELLS: usize = STEP + 5 + 8;

fn forge(at: usize, value: &[u8]) -> Result<PrivateCountSketch, DecodeError> {
    let mut bytes = released(small(), 0.25, 5).to_bytes();
    bytes[at..at + value.len()].copy_from_slice(value);
    reseal(&mut bytes);
    read(&bytes)
}

#[test]
fn noise_must_keep_the_stated_cost() {
    let refused = |at, value: &[u8]| matches!(forge(at, value), Err(DecodeError::Leaf { index: 0 }));
    // σ² = k w² / 2ρ = 24: less does not keep ρ, more does.
    assert!(forge(LEAF + 17, &24_u64.to_le_bytes()).is_ok());
    assert!(forge(LEAF + 17, &25_u64.to_le_bytes()).is_ok());
    assert!(refused(LEAF + 17, &23_u64.to_le_bytes()));
    assert!(refused(LEAF + 33, &2_u64.to_le_bytes()), "a fraction not in lowest terms");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 0.2499, 1e-20] {
        assert!(refused(LEAF + 91, &f64::to_le_bytes(bad)), "{bad}");
    }
    // Replacement, another part, a larger bound: each would need more noise.
    assert!(refused(LEAF + 57, &[2]));
    assert!(refused(LEAF + 87, &2_u32.to_le_bytes()));
    assert!(refused(LEAF + 87, &0_u32.to_le_bytes()));
    assert!(refused(LEAF + 63, &3_u64.to_le_bytes()));
    assert!(forge(LEAF + 63, &1_u64.to_le_bytes()).is_ok());
    // Laws, relations and factors without a meaning; noise on top with a guarantee.
    // Law 2 with these numbers is a Laplace release that keeps its ε.
    for law in [0, 3, 4, 5, 255] {
        assert!(refused(LEAF + 16, &[law]), "law {law}");
    }
    for relation in [0, 3, 255] {
        assert!(refused(LEAF + 57, &[relation]), "relation {relation}");
    }
    for factor in [0, i64::MIN] {
        assert!(refused(LEAF + 49, &factor.to_le_bytes()));
    }
    // Kind 3, a user with one item of that weight, has the same sensitivity.
    for kind in [0, 2, 4, 5] {
        assert!(refused(LEAF + 58, &[kind]), "kind {kind}");
    }
}

#[test]
fn histories_must_run() {
    for count in [0_u32, 2, u32::MAX] {
        let found = forge(STEP + 1, &count.to_le_bytes());
        assert!(matches!(found, Err(DecodeError::Lineage(LineageError::Malformed { .. }))), "{count}");
    }
    for code in [3, 255] {
        assert!(matches!(forge(STEP, &[code]), Err(DecodeError::Step { step: 0, .. })), "{code}");
    }
    let mut bytes = released(small(), 0.25, 1).merge(&released(small(), 0.25, 2)).expect("fresh").to_bytes();
    bytes.copy_within(LEAF..LEAF + 16, LEAF + 99);
    reseal(&mut bytes);
    assert!(matches!(read(&bytes), Err(DecodeError::Lineage(LineageError::Repeated { .. }))));
}

#[test]
fn shapes_grids_and_counters_of_files_are_checked() {
    assert!(matches!(forge(32, &[2]), Err(DecodeError::Shape(_))));
    assert!(matches!(forge(32, &[5]), Err(DecodeError::Length { expected: 20, found: 12 })));
    assert!(matches!(forge(33, &u32::MAX.to_le_bytes()), Err(DecodeError::Shape(_))));
    assert!(matches!(forge(37, &[9]), Err(DecodeError::Hash(_))));
    assert!(matches!(forge(46, &[53]), Err(DecodeError::Shape(_))));
    assert!(matches!(forge(CELLS, &i64::MIN.to_le_bytes()), Err(DecodeError::Counter)));
    assert!(forge(CELLS, &i64::MAX.to_le_bytes()).is_ok());

    let forge_raw = |at: usize, value: &[u8]| {
        let mut bytes = small().to_sensitive_bytes().to_vec();
        bytes[at..at + value.len()].copy_from_slice(value);
        reseal(&mut bytes);
        read_raw(&bytes)
    };
    assert!(matches!(forge_raw(RAW_CELLS, &i64::MIN.to_le_bytes()), Err(DecodeError::Counter)));
    assert!(matches!(forge_raw(47, &[0]), Err(DecodeError::Bound)));
    assert!(matches!(forge_raw(47 + 5, &0_u64.to_le_bytes()), Err(DecodeError::Bound)));
    // A record is in one part, a user in one at least.
    assert!(matches!(forge_raw(76, &0_u32.to_le_bytes()), Err(DecodeError::Bound)));
    assert!(matches!(forge_raw(76, &2_u32.to_le_bytes()), Err(DecodeError::Bound)));
}

#[test]
fn a_short_file_takes_little_memory_whatever_it_claims() {
    let bytes = tree().to_bytes();
    for at in 32..bytes.len() - 7 {
        let mut forged = bytes.clone();
        forged[at..at + 8].copy_from_slice(&(1_u64 << 26).to_le_bytes());
        reseal(&mut forged);
        let (_, taken) = measure_thread(|| read(&forged).is_ok());
        assert!(taken.peak < 1 << 15, "{} bytes for a word at {at}", taken.peak);
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
        let _ = read_raw(&bytes);
    }

    #[test]
    fn random_bodies_never_panic(body in prop::collection::vec(any::<u8>(), 0..400)) {
        for template in [tree().to_bytes(), small().to_sensitive_bytes().to_vec()] {
            let mut bytes = template[..32].to_vec();
            bytes.extend(&body);
            reseal(&mut bytes);
            let _ = read(&bytes);
            let _ = read_raw(&bytes);
        }
    }
}

/// Cells at the ends of their range: nothing panics, and no answer is infinite or NaN.
#[test]
fn extreme_cells_are_decoded_and_located() {
    let extremes = [i64::MAX, -i64::MAX, 1 << 62, -(1 << 62), 0, 1];
    for first in extremes {
        for second in extremes {
            let cells = [first.to_le_bytes(), second.to_le_bytes(), first.to_le_bytes()].concat();
            let sketch = forge(CELLS, &cells).expect("other cells are another sketch");
            let keys: Vec<u64> = (0..100).collect();
            let law = sketch.law_frequencies(countsketch_dp::QueryOptions::default()).expect("answers");
            for threshold in [countsketch_dp::Threshold::Auto, countsketch_dp::Threshold::None] {
                let decoded = sketch.decode(&keys, threshold).expect("answers");
                for &key in &keys {
                    assert!(decoded.estimate(key).expect("finite").is_some());
                    assert!(law.estimate(key).is_ok());
                }
            }
        }
    }
}
