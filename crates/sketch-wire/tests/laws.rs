//! Round trips and hostile bytes.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod example;

use example::{Entry, ExampleV1};
use proptest::{collection::vec, prelude::*};
use sketch_testkit::{assert_accepted_is_canonical, assert_damage_is_refused, crc64_xz, reseal};
use sketch_wire::{BodyError, Family, Flags, WireBody, WireError, decode, encode, peek, verify};

fn example() -> ExampleV1 {
    let entry = |key| Entry { key, weight: 9 };
    ExampleV1 {
        tag: 1,
        short: 2,
        count: 3,
        total: 4,
        change: -5,
        ratio: 6.5,
        present: true,
        id: [7; 4],
        entries: (0..5).map(entry).collect(),
        words: (0..20).map(|k| 1 << (3 * k)).collect(),
    }
}

fn decode_example(bytes: &[u8]) -> Result<(ExampleV1, Flags), WireError> {
    decode::<ExampleV1>(bytes)
}

fn rewrite(value: &(ExampleV1, Flags)) -> Vec<u8> {
    encode(&value.0, value.1).unwrap()
}

prop_compose! {
    fn bodies()(
        (tag, short, count, total) in any::<(u8, u16, u32, u64)>(),
        (change, ratio, present, id) in any::<(i64, f64, bool, [u8; 4])>(),
        entries in vec(any::<(u32, u16)>().prop_map(|(key, weight)| Entry { key, weight }), 0..20),
        words in vec(any::<u64>(), 0..40),
    ) -> ExampleV1 {
        ExampleV1 { tag, short, count, total, change, ratio, present, id, entries, words }
    }
}

fn any_flags() -> impl Strategy<Value = Flags> {
    prop_oneof![
        Just(Flags::PRIVATE),
        Just(Flags::RAW),
        Just(Flags::PRIVATE | Flags::INSECURE_NOISE),
        Just(Flags::RAW | Flags::INSECURE_NOISE),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(body in bodies(), flags in any_flags()) {
        let bytes = encode(&body, flags).unwrap();
        prop_assert_eq!(verify(&bytes).unwrap().body_len() + 32, bytes.len() as u64);
        let (back, back_flags) = decode::<ExampleV1>(&bytes).unwrap();
        prop_assert_eq!(&back, &body);
        prop_assert_eq!(back_flags, flags);
        prop_assert_eq!(encode(&back, back_flags).unwrap(), bytes);
    }

    #[test]
    fn the_checksum_is_the_one_of_the_definition(body in bodies()) {
        let bytes = encode(&body, Flags::RAW).unwrap();
        prop_assert_eq!(peek(&bytes).unwrap().checksum(), crc64_xz(&[&bytes[..24], &bytes[32..]]));
    }

    #[test]
    fn any_bytes_are_refused_or_written_again(bytes in vec(any::<u8>(), 0..300)) {
        let _ = (peek(&bytes), verify(&bytes));
        if let Ok(value) = decode_example(&bytes) {
            prop_assert_eq!(rewrite(&value), bytes);
        }
    }

    #[test]
    fn any_body_behind_a_right_header_is_refused_or_written_again(body in vec(any::<u8>(), 0..300)) {
        let mut bytes = b"DPSK\x01\xff\x01\x01".to_vec();
        bytes.resize(32, 0);
        bytes.extend(body);
        reseal(&mut bytes);
        match decode_example(&bytes) {
            Ok(value) => prop_assert_eq!(rewrite(&value), bytes),
            Err(error) => prop_assert!(matches!(error, WireError::Body(_)), "{error}"),
        }
    }
}

#[test]
fn every_cut_extension_and_flip_is_refused() {
    assert_damage_is_refused(&encode(&example(), Flags::PRIVATE).unwrap(), decode_example);
}

#[test]
fn damage_behind_a_right_checksum_is_refused_or_written_again() {
    let bytes = encode(&example(), Flags::PRIVATE).unwrap();
    let (accepted, tried) = assert_accepted_is_canonical(&bytes, decode_example, rewrite);
    // Most flips land in plain fields, and those are other right files.
    assert!(accepted > 1000 && accepted < tried, "{accepted} of {tried}");
}

#[test]
fn flags_that_contradict_each_other_or_the_family_are_not_written() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Private(u8);
    impl WireBody for Private {
        const FAMILY: Family = Family::SFM_PRIVATE;
        const BODY_VERSION: u8 = 1;
        const MAX_BODY_LEN: u64 = 1;
    }
    let both = Flags::PRIVATE | Flags::RAW;
    assert_eq!(encode(&example(), both), Err(WireError::FlagsExclusive { found: both }));
    let neither = Flags::INSECURE_NOISE;
    assert_eq!(encode(&example(), neither), Err(WireError::FlagsExclusive { found: neither }));
    let contradiction = WireError::FlagsFamily { family: Family::SFM_PRIVATE, found: Flags::RAW };
    assert_eq!(encode(&Private(0), Flags::RAW), Err(contradiction.clone()));

    // A file so marked is refused, too.
    let mut bytes = encode(&Private(0), Flags::PRIVATE).unwrap();
    bytes[7] = Flags::RAW.bits();
    reseal(&mut bytes);
    assert_eq!(peek(&bytes), Err(contradiction));
}

