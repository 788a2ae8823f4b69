//! Releasing a raw file, once.

use std::path::Path;

use dp_noise::{Epsilon, NoiseRng, Permit};
use f0_sketch::NoiseRule;
use sfm_pcsa::Unit;

use super::any::{AnyF0Sketch, ReleasedF0Sketch};
use super::raw::RawF0Sketch;
use crate::any::AnySketch;
use crate::error::Error;
use crate::ledger::SpendReceipt;
use crate::raw_file::{CountsReleases, RawFile, not_raw};

/// Releases the F0 sketch in a raw file, once; the counterpart of [`release_raw_file`](crate::release_raw_file), with the same
/// rules, and with a choice of the noise.
///
/// # Errors
/// As [`release_raw_file`](crate::release_raw_file).
///
/// # Privacy
/// As [`release_raw_file`](crate::release_raw_file): every release costs its own ε, also of one file. In mode `presampled` a
/// further release looks at the coins of the earlier ones, which amplifies less; the file records the levels so far, and the
/// noise is made larger by what that takes, so that the ε of all releases of **one file** add up. A copy of the file, and a file
/// that it was merged into, know nothing of later releases: release one of them only.
pub fn release_f0_file(path: &Path, epsilon: Epsilon, rule: NoiseRule, again: bool) -> Result<ReleasedF0Sketch, Error> {
    release_f0_file_paid(path, epsilon, rule, again, |_| Ok(Permit::standalone(epsilon)))
}

/// Releases the F0 sketch in a raw file, once, with a permit for `epsilon` that `pay` gets, such as one from a
/// [`Ledger`](crate::Ledger); it is told whom the release will protect.
///
/// The order is that of [`release_raw_file_paid`](crate::release_raw_file_paid): checked, paid, counted on the disk, and only
/// then is noise drawn.
///
/// # Errors
/// As [`release_f0_file`], and whatever `pay` fails with.
///
/// # Privacy
/// As [`release_f0_file`].
///
/// # Examples
/// ```
/// # use dp_noise::{Amount, Epsilon};
/// # use dpsketch::f0_sketch::{F0Shape, NoiseRule};
/// # use dpsketch::{Currency, F0Builder, F0Terms, Ledger, LedgerTerms, OutputFile, Readers, TextRules};
/// # use sketch_hash::AnyHash;
/// # let folder = tempfile::tempdir()?;
/// # let (raw, _) = F0Builder::operations(F0Terms::unit(F0Shape::DEFAULT), AnyHash::default(), TextRules::default()).finish()?;
/// # let path = folder.path().join("site.raw.dps");
/// # OutputFile::create(&path, Readers::OwnerOnly)?.commit(&raw.to_sensitive_bytes())?;
/// let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("1")?)?;
/// let ledger = Ledger::create(&folder.path().join("site.ledger"), terms)?;
/// let mut receipt = None;
/// let epsilon = Epsilon::new(1.0)?;
/// let private = dpsketch::release_f0_file_paid(&path, epsilon, NoiseRule::Tight, false, |unit| {
///     let (permit, paid) = ledger.spend_for("visits", epsilon, unit)?.permit();
///     receipt = Some(paid);
///     Ok(permit)
/// })?;
/// // Write the sketch to a file, then:
/// receipt.ok_or("unpaid")?.finish_f0(private.leaves()[0].id())?;
/// assert_eq!(ledger.show()?.remaining().to_string(), "0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn release_f0_file_paid(
    path: &Path,
    epsilon: Epsilon,
    rule: NoiseRule,
    again: bool,
    pay: impl FnOnce(Unit) -> Result<Permit<Epsilon>, Error>,
) -> Result<ReleasedF0Sketch, Error> {
    let mut noise = NoiseRng::from_os()?;
    let file = RawFile::open(path)?;
    let raw = match file.read()? {
        AnySketch::F0(AnyF0Sketch::Raw(raw)) => raw,
        other => return Err(not_raw(&file.name, &other)),
    };
    release_opened(file, raw, (epsilon, rule), again, pay, &mut noise)
}

/// Releases what was read from an open file.
pub(crate) fn release_opened(
    file: RawFile,
    raw: RawF0Sketch,
    (epsilon, rule): (Epsilon, NoiseRule),
    again: bool,
    pay: impl FnOnce(Unit) -> Result<Permit<Epsilon>, Error>,
    noise: &mut NoiseRng,
) -> Result<ReleasedF0Sketch, Error> {
    raw.check_release(epsilon)?;
    let mut after = raw.clone();
    after.record_release(epsilon)?;
    let counting = Counting { before: raw, after };
    let (counting, permit) = file.count(counting, again, |_| Ok(()), |counting, ()| pay(counting.before.unit()))?;
    counting.before.release_with(rule, permit, noise)
}

/// A raw sketch, and what stands in its file once a release is counted: the noise is made for the releases before.
struct Counting {
    before: RawF0Sketch,
    after: RawF0Sketch,
}

impl CountsReleases for Counting {
    fn releases(&self) -> u32 {
        self.before.releases()
    }

    fn record_release(&mut self) -> u32 {
        self.after.releases()
    }

    fn to_file(&self) -> impl AsRef<[u8]> {
        self.after.to_sensitive_bytes()
    }
}

impl SpendReceipt {
    /// As [`finish`](Self::finish), for a release of an F0 sketch.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_f0(&self, release: f0_sketch::ReleaseId) -> Result<(), Error> {
        self.finish(sfm_pcsa::ReleaseId::from_bytes(release.to_bytes()))
    }
}
