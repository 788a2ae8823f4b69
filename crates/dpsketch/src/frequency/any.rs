//! A frequency sketch of either state.

use countsketch_dp::PrivateCountSketch;
use serde_json::Value;
use sketch_hash::HashId;

use super::describe::{describe_private, describe_raw};
use super::raw::RawCountSketch;
use crate::any_shape::AnyShape;
use crate::error::Error;
use crate::secret::SketchBytes;

/// A CountSketch in either state, as a file holds it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FrequencySketch {
    /// Released.
    Private(PrivateCountSketch),
    /// Before noise.
    Raw(RawCountSketch),
}

impl FrequencySketch {
    pub(crate) fn from_private_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self::Private(PrivateCountSketch::from_bytes(bytes)?))
    }

    pub(crate) fn from_raw_bytes(bytes: &[u8]) -> Result<Self, Error> {
        RawCountSketch::from_sensitive_bytes(bytes).map(Self::Raw)
    }

    /// The bytes of its file. Those of a raw sketch are as sensitive as the data.
    #[must_use]
    pub fn to_bytes(&self) -> SketchBytes {
        match self {
            Self::Private(sketch) => SketchBytes::new(sketch.to_bytes()),
            Self::Raw(raw) => SketchBytes::copy_of(&raw.to_sensitive_bytes()),
        }
    }

    /// `countsketch`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        "countsketch"
    }

    /// Whether this is state before noise.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        matches!(self, Self::Raw(_))
    }

    /// Rows and width.
    #[must_use]
    pub const fn shape(&self) -> AnyShape {
        AnyShape::CountSketch(match self {
            Self::Private(sketch) => sketch.shape(),
            Self::Raw(raw) => raw.shape(),
        })
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        match self {
            Self::Private(sketch) => sketch.hash_id(),
            Self::Raw(raw) => raw.hash_id(),
        }
    }

    pub(crate) fn describe(&self) -> Value {
        match self {
            Self::Private(sketch) => describe_private(sketch),
            Self::Raw(raw) => describe_raw(raw),
        }
    }
}

impl From<PrivateCountSketch> for FrequencySketch {
    fn from(sketch: PrivateCountSketch) -> Self {
        Self::Private(sketch)
    }
}

impl From<RawCountSketch> for FrequencySketch {
    fn from(raw: RawCountSketch) -> Self {
        Self::Raw(raw)
    }
}
