//! A sub-sampled sketch of any kind and state.

use cardinality_estimators::Confidence;
use dp_noise::{Epsilon, NoiseRng, Permit, Sampling};
use f0_sketch::{RawSubsampledF0, SubsampledF0Sketch, WeightRule};
use serde_json::Value;
use sfm_pcsa::{RawSubsampledPcsa, SubsampledSfmSketch, Unit};
use sketch_hash::{AnyHash, HashId};
use sketch_wire::Family;

use super::describe::{describe_f0, describe_raw, describe_sfm};
use super::release::SampleRelease;
use crate::any_shape::AnyShape;
use crate::error::Error;
use crate::f0::unit_of;
use crate::raw::RecordedHash;
use crate::secret::SketchBytes;

/// A sketch of a secret sample, as a file holds it.
///
/// It is released at ε towards whoever does not know the key of the sample, and at a larger ε₀ towards whoever does. A file states
/// rate, name of the key and both levels, and never the key.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnySubsampled {
    /// A released Sketch-Flip-Merge sketch.
    Sfm(SubsampledSfmSketch),
    /// A released F0 sketch of mode `set`.
    F0(SubsampledF0Sketch),
    /// Of either kind, before noise.
    Raw(RawSubsampled),
}

/// A raw sketch of a secret sample, as it is kept in a file: everything can be done with it but adding items.
///
/// # Privacy
/// As sensitive as the data. The key is not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct RawSubsampled(pub(super) RawKind);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum RawKind {
    Sfm(RawSubsampledPcsa<RecordedHash>),
    F0(RawSubsampledF0<RecordedHash>),
}

/// Does the same with a raw sketch of either kind.
macro_rules! either {
    ($raw:expr, $sketch:ident => $of_either:expr) => {
        match $raw {
            RawKind::Sfm($sketch) => $of_either,
            RawKind::F0($sketch) => $of_either,
        }
    };
}

impl RawSubsampled {
    /// Of what was built with a key at hand.
    pub(crate) fn of_sfm(raw: &RawSubsampledPcsa<AnyHash>) -> Result<Self, Error> {
        Self::from_sensitive_bytes(&raw.to_sensitive_bytes())
    }

    /// The same of an F0 sketch.
    pub(crate) fn of_f0(raw: &RawSubsampledF0<AnyHash>) -> Result<Self, Error> {
        Self::from_sensitive_bytes(&raw.to_sensitive_bytes())
    }

    /// Reads a raw file.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) for anything that is no raw sketch of a sample.
    pub fn from_sensitive_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let header = sketch_wire::peek(bytes).map_err(sfm_pcsa::SubsampledDecodeError::from)?;
        if header.family() == Family::F0_SUBSAMPLED_RAW {
            let hash = RecordedHash::new(f0_sketch::subsampled_hash_id(bytes)?);
            return Ok(Self(RawKind::F0(RawSubsampledF0::from_sensitive_bytes(bytes, hash)?)));
        }
        let hash = RecordedHash::new(sfm_pcsa::subsampled_hash_id(bytes)?);
        Ok(Self(RawKind::Sfm(RawSubsampledPcsa::from_sensitive_bytes(bytes, hash)?)))
    }

    /// The bytes of a raw file. As sensitive as the data.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> SketchBytes {
        either!(&self.0, raw => SketchBytes::copy_of(&raw.to_sensitive_bytes()))
    }

    /// Rate and name of the key.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        either!(&self.0, raw => raw.sampling())
    }

    /// How often this sample was released before.
    #[must_use]
    pub fn releases(&self) -> u32 {
        either!(&self.0, raw => raw.releases())
    }

    /// Whom a release will protect.
    #[must_use]
    pub fn unit(&self) -> Unit {
        match &self.0 {
            RawKind::Sfm(raw) => raw.unit(),
            RawKind::F0(raw) => unit_of(raw.unit()),
        }
    }

    /// What a release at `epsilon` is to a ledger.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) when the ε of an item is below the least, or ε₀ above the largest.
    pub fn planned_release(&self, epsilon: Epsilon) -> Result<SampleRelease, Error> {
        let level = either!(&self.0, raw => raw.inner_level(epsilon)?);
        Ok(SampleRelease::new(epsilon, self.unit(), self.sampling(), level))
    }

    /// What one unit will have lost through all releases of this sketch, after one more at `epsilon`: more than the sum of their ε.
    ///
    /// # Errors
    /// As [`planned_release`](Self::planned_release).
    pub fn loss_with(&self, epsilon: Epsilon) -> Result<f64, Error> {
        Ok(either!(&self.0, raw => raw.loss_with(epsilon)?))
    }

    /// Whether this is a set with something in it, and the other a copy: the two would cancel.
    fn is_copied_set(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (RawKind::F0(own), RawKind::F0(copy)) => {
                own == copy && own.estimate(Confidence::P95).value().is_some_and(|value| value > 0.0)
            }
            _ => false,
        }
    }

    pub(super) fn record_release(&mut self, epsilon: Epsilon) -> Result<u32, Error> {
        Ok(either!(&mut self.0, raw => raw.record_release(epsilon)?))
    }

    /// Adds the noise of ε₀ and gives up the raw sketch.
    ///
    /// # Errors
    /// As [`planned_release`](Self::planned_release), and [`ErrorKind::Entropy`](crate::ErrorKind::Entropy) without randomness.
    ///
    /// # Privacy
    /// ε-differentially private towards whoever does not know the key, then or later, and if nothing else is released under it;
    /// see [`SubsampleKey`](dp_noise::SubsampleKey).
    pub fn release_paid(self, permit: Permit<Epsilon>) -> Result<AnySubsampled, Error> {
        self.release_with(permit, &mut NoiseRng::from_os()?)
    }

    pub(super) fn release_with(self, permit: Permit<Epsilon>, noise: &mut NoiseRng) -> Result<AnySubsampled, Error> {
        Ok(match self.0 {
            RawKind::Sfm(raw) => AnySubsampled::Sfm(raw.release(permit, noise)?),
            RawKind::F0(raw) => AnySubsampled::F0(raw.release(permit, noise)?),
        })
    }
}

