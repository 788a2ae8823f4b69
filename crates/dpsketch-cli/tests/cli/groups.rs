//! `build --group-by`: one sketch for each group, in one table.

use std::fmt::Write;
use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, Int16Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::support::Folder;

/// Publisher and user; a user may see several publishers.
const VIEWS: &str = "publisher,user\nnews,1\nnews,2\nblog,1\nnews,1\n,3\nshop,\n";

fn build<'a>(file: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let args = ["build", file, "--column", "user", "--group-by", "publisher", "--epsilon", "8", "--out", out];
    [&args[..], more].concat()
}

/// The rows of a Parquet file.
fn table(folder: &Folder, name: &str) -> Vec<RecordBatch> {
    let file = File::open(folder.path(name)).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(ParquetRecordBatchReaderBuilder::build);
    reader.expect("a Parquet file").map(|batch| batch.expect("a batch")).collect()
}

fn texts(batch: &RecordBatch, column: usize) -> Vec<String> {
    let column = batch.column(column).as_any().downcast_ref::<StringArray>().expect("text");
    column.iter().map(|text| text.unwrap_or("null").to_owned()).collect()
}

#[test]
fn every_group_of_the_data_has_a_row_in_the_order_of_its_value() {
    let folder = Folder::new();
    folder.write("a.csv", VIEWS);
    let run = folder.ok(&build("a.csv", "r.parquet", &["--null", ""]));
    assert!(run.stderr.contains("warning: which groups exist is read from the data"), "{}", run.stderr);
    assert!(run.stderr.contains("pays g times that"), "{}", run.stderr);
    assert!(run.stderr.contains("6 rows read, 2 with a missing value left out"), "{}", run.stderr);
    let batches = table(&folder, "r.parquet");
    assert_eq!(texts(&batches[0], 0), ["blog", "news"]);
    let csv = folder.ok(&["estimate", "r.parquet", "--csv"]).text();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header, ["group", "estimate", "std_error", "lower", "upper", "status", "epsilon"]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.iter().map(|row| row[0].to_owned()).collect::<Vec<_>>(), ["blog", "news"]);
    // At epsilon 8 an empty sketch errs by about two items.
    assert!(rows.iter().all(|row| row[1].parse::<f64>().unwrap() < 25.0 && &row[6] == "8.0"), "{csv}");
}

#[test]
fn a_list_fixes_the_groups_and_their_order() {
    let folder = Folder::new();
    folder.write("a.csv", VIEWS);
    folder.write("groups.txt", "shop\nnews\nradio\n");
    let run = folder.ok(&build("a.csv", "r.parquet", &["--groups", "groups.txt", "--null", ""]));
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    assert!(run.stderr.contains("1 row of groups that are not in the list left out"), "{}", run.stderr);
    let batches = table(&folder, "r.parquet");
    assert_eq!(texts(&batches[0], 0), ["shop", "news", "radio"]);
    let json = folder.ok(&["estimate", "r.parquet", "--json"]).json();
    // Groups without a row look like all others: a sketch full of noise.
    assert_eq!(json.as_array().map(Vec::len), Some(3));
    assert!(json.as_array().unwrap().iter().all(|row| row["epsilon"] == 8.0 && row["kind"] == "sfm"), "{json}");
    assert_eq!(json[2]["group"], "radio");
    folder.ok(&build("a.csv", "empty.parquet", &["--groups", "groups.txt", "--null", "news", "--threads", "3"]));
    assert_eq!(texts(&table(&folder, "empty.parquet")[0], 0), ["shop", "news", "radio"]);
}

#[test]
fn absent_groups_are_noised_like_any_other() {
    let folder = Folder::new();
    folder.write("a.csv", "publisher,user\nnews,1\n");
    folder.write("groups.txt", "news\nradio\n");
    let args = ["build", "a.csv", "--column", "user", "--group-by", "publisher", "--groups", "groups.txt"];
    folder.ok(&[&args[..], &["--epsilon", "1", "--out", "r.parquet"]].concat());
    let batches = table(&folder, "r.parquet");
    let sketches = batches[0].column(1).as_any().downcast_ref::<arrow_array::BinaryArray>().unwrap();
    for row in 0..2 {
        folder.write("one.dps", sketches.value(row));
        let json = folder.ok(&["inspect", "one.dps", "--json"]).json();
        assert_eq!((json[0]["state"].as_str(), json[0]["epsilon"].as_f64()), (Some("private"), Some(1.0)));
        let dpsketch::AnySketch::Sfm(sketch) = dpsketch::read_sketch(&folder.path("one.dps")).unwrap() else {
            panic!()
        };
        // 26.89 % ones of 98,304 cells: 26,438 with a standard deviation of 139; five and a bit of them.
        let ones: u64 = sketch.ones_per_level().iter().sum();
        assert!((25_600..27_300).contains(&ones), "{ones}");
    }
}

