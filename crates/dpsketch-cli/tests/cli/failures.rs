//! Whatever goes wrong is said with argument, value, allowed range and fix, and leaves nothing half-written.

use std::io::Write;

use crate::support::{Folder, text_of};

#[test]
fn absurd_epsilons_are_refused_by_every_verb_that_takes_one() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    for epsilon in ["0", "-1", "NaN", "inf", "-inf", "-0.0", "1e-320", "1e300", "one", "", "257"] {
        for args in [
            &["build", "a.txt", "--epsilon", epsilon, "--out", "x.dps"][..],
            &["release", &raw, "--epsilon", epsilon, "--out", "x.dps"],
            &["demo", "--epsilon", epsilon],
            &["plan", "--distinct", "10", "--epsilon", epsilon],
            &["study", "new", "--out", "x.study", "--epsilon", epsilon],
            &["ledger", "spend", "--ledger", "x.ledger", "--label", "x", "--epsilon", epsilon],
        ] {
            let error = folder.fails(2, args);
            assert_eq!((error["argument"].as_str(), error["value"].as_str()), (Some("--epsilon"), Some(epsilon)));
            assert!(error["allowed"].as_str().unwrap().contains("256"), "{error}");
            assert!(error["hint"].is_string());
        }
    }
    assert_eq!(folder.names(), ["a.raw.dps", "a.txt"]);
    assert_eq!(folder.ok(&["inspect", &raw, "--json"]).json()[0]["times_released"], 0);
}

#[test]
fn numbers_out_of_range_name_argument_value_and_range() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    for (argument, values) in [
        ("--buckets", &["0", "1", "4095", "2e9", "1e12", "-1", "x", "1.5", "1e30"][..]),
        ("--levels", &["0", "53", "255", "300", "1000", "-1"]),
        ("--threads", &["0", "257", "-1", "1e99"]),
        ("--max-record", &["1", "1KiB", "2GiB", "-1", "x"]),
        ("--delimiter", &["", "ab", "\"", "é"]),
    ] {
        for value in values {
            let arg = format!("{argument}={value}");
            for args in [&[arg.as_str()][..], &[argument, value]] {
                let error = folder.fails(2, &[&["build", "a.txt", "--out", "x.raw.dps"], args].concat());
                assert_eq!(error["argument"], argument, "{arg}: {error}");
                // As it was given, or the number it stands for.
                let told = error["value"].as_str().unwrap();
                assert!(told == *value || told.parse().ok() == value.parse::<f64>().ok(), "{arg}: {error}");
                assert!(error["allowed"].is_string(), "{arg}: {error}");
            }
        }
    }
    let file = folder.raw("r", &["x"]);
    for confidence in ["0", "1", "95", "NaN", "-0.5", "x"] {
        let error = folder.fails(2, &["estimate", &file, "--confidence", confidence]);
        assert_eq!((error["argument"].as_str(), error["value"].as_str()), (Some("--confidence"), Some(confidence)));
        assert_eq!(error["allowed"], "0.000001 to 0.999999999999");
    }
    assert!(!folder.path("x.raw.dps").exists());
}

#[test]
fn wrong_usage_is_told_as_json_where_asked_for() {
    let folder = Folder::new();
    for args in [&["nonsense"][..], &["build"], &["estimate"], &["build", "a", "--out", "x.raw.dps", "--nonsense"]] {
        let error = folder.fails(2, args);
        assert!(error["message"].is_string() && error["hint"].is_string(), "{error}");
    }
    let run = folder.run(&["estimate", "--format=ndjson"]);
    assert!(run.stderr.starts_with('{'), "{}", run.stderr);
    let run = folder.run(&["estimate"]);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
}

