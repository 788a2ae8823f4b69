//! Golden byte files. `golden/generate.py` wrote them and what they say, in Python and from the definitions alone.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

mod support;

use std::{fs, path::Path};

use f0_sketch::{
    DecodeError, F0Shape, F0Sketch, MaxWeight, Mode, ModeKind, Presampled, PrivateF0Sketch, Set, Table, Unit,
    WeightRule, peek_mode, raw_hash_id,
};
use serde_json::Value;
use sketch_hash::{DefaultHash, Item, KeyFingerprint};
use sketch_testkit::assert_round_trips;
use support::other_key;

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

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn unit(says: &Value) -> Unit {
    Unit::user(number(&says["max_items"])).unwrap_or(Unit::Item)
}

fn shape(says: &Value) -> F0Shape {
    let table = |table: &Value| Table {
        share: table["share"].as_str().unwrap().parse().unwrap(),
        cells: number(&table["cells"]),
    };
    F0Shape::with_tables(&says["tables"].as_array().unwrap().iter().map(table).collect::<Vec<_>>()).unwrap()
}

fn rule(says: &Value) -> WeightRule {
    says["max_weight"].as_f64().map_or(WeightRule::Unit, |max| WeightRule::Weighted(MaxWeight::new(max).unwrap()))
}

fn mode(says: &Value) -> ModeKind {
    if says["mode"] == "set" { ModeKind::Set } else { ModeKind::Presampled }
}

/// The sketch of the items that a description lists, one toggle each.
fn built(says: &Value) -> F0Sketch {
    let (shape, rule) = (shape(says), rule(says));
    let mut sketch: F0Sketch = F0Sketch::new(shape, rule, DefaultHash::default());
    for item in says["items"].as_array().unwrap() {
        match (rule, item) {
            (WeightRule::Weighted(max), pair) => {
                let weight = max.weight(pair[1].as_f64().unwrap()).unwrap();
                sketch.toggle_u64_weighted(pair[0].as_u64().unwrap(), weight).unwrap();
            }
            (_, Value::String(text)) => sketch.toggle_item(&Item::from(text.as_str())),
            (_, integer) => sketch.toggle_u64(integer.as_u64().unwrap()),
        }
    }
    sketch
}

fn check_raw<M: Mode>(name: &str, bytes: &[u8], says: &Value) {
    let read = F0Sketch::<M>::from_sensitive_bytes(bytes, DefaultHash::default()).unwrap();
    assert_eq!(read.shape(), &shape(says), "{name}");
    assert_eq!(read.weight_rule(), rule(says), "{name}");
    assert_eq!(read.releases(), number(&says["releases"]), "{name}");
    assert_eq!(read.unit(), unit(says), "{name}");
    let coins: Vec<String> = read.coins().iter().map(ToString::to_string).collect();
    let told: Vec<&str> = says["coins"].as_array().unwrap().iter().map(|coin| coin.as_str().unwrap()).collect();
    assert_eq!(coins, told, "{name}");
    assert_eq!(read.hash_id().key().to_string(), says["hash_fingerprint"].as_str().unwrap(), "{name}");
    assert_eq!(raw_hash_id(bytes).unwrap(), read.hash_id());
    assert_eq!(read.to_sensitive_bytes().to_vec(), bytes, "{name}");
    assert_eq!(read.is_zero(), says["items"].as_array().unwrap().is_empty());
    let rebuilt = built(says).to_sensitive_bytes();
    let words = 8 * read.shape().cells().div_ceil(64);
    assert_eq!(rebuilt[rebuilt.len() - words..], bytes[bytes.len() - words..], "{name}");
}

#[test]
fn raw_files_are_what_toggling_their_items_gives() {
    for (name, bytes, says) in files("raw-") {
        assert_eq!(peek_mode(&bytes).unwrap(), mode(&says), "{name}");
        match mode(&says) {
            ModeKind::Set => check_raw::<Set>(&name, &bytes, &says),
            ModeKind::Presampled => {
                check_raw::<Presampled>(&name, &bytes, &says);
                let read = F0Sketch::<Presampled>::from_sensitive_bytes(&bytes, DefaultHash::default()).unwrap();
                assert_eq!(read.exposure().to_bits(), says["exposure"].as_f64().unwrap().to_bits(), "{name}");
                let released = support::released(read, 1.0, &mut support::noise(1));
                assert!(released.insecure_noise());
            }
        }
    }
}

fn close(got: f64, want: &Value, relative: f64, what: &str) {
    let want = want.as_f64().unwrap();
    assert!((got - want).abs() <= relative * want.abs(), "{what}: got {got}, want {want}");
}

