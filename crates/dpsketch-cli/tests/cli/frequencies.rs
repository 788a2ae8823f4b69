//! Frequencies from data to answers. With rho 10000 the noise of a cell is 0 but for one in 10^60, so answers are the exact
//! counts unless most rows of an item collide, which the default shape and some hundred items rule out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use crate::support::{Folder, text_of};

/// Item i occurs i times, by many users, with weights 0, 0.5, 1 and 1.5 in turn.
fn table(items: u32) -> String {
    let mut text = String::from("user,item,w\n");
    for item in 1..=items {
        for row in 0..item {
            writeln!(text, "u{},item {item},{}", (item * 7 + row) % 50, f64::from(row % 4) / 2.0).expect("text grows");
        }
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("a.csv", table(60));
    folder.write("items.txt", text_of((1..=80).map(|item| format!("item {item}"))));
    folder
}

fn build<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["build", "a.csv", "--kind", "countsketch", "--column", "item"][..], more].concat()
}

/// All answers by their items.
fn answers(folder: &Folder, file: &str) -> BTreeMap<String, f64> {
    let json = folder.ok(&["query", file, "--items-file", "items.txt", "--json"]).json();
    let answer = |row: &Value| {
        (row["item"].as_str().expect("an item").to_owned(), row["estimate"].as_f64().expect("an estimate"))
    };
    json.as_array().expect("an array").iter().map(answer).collect()
}

fn exact(count: impl Fn(u32) -> f64) -> BTreeMap<String, f64> {
    (1..=80).map(|item| (format!("item {item}"), if item <= 60 { count(item) } else { 0.0 })).collect()
}

#[test]
fn counts_of_rows_come_back_in_the_order_asked() {
    let folder = folder();
    let run = folder.ok(&build(&["--rho", "10000", "--out", "a.dps"]));
    assert!(run.stderr.contains("the unit of privacy is one record of weight at most 1"), "{}", run.stderr);
    assert!(run.stderr.contains("1,830 rows read"), "{}", run.stderr);
    assert_eq!(answers(&folder, "a.dps"), exact(f64::from));
    let rows =
        folder.ok(&["query", "a.dps", "--item", "item 60", "--item", "none", "--item", "item 7", "--json"]).json();
    let asked: Vec<_> = rows.as_array().unwrap().iter().map(|row| (&row["item"], &row["estimate"])).collect();
    assert_eq!(
        asked,
        [(&json!("item 60"), &json!(60.0)), (&json!("none"), &json!(0.0)), (&json!("item 7"), &json!(7.0))]
    );
    for field in ["std_error", "lower", "upper"] {
        assert!(rows[0][field].is_number(), "{rows}");
    }
    assert_eq!((&rows[0]["confidence"], &rows[0]["status"]), (&json!(0.95), &json!("ok")));
    let csv = folder.ok(&["query", "a.dps", "--item", "item 7", "--csv"]).text();
    assert!(csv.starts_with("item,estimate,std_error,lower,upper,confidence,status\nitem 7,7.0,"), "{csv}");
    // Items from standard input, with both kinds of line ends.
    let lines = folder.run_with_input(&["query", "a.dps", "--items-file", "-", "--csv"], b"item 1\r\nitem 2\n").text();
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.contains("\nitem 1,1.0,") && lines.contains("\nitem 2,2.0,"), "{lines}");
}

