//! Batches equal single calls, columns equal items, and equal values are equal however they are written.

use proptest::collection::vec;
use proptest::prelude::*;
use sketch_hash::{
    AnyHash, DefaultHash, Domain, HashKey, Item, KeyedHash, PrestoHash, TimeUnit, hash64_dates, hash64_floats,
    hash64_floats32, hash64_integers, hash64_row, hash64_timestamps, hash64_unsigned, hash128_row, hash128_unsigned,
};

fn assert_words_agree<H: KeyedHash>(hash: &H, words: &[u64]) {
    let (mut narrow, mut wide) = (vec![0; words.len()], vec![[0; 2]; words.len()]);
    hash.hash64_words(Domain::Integer, words, &mut narrow);
    hash.hash128_words(Domain::Integer, words, &mut wide);
    let mut each = Vec::new();
    hash.hash128_words_each(Domain::Integer, words, |[first, second]| [!second, first], |wide| each.push(wide));
    assert!(each.iter().zip(&wide).all(|(&[a, b], wide)| [b, !a] == *wide) && each.len() == words.len());
    for ((word, narrow), wide) in words.iter().zip(narrow).zip(wide) {
        let bytes = word.to_le_bytes();
        assert_eq!(narrow, hash.hash64(Domain::Integer, &bytes));
        assert_eq!(narrow, hash.hash64_word(Domain::Integer, *word));
        assert_eq!(wide, hash.hash128(Domain::Integer, &bytes));
        assert_eq!(wide, hash.hash128_word(Domain::Integer, *word));
    }
}

fn assert_slices_agree<H: KeyedHash>(hash: &H, items: &[&[u8]]) {
    let (mut narrow, mut wide) = (vec![0; items.len()], vec![[0; 2]; items.len()]);
    hash.hash64_slices(Domain::Bytes, items, &mut narrow);
    hash.hash128_slices(Domain::Bytes, items, &mut wide);
    for ((item, narrow), wide) in items.iter().zip(narrow).zip(wide) {
        assert_eq!(narrow, hash.hash64(Domain::Bytes, item), "{} bytes", item.len());
        assert_eq!(wide, hash.hash128(Domain::Bytes, item), "{} bytes", item.len());
    }
}

fn assert_column_agrees<H: KeyedHash, T: Copy>(
    hash: &H,
    values: &[T],
    column: impl Fn(&H, &[T], &mut [u64]),
    item: impl Fn(T) -> Item<'static>,
) {
    let mut out = vec![0; values.len()];
    column(hash, values, &mut out);
    let singly: Vec<u64> = values.iter().map(|value| item(*value).hash64(hash)).collect();
    assert_eq!(out, singly);
}

fn hashes() -> [AnyHash; 3] {
    let secret = DefaultHash::new(HashKey::from_bytes([7; 16]));
    [AnyHash::default(), AnyHash::from(secret), AnyHash::from(PrestoHash)]
}

fn units() -> impl Strategy<Value = TimeUnit> {
    prop_oneof![
        Just(TimeUnit::Second),
        Just(TimeUnit::Millisecond),
        Just(TimeUnit::Microsecond),
        Just(TimeUnit::Nanosecond)
    ]
}

/// The default methods of the trait, over another function.
#[derive(Clone, Debug)]
struct Transparent;

impl KeyedHash for Transparent {
    fn id(&self) -> sketch_hash::HashId {
        PrestoHash.id()
    }

    fn hash64(&self, _: Domain, bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |sum, byte| sum.rotate_left(8) ^ u64::from(*byte))
    }

    fn hash128(&self, domain: Domain, bytes: &[u8]) -> [u64; 2] {
        [self.hash64(domain, bytes), bytes.len() as u64]
    }
}

#[test]
fn strings_of_every_length_hash_the_same_in_a_batch() {
    // Every length next to every other one, in batches of every size around the chunks.
    let text: Vec<u8> = (0..=255).cycle().take(4096).collect();
    for hash in hashes() {
        for count in [0, 1, 7, 127, 128, 129, 300] {
            for spread in [1, 9, 25, 80, 3000] {
                let items: Vec<&[u8]> = (0..count).map(|i| &text[i % 17..][..i * 31 % spread]).collect();
                assert_slices_agree(&hash, &items);
            }
        }
    }
}

#[test]
fn a_hash_that_defines_two_methods_gets_right_batches() {
    assert_words_agree(&Transparent, &[0, 1, u64::MAX]);
    assert_slices_agree(&Transparent, &[b"", b"a", b"bc"]);
}

#[test]
#[should_panic(expected = "one output for each word")]
fn a_batch_with_too_few_outputs_is_a_bug_of_the_caller() {
    DefaultHash::default().hash64_words(Domain::Integer, &[1, 2], &mut [0]);
}