impl AnySubsampled {
    /// Reads the bytes of a file.
    pub(crate) fn from_bytes(bytes: &[u8], family: Family) -> Result<Self, Error> {
        Ok(match family {
            Family::SFM_SUBSAMPLED => Self::Sfm(SubsampledSfmSketch::from_bytes(bytes)?),
            Family::F0_SUBSAMPLED => Self::F0(SubsampledF0Sketch::from_bytes(bytes)?),
            _ => Self::Raw(RawSubsampled::from_sensitive_bytes(bytes)?),
        })
    }

    /// The bytes of its file. Those of a raw sketch are as sensitive as the data.
    #[must_use]
    pub fn to_bytes(&self) -> SketchBytes {
        match self {
            Self::Sfm(sketch) => SketchBytes::new(sketch.to_bytes()),
            Self::F0(sketch) => SketchBytes::new(sketch.to_bytes()),
            Self::Raw(raw) => raw.to_sensitive_bytes(),
        }
    }

    /// `sfm-subsampled` or `f0-subsampled`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Sfm(_) | Self::Raw(RawSubsampled(RawKind::Sfm(_))) => "sfm-subsampled",
            Self::F0(_) | Self::Raw(RawSubsampled(RawKind::F0(_))) => "f0-subsampled",
        }
    }

    /// Whether this is state before noise.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        matches!(self, Self::Raw(_))
    }

    /// Rate and name of the key.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        match self {
            Self::Sfm(sketch) => sketch.sampling(),
            Self::F0(sketch) => sketch.sampling(),
            Self::Raw(raw) => raw.sampling(),
        }
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> AnyShape {
        match self {
            Self::Sfm(sketch) => AnyShape::Bitmap(sketch.shape().into()),
            Self::F0(sketch) => AnyShape::F0(sketch.shape().clone()),
            Self::Raw(RawSubsampled(RawKind::Sfm(raw))) => AnyShape::Bitmap(raw.shape().into()),
            Self::Raw(RawSubsampled(RawKind::F0(raw))) => AnyShape::F0(raw.shape().clone()),
        }
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        match self {
            Self::Sfm(sketch) => sketch.hash_id(),
            Self::F0(sketch) => sketch.hash_id(),
            Self::Raw(raw) => either!(&raw.0, raw => raw.hash_id()),
        }
    }

    /// Whether items of a sketch of kind `f0-subsampled` have weights, and up to which; `None` of the other kind.
    #[must_use]
    pub const fn weight_rule(&self) -> Option<WeightRule> {
        match self {
            Self::F0(sketch) => Some(sketch.weight_rule()),
            Self::Raw(RawSubsampled(RawKind::F0(raw))) => Some(raw.weight_rule()),
            Self::Sfm(_) | Self::Raw(RawSubsampled(RawKind::Sfm(_))) => None,
        }
    }

    /// Whom the releases protect, each unit once; of a raw sketch, whom a release will protect.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        match self {
            Self::Sfm(sketch) => sketch.sampled().units(),
            Self::F0(sketch) => sketch.sampled().units().into_iter().map(unit_of).collect(),
            Self::Raw(raw) => vec![raw.unit()],
        }
    }

    /// The releases in it, as a ledger sees them. None of a raw sketch.
    #[must_use]
    pub fn releases(&self) -> Vec<SampleRelease> {
        match self {
            Self::Sfm(sketch) => {
                let sampling = sketch.sampling();
                sketch.releases().map(|release| SampleRelease::of_sfm(&release, sampling)).collect()
            }
            Self::F0(sketch) => {
                let sampling = sketch.sampling();
                sketch.releases().map(|release| SampleRelease::of_f0(&release, sampling)).collect()
            }
            Self::Raw(_) => Vec::new(),
        }
    }

    /// Whether both are raw copies of one set that is not empty.
    pub(crate) fn is_copied_set(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Raw(own), Self::Raw(copy)) if own.is_copied_set(copy))
    }

    pub(crate) fn describe(&self) -> Value {
        match self {
            Self::Sfm(sketch) => describe_sfm(sketch),
            Self::F0(sketch) => describe_f0(sketch),
            Self::Raw(raw) => describe_raw(raw),
        }
    }
}
