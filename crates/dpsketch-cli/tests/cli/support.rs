//! Runs the program, and knows what a raw sketch should hold.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use dpsketch::sfm_pcsa::{PcsaShape, PcsaSketch};
use dpsketch::sketch_hash::{AnyHash, Item};
use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for one test.
pub(crate) struct Folder(TempDir);

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).expect("a writable folder");
        name.to_owned()
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a readable folder");
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs the program in this folder.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_with_input(args, b"")
    }

    /// Runs the program in this folder, with `input` on its standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = program(self.0.path())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // Not everybody reads to the end.
        let _ = stdin.write_all(input);
        drop(stdin);
        Run::of(child.wait_with_output().expect("the program ends"))
    }

    /// Runs the program and expects it to succeed.
    pub(crate) fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        run
    }

    /// Runs the program with `--json` and expects it to fail with `code`; the error object.
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--json"]].concat());
        assert_eq!(run.code, code, "{args:?}: {}", run.stderr);
        let line = run.stderr.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(line).unwrap_or_else(|fault| panic!("{fault}: {}", run.stderr));
        assert_eq!(error["code"], code);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        error
    }

    /// Builds a raw sketch of some lines.
    pub(crate) fn raw(&self, name: &str, lines: &[&str]) -> String {
        let input = self.write(&format!("{name}.txt"), text_of(lines));
        let out = format!("{name}.raw.dps");
        self.ok(&["build", &input, "--out", &out]);
        out
    }

    /// Builds and releases a sketch of `from..to` as lines.
    pub(crate) fn private(&self, name: &str, from: u32, to: u32, epsilon: &str) -> String {
        let input = self.write(&format!("{name}.txt"), text_of((from..to).map(|line| format!("user {line}"))));
        let out = format!("{name}.dps");
        self.ok(&["build", &input, "--epsilon", epsilon, "--out", &out]);
        out
    }
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Lines, each with its end.
pub(crate) fn text_of(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.as_ref());
        text.push('\n');
    }
    text
}

/// The program, ready to be run in `folder`.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpsketch"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command
}

/// The bytes of a raw file with exactly these items, made by the sketch crate itself, item by item.
pub(crate) fn expected<'a>(items: impl IntoIterator<Item = Item<'a>>) -> Vec<u8> {
    let mut sketch = PcsaSketch::new(PcsaShape::DEFAULT, AnyHash::default());
    for item in items {
        sketch.update_item(&item);
    }
    sketch.to_sensitive_bytes().to_vec()
}

/// The bytes of a raw file with exactly these texts.
pub(crate) fn expected_texts(texts: &[&str]) -> Vec<u8> {
    expected(texts.iter().map(|text| Item::Text(text)))
}
