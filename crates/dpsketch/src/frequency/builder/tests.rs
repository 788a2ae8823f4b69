use countsketch_dp::{CountSketchShape, Granularity, UpdateError};
use sketch_hash::{DefaultHash, HashKey};

use super::*;
use crate::error::ErrorKind;

fn terms(max_weight: u64) -> CountSketchTerms {
    CountSketchTerms::records(CountSketchShape::new(3, 64).unwrap(), Granularity::ONE, max_weight).unwrap()
}

fn builder(max_weight: u64) -> FrequencyBuilder {
    FrequencyBuilder::new(terms(max_weight), AnyHash::default(), TextRules::default()).unwrap()
}

fn bytes(raw: &RawCountSketch) -> Vec<u8> {
    raw.to_sensitive_bytes().to_vec()
}

/// The same by `countsketch-dp` alone.
fn plainly(max_weight: u64, records: &[(&str, i64)]) -> Vec<u8> {
    let terms = terms(max_weight);
    let mut sketch = CountSketch::new(terms.shape(), AnyHash::default(), terms.bound());
    records.iter().try_for_each(|(item, weight)| sketch.update(item.as_bytes(), *weight)).unwrap();
    sketch.to_sensitive_bytes().to_vec()
}

#[test]
fn parts_put_together_are_one_to_the_byte() {
    let records: Vec<(String, i64)> = (0..2_000).map(|row| (format!("item {}", row % 77), row % 19 - 9)).collect();
    let mut parts = [builder(9), builder(9), builder(9)];
    for (row, (item, weight)) in records.iter().enumerate() {
        let weight = weight.to_string();
        parts[row % 3].push_weighted_row([Some(Item::from(item.as_str()))], Some(Item::from(weight.as_str()))).unwrap();
    }
    let [mut first, second, third] = parts;
    first.absorb(second).unwrap();
    first.absorb(third).unwrap();
    assert_eq!(first.counts().rows, 2_000);
    let expected: Vec<(&str, i64)> = records.iter().map(|(item, weight)| (item.as_str(), *weight)).collect();
    assert_eq!(bytes(&first.finish().unwrap()), plainly(9, &expected));
}

#[test]
fn texts_rows_and_slices_are_the_same_items_as_distinct_counts_hash() {
    let mut by_text = builder(1);
    by_text.push_texts(["a", "b", "a"]).unwrap();
    let mut by_row = builder(1);
    for item in ["a", "b", "a"] {
        by_row.push_row([Some(Item::from(item))]).unwrap();
    }
    let expected = plainly(1, &[("a", 1), ("b", 1), ("a", 1)]);
    assert_eq!(bytes(&by_text.finish().unwrap()), expected);
    assert_eq!(bytes(&by_row.finish().unwrap()), expected);
}

#[test]
fn heavy_records_are_refused_and_the_build_is_given_up() {
    let mut refusing = builder(10);
    refusing.push_weighted_row([Some(Item::from("a"))], Some(Item::from(10_i64))).unwrap();
    let error = refusing.push_weighted_row([Some(Item::from("a"))], Some(Item::from(-11_i64))).unwrap_err();
    assert_eq!((error.kind(), error.to_json()["argument"].as_str()), (ErrorKind::Refused, Some("--max-weight")));
    assert_eq!(error.message(), "row 2 weighs more than the declared maximum of 10");
    assert!(refusing.push_texts(["b"]).is_err() && refusing.push_nulls(1).is_err());
    let mut other = builder(10);
    assert!(other.absorb(refusing).is_err(), "what was given up is not taken over");
    assert!(other.finish().is_ok(), "but the other one goes on");
}

#[test]
fn heavy_records_are_clipped_by_explicit_choice_and_counted() {
    let mut clipping = builder(10).with_excess(Excess::Clip);
    for weight in ["11", "-400", "10", "1e18"] {
        clipping.push_weighted_row([Some(Item::from("a"))], Some(Item::from(weight))).unwrap();
    }
    assert_eq!(clipping.counts(), FrequencyCounts { rows: 4, nulls: 0, clipped: 3, zeroed: 0 });
    assert_eq!(bytes(&clipping.finish().unwrap()), plainly(10, &[("a", 10), ("a", -10), ("a", 10), ("a", 10)]));
}