#[test]
fn weights_add_up_are_refused_when_too_heavy_and_clipped_when_asked() {
    let folder = folder();
    let level = ["--rho", "10000", "--weight", "w", "--granularity", "0.5"];
    folder.ok(&build(&[&level[..], &["--max-weight", "1.5", "--out", "a.dps"]].concat()));
    // Rows 0, 1, 2, 3, … of an item weigh 0, 0.5, 1, 1.5, 0, …
    let sum = |item: u32| (0..item).map(|row| f64::from(row % 4) / 2.0).sum::<f64>();
    assert_eq!(answers(&folder, "a.dps"), exact(sum));
    for threads in ["1", "4"] {
        let args = build(&[&level[..], &["--max-weight", "1", "--threads", threads, "--out", "b.dps"]].concat());
        let error = folder.fails(4, &args);
        assert_eq!(error["argument"], "--max-weight", "{error}");
        assert!(error["message"].as_str().unwrap().contains("weighs more than the declared maximum of 1"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("or say --clip-weights"), "{error}");
    }
    assert!(!folder.path("b.dps").exists());
    let args = [&level[..], &["--max-weight", "1", "--clip-weights", "--out", "b.dps"]].concat();
    let run = folder.ok(&build(&args));
    let clipped: usize = (1..=60).map(|item| (0..item).filter(|row| row % 4 == 3).count()).sum();
    assert!(run.stderr.contains(&format!("{clipped} rows clipped")), "{}", run.stderr);
    let sum = |item: u32| (0..item).map(|row| (f64::from(row % 4) / 2.0).min(1.0)).sum::<f64>();
    assert_eq!(answers(&folder, "b.dps"), exact(sum));
    folder.write("a.csv", "item,w\na,0.1\nb,0\nc,0.5\n");
    let run = folder.ok(&build(&[&level[..], &["--max-weight", "1", "--out", "b.dps"]].concat()));
    assert!(run.stderr.contains("warning: 1 row of a weight that the grid rounds to 0"), "{}", run.stderr);
    folder.write("a.csv", "item,w\na,many\n");
    let args = [&level[..], &["--max-weight", "1", "--threads", "1", "--out", "c.dps"]].concat();
    assert_eq!(folder.fails(5, &build(&args))["argument"], "--weight");
}

#[test]
fn answers_in_json_are_whole_or_none() {
    let folder = folder();
    folder.ok(&build(&["--rho", "10000", "--out", "a.dps"]));
    folder.write("numbers.txt", text_of((0..5_000).map(|number: i32| number.to_string()).chain(["none".to_owned()])));
    folder
        .write("bytes.txt", [text_of((0..5_000).map(|number: i32| number.to_string())).as_bytes(), b"\xff\n"].concat());
    let numbers = ["query", "a.dps", "--items-file", "numbers.txt", "--integers"];
    for (code, args) in [(2, &numbers[..]), (5, &["query", "a.dps", "--items-file", "bytes.txt"])] {
        let run = folder.run(&[args, &["--json"]].concat());
        assert_eq!((run.code, run.text().as_str()), (code, ""), "{}", run.stderr);
        assert_eq!(folder.fails(code, args)["argument"], "--items-file");
        // Objects and rows are whole one by one, and come as they are asked for.
        let lines = folder.run(&[args, &["--format", "ndjson"]].concat());
        assert_eq!(lines.code, code);
        assert!(lines.text().lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
    // More than is kept in memory.
    let items = text_of((0..70_000).map(|number: i32| number.to_string()));
    let run = folder.run_with_input(&["query", "a.dps", "--items-file", "-", "--json"], items.as_bytes());
    assert!(run.stdout.len() > 8 << 20, "{}", run.stdout.len());
    assert_eq!(run.json().as_array().unwrap().len(), 70_000);
}

#[test]
fn items_of_several_columns_are_asked_for_as_records() {
    let folder = Folder::new();
    folder.write("a.csv", "from,to\n\"Paris, Orly\",JFK\n\"Paris, Orly\",JFK\nEWR,JFK\nEWR,\n");
    let build = ["build", "a.csv", "--kind", "countsketch", "--column", "from,to", "--rho", "10000", "--out", "a.dps"];
    folder.ok(&build);
    folder.write("items.txt", "EWR,JFK\n\"Paris, Orly\",JFK\nEWR,\nJFK,EWR\n");
    let fields = ["--fields", "text,text"];
    let rows = folder.ok(&[&["query", "a.dps", "--items-file", "items.txt", "--json"][..], &fields].concat()).json();
    let found: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| (row["item"].as_str().unwrap(), row["estimate"].as_f64())).collect();
    let expected = [("EWR,JFK", 1.0), ("\"Paris, Orly\",JFK", 2.0), ("EWR,", 1.0), ("JFK,EWR", 0.0)];
    assert_eq!(found, expected.map(|(item, count)| (item, Some(count))));
    let top = ["topk", "a.dps", "--candidates", "items.txt", "-k", "1", "--json"];
    let json = folder.ok(&[&top[..], &fields].concat()).json();
    assert_eq!((&json["items"][0]["item"], &json["candidates"]), (&json!("\"Paris, Orly\",JFK"), &json!(4)));

    let asked = |item: &str, fields: &str| folder.fails(2, &["query", "a.dps", "--item", item, "--fields", fields]);
    assert_eq!(asked("EWR", "text,text")["argument"], "--item");
    assert_eq!(asked("EWR,JFK,1", "text,text")["allowed"], "2 fields separated by commas");
    assert_eq!(asked("EWR,x", "text,integer")["value"], "x");
    assert_eq!(asked("EWR,JFK", "text,date")["argument"], "--fields");
    assert_eq!(asked("EWR,B6", "text,integer")["argument"], "--item", "no file was named");
    folder.fails(2, &["query", "a.dps", "--item", "1", "--integers", "--fields", "text"]);
    let error = folder.fails(2, &["topk", "a.dps", "--candidates", "items.txt", "--fields", "text,integer"]);
    assert_eq!(error["argument"], "--candidates");
}

#[test]
fn the_way_to_noise_for_epsilon_and_delta_is_told() {
    let folder = folder();
    let level = ["--epsilon", "1", "--delta", "1e-6"];
    // A weight so large that the exact law cannot be summed up, and one for which it can.
    for (most, way, words) in [("1", "exact", "the exact delta"), ("1000000", "zcdp", "a rho of zero-concentrated")] {
        let more = ["--max-weight", most];
        let run = folder.ok(&build(&[&level[..], &more, &["--out", "a.dps"]].concat()));
        assert!(run.stderr.contains(words), "{}", run.stderr);
        folder.ok(&build(&[&more[..], &["--out", "a.raw.dps"]].concat()));
        let run = folder.ok(&[&["release", "a.raw.dps", "--out", "b.dps"][..], &level].concat());
        assert!(run.stderr.contains(words), "{}", run.stderr);
        let plan = [&["plan", "--kind", "countsketch", "--total", "1e6", "--json"][..], &level, &more].concat();
        assert_eq!(folder.ok(&plan).json()["calibration"], way);
    }
    let plan = ["plan", "--kind", "countsketch", "--total", "1e6", "--rho", "1", "--json"];
    assert_eq!(folder.ok(&plan).json()["calibration"], Value::Null);
}

#[test]
fn raw_files_do_not_depend_on_threads_or_format_and_are_released_once() {
    let folder = folder();
    let table = table(60);
    let objects = table.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        json!({ "item": fields[1], "w": fields[2].parse::<f64>().unwrap() }).to_string()
    });
    folder.write("a.ndjson", text_of(objects));
    let bound = ["--weight", "w", "--max-weight", "2", "--granularity", "2^-2"];
    folder.ok(&build(&[&bound[..], &["--threads", "1", "--out", "one.raw.dps"]].concat()));
    folder.ok(&build(&[&bound[..], &["--threads", "3", "--out", "three.raw.dps"]].concat()));
    let json = ["build", "a.ndjson", "--kind", "countsketch", "--column", "item", "--out", "json.raw.dps"];
    folder.ok(&[&json[..], &bound].concat());
    assert_eq!(folder.read("one.raw.dps"), folder.read("three.raw.dps"));
    assert_eq!(folder.read("one.raw.dps"), folder.read("json.raw.dps"));

    folder.fails(3, &["query", "one.raw.dps", "--item", "item 1"]);
    folder.fails(3, &["estimate", "one.raw.dps"]);
    folder.ok(&["release", "one.raw.dps", "--rho", "10000", "--out", "one.dps"]);
    let sum = |item: u32| (0..item).map(|row| f64::from(row % 4) / 2.0).sum::<f64>();
    assert_eq!(answers(&folder, "one.dps"), exact(sum));
    folder.fails(4, &["release", "one.raw.dps", "--rho", "1", "--out", "two.dps"]);
    folder.ok(&["release", "one.raw.dps", "--rho", "1", "--again", "--out", "two.dps"]);
    assert_eq!(folder.ok(&["inspect", "one.raw.dps", "--json"]).json()[0]["times_released"], 2);
    folder.fails(4, &["release", "one.dps", "--rho", "1", "--out", "two.dps"]);
}