fn check_private<M: Mode>(name: &str, bytes: &[u8], says: &Value) {
    let read = PrivateF0Sketch::<M>::from_bytes_allowing_insecure_noise(bytes).unwrap();
    assert_eq!(read.mode(), mode(says));
    assert_eq!(read.insecure_noise(), says["insecure_noise"].as_bool().unwrap(), "{name}");
    assert_eq!(read.shape(), &shape(says), "{name}");
    assert_eq!(read.weight_rule(), rule(says), "{name}");
    assert_eq!(read.hash_id().key().to_string(), says["hash_fingerprint"].as_str().unwrap(), "{name}");
    let ones: Vec<u64> = says["ones_per_table"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(read.ones_per_table(), ones, "{name}");
    let leaves = says["leaves"].as_array().unwrap();
    assert_eq!(read.leaves().len(), leaves.len(), "{name}");
    for (leaf, says) in read.leaves().iter().zip(leaves) {
        assert_eq!(leaf.id().to_string(), says["id"].as_str().unwrap());
        assert_eq!(leaf.flip_numerator().to_string(), says["flip_numerator"].as_str().unwrap());
        close(leaf.epsilon().get(), &says["epsilon"], 0.0, "epsilon");
        assert_eq!(leaf.unit(), unit(says));
        assert_eq!(leaf.is_opened(), says["opened"].as_bool().unwrap());
    }
    let coins = says["coins"].as_array().unwrap();
    assert_eq!(read.coins().len(), coins.len(), "{name}");
    for ((coin, release), says) in read.coins().zip(coins) {
        assert_eq!(coin.to_string(), says["name"].as_str().unwrap(), "{name}");
        let index = usize::try_from(number(&says["release"])).unwrap();
        assert_eq!(release.to_string(), leaves[index]["id"], "{name}");
    }
    // Exact fractions on the other side; one rounding to f64 on both.
    close(read.contrast(), &says["contrast"], 3e-16, name);
    close(read.flip_probability(), &says["flip_probability"], 3e-16, name);
    close(read.epsilon(), &says["epsilon"], 0.0, name);
    assert_eq!(read.epsilon_total(), says["epsilon_total"].as_f64(), "{name}");
    match read.epsilon_if_seen_alone() {
        None => assert!(read.insecure_noise() || says["level_if_seen_alone"].is_null(), "{name}"),
        Some(stated) => {
            let level = says["level_if_seen_alone"].as_f64().unwrap();
            assert!((level..=level * (1.0 + 1e-13)).contains(&stated), "{name}: {stated} for {level}");
        }
    }
    assert_round_trips(&read, PrivateF0Sketch::to_bytes, PrivateF0Sketch::<M>::from_bytes_allowing_insecure_noise);
    assert_eq!(read.to_bytes(), bytes, "{name}");
}

#[test]
fn private_files_say_what_their_releases_imply() {
    for (name, bytes, says) in files("private-") {
        assert_eq!(peek_mode(&bytes).unwrap(), mode(&says), "{name}");
        match mode(&says) {
            ModeKind::Set => check_private::<Set>(&name, &bytes, &says),
            ModeKind::Presampled => check_private::<Presampled>(&name, &bytes, &says),
        }
    }
}

#[test]
fn insecure_noise_is_read_only_on_request() {
    for (name, bytes, says) in files("private-").into_iter().filter(|(_, _, says)| mode(says) == ModeKind::Set) {
        let read = PrivateF0Sketch::<Set>::from_bytes(&bytes);
        if says["insecure_noise"].as_bool().unwrap() {
            assert!(matches!(read, Err(DecodeError::InsecureNoise)), "{name}");
        } else {
            assert!(read.is_ok(), "{name}");
        }
    }
}

#[test]
fn modes_are_never_taken_for_each_other() {
    for (name, bytes, says) in files("private-") {
        let set = PrivateF0Sketch::<Set>::from_bytes_allowing_insecure_noise(&bytes).err();
        let presampled = PrivateF0Sketch::<Presampled>::from_bytes_allowing_insecure_noise(&bytes).err();
        let (right, wrong) = if mode(&says) == ModeKind::Set { (set, presampled) } else { (presampled, set) };
        assert!(right.is_none(), "{name}");
        assert!(matches!(wrong, Some(DecodeError::Mode { expected, found }) if expected != found), "{name}");
    }
    for (_, bytes, _) in files("raw-presampled") {
        let read = F0Sketch::<Set>::from_sensitive_bytes(&bytes, DefaultHash::default());
        assert!(matches!(read, Err(DecodeError::Mode { expected: ModeKind::Set, found: ModeKind::Presampled })));
    }
}

#[test]
fn raw_and_private_bytes_are_never_taken_for_each_other() {
    for (_, bytes, _) in files("raw-") {
        let read = PrivateF0Sketch::<Set>::from_bytes_allowing_insecure_noise(&bytes);
        assert!(matches!(read, Err(DecodeError::Wire(_))));
    }
    for (_, bytes, _) in files("private-") {
        let read = F0Sketch::<Set>::from_sensitive_bytes(&bytes, DefaultHash::default());
        assert!(matches!(read, Err(DecodeError::Wire(_))));
        assert!(raw_hash_id(&bytes).is_err());
    }
}

#[test]
fn a_raw_file_is_refused_under_another_key() {
    let (_, bytes, _) = files("raw-default").remove(0);
    let error = F0Sketch::<Set>::from_sensitive_bytes(&bytes, other_key()).unwrap_err();
    let DecodeError::HashMismatch { expected, found } = &error else { panic!("{error:?}") };
    assert_eq!(found.key(), KeyFingerprint::from_u64(0xc9a4_d873_c4d3_b963));
    let message = error.to_string();
    assert!(message.contains(&expected.to_string()) && message.contains(&found.to_string()), "{message}");
}
