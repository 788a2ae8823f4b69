//! Bytes that nobody meant well with: decoders refuse them or accept exactly what they would write.

mod support;

use std::fs;

use proptest::prelude::*;
use sfm_pcsa::{DecodeError, LineageError, MergeForm, PcsaSketch, SfmSketch};
use sketch_hash::DefaultHash;
use sketch_testkit::{assert_accepted_is_canonical, assert_damage_is_refused, reseal};
use support::{Raw, noise, raw, released, shape};

fn read_raw(bytes: &[u8]) -> Result<Raw, DecodeError> {
    PcsaSketch::from_sensitive_bytes(bytes, DefaultHash::default())
}

fn read(bytes: &[u8]) -> Result<SfmSketch, DecodeError> {
    SfmSketch::from_bytes_allowing_insecure_noise(bytes)
}

/// A merge of merges with five releases, small enough to damage everywhere.
fn tree() -> SfmSketch {
    let mut coins = noise(1);
    let mut part = |epsilon| released(raw(shape(8, 5), 0..20), epsilon, &mut coins);
    let parts = [1.0, 2.0, 0.5, 4.0, 44.0].map(&mut part);
    let published = parts[0].merge(&parts[1], MergeForm::Symmetric, &mut coins).expect("fresh releases");
    let extremal = parts[2].merge(&parts[3], MergeForm::Extremal, &mut coins).expect("fresh releases");
    SfmSketch::merge_all(&[&published, &parts[4], &extremal], MergeForm::Extremal, &mut coins).expect("fresh releases")
}

#[test]
fn damaged_files_are_refused() {
    assert_damage_is_refused(&tree().to_bytes(), read);
    assert_damage_is_refused(&raw(shape(8, 5), 0..20).to_sensitive_bytes(), read_raw);
}

#[test]
fn forged_files_are_refused_or_canonical() {
    let (accepted, tried) = assert_accepted_is_canonical(&tree().to_bytes(), read, SfmSketch::to_bytes);
    // Flips of cells, of release names and of low bits of probabilities are other valid sketches.
    assert!(accepted > 0 && accepted < tried / 2, "{accepted} of {tried}");
    let small = raw(shape(8, 5), 0..20);
    let encode = |sketch: &Raw| sketch.to_sensitive_bytes().to_vec();
    assert_accepted_is_canonical(&small.to_sensitive_bytes(), read_raw, encode);
}

/// Offsets in a private file with one release: header, shape and hash, then lists.
const LEAF: usize = 32 + 11 + 8;
const STEPS: usize = LEAF + 44;
const STEP: usize = STEPS + 8;

fn single() -> Vec<u8> {
    released(raw(shape(8, 5), 0..20), 1.0, &mut noise(2)).to_bytes()
}

fn forge(at: usize, value: &[u8]) -> Result<SfmSketch, DecodeError> {
    let mut bytes = single();
    bytes[at..at + value.len()].copy_from_slice(value);
    reseal(&mut bytes);
    read(&bytes)
}

#[test]
fn flip_probabilities_must_keep_the_stated_level() {
    // p = q, q = 0, q > p, and an epsilon just below what the flips realise.
    let p = (LEAF + 16, 8);
    let q = (LEAF + 24, 8);
    for (at, value) in [(q.0, 0_u64), (q.0, u64::MAX), (p.0, 0), (p.0, u64::MAX)] {
        assert!(matches!(forge(at, &value.to_le_bytes()), Err(DecodeError::Leaf { index: 0, .. })));
    }
    let epsilon = LEAF + 32;
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 0.5, 1.0 - 1e-12, 1e-10] {
        let found = forge(epsilon, &f64::to_le_bytes(bad));
        assert!(matches!(found, Err(DecodeError::Leaf { index: 0, .. })), "{bad}");
    }
    // More noise than needed is no lie.
    assert!(forge(epsilon, &2f64.to_le_bytes()).is_ok());
}

#[test]
fn merge_histories_must_run() {
    let malformed = |found: Result<SfmSketch, DecodeError>| {
        matches!(found, Err(DecodeError::Lineage(LineageError::Malformed { .. })))
    };
    // Takes no leaf, two leaves of one, or merges what is not there.
    for count in [0_u32, 2, u32::MAX] {
        assert!(malformed(forge(STEP + 2, &count.to_le_bytes())), "{count}");
    }
    assert!(malformed(forge(STEP, &[1, 1])));
    for code in [[0, 2], [2, 1], [1, 0], [1, 4], [3, 0], [255, 255]] {
        assert!(matches!(forge(STEP, &code), Err(DecodeError::Step { step: 0, .. })), "{code:?}");
    }
}

