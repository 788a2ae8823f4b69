//! Byte files written by `golden/generate.py`, which knows the layout and nothing of this crate.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod example;

use std::{collections::BTreeSet, fs, path::PathBuf};

use example::{Entry, ExampleV1};
use serde_json::Value;
use sketch_wire::{Flags, HEADER_VERSION, WireError, decode, encode, peek, verify};

/// Name, bytes and description of every pair.
fn pairs() -> Vec<(String, Vec<u8>, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "bin" || extension == "json") {
            names.insert(path.with_extension(""));
        }
    }
    let read = |path: PathBuf| {
        let json = fs::read_to_string(path.with_extension("json")).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read(path.with_extension("bin")).unwrap(), serde_json::from_str(&json).unwrap())
    };
    names.into_iter().map(read).collect()
}

fn accepted() -> impl Iterator<Item = (String, Vec<u8>, Value)> {
    pairs().into_iter().filter(|(_, _, description)| description.get("error").is_none())
}

/// The word for an error in the descriptions.
fn word(error: &WireError) -> &'static str {
    match error {
        WireError::Magic { .. } => "magic",
        WireError::HeaderVersion { .. } => "header_version",
        WireError::UnknownFamily { .. } => "unknown_family",
        WireError::Family { .. } => "family",
        WireError::BodyVersion { .. } => "body_version",
        WireError::UnknownFlags { .. } => "unknown_flags",
        WireError::FlagsExclusive { .. } => "flags_exclusive",
        WireError::Reserved { .. } => "reserved",
        WireError::BodyTooLong { .. } => "body_too_long",
        WireError::Truncated { .. } => "truncated",
        WireError::TrailingBytes { .. } => "trailing_bytes",
        WireError::Checksum { .. } => "checksum",
        WireError::Body(_) => "body",
        _ => "another error",
    }
}

fn unsigned<T: TryFrom<u64>>(value: &Value) -> T {
    let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    number.and_then(|number| T::try_from(number).ok()).expect("an unsigned number that fits")
}

fn hex(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

fn body(fields: &Value) -> ExampleV1 {
    let list = |name: &str| fields[name].as_array().unwrap().iter();
    let id = u32::from_str_radix(fields["id"].as_str().unwrap(), 16).unwrap();
    ExampleV1 {
        tag: unsigned(&fields["tag"]),
        short: unsigned(&fields["short"]),
        count: unsigned(&fields["count"]),
        total: unsigned(&fields["total"]),
        change: fields["change"].as_str().unwrap().parse().unwrap(),
        ratio: f64::from_bits(hex(&fields["ratio_bits"])),
        present: fields["present"].as_bool().unwrap(),
        id: id.to_be_bytes(),
        entries: list("entries")
            .map(|entry| Entry { key: unsigned(&entry["key"]), weight: unsigned(&entry["weight"]) })
            .collect(),
        words: list("words").map(hex).collect(),
    }
}

fn flags(header: &Value) -> Flags {
    let flag = |name: &Value| match name.as_str().unwrap() {
        "private" => Flags::PRIVATE,
        "raw" => Flags::RAW,
        "insecure_noise" => Flags::INSECURE_NOISE,
        other => panic!("flag {other}"),
    };
    header["flags"].as_array().unwrap().iter().map(flag).reduce(|a, b| a | b).unwrap()
}

#[test]
fn there_are_files_of_both_sorts() {
    assert!(accepted().count() >= 5);
    assert!(pairs().len() - accepted().count() >= 20);
}

#[test]
fn headers_say_what_the_descriptions_say() {
    for (name, bytes, description) in accepted() {
        let (header, wanted) = (peek(&bytes).unwrap(), &description["header"]);
        assert_eq!(verify(&bytes).unwrap(), header, "{name}");
        assert_eq!(HEADER_VERSION, unsigned::<u8>(&wanted["header_version"]), "{name}");
        assert_eq!(header.family().number(), unsigned::<u8>(&wanted["family"]), "{name}");
        assert_eq!(header.body_version(), unsigned::<u8>(&wanted["body_version"]), "{name}");
        assert_eq!(header.flags(), flags(wanted), "{name}");
        assert_eq!(header.body_len(), unsigned::<u64>(&wanted["body_len"]), "{name}");
        assert_eq!(header.checksum(), hex(&wanted["checksum"]), "{name}");
    }
}

#[test]
fn described_values_encode_to_the_files() {
    for (name, bytes, description) in accepted() {
        let encoded = encode(&body(&description["body"]), flags(&description["header"])).unwrap();
        assert_eq!(encoded, bytes, "{name}");
    }
}

#[test]
fn files_decode_to_the_described_values_and_encode_to_themselves() {
    for (name, bytes, description) in accepted() {
        let (decoded, flags) = decode::<ExampleV1>(&bytes).unwrap();
        let wanted = body(&description["body"]);
        assert_eq!(decoded.ratio.to_bits(), wanted.ratio.to_bits(), "{name}");
        // Debug text, because a NaN does not equal itself.
        assert_eq!(format!("{decoded:?}"), format!("{wanted:?}"), "{name}");
        assert_eq!(encode(&decoded, flags).unwrap(), bytes, "{name}");
    }
}

#[test]
fn refused_files_give_the_described_error() {
    for (name, bytes, description) in pairs() {
        if let Some(wanted) = description["error"].as_str() {
            let error = decode::<ExampleV1>(&bytes).unwrap_err();
            assert_eq!(word(&error), wanted, "{name}: {error}");
        }
    }
}