#[test]
fn three_laws_of_noise_state_what_they_cost() {
    let folder = folder();
    for (level, rho, epsilon) in
        [(&["--rho", "0.5"][..], Some(0.5), None), (&["--epsilon", "1", "--pure"], Some(0.5), Some(1.0))]
    {
        folder.ok(&build(&[level, &["--out", "a.dps"]].concat()));
        let facts = folder.ok(&["inspect", "a.dps", "--json"]).json()[0].clone();
        assert_eq!((facts["rho"].as_f64(), facts["epsilon"].as_f64()), (rho, epsilon), "{facts}");
    }
    // One record changes one cell by 1 in each of 15 rows. Discrete Laplace of scale t = 15 has the variance
    // 2 e^(-1/t) / (1 - e^(-1/t))^2.
    let facts = folder.ok(&["inspect", "a.dps", "--json"]).json()[0].clone();
    let decay = (-1.0_f64 / 15.0).exp();
    let variance = 2.0 * decay / (1.0 - decay).powi(2);
    assert!((facts["noise_variance"].as_f64().unwrap() / variance - 1.0).abs() < 1e-6, "{facts}");
    // Gaussian noise: variance 15 / (2 rho) at rho, and at (epsilon, delta) that of sigma / sqrt(15) = 4.2247 [BW18].
    folder.ok(&build(&["--rho", "0.5", "--out", "r.dps"]));
    assert_eq!(folder.ok(&["inspect", "r.dps", "--json"]).json()[0]["noise_variance"], 15.0);
    folder.ok(&build(&["--epsilon", "1", "--delta", "1e-6", "--out", "d.dps"]));
    let found = folder.ok(&["inspect", "d.dps", "--json"]).json()[0]["noise_variance"].as_f64().unwrap();
    assert!((found / (15.0 * 4.2247_f64.powi(2)) - 1.0).abs() < 1e-3, "{found}");
}

