use std::fs::{self, File};
use std::path::{Path, PathBuf};

use dp_noise::{Epsilon, NoiseRng, Permit};
use f0_sketch::NoiseRule;
use sfm_pcsa::{BitmapShape, Unit, looks_like_presto};

use crate::any::{AnySketch, with_sketch};
use crate::error::{Error, ErrorKind};
use crate::f0::{AnyF0Sketch, release_opened};
use crate::file_lock::{self, has_other_names, is_still_at, sync_folder};
use crate::output_file::{OutputFile, Readers};
use crate::raw::RecordedSketch;
use crate::sketch_file::{open, read_bytes};

/// Releases the sketch in a raw file, once: a bitmap, or an F0 sketch.
///
/// The file counts its releases. The count is raised and safely on disk before any noise is drawn, under a lock that only
/// one process can hold, so that two calls at the same time cannot both be the first. Without `again` only a file that was
/// never released is released.
///
/// # Errors
/// [`ErrorKind::Refused`] when the file was released before and `again` is false, when it is not raw, and when it is
/// no regular file or has other names (hard links), so that it cannot count;
/// [`ErrorKind::Unreadable`], [`ErrorKind::Damaged`] and [`ErrorKind::Io`] when the file cannot be read or its count not
/// be raised; [`ErrorKind::Parameter`] as [`RawSketch::check_release`](crate::RawSketch::check_release);
/// [`ErrorKind::Entropy`] without randomness.
///
/// # Privacy
/// Each release of the same data costs its own ε, and all of them add up. A copy of a raw file keeps a count of its own:
/// the count protects against mistakes, not against the owner of the data. A release that fails after the count was raised
/// stays counted.
pub fn release_raw_file(path: &Path, epsilon: Epsilon, again: bool) -> Result<AnySketch, Error> {
    release_raw_file_paid(path, epsilon, again, |_| Ok(Permit::standalone(epsilon)))
}

/// Releases the sketch in a raw file, once, with a permit for `epsilon` that `pay` gets, such as one from a
/// [`Ledger`](crate::Ledger); it is told whom the release will protect.
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
/// let epsilon = Epsilon::new(1.0)?;
/// let private = dpsketch::release_raw_file_paid(&path, epsilon, false, |unit| {
///     let (permit, paid) = ledger.spend_for("visits", epsilon, unit)?.permit();
///     receipt = Some(paid);
///     Ok(permit)
/// })?;
/// // Write the sketch to a file, then:
/// receipt.ok_or("unpaid")?.finish(private.leaves()[0].id())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn release_raw_file_paid(
    path: &Path,
    epsilon: Epsilon,
    again: bool,
    pay: impl FnOnce(Unit) -> Result<Permit<Epsilon>, Error>,
) -> Result<AnySketch, Error> {
    let mut noise = NoiseRng::from_os()?;
    let file = RawFile::open(path)?;
    with_sketch!(
        file.read()?,
        private => Err(not_raw(&file.name, &private.into())),
        raw => {
            let check = |raw: &RecordedSketch<_>| raw.check_release(epsilon);
            let (raw, permit) = file.count(raw, again, check, |raw, ()| pay(raw.unit()))?;
            Ok(raw.release_with(permit, &mut noise)?.into())
        },
        tally => Err(not_raw(&file.name, &tally.into())),
        sample => Err(not_raw(&file.name, &sample.into())),
        frequencies => Err(not_raw(&file.name, &frequencies.into())),
        f0 => match f0 {
            AnyF0Sketch::Raw(raw) => {
                let level = (epsilon, NoiseRule::Tight);
                Ok(AnyF0Sketch::from(release_opened(file, raw, level, again, pay, &mut noise)?).into())
            }
            private => Err(not_raw(&file.name, &private.into())),
        },
    )
}

/// Raw state that counts its releases.
pub(crate) trait CountsReleases {
    fn releases(&self) -> u32;
    fn record_release(&mut self) -> u32;
    fn to_file(&self) -> impl AsRef<[u8]>;
}

impl<S: BitmapShape> CountsReleases for RecordedSketch<S> {
    fn releases(&self) -> u32 {
        Self::releases(self)
    }

    fn record_release(&mut self) -> u32 {
        Self::record_release(self)
    }

