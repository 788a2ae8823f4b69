//! Arrow columns of every type give the items that the table of `sketch-hash` says, no more and no less.
#![cfg(feature = "arrow")]

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int16Type, Int32Type, UInt8Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Date64Array, Decimal32Array,
    Decimal64Array, Decimal128Array, Decimal256Array, DictionaryArray, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, ListArray,
    NullArray, StringArray, StringViewArray, Time32SecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use dpsketch::sfm_pcsa::{PcsaShape, PcsaSketch};
use dpsketch::sketch_hash::{AnyHash, DefaultHash, HashKey, Item, PrestoHash, TimeUnit, hash64_row};
use dpsketch::{DistinctBuilder, ErrorKind, RawSketch, TextRules, is_hashable};

fn builder(rules: TextRules) -> DistinctBuilder {
    DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), rules)
}

/// The raw bytes of a sketch with exactly these items, made one by one by the sketch crate.
fn items(items: &[Item<'_>]) -> Vec<u8> {
    let mut sketch = PcsaSketch::new(PcsaShape::DEFAULT, AnyHash::default());
    for item in items {
        sketch.update_item(item);
    }
    sketch.to_sensitive_bytes().to_vec()
}

fn bytes(builder: DistinctBuilder) -> Vec<u8> {
    RawSketch::try_from(builder).expect("a sketch").to_sensitive_bytes().as_ref().to_vec()
}

#[track_caller]
fn check(array: impl Array + 'static, expected: &[Item<'_>], nulls: u64) {
    let array: ArrayRef = Arc::new(array);
    assert!(is_hashable(array.data_type()), "{}", array.data_type());
    let mut builder = builder(TextRules::default());
    builder.push_arrays(std::slice::from_ref(&array)).expect("a column that can be counted");
    let counts = builder.counts();
    assert_eq!((counts.rows, counts.nulls), (array.len() as u64, nulls), "{}", array.data_type());
    assert_eq!(bytes(builder), items(expected), "{}", array.data_type());
}

#[test]
fn integers_of_every_width_are_items_by_value() {
    let values = [Item::Integer(0), Item::Integer(7), Item::Integer(127)];
    check(Int8Array::from(vec![Some(0), Some(7), Some(127), None]), &values, 1);
    check(Int16Array::from(vec![0, 7, 127]), &values, 0);
    check(Int32Array::from(vec![0, 7, 127]), &values, 0);
    check(Int64Array::from(vec![0, 7, 127]), &values, 0);
    check(Int64Array::from(vec![Some(0), None, Some(7), Some(127)]), &values, 1);
    check(UInt8Array::from(vec![0, 7, 127]), &values, 0);
    check(UInt16Array::from(vec![0, 7, 127]), &values, 0);
    check(UInt32Array::from(vec![0, 7, 127]), &values, 0);
    check(UInt64Array::from(vec![0, 7, 127]), &values, 0);
    check(Int64Array::from(vec![-1, i64::MIN]), &[Item::Integer(-1), Item::Integer(i64::MIN.into())], 0);
    check(UInt64Array::from(vec![u64::MAX]), &[Item::Integer(u64::MAX.into())], 0);
    check(UInt64Array::from(vec![Some(u64::MAX), None]), &[Item::Integer(u64::MAX.into())], 1);
}

#[test]
fn floats_of_every_width_are_items_by_value() {
    let values = [Item::Float(0.0), Item::Float(1.5), Item::Float(f64::NAN)];
    check(Float32Array::from(vec![0.0, -0.0, 1.5, f32::NAN]), &values, 0);
    check(
        Float64Array::from(vec![Some(0.0), Some(-0.0), None, Some(1.5), Some(f64::NAN), Some(-f64::NAN)]),
        &values,
        1,
    );
}

#[test]
fn text_and_binary_of_every_layout_are_items_by_their_bytes() {
    let texts = vec![Some("ann"), None, Some(""), Some("a rather long text, too long to be inlined"), Some("ann")];
    let expected: Vec<Item<'_>> = texts.iter().flatten().map(|text| Item::Text(text)).collect();
    check(StringArray::from(texts.clone()), &expected, 1);
    check(LargeStringArray::from(texts.clone()), &expected, 1);
    check(StringViewArray::from(texts.clone()), &expected, 1);
    let slices: Vec<Option<&[u8]>> = texts.iter().map(|text| text.map(str::as_bytes)).collect();
    check(BinaryArray::from(slices.clone()), &expected, 1);
    check(LargeBinaryArray::from(slices.clone()), &expected, 1);
    check(BinaryViewArray::from(slices), &expected, 1);
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(b"abc"), None, Some(b"abd")].into_iter(), 3);
    check(fixed.expect("three bytes each"), &[Item::Text("abc"), Item::Text("abd")], 1);
}