proptest! {
    #[test]
    fn batches_of_words_equal_single_words(words in vec(any::<u64>(), 0..70)) {
        for hash in hashes() {
            assert_words_agree(&hash, &words);
        }
    }

    #[test]
    fn batches_of_strings_equal_single_strings(items in vec(vec(any::<u8>(), 0..100), 0..300)) {
        let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
        for hash in hashes() {
            assert_slices_agree(&hash, &items);
        }
    }

    #[test]
    fn columns_equal_items(integers in vec(any::<i64>(), 0..600), unsigned in vec(any::<u64>(), 0..600)) {
        for hash in hashes() {
            assert_column_agrees(&hash, &integers, hash64_integers, Item::from);
            assert_column_agrees(&hash, &integers, hash64_dates, Item::Date);
            assert_column_agrees(&hash, &unsigned, hash64_unsigned, Item::from);
            let mut wide = vec![[0; 2]; unsigned.len()];
            hash128_unsigned(&hash, &unsigned, &mut wide);
            prop_assert!(unsigned.iter().zip(&wide).all(|(value, wide)| Item::from(*value).hash128(&hash) == *wide));
        }
    }

    #[test]
    fn columns_of_floats_equal_items(bits in vec(any::<u64>(), 0..300), bits32 in vec(any::<u32>(), 0..300)) {
        let floats: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
        let floats32: Vec<f32> = bits32.into_iter().map(f32::from_bits).collect();
        for hash in hashes() {
            assert_column_agrees(&hash, &floats, hash64_floats, Item::from);
            assert_column_agrees(&hash, &floats32, hash64_floats32, Item::from);
        }
    }

    #[test]
    fn columns_of_time_stamps_equal_items(counts in vec(any::<i64>(), 0..300), unit in units(), zoned: bool) {
        for hash in hashes() {
            assert_column_agrees(
                &hash,
                &counts,
                |hash, counts, out| hash64_timestamps(hash, counts, unit, zoned, out),
                |count| Item::timestamp(count, unit, zoned),
            );
        }
    }

    #[test]
    fn trailing_zeros_do_not_change_a_decimal(
        unscaled in -(10_i128.pow(18))..10_i128.pow(18), scale in -60_i8..60, zeros in 0_i8..20,
    ) {
        let hash = DefaultHash::default();
        let written = Item::Decimal { unscaled, scale };
        let padded = Item::Decimal { unscaled: unscaled * 10_i128.pow(zeros.unsigned_abs().into()), scale: scale + zeros };
        prop_assert_eq!(written.hash128(&hash), padded.hash128(&hash));
    }

    #[test]
    fn decimals_of_different_value_differ(a in -2000_i128..2000, b in -2000_i128..2000, s in 0_i8..3, t in 0_i8..3) {
        let hash = DefaultHash::default();
        let of = |unscaled, scale| Item::Decimal { unscaled, scale }.hash64(&hash);
        let thousandths = |unscaled: i128, scale: i8| unscaled * 10_i128.pow(u32::from(3 - scale.unsigned_abs()));
        prop_assert_eq!(of(a, s) == of(b, t), thousandths(a, s) == thousandths(b, t));
    }

    #[test]
    fn every_integer_type_agrees_on_a_value(value: u8) {
        let hash = DefaultHash::default();
        let expected = Item::Integer(value.into()).hash64(&hash);
        prop_assert_eq!(Item::from(value).hash64(&hash), expected);
        prop_assert_eq!(Item::from(u16::from(value)).hash64(&hash), expected);
        prop_assert_eq!(Item::from(u32::from(value)).hash64(&hash), expected);
        prop_assert_eq!(Item::from(u64::from(value)).hash64(&hash), expected);
        prop_assert_eq!(Item::from(i16::from(value)).hash64(&hash), expected);
        prop_assert_eq!(Item::from(i32::from(value)).hash64(&hash), expected);
        prop_assert_eq!(Item::from(i64::from(value)).hash64(&hash), expected);
        prop_assert_eq!(Item::from(i128::from(value)).hash64(&hash), expected);
    }

    #[test]
    fn every_unit_agrees_on_an_instant(seconds in -9_223_372_036_i64..9_223_372_036, zoned: bool) {
        for hash in hashes() {
            let of = |count, unit| Item::timestamp(count, unit, zoned).hash64(&hash);
            let expected = of(seconds, TimeUnit::Second);
            prop_assert_eq!(of(seconds * 1_000, TimeUnit::Millisecond), expected);
            prop_assert_eq!(of(seconds * 1_000_000, TimeUnit::Microsecond), expected);
            prop_assert_eq!(of(seconds * 1_000_000_000, TimeUnit::Nanosecond), expected);
        }
    }

    #[test]
    fn rows_are_equal_only_if_their_items_are(a in vec(".{0,3}", 0..4), b in vec(".{0,3}", 0..4)) {
        let hash = DefaultHash::default();
        let of = |row: &[String]| hash128_row(&hash, row.iter().map(|text| Item::from(text.as_str())));
        prop_assert_eq!(of(&a) == of(&b), a == b);
        prop_assert_eq!(hash64_row(&hash, a.iter().map(|text| Item::from(text.as_str()))), of(&a)[0]);
    }

    #[test]
    fn no_item_makes_a_hash_panic(unscaled: i128, scale: i8, nanos: i128, days: i64, bits: u64) {
        for hash in hashes() {
            for item in [
                Item::Decimal { unscaled, scale },
                Item::Timestamp { nanos, zoned: true },
                Item::Timestamp { nanos, zoned: false },
                Item::Integer(unscaled),
                Item::Date(days),
                Item::date_from_millis(days),
                Item::Float(f64::from_bits(bits)),
            ] {
                let _ = (item.hash64(&hash), item.hash128(&hash));
            }
        }
    }
}
