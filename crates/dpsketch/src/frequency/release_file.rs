//! Releasing a raw file, once.

use std::path::Path;

use countsketch_dp::{ContributionBound, PrivateCountSketch};
use dp_noise::{Neighbouring, NoiseRng, Permit, Rho};

use super::any::FrequencySketch;
use super::level::{FrequencyLevel, PricedRelease};
use super::prefix::{RawPrefixStack, RecordedPrefixStack};
use super::raw::RawCountSketch;
use super::release::Payment;
use crate::any::AnySketch;
use crate::error::Error;
use crate::raw_file::{CountsReleases, RawFile, not_raw};

/// Releases the frequency sketch in a raw file, once; the counterpart of [`release_raw_file`](crate::release_raw_file), with the same
/// rules.
///
/// # Errors
/// As [`release_raw_file`](crate::release_raw_file); [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for noise out of range.
///
/// # Privacy
/// As [`release_raw_file`](crate::release_raw_file) and [`RawCountSketch::release`].
pub fn release_frequency_file(
    path: &Path,
    level: FrequencyLevel,
    relation: Neighbouring,
    again: bool,
) -> Result<PrivateCountSketch, Error> {
    release_frequency_file_paid(path, level, relation, again, |priced| Payment::standalone(priced.cost()))
}

/// Releases the frequency sketch in a raw file, once, with a payment that `pay` gets, such as one from a
/// [`Ledger`](crate::Ledger); it is told the price.
///
/// The order is what makes it safe: the raw file is locked and checked, the noise is priced; `pay` spends; the count is
/// raised; only then is noise drawn. When `pay` refuses, the count stays as it was. A failure after `pay` leaves its spend
/// and, from then on, the count.
///
/// # Errors
/// As [`release_frequency_file`], and whatever `pay` fails with.
///
/// # Privacy
/// As [`release_frequency_file`].
///
/// # Examples
/// ```
/// # use dp_noise::{Amount, Neighbouring, Rho};
/// # use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
/// # use dpsketch::{Currency, CountSketchTerms, FrequencyBuilder, FrequencyLevel, Ledger, LedgerTerms};
/// # use dpsketch::{OutputFile, Readers, TextRules, release_frequency_file_paid};
/// # use sketch_hash::AnyHash;
/// # let folder = tempfile::tempdir()?;
/// # let terms = CountSketchTerms::records(CountSketchShape::new(3, 64)?, Granularity::ONE, 1)?;
/// # let raw = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?.finish()?;
/// # let path = folder.path().join("site.raw.dps");
/// # OutputFile::create(&path, Readers::OwnerOnly)?.commit(&raw.to_sensitive_bytes())?;
/// let terms = LedgerTerms::new(Currency::Rho, Amount::parse_total("1")?)?;
/// let ledger = Ledger::create(&folder.path().join("site.ledger"), terms)?;
/// let mut receipt = None;
/// let level = FrequencyLevel::Rho(Rho::new(0.25)?);
/// let private = release_frequency_file_paid(&path, level, Neighbouring::AddRemove, false, |priced| {
///     let (payment, paid) = ledger.spend_release("queries", priced)?.payment();
///     receipt = Some(paid);
///     Ok(payment)
/// })?;
/// // Write the sketch to a file, then:
/// receipt.ok_or("unpaid")?.finish_frequencies(private.leaves()[0].id())?;
/// assert_eq!(ledger.show()?.remaining().to_string(), "0.75");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn release_frequency_file_paid(
    path: &Path,
    level: FrequencyLevel,
    relation: Neighbouring,
    again: bool,
    pay: impl FnOnce(&PricedRelease) -> Result<Payment, Error>,
) -> Result<PrivateCountSketch, Error> {
    let mut noise = NoiseRng::from_os()?;
    let file = RawFile::open(path)?;
    let raw = match file.read()? {
        AnySketch::Frequencies(FrequencySketch::Raw(raw)) => raw,
        other => return Err(not_raw(&file.name, &other)),
    };
    let check = |raw: &RawCountSketch| level.price(raw.exposure(relation));
    let pay = |_: &RawCountSketch, priced: PricedRelease| pay(&priced).map(|payment| (priced, payment));
    let (raw, (priced, payment)) = file.count(raw, again, check, pay)?;
    raw.release_with(&priced, payment, &mut noise)
}

/// Releases the prefix stack in a raw file, once, with a permit for ρ that `pay` gets; it is told ρ and the bound.
///
/// The levels share ρ evenly. An (ε, δ) goes through zCDP; a pure ε is refused, as stacks have Gaussian noise.
///
/// # Errors
/// As [`release_frequency_file_paid`]; [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for a pure level.
///
/// # Privacy
/// As [`release_frequency_file`] and [`RawPrefixStack::release_paid`].
pub fn release_prefix_file_paid(
    path: &Path,
    level: FrequencyLevel,
    relation: Neighbouring,
    again: bool,
    pay: impl FnOnce(Rho, ContributionBound) -> Result<Permit<Rho>, Error>,
) -> Result<RecordedPrefixStack, Error> {
    let mut noise = NoiseRng::from_os()?;
    let file = RawFile::open(path)?;
    let raw = match file.read()? {
        AnySketch::Frequencies(FrequencySketch::RawPrefixes(raw)) => raw,
        other => return Err(not_raw(&file.name, &other)),
    };
    let check = |raw: &RawPrefixStack| {
        let rho = level.stack_rho()?;
        raw.check_release(relation, rho).map(|()| rho)
    };
    let (raw, permit) = file.count(raw, again, check, |raw, rho| pay(rho, raw.bound()))?;
    raw.release_with(relation, permit, &mut noise)
}

impl CountsReleases for RawCountSketch {
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