#[test]
fn the_key_column_keeps_its_type() {
    let folder = Folder::new();
    for (name, keys) in [
        ("int16", Arc::new(Int16Array::from(vec![3, -1, 3])) as ArrayRef),
        ("int64", Arc::new(Int64Array::from(vec![i64::MAX, 0, 0]))),
        ("text", Arc::new(StringArray::from(vec!["b", "a", "b"]))),
    ] {
        let users: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_from_iter([("publisher", keys.clone()), ("user", users)]).unwrap();
        let file = format!("{name}-in.parquet");
        let mut writer = ArrowWriter::try_new(File::create(folder.path(&file)).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let out = format!("{name}.parquet");
        folder.ok(&build(&file, &out, &[]));
        let released = table(&folder, &out);
        assert_eq!(released[0].column(0).data_type(), keys.data_type());
        assert_eq!((released[0].num_rows(), released[0].column(1).data_type()), (2, &DataType::Binary));
        folder.ok(&["estimate", &out, "--out", "e.parquet"]);
        let estimates = table(&folder, "e.parquet");
        assert_eq!(estimates[0].column(0).as_ref(), released[0].column(0).as_ref());
        assert_eq!(estimates[0].schema().field(1).name(), "estimate");
        folder.ok(&["estimate", &out, "--out", "e.csv"]);
        assert_eq!(String::from_utf8(folder.read("e.csv")).unwrap().lines().count(), 3);
    }
    // Lists are read as the type of the column.
    folder.write("groups.txt", "7\n-1\n");
    folder.ok(&build("int16-in.parquet", "listed.parquet", &["--groups", "groups.txt"]));
    let keys = table(&folder, "listed.parquet")[0].column(0).clone();
    assert_eq!(keys.as_ref(), &Int16Array::from(vec![7, -1]) as &dyn Array);
    folder.write("groups.txt", "seven\n");
    assert_eq!(
        folder.fails(2, &build("int16-in.parquet", "x.parquet", &["--groups", "groups.txt"]))["argument"],
        "--groups"
    );
}

#[test]
fn groups_are_data_and_never_file_names() {
    let folder = Folder::new();
    folder.write("a.csv", "publisher,user\n../../etc/passwd,1\n\"a\nb\",2\n-,3\n");
    folder.ok(&build("a.csv", "r.parquet", &[]));
    assert_eq!(folder.names(), ["a.csv", "r.parquet"]);
    assert_eq!(folder.ok(&["estimate", "r.parquet", "--json"]).json()[2]["group"], "a\nb");
    let text = folder.ok(&["estimate", "r.parquet"]).text();
    assert!(text.contains("\"a\\nb\""), "{text}");
}

#[test]
fn estimates_follow_the_counts_whatever_the_threads() {
    let folder = Folder::new();
    let mut text = String::from("publisher,user\n");
    for user in 0..60_000 {
        writeln!(
            text,
            "{},{user}",
            ["a", "b", "c"][if user < 30_000 {
                0
            } else if user < 50_000 {
                1
            } else {
                2
            }]
        )
        .unwrap();
    }
    folder.write("a.csv", &text);
    for threads in ["1", "4"] {
        folder.ok(&build("a.csv", "r.parquet", &["--threads", threads]));
        let json = folder.ok(&["estimate", "r.parquet", "--json"]).json();
        for (row, exact) in [30_000.0, 20_000.0, 10_000.0].into_iter().enumerate() {
            let (found, error) = (json[row]["estimate"].as_f64().unwrap(), json[row]["std_error"].as_f64().unwrap());
            assert!((found - exact).abs() < 6.0 * error && error < 0.02 * exact, "{threads} {row}: {found} ± {error}");
        }
    }
}

#[test]
fn users_in_several_groups_can_be_bounded_together() {
    let folder = Folder::new();
    let mut text = String::from("publisher,user\n");
    for user in 0..3_000 {
        for publisher in ["a", "b", "c", "d"] {
            writeln!(text, "{publisher},{user}").unwrap();
        }
    }
    folder.write("a.csv", &text);
    folder.write("groups.txt", "a\nb\nc\nd\n");
    let users = ["--user", "user", "--max-items", "2"];
    assert_eq!(folder.fails(2, &build("a.csv", "x.parquet", &users))["argument"], "--groups");
    let run = folder.ok(&build("a.csv", "r.parquet", &[&users[..], &["--groups", "groups.txt"]].concat()));
    assert!(run.stderr.contains("6,000 distinct items of 3,000 users kept"), "{}", run.stderr);
    assert!(
        run.stderr.contains("epsilon 8 is for all groups together, for one user with at most 2 items"),
        "{}",
        run.stderr
    );
    let json = folder.ok(&["estimate", "r.parquet", "--json"]).json();
    for row in json.as_array().unwrap() {
        assert_eq!(row["unit"], "one user with at most 2 items");
        // Half of the users, chosen by a hash: 1,500 ± 27, and the error of the sketch.
        let (found, error) = (row["estimate"].as_f64().unwrap(), row["std_error"].as_f64().unwrap());
        assert!((found - 1_500.0).abs() < 6.0 * (error * error + 750.0).sqrt(), "{row}");
    }
}

#[test]
fn a_ledger_books_every_group_unless_users_are_bounded() {
    let folder = Folder::new();
    folder.write("a.csv", VIEWS);
    folder.write("groups.txt", "news\nblog\nshop\n");
    folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--epsilon", "1"]);
    let build = |epsilon: &'static str, more: &[&'static str]| {
        let args = [
            "build",
            "a.csv",
            "--column",
            "user",
            "--group-by",
            "publisher",
            "--groups",
            "groups.txt",
            "--out",
            "r.parquet",
        ];
        [&args[..], &["--epsilon", epsilon, "--ledger", "s.ledger", "--label", "reach"], more].concat()
    };
    let error = folder.fails(4, &build("0.4", &[]));
    assert_eq!((error["value"].as_str(), error["allowed"].as_str()), (Some("1.2"), Some("at most 1")));
    assert!(!folder.path("r.parquet").exists());
    folder.ok(&build("0.1", &[]));
    folder.ok(&build("0.5", &["--user", "user", "--max-items", "2"]));
    let json = folder.ok(&["ledger", "show", "--ledger", "s.ledger", "--json"]).json();
    let costs: Vec<&str> =
        json["spends"].as_array().unwrap().iter().map(|spend| spend["cost"].as_str().unwrap()).collect();
    assert_eq!(costs, ["0.3", "0.5"]);
    assert!(json["spends"].as_array().unwrap().iter().all(|spend| spend["status"] == "released"));
}

