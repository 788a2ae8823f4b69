//! What a run of golden cases found.

use std::fmt;
use std::path::Path;

use super::compare::Mismatch;

/// Counts and a line for everything that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    passed: usize,
    failed: usize,
    lines: Vec<String>,
}

impl Report {
    /// Cases whose every field agrees.
    #[must_use]
    pub const fn passed(&self) -> usize {
        self.passed
    }

    /// Cases with a field that differs, and files that could not be read.
    #[must_use]
    pub const fn failed(&self) -> usize {
        self.failed
    }

    /// Whether nothing failed.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.failed == 0
    }

    pub(super) fn file(&mut self, path: &Path, reason: &str) {
        self.failed += 1;
        self.lines.push(format!("{}: {reason}", path.display()));
    }

    pub(super) fn case(&mut self, id: &str, reason: &str) {
        self.failed += 1;
        self.lines.push(format!("{id}: {reason}"));
    }

    pub(super) fn fields(&mut self, id: &str, mismatches: &[Mismatch]) {
        if mismatches.is_empty() {
            self.passed += 1;
            return;
        }
        self.failed += 1;
        let lines =
            mismatches.iter().map(|Mismatch { field, got, want }| format!("{id} {field}: got {got}, want {want}"));
        self.lines.extend(lines);
    }
}

impl fmt::Display for Report {
    /// A line for each failing field, and last `N passed, M failed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}
