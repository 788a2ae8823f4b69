//! Reading and writing sketch files by the names people give on the command line.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use dpsketch::{
    AnySketch, Error, ErrorKind, OutputFile, Readers, SketchFile, check_sketch_name, equal_raw_sets, read_sketch_file,
    read_sketch_file_from,
};

use crate::console::{Console, write_out};
use crate::input::STDIN;
use crate::paths::{at_most_one_stdin, is_std, shown};

/// Reads a sketch from a file, or from standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<AnySketch, Error> {
    Ok(read_file(path)?.sketch)
}

/// Reads a sketch, and what its file is like.
pub(crate) fn read_file(path: &Path) -> Result<SketchFile, Error> {
    if is_std(path) { read_sketch_file_from(io::stdin().lock(), "standard input") } else { read_sketch_file(path) }
}

/// Reads several sketches; raw ones are warned about once.
pub(crate) fn read_all(paths: &[PathBuf], console: Console) -> Result<Vec<(String, AnySketch)>, Error> {
    at_most_one_stdin(paths)?;
    let sketches: Vec<_> = paths.iter().map(|path| Ok((shown(path), read(path)?))).collect::<Result<_, Error>>()?;
    warn_about_raw(&sketches, console);
    Ok(sketches)
}

/// Warns once if some sketch is raw, and if two raw sets cancel.
pub(crate) fn warn_about_raw(sketches: &[(String, AnySketch)], console: Console) {
    if let Some((name, _)) = sketches.iter().find(|(_, sketch)| sketch.is_raw()) {
        console.warn(&format!("{name} is raw: what is read from it is not private"));
    }
    if let Some((first, second)) = equal_raw_sets(sketches) {
        console.warn(&format!("{first} and {second} hold the same set, and cancel: is one a copy of the other?"));
    }
}

/// Where a sketch will be written.
#[derive(Debug)]
pub(crate) enum Destination {
    Stdout,
    File(OutputFile),
}

impl Destination {
    /// Gets `out` ready, so that it shows before any work is done, or any privacy spent, that it cannot be written.
    pub(crate) fn open(out: &Path, raw: bool) -> Result<Self, Error> {
        let readers = if raw { Readers::OwnerOnly } else { Readers::Anyone };
        Self::ready(out, readers, |out| check_sketch_name(out, raw))
    }

    /// The same for a table, whose name must have one of these extensions.
    pub(crate) fn open_table(out: &Path, extensions: &[&str]) -> Result<Self, Error> {
        Self::ready(out, Readers::Anyone, |out| {
            let extension = out.extension().map(|extension| extension.to_string_lossy().to_lowercase());
            if extension.is_some_and(|extension| extensions.contains(&extension.as_str())) {
                return Ok(());
            }
            let listed = extensions.iter().map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(" or ");
            Err(Error::new(ErrorKind::Parameter, format!("{} is not the name of a table", out.display()))
                .argument("--out")
                .value(out.display().to_string())
                .allowed(format!("a name ending in {listed}")))
        })
    }

    fn ready(out: &Path, readers: Readers, check_name: impl FnOnce(&Path) -> Result<(), Error>) -> Result<Self, Error> {
        if is_std(out) {
            if io::stdout().is_terminal() {
                return Err(Error::new(ErrorKind::Parameter, "a sketch is not for a terminal")
                    .argument("--out")
                    .value(STDIN)
                    .hint("name a file, or send the output into a pipe"));
            }
            return Ok(Self::Stdout);
        }
        // Devices and pipes have the names they have.
        if !out.exists() || out.is_file() {
            check_name(out)?;
        }
        Ok(Self::File(OutputFile::create(out, readers).map_err(|error| error.argument_or("--out"))?))
    }

    /// Has `fill` write the content piece by piece; whether standard output is free for a report.
    pub(crate) fn write_with(
        self,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        match self {
            Self::Stdout => {
                let mut out = io::stdout();
                fill(&mut out)?;
                out.flush().map_err(|error| Error::writing("standard output", error)).map(|()| false)
            }
            Self::File(output) => {
                output.commit_with(|inner| fill(inner)).map(|()| true).map_err(|error| error.argument_or("--out"))
            }
        }
    }

    /// Writes the sketch; whether standard output is free for a report.
    pub(crate) fn write(self, sketch: &AnySketch) -> Result<bool, Error> {
        let bytes = sketch.to_bytes();
        match self {
            Self::Stdout => write_out(&bytes).map_err(undelivered).map(|()| false),
            Self::File(file) => {
                file.commit(&bytes).map(|()| true).map_err(|error| undelivered(error).argument_or("--out"))
            }
        }
    }
}

/// A report may end early; a sketch that nobody took is lost, and a release was paid for.
fn undelivered(error: Error) -> Error {
    if error.kind() != ErrorKind::BrokenPipe {
        return error;
    }
    Error::new(ErrorKind::Io, error.message())
        .hint("the reader of the sketch went away before its end")
        .caused_by(error)
}
