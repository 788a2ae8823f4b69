//! `demo`: the exact answers are known.

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
fn the_demo_tells_all_regions_beside_inclusion_and_exclusion() {
    let folder = Folder::new();
    let json = folder.ok(&["demo", "--json"]).json();
    let rows = json["regions"]["results"].as_array().unwrap();
    let exact: Vec<(&str, u64)> =
        rows.iter().map(|row| (row["what"].as_str().unwrap(), row["exact"].as_u64().unwrap())).collect();
    // Counted from the package with other software.
    let known = [
        ("EWR & !LGA & !JFK", 452),
        ("!EWR & LGA & !JFK", 366),
        ("EWR & LGA & !JFK", 1_268),
        ("!EWR & !LGA & JFK", 375),
        ("EWR & !LGA & JFK", 272),
        ("!EWR & LGA & JFK", 262),
        ("EWR & LGA & JFK", 1_048),
    ];
    assert_eq!(exact, known);
    for row in rows {
        let exact = row["exact"].as_f64().unwrap();
        for found in [row, &row["inclusion_exclusion"]] {
            let (estimate, error) = (found["estimate"].as_f64().unwrap(), found["std_error"].as_f64().unwrap());
            // Ten standard errors: the error of small counts is only roughly normal.
            assert!((estimate - exact).abs() < 10.0 * error, "{row}");
        }
        assert_eq!(row["method"]["name"], "joint", "{row}");
    }
}

#[test]
fn the_demo_counts_the_aircraft_of_all_airlines_by_a_tally() {
    let json = Folder::new().ok(&["demo", "--json"]).json();
    let story = &json["airlines"];
    assert_eq!(story["airlines"], 16);
    let rows = story["results"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["what"].as_str().unwrap()).collect::<Vec<_>>(), ["tally file", "merged file"]);
    for row in rows {
        assert_eq!((&row["exact"], &row["sketches"], &row["epsilon_total"]), (&4_043.into(), &16.into(), &32.0.into()));
    }
    let (estimate, error) = (rows[0]["estimate"].as_f64().unwrap(), rows[0]["std_error"].as_f64().unwrap());
    // Ten standard errors: the error of small counts is only roughly normal.
    assert!((estimate - 4_043.0).abs() < 10.0 * error, "{story}");
    assert_eq!((&rows[0]["method"]["name"], &rows[1]["method"]["name"]), (&"tally".into(), &"likelihood".into()));
    assert!(rows[1]["std_error"].as_f64().is_none_or(|merged| merged > error), "{story}");
}

#[test]
fn the_demo_ranks_the_busiest_aircraft_beside_their_exact_ranks() {
    let folder = Folder::new();
    let json = folder.ok(&["demo", "--json"]).json();
    let story = &json["frequent"];
    assert_eq!((&story["candidates"], &story["delta"]), (&3_322.into(), &1e-8.into()));
    let rows = story["results"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    // Counted from the packages with other software: flights of the busiest aircraft that are in the register, and ranks
    // among them, equal ones alike.
    let known = [
        ("N711MQ", 486, 1),
        ("N258JB", 427, 2),
        ("N298JB", 407, 3),
        ("N353JB", 404, 4),
        ("N351JB", 402, 5),
        ("N328AA", 393, 6),
        ("N338AA", 388, 7),
        ("N228JB", 388, 7),
        ("N327AA", 387, 9),
        ("N335AA", 385, 10),
    ];
    for row in rows {
        let (estimate, exact) = (row["estimate"].as_f64().unwrap(), row["exact"].as_f64().unwrap());
        // The intervals of 3,322 candidates hold at once with 95 %: three times as wide they hold nearly always.
        let half = (row["upper"].as_f64().unwrap() - row["lower"].as_f64().unwrap()) / 2.0;
        assert!((estimate - exact).abs() < 3.0 * half, "{row}");
        if let Some((_, flights, rank)) = known.iter().find(|(name, ..)| row["item"] == *name) {
            assert_eq!((&row["exact"], &row["exact_rank"]), (&(*flights).into(), &(*rank).into()), "{row}");
        }
    }
    assert_eq!(rows[0]["item"], "N711MQ", "59 flights ahead, at an error of four");
}

#[test]
fn the_demo_compares_two_months_both_ways_beside_the_exact_answers() {
    let folder = Folder::new();
    let json = folder.ok(&["demo", "--json"]).json();
    let rows = json["changes"]["results"].as_array().unwrap();
    let exact: Vec<(&str, u64)> =
        rows.iter().map(|row| (row["what"].as_str().unwrap(), row["exact"].as_u64().unwrap())).collect();
    // Counted from the packages with other software.
    let known = [
        ("aircraft in January", 3_148),
        ("aircraft joined by December", 435),
        ("aircraft left by December", 470),
        ("aircraft either way", 905),
        ("seats in January", 389_193),
        ("seats joined by December", 55_534),
        ("seats left by December", 53_565),
        ("seats either way", 109_099),
    ];
    assert_eq!(exact, known);
    for row in rows {
        let (estimate, error) = (row["estimate"].as_f64().unwrap(), row["std_error"].as_f64().unwrap());
        // Ten standard errors: the error of small counts is only roughly normal.
        assert!((estimate - row["exact"].as_f64().unwrap()).abs() < 10.0 * error, "{row}");
        let is_weight = row["what"].as_str().unwrap().starts_with("seats");
        assert_eq!(row["max_weight"].as_f64(), is_weight.then_some(450.0), "{row}");
    }
}

#[test]
fn the_demo_answers_honestly_at_any_epsilon() {
    let folder = Folder::new();
    let json = folder.ok(&["demo", "--epsilon", "1e-9", "--json"]).json();
    for line in json["results"].as_array().unwrap() {
        let status = line["status"].as_str().unwrap();
        assert!(["below_noise", "low_information", "saturated"].contains(&status), "{line}");
    }
    // Gaussian noise cannot be drawn so wide.
    assert_eq!(json["frequent"]["delta"], serde_json::Value::Null);
    let row = &json["frequent"]["results"][0];
    assert!(row["upper"].as_f64().unwrap() - row["lower"].as_f64().unwrap() > 1e9, "{row}");
    let text = folder.ok(&["demo", "--epsilon", "1e-9"]).text();
    assert!(text.contains("status") && text.contains("released with epsilon 0.000000001\n"), "{text}");
    assert!(!text.contains(" to none"), "{text}");
    // Tables keep their columns in line: all statuses of one stand at one place.
    for title in text.lines().filter(|line| line.contains("95 % interval") && line.ends_with("status")) {
        let place = title.chars().count() - "status".len();
        let rows = text.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.is_empty());
        for row in rows {
            let before = row.chars().nth(place - 1);
            assert!(before == Some(' ') && row.chars().nth(place).is_some_and(|c| c != ' '), "{title}\n{row}");
        }
    }
    folder.ok(&["demo", "--epsilon", "256"]);
    assert_eq!(folder.fails(2, &["demo", "--epsilon", "9e-10"])["argument"], "--epsilon");
}

#[test]
fn the_demo_tells_its_stories_to_people() {
    let text = Folder::new().ok(&["demo"]).text();
    for told in ["4,043", "all three", "aircraft joined by December", "N711MQ"] {
        assert!(text.contains(told), "{told}: {text}");
    }
}
