//! Tells the program which commit it was built from, where there is one.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rustc-env=DPSKETCH_COMMIT={}", git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default());
    // The log of HEAD grows with every commit and checkout; a package from a registry has none.
    if let Some(log) =
        git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists())
    {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
