//! Keys, their text form, and the identity that sketches record.

use sketch_hash::{
    AnyHash, DefaultHash, Domain, HashAlgorithm, HashId, HashKey, KeyFingerprint, KeyParseError, KeyedHash, PrestoHash,
    UnknownAlgorithm,
};

const SECRET: &str = "00112233445566778899aabbccddeeff";

fn secret() -> HashKey {
    let bytes = core::array::from_fn(|i| 0x11 * u8::try_from(i).unwrap_or(0));
    HashKey::from_bytes(bytes)
}

#[test]
fn the_text_form_round_trips_in_either_case() {
    assert_eq!(secret().to_hex(), SECRET);
    assert_eq!(HashKey::from_hex(&SECRET.to_uppercase()), Ok(secret()));
    assert_eq!(secret().to_bytes()[..3], [0x00, 0x11, 0x22]);
    assert_eq!(HashKey::from_bytes(secret().to_bytes()), secret());
}

#[test]
fn a_text_of_another_length_is_refused() {
    for text in ["", &SECRET[1..], "00112233445566778899aabbccddeeff0", "éééééééééééééééé"] {
        let found = text.chars().count();
        assert_eq!(HashKey::from_hex(text), Err(KeyParseError::Length { expected: 32, found }));
    }
}

#[test]
fn a_character_that_is_no_digit_is_refused_by_its_place() {
    for (text, position) in [
        ("g0112233445566778899aabbccddeeff", 0),
        ("0x112233445566778899aabbccddeeff", 1),
        ("00112233445566778899aabbccddeef\u{ff11}", 31), // a full-width digit
        ("00112233 4556677 8899aabbccddeef", 8),
    ] {
        assert_eq!(HashKey::from_hex(text), Err(KeyParseError::Digit { position }), "{text}");
    }
}

#[test]
fn errors_do_not_repeat_the_text() {
    let nearly = SECRET.replace('f', "z");
    let error = HashKey::from_hex(&nearly).unwrap_err();
    assert_eq!(error.to_string(), "a hash key has hexadecimal digits only, character 30 (counted from 0) is none");
    assert!(!format!("{error:?}").contains("0011"));
}

#[test]
fn debug_output_shows_the_fingerprint_and_never_the_key() {
    let hash = DefaultHash::new(secret());
    let fingerprint = secret().fingerprint().to_string();
    for shown in [format!("{:?}", secret()), format!("{hash:?}"), format!("{:?}", AnyHash::from(hash.clone()))] {
        assert!(shown.contains(&fingerprint), "{shown}");
        assert!(!shown.contains("0011") && !shown.contains("17, 34"), "{shown}");
    }
}

#[test]
fn the_default_key_is_public_and_fixed() {
    assert_eq!(&HashKey::DEFAULT.to_bytes(), b"dpsketch-default");
    assert_eq!(DefaultHash::default().id(), DefaultHash::new(HashKey::DEFAULT).id());
    assert_eq!(HashKey::default(), HashKey::DEFAULT);
}

#[test]
fn fingerprints_and_derived_keys_of_all_inputs_differ() {
    let mut keys = vec![HashKey::DEFAULT, secret()];
    for parent in [HashKey::DEFAULT, secret()] {
        for label in ["", "a", "b", "ab"] {
            keys.extend([0, 1, u64::MAX].map(|index| parent.derive(label, index)));
        }
    }
    let fingerprints: std::collections::HashSet<u64> = keys.iter().map(|key| key.fingerprint().to_u64()).collect();
    assert_eq!(fingerprints.len(), keys.len());
}

#[test]
fn a_fingerprint_is_sixteen_digits() {
    assert_eq!(KeyFingerprint::from_u64(0xab).to_string(), "00000000000000ab");
    assert_eq!(KeyFingerprint::NO_KEY.to_u64(), 0);
}

#[test]
fn identities_differ_by_key_and_by_function() {
    let ids = [DefaultHash::default().id(), DefaultHash::new(secret()).id(), PrestoHash.id()];
    assert!(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
    assert_eq!(ids[1].to_string(), format!("siphash-1-3 key {}", secret().fingerprint()));
    assert_eq!(ids[2], HashId::new(HashAlgorithm::Xxh64Seed0, KeyFingerprint::NO_KEY));
}

#[test]
fn algorithm_numbers_round_trip_and_others_are_refused() {
    for number in 0..=u8::MAX {
        match HashAlgorithm::try_from(number) {
            Ok(algorithm) => assert_eq!(algorithm.to_u8(), number),
            Err(error) => assert_eq!(error, UnknownAlgorithm { found: number }),
        }
    }
    assert_eq!(HashAlgorithm::SipHash13.to_u8(), 1);
    assert_eq!(HashAlgorithm::Xxh64Seed0.to_u8(), 2);
}

#[test]
fn a_recorded_identity_is_matched_with_the_right_key_only() {
    let id = DefaultHash::new(secret()).id();
    assert_eq!(AnyHash::matching(id, secret()).map(|hash| hash.id()), Some(id));
    assert!(AnyHash::matching(id, HashKey::DEFAULT).is_none());
    assert!(matches!(AnyHash::matching(PrestoHash.id(), secret()), Some(AnyHash::Presto(_))));
}

#[test]
fn domains_and_keys_separate_equal_bytes() {
    let hashes = [DefaultHash::default(), DefaultHash::new(secret())];
    let domains = [
        Domain::Bytes,
        Domain::Integer,
        Domain::Float,
        Domain::Boolean,
        Domain::Date,
        Domain::Timestamp,
        Domain::LocalTimestamp,
        Domain::Decimal,
        Domain::Row,
    ];
    let mut seen = std::collections::HashSet::new();
    for hash in &hashes {
        for domain in domains {
            assert!(seen.insert(hash.hash64_word(domain, 1)), "{domain:?}");
        }
    }
}