#[test]
fn a_missing_column_is_told_with_those_that_are_there() {
    let folder = Folder::new();
    folder.write("a.csv", "User,age\nann,1\n");
    folder.write("a.jsonl", "{\"user\":\"ann\"}\n");
    folder.write("a.txt", "ann\n");
    let parquet = concat!(env!("CARGO_MANIFEST_DIR"), "/data/planes.parquet");
    for (file, column) in
        [("a.csv", "user"), ("a.csv", "nope"), ("a.jsonl", "nope"), ("a.txt", "nope"), (parquet, "nope")]
    {
        let error = folder
            .fails(2, &["build", file, "--column", column, "--input-format", format_of(file), "--out", "x.raw.dps"]);
        assert_eq!((error["kind"].as_str(), error["argument"].as_str()), (Some("column"), Some("--column")), "{file}");
        assert_eq!(error["value"], column);
    }
    let error = folder.fails(2, &["build", "a.csv", "--column", "user", "--out", "x.raw.dps"]);
    assert_eq!(error["allowed"], "one of the 2 names in the first line");
    assert!(error["hint"].as_str().unwrap().contains("but for upper and lower case"));
    let error = folder.fails(2, &["build", parquet, "--column", "TailNum", "--out", "x.raw.dps"]);
    assert!(error["allowed"].as_str().unwrap().contains("\"tailnum\""), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("did you mean \"tailnum\""), "{error}");
    let error = folder.fails(2, &["build", "a.csv", "--out", "x.raw.dps"]);
    assert!(error["message"].as_str().unwrap().contains("which one"));
    for column in ["user,user", "", "a,"] {
        folder.fails(2, &["build", "a.csv", "--column", column, "--out", "x.raw.dps"]);
    }
    assert!(!folder.path("x.raw.dps").exists());
}

fn format_of(file: &str) -> &'static str {
    match file.rsplit('.').next() {
        Some("csv") => "csv",
        Some("jsonl") => "ndjson",
        Some("parquet") => "parquet",
        _ => "lines",
    }
}

#[test]
fn damaged_data_is_told_by_line_and_never_shown() {
    let folder = Folder::new();
    for (name, content, line) in [
        ("a.txt", &b"ok\nok\nsecret\xff\n"[..], "line 3"),
        ("b.csv", b"user,n\nok,1\nsecret\xff,2\n", "line 3"),
        ("c.csv", b"user,n\nok,1\nsecret\n", "line 3"),
        ("d.csv", b"user,n\n\"ok\",1\n\"secret,2\n", "line 3"),
        ("e.csv", b"user,n\n\"o\nk\",1\nsecret,2,3\n", "line 4"),
        ("f.jsonl", b"{\"user\":1}\n\n{\"user\":secret}\n", "line 3"),
        ("g.jsonl", b"{\"user\":1}\n{\"user\":[\"secret\"]}\n", "line 2"),
        ("h.jsonl", b"[\"secret\"]\n", "line 1"),
        ("j.jsonl", b"\"secret\"\n", "line 1"),
        ("k.jsonl", b"{\"user\":1}\n\"secret 071\"\n", "line 2"),
        ("l.jsonl", b"{\"user\":1}\n4071\n", "line 2"),
        ("m.jsonl", b"{\"user\":1}\n\"se\\u0063ret\"\n", "line 2"),
        ("i.jsonl", b"{\"user\":1}{\"user\":2}\n", "line 1"),
    ] {
        folder.write(name, content);
        let column: &[&str] = if name == "a.txt" { &[] } else { &["--column", "user"] };
        let error = folder.fails(5, &[&["build", name, "--out", "x.raw.dps"], column].concat());
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(line) && message.contains(name), "{error}");
        assert!(!["secret", "071"].iter().any(|data| error.to_string().contains(data)), "{error}");
        assert!(error["hint"].is_string(), "{error}");
    }
    assert!(!folder.path("x.raw.dps").exists());
}

#[test]
fn cut_and_broken_packings_are_damaged() {
    let folder = Folder::new();
    let text = text_of((0..20_000).map(|line| format!("line {line}")));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let flipped = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        bytes
    };
    for (name, bytes) in [
        ("cut.gz", gz[..gz.len() / 2].to_vec()),
        ("cut-in-the-end.gz", gz[..gz.len() - 3].to_vec()),
        ("flipped.gz", flipped(&gz)),
        ("cut.zst", zst[..zst.len() / 2].to_vec()),
        ("flipped.zst", flipped(&zst)),
        ("grown.gz", [gz.as_slice(), b"garbage"].concat()),
    ] {
        folder.write(name, bytes);
        for threads in ["1", "3"] {
            let error = folder.fails(5, &["build", name, "--threads", threads, "--out", "x.raw.dps"]);
            assert_eq!(error["kind"], "damaged", "{name}: {error}");
        }
    }
    assert!(!folder.path("x.raw.dps").exists());
}

