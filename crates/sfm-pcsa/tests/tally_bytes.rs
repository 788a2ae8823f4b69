//! Bytes of tallies: golden files of `golden/generate.py`, and bytes that nobody meant well with.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

mod support;

use std::{fs, path::Path};

use proptest::prelude::*;
use serde_json::Value;
use sfm_pcsa::{DecodeError, SfmSketch, SfmTally, TallyFault, Unit, tally_of};
use sketch_testkit::{assert_accepted_is_canonical, assert_damage_is_refused, reseal};
use support::noise;

const NAMES: [&str; 9] = ["single", "pair", "many", "classes", "mixed", "users", "elsewhere", "insecure", "thinned"];

fn golden(name: &str) -> (Vec<u8>, Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("tally-{name}.bin"));
    let says = fs::read(path.with_extension("json")).unwrap();
    (fs::read(path).unwrap(), serde_json::from_slice(&says).unwrap())
}

fn read(bytes: &[u8]) -> Result<SfmTally, DecodeError> {
    SfmTally::from_bytes_allowing_insecure_noise(bytes)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn files_say_what_stands_beside_them() {
    for name in NAMES {
        let (bytes, says) = golden(name);
        let tally = read(&bytes).unwrap();
        assert_eq!(tally.to_bytes(), bytes, "{name}");
        assert_eq!(tally.insecure_noise(), says["insecure_noise"].as_bool().unwrap(), "{name}");
        assert_eq!(u64::from(tally.shape().buckets()), says["buckets"], "{name}");
        assert_eq!(u64::from(tally.shape().levels()), says["levels"], "{name}");
        assert_eq!(tally.hash_id().key().to_string(), text(&says["hash_fingerprint"]), "{name}");
        assert_eq!(tally.is_thinned(), says["thinned"].as_bool().unwrap(), "{name}");
        assert_eq!(Some(tally.epsilon()), says["epsilon"].as_f64(), "{name}");
        assert_eq!(tally.epsilon_total(), says["epsilon_total"].as_f64(), "{name}");
        let releases = says["releases"].as_array().unwrap();
        assert_eq!(tally.releases().len(), releases.len());
        for (leaf, says) in tally.releases().zip(releases) {
            assert_eq!(leaf.id().to_string(), text(&says["id"]));
            assert_eq!(leaf.p_numerator().to_string(), text(&says["p_numerator"]));
            assert_eq!(leaf.q_numerator().to_string(), text(&says["q_numerator"]));
            assert_eq!(Some(leaf.epsilon().get()), says["epsilon"].as_f64());
            let unit = Unit::user(u32::try_from(says["max_items"].as_u64().unwrap()).unwrap()).unwrap_or(Unit::Item);
            assert_eq!(leaf.unit(), unit);
            assert_eq!(leaf.made_elsewhere(), says["made_elsewhere"].as_bool().unwrap());
        }
        let classes = says["classes"].as_array().unwrap();
        assert_eq!(tally.classes().len(), classes.len());
        for (class, says) in tally.classes().iter().zip(classes) {
            assert_eq!(class.sketches as u64, says["sketches"], "{name}");
            // Correctly rounded there; two roundings here.
            assert!((class.channel.p() / says["p"].as_f64().unwrap() - 1.0).abs() < 1e-15, "{name}");
            assert!((class.channel.q() / says["q"].as_f64().unwrap() - 1.0).abs() < 1e-14, "{name}");
        }
    }
}

#[test]
fn tallies_of_the_parts_are_the_file_in_either_order() {
    for name in NAMES {
        let (bytes, says) = golden(name);
        let Some(parts) = says["parts"].as_array() else { continue };
        let part = |part: &Value| {
            let bytes: Vec<u8> = text(part)
                .as_bytes()
                .chunks(2)
                .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
                .collect();
            SfmSketch::from_bytes_allowing_insecure_noise(&bytes).unwrap()
        };
        let parts: Vec<SfmSketch> = parts.iter().map(part).collect();
        let mut parts: Vec<&SfmSketch> = parts.iter().collect();
        assert_eq!(tally_of(&parts).unwrap().to_bytes(), bytes, "{name}");
        parts.reverse();
        assert_eq!(tally_of(&parts).unwrap().to_bytes(), bytes, "{name}");
    }
}

#[test]
fn files_thin_to_the_best_common_channel() {
    for name in NAMES {
        let (bytes, says) = golden(name);
        let thinned = read(&bytes).unwrap().thin(&mut noise(1)).unwrap();
        let coins = says["classes"].as_array().unwrap().len() > 1;
        assert_eq!(thinned.insecure_noise(), coins || says["insecure_noise"].as_bool().unwrap(), "{name}");
        let [class] = thinned.classes()[..] else { panic!("{name}: more than one class") };
        // Exact fractions on the other side; here 2^-64 and a few roundings of 2^-53.
        assert!((class.channel.p() / says["thins_to"]["p"].as_f64().unwrap() - 1.0).abs() < 1e-15, "{name}");
        assert!((class.channel.q() / says["thins_to"]["q"].as_f64().unwrap() - 1.0).abs() < 1e-14, "{name}");
        assert_eq!(read(&thinned.to_bytes()).unwrap(), thinned, "{name}");
    }
}

#[test]
fn insecure_noise_is_read_only_on_request() {
    for name in NAMES {
        let (bytes, says) = golden(name);
        let found = SfmTally::from_bytes(&bytes);
        assert_eq!(
            matches!(found, Err(DecodeError::InsecureNoise)),
            says["insecure_noise"].as_bool().unwrap(),
            "{name}"
        );
        assert!(matches!(SfmSketch::from_bytes(&bytes), Err(DecodeError::Wire(_))), "{name}");
    }
}

#[test]
fn damaged_files_are_refused() {
    for name in NAMES {
        assert_damage_is_refused(&golden(name).0, read);
    }
}

#[test]
fn forged_files_are_refused_or_canonical() {
    for name in NAMES {
        let (accepted, tried) = assert_accepted_is_canonical(&golden(name).0, read, SfmTally::to_bytes);
        // Names, low bits of epsilon and of thinned cells can be others; cells of what is not thinned cannot.
        assert!(accepted > 0 && accepted < tried / 2, "{name}: {accepted} of {tried}");
    }
}

/// Offsets in `tally-pair`, 64 x 4, with one class of two releases.
const CLASS: usize = 32 + 11 + 8;
const RELEASES: usize = CLASS + 16 + 8;
const RELEASE: usize = 46;
const ONES: usize = RELEASES + 2 * RELEASE + 8;
const WORDS: usize = ONES + 2 * 4 * 4 + 8;

fn forge(name: &str, at: usize, value: &[u8]) -> Result<SfmTally, DecodeError> {
    let (mut bytes, _) = golden(name);
    bytes[at..at + value.len()].copy_from_slice(value);
    reseal(&mut bytes);
    read(&bytes)
}

fn fault(found: Result<SfmTally, DecodeError>) -> TallyFault {
    match found {
        Err(DecodeError::Tally(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn classes_must_be_channels_in_order_and_in_use() {
    assert!(golden("pair").0.len() == WORDS + 2 * 4 * 8, "offsets of this test");
    for value in [0_u64, 1, u64::MAX] {
        assert_eq!(
            fault(forge("pair", CLASS + 8, &value.to_le_bytes())),
            match value {
                // Less noise than the releases have.
                1 => TallyFault::Member { index: 0 },
                _ => TallyFault::Class { index: 0 },
            }
        );
    }
    // The first class of two after the second.
    assert_eq!(fault(forge("classes", CLASS, &u64::MAX.to_le_bytes())), TallyFault::Class { index: 1 });
    for class in [1_u8, 16, 255] {
        assert_eq!(fault(forge("pair", RELEASES + 45, &[class])), TallyFault::Member { index: 0 });
    }
    // The only release of the xor family in the class of the others, which its noise does not lead to.
    let (bytes, says) = golden("classes");
    let alone = says["releases"].as_array().unwrap().iter().position(|release| release["class"] == 0).unwrap();
    let at = CLASS + 2 * 16 + 8 + alone * RELEASE + 45;
    assert_eq!(bytes[at], 0);
    assert_eq!(fault(forge("classes", at, &[1])), TallyFault::Member { index: alone });
}

#[test]
fn releases_must_be_in_order_and_marked() {
    let (bytes, _) = golden("pair");
    let [first, second] = [0, 1].map(|index| bytes[RELEASES + index * RELEASE..][..RELEASE].to_vec());
    let swapped = [second.clone(), first.clone()].concat();
    assert!(matches!(fault(forge("pair", RELEASES, &swapped)), TallyFault::Order { .. }));
    assert!(matches!(fault(forge("pair", RELEASES, &[first.clone(), first].concat())), TallyFault::Order { .. }));
    assert_eq!(fault(forge("pair", RELEASES + 44, &[2])), TallyFault::Origin { index: 0, found: 2 });
    let found = forge("pair", RELEASES + RELEASE + 32, &0.5_f64.to_le_bytes());
    assert!(matches!(found, Err(DecodeError::Leaf { index: 1, .. })));
}

#[test]
fn ones_must_be_those_of_the_cells() {
    let (bytes, _) = golden("pair");
    let ones = u32::from_le_bytes(bytes[ONES + 4..ONES + 8].try_into().unwrap());
    let found = fault(forge("pair", ONES + 4, &(ones + 1).to_le_bytes()));
    assert!(
        matches!(found, TallyFault::Sum { index: 0, level: 1, expected, found } if expected == found + 1),
        "{found:?}"
    );
    assert_eq!(fault(forge("pair", ONES, &65_u32.to_le_bytes())), TallyFault::Ones { expected: 8, found: 8 });
    // A cell that one more sketch holds.
    let mut word = u64::from_le_bytes(bytes[WORDS..WORDS + 8].try_into().unwrap());
    word ^= 1;
    assert!(matches!(fault(forge("pair", WORDS, &word.to_le_bytes())), TallyFault::Sum { level: 0, .. }));
}

#[test]
fn cells_hold_at_most_as_many_ones_as_there_are_sketches() {
    // Both planes of two sketches set: three ones of two.
    assert_eq!(fault(forge("pair", WORDS, &[255; 64])), TallyFault::Number { index: 0 });
    // 8 x 5 cells fill 40 bits of one word.
    let last = golden("single").0.len() - 1;
    assert!(matches!(forge("single", last, &[0x80]), Err(DecodeError::ExtraBits { cells: 40 })));
}

#[test]
fn shapes_and_lengths_are_checked_before_anything_is_made_of_them() {
    for shape in [[0, 5], [21, 5], [8, 0], [8, 57], [255, 255]] {
        assert!(matches!(forge("pair", 32, &shape), Err(DecodeError::Shape(_))), "{shape:?}");
    }
    assert!(matches!(forge("pair", 34, &[9]), Err(DecodeError::Hash(_))));
    // A shape of 5.5 MiB a plane behind four words a plane.
    assert_eq!(fault(forge("pair", 32, &[20, 44])), TallyFault::Ones { expected: 88, found: 8 });
    assert!(matches!(forge("pair", 32, &[20, 4]), Err(DecodeError::Length { expected: 131_072, found: 8 })));
    // Lists that claim more than there is.
    let (bytes, _) = golden("pair");
    for at in [CLASS - 8, RELEASES - 8, ONES - 8, WORDS - 8] {
        for length in [0, 1, 3, 9, 1 << 20, u64::MAX / 46, u64::MAX] {
            if bytes[at..at + 8] == u64::to_le_bytes(length) {
                continue;
            }
            assert!(forge("pair", at, &u64::to_le_bytes(length)).is_err(), "{length} at {at}");
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
    }

    #[test]
    fn random_bodies_behind_a_right_header_never_panic(body in prop::collection::vec(any::<u8>(), 0..400)) {
        let (mut bytes, _) = golden("pair");
        bytes.truncate(32);
        bytes.extend(body);
        reseal(&mut bytes);
        if let Ok(tally) = read(&bytes) {
            prop_assert_eq!(tally.to_bytes(), bytes);
        }
    }

    #[test]
    fn mutated_files_never_panic(
        name in prop::sample::select(NAMES.to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let (mut bytes, _) = golden(name);
        for (at, value) in changes {
            let at = 32 + at.index(bytes.len() - 32);
            bytes[at] = value;
        }
        reseal(&mut bytes);
        if let Ok(tally) = read(&bytes) {
            prop_assert_eq!(tally.to_bytes(), bytes);
        }
    }
}
