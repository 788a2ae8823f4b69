//! `plan`: errors and lengths before there is any data.

use crate::support::Folder;

#[test]
fn a_plan_tells_error_length_and_range() {
    let folder = Folder::new();
    let json = folder.ok(&["plan", "--kind", "sfm", "--distinct", "1e6", "--epsilon", "1", "--json"]).json();
    assert_eq!((json["buckets"].as_u64(), json["levels"].as_u64()), (Some(4096), Some(24)));
    // Known for 4096 buckets at epsilon 1: 2.74 %.
    assert!((json["predicted_rse"].as_f64().unwrap() - 0.0274).abs() < 1e-4, "{json}");
    assert_eq!(json["answers"].as_array().map(Vec::len), Some(1));
    let bytes = json["bytes"].as_u64();
    let file = folder.private("a", 0, 10, "1");
    assert_eq!(Some(folder.read(&file).len() as u64), bytes);
    let text = folder.ok(&["plan", "--distinct", "1e6", "--epsilon", "1"]).text();
    assert!(text.contains("2.74 %") && text.contains("--buckets 4096 --levels 24 --epsilon 1\n"), "{text}");
}

#[test]
fn several_parties_have_four_answers() {
    let folder = Folder::new();
    let args = ["plan", "--distinct", "1e6", "--epsilon", "1", "--parties", "8"];
    let json = folder.ok(&[&args[..], &["--json"]].concat()).json();
    let error = |answer: &str| {
        let answers = json["answers"].as_array().unwrap();
        answers.iter().find(|found| found["answer"] == answer).unwrap()["predicted_rse"].as_f64().unwrap()
    };
    for (answer, expected) in [("one", 0.0274), ("together", 0.267), ("merged", 0.625), ("merged_symmetric", 1.008)] {
        assert!((error(answer) / expected - 1.0).abs() < 0.01, "{answer}: {}", error(answer));
    }
    assert_eq!((json["epsilon"].as_f64(), json["epsilon_total"].as_f64()), (Some(1.0), Some(8.0)));
    let table = folder.ok(&[&args[..], &["--csv"]].concat()).text();
    assert_eq!(table.lines().count(), 5);
    assert!(folder.ok(&args).text().contains("disjoint"));
}

#[test]
fn a_target_finds_the_fewest_buckets() {
    let folder = Folder::new();
    let args = ["plan", "--distinct", "1e6", "--epsilon", "1", "--target-rse", "0.01", "--json"];
    let json = folder.ok(&args).json();
    assert_eq!(json["buckets"], 32_768);
    assert!(json["predicted_rse"].as_f64().unwrap() <= 0.01);
    let error = folder.fails(2, &["plan", "--distinct", "1e6", "--epsilon", "1", "--target-rse", "1e-5"]);
    assert_eq!((error["argument"].as_str(), error["value"].as_str()), (Some("--target-rse"), Some("0.00001")));
    assert!(error["allowed"].as_str().unwrap().starts_with("0.00"), "{error}");
    let merged = folder.ok(&[&args[..], &["--parties", "2", "--answer", "merged"]].concat()).json();
    assert!(merged["buckets"].as_u64() > json["buckets"].as_u64());
}

#[test]
fn lengths_are_kept() {
    let folder = Folder::new();
    let json = folder.ok(&["plan", "--distinct", "1e6", "--epsilon", "1", "--max-bytes", "64KiB", "--json"]).json();
    assert!(json["bytes"].as_u64().unwrap() <= 65_536);
    assert_eq!(json["buckets"], 16_384);
    for args in [&["--max-bytes", "100"][..], &["--buckets", "4096", "--max-bytes", "10kB"]] {
        let error = folder.fails(2, &[&["plan", "--distinct", "1e6", "--epsilon", "1"], args].concat());
        assert_eq!(error["argument"], "--max-bytes");
    }
}

#[test]
fn large_counts_get_more_levels_and_saturation_is_told() {
    let folder = Folder::new();
    let plan =
        |more: &[&str]| folder.ok(&[&["plan", "--distinct", "1e12", "--epsilon", "1", "--json"], more].concat()).json();
    assert_eq!(plan(&[])["levels"], 29);
    assert_eq!(plan(&["--levels", "24"])["answers"][0]["status"], "saturated");
}

#[test]
fn wrong_numbers_name_their_argument() {
    let folder = Folder::new();
    for (argument, values) in [
        ("--distinct", &["0", "-1", "x", "1e30"][..]),
        ("--epsilon", &["0", "NaN", "-1", "1e300"]),
        ("--parties", &["0", "65537", "x"]),
        ("--target-rse", &["0", "1", "-1", "NaN", "x"]),
        ("--max-bytes", &["x", "-1"]),
        ("--max-items", &["0", "1e9", "x"]),
        ("--buckets", &["1000", "0", "2e9"]),
        ("--levels", &["0", "60"]),
    ] {
        for value in values {
            let mut args = vec!["plan".to_owned(), format!("{argument}={value}")];
            args.extend(
                ["--distinct", "--epsilon"]
                    .iter()
                    .filter(|other| **other != argument)
                    .map(|other| format!("{other}=10")),
            );
            let error = folder.fails(2, &args.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(error["argument"], argument, "{args:?}: {error}");
            assert!(error["allowed"].is_string() || error["hint"].is_string(), "{error}");
        }
    }
}
