//! Golden byte files. `golden/generate.py` wrote them and what they say, in Python and from the definitions alone.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

use std::{fs, path::Path};

use serde_json::Value;
use sfm_pcsa::{DecodeError, PcsaSketch, SfmSketch, Unit, raw_hash_id};
use sketch_hash::{AnyHash, HashKey, KeyFingerprint};
use sketch_testkit::assert_round_trips;

/// Bytes and description of every file whose name starts with `prefix`.
fn files(prefix: &str) -> Vec<(String, Vec<u8>, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".bin").map(str::to_owned))
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "golden files are missing");
    let read = |name: String| {
        let bytes = fs::read(folder.join(format!("{name}.bin"))).unwrap();
        let says = fs::read(folder.join(format!("{name}.json"))).unwrap();
        (name, bytes, serde_json::from_slice(&says).unwrap())
    };
    names.into_iter().map(read).collect()
}

fn list(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn raw_files_are_what_building_from_their_items_gives() {
    for (name, bytes, says) in files("raw-") {
        let hash = AnyHash::matching(raw_hash_id(&bytes).unwrap(), HashKey::DEFAULT).unwrap();
        let read = PcsaSketch::from_sensitive_bytes(&bytes, hash.clone()).unwrap();
        assert_eq!(u64::from(read.shape().buckets()), says["buckets"], "{name}");
        assert_eq!(u64::from(read.shape().levels()), says["levels"], "{name}");
        assert_eq!(u64::from(read.releases()), says["releases"], "{name}");
        let unit = u32::try_from(says["max_items"].as_u64().unwrap()).unwrap();
        assert_eq!(read.unit(), Unit::user(unit).unwrap_or(Unit::Item), "{name}");
        assert_eq!(read.hash_id().key().to_string(), says["hash_fingerprint"].as_str().unwrap(), "{name}");
        assert_eq!(*read.to_sensitive_bytes(), bytes, "{name}");

        let mut built = PcsaSketch::new(read.shape(), hash).with_unit(read.unit());
        built.update_u64_batch(&list(&says["items"]));
        let mut singly = PcsaSketch::new(read.shape(), built.hash().clone()).with_unit(read.unit());
        for item in list(&says["items"]) {
            singly.update_u64(item);
        }
        assert_eq!(built, singly, "{name}");
        if read.releases() == 0 {
            assert_eq!(built, read, "{name}");
        }
        while built.releases() < read.releases().min(3) {
            built.record_release();
        }
        assert!(built == read || read.releases() > 3, "{name}");
        assert_eq!(built.is_empty(), says["items"].as_array().unwrap().is_empty());
    }
}

fn close(got: f64, want: &Value, relative: f64, what: &str) {
    let want = want.as_f64().unwrap();
    assert!((got - want).abs() <= relative * want.abs(), "{what}: got {got}, want {want}");
}

#[test]
fn private_files_say_what_their_history_implies() {
    for (name, bytes, says) in files("private-") {
        let read = SfmSketch::from_bytes_allowing_insecure_noise(&bytes).unwrap();
        assert_eq!(read.insecure_noise(), says["insecure_noise"].as_bool().unwrap(), "{name}");
        assert_eq!(u64::from(read.shape().buckets()), says["buckets"], "{name}");
        assert_eq!(u64::from(read.shape().levels()), says["levels"], "{name}");
        assert_eq!(read.hash_id().key().to_string(), says["hash_fingerprint"].as_str().unwrap(), "{name}");
        assert_eq!(read.ones_per_level(), list(&says["ones_per_level"]), "{name}");
        let leaves = says["leaves"].as_array().unwrap();
        assert_eq!(read.leaves().len(), leaves.len(), "{name}");
        for (leaf, says) in read.leaves().iter().zip(leaves) {
            assert_eq!(leaf.id().to_string(), says["id"].as_str().unwrap());
            assert_eq!(leaf.p_numerator().to_string(), says["p_numerator"].as_str().unwrap());
            assert_eq!(leaf.q_numerator().to_string(), says["q_numerator"].as_str().unwrap());
            close(leaf.epsilon().get(), &says["epsilon"], 0.0, "epsilon");
            let unit = Unit::user(u32::try_from(says["max_items"].as_u64().unwrap()).unwrap()).unwrap_or(Unit::Item);
            assert_eq!(leaf.unit(), unit);
        }
        // Exact fractions on the other side; four roundings of 2^-53 here.
        close(read.channel().p(), &says["p"], 1e-15, &name);
        close(read.channel().q(), &says["q"], 1e-14, &name);
        close(read.channel().a(), &says["a"], 1e-15, &name);
        close(read.channel().d(), &says["d"], 1e-15, &name);
        close(read.epsilon(), &says["epsilon"], 0.0, &name);
        assert_eq!(read.epsilon_total(), says["epsilon_total"].as_f64(), "{name}");
        match read.epsilon_if_seen_alone() {
            None => assert!(read.insecure_noise() || says["level_if_seen_alone"].is_null(), "{name}"),
            Some(stated) => {
                let level = says["level_if_seen_alone"].as_f64().unwrap();
                assert!((level..=level * (1.0 + 1e-13)).contains(&stated), "{name}: {stated} for {level}");
            }
        }
        assert_round_trips(&read, SfmSketch::to_bytes, SfmSketch::from_bytes_allowing_insecure_noise);
        assert_eq!(read.to_bytes(), bytes, "{name}");
    }
}

#[test]
fn insecure_noise_is_read_only_on_request() {
    for (name, bytes, says) in files("private-") {
        let read = SfmSketch::from_bytes(&bytes);
        if says["insecure_noise"].as_bool().unwrap() {
            assert!(matches!(read, Err(DecodeError::InsecureNoise)), "{name}");
        } else {
            assert!(read.is_ok(), "{name}");
        }
    }
}

#[test]
fn raw_and_private_bytes_are_never_taken_for_each_other() {
    for (_, bytes, _) in files("raw-") {
        assert!(matches!(SfmSketch::from_bytes_allowing_insecure_noise(&bytes), Err(DecodeError::Wire(_))));
    }
    for (_, bytes, _) in files("private-") {
        let read = PcsaSketch::from_sensitive_bytes(&bytes, sketch_hash::DefaultHash::default());
        assert!(matches!(read, Err(DecodeError::Wire(_))));
        assert!(raw_hash_id(&bytes).is_err());
    }
}

#[test]
fn a_raw_file_is_refused_under_another_key() {
    let (_, bytes, _) = files("raw-default").remove(0);
    let other = sketch_hash::DefaultHash::new(HashKey::from_bytes([1; 16]));
    let error = PcsaSketch::from_sensitive_bytes(&bytes, other).unwrap_err();
    let DecodeError::HashMismatch { expected, found } = &error else { panic!("{error:?}") };
    assert_eq!(found.key(), KeyFingerprint::from_u64(0xc9a4_d873_c4d3_b963));
    let message = error.to_string();
    assert!(message.contains(&expected.to_string()) && message.contains(&found.to_string()), "{message}");
}