#[test]
fn users_are_bounded_and_the_file_says_so() {
    let folder = Folder::new();
    let rows = (0..40).flat_map(|user| (0..5).map(move |item| format!("u{user},item {item}")));
    folder.write("a.csv", format!("user,item\n{}", text_of(rows)));
    let user = ["--user", "user", "--max-items", "2", "--out", "a.dps"];
    let run = folder.ok(&build(&[&user[..], &["--rho", "10000", "--sorted-by-user"]].concat()));
    assert!(run.stderr.contains("80 items of 40 users kept"), "{}", run.stderr);
    assert!(!run.stderr.contains("--user bounds users"));
    folder.write("items.txt", text_of((0..5).map(|item| format!("item {item}"))));
    // Every user is in two of the five items, once each; noise and collisions are none.
    assert!((answers(&folder, "a.dps").values().sum::<f64>() - 80.0).abs() < 1e-9);
    let facts = folder.ok(&["inspect", "a.dps", "--json"]).json()[0].clone();
    assert!(
        facts["unit"].as_str().unwrap().starts_with("one user with at most 2 items of weight at most 1"),
        "{facts}"
    );
    assert_eq!(folder.fails(2, &build(&["--user", "user", "--rho", "1", "--out", "b.dps"]))["argument"], "--max-items");
    let clip = ["--user", "user", "--max-items", "2", "--clip-weights", "--rho", "1", "--out", "b.dps"];
    assert_eq!(folder.fails(2, &build(&clip))["argument"], "--clip-weights");
}

