//! Bytes that nobody meant well with: decoders refuse them or accept exactly what they would write.

mod support;

use f0_sketch::{DecodeError, F0Sketch, MAX_RELEASES, MergeError, Presampled, PrivateF0Sketch, Set, peek_mode};
use proptest::prelude::*;
use sketch_hash::DefaultHash;
use sketch_testkit::{assert_accepted_is_canonical, assert_damage_is_refused, reseal};
use support::{Raw, bytes, general, noise, raw, released, shape, stream};

fn read_raw(bytes: &[u8]) -> Result<Raw, DecodeError> {
    F0Sketch::from_sensitive_bytes(bytes, DefaultHash::default())
}

fn read_stream(bytes: &[u8]) -> Result<F0Sketch<Presampled>, DecodeError> {
    F0Sketch::from_sensitive_bytes(bytes, DefaultHash::default())
}

fn read(bytes: &[u8]) -> Result<PrivateF0Sketch, DecodeError> {
    PrivateF0Sketch::from_bytes_allowing_insecure_noise(bytes)
}

/// A merge of three releases, small enough to damage everywhere.
fn merged() -> PrivateF0Sketch {
    let mut random = noise(1);
    let parts = [1.0, 2.0, 44.0].map(|level| released(raw(general(), 0..20), level, &mut random));
    PrivateF0Sketch::merge_all(&parts.each_ref()).expect("fresh releases")
}

#[test]
fn damaged_files_are_refused() {
    assert_damage_is_refused(&merged().to_bytes(), read);
    assert_damage_is_refused(&bytes(&raw(general(), 0..20)), read_raw);
    assert_damage_is_refused(&bytes(&stream(general(), &[1, 2, 3], &mut noise(2))), read_stream);
}

#[test]
fn forged_files_are_refused_or_canonical() {
    let (accepted, tried) = assert_accepted_is_canonical(&merged().to_bytes(), read, PrivateF0Sketch::to_bytes);
    // Flips of cells, of release names and of low bits of probabilities are other valid sketches.
    assert!(accepted > 0 && accepted < tried / 2, "{accepted} of {tried}");
    assert_accepted_is_canonical(&bytes(&raw(general(), 0..20)), read_raw, bytes);
    assert_accepted_is_canonical(&bytes(&stream(general(), &[1, 2, 3], &mut noise(2))), read_stream, bytes);
}

/// Offsets in a file of one release of the shape 2 × 20: header, frame of two tables, number of releases, release.
const FRAME: usize = 32;
const TABLES: usize = FRAME + 26;
const LEAF: usize = TABLES + 24 + 8;
const EPSILON: usize = LEAF + 24;
/// Bytes of a release.
const SIZE: usize = 37;

fn single() -> Vec<u8> {
    released(raw(shape(2, 20), 0..20), 1.0, &mut noise(2)).to_bytes()
}

fn forge_in(mut bytes: Vec<u8>, at: usize, value: &[u8]) -> Vec<u8> {
    bytes[at..at + value.len()].copy_from_slice(value);
    reseal(&mut bytes);
    bytes
}

fn forge(at: usize, value: &[u8]) -> Result<PrivateF0Sketch, DecodeError> {
    read(&forge_in(single(), at, value))
}

#[test]
fn flip_probabilities_must_keep_the_stated_level() {
    // No noise, half of all cells, nearly all of them, and one unit less than needed.
    let needed = u64::from_le_bytes(single()[LEAF + 16..EPSILON].try_into().expect("eight bytes"));
    for p in [0_u64, 1, 1 << 63, u64::MAX, needed - 1] {
        assert!(matches!(forge(LEAF + 16, &p.to_le_bytes()), Err(DecodeError::Leaf { index: 0, .. })), "{p}");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 0.5, 1.0 - 1e-12, 1e-10] {
        let found = forge(EPSILON, &f64::to_le_bytes(bad));
        assert!(matches!(found, Err(DecodeError::Leaf { index: 0, .. })), "{bad}");
    }
    // A user with two items needs more noise; more noise than needed is no lie.
    assert!(matches!(forge(EPSILON + 8, &2_u32.to_le_bytes()), Err(DecodeError::Leaf { .. })));
    assert!(forge(EPSILON, &2f64.to_le_bytes()).is_ok());
    assert!(forge(LEAF + 16, &(needed + 1).to_le_bytes()).is_ok());
    // The mark of an opened sum is 0 or 1.
    assert!(forge(LEAF + 36, &[1]).is_ok_and(|opened| opened.leaves()[0].is_opened()));
    assert!(matches!(forge(LEAF + 36, &[2]), Err(DecodeError::Wire(_))));
}