#[test]
fn tables_are_inspected_and_damaged_ones_found() {
    let folder = Folder::new();
    folder.write("a.csv", VIEWS);
    folder.ok(&build("a.csv", "r.parquet", &[]));
    let json = folder.ok(&["inspect", "r.parquet", "--json"]).json();
    assert_eq!((json[0]["state"].as_str(), json[0]["groups"].as_u64()), (Some("private"), Some(4)));
    assert_eq!((json[0]["column"].as_str(), json[0]["listed"].as_bool()), (Some("publisher"), Some(false)));
    assert_eq!((json[0]["epsilon"].as_f64(), json[0]["buckets"].as_u64()), (Some(8.0), Some(4096)));
    let verified = folder.ok(&["verify", "r.parquet"]).text();
    assert!(verified.contains("r.parquet: ok, table of 4 groups"), "{verified}");
    let whole = folder.read("r.parquet");
    for length in [4, 100, whole.len() / 2, whole.len() - 1] {
        folder.write("cut.parquet", &whole[..length]);
        folder.fails(5, &["estimate", "cut.parquet"]);
    }
    // Sketches carry their checksum, and so do the groups; what is not found is in parts that say nothing, such as the
    // name of the program that wrote the file.
    let groups = |run: &crate::support::Run| -> Vec<String> {
        run.text().lines().skip(1).map(|line| line.split(',').next().unwrap_or_default().to_owned()).collect()
    };
    let names = groups(&folder.ok(&["estimate", "r.parquet", "--csv"]));
    let mut found = 0;
    for part in 1..20 {
        let mut flipped = whole.clone();
        flipped[whole.len() * part / 20] ^= 1;
        folder.write("flipped.parquet", flipped);
        let run = folder.run(&["estimate", "flipped.parquet", "--csv"]);
        assert!(matches!(run.code, 0 | 5) && !run.stderr.contains("panicked"), "part {part}: {}", run.stderr);
        if run.code == 5 {
            found += 1;
            folder.fails(6, &["verify", "r.parquet", "flipped.parquet"]);
        } else {
            assert_eq!(groups(&run), names, "part {part}");
        }
    }
    assert!(found >= 10, "{found} of 19");
    // Any other Parquet file is no table of groups.
    let planes = concat!(env!("CARGO_MANIFEST_DIR"), "/data/planes.parquet");
    let error = folder.fails(5, &["estimate", planes]);
    assert!(error["message"].as_str().unwrap().contains("not a container of grouped sketches"), "{error}");
    folder.fails(2, &["estimate", "r.parquet", "r.parquet"]);
    let one = folder.private("one", 0, 5, "1");
    folder.fails(2, &["estimate", "r.parquet", &one]);
    assert_eq!(folder.fails(2, &["estimate", &one, "--out", "x.csv"])["argument"], "--out");
    assert_eq!(folder.fails(2, &["estimate", "r.parquet", "--out", "x.txt"])["argument"], "--out");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    folder.write("a.csv", VIEWS);
    folder.write("twice.txt", "news\nblog\nnews\n");
    folder.write("mixed.jsonl", "{\"publisher\":1,\"user\":1}\n{\"publisher\":\"a\",\"user\":1}\n");
    folder.write("float.jsonl", "{\"publisher\":1.5,\"user\":1}\n");
    for (args, argument) in [
        (build("a.csv", "x.dps", &[]), "--out"),
        (build("a.csv", "x.parquet", &["--groups", "twice.txt"]), "--groups"),
        (build("mixed.jsonl", "x.parquet", &[]), "--group-by"),
        (build("float.jsonl", "x.parquet", &[]), "--group-by"),
        (
            vec!["build", "a.csv", "--column", "user", "--group-by", "nobody", "--epsilon", "1", "--out", "x.parquet"],
            "--group-by",
        ),
        (vec!["build", "a.csv", "--column", "user", "--group-by", "publisher", "--out", "x.parquet"], "--group-by"),
        (vec!["build", "a.csv", "--group-by", "publisher", "--epsilon", "1", "--out", "x.parquet"], "--column"),
        (
            vec!["build", "a.csv", "--column", "user", "--groups", "twice.txt", "--epsilon", "1", "--out", "x.dps"],
            "--group-by",
        ),
    ] {
        let error = folder.fails(2, &args);
        assert!(error["argument"].as_str().unwrap().contains(argument), "{args:?}: {error}");
        assert!(!error.to_string().contains("news"), "{error}");
    }
    assert_eq!(folder.fails(5, &build("a.csv", "x.parquet", &["--groups", "no.txt"]))["argument"], "--groups");
    assert!(!folder.path("x.parquet").exists());
}

