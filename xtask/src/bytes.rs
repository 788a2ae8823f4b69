//! Golden byte files: append-only, and reproduced by the independent scripts that wrote them.
//!
//! A crate whose `tests/golden` holds `generate.py` keeps files that this script, and one for samples if there is one, write
//! beside themselves. They are run in an empty folder, beside those of the other crates as in the sources, and what they
//! write there is compared with what is kept. That the product writes and reads the same bytes is for the crate's own tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::workspace::{Package, Workspace};

/// The scripts of a crate, in the order in which they run; the first is that of a crate which has byte files.
const SCRIPTS: [&str; 2] = ["generate.py", "generate_subsampled.py"];

/// What was found about the byte files of all crates.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    same: usize,
    written: usize,
    problems: Vec<String>,
}

/// Checks the byte files; with `bless`, writes those that do not exist yet. An existing file is never changed.
pub(crate) fn check(bless: bool) -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    if !process::works(Command::new("python3").arg("--version")) {
        eprintln!("SKIPPED (python3) golden byte files");
        return if bless { Err(Failure::Failed("python3 is needed to write byte files".to_owned())) } else { Ok(()) };
    }
    let mut found = Found::default();
    let written: Vec<&Package> =
        workspace.packages.iter().filter(|package| kept(package).join(SCRIPTS[0]).exists()).collect();
    let root = workspace.target_directory.join("golden");
    lay_out(&written, &root)?;
    for package in written {
        let fresh = generate(package, &root)?;
        compare(&kept(package), &fresh, bless, &mut found)?;
    }
    eprintln!("golden byte files: {} as generated, {} written", found.same, found.written);
    for problem in &found.problems {
        eprintln!("{problem}");
    }
    let count = found.problems.len();
    if count == 0 { Ok(()) } else { Err(Failure::Failed(format!("{count} golden byte files are not as generated"))) }
}

fn kept(package: &Package) -> PathBuf {
    package.folder.join("tests/golden")
}

fn fresh(package: &Package, root: &Path) -> PathBuf {
    root.join(&package.name).join("tests/golden")
}

/// Copies the scripts of all crates into empty folders.
fn lay_out(packages: &[&Package], root: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(root) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    for package in packages {
        let folder = fresh(package, root);
        std::fs::create_dir_all(&folder)?;
        for script in SCRIPTS.iter().filter(|script| kept(package).join(script).exists()) {
            std::fs::copy(kept(package).join(script), folder.join(script))?;
        }
    }
    Ok(())
}

/// Runs the scripts of a crate where they were laid out.
fn generate(package: &Package, root: &Path) -> Result<PathBuf, Failure> {
    let folder = fresh(package, root);
    for script in SCRIPTS.iter().filter(|script| folder.join(script).exists()) {
        process::output(Command::new("python3").args(["-B", script, "--write"]).current_dir(&folder))?;
    }
    Ok(folder)
}

fn compare(kept: &Path, fresh: &Path, bless: bool, found: &mut Found) -> Result<(), Failure> {
    let generated = names(fresh)?;
    for name in &generated {
        let (old, new) = (kept.join(name), fresh.join(name));
        if !old.exists() && bless {
            std::fs::copy(&new, &old)?;
            found.written += 1;
        } else if !old.exists() {
            found.problems.push(format!("{} is missing: `cargo xtask golden --bless` writes it", old.display()));
        } else if std::fs::read(&old)? == std::fs::read(&new)? {
            found.same += 1;
        } else {
            found.problems.push(format!("{} is not what its script writes; golden bytes never change", old.display()));
        }
    }
    let binary = |name: &&String| Path::new(name.as_str()).extension().is_some_and(|extension| extension == "bin");
    for orphan in names(kept)?.difference(&generated).filter(binary) {
        found.problems.push(format!("{} is written by no script", kept.join(orphan).display()));
    }
    Ok(())
}

fn names(folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().is_file() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    for script in SCRIPTS {
        names.remove(script);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of files for one test, empty at its start.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-bytes-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        for (file, content) in files {
            std::fs::write(folder.join(file), content).expect("the temporary folder can be written");
        }
        folder
    }

    fn compared(name: &str, kept: &[(&str, &str)], fresh: &[(&str, &str)], bless: bool) -> (Found, BTreeSet<String>) {
        let (kept, fresh) = (folder(&format!("{name}-kept"), kept), folder(&format!("{name}-fresh"), fresh));
        let mut found = Found::default();
        compare(&kept, &fresh, bless, &mut found).expect("the folders can be read");
        let left = names(&kept).expect("the folder can be read");
        for folder in [kept, fresh] {
            std::fs::remove_dir_all(folder).expect("the temporary folder can be removed");
        }
        (found, left)
    }

    #[test]
    fn a_changed_file_fails_even_when_blessed() {
        for bless in [false, true] {
            let (found, _) = compared(&format!("changed-{bless}"), &[("a.bin", "old")], &[("a.bin", "new")], bless);
            assert_eq!(found.problems.len(), 1);
            assert!(found.problems[0].contains("never change"), "{found:?}");
        }
    }

    #[test]
    fn a_new_file_is_written_only_when_blessed() {
        let (found, left) = compared("new", &[], &[("a.bin", "x")], false);
        assert!(left.is_empty() && found.problems.len() == 1, "{found:?}");
        let (found, left) = compared("blessed", &[], &[("a.bin", "x")], true);
        assert_eq!((found.written, left.len()), (1, 1));
        assert!(found.problems.is_empty(), "{found:?}");
    }

    #[test]
    fn a_file_that_no_script_writes_fails() {
        let (found, _) = compared("orphan", &[("a.bin", "x"), ("notes.json", "{}")], &[], false);
        assert_eq!(found.problems.len(), 1);
        assert!(found.problems[0].contains("no script"), "{found:?}");
    }
}