#[test]
fn an_empty_input_gives_a_sketch_and_nulls_are_left_out() {
    let folder = Folder::new();
    for (name, content) in [("none.txt", ""), ("header.csv", "item\n")] {
        folder.write(name, content);
        let mut args = vec!["build", name, "--kind", "countsketch", "--rho", "10000", "--out", "a.dps"];
        args.extend(if name == "header.csv" { &["--column", "item"][..] } else { &[] });
        folder.ok(&args);
        folder.ok(&["verify", "a.dps"]);
        let answer = folder.ok(&["query", "a.dps", "--item", "a", "--json"]).json();
        assert_eq!(answer[0]["estimate"], 0.0);
        assert_eq!(folder.ok(&["estimate", "a.dps", "--json"]).json()["quantity"], "second_moment");
    }
    // An empty text is a value, a missing one is none; the rule is that of every other kind.
    folder.write("nulls.ndjson", "{\"item\":null}\n{\"item\":\"\"}\n{\"item\":\"NA\"}\n{\"item\":\"a\"}\n{}\n");
    let args = ["build", "nulls.ndjson", "--kind", "countsketch", "--column", "item", "--null", "NA"];
    let run = folder.ok(&[&args[..], &["--rho", "10000", "--out", "n.dps"]].concat());
    assert!(run.stderr.contains("5 rows read, 3 with a missing value left out"), "{}", run.stderr);
    let answer = folder.ok(&["query", "n.dps", "--item", "", "--item", "a", "--item", "NA", "--json"]).json();
    assert_eq!(
        answer.as_array().unwrap().iter().map(|row| row["estimate"].as_f64()).collect::<Vec<_>>(),
        [Some(1.0), Some(1.0), Some(0.0)]
    );
}

#[test]
fn private_sketches_add_up_and_say_what_they_cost_together() {
    let folder = folder();
    for name in ["a", "b"] {
        folder.ok(&build(&["--rho", "4000", "--out", &format!("{name}.dps")]));
        folder.ok(&build(&["--out", &format!("{name}.raw.dps")]));
    }
    let run = folder.ok(&["merge", "a.dps", "b.dps", "--out", "m.dps"]);
    assert!(run.text().contains("rho 4000, 8000 for somebody in all of them, 2 releases"), "{}", run.text());
    assert_eq!(answers(&folder, "m.dps"), exact(|item| f64::from(2 * item)));
    let json = folder.ok(&["merge", "a.dps", "b.dps", "--disjoint", "--out", "d.dps", "--json"]).json();
    assert_eq!((json["rho"].as_f64(), json["rho_total"].as_f64()), (Some(4000.0), Some(4000.0)), "{json}");
    // The same rows twice: noise for one record would hide two.
    let copied = folder.fails(3, &["merge", "a.raw.dps", "b.raw.dps", "--out", "m.raw.dps"]);
    assert_eq!((copied["argument"].as_str(), copied["value"].as_str()), (Some("FILE"), Some("b.raw.dps")));
    folder.write("a.csv", "item\nitem 3\n");
    folder.ok(&build(&["--out", "c.raw.dps"]));
    folder.ok(&["merge", "a.raw.dps", "c.raw.dps", "--out", "m.raw.dps"]);
    folder.ok(&["verify", "a.dps", "b.dps"]);

    folder.fails(3, &["merge", "a.dps", "m.dps", "--out", "x.dps"]);
    folder.fails(3, &["merge", "a.dps", "b.raw.dps", "--out", "x.dps"]);
    folder.ok(&build(&["--width", "64", "--rho", "1", "--out", "small.dps"]));
    folder.fails(3, &["merge", "a.dps", "small.dps", "--out", "x.dps"]);
    folder.fails(6, &["verify", "a.dps", "small.dps"]);
    let sfm = folder.private("sfm", 0, 10, "1");
    folder.fails(3, &["merge", "a.dps", &sfm, "--out", "x.dps"]);
    folder.fails(3, &["query", &sfm, "--item", "a"]);
    folder.fails(3, &["estimate", "a.dps", &sfm]);
    assert_eq!(folder.fails(2, &["merge", "a.dps", "b.dps", "--form", "xor", "--out", "x.dps"])["argument"], "--form");
    assert_eq!(folder.fails(2, &["merge", &sfm, &sfm, "--disjoint", "--out", "x.dps"])["argument"], "--disjoint");
    assert!(!folder.path("x.dps").exists());
}