#[test]
fn more_texts_than_a_batch_holds_are_all_counted() {
    for length in [255, 256, 257, 1000] {
        let texts: Vec<String> = (0..length).map(|number| format!("text {number}")).collect();
        let expected: Vec<Item<'_>> = texts.iter().map(|text| Item::Text(text)).collect();
        check(StringArray::from_iter_values(&texts), &expected, 0);
        let numbers: Vec<Item<'_>> = (0..length).map(|number| Item::Integer(number.into())).collect();
        check(Int64Array::from_iter_values((0..length).map(i64::from)), &numbers, 0);
    }
}

#[test]
fn dates_times_and_truths_are_items_of_their_own() {
    check(BooleanArray::from(vec![Some(true), None, Some(true)]), &[Item::Boolean(true)], 1);
    check(Date32Array::from(vec![-1, 3]), &[Item::Date(-1), Item::Date(3)], 0);
    check(Date64Array::from(vec![3 * 86_400_000, -1]), &[Item::Date(3), Item::Date(-1)], 0);
    let local = |count, unit| Item::timestamp(count, unit, false);
    check(TimestampSecondArray::from(vec![5]), &[local(5, TimeUnit::Second)], 0);
    check(TimestampMillisecondArray::from(vec![5000]), &[local(5, TimeUnit::Second)], 0);
    check(TimestampNanosecondArray::from(vec![5_000_000_000]), &[local(5, TimeUnit::Second)], 0);
    let zoned = TimestampSecondArray::from(vec![5]).with_timezone("Europe/Paris");
    check(zoned, &[Item::timestamp(5, TimeUnit::Second, true)], 0);
}

#[test]
fn decimals_of_every_width_are_items_by_value() {
    let expected = [Item::Integer(42), Item::Decimal { unscaled: 15, scale: 1 }];
    check(Decimal32Array::from(vec![4200, 150]).with_precision_and_scale(9, 2).expect("fits"), &expected, 0);
    check(Decimal64Array::from(vec![4200, 150]).with_precision_and_scale(9, 2).expect("fits"), &expected, 0);
    check(Decimal128Array::from(vec![4200, 150]).with_precision_and_scale(9, 2).expect("fits"), &expected, 0);
    let wide = Decimal256Array::from_iter_values([4200, 150].map(arrow_array_i256));
    check(wide.with_precision_and_scale(50, 2).expect("fits"), &expected, 0);
}

fn arrow_array_i256(value: i128) -> <arrow_array::types::Decimal256Type as arrow_array::ArrowPrimitiveType>::Native {
    <arrow_array::types::Decimal256Type as arrow_array::ArrowPrimitiveType>::Native::from_i128(value)
}

#[test]
fn a_decimal_that_fits_no_item_is_refused_and_not_cut() {
    let wide: ArrayRef =
        Arc::new(Decimal256Array::from_iter_values([arrow_array_i256(i128::MAX).wrapping_add(arrow_array_i256(1))]));
    let error = builder(TextRules::default()).push_arrays(&[wide]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Column);
}

#[test]
fn dictionaries_are_their_values_and_unused_ones_do_not_count() {
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("unused"), Some("ann"), None, Some("bob")]));
    let keys = Int8Array::from(vec![Some(3), Some(1), None, Some(2), Some(1)]);
    check(DictionaryArray::<Int8Type>::new(keys, values), &[Item::Text("ann"), Item::Text("bob")], 2);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7, 8]));
    check(DictionaryArray::<UInt8Type>::new(UInt8Array::from(vec![1, 1]), numbers.clone()), &[Item::Integer(8)], 0);
    check(DictionaryArray::<UInt64Type>::new(UInt64Array::from(vec![0]), numbers), &[Item::Integer(7)], 0);
    let none: ArrayRef = Arc::new(StringArray::from(Vec::<Option<&str>>::new()));
    check(DictionaryArray::<Int16Type>::new(Int16Array::from(vec![None, None]), none), &[], 2);
}

