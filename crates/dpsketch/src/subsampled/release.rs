//! Releasing a raw sketch of a sample, once.

use std::path::Path;

use dp_noise::{Epsilon, NoiseRng, Permit, RandomizedResponse, Sampling};
use f0_sketch::SubsampledF0Release;
use sfm_pcsa::{ReleaseId, SubsampledSfmRelease, Unit};

use super::any::{AnySubsampled, RawSubsampled};
use crate::any::AnySketch;
use crate::error::Error;
use crate::f0::unit_of;
use crate::raw_file::{CountsReleases, RawFile, not_raw};

/// A release of a secret sample as a ledger sees it: what it costs depends on what else was released under the key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRelease {
    id: Option<ReleaseId>,
    epsilon: Epsilon,
    unit: Unit,
    sampling: Sampling,
    level: f64,
}

impl SampleRelease {
    pub(crate) const fn new(epsilon: Epsilon, unit: Unit, sampling: Sampling, level: f64) -> Self {
        Self { id: None, epsilon, unit, sampling, level }
    }

    pub(super) fn of_sfm(release: &SubsampledSfmRelease, sampling: Sampling) -> Self {
        let (unit, level) = (release.unit(), cell_level(release.epsilon_if_key_known(), release.unit()));
        Self { id: Some(release.id()), ..Self::new(release.epsilon(), unit, sampling, level) }
    }

    pub(super) fn of_f0(release: &SubsampledF0Release, sampling: Sampling) -> Self {
        let unit = unit_of(release.unit());
        let level = cell_level(release.epsilon_if_key_known(), unit);
        let id = ReleaseId::from_bytes(release.id().to_bytes());
        Self { id: Some(id), ..Self::new(release.epsilon(), unit, sampling, level) }
    }

    /// The name of the release, once it is made.
    #[must_use]
    pub const fn id(&self) -> Option<ReleaseId> {
        self.id
    }

    /// ε of one unit, while the key is secret and if nothing else is released under it.
    #[must_use]
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// ε₀ of one unit, towards whoever knows the key.
    #[must_use]
    pub fn epsilon_if_key_known(&self) -> f64 {
        self.level * f64::from(self.unit.max_items())
    }

    /// Whom it protects.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// Rate and name of the key.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// ε₀ of one item: what [`loss_under_one_key`](dp_noise::loss_under_one_key) adds up.
    #[must_use]
    pub const fn level(&self) -> f64 {
        self.level
    }
}

/// ε₀ of one cell, as flips for that of a unit realise it.
fn cell_level(of_unit: Epsilon, unit: Unit) -> f64 {
    let share = Permit::standalone(of_unit).cost().divide(unit.max_items());
    share.map_or(of_unit.get(), |share| RandomizedResponse::symmetric(share).epsilon_upper().get())
}

/// Releases the sketch of a sample in a raw file, once; the counterpart of [`release_raw_file`](crate::release_raw_file).
///
/// # Errors
/// As [`release_raw_file`](crate::release_raw_file).
///
/// # Privacy
/// As [`RawSubsampled::release_paid`]. All releases under one key, of this file or of others, cost more than the sum of their ε.
pub fn release_subsampled_file(path: &Path, epsilon: Epsilon, again: bool) -> Result<AnySubsampled, Error> {
    release_subsampled_file_paid(path, epsilon, again, |_| Ok(Permit::standalone(epsilon)))
}

/// Releases the sketch of a sample in a raw file, once, with a permit for `epsilon` that `pay` gets, such as one from
/// [`Ledger::spend_sample`](crate::Ledger::spend_sample).
///
/// The order is that of [`release_raw_file_paid`](crate::release_raw_file_paid): checked, paid, counted on the disk, and only
/// then is noise drawn.
///
/// # Errors
/// As [`release_raw_file`](crate::release_raw_file), and whatever `pay` fails with.
///
/// # Privacy
/// As [`release_subsampled_file`].
pub fn release_subsampled_file_paid(
    path: &Path,
    epsilon: Epsilon,
    again: bool,
    pay: impl FnOnce(&SampleRelease) -> Result<Permit<Epsilon>, Error>,
) -> Result<AnySubsampled, Error> {
    let mut noise = NoiseRng::from_os()?;
    let file = RawFile::open(path)?;
    let raw = match file.read()? {
        AnySketch::Subsampled(AnySubsampled::Raw(raw)) => raw,
        other => return Err(not_raw(&file.name, &other)),
    };
    let mut after = raw.clone();
    after.record_release(epsilon)?;
    let counting = Counting { before: raw, after };
    let check = |counting: &Counting| counting.before.planned_release(epsilon);
    let (counting, permit) = file.count(counting, again, check, |_, planned| pay(&planned))?;
    counting.before.release_with(permit, &mut noise)
}

/// A raw sketch, and what stands in its file once a release is counted.
struct Counting {
    before: RawSubsampled,
    after: RawSubsampled,
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