#[test]
fn moments_and_inner_products_are_those_of_the_exact_counts() {
    let folder = folder();
    folder.ok(&build(&["--rho", "10000", "--out", "a.dps"]));
    folder.write("a.csv", "item\nitem 3\nitem 60\nother\n");
    folder.ok(&build(&["--rho", "10000", "--out", "b.dps"]));
    let within = |json: &Value, exact: f64| {
        let (value, error) = (json["estimate"].as_f64().unwrap(), json["std_error"].as_f64().unwrap());
        // Six standard errors, and what noise of one unit in a cell could do.
        assert!((value - exact).abs() < 6.0 * error + 1.0, "{json}: {exact}");
    };
    let json = folder.ok(&["estimate", "a.dps", "--json"]).json();
    within(&json, (1..=60).map(|item| f64::from(item * item)).sum());
    assert_eq!((&json["quantity"], &json["kind"]), (&json!("second_moment"), &json!("countsketch")));
    within(&folder.ok(&["estimate", "a.dps", "b.dps", "--json"]).json(), 63.0);
    assert!(folder.ok(&["estimate", "a.dps"]).text().contains("norm"));
    assert_eq!(folder.fails(3, &["estimate", "a.dps", "b.dps", "a.dps"])["argument"], "FILE");
    assert_eq!(folder.fails(2, &["estimate", "a.dps", "--last-level", "exact"])["argument"], "--last-level");
}

#[test]
fn the_most_frequent_candidates_have_their_exact_ranks() {
    let folder = folder();
    folder.ok(&build(&["--rho", "10000", "--out", "a.dps"]));
    let json = folder.ok(&["topk", "a.dps", "-k", "4", "--candidates", "items.txt", "--json"]).json();
    let found: Vec<_> =
        json["items"].as_array().unwrap().iter().map(|row| (&row["rank"], &row["item"], &row["estimate"])).collect();
    let expected: Vec<_> =
        (1..=4).map(|rank| (json!(rank), json!(format!("item {}", 61 - rank)), json!(f64::from(61 - rank)))).collect();
    assert_eq!(found, expected.iter().map(|(rank, item, value)| (rank, item, value)).collect::<Vec<_>>());
    assert_eq!((&json["candidates"], &json["more"]), (&json!(80), &json!(true)));
    let csv =
        folder.ok(&["topk", "a.dps", "-k", "100", "--candidates", "items.txt", "--above", "57.5", "--csv"]).text();
    assert!(csv.starts_with("rank,item,estimate,std_error,lower,upper,confidence,status\n1,item 60,60.0,"), "{csv}");
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let none = folder.ok(&["topk", "a.dps", "--candidates", "items.txt", "--above", "1000", "--csv"]).text();
    assert_eq!(none, "rank,item,estimate,std_error,lower,upper,confidence,status\n");
    assert_eq!(folder.fails(2, &["topk", "a.dps", "-k", "0", "--candidates", "items.txt"])["argument"], "-k");
    assert_eq!(
        folder.fails(2, &["topk", "a.dps", "--candidates", "items.txt", "--above", "NaN"])["argument"],
        "--above"
    );
    folder.fails(5, &["topk", "a.dps", "--candidates", "missing.txt"]);
    folder.fails(2, &["query", "a.dps"]);
    folder.fails(2, &["query", "-", "--items-file", "-"]);
}