#[test]
fn a_slice_is_only_what_it_shows() {
    let whole = StringArray::from(vec![Some("a"), Some("b"), None, Some("c")]);
    check(whole.slice(1, 2), &[Item::Text("b")], 1);
    let values: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let whole = DictionaryArray::<Int32Type>::new(Int32Array::from(vec![0, 1, 1]), values);
    check(whole.slice(1, 2), &[Item::Text("y")], 0);
}

#[test]
fn a_column_of_nulls_has_no_item() {
    check(NullArray::new(3), &[], 3);
    check(StringArray::from(vec![None::<&str>; 3]), &[], 3);
}

#[test]
fn text_rules_apply_to_text_and_to_nothing_else() {
    let rules = TextRules { trim: true, lowercase: true, null: Some("NA".to_owned()) };
    let texts: Vec<Option<&str>> = vec![Some(" Ann"), Some("NA "), Some("ann"), None];
    for array in [
        Arc::new(StringArray::from(texts.clone())) as ArrayRef,
        Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(StringViewArray::from(texts.clone())),
    ] {
        let mut builder = builder(rules.clone());
        builder.push_arrays(&[array]).expect("text");
        assert_eq!((builder.counts().rows, builder.counts().nulls), (4, 2));
        assert_eq!(bytes(builder), items(&[Item::Text("ann")]));
    }
    let mut builder = builder(rules);
    builder.push_arrays(&[Arc::new(BinaryArray::from(vec![b" NA".as_slice()]))]).expect("binary");
    assert_eq!(bytes(builder), items(&[Item::Binary(b" NA")]));
}

#[test]
fn rows_of_several_columns_are_one_item_and_any_null_drops_the_row() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("ab"), Some("a"), None, Some("x")]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), Some(3), None]));
    let mut builder = builder(TextRules::default());
    builder.push_arrays(&[texts.clone(), numbers.clone()]).expect("two columns");
    assert_eq!((builder.counts().rows, builder.counts().nulls), (4, 2));
    let mut sketch = PcsaSketch::new(PcsaShape::DEFAULT, AnyHash::default());
    for (text, number) in [("ab", 1), ("a", 2)] {
        sketch.update_hash(hash64_row(sketch.hash(), [Item::Text(text), Item::Integer(number)]));
    }
    assert_eq!(bytes(builder), sketch.to_sensitive_bytes().to_vec());
}

#[test]
fn columns_that_have_no_items_are_refused_by_type() {
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]));
    let time: ArrayRef = Arc::new(Time32SecondArray::from(vec![1]));
    let lists_behind_keys: ArrayRef =
        Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0]), list.clone()));
    for array in [list, time, lists_behind_keys] {
        assert!(!is_hashable(array.data_type()));
        let error = builder(TextRules::default()).push_arrays(&[array]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Column);
        assert!(error.to_json()["allowed"].is_string());
    }
    let error = builder(TextRules::default()).push_arrays(&[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Column);
    let (one, two): (ArrayRef, ArrayRef) = (Arc::new(Int8Array::from(vec![1])), Arc::new(Int8Array::from(vec![1, 2])));
    assert!(builder(TextRules::default()).push_arrays(&[one, two]).is_err());
}

#[test]
fn other_hashes_and_keys_hash_by_the_same_types() {
    for hash in [AnyHash::from(PrestoHash), DefaultHash::new(HashKey::from_bytes([9; 16])).into()] {
        let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, hash.clone(), TextRules::default());
        builder.push_arrays(&[Arc::new(Float32Array::from(vec![1.5]))]).expect("floats");
        builder.push_arrays(&[Arc::new(StringArray::from(vec!["ann"]))]).expect("texts");
        builder.push_arrays(&[Arc::new(Int64Array::from(vec![-3]))]).expect("integers");
        let mut sketch = PcsaSketch::new(PcsaShape::DEFAULT, hash);
        for item in [Item::Float32(1.5), Item::Text("ann"), Item::Integer(-3)] {
            sketch.update_item(&item);
        }
        assert_eq!(bytes(builder), sketch.to_sensitive_bytes().to_vec());
    }
}
