//! Opens inputs: files and standard input, packed or not.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use dpsketch::{Error, ErrorKind};
use flate2::bufread::GzDecoder;

use crate::paths::is_std;
use crate::progress::Progress;

/// The name of standard input on the command line.
pub(crate) const STDIN: &str = "-";

/// How many of the first bytes are looked at.
pub(crate) const PEEKED: usize = 8;

/// An input that was opened, unpacked and looked at.
pub(crate) struct Source {
    /// The name for messages.
    pub(crate) name: String,
    /// The file, unless it is standard input.
    pub(crate) path: Option<PathBuf>,
    /// Whether it was packed by gzip or zstd.
    pub(crate) packed: bool,
    /// The first bytes after unpacking, up to [`PEEKED`].
    pub(crate) head: Vec<u8>,
    /// All bytes after unpacking.
    pub(crate) reader: Box<dyn Read>,
}

impl Source {
    pub(crate) fn open(input: &Path, progress: &Progress) -> Result<Self, Error> {
        let (name, path) = if is_std(input) {
            ("standard input".to_owned(), None)
        } else {
            (input.display().to_string(), Some(input.to_owned()))
        };
        let failed = |error| Error::reading(&name, error).argument("INPUT");
        let raw: Box<dyn Read> = match &path {
            None => Box::new(io::stdin()),
            Some(path) => Box::new(open_file(path).map_err(failed)?),
        };
        let (packed_head, raw) = peek(progress.metered(raw)).map_err(failed)?;
        let unpacked = unpack(&packed_head, raw).map_err(failed)?;
        let packed = unpacked.is_packed;
        let (head, reader) = peek(unpacked.reader).map_err(failed)?;
        Ok(Self { name, path, packed, head, reader: Box::new(reader) })
    }

    /// The file itself, for formats that are read from their end.
    pub(crate) fn seekable(&self, format: &str) -> Result<&Path, Error> {
        let refuse = |what: &str, hint: &str| {
            Err(Error::new(ErrorKind::Unreadable, format!("{format} cannot be read from {what}"))
                .argument("INPUT")
                .value(&self.name)
                .allowed("a file on disk, not packed")
                .hint(hint))
        };
        match &self.path {
            _ if self.packed => refuse("a packed file", "unpack it first: the format is compressed inside"),
            None => refuse("standard input", "save it to a file first: the format is read from its end"),
            Some(path) if !path.is_file() => {
                refuse("a pipe", "save it to a file first: the format is read from its end")
            }
            Some(path) => Ok(path),
        }
    }
}

/// Opens a file for reading; a folder is an error at once, not at the first read.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The first bytes, and a reader that still gives all of them.
fn peek<R: Read>(mut reader: R) -> io::Result<(Vec<u8>, Whole<R>)> {
    let mut head = Vec::with_capacity(PEEKED);
    (&mut reader).take(PEEKED as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}

struct Unpacked {
    reader: Box<dyn Read>,
    is_packed: bool,
}

fn unpack(head: &[u8], raw: impl Read + 'static) -> io::Result<Unpacked> {
    const BUFFER: usize = 64 * 1024;
    let buffered = |raw| BufReader::with_capacity(BUFFER, raw);
    Ok(match head {
        [0x1f, 0x8b, ..] => Unpacked { reader: Box::new(Gzip::new(buffered(raw))), is_packed: true },
        // A frame of data, or one that is to be skipped, as some programs write it first.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            let decoder = zstd::stream::read::Decoder::with_buffer(buffered(raw))?;
            Unpacked { reader: Box::new(Zstd(decoder)), is_packed: true }
        }
        _ => Unpacked { reader: Box::new(raw), is_packed: false },
    })
}

/// The members of a gzip file, one after another, and zeros behind them, with which tapes and some programs fill up.
struct Gzip<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Gzip<R> {
    fn new(raw: R) -> Self {
        Self(Some(GzDecoder::new(raw)))
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(out)?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            let Some(mut raw) = self.0.take().map(GzDecoder::into_inner) else { break };
            self.0 = has_more_than_zeros(&mut raw)?.then(|| GzDecoder::new(raw));
        }
        Ok(0)
    }
}

/// Passes over zeros up to the end or to another byte.
fn has_more_than_zeros(raw: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = raw.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let more = zeros < bytes.len();
        raw.consume(zeros);
        if more {
            return Ok(true);
        }
    }
}

struct Zstd<R: BufRead>(zstd::stream::read::Decoder<'static, R>);

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // The library's own errors come as "other": whatever is wrong, it is the content.
        self.0.read(out).map_err(|error| match error.kind() {
            io::ErrorKind::Other => io::Error::new(io::ErrorKind::InvalidData, error),
            _ => error,
        })
    }
}

/// A file name without the ending of its packing.
pub(crate) fn unpacked_extension(path: &Path) -> Option<String> {
    let extension = |path: &Path| path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension(path)?.as_str() {
        "gz" | "zst" => extension(Path::new(path.file_stem()?)),
        other => Some(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_is_the_one_before_the_packing() {
        let of = |path: &str| unpacked_extension(Path::new(path));
        assert_eq!(of("a/b.csv").as_deref(), Some("csv"));
        assert_eq!(of("a/b.CSV.gz").as_deref(), Some("csv"));
        assert_eq!(of("b.tsv.zst").as_deref(), Some("tsv"));
        assert_eq!(of("b.gz"), None);
        assert_eq!(of("b"), None);
    }

    #[test]
    fn peeking_takes_nothing_away() {
        for text in ["", "abc", "0123456789"] {
            let (head, mut reader) = peek(text.as_bytes()).unwrap();
            assert_eq!(head, &text.as_bytes()[..text.len().min(PEEKED)]);
            let mut all = String::new();
            reader.read_to_string(&mut all).unwrap();
            assert_eq!(all, text);
        }
    }
}