#[test]
fn items_are_found_by_the_key_and_the_text_rules_they_were_built_with() {
    let folder = Folder::new();
    folder.ok(&["key", "new", "study.key"]);
    folder.write("a.csv", "item\n Flu \nflu\n");
    let keyed = ["--key-file", "study.key", "--trim", "--lowercase"];
    folder.ok(&build(&[&keyed[..], &["--rho", "10000", "--out", "a.dps"]].concat()));
    let answer = folder.ok(&[&["query", "a.dps", "--item", "FLU ", "--json"][..], &keyed].concat()).json();
    assert_eq!((&answer[0]["item"], &answer[0]["estimate"]), (&json!("FLU "), &json!(2.0)));
    let error = folder.fails(3, &["query", "a.dps", "--item", "flu"]);
    assert_eq!(error["argument"], "--key-file", "{error}");
}

/// Users, items and weights of a table in typed columns, with nulls.
fn typed() -> RecordBatch {
    let user: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("a"), Some("b"), None, Some("c")]));
    let item: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), Some(8), Some(7), Some(7), None]));
    let weight: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.25), Some(2.0), Some(1.5), Some(1.0), Some(1.0)]));
    RecordBatch::try_from_iter([("user", user), ("item", item), ("w", weight)]).expect("a batch")
}

#[test]
fn parquet_columns_are_users_items_and_weights_by_their_types() {
    let folder = Folder::new();
    let batch = typed();
    let file = std::fs::File::create(folder.path("a.parquet")).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("a batch");
    writer.close().expect("a file");
    let args =
        ["build", "a.parquet", "--kind", "countsketch", "--column", "item", "--weight", "w", "--max-weight", "2"];
    let level = ["--granularity", "0.25", "--rho", "10000", "--out", "a.dps"];
    let asked = ["query", "a.dps", "--item", "7", "--item", "8", "--json"];
    let values = |args: &[&str]| {
        let json = folder.ok(args).json();
        json.as_array().unwrap().iter().map(|row| row["estimate"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let run = folder.ok(&[&args[..], &level].concat());
    assert!(run.stderr.contains("5 rows read, 1 with a missing value left out"), "{}", run.stderr);
    assert_eq!(values(&[&asked[..], &["--integers"]].concat()), [2.75, 2.0]);
    assert_eq!(values(&asked), [0.0, 0.0], "texts are other items");
    let run = folder.ok(&[&args[..], &["--user", "user", "--max-items", "2"], &level].concat());
    assert!(run.stderr.contains("5 rows read, 2 with a missing value left out"), "{}", run.stderr);
    assert_eq!(values(&[&asked[..], &["--integers"]].concat()), [1.75, 2.0]);
    assert_eq!(folder.fails(2, &["query", "a.dps", "--item", "x", "--integers"])["argument"], "--item");
    folder.write("candidates.txt", "9\n8\n7\n");
    let top = ["topk", "a.dps", "-k", "2", "--candidates", "candidates.txt", "--integers"];
    let json = folder.ok(&[&top[..], &["--json"]].concat()).json();
    let items: Vec<_> = json["items"].as_array().unwrap().iter().map(|row| (&row["item"], &row["estimate"])).collect();
    assert_eq!(items, [(&json!("8"), &json!(2.0)), (&json!("7"), &json!(1.75))]);
    folder.write("candidates.txt", "nine\n");
    assert_eq!(folder.fails(2, &top)["argument"], "--candidates");
    let wrong = ["--weight", "none", "--max-weight", "1", "--rho", "1", "--out", "b.dps"];
    let error =
        folder.fails(2, &[&["build", "a.parquet", "--kind", "countsketch", "--column", "item"][..], &wrong].concat());
    assert_eq!(error["argument"], "--weight", "{error}");
}