#[test]
fn frames_are_checked() {
    assert!(matches!(forge(FRAME, &[2]), Err(DecodeError::Mode { .. })));
    for mode in [0, 3, 255] {
        assert!(matches!(forge(FRAME, &[mode]), Err(DecodeError::UnknownMode { found }) if found == mode));
        assert!(matches!(peek_mode(&forge_in(single(), FRAME, &[mode])), Err(DecodeError::UnknownMode { .. })));
    }
    assert!(matches!(forge(FRAME + 1, &[9]), Err(DecodeError::Hash(_))));
    for max in [-0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
        assert!(matches!(forge(FRAME + 10, &f64::to_le_bytes(max)), Err(DecodeError::Weight(_))), "{max}");
    }
    for (at, value) in [(TABLES, 1 << 62), (TABLES, 0), (TABLES, u64::MAX), (TABLES + 12, (1 << 62) + 1)] {
        let found = forge(at, &u64::to_le_bytes(value));
        // The first is what stands there.
        assert_eq!(found.is_ok(), (at, value) == (TABLES, 1 << 62), "{value}");
        assert!(found.is_ok() || matches!(found, Err(DecodeError::Shape(_))), "{value}");
    }
    assert!(matches!(forge(TABLES + 8, &0_u32.to_le_bytes()), Err(DecodeError::Shape(_))));
    assert!(matches!(forge(TABLES + 8, &u32::MAX.to_le_bytes()), Err(DecodeError::Shape(_))));
    assert!(matches!(forge(TABLES + 8, &200_u32.to_le_bytes()), Err(DecodeError::Length { expected: 4, found: 1 })));
}

#[test]
fn releases_stand_in_rising_order_each_once() {
    let mut random = noise(3);
    let [a, b] = [1.0, 1.0].map(|level| released(raw(shape(2, 20), 0..20), level, &mut random));
    let bytes = a.merge(&b).expect("fresh releases").to_bytes();
    let (first, second) = (bytes[LEAF..LEAF + SIZE].to_vec(), bytes[LEAF + SIZE..LEAF + 2 * SIZE].to_vec());
    for order in [[&second, &first], [&first, &first]] {
        let forged = forge_in(bytes.clone(), LEAF, &order.map(Vec::as_slice).concat());
        assert!(matches!(read(&forged), Err(DecodeError::Order { index: 1 })));
    }
    let mut none = bytes[..LEAF].to_vec();
    none[LEAF - 8] = 0;
    none.extend(&bytes[LEAF + 2 * SIZE..]);
    reseal(&mut none);
    assert!(matches!(read(&none), Err(DecodeError::Releases { found: 0 })));
}

#[test]
fn bits_beyond_the_last_cell_are_refused() {
    // 2 x 20 cells fill 40 bits of one word.
    let last = single().len() - 1;
    assert!(matches!(forge(last, &[0x80]), Err(DecodeError::ExtraBits { cells: 40 })));
    let raw_bytes = bytes(&raw(shape(2, 20), []));
    let forged = forge_in(raw_bytes.clone(), raw_bytes.len() - 1, &[1]);
    assert!(matches!(read_raw(&forged), Err(DecodeError::ExtraBits { cells: 40 })));
}

#[test]
fn exposures_belong_to_coins() {
    let set = bytes(&raw(shape(2, 20), []));
    let coins = bytes(&stream(shape(2, 20), &[], &mut noise(1)));
    let at = TABLES + 24 + 8;
    for bad in [-0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let found = read_stream(&forge_in(coins.clone(), at, &f64::to_le_bytes(bad)));
        assert!(matches!(found, Err(DecodeError::Exposure { .. })), "{bad}");
    }
    // Coins are exposed exactly when they were released.
    let refused = read_stream(&forge_in(coins.clone(), at, &3f64.to_le_bytes()));
    assert!(matches!(refused, Err(DecodeError::Exposure { .. })));
    let released = forge_in(coins, at - 8, &1_u32.to_le_bytes());
    assert!(matches!(read_stream(&released), Err(DecodeError::Exposure { .. })));
    assert!(read_stream(&forge_in(released, at, &3f64.to_le_bytes())).is_ok());
    let found = read_raw(&forge_in(set.clone(), at, &3f64.to_le_bytes()));
    assert!(matches!(found, Err(DecodeError::Exposure { .. })), "a set has no coins");
    // Nor can its coins be insecure.
    assert!(matches!(read_raw(&forge_in(set, 7, &[0b110])), Err(DecodeError::Wire(_))));
}

