//! `decode`, `topk --estimator` and `query --estimator`. With rho 10000 the noise of a cell is 0 but for one in 10^60, and
//! dictionaries are so small that every item is told apart.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;

use crate::support::{Folder, text_of};

/// Item i occurs i times, for i up to 60; a list of 80 items and one that is listed twice.
fn folder() -> Folder {
    let folder = Folder::new();
    let rows = (1..=60).flat_map(|item| (0..item).map(move |_| format!("item {item}")));
    folder.write("a.csv", format!("item\n{}", text_of(rows)));
    folder.write("list.txt", text_of((1..=80).map(|item| format!("item {item}")).chain(["item 3".to_owned()])));
    for (rho, name) in [("10000", "a.dps"), ("0.01", "noisy.dps")] {
        let build = ["build", "a.csv", "--kind", "countsketch", "--column", "item", "--rho", rho, "--out", name];
        folder.ok(&[&build[..], &["--rows", "5", "--width", "64"]].concat());
    }
    folder
}

/// The list twice and more as long as a row: a median would be off, and every item is found.
#[test]
fn every_item_of_the_list_is_answered_once_in_its_order() {
    let folder = folder();
    let run = folder.ok(&["decode", "a.dps", "--candidates", "list.txt", "--csv"]);
    let text = run.text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("item,estimate,std_error,lower,upper,confidence,status"));
    for item in 1..=80 {
        let fields: Vec<&str> = lines.next().expect("a line for every item").split(',').collect();
        let expected = if item <= 60 { f64::from(item) } else { 0.0 };
        assert_eq!(fields[0], format!("item {item}"));
        assert!((fields[1].parse::<f64>().unwrap() - expected).abs() < 1e-6, "{fields:?}");
        assert_eq!(fields[5..], ["0.95", if item <= 60 { "ok" } else { "below_noise" }], "{fields:?}");
    }
    assert_eq!(lines.next(), None);
    assert!(run.stderr.contains("80 items decoded in"), "{}", run.stderr);
    assert!(run.stderr.contains(", 60 answers more than "), "{}", run.stderr);
    let json = folder.ok(&["decode", "a.dps", "--candidates", "list.txt", "--json"]).json();
    assert_eq!((json.as_array().map(Vec::len), &json[6]["item"]), (Some(80), &json!("item 7")));
    for text in ["--help", "-h"] {
        assert!(folder.ok(&["decode", text]).text().contains("public"));
    }
}

#[test]
fn tables_are_whole_and_in_both_formats() {
    let folder = folder();
    let decode = ["decode", "noisy.dps", "--candidates", "list.txt"];
    let run = folder.ok(&[&decode[..], &["--threshold", "0", "--out", "t.csv"]].concat());
    assert!(run.text().is_empty() && run.stderr.contains("wrote t.csv: 80 items"), "{}", run.stderr);
    let csv = String::from_utf8(folder.read("t.csv")).unwrap();
    assert_eq!(csv, folder.ok(&[&decode[..], &["--threshold", "0", "--csv"]].concat()).text());
    folder.ok(&[&decode[..], &["--threshold", "0", "--out", "t.parquet"]].concat());
    let file = std::fs::File::open(folder.path("t.parquet")).unwrap();
    let batches: Vec<_> = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().collect();
    let [batch] = &batches[..] else { panic!("{batches:?}") };
    let batch = batch.as_ref().unwrap();
    let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names.join(","), "item,estimate,std_error,lower,upper,confidence,status");
    let (items, estimates) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Float64Type>());
    for (row, line) in csv.lines().skip(1).enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(items.value(row), fields[0]);
        assert_eq!(estimates.value(row).to_bits(), fields[1].parse::<f64>().unwrap().to_bits());
    }
    // Small ones are set to 0, unless that is not wanted.
    let zeros = |text: &str| text.lines().filter(|line| line.contains(",0.0,")).count();
    let auto = folder.ok(&[&decode[..], &["--csv"]].concat()).text();
    assert!(zeros(&auto) > 20 && zeros(&csv) < 5, "{} {}", zeros(&auto), zeros(&csv));
    assert!(auto.contains("below_noise") && !csv.contains("below_noise"));
}

