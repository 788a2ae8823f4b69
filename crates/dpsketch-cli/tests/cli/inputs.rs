//! Inputs of every format and packing give the same sketch.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int16Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray, StringViewArray, TimestampMicrosecondArray, UInt64Array,
};
use dpsketch::sfm_pcsa::{PcsaShape, PcsaSketch};
use dpsketch::sketch_hash::{AnyHash, Item, TimeUnit, hash64_row};
use parquet::arrow::ArrowWriter;

use crate::support::{Folder, Run, expected, expected_texts, text_of};

const USERS: [&str; 6] = ["ann", "bob", "", "Zoë, \"the\" one", "tab\tbed", "ann"];

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn users_batch() -> RecordBatch {
    let users: StringArray = USERS.map(Some).into_iter().chain([None]).collect();
    let number = Int64Array::from_iter_values(0..7);
    batch(vec![("number", Arc::new(number)), ("user", Arc::new(users))])
}

fn write_parquet(folder: &Folder, name: &str, batch: &RecordBatch) {
    let file = File::create(folder.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn write_all_formats(folder: &Folder) -> Vec<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["number", "user"]).unwrap();
    let mut json = Vec::new();
    for (number, user) in USERS.iter().enumerate() {
        csv.write_record([&number.to_string(), *user]).unwrap();
        json.push(serde_json::json!({ "user": user, "other": { "user": [1] }, "number": number }).to_string());
    }
    let json = text_of(json);
    let csv = csv.into_inner().unwrap();
    let quoted = USERS.iter().map(|user| format!("0\t\"{}\"", user.replace('"', "\"\"")));
    let tsv = text_of(["number\tuser".to_owned()].into_iter().chain(quoted));
    let batch = users_batch();
    write_parquet(folder, "a.parquet", &batch);
    let mut arrow = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    arrow.write(&batch).unwrap();
    let mut stream = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    stream.finish().unwrap();
    vec![
        folder.write("a.csv", &csv),
        folder.write("b.csv.gz", gzip(&csv)),
        folder.write("c.csv.zst", zstd::encode_all(csv.as_slice(), 1).unwrap()),
        folder.write("packed-twice-by-two-hands.csv.gz", [gzip(&csv[..20]), gzip(&csv[20..])].concat()),
        folder.write("d.tsv", tsv),
        folder.write("e.jsonl", json.replace('\n', "\r\n\r\n")),
        folder.write("f.ndjson.gz", gzip(json.as_bytes())),
        folder.write("g.arrow", arrow.into_inner().unwrap()),
        folder.write("h.arrows", stream.get_ref()),
        "a.parquet".to_owned(),
    ]
}

#[test]
fn every_format_and_packing_gives_the_same_bytes() {
    let folder = Folder::new();
    for name in write_all_formats(&folder) {
        folder.ok(&["build", &name, "--column", "user", "--out", "x.raw.dps"]);
        assert_eq!(folder.read("x.raw.dps"), expected_texts(&USERS), "{name}");
    }
}

#[test]
fn formats_are_recognised_without_an_extension_and_from_a_pipe() {
    let folder = Folder::new();
    for name in write_all_formats(&folder) {
        let bytes = folder.read(&name);
        let plain = folder.write("data", &bytes);
        let delimiter: &[&str] = if name == "d.tsv" { &["--delimiter", "tab"] } else { &[] };
        folder.ok(&[&["build", &plain, "--column", "user", "--out", "x.raw.dps"], delimiter].concat());
        assert_eq!(folder.read("x.raw.dps"), expected_texts(&USERS), "{name}");
        if name == "a.parquet" {
            continue;
        }
        let args = [&["build", "-", "--column", "user", "--out", "y.raw.dps"], delimiter].concat();
        let run = folder.run_with_input(&args, &bytes);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        assert_eq!(folder.read("y.raw.dps"), expected_texts(&USERS), "{name}");
    }
}

#[test]
fn inputs_of_different_formats_are_one_data_set() {
    let folder = Folder::new();
    let names = write_all_formats(&folder);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    folder.ok(&[&["build", "--column", "user", "--out", "x.raw.dps"], names.as_slice()].concat());
    assert_eq!(folder.read("x.raw.dps"), expected_texts(&USERS));
}

#[test]
fn csv_without_a_header_numbers_its_columns() {
    let folder = Folder::new();
    folder.write("a.csv", "x;ann\ny;bob\n");
    folder.ok(&["build", "a.csv", "--no-header", "--delimiter", ";", "--column", "2", "--out", "a.raw.dps"]);
    assert_eq!(folder.read("a.raw.dps"), expected_texts(&["ann", "bob"]));
}