/// Offset of the number of names in a raw file of two tables.
const RAW_COINS: usize = TABLES + 24 + 16;

#[test]
fn names_of_raw_coins_rise_and_belong_to_streams() {
    let coins = bytes(&stream(shape(2, 20), &[], &mut noise(1)));
    // The one name, then another one, twice the same, and below the first.
    let with = |first: [u8; 16], second: [u8; 16]| {
        let mut bytes = coins[..RAW_COINS].to_vec();
        bytes.extend(2_u64.to_le_bytes());
        bytes.extend(first);
        bytes.extend(second);
        bytes.extend(&coins[RAW_COINS + 24..]);
        reseal(&mut bytes);
        bytes
    };
    let two = read_stream(&with([1; 16], [2; 16])).expect("two names");
    assert_eq!(two.coins().len(), 2);
    for second in [[1; 16], [0; 16]] {
        assert!(matches!(read_stream(&with([1; 16], second)), Err(DecodeError::CoinOrder { index: 1 })));
    }
    let set = bytes(&raw(shape(2, 20), []));
    let mut named = set[..RAW_COINS].to_vec();
    named.extend(1_u64.to_le_bytes());
    named.extend([7; 16]);
    named.extend(&set[RAW_COINS + 8..]);
    reseal(&mut named);
    assert!(matches!(read_raw(&named), Err(DecodeError::Coins { found: 1, .. })));
    // A number that nothing stands behind allocates nothing.
    assert!(read_stream(&forge_in(coins, RAW_COINS, &u64::MAX.to_le_bytes())).is_err());
}

#[test]
fn cells_of_a_stream_come_from_coins_with_a_name() {
    let without = |sketch: &f0_sketch::F0Sketch<Presampled>| {
        let coins = bytes(sketch);
        let mut bytes = coins[..RAW_COINS].to_vec();
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(&coins[RAW_COINS + 24..]);
        reseal(&mut bytes);
        read_stream(&bytes)
    };
    let items: Vec<u64> = (0..40).collect();
    let refused = without(&stream(shape(2, 20), &items, &mut noise(1)));
    assert!(matches!(refused, Err(DecodeError::NamelessCoins)), "{refused:?}");
    let empty = without(&stream(shape(2, 20), &[], &mut noise(1))).expect("no coin was drawn");
    assert!(empty.coins().is_empty());
}

#[test]
fn coins_of_releases_rise_and_every_release_of_a_stream_has_some() {
    let mut random = noise(8);
    let mut part = || {
        let raw = stream(shape(2, 20), &[1], &mut random);
        released(raw, 1.0, &mut random)
    };
    let merged = part().merge(&part()).expect("coins of their own").to_bytes();
    let read = PrivateF0Sketch::<Presampled>::from_bytes_allowing_insecure_noise;
    assert!(read(&merged).is_ok());
    let at = LEAF + 2 * SIZE;
    let forged = |values: [([u8; 16], u32); 2]| {
        let list = values.map(|(name, release)| [&name[..], &release.to_le_bytes()].concat()).concat();
        read(&forge_in(merged.clone(), at + 8, &list))
    };
    let (low, high) = ([1; 16], [2; 16]);
    assert!(forged([(low, 1), (high, 0)]).is_ok());
    assert!(matches!(forged([(high, 0), (low, 1)]), Err(DecodeError::CoinOrder { index: 1 })));
    assert!(matches!(forged([(low, 0), (low, 1)]), Err(DecodeError::CoinOrder { index: 1 })));
    assert!(matches!(forged([(low, 0), (high, 0)]), Err(DecodeError::NoCoins { index: 1 })));
    assert!(matches!(forged([(low, 0), (high, 2)]), Err(DecodeError::CoinRelease { index: 1, release: 2 })));
    let mut none = merged[..at].to_vec();
    none.extend(0_u64.to_le_bytes());
    none.extend(&merged[at + 48..]);
    reseal(&mut none);
    assert!(matches!(read(&none), Err(DecodeError::NoCoins { index: 0 })));
    // A set has none.
    let set = single();
    let mut named = set[..LEAF + SIZE].to_vec();
    named.extend(1_u64.to_le_bytes());
    named.extend([0; 20]);
    named.extend(&set[LEAF + SIZE + 8..]);
    reseal(&mut named);
    assert!(matches!(
        PrivateF0Sketch::<Set>::from_bytes_allowing_insecure_noise(&named),
        Err(DecodeError::Coins { .. })
    ));
}