#[test]
fn a_weight_that_is_no_number_is_damaged_input_and_a_missing_one_is_left_out() {
    let rules = TextRules { null: Some("NA".to_owned()), ..TextRules::default() };
    let mut builder = FrequencyBuilder::new(terms(10), AnyHash::default(), rules).unwrap();
    builder.push_weighted_row([Some(Item::from("a"))], Some(Item::from("NA"))).unwrap();
    builder.push_weighted_row([None], Some(Item::from("1"))).unwrap();
    assert_eq!(builder.counts(), FrequencyCounts { rows: 2, nulls: 2, clipped: 0, zeroed: 0 });
    let error = builder.push_weighted_row([Some(Item::from("a"))], Some(Item::from("many"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.message().starts_with("row 3 "), "{error}");
}

#[test]
fn an_overflow_gives_the_build_up() {
    let largest = i64::MAX.unsigned_abs();
    let mut builder = builder(largest);
    let heavy = i64::MAX.to_string();
    builder.push_weighted_row([Some(Item::from("a"))], Some(Item::from(heavy.as_str()))).unwrap();
    builder.push_weighted_row([Some(Item::from("a"))], Some(Item::from(heavy.as_str()))).unwrap();
    // Both stand in one batch, which is added as a whole, or not at all.
    let error = builder.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.message().starts_with("a counter overflow"), "{error}");
    let mut parts = [self::builder(largest), self::builder(largest)];
    for part in &mut parts {
        part.push_weighted_row([Some(Item::from("a"))], Some(Item::from(heavy.as_str()))).unwrap();
    }
    let [mut first, second] = parts;
    assert!(first.absorb(second).is_err() && first.finish().is_err(), "also when parts meet");
}

#[test]
fn fractions_are_rounded_to_the_grid_and_one_is_a_power_of_two_of_units() {
    let grid = Granularity::new(2).unwrap();
    let terms = CountSketchTerms::records(CountSketchShape::new(3, 64).unwrap(), grid, 10).unwrap();
    let mut builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default()).unwrap();
    builder.push_texts(["a"]).unwrap();
    builder.push_weighted_row([Some(Item::from("a"))], Some(Item::from("-2.4"))).unwrap();
    let mut sketch = CountSketch::with_granularity(terms.shape(), AnyHash::default(), terms.bound(), grid);
    sketch.update(b"a", 4 - 10).unwrap();
    assert_eq!(bytes(&builder.finish().unwrap()), sketch.to_sensitive_bytes().to_vec());
    assert!(matches!(sketch.update(b"a", 11), Err(UpdateError::Weight { max: 10 })));
}

#[test]
fn users_and_other_hashes_are_refused() {
    let shape = CountSketchShape::new(3, 64).unwrap();
    let users = CountSketchTerms::users(shape, Granularity::ONE, 2, 1, crate::Clipping::Auto).unwrap();
    assert!(FrequencyBuilder::new(users, AnyHash::default(), TextRules::default()).is_err());
    let other = AnyHash::from(DefaultHash::new(HashKey::from_bytes([1; 16])));
    let other = FrequencyBuilder::new(terms(1), other, TextRules::default()).unwrap();
    assert_eq!(builder(1).absorb(other).unwrap_err().kind(), ErrorKind::Incompatible);
}

#[test]
fn weights_that_the_grid_makes_vanish_are_counted_and_zeros_are_not() {
    let mut builder = builder(10);
    for weight in ["0.3", "0", "0.5", "-0.2", "1", "0.00"] {
        builder.push_weighted_row([Some(Item::from("a"))], Some(Item::from(weight))).unwrap();
    }
    builder.push_weighted_row([None], Some(Item::from("0.3"))).unwrap();
    let counted = FrequencyCounts { rows: 7, nulls: 1, clipped: 0, zeroed: 3 };
    assert_eq!(builder.counts(), counted, "a row that is left out for another reason is not counted twice");
}