#[test]
fn the_only_column_needs_no_name() {
    let folder = Folder::new();
    folder.write("a.csv", "\u{feff}user\r\nann\r\nbob\r\n");
    folder.ok(&["build", "a.csv", "--out", "a.raw.dps"]);
    assert_eq!(folder.read("a.raw.dps"), expected_texts(&["ann", "bob"]));
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_value() {
    let folder = Folder::new();
    folder.write("a.txt", "\u{feff}ann\nbob\n");
    folder.ok(&["build", "a.txt", "--out", "a.raw.dps"]);
    assert_eq!(folder.read("a.raw.dps"), expected_texts(&["ann", "bob"]));
}

#[test]
fn rows_of_several_columns_are_one_item_in_every_format() {
    let folder = Folder::new();
    let mut sketch = PcsaSketch::new(PcsaShape::DEFAULT, AnyHash::default());
    for (a, b) in [("ab", "c"), ("a", "bc")] {
        sketch.update_hash(hash64_row(sketch.hash(), [Item::Text(b), Item::Text(a)]));
    }
    let expected = sketch.to_sensitive_bytes().to_vec();
    folder.write("a.csv", "a,b\nab,c\na,bc\n");
    folder.write("b.csv", "a,b\n\"ab\",c\na,bc\n");
    folder.write(
        "c.jsonl",
        "{\"a\":\"ab\",\"b\":\"c\"}\n{\"b\":\"bc\",\"a\":\"a\"}\n{\"a\":\"x\"}\n{\"a\":null,\"b\":\"x\"}\n",
    );
    let columns = [vec![Some("ab"), Some("a"), None], vec![Some("c"), Some("bc"), Some("x")]];
    let [a, b] = columns.map(|column| Arc::new(StringArray::from(column)) as ArrayRef);
    write_parquet(&folder, "d.parquet", &batch(vec![("a", a), ("b", b)]));
    for (name, nulls) in [("a.csv", 0), ("b.csv", 0), ("c.jsonl", 2), ("d.parquet", 1)] {
        let run = folder.ok(&["build", name, "--column", "b,a", "--out", "x.raw.dps"]);
        assert_eq!(folder.read("x.raw.dps"), expected, "{name}");
        assert!(run.stderr.contains(&format!("{nulls} with a missing value")), "{name}: {}", run.stderr);
    }
}

fn build_column(folder: &Folder, name: &str, column: &str) -> Run {
    folder.ok(&["build", name, "--column", column, "--out", "x.raw.dps"])
}

#[test]
fn parquet_values_are_counted_by_type() {
    let folder = Folder::new();
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    dictionary.extend(["ann", "bob", "ann"].map(Some));
    let columns: Vec<(&str, ArrayRef, Vec<Item<'_>>)> = vec![
        ("i16", Arc::new(Int16Array::from(vec![Some(-7), None, Some(9)])), vec![Item::Integer(-7), Item::Integer(9)]),
        ("u64", Arc::new(UInt64Array::from(vec![u64::MAX, 0, 9])), vec![u64::MAX.into(), 0_u8.into(), 9_u8.into()]),
        ("f64", Arc::new(Float64Array::from(vec![0.0, -0.0, f64::NAN])), vec![Item::Float(0.0), Item::Float(f64::NAN)]),
        ("bool", Arc::new(BooleanArray::from(vec![true, true, true])), vec![Item::Boolean(true)]),
        ("date", Arc::new(Date32Array::from(vec![0, 1, 1])), vec![Item::Date(0), Item::Date(1)]),
        (
            "time",
            Arc::new(TimestampMicrosecondArray::from(vec![5, 5, -5]).with_timezone("UTC")),
            [5, -5].map(|count| Item::timestamp(count, TimeUnit::Microsecond, true)).to_vec(),
        ),
        (
            "money",
            Arc::new(Decimal128Array::from(vec![4200, 1, 1]).with_precision_and_scale(9, 2).unwrap()),
            vec![Item::Integer(42), Item::Decimal { unscaled: 1, scale: 2 }],
        ),
        ("large", Arc::new(LargeStringArray::from(vec!["ann", "42", ""])), ["ann", "42", ""].map(Item::Text).to_vec()),
        ("view", Arc::new(StringViewArray::from(vec!["ann", "42", ""])), ["ann", "42", ""].map(Item::Text).to_vec()),
        ("dictionary", Arc::new(dictionary.finish()), ["ann", "bob"].map(Item::Text).to_vec()),
    ];
    let written = batch(columns.iter().map(|(name, array, _)| (*name, array.clone())).collect());
    write_parquet(&folder, "a.parquet", &written);
    let mut stream = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &written.schema()).unwrap();
    stream.write(&written).unwrap();
    stream.finish().unwrap();
    folder.write("a.arrows", stream.get_ref());
    for (name, _, items) in columns {
        for file in ["a.parquet", "a.arrows"] {
            build_column(&folder, file, name);
            assert_eq!(folder.read("x.raw.dps"), expected(items.iter().copied()), "{name} of {file}");
        }
    }
}

#[test]
fn json_values_are_counted_by_type() {
    let folder = Folder::new();
    folder.write(
        "a.jsonl",
        "{\"v\":1}\n{\"v\":\"1\"}\n{\"v\":1.0}\n{\"v\":true}\n{\"v\":null}\n{}\n{\"v\":\"\\u00e9\"}\n",
    );
    let run = build_column(&folder, "a.jsonl", "v");
    let items = [Item::Integer(1), Item::Text("1"), Item::Float(1.0), Item::Boolean(true), Item::Text("é")];
    assert_eq!(folder.read("x.raw.dps"), expected(items));
    assert!(run.stderr.contains("7 rows read, 2 with"), "{}", run.stderr);
}

#[test]
fn all_row_groups_are_read_by_any_number_of_threads() {
    let folder = Folder::new();
    let texts: Vec<String> = (0..50_000).map(|user| format!("user {user}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let users = batch(vec![("user", Arc::new(StringArray::from(texts.clone())))]);
    let properties =
        parquet::file::properties::WriterProperties::builder().set_max_row_group_row_count(Some(7_000)).build();
    let file = File::create(folder.path("a.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, users.schema(), Some(properties)).unwrap();
    writer.write(&users).unwrap();
    writer.close().unwrap();
    for threads in ["1", "3"] {
        folder.ok(&["build", "a.parquet", "--threads", threads, "--out", "x.raw.dps"]);
        assert_eq!(folder.read("x.raw.dps"), expected_texts(&texts), "{threads}");
    }
}