#[test]
fn a_release_that_appears_twice_is_refused() {
    let mut coins = noise(3);
    let [a, b] = [1.0, 1.0].map(|epsilon| released(raw(shape(8, 5), 0..20), epsilon, &mut coins));
    let mut bytes = a.merge(&b, MergeForm::Extremal, &mut coins).expect("fresh releases").to_bytes();
    bytes.copy_within(LEAF..LEAF + 16, LEAF + 44);
    reseal(&mut bytes);
    let Err(DecodeError::Lineage(LineageError::Repeated { id })) = read(&bytes) else { panic!("accepted") };
    assert_eq!(id, a.leaves()[0].id());
}

#[test]
fn bits_beyond_the_last_cell_are_refused() {
    // 8 x 5 cells fill 40 bits of one word.
    let mut bytes = single();
    let last = bytes.len() - 1;
    bytes[last] |= 0x80;
    reseal(&mut bytes);
    assert!(matches!(read(&bytes), Err(DecodeError::ExtraBits { cells: 40 })));
}

#[test]
fn shapes_and_hashes_of_files_are_checked() {
    for (index_bits, levels) in [(0, 5), (21, 5), (8, 0), (8, 57), (255, 255)] {
        let found = forge(32, &[index_bits, levels]);
        assert!(matches!(found, Err(DecodeError::Shape(_))), "{index_bits} {levels}");
    }
    assert!(matches!(forge(32, &[20, 44]), Err(DecodeError::Length { expected: 720_896, found: 1 })));
    assert!(matches!(forge(34, &[9]), Err(DecodeError::Hash(_))));
}

#[test]
fn long_histories_are_decoded_without_deep_recursion() {
    // A left-deep chain of merges, near the largest number of releases; at epsilon = 40 hardly any signal is lost.
    let parts = 2_000;
    let mut coins = noise(4);
    let mut joined = released(raw(shape(2, 1), 0..3), 40.0, &mut coins);
    for _ in 1..parts {
        let next = released(raw(shape(2, 1), 0..3), 40.0, &mut coins);
        joined = joined.merge(&next, MergeForm::Extremal, &mut coins).expect("fresh releases");
    }
    let read = read(&joined.to_bytes()).expect("its own bytes");
    assert_eq!(read.leaves().len(), parts);
    assert_eq!(read, joined);
}

#[test]
fn too_many_releases_are_refused() {
    let mut bytes = single();
    let leaf: Vec<u8> = bytes[LEAF..STEPS].to_vec();
    let count = 65_537_u64;
    bytes[LEAF - 8..LEAF].copy_from_slice(&count.to_le_bytes());
    let mut leaves = Vec::new();
    for number in 1..count {
        let mut next = leaf.clone();
        next[..8].copy_from_slice(&number.to_le_bytes());
        leaves.extend(next);
    }
    bytes.splice(STEPS..STEPS, leaves);
    reseal(&mut bytes);
    let found = read(&bytes);
    assert!(matches!(found, Err(DecodeError::Lineage(LineageError::Releases { found: 65_537 }))), "{found:?}");
}

#[test]
fn a_merge_beyond_the_cap_is_refused() {
    let mut coins = noise(5);
    let one = shape(2, 1);
    let parts: Vec<SfmSketch> = (0..=65_536).map(|_| released(raw(one, []), 44.0, &mut coins)).collect();
    let all: Vec<&SfmSketch> = parts.iter().collect();
    let joined = SfmSketch::merge_all(&all[..65_536], MergeForm::Extremal, &mut coins).expect("at the cap");
    assert_eq!(joined.leaves().len(), 65_536);
    assert_eq!(read(&joined.to_bytes()).expect("its own bytes"), joined);
    let error = joined.merge(all[65_536], MergeForm::Extremal, &mut coins).expect_err("above the cap");
    assert!(error.to_string().contains("65536"), "{error}");
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = read_raw(&bytes);
    }

    #[test]
    fn random_bodies_behind_a_right_header_never_panic(body in prop::collection::vec(any::<u8>(), 0..300), private: bool) {
        let mut bytes = if private { single() } else { raw(shape(8, 5), []).to_sensitive_bytes().to_vec() };
        bytes.truncate(32);
        bytes.extend(body);
        reseal(&mut bytes);
        if let Ok(sketch) = read(&bytes) {
            prop_assert_eq!(sketch.to_bytes(), bytes.clone());
        }
        if let Ok(sketch) = read_raw(&bytes) {
            prop_assert_eq!(sketch.to_sensitive_bytes().to_vec(), bytes);
        }
    }
}

#[test]
fn golden_files_survive_forging() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/private-tree.bin");
    let bytes = fs::read(folder).expect("a golden file");
    assert_damage_is_refused(&bytes, read);
    assert_accepted_is_canonical(&bytes, read, SfmSketch::to_bytes);
}
