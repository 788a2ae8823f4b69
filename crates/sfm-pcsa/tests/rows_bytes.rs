//! Golden byte files of linear counting, Bloom filters and Liquid Legions, written with what they say by
//! `golden/generate.py` from the definitions alone; and the same files damaged.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

mod support;

use std::{fs, path::Path};

use serde_json::Value;
use sfm_pcsa::diagnostics::legions_boundaries;
use sfm_pcsa::{BitmapShape, BloomShape, DecodeError, LegionsShape, LinearShape, PrivateBitmap, RawBitmap, Unit};
use sketch_hash::{AnyHash, HashId, HashKey, PrestoHash};
use sketch_testkit::{assert_accepted_is_canonical, assert_damage_is_refused, reseal};
use support::{noise, raw, released};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Name, bytes and description of every file whose name starts with `prefix`.
fn files(prefix: &str) -> Vec<(String, Vec<u8>, Value)> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".bin").map(str::to_owned))
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort();
    assert!(names.len() >= 2, "golden files are missing");
    let read = |name: String| {
        let bytes = fs::read(folder().join(format!("{name}.bin"))).unwrap();
        let says = fs::read(folder().join(format!("{name}.json"))).unwrap();
        (name, bytes, serde_json::from_slice(&says).unwrap())
    };
    names.into_iter().map(read).collect()
}

fn integer(says: &Value, name: &str) -> u32 {
    u32::try_from(says[name].as_u64().unwrap()).unwrap()
}

fn linear(says: &Value) -> LinearShape {
    LinearShape::new(integer(says, "cells")).unwrap()
}

fn bloom(says: &Value) -> BloomShape {
    BloomShape::new(integer(says, "cells"), u8::try_from(integer(says, "hashes")).unwrap()).unwrap()
}

fn legions(says: &Value) -> LegionsShape {
    LegionsShape::new(integer(says, "cells"), says["decay"].as_f64().unwrap()).unwrap()
}

fn raw_files_are_what_building_gives<S: BitmapShape>(prefix: &str, shape: impl Fn(&Value) -> S) {
    for (name, bytes, says) in files(prefix) {
        let hash = if says["hash_algorithm"] == 2 {
            AnyHash::from(PrestoHash)
        } else {
            AnyHash::from(sketch_hash::DefaultHash::new(HashKey::DEFAULT))
        };
        let read = RawBitmap::<S, _>::from_sensitive_bytes(&bytes, hash.clone()).unwrap();
        assert_eq!(read.shape(), shape(&says), "{name}");
        let mut built = RawBitmap::new(read.shape(), hash);
        let items: Vec<u64> = says["items"].as_array().unwrap().iter().map(|item| item.as_u64().unwrap()).collect();
        built.update_u64_batch(&items);
        for _ in 0..integer(&says, "releases") {
            built.record_release();
        }
        assert_eq!(*built.to_sensitive_bytes(), bytes, "{name}");
        assert_eq!(*read.to_sensitive_bytes(), bytes, "{name}");
    }
}

#[test]
fn raw_files_hold_what_building_from_their_items_gives() {
    raw_files_are_what_building_gives("linear-raw", linear);
    raw_files_are_what_building_gives("bloom-raw", bloom);
    raw_files_are_what_building_gives("legions-raw", legions);
}

fn close(got: f64, want: &Value, relative: f64, what: &str) {
    let want = want.as_f64().unwrap();
    assert!((got - want).abs() <= relative * want.abs(), "{what}: got {got}, want {want}");
}

fn private_files_say_what_is_beside_them<S: BitmapShape>(prefix: &str, shape: impl Fn(&Value) -> S) {
    for (name, bytes, says) in files(prefix) {
        let read = PrivateBitmap::<S>::from_bytes(&bytes).unwrap();
        assert_eq!(read.shape(), shape(&says), "{name}");
        let expected: Vec<Unit> = says["leaves"]
            .as_array()
            .unwrap()
            .iter()
            .map(|leaf| Unit::user(integer(leaf, "max_items")).unwrap_or(Unit::Item))
            .collect();
        assert_eq!(read.leaves().iter().map(sfm_pcsa::Leaf::unit).collect::<Vec<_>>(), expected, "{name}");
        close(read.channel().p(), &says["p"], 1e-15, &name);
        close(read.channel().a(), &says["a"], 1e-15, &name);
        close(read.epsilon(), &says["epsilon"], 0.0, &name);
        assert_eq!(read.epsilon_total(), says["epsilon_total"].as_f64(), "{name}");
        let stated = read.epsilon_if_seen_alone().unwrap();
        let level = says["level_if_seen_alone"].as_f64().unwrap();
        assert!((level..=level * (1.0 + 1e-13)).contains(&stated), "{name}: {stated} for {level}");
        assert_eq!(read.to_bytes(), bytes, "{name}");
    }
}

#[test]
fn private_files_hold_what_their_history_implies() {
    private_files_say_what_is_beside_them("linear-private", linear);
    private_files_say_what_is_beside_them("bloom-private", bloom);
    private_files_say_what_is_beside_them("legions-private", legions);
}

#[test]
fn legions_boundaries_are_those_of_the_formula_to_the_last_bit() {
    let text = fs::read(folder().join("legions_boundaries.json")).unwrap();
    let shapes: Vec<Value> = serde_json::from_slice(&text).unwrap();
    assert_eq!(shapes.len(), 6);
    for says in shapes {
        let expected: Vec<String> =
            says["firsts"].as_array().unwrap().iter().map(|first| first.as_str().unwrap().to_owned()).collect();
        let found: Vec<String> = legions_boundaries(legions(&says)).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{} {}", says["cells"], says["decay"]);
    }
}

