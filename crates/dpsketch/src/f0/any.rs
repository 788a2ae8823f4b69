//! An F0 sketch of either state and mode.

use f0_sketch::{F0Shape, Leaf, ModeKind, Presampled, PrivateF0Sketch, Set, WeightRule, peek_mode};
use serde_json::Value;
use sfm_pcsa::Unit;
use sketch_hash::HashId;

use super::convert::unit_of;
use super::describe::{describe_private, describe_raw};
use super::raw::{RawF0Sketch, each_mode};
use crate::any_shape::AnyShape;
use crate::error::Error;
use crate::secret::SketchBytes;

/// An F0 sketch in either state, as a file holds it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyF0Sketch {
    /// Released.
    Private(ReleasedF0Sketch),
    /// Before noise.
    Raw(RawF0Sketch),
}

/// A released F0 sketch of either mode.
#[derive(Clone, Debug, PartialEq)]
pub enum ReleasedF0Sketch {
    /// Of an exact set.
    Set(PrivateF0Sketch<Set>),
    /// Of streams with repetitions.
    Presampled(PrivateF0Sketch<Presampled>),
}

impl ReleasedF0Sketch {
    /// Reads a private file.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) for anything that is no released F0 sketch,
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) for one whose noise came from a test generator.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(match peek_mode(bytes)? {
            ModeKind::Set => Self::Set(PrivateF0Sketch::from_bytes(bytes)?),
            ModeKind::Presampled => Self::Presampled(PrivateF0Sketch::from_bytes(bytes)?),
        })
    }

    /// The bytes of its file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        each_mode!(Self: self, sketch => sketch.to_bytes())
    }

    /// What was built: a set, or streams with repetitions.
    #[must_use]
    pub const fn mode(&self) -> ModeKind {
        match self {
            Self::Set(_) => ModeKind::Set,
            Self::Presampled(_) => ModeKind::Presampled,
        }
    }

    /// Levels and cells.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        each_mode!(Self: self, sketch => sketch.shape())
    }

    /// Whether items have weights, and up to which one.
    #[must_use]
    pub const fn weight_rule(&self) -> WeightRule {
        each_mode!(Self: self, sketch => sketch.weight_rule())
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        each_mode!(Self: self, sketch => sketch.hash_id())
    }

    /// The releases in it.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        each_mode!(Self: self, sketch => sketch.leaves())
    }

    /// Whom the releases protect, each unit once.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        let units = each_mode!(Self: self, sketch => sketch.units());
        units.into_iter().map(unit_of).collect()
    }

    /// How much of the signal is left: 1 without noise, the product over all releases.
    #[must_use]
    pub fn contrast(&self) -> f64 {
        each_mode!(Self: self, sketch => sketch.contrast())
    }

    /// The ε of this sketch if nothing else about its data is ever seen; see
    /// [`PrivateF0Sketch::epsilon_if_seen_alone`].
    #[must_use]
    pub fn epsilon_if_seen_alone(&self) -> Option<f64> {
        each_mode!(Self: self, sketch => sketch.epsilon_if_seen_alone())
    }
}

impl AnyF0Sketch {
    pub(crate) const KIND: &'static str = "f0";

    pub(crate) fn from_private_bytes(bytes: &[u8]) -> Result<Self, Error> {
        ReleasedF0Sketch::from_bytes(bytes).map(Self::Private)
    }

    pub(crate) fn from_raw_bytes(bytes: &[u8]) -> Result<Self, Error> {
        RawF0Sketch::from_sensitive_bytes(bytes).map(Self::Raw)
    }

    /// The bytes of its file. Those of a raw sketch are as sensitive as the data.
    #[must_use]
    pub fn to_bytes(&self) -> SketchBytes {
        match self {
            Self::Private(sketch) => SketchBytes::new(sketch.to_bytes()),
            Self::Raw(raw) => SketchBytes::copy_of(&raw.to_sensitive_bytes()),
        }
    }

    /// Whether this is state before noise.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        matches!(self, Self::Raw(_))
    }

    /// What was built: a set, or streams with repetitions.
    #[must_use]
    pub const fn mode(&self) -> ModeKind {
        match self {
            Self::Private(sketch) => sketch.mode(),
            Self::Raw(raw) => raw.mode(),
        }
    }

    /// Levels and cells.
    #[must_use]
    pub fn shape(&self) -> AnyShape {
        AnyShape::F0(self.f0_shape().clone())
    }

    pub(super) const fn f0_shape(&self) -> &F0Shape {
        match self {
            Self::Private(sketch) => sketch.shape(),
            Self::Raw(raw) => raw.shape(),
        }
    }

    /// Whether items have weights, and up to which one.
    #[must_use]
    pub const fn weight_rule(&self) -> WeightRule {
        match self {
            Self::Private(sketch) => sketch.weight_rule(),
            Self::Raw(raw) => raw.weight_rule(),
        }
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        match self {
            Self::Private(sketch) => sketch.hash_id(),
            Self::Raw(raw) => raw.hash_id(),
        }
    }

    /// Whom the releases protect, each unit once; of a raw sketch, whom a release will protect.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        match self {
            Self::Private(sketch) => sketch.units(),
            Self::Raw(raw) => vec![raw.unit()],
        }
    }

    pub(crate) fn describe(&self) -> Value {
        match self {
            Self::Private(sketch) => describe_private(sketch),
            Self::Raw(raw) => describe_raw(raw),
        }
    }
}

impl From<RawF0Sketch> for AnyF0Sketch {
    fn from(raw: RawF0Sketch) -> Self {
        Self::Raw(raw)
    }
}

impl From<ReleasedF0Sketch> for AnyF0Sketch {
    fn from(sketch: ReleasedF0Sketch) -> Self {
        Self::Private(sketch)
    }
}