#[test]
fn versions_are_looked_at_before_flags_lengths_and_checksums() {
    let mut bytes = encode(&example(), Flags::PRIVATE).unwrap();
    bytes[6..].fill(0xff);
    let version = WireError::BodyVersion { family: Family::EXAMPLE, expected: 1, found: 255 };
    assert_eq!(decode_example(&bytes), Err(version));
    bytes[5] = Family::SFM_PRIVATE.number();
    let family = WireError::Family { expected: Family::EXAMPLE, found: Family::SFM_PRIVATE };
    assert_eq!(decode_example(&bytes), Err(family));
    bytes[4] = 2;
    assert_eq!(decode_example(&bytes), Err(WireError::HeaderVersion { expected: 1, found: 2 }));
    assert_eq!(decode_example(b"DPS"), Err(WireError::Truncated { expected: 32, found: 3 }));
    assert_eq!(decode_example(b"DPX"), Err(WireError::Magic { found: *b"DPX\0" }));
}

#[test]
fn a_body_above_its_cap_is_neither_written_nor_read() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Wide(Vec<u64>);
    impl WireBody for Wide {
        const FAMILY: Family = Family::EXAMPLE;
        const BODY_VERSION: u8 = 2;
        const MAX_BODY_LEN: u64 = 1 << 20;
    }
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Narrow(Vec<u64>);
    impl WireBody for Narrow {
        const FAMILY: Family = Family::EXAMPLE;
        const BODY_VERSION: u8 = 2;
        const MAX_BODY_LEN: u64 = 8 + 16;
    }
    assert!(encode(&Narrow(vec![0; 2]), Flags::RAW).is_ok());
    let too_long = WireError::BodyTooLong { max: 24, found: 32 };
    assert_eq!(encode(&Narrow(vec![0; 3]), Flags::RAW), Err(too_long.clone()));
    assert_eq!(decode::<Narrow>(&encode(&Wide(vec![0; 3]), Flags::RAW).unwrap()), Err(too_long));
}

#[test]
fn bodies_of_every_size_class_are_read_back() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Words(Vec<u64>);
    impl WireBody for Words {
        const FAMILY: Family = Family::EXAMPLE;
        const BODY_VERSION: u8 = 4;
        const MAX_BODY_LEN: u64 = 1 << 25;
    }
    // Around 2^16 and 2^24 bytes, where the reader changes its limit, and at the cap.
    for words in [(1 << 13) - 1, 1 << 13, (1 << 21) - 1, 1 << 21, (1 << 22) - 1] {
        let body = Words((0..words).collect());
        let bytes = encode(&body, Flags::RAW).unwrap();
        assert_eq!(bytes.len() as u64, 32 + 8 + 8 * words);
        assert_eq!(decode::<Words>(&bytes).unwrap(), (body, Flags::RAW), "{words} words");
    }
}

#[test]
fn types_without_a_place_in_the_format_are_refused() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Any(serde_json::Value);
    impl WireBody for Any {
        const FAMILY: Family = Family::EXAMPLE;
        const BODY_VERSION: u8 = 3;
        const MAX_BODY_LEN: u64 = 1024;
    }
    let bytes = encode(&Any(serde_json::Value::Null), Flags::RAW).unwrap();
    let error = decode::<Any>(&bytes).err();
    assert_eq!(error, Some(WireError::Body(BodyError::Unsupported)));
}

#[test]
fn errors_name_what_was_expected_and_what_was_found() {
    let text = |error: WireError| error.to_string();
    assert_eq!(text(WireError::Truncated { expected: 40, found: 39 }), "truncated: expected 40 bytes, found 39");
    let family = WireError::Family { expected: Family::SFM_PRIVATE, found: Family::PCSA_RAW };
    assert_eq!(text(family), "expected sfm-private (family 1), found pcsa-raw (family 2)");
    let magic = WireError::Magic { found: *b"PAR1" };
    assert_eq!(text(magic), "not a dpsketch file: expected the first bytes [44, 50, 53, 4b], found [50, 41, 52, 31]");
    let body = WireError::from(BodyError::Boolean { found: 2 });
    let source = std::error::Error::source(&body).map(ToString::to_string);
    assert_eq!(source.as_deref(), Some("expected 0 or 1 for a boolean, found 2"));
}