fn damaged_files_are_refused_or_canonical<S: BitmapShape>(shape: S) {
    let mut coins = noise(1);
    let parts = [8.0, 9.0, 3.0].map(|epsilon| released(raw(shape, 0..20), epsilon, &mut coins));
    let private = PrivateBitmap::merge_all(&parts.each_ref(), sfm_pcsa::MergeForm::Extremal, &mut coins).unwrap();
    let read = PrivateBitmap::<S>::from_bytes_allowing_insecure_noise;
    assert_damage_is_refused(&private.to_bytes(), read);
    let (accepted, tried) = assert_accepted_is_canonical(&private.to_bytes(), read, PrivateBitmap::to_bytes);
    assert!(accepted > 0 && accepted < tried, "{accepted} of {tried}");
    let bytes = raw(shape, 0..20).to_sensitive_bytes();
    let read = |bytes: &[u8]| RawBitmap::<S>::from_sensitive_bytes(bytes, sketch_hash::DefaultHash::default());
    assert_damage_is_refused(&bytes, read);
    assert_accepted_is_canonical(&bytes, read, |sketch| sketch.to_sensitive_bytes().to_vec());
}

#[test]
fn damaged_files_of_every_family_are_refused_or_canonical() {
    damaged_files_are_refused_or_canonical(LinearShape::new(70).unwrap());
    damaged_files_are_refused_or_canonical(BloomShape::new(70, 3).unwrap());
    damaged_files_are_refused_or_canonical(LegionsShape::new(70, 5.0).unwrap());
}

fn forge<S: BitmapShape>(shape: S, at: usize, value: &[u8]) -> Result<PrivateBitmap<S>, DecodeError> {
    let mut bytes = released(raw(shape, 0..20), 8.0, &mut noise(2)).to_bytes();
    bytes[at..at + value.len()].copy_from_slice(value);
    reseal(&mut bytes);
    PrivateBitmap::from_bytes_allowing_insecure_noise(&bytes)
}

#[test]
fn shapes_of_files_are_checked() {
    let linear = LinearShape::new(70).unwrap();
    let bloom = BloomShape::new(70, 2).unwrap();
    let legions = LegionsShape::new(70, 5.0).unwrap();
    for cells in [0_u32, 1, (1 << 26) + 1, u32::MAX] {
        assert!(matches!(forge(linear, 32, &cells.to_le_bytes()), Err(DecodeError::Shape(_))), "{cells}");
        assert!(matches!(forge(bloom, 32, &cells.to_le_bytes()), Err(DecodeError::Shape(_))), "{cells}");
        assert!(matches!(forge(legions, 32, &cells.to_le_bytes()), Err(DecodeError::Shape(_))), "{cells}");
    }
    // A large shape with few words costs nothing.
    let large = forge(linear, 32, &(1_u32 << 26).to_le_bytes());
    assert!(matches!(large, Err(DecodeError::Length { expected: 1_048_576, found: 2 })));
    for hashes in [0, 65, 255] {
        assert!(matches!(forge(bloom, 36, &[hashes]), Err(DecodeError::Shape(_))), "{hashes}");
    }
    for decay in [0.0, -5.0, 24.5, f64::NAN, f64::INFINITY] {
        assert!(matches!(forge(legions, 36, &f64::to_le_bytes(decay)), Err(DecodeError::Shape(_))), "{decay}");
    }
}

#[test]
fn flips_for_fewer_hashes_are_refused() {
    // Flips of level epsilon / 2 a cell are not those of three hashes.
    let found = forge(BloomShape::new(70, 2).unwrap(), 36, &[3]);
    assert!(matches!(found, Err(DecodeError::Leaf { index: 0, .. })), "{found:?}");
    assert!(forge(BloomShape::new(70, 2).unwrap(), 36, &[1]).is_ok(), "more noise than needed is no lie");
}

#[test]
fn families_are_never_taken_for_each_other() {
    let mut coins = noise(3);
    let linear = released(raw(LinearShape::new(64).unwrap(), 0..20), 8.0, &mut coins).to_bytes();
    let legions = released(raw(LegionsShape::new(64, 3.0).unwrap(), 0..20), 8.0, &mut coins).to_bytes();
    assert!(matches!(PrivateBitmap::<BloomShape>::from_bytes(&linear), Err(DecodeError::Wire(_))));
    assert!(matches!(PrivateBitmap::<LinearShape>::from_bytes(&legions), Err(DecodeError::Wire(_))));
    assert!(matches!(sfm_pcsa::SfmSketch::from_bytes(&linear), Err(DecodeError::Wire(_))));
}

#[test]
fn the_hash_of_a_raw_file_of_any_family_can_be_read() {
    let expected: HashId = raw(LinearShape::new(64).unwrap(), []).hash_id();
    for bytes in [
        raw(LinearShape::new(64).unwrap(), 0..9).to_sensitive_bytes(),
        raw(BloomShape::new(64, 2).unwrap(), 0..9).to_sensitive_bytes(),
        raw(LegionsShape::new(64, 2.0).unwrap(), 0..9).to_sensitive_bytes(),
        raw(sfm_pcsa::PcsaShape::DEFAULT, 0..9).to_sensitive_bytes(),
    ] {
        assert_eq!(sfm_pcsa::raw_hash_id(&bytes).unwrap(), expected);
    }
}
