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
pub struct Folder(TempDir);

/// What a run of the program left behind.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).expect("a writable folder");
        name.to_owned()
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a readable folder");
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs the program in this folder.
    pub fn run(&self, args: &[&str]) -> Run {
        self.run_with_input(args, b"")
    }

    /// Runs the program in this folder, with `input` on its standard input.
    pub fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
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
    pub fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        run
    }

    /// Runs the program with `--json` and expects it to fail with `code`; the error object.
    pub fn fails(&self, code: i32, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--json"]].concat());
        assert_eq!(run.code, code, "{args:?}: {}", run.stderr);
        let line = run.stderr.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(line).unwrap_or_else(|fault| panic!("{fault}: {}", run.stderr));
        assert_eq!(error["code"], code);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        error
    }

    /// Builds a raw sketch of some lines.
    pub fn raw(&self, name: &str, lines: &[&str]) -> String {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let input = self.write(&format!("{name}.txt"), text);
        let out = format!("{name}.raw.dps");
        self.ok(&["build", &input, "--out", &out]);
        out
    }

    /// Builds and releases a sketch of `from..to` as lines.
    pub fn private(&self, name: &str, from: u32, to: u32, epsilon: &str) -> String {
        let text: String = (from..to).map(|line| format!("user {line}\n")).collect();
        let input = self.write(&format!("{name}.txt"), text);
        let out = format!("{name}.dps");
        self.ok(&["build", &input, "--epsilon", epsilon, "--out", &out]);
        out
    }
}

impl Run {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// The program, ready to be run in `folder`.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpsketch"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command
}

/// The bytes of a raw file with exactly these items, made by the sketch crate itself, item by item.
pub fn expected<'a>(items: impl IntoIterator<Item = Item<'a>>) -> Vec<u8> {
    let mut sketch = PcsaSketch::new(PcsaShape::DEFAULT, AnyHash::default());
    for item in items {
        sketch.update_item(&item);
    }
    sketch.to_sensitive_bytes().to_vec()
}

/// The bytes of a raw file with exactly these texts.
pub fn expected_texts(texts: &[&str]) -> Vec<u8> {
    expected(texts.iter().map(|text| Item::Text(text)))
}