/// Neither the list nor the sketch is replaced by the table, under whatever name.
#[test]
fn the_table_replaces_nothing_that_is_read() {
    let folder = folder();
    let (list, sketch) = (folder.read("list.txt"), folder.read("a.dps"));
    folder.write("list.csv", &list);
    folder.write("a.csv", &sketch);
    for args in [
        ["a.dps", "--candidates", "list.csv", "--out", "list.csv"],
        ["a.csv", "--candidates", "list.txt", "--out", "a.csv"],
    ] {
        folder.fails(2, &[&["decode"][..], &args].concat());
    }
    assert_eq!((folder.read("list.csv"), folder.read("a.csv")), (list, sketch));
}

#[test]
fn what_cannot_be_decoded_is_refused_and_leaves_nothing() {
    let folder = folder();
    let decode = |more: &[&'static str]| [&["decode", "a.dps", "--candidates"][..], more].concat();
    folder.write("bytes.txt", b"item 1\n\xff\n");
    assert_eq!(folder.fails(5, &decode(&["bytes.txt", "--out", "t.csv"]))["argument"], "--candidates");
    assert_eq!(folder.fails(5, &decode(&["missing.txt", "--out", "t.csv"]))["argument"], "--candidates");
    assert_eq!(folder.fails(2, &decode(&["list.txt", "--out", "t.txt"]))["argument"], "--out");
    assert_eq!(folder.fails(2, &decode(&["list.txt", "--integers", "--out", "t.csv"]))["argument"], "--candidates");
    for threshold in ["3", "none"] {
        folder.fails(2, &decode(&["list.txt", "--threshold", threshold]));
    }
    let error = folder.fails(2, &decode(&["list.txt", "--simultaneous", "0"]));
    assert_eq!((error["argument"].as_str(), error["value"].as_str()), (Some("--simultaneous"), Some("0")), "{error}");
    folder.fails(2, &["decode", "a.dps"]);
    folder.ok(&["key", "new", "other.key"]);
    assert_eq!(folder.fails(3, &decode(&["list.txt", "--key-file", "other.key"]))["argument"], "--key-file");
    folder.ok(&["build", "a.csv", "--kind", "countsketch", "--column", "item", "--out", "a.raw.dps"]);
    folder.fails(3, &["decode", "a.raw.dps", "--candidates", "list.txt"]);
    assert!(!folder.path("t.csv").exists());
    folder.write("empty.txt", "");
    assert_eq!(
        folder.ok(&decode(&["empty.txt", "--csv"])).text(),
        "item,estimate,std_error,lower,upper,confidence,status\n"
    );
    assert_eq!(folder.ok(&decode(&["empty.txt", "--json"])).json(), json!([]));
}

#[test]
fn the_top_is_decoded_unless_medians_are_asked_for() {
    let folder = folder();
    let top = ["topk", "a.dps", "--candidates", "list.txt", "-k", "5", "--json"];
    let json = folder.ok(&top).json();
    let ranked: Vec<_> = json["items"].as_array().unwrap().iter().map(|row| row["item"].clone()).collect();
    assert_eq!(ranked, [60, 59, 58, 57, 56].map(|item| json!(format!("item {item}"))));
    assert_eq!((&json["candidates"], &json["more"]), (&json!(80), &json!(true)));
    let medians = folder.ok(&[&top[..], &["--estimator", "median"]].concat()).json();
    assert!(medians["items"][0]["std_error"].as_f64() > json["items"][0]["std_error"].as_f64(), "{medians}");
    folder.fails(2, &["topk", "a.dps", "--prefix-tree", "--estimator", "median"]);
}

#[test]
fn queries_take_other_estimators() {
    let folder = folder();
    folder.ok(&["build", "a.csv", "--kind", "countsketch", "--column", "item", "--rho", "0.01", "--out", "wide.dps"]);
    let ask = |more: &[&'static str]| {
        let query = ["query", "wide.dps", "--item", "item 60", "--json"];
        folder.ok(&[&query[..], more].concat()).json()[0].clone()
    };
    let median = ask(&[]);
    assert_eq!(median, ask(&["--estimator", "median"]));
    // Noise of 15 rows and variance 750, hardly a collision: standard errors of their median 8.7, of their mean 7.1.
    for estimator in ["trimmed", "law"] {
        let answer = ask(&["--estimator", estimator]);
        let error = answer["std_error"].as_f64().unwrap();
        assert!(error < median["std_error"].as_f64().unwrap(), "{answer}");
        assert!(answer["lower"].as_f64() < answer["upper"].as_f64(), "{answer}");
    }
    folder.fails(2, &["query", "a.dps", "--item", "item 1", "--estimator", "mean"]);
}
