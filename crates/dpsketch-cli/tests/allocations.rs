//! Memory grows with batches, never with rows.
//!
//! One test, alone in its program: what is measured is the whole process.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use sketch_testkit::{Allocations, CountingAllocator, measure_process};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Rows of the smaller file; the larger one has eight times as many.
const ROWS: usize = 250_000;
const TIMES: usize = 8;

/// Endings of the files, and bytes of a batch: of a block of text, of a page of Parquet.
const KINDS: [(&str, u64); 5] =
    [(".txt", 262_144), (".csv", 262_144), ("-quoted.csv", 262_144), (".jsonl", 262_144), (".parquet", 131_072)];

/// Rows of a Parquet row group and of a page.
const GROUP_ROWS: usize = 100_000;

fn write_text(path: &Path, header: &str, rows: usize, row: impl Fn(usize) -> String) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(header.as_bytes()).unwrap();
    for number in 0..rows {
        file.write_all(row(number).as_bytes()).unwrap();
    }
    file.flush().unwrap();
}

fn write_parquet(path: &Path, rows: usize) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(GROUP_ROWS)).build();
    let batch = |from: usize, to: usize| {
        let users: StringArray = (from..to).map(|number| Some(user(number))).collect();
        RecordBatch::try_from_iter([("user", Arc::new(users) as ArrayRef)]).unwrap()
    };
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch(0, 0).schema(), Some(properties)).unwrap();
    for from in (0..rows).step_by(10_000) {
        writer.write(&batch(from, rows.min(from + 10_000))).unwrap();
    }
    writer.close().unwrap();
}

fn user(number: usize) -> String {
    format!("user {:09}", number * 7919 % 1_000_000)
}

/// What building a sketch of `input` allocates, on one thread so that the number is the same every time.
fn build(folder: &Path, input: &str, more: &[&str]) -> Allocations {
    let path = |name: &str| folder.join(name).into_os_string();
    let mut args: Vec<OsString> = ["dpsketch", "build", "-q", "--epsilon", "1"].map(OsString::from).to_vec();
    args.extend(more.iter().map(OsString::from));
    args.extend([path(input), "--out".into(), path("out.dps")]);
    let (code, taken) = measure_process(|| dpsketch_cli::run(args));
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::SUCCESS), "{input}");
    taken
}

#[test]
fn allocations_grow_with_batches_and_never_with_rows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let long = ROWS * TIMES;
    for (name, rows) in [("short", ROWS), ("long", long)] {
        write_text(&folder.join(format!("{name}.txt")), "", rows, |number| format!("{}\n", user(number)));
        write_text(&folder.join(format!("{name}.csv")), "user,n\n", rows, |number| {
            format!("{},{number}\n", user(number))
        });
        write_text(&folder.join(format!("{name}-quoted.csv")), "user,n\n", rows, |number| {
            format!("\"{}\",{number}\n", user(number))
        });
        write_text(&folder.join(format!("{name}.jsonl")), "", rows, |number| {
            format!("{{\"user\":\"{}\"}}\n", user(number))
        });
        write_parquet(&folder.join(format!("{name}.parquet")), rows);
    }
    let mut alone: Vec<Allocations> = Vec::new();
    for threads in ["1", "2"] {
        for (position, (kind, batch_bytes)) in KINDS.into_iter().enumerate() {
            let mut more = vec!["--threads", threads];
            if kind != ".txt" {
                more.extend(["--column", "user"]);
            }
            // The first run of its kind also makes what is made once for the whole process.
            build(folder, &format!("short{kind}"), &more);
            let [short, long] = ["short", "long"].map(|name| build(folder, &format!("{name}{kind}"), &more));
            let bytes = |name: &str| fs::metadata(folder.join(format!("{name}{kind}"))).unwrap().len();
            let more_batches = (bytes("long") - bytes("short")).div_ceil(batch_bytes);
            let more_calls = long.count.saturating_sub(short.count);
            println!(
                "{kind}, {threads} thread(s): {ROWS} rows {short:?}, {TIMES} times as many {long:?}, {more_batches} more batches"
            );

            // A few dozen calls a batch at most; there are thousands of rows in one.
            assert!(more_calls <= 60 * more_batches, "{kind}: {more_calls} more calls for {more_batches} more batches");
            assert!(more_calls < (ROWS * (TIMES - 1) / 100) as u64, "{kind}: {more_calls} more calls grow with rows");
            // Eight times the rows need no more memory at a time. Of several threads any number may be busy at once, so
            // there the measure is what one thread needs, and some batches that wait.
            let enough = match threads {
                "1" => short.peak + short.peak / 8,
                _ => 2 * alone[position].peak + 8 * 262_144,
            };
            assert!(long.peak <= enough, "{kind}: peak {}, enough is {enough}", long.peak);
            if threads == "1" {
                alone.push(long);
            }
        }
    }
}