#[test]
fn cut_columnar_files_are_damaged() {
    let folder = Folder::new();
    let parquet = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/planes.parquet")).unwrap();
    for length in [4, 8, 11, 100, parquet.len() / 2, parquet.len() - 1] {
        folder.write("a.parquet", &parquet[..length]);
        folder.fails(5, &["build", "a.parquet", "--column", "tailnum", "--out", "x.raw.dps"]);
    }
    folder.write("a.arrow", b"ARROW1\0\0nonsense");
    folder.fails(5, &["build", "a.arrow", "--column", "x", "--out", "x.raw.dps"]);
    folder.write("a.arrows", b"\xff\xff\xff\xff\xff\xff\xff\x7f");
    folder.fails(5, &["build", "a.arrows", "--column", "x", "--out", "x.raw.dps"]);
    assert_eq!(folder.names(), ["a.arrow", "a.arrows", "a.parquet"]);
}

#[test]
fn columnar_formats_that_need_a_file_say_so() {
    let folder = Folder::new();
    let parquet = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/planes.parquet")).unwrap();
    let run = folder.run_with_input(&["build", "--column", "tailnum", "--out", "x.raw.dps", "--json"], &parquet);
    assert_eq!(run.code, 5);
    assert!(run.stderr.contains("save it to a file first"), "{}", run.stderr);
    folder.write("a.parquet.zst", zstd::encode_all(parquet.as_slice(), 1).unwrap());
    let error = folder.fails(5, &["build", "a.parquet.zst", "--column", "tailnum", "--out", "x.raw.dps"]);
    assert!(error["hint"].as_str().unwrap().contains("unpack"));
}

#[test]
fn a_record_without_an_end_does_not_fill_the_memory() {
    let folder = Folder::new();
    let long = vec![b'x'; 1 << 20];
    folder.write("a.txt", &long);
    folder.write("a.csv", [b"user\n\"", long.as_slice()].concat());
    for file in ["a.txt", "a.csv"] {
        let error = folder.fails(5, &["build", file, "--max-record", "512KiB", "--out", "x.raw.dps"]);
        assert_eq!(error["argument"], "--max-record", "{error}");
    }
    folder.ok(&["build", "a.txt", "--max-record", "1MiB", "--out", "x.raw.dps"]);
}

#[test]
fn missing_inputs_and_foreign_files_are_told_apart() {
    let folder = Folder::new();
    folder.write("notes.dps", "these are notes, no sketch\n");
    for args in [
        &["build", "no.csv", "--out", "x.raw.dps"][..],
        &["estimate", "no.dps"],
        &["merge", "no.dps", "no2.dps", "--out", "x.dps"],
        &["release", "no.raw.dps", "--epsilon", "1", "--out", "x.dps"],
    ] {
        assert_eq!(folder.fails(5, args)["kind"], "unreadable");
    }
    let error = folder.fails(5, &["estimate", "notes.dps"]);
    assert_eq!(error["kind"], "damaged");
    assert!(error["message"].as_str().unwrap().contains("not a dpsketch file"));
    assert_eq!(folder.names(), ["notes.dps"]);
}

#[test]
fn names_must_say_what_a_file_holds() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    for (epsilon, out, better) in [
        (None, "x.dps", "x.raw.dps"),
        (None, "x", "x.raw.dps"),
        (Some("1"), "x.raw.dps", "x.dps"),
        (Some("1"), "x.bin", "x.bin.dps"),
    ] {
        let epsilon = epsilon.map_or(vec![], |epsilon| vec!["--epsilon", epsilon]);
        let error = folder.fails(2, &[&["build", "a.txt", "--out", out], epsilon.as_slice()].concat());
        assert_eq!((error["argument"].as_str(), error["value"].as_str()), (Some("--out"), Some(out)));
        assert!(error["hint"].as_str().unwrap().contains(better), "{error}");
    }
    assert_eq!(folder.names(), ["a.txt"]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    folder.ok(&["key", "new", "k.key"]);
    folder.fails(2, &["build", "a.txt", "--hash", "presto", "--key-file", "k.key", "--out", "x.raw.dps"]);
    folder.fails(2, &["build", "-", "-", "--out", "x.raw.dps"]);
    folder.fails(2, &["estimate", "-", "-"]);
    folder.fails(2, &["release", "-", "--epsilon", "1", "--out", "x.dps"]);
    folder.fails(2, &["build", "a.txt", "--kind", "nonsense", "--out", "x.raw.dps"]);
}
