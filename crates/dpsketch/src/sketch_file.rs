use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sfm_pcsa::looks_like_presto;
use zeroize::Zeroizing;

use crate::any::AnySketch;
use crate::error::{Error, ErrorKind};
use crate::secret;

/// The version of the file format that is read and written.
pub const FORMAT_VERSION: u8 = sketch_wire::HEADER_VERSION;

/// The longest file that is read: no sketch is longer.
pub const MAX_FILE_LEN: u64 = 32 << 20;

/// In whose bytes a sketch is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileFormat {
    /// Ours, which names its hash and the releases in it.
    Dpsketch,
    /// That of Presto and Velox.
    Presto,
}

impl FileFormat {
    /// The word for it on the command line and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dpsketch => "dpsketch",
            Self::Presto => "presto",
        }
    }
}

/// A sketch that was read, and what its file was like.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SketchFile {
    /// The sketch.
    pub sketch: AnySketch,
    /// In whose bytes it was.
    pub format: FileFormat,
    /// The length of the file in bytes.
    pub bytes: usize,
}

/// Reads the sketch in a file.
///
/// # Errors
/// [`ErrorKind::Unreadable`] when it cannot be opened or read, [`ErrorKind::Damaged`] when it is no sketch.
pub fn read_sketch(path: &Path) -> Result<AnySketch, Error> {
    Ok(read_sketch_file(path)?.sketch)
}

/// Reads the sketch in a file, and in whose bytes it is.
///
/// # Errors
/// As [`read_sketch`].
pub fn read_sketch_file(path: &Path) -> Result<SketchFile, Error> {
    let name = path.display().to_string();
    let file = open(path).map_err(|error| Error::reading(&name, error).argument("FILE"))?;
    read_sketch_file_from(file, &name)
}

/// Reads a sketch from an open file or stream that `name` names in messages.
///
/// # Errors
/// As [`read_sketch`].
///
/// # Examples
/// ```
/// let error = dpsketch::read_sketch_from("no sketch at all".as_bytes(), "notes.txt").unwrap_err();
/// assert_eq!(error.kind(), dpsketch::ErrorKind::Damaged);
/// assert!(error.message().starts_with("notes.txt: "));
/// ```
pub fn read_sketch_from(reader: impl Read, name: &str) -> Result<AnySketch, Error> {
    Ok(read_sketch_file_from(reader, name)?.sketch)
}

/// Reads a sketch from an open file or stream that `name` names in messages, and in whose bytes it is.
///
/// # Errors
/// As [`read_sketch`].
pub fn read_sketch_file_from(reader: impl Read, name: &str) -> Result<SketchFile, Error> {
    let bytes = read_bytes(reader, name)?;
    let format = if looks_like_presto(&bytes) { FileFormat::Presto } else { FileFormat::Dpsketch };
    let sketch = AnySketch::from_bytes(&bytes).map_err(|error| error.prefixed(name).argument("FILE").value(name))?;
    Ok(SketchFile { sketch, format, bytes: bytes.len() })
}

pub(crate) fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

pub(crate) fn read_bytes(reader: impl Read, name: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let bytes = secret::read(reader, MAX_FILE_LEN);
    let bytes = bytes.map_err(|error| Error::reading(name, error).argument("FILE"))?;
    if bytes.len() as u64 > MAX_FILE_LEN {
        return Err(Error::new(ErrorKind::Damaged, format!("{name} is too long to be a sketch"))
            .argument("FILE")
            .value(name)
            .allowed(format!("at most {MAX_FILE_LEN} bytes"))
            .hint("name a .dps file made by dpsketch"));
    }
    Ok(bytes)
}

/// Checks that a name to write a sketch to says what it will hold: `.raw.dps` for a raw sketch, `.dps` for a private one.
///
/// # Errors
/// [`ErrorKind::Parameter`], with the name that would do.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use dpsketch::check_sketch_name;
///
/// assert!(check_sketch_name(Path::new("site.raw.dps"), true).is_ok());
/// assert!(check_sketch_name(Path::new("site.raw.dps"), false).is_err());
/// assert!(check_sketch_name(Path::new("site.txt"), false).is_err());
/// ```
pub fn check_sketch_name(path: &Path, raw: bool) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.strip_suffix(".dps");
    let is_raw = stem.is_some_and(|stem| stem.strip_suffix(".raw").is_some());
    if stem.is_some_and(|stem| !stem.is_empty()) && is_raw == raw {
        return Ok(());
    }
    let base = stem.map_or(name.as_str(), |stem| stem.strip_suffix(".raw").unwrap_or(stem));
    let (what, ending) = if raw { ("raw", ".raw.dps") } else { ("private", ".dps (not .raw.dps)") };
    let better = format!("{base}{}", if raw { ".raw.dps" } else { ".dps" });
    Err(Error::new(ErrorKind::Parameter, format!("{name:?} is not the name of a {what} sketch"))
        .argument("--out")
        .value(path.display().to_string())
        .allowed(format!("a name ending in {ending}"))
        .hint(format!("say --out {}", path.with_file_name(better).display())))
}