    fn to_file(&self) -> impl AsRef<[u8]> {
        self.to_sensitive_bytes()
    }
}

/// A raw file that is locked.
pub(crate) struct RawFile {
    /// One name for all that follows, whatever links lead to it.
    path: PathBuf,
    pub(crate) name: String,
    lock: File,
}

impl RawFile {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let unreadable = |error| Error::reading(&name, error).argument("RAW");
        let path = path.canonicalize().map_err(unreadable)?;
        let metadata = fs::metadata(&path).map_err(unreadable)?;
        // Opening a pipe would wait for a writer, and nothing can be counted there. Opening a folder fails below.
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(not_a_file(&name));
        }
        let lock = lock(&path, &name)?;
        Ok(Self { path, name, lock })
    }

    /// What the file holds.
    pub(crate) fn read(&self) -> Result<AnySketch, Error> {
        let name = &self.name;
        let bytes = read_bytes(&self.lock, name)?;
        if looks_like_presto(&bytes) {
            return Err(not_counting(name));
        }
        AnySketch::from_bytes(&bytes).map_err(|error| error.prefixed(name).argument("RAW").value(name))
    }

    /// Has the raw state that the file holds checked and paid for, and raises its count of releases, in this order. When it
    /// returns, the count is on the disk and the noise may be drawn.
    pub(crate) fn count<R: CountsReleases, C, P>(
        self,
        mut raw: R,
        again: bool,
        check: impl FnOnce(&R) -> Result<C, Error>,
        pay: impl FnOnce(&R, C) -> Result<P, Error>,
    ) -> Result<(R, P), Error> {
        let Self { path, name, lock } = self;
        if raw.releases() > 0 && !again {
            return Err(released_before(&name, raw.releases()));
        }
        let checked = check(&raw)?;
        let output = OutputFile::create(&path, Readers::OwnerOnly).map_err(uncounted)?;
        let paid = pay(&raw, checked)?;
        raw.record_release();
        if !is_still_at(&lock, &path) {
            let moved = format!("{name} was moved or replaced meanwhile");
            return Err(uncounted(Error::new(ErrorKind::Io, moved).value(&name)));
        }
        output.commit(raw.to_file().as_ref()).map_err(uncounted)?;
        sync_folder(&path).map_err(|error| uncounted(Error::writing(&name, error)))?;
        drop(lock);
        Ok((raw, paid))
    }
}

fn uncounted(error: Error) -> Error {
    error.prefixed("the count of releases cannot be raised, so nothing was released").argument("RAW")
}

fn not_a_file(name: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("{name} is not a regular file, and only such a file counts its releases"))
        .argument("RAW")
        .value(name)
        .allowed("a raw sketch in a file")
        .hint("to release without a raw file, use `dpsketch build --epsilon`")
}

fn not_counting(name: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("{name} is a sketch of Presto's, which cannot count its releases"))
        .argument("RAW")
        .value(name)
        .allowed("a raw sketch in a .raw.dps file")
        .hint("make one with `dpsketch convert --to dpsketch`, and release that")
}

/// A file without the raw state that was asked for.
pub(crate) fn not_raw(name: &str, found: &AnySketch) -> Error {
    if found.is_raw() {
        return Error::new(ErrorKind::Refused, format!("{name} is a raw sketch of kind {}", found.kind()))
            .argument("RAW")
            .value(name)
            .hint("release it as one of that kind: what it costs depends on more than its epsilon");
    }
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

/// Opens the file and locks it.
fn lock(path: &Path, name: &str) -> Result<File, Error> {
    let unreadable = |error| Error::reading(name, error).argument("RAW");
    let busy = || {
        Error::new(ErrorKind::Io, format!("{name} is in use by another process"))
            .argument("RAW")
            .value(name)
            .hint("wait until the other release is done")
    };
    let file = file_lock::lock(path, || open(path)).map_err(unreadable)?.ok_or_else(busy)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(not_a_file(name));
    }
    if has_other_names(&metadata) {
        return Err(Error::new(ErrorKind::Refused, format!("{name} has a second name: a hard link"))
            .argument("RAW")
            .value(name)
            .hint("remove the other names: the count of releases is raised under one of them only"));
    }
    Ok(file)
}