#[test]
fn an_empty_input_is_a_table_without_groups() {
    let folder = Folder::new();
    folder.write("a.csv", "publisher,user\n");
    folder.ok(&build("a.csv", "r.parquet", &[]));
    assert_eq!(folder.ok(&["estimate", "r.parquet", "--json"]).json().as_array().map(Vec::len), Some(0));
    assert_eq!(folder.ok(&["estimate", "r.parquet", "--csv"]).text().lines().count(), 1);
}

/// Writes a table again, its batches and metadata changed.
fn rewrite(
    folder: &Folder,
    out: &str,
    change: impl Fn(RecordBatch) -> RecordBatch,
    metadata: impl Fn(&str, String) -> String,
) {
    let file = File::open(folder.path("r.parquet")).expect("a table");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
    let entries = reader.metadata().file_metadata().key_value_metadata().expect("entries").clone();
    let entries = entries.into_iter().filter(|entry| entry.key.starts_with("dpsketch."));
    let entries = entries
        .map(|entry| KeyValue::new(entry.key.clone(), entry.value.map(|value| metadata(&entry.key, value))))
        .collect();
    let batches: Vec<RecordBatch> =
        reader.build().expect("a reader").map(|batch| change(batch.expect("a batch"))).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(entries)).build();
    let out = File::create(folder.path(out)).expect("a writable folder");
    let mut writer = ArrowWriter::try_new(out, batches[0].schema(), Some(properties)).expect("a table");
    for batch in &batches {
        writer.write(batch).expect("a batch");
    }
    writer.close().expect("a table");
}

/// The batch with other columns, which may hold nulls.
fn with_columns(batch: &RecordBatch, groups: StringArray, sketches: BinaryArray) -> RecordBatch {
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let columns: [ArrayRef; 2] = [Arc::new(groups), Arc::new(sketches)];
    RecordBatch::try_from_iter_with_nullable(names.into_iter().zip(columns).map(|(name, column)| (name, column, true)))
        .expect("columns of one length")
}

type Change<'a> = &'a dyn Fn(RecordBatch) -> RecordBatch;

