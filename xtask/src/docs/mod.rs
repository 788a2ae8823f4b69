//! `docs`: the book with the API pages under `api/`, and the check of every link inside.

mod html;
mod markdown;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::setup;
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask docs [--check]

Builds the book from docs/ and the API pages of the shipped crates into target/site (API pages under api/), and fails on
a rustdoc warning or a link that leads nowhere.

Options:
  --check  build no site: rustdoc warnings of every library and the links of the Markdown files only (needs no mdbook)
";

pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    let only_check = args.flag("--check");
    args.finish()?;
    check_links()?;
    check_pages()?;
    if only_check {
        return Ok(());
    }
    let mdbook = setup::find("mdbook")
        .ok_or_else(|| Failure::Failed("mdbook is not installed; `cargo xtask setup` installs it".to_owned()))?;
    build_site(&mdbook)
}

/// Links of the Markdown files.
pub(crate) fn check_links() -> Result<(), Failure> {
    report(&markdown::broken_links(&process::root())?)
}

/// Rustdoc over every library with every feature; warnings are errors.
pub(crate) fn check_pages() -> Result<(), Failure> {
    rustdoc(&["--workspace".to_owned(), "--all-features".to_owned()])
}

/// The book and, under `api`, the pages of what is shipped, with its features but not the insecure one.
pub(crate) fn build_site(mdbook: &Path) -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let site = workspace.target_directory.join("site");
    remove(&site)?;
    let mut book = Command::new(mdbook);
    process::run(book.arg("build").arg(process::root().join("docs")).arg("--dest-dir").arg(&site))?;
    let pages = workspace.target_directory.join("doc");
    remove(&pages)?;
    rustdoc(&shipped_features(&workspace))?;
    copy(&pages, &site.join("api"))?;
    report(&html::broken_links(&site)?)?;
    process::say(&format!("{}", site.join("index.html").display()))
}

fn rustdoc(selection: &[String]) -> Result<(), Failure> {
    // Libraries only: the binary `dpsketch` and the library of the same name would write to the same pages.
    let mut command = process::cargo(["doc", "--quiet", "--no-deps", "--lib"]);
    process::run(command.args(selection).env("RUSTDOCFLAGS", "--deny warnings"))
}

/// Every feature of the default members save `hazmat`.
fn shipped_features(workspace: &Workspace) -> Vec<String> {
    let shipped = workspace.packages.iter().filter(|package| workspace.default_members.contains(&package.name));
    let features = shipped.flat_map(|package| {
        let names = package.features.keys().filter(|name| *name != "hazmat" && *name != "default");
        names.map(|name| format!("{}/{name}", package.name)).collect::<Vec<_>>()
    });
    vec!["--features".to_owned(), features.collect::<Vec<_>>().join(",")]
}

fn report(broken: &[String]) -> Result<(), Failure> {
    for line in broken {
        eprintln!("{line}");
    }
    if broken.is_empty() { Ok(()) } else { Err(Failure::Failed(format!("{} broken links", broken.len()))) }
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// Files below a folder whose names end in `extension`, without hidden folders, build output and vendored pages.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let skipped = name.starts_with('.') || ["target", "api", "node_modules"].contains(&name.as_ref());
            if !skipped {
                found.extend(files(&path, extension)?);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a link leads out of what is checked here.
fn is_outside(link: &str) -> bool {
    let scheme =
        link.split_once(':').is_some_and(|(head, _)| head.chars().all(|c| c.is_ascii_alphanumeric() || c == '+'));
    scheme || link.starts_with("//") || link.is_empty()
}
