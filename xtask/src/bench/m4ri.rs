//! The program that times M4RI: benches/peers/m4ri/time.c, built where the library is there.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;
use crate::setup::m4ri_folder;

/// The program, built into `folder`; `None`, with a word why, where it cannot be.
///
/// The library is under the GPL. It is linked to this program only, which the comparison runs by itself.
pub(crate) fn program(folder: &Path) -> Option<PathBuf> {
    let built = folder.join("m4ri-time");
    let source = process::root().join("benches/peers/m4ri/time.c");
    let done = std::fs::create_dir_all(folder).is_ok() && process::works(&mut compiler(&source, &built));
    if !done {
        eprintln!("SKIPPED (libm4ri-dev): M4RI; `cargo xtask setup m4ri` fetches it, and a C compiler must be there");
    }
    done.then_some(built)
}

fn compiler(source: &Path, built: &Path) -> Command {
    let mut command = Command::new("cc");
    command.arg("-O2").arg("-o").arg(built).arg(source);
    if let Some(root) = m4ri_folder() {
        command.arg("-I").arg(root.join("usr/include"));
        for architecture in std::fs::read_dir(root.join("usr/lib")).into_iter().flatten().flatten() {
            command.arg("-L").arg(architecture.path());
        }
    }
    // The archive needs no other libraries for what is called here.
    command.args(["-l:libm4ri.a", "-lm"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_cannot_be_built_is_none() {
        assert_eq!(program(Path::new("/dev/null/no-such-folder")), None);
    }
}