#[test]
fn changed_groups_are_found_and_a_null_sketch_is_none() {
    let folder = Folder::new();
    folder.write("a.csv", VIEWS);
    folder.ok(&build("a.csv", "r.parquet", &[]));
    let same = |_: &str, value: String| value;
    let column = |batch: &RecordBatch| -> Vec<Option<String>> {
        batch.column(0).as_string::<i32>().iter().map(|group| group.map(str::to_owned)).collect()
    };
    let sketches = |batch: &RecordBatch| -> Vec<Option<Vec<u8>>> {
        batch.column(1).as_binary::<i32>().iter().map(|sketch| sketch.map(<[u8]>::to_vec)).collect()
    };
    let put = |batch: &RecordBatch, groups: Vec<Option<String>>, sketches: Vec<Option<Vec<u8>>>| {
        with_columns(batch, groups.into_iter().collect(), sketches.iter().map(Option::as_deref).collect())
    };
    rewrite(&folder, "same.parquet", |batch| put(&batch, column(&batch), sketches(&batch)), same);
    folder.ok(&["verify", "same.parquet"]);

    let swapped: Change<'_> = &|batch| {
        let mut groups = column(&batch);
        groups.swap(0, 1);
        put(&batch, groups, sketches(&batch))
    };
    let renamed: Change<'_> = &|batch| {
        let mut groups = column(&batch);
        groups[0] = Some("another".to_owned());
        put(&batch, groups, sketches(&batch))
    };
    let null_group: Change<'_> = &|batch| {
        let mut groups = column(&batch);
        groups[0] = None;
        put(&batch, groups, sketches(&batch))
    };
    let fewer: Change<'_> = &|batch| batch.slice(0, batch.num_rows() - 1);
    for (name, change) in [("swapped", swapped), ("renamed", renamed), ("null", null_group), ("fewer", fewer)] {
        rewrite(&folder, "changed.parquet", change, same);
        let error = folder.fails(5, &["estimate", "changed.parquet"]);
        assert!(error["message"].as_str().unwrap().contains("the groups of the table were changed"), "{name}: {error}");
        folder.fails(6, &["verify", "changed.parquet"]);
    }

    let no_sketch = |batch: RecordBatch| {
        let mut values = sketches(&batch);
        values[1] = None;
        put(&batch, column(&batch), values)
    };
    rewrite(&folder, "null.parquet", no_sketch, same);
    let json = folder.ok(&["estimate", "null.parquet", "--json"]).json();
    assert!(json[1]["group"].is_string() && json[1]["estimate"].is_null() && json[1]["status"].is_null(), "{json}");
    assert!(json[0]["estimate"].is_number() && json[2]["estimate"].is_number(), "{json}");
    assert!(folder.ok(&["estimate", "null.parquet"]).text().contains("no sketch"));
    folder.ok(&["estimate", "null.parquet", "--out", "null.csv"]);
    folder.ok(&["estimate", "null.parquet", "--out", "estimates.parquet"]);

    let first = |key: &str, value: String| {
        if key == "dpsketch.groups" { value.replace("\"version\":2", "\"version\":1") } else { value }
    };
    rewrite(&folder, "first.parquet", |batch| batch, first);
    let error = folder.fails(5, &["estimate", "first.parquet"]);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("expected \"dpsketch groups 2\", found \"dpsketch groups 1\""), "{error}");
}

#[test]
fn threads_that_see_no_row_change_nothing() {
    let folder = Folder::new();
    folder.write("one.csv", "publisher,user\nnews,ann\n");
    folder.write("none.csv", "publisher,user\n");
    folder.write("groups.txt", "news\nblog\n");
    for more in [&[][..], &["--groups", "groups.txt"]] {
        folder.ok(&build("one.csv", "a.parquet", &[more, &["--threads", "8"]].concat()));
        let two = ["build", "none.csv", "one.csv", "none.csv", "--column", "user", "--group-by", "publisher"];
        let two = [&two[..], &["--epsilon", "8", "--threads", "8", "--out", "b.parquet"], more].concat();
        folder.ok(&two);
        for table in ["a.parquet", "b.parquet"] {
            let json = folder.ok(&["estimate", table, "--json"]).json();
            assert_eq!(json[0]["group"], "news", "{json}");
            assert_eq!(json.as_array().map(Vec::len), Some(if more.is_empty() { 1 } else { 2 }), "{json}");
        }
    }
    for threads in ["1", "8"] {
        folder.ok(&["build", "none.csv", "one.csv", "--column", "user", "--threads", threads, "--out", "x.raw.dps"]);
        assert_eq!(folder.read("x.raw.dps"), crate::support::expected_texts(&["ann"]));
    }
}
