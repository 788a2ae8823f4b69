//! Text as other programs write it: byte order marks, blank lines, other encodings, padded packings, awkward names.

use std::fs;

use crate::support::{Folder, Run, expected_texts, program, text_of};

#[test]
fn a_blank_line_in_a_file_of_one_column_is_an_empty_text() {
    let folder = Folder::new();
    for (name, text) in [
        ("lf.csv", "user\nann\n\nbob\n\n"),
        ("crlf.csv", "user\r\nann\r\n\r\nbob\r\n\r\n"),
        ("cr.csv", "user\rann\r\rbob\r\r"),
        ("quoted.csv", "user\n\"ann\"\n\n\"bob\"\n\"\"\n"),
    ] {
        folder.write(name, text);
        let run = folder.ok(&["build", name, "--out", "x.raw.dps"]);
        assert_eq!(folder.read("x.raw.dps"), expected_texts(&["ann", "", "bob"]), "{name}");
        assert!(run.stderr.contains("4 rows read, 0 with"), "{name}: {}", run.stderr);
        let run = folder.ok(&["build", name, "--null", "", "--out", "x.raw.dps"]);
        assert_eq!(folder.read("x.raw.dps"), expected_texts(&["ann", "bob"]), "{name}");
        assert!(run.stderr.contains("4 rows read, 2 with"), "{name}: {}", run.stderr);
    }
    folder.write("blank.csv", "\n\n");
    let run = folder.ok(&["build", "blank.csv", "--no-header", "--out", "x.raw.dps"]);
    assert!(run.stderr.contains("2 rows read"), "{}", run.stderr);
    assert_eq!(folder.read("x.raw.dps"), expected_texts(&[""]));
}

#[test]
fn a_byte_order_mark_is_one_only_at_the_start_of_a_file() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..40_000).map(|row| format!("\u{feff}user {row}")).collect();
    let texts: Vec<&str> = rows.iter().map(String::as_str).collect();
    // Far more than a block, so that many blocks start with a mark.
    folder.write(
        "a.csv",
        text_of(["\u{feff}user,n".to_owned()].into_iter().chain(rows.iter().map(|row| format!("{row},1")))),
    );
    folder.write("b.csv", text_of(["user".to_owned()].into_iter().chain(rows.iter().cloned())));
    for file in ["a.csv", "b.csv"] {
        for threads in ["1", "3"] {
            folder.ok(&["build", file, "--column", "user", "--threads", threads, "--out", "x.raw.dps"]);
            assert_eq!(folder.read("x.raw.dps"), expected_texts(&texts), "{file}");
        }
    }
}

#[test]
fn json_may_begin_with_a_byte_order_mark() {
    let folder = Folder::new();
    let input = "\u{feff}{\"user\":\"ann\"}\n{\"user\":\"bob\"}\n";
    let run = folder.run_with_input(&["build", "--column", "user", "--out", "x.raw.dps"], input.as_bytes());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(folder.read("x.raw.dps"), expected_texts(&["ann", "bob"]));
}

#[test]
fn utf16_is_refused_by_name() {
    let folder = Folder::new();
    let utf16 = |text: &str, mark: bool, little: bool| -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        let units = mark.into_iter().chain(text.encode_utf16());
        units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
    };
    for (name, text) in [("a.csv", "user,n\nann,1\n"), ("a.jsonl", "{\"user\":\"ann\"}\n"), ("a.txt", "ann\n")] {
        for (mark, little) in [(true, true), (true, false), (false, true), (false, false)] {
            folder.write(name, utf16(text, mark, little));
            let column: &[&str] = if name == "a.txt" { &[] } else { &["--column", "user"] };
            let error = folder.fails(5, &[&["build", name, "--out", "x.raw.dps"], column].concat());
            assert!(error["message"].as_str().unwrap().contains("UTF-16"), "{error}");
        }
    }
}

#[test]
fn packings_may_be_padded_and_have_frames_to_skip() {
    let folder = Folder::new();
    let (first, second) = ("ann\n", "bob\n");
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    let skipped = [&b"\x5a\x2a\x4d\x18\x04\0\0\0"[..], b"note"].concat();
    for (name, bytes) in [
        ("a.gz", [gzip(first), gzip(second)].concat()),
        ("b.gz", [gzip(first), gzip(second), vec![0; 100_000]].concat()),
        ("c.gz", [gzip(first), vec![0; 512], gzip(second)].concat()),
        ("a.zst", [skipped.clone(), zstd(first), zstd(second)].concat()),
        ("b.zst", [zstd(first), skipped.clone(), zstd(second), skipped].concat()),
    ] {
        folder.write(name, bytes);
        folder.ok(&["build", name, "--out", "x.raw.dps"]);
        assert_eq!(folder.read("x.raw.dps"), expected_texts(&["ann", "bob"]), "{name}");
    }
    folder.write("d.gz", [gzip(first), vec![0; 512], b"x".to_vec()].concat());
    assert_eq!(folder.fails(5, &["build", "d.gz", "--out", "x.raw.dps"])["kind"], "damaged");
}

#[test]
fn names_of_columns_with_commas_stand_in_quotes() {
    let folder = Folder::new();
    folder.write("a.csv", "\"last, first\",\"say \"\"x\"\"\"\nann,1\nbob,2\n");
    folder.ok(&["build", "a.csv", "--column", "\"last, first\"", "--out", "x.raw.dps"]);
    assert_eq!(folder.read("x.raw.dps"), expected_texts(&["ann", "bob"]));
    folder.ok(&["build", "a.csv", "--column", "\"say \"\"x\"\"\"", "--out", "x.raw.dps"]);
    assert_eq!(folder.read("x.raw.dps"), expected_texts(&["1", "2"]));
    folder.ok(&["build", "a.csv", "--column", "\"last, first\",\"say \"\"x\"\"\"", "--out", "x.raw.dps"]);
    let error = folder.fails(2, &["build", "a.csv", "--column", "\"last", "--out", "x.raw.dps"]);
    assert_eq!(error["argument"], "--column");
}

#[test]
fn a_first_line_that_may_be_data_is_never_shown() {
    let folder = Folder::new();
    folder.write("a.csv", "Smith,071\nJones,072\n");
    for column in [&[][..], &["--column", "user"], &["--column", "smith"], &["--column", "1"]] {
        for json in [&[][..], &["--json"]] {
            let run = folder
                .run(&[&["build", "a.csv", "--out", "x.raw.dps", "--input-format", "csv"], column, json].concat());
            assert_eq!(run.code, 2);
            assert!(!["Smith", "071"].iter().any(|data| run.stderr.contains(data)), "{}", run.stderr);
        }
    }
    let error = folder.fails(2, &["build", "a.csv", "--column", "user", "--no-header", "--out", "x.raw.dps"]);
    assert_eq!(error["allowed"], "1 to 2");
}

#[test]
fn a_system_without_room_for_threads_is_enough() {
    let folder = Folder::new();
    folder.write("a.txt", text_of((0..1000).map(|row| format!("user {row}"))));
    let rows: Vec<String> = (0..1000).map(|row| format!("user {row}")).collect();
    let texts: Vec<&str> = rows.iter().map(String::as_str).collect();
    // No thread can be given a stack of 2^60 bytes.
    let output = program(&folder.path(""))
        .env("RUST_MIN_STACK", (1_u64 << 60).to_string())
        .args(["build", "a.txt", "--threads", "8", "--out", "x.raw.dps"])
        .output()
        .unwrap();
    let run = Run::of(output);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(fs::read(folder.path("x.raw.dps")).unwrap(), expected_texts(&texts));
}
