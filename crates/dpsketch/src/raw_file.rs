use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dp_noise::{Epsilon, NoiseRng, Permit};
use sfm_pcsa::{SfmSketch, looks_like_presto};

use crate::any::AnySketch;
use crate::error::{Error, ErrorKind};
use crate::output_file::{OutputFile, Readers};
use crate::raw::RawSketch;
use crate::sketch_file::{open, read_bytes};

/// How long another process may hold a raw file.
const PATIENCE: Duration = Duration::from_secs(10);

/// Releases the sketch in a raw file, once.
///
/// The file counts its releases. The count is raised and safely on disk before any noise is drawn, under a lock that only
/// one process can hold, so that two calls at the same time cannot both be the first. Without `again` only a file that was
/// never released is released.
///
/// # Errors
/// [`ErrorKind::Refused`] when the file was released before and `again` is false, or when the file is not raw;
/// [`ErrorKind::Unreadable`], [`ErrorKind::Damaged`] and [`ErrorKind::Io`] when the file cannot be read or its count not
/// be raised; [`ErrorKind::Entropy`] without randomness.
///
/// # Privacy
/// Each release of the same data costs its own ε, and all of them add up. A copy of a raw file keeps a count of its own:
/// the count protects against mistakes, not against the owner of the data. A release that fails after the count was raised
/// stays counted.
pub fn release_raw_file(path: &Path, epsilon: Epsilon, again: bool) -> Result<SfmSketch, Error> {
    release_raw_file_paid(path, again, || Ok(Permit::standalone(epsilon)))
}

/// Releases the sketch in a raw file, once, with a permit that `pay` gets, such as one from a [`Ledger`](crate::Ledger).
///
/// The order is what makes it safe: the raw file is locked and checked; `pay` spends; the count is raised; only then is
/// noise drawn. When `pay` refuses, the count stays as it was, and nothing else has happened. A failure after `pay` leaves
/// its spend and, from then on, the count: both err on the side of the people in the data.
///
/// # Errors
/// As [`release_raw_file`], and whatever `pay` fails with.
///
/// # Privacy
/// As [`release_raw_file`].
///
/// # Examples
/// ```
/// # use dp_noise::{Amount, Epsilon};
/// # use sfm_pcsa::PcsaShape;
/// # use sketch_hash::AnyHash;
/// # use dpsketch::{Currency, DistinctBuilder, Ledger, LedgerTerms, OutputFile, RawSketch, Readers, TextRules};
/// # let folder = tempfile::tempdir()?;
/// # let raw = RawSketch::try_from(DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default()))?;
/// # let path = folder.path().join("site.raw.dps");
/// # OutputFile::create(&path, Readers::OwnerOnly)?.commit(raw.to_sensitive_bytes().as_ref())?;
/// let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("1")?)?;
/// let ledger = Ledger::create(&folder.path().join("site.ledger"), terms)?;
/// let mut receipt = None;
/// let private = dpsketch::release_raw_file_paid(&path, false, || {
///     let (permit, paid) = ledger.spend("visits", Epsilon::new(1.0)?)?.permit();
///     receipt = Some(paid);
///     Ok(permit)
/// })?;
/// // Write the sketch to a file, then:
/// receipt.ok_or("unpaid")?.finish(private.leaves()[0].id())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn release_raw_file_paid(
    path: &Path,
    again: bool,
    pay: impl FnOnce() -> Result<Permit<Epsilon>, Error>,
) -> Result<SfmSketch, Error> {
    let name = path.display().to_string();
    let mut noise = NoiseRng::from_os()?;
    let lock = lock(path, &name)?;
    let bytes = read_bytes(&lock, &name)?;
    if looks_like_presto(&bytes) {
        return Err(not_counting(&name));
    }
    let mut raw =
        match AnySketch::from_bytes(&bytes).map_err(|error| error.prefixed(&name).argument("RAW").value(&name))? {
            AnySketch::SfmRaw(raw) => raw,
            AnySketch::Sfm(_) => return Err(not_raw(&name)),
        };
    if raw.releases() > 0 && !again {
        return Err(released_before(&name, raw.releases()));
    }
    let permit = pay()?;
    raise_count(path, &mut raw)?;
    drop(lock);
    raw.release_with(permit, &mut noise)
}

fn raise_count(path: &Path, raw: &mut RawSketch) -> Result<(), Error> {
    raw.record_release();
    OutputFile::create(path, Readers::OwnerOnly)
        .and_then(|file| file.commit(raw.to_sensitive_bytes().as_ref()))
        .map_err(|error| {
            error.prefixed("the count of releases cannot be raised, so nothing was released").argument("RAW")
        })
}

fn not_counting(name: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("{name} is a sketch of Presto's, which cannot count its releases"))
        .argument("RAW")
        .value(name)
        .allowed("a raw sketch in a .raw.dps file")
        .hint("make one with `dpsketch convert --to dpsketch`, and release that")
}

fn not_raw(name: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("{name} is a private sketch: it was released already"))
        .argument("RAW")
        .value(name)
        .allowed("a raw sketch")
        .hint("use the file as it is")
}

fn released_before(name: &str, releases: u32) -> Error {
    let times = if releases == 1 { "once".to_owned() } else { format!("{releases} times") };
    Error::new(
        ErrorKind::Refused,
        format!("{name} was released {times} before, and another release costs its epsilon again"),
    )
    .argument("RAW")
    .value(name)
    .hint("use the sketch that was released, or say --again and add up the epsilons")
}

/// Opens the file and locks it. The lock is on the very file that `path` names once it is held: raising the count puts a
/// new file in the old one's place, so whoever waited for the old one must look again.
fn lock(path: &Path, name: &str) -> Result<File, Error> {
    let start = Instant::now();
    let unreadable = |error| Error::reading(name, error).argument("RAW");
    loop {
        let file = open(path).map_err(unreadable)?;
        match file.try_lock() {
            Ok(()) if is_still_at(&file, path).map_err(unreadable)? => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                return Err(Error::new(ErrorKind::Io, format!("{name} is in use by another process"))
                    .argument("RAW")
                    .value(name)
                    .hint("wait until the other release is done"));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(error)) => return Err(unreadable(error)),
        }
    }
}

#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (held, named) = (file.metadata()?, path.metadata()?);
    Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "an open file cannot be replaced there")]
fn is_still_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}
