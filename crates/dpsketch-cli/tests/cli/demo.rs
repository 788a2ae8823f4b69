//! `demo`: the exact answers are known.

use std::time::Instant;

use crate::support::Folder;

#[test]
fn the_demo_shows_the_exact_answers_beside_its_estimates() {
    let folder = Folder::new();
    let run = folder.ok(&["demo", "--json"]);
    let json = run.json();
    assert_eq!(json["flights"], 336_776);
    let exact: Vec<(&str, u64)> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["what"].as_str().unwrap(), line["exact"].as_u64().unwrap()))
        .collect();
    // Counted from the package with other software.
    let known = [("EWR", 3_040), ("LGA", 2_944), ("JFK", 1_957), ("all three", 4_043), ("merged file", 4_043)];
    assert_eq!(exact, known);
    for line in json["results"].as_array().unwrap() {
        let (estimate, error) = (line["estimate"].as_f64().unwrap(), line["std_error"].as_f64().unwrap());
        // Ten standard errors: the error of small counts is only roughly normal.
        assert!((estimate - line["exact"].as_f64().unwrap()).abs() < 10.0 * error, "{line}");
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn the_demo_takes_seconds() {
    let folder = Folder::new();
    let start = Instant::now();
    let text = folder.ok(&["demo"]).text();
    assert!(start.elapsed().as_secs() < 10);
    assert!(text.contains("4,043") && text.contains("all three"), "{text}");
}
