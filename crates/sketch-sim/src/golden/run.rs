//! Running whole files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::compare::compare;
use super::report::Report;
use super::schema::{SCHEMAS, Schema};

/// Computes every case of the files, or only those of `kinds` when that is not empty.
///
/// An unknown schema, an unknown kind and an unreadable file are failures, never skipped. So is a name in `kinds` that
/// no schema knows.
#[must_use]
pub fn run(files: &[PathBuf], kinds: &[String]) -> Report {
    let mut report = Report::default();
    for kind in kinds.iter().filter(|kind| !is_known(kind)) {
        report.case(kind, "unknown kind");
    }
    for file in files {
        if let Err(reason) = run_file(file, kinds, &mut report) {
            report.file(file, &reason);
        }
    }
    report
}

fn is_known(kind: &str) -> bool {
    SCHEMAS.iter().any(|schema| schema.kinds.contains(&kind))
}

fn run_file(path: &Path, kinds: &[String], report: &mut Report) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let json: Value = serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}"))?;
    let schema = Schema::of(&json)?;
    let cases = (schema.cases)(&json)?;
    for case in cases.iter().filter(|case| kinds.is_empty() || kinds.contains(&case.kind)) {
        match (schema.compute)(case) {
            Ok(got) => {
                let got = got.with_absolute(&case.field_absolute);
                report.fields(&case.id, &compare(&case.expect, &got, case.tolerance));
            }
            Err(error) => report.case(&case.id, &format!("kind {}: {error}", case.kind)),
        }
    }
    Ok(())
}

/// The golden files of the workspace: `*_golden.json` in every crate's `tests/golden`.
///
/// # Errors
/// When a folder cannot be listed.
pub fn default_files(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    files_named(root, |name| name.ends_with("_golden.json"))
}

/// Files in any crate's `tests/golden` whose name is wanted, in order.
pub(super) fn files_named(root: &Path, wanted: impl Fn(&str) -> bool) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for member in std::fs::read_dir(root.join("crates"))? {
        let folder = member?.path().join("tests/golden");
        if !folder.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.file_name().and_then(|name| name.to_str()).is_some_and(&wanted) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
