//! `estimate --regions`: all regions of a few sets at once.

use serde_json::Value;

use crate::support::Folder;

/// Sets of 20,000, 15,000 and 10,000 items, all of whose regions have 5,000 items but those of c without a, which have none.
fn three() -> Folder {
    let folder = Folder::new();
    folder.private("a", 0, 20_000, "4");
    folder.private("b", 10_000, 25_000, "4");
    folder.private("c", 5_000, 15_000, "2");
    folder
}

/// By mask: only a, only b, a and b, only c, a and c, b and c, all.
const SIZES: [(&str, f64); 7] = [
    ("a & !b & !c", 5_000.0),
    ("!a & b & !c", 5_000.0),
    ("a & b & !c", 5_000.0),
    ("!a & !b & c", 0.0),
    ("a & !b & c", 5_000.0),
    ("!a & b & c", 0.0),
    ("a & b & c", 5_000.0),
];

fn rows(json: &Value) -> &Vec<Value> {
    json.as_array().unwrap_or_else(|| panic!("{json}"))
}

#[test]
fn every_region_is_told_with_its_error() {
    let folder = three();
    let json = folder.ok(&["estimate", "a.dps", "b.dps", "c.dps", "--regions", "--json"]).json();
    assert_eq!(rows(&json).len(), 7);
    for (row, (name, size)) in rows(&json).iter().zip(SIZES) {
        assert_eq!(row["region"], name);
        let (value, error) = (row["estimate"].as_f64().unwrap(), row["std_error"].as_f64().unwrap());
        // Eight standard errors: missed once in 10^15 runs, with errors that are only roughly known once in 10^6.
        assert!((value - size).abs() < 8.0 * error.max(60.0) && error < 1_500.0, "{row}");
        assert_eq!((row["epsilon"].as_f64(), row["epsilon_total"].as_f64()), (Some(4.0), Some(10.0)), "{row}");
        assert_eq!((row["sketches"].as_u64(), row["kind"].as_str()), (Some(3), Some("sfm")));
        assert!(row["method"]["name"].is_string() && row["status"].is_string() && row.get("expr").is_none(), "{row}");
    }
}

#[test]
fn names_are_those_of_the_files_or_as_given() {
    let folder = three();
    let first = |args: &[&str]| folder.ok(&[args, &["--regions", "--json"]].concat()).json()[0]["region"].clone();
    assert_eq!(first(&["estimate", "--name", "x=a.dps", "--name", "y=b.dps"]), "x & !y");
    folder.write("north-1.dps", folder.read("a.dps"));
    assert_eq!(first(&["estimate", "north-1.dps", "b.dps"]), "north_1 & !b");
    folder.write("north_1.dps", folder.read("b.dps"));
    let error = folder.fails(2, &["estimate", "north-1.dps", "north_1.dps", "--regions"]);
    assert!(error["hint"].as_str().unwrap().contains("--name"), "{error}");
}

#[test]
fn tables_have_a_row_for_each_region() {
    let folder = three();
    let files = ["estimate", "a.dps", "b.dps", "--regions"];
    let csv = folder.ok(&[&files[..], &["--csv"]].concat()).text();
    let mut table = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(table.headers().unwrap().get(0), Some("region"));
    let regions: Vec<String> = table.records().map(|row| row.unwrap()[0].to_owned()).collect();
    assert_eq!(regions, ["a & !b", "!a & b", "a & b"]);
    assert_eq!(folder.ok(&[&files[..], &["--format", "ndjson"]].concat()).text().lines().count(), 3);
    let text = folder.ok(&files).text();
    for word in ["region", "95 % interval", "a & !b", "method", "epsilon 4 for each data set at most, 8 for somebody"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

#[test]
fn what_cannot_be_told_is_refused() {
    let folder = three();
    let files = ["a.dps", "b.dps", "c.dps"];
    let many = folder.fails(2, &["estimate", "a.dps", "b.dps", "c.dps", "d.dps", "e.dps", "--regions"]);
    assert!(many["hint"].as_str().unwrap().contains("merge --tally"), "{many}");
    for other in [&["--expr", "a & b"][..], &["--jaccard"], &["--out", "x.csv"], &["--last-level", "exact"]] {
        folder.fails(2, &[&["estimate"], &files[..], &["--regions"], other].concat());
    }
    assert_eq!(
        folder.fails(3, &["estimate", "--name", "x=a.dps", "--name", "y=a.dps", "--regions"])["kind"],
        "incompatible"
    );
    folder.raw("r", &["ann"]);
    folder.raw("s", &["bob"]);
    let error = folder.fails(4, &["estimate", "r.raw.dps", "s.raw.dps", "--regions"]);
    assert_eq!((&error["kind"], &error["argument"]), (&"refused".into(), &"FILE".into()), "{error}");
    let run = folder.run(&["estimate", "r.raw.dps", "s.raw.dps", "--regions"]);
    assert!(run.stderr.contains("r.raw.dps is raw") && !run.stderr.contains("--name"), "{}", run.stderr);
    let named = folder.fails(4, &["estimate", "--name", "r=r.raw.dps", "--name", "s=s.raw.dps", "--regions"]);
    assert_eq!(named["argument"], "--name");
}