#[test]
fn names_of_coins_are_capped() {
    let coins = bytes(&stream(shape(2, 20), &[], &mut noise(1)));
    let with = |count: u64| {
        let mut bytes = coins[..RAW_COINS].to_vec();
        bytes.extend(count.to_le_bytes());
        for name in 0..count {
            bytes.extend(name.to_be_bytes());
            bytes.extend([0; 8]);
        }
        bytes.extend(&coins[RAW_COINS + 24..]);
        reseal(&mut bytes);
        read_stream(&bytes)
    };
    let full = with(131_072).expect("at the cap");
    let mut other = stream(shape(2, 20), &[], &mut noise(2));
    let refused = other.merge(&mut with(131_072).expect("at the cap"));
    assert!(matches!(refused, Err(MergeError::TooManyCoins { max: 131_072, found: 131_073 })));
    assert!(matches!(with(131_073), Err(DecodeError::Coins { found: 131_073, .. })));
    let private = released(full, 1.0, &mut noise(3));
    let read = PrivateF0Sketch::<Presampled>::from_bytes_allowing_insecure_noise(&private.to_bytes());
    assert_eq!(read.expect("its own bytes"), private);
}

#[test]
fn releases_are_capped() {
    let mut bytes = single();
    let leaf: Vec<u8> = bytes[LEAF..LEAF + SIZE].to_vec();
    let count = 65_537_u64;
    bytes[LEAF - 8..LEAF].copy_from_slice(&count.to_le_bytes());
    let mut leaves = Vec::new();
    for number in 1..count {
        let mut next = leaf.clone();
        next[..8].copy_from_slice(&number.to_le_bytes());
        leaves.extend(next);
    }
    bytes.splice(LEAF + SIZE..LEAF + SIZE, leaves);
    reseal(&mut bytes);
    let found = read(&bytes);
    assert!(matches!(found, Err(DecodeError::Releases { found: 65_537 })), "{found:?}");
}

#[test]
fn a_merge_beyond_the_cap_is_refused() {
    let mut random = noise(5);
    let parts: Vec<PrivateF0Sketch> =
        (0..=MAX_RELEASES).map(|_| released(raw(shape(1, 3), []), 44.0, &mut random)).collect();
    let all: Vec<&PrivateF0Sketch> = parts.iter().collect();
    let joined = PrivateF0Sketch::<Set>::merge_all(&all[..MAX_RELEASES]).expect("at the cap");
    assert_eq!(joined.leaves().len(), MAX_RELEASES);
    assert_eq!(read(&joined.to_bytes()).expect("its own bytes"), joined);
    let error = joined.merge(all[MAX_RELEASES]).expect_err("above the cap");
    assert!(matches!(error, MergeError::TooManyReleases { max: MAX_RELEASES, found: 65_537 }), "{error}");
}

#[test]
fn noise_that_leaves_nothing_is_refused() {
    let mut random = noise(6);
    let parts = [1e-4, 1e-4].map(|level| released(raw(shape(1, 3), []), level, &mut random));
    let pair = parts[0].merge(&parts[1]).expect("some signal").to_bytes();
    // The same two releases forty times over, under other names.
    let start = 32 + 26 + 12;
    let mut bytes = pair[..start].to_vec();
    bytes.extend(40_u64.to_le_bytes());
    for number in 0..40_u8 {
        let mut leaf = pair[start + 8..start + 8 + SIZE].to_vec();
        leaf[0] = number;
        bytes.extend(leaf);
    }
    bytes.extend(&pair[start + 8 + 2 * SIZE..]);
    reseal(&mut bytes);
    assert!(matches!(read(&bytes), Err(DecodeError::NoSignal)));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = (read(&bytes), read_raw(&bytes), read_stream(&bytes), peek_mode(&bytes));
    }

    #[test]
    fn random_bodies_behind_a_right_header_never_panic(body in prop::collection::vec(any::<u8>(), 0..300), private: bool) {
        let mut bytes = if private { single() } else { bytes(&raw(general(), [])) };
        bytes.truncate(32);
        bytes.extend(body);
        reseal(&mut bytes);
        let _ = peek_mode(&bytes);
        if let Ok(sketch) = read(&bytes) {
            prop_assert_eq!(sketch.to_bytes(), bytes.clone());
        }
        if let Ok(sketch) = read_raw(&bytes) {
            prop_assert_eq!(sketch.to_sensitive_bytes().to_vec(), bytes);
        }
    }
}
