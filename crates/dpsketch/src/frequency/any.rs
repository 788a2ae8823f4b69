//! A frequency sketch of either state.

use countsketch_dp::PrivateCountSketch;
use serde_json::Value;
use sketch_hash::HashId;

use super::describe::{describe_prefixes, describe_private, describe_raw, describe_raw_prefixes};
use super::prefix::{RawPrefixStack, RecordedPrefixStack};
use super::raw::RawCountSketch;
use crate::any_shape::AnyShape;
use crate::error::Error;
use crate::secret::SketchBytes;

/// A CountSketch, or a stack of them for prefixes, in either state, as a file holds it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FrequencySketch {
    /// Released.
    Private(PrivateCountSketch),
    /// Before noise.
    Raw(RawCountSketch),
    /// A released stack of prefixes.
    Prefixes(RecordedPrefixStack),
    /// A stack of prefixes before noise.
    RawPrefixes(RawPrefixStack),
}

impl FrequencySketch {
    pub(crate) fn from_private_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self::Private(PrivateCountSketch::from_bytes(bytes)?))
    }

    pub(crate) fn from_raw_bytes(bytes: &[u8]) -> Result<Self, Error> {
        RawCountSketch::from_sensitive_bytes(bytes).map(Self::Raw)
    }

    pub(crate) fn from_prefix_bytes(bytes: &[u8]) -> Result<Self, Error> {
        RecordedPrefixStack::from_bytes(bytes).map(Self::Prefixes)
    }

    pub(crate) fn from_raw_prefix_bytes(bytes: &[u8]) -> Result<Self, Error> {
        RawPrefixStack::from_sensitive_bytes(bytes).map(Self::RawPrefixes)
    }

    /// The bytes of its file. Those of a raw sketch are as sensitive as the data.
    #[must_use]
    pub fn to_bytes(&self) -> SketchBytes {
        match self {
            Self::Private(sketch) => SketchBytes::new(sketch.to_bytes()),
            Self::Raw(raw) => SketchBytes::copy_of(&raw.to_sensitive_bytes()),
            Self::Prefixes(stack) => SketchBytes::new(stack.to_bytes()),
            Self::RawPrefixes(raw) => SketchBytes::copy_of(&raw.to_sensitive_bytes()),
        }
    }

    /// `countsketch`, or `prefix` for a stack.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Private(_) | Self::Raw(_) => "countsketch",
            Self::Prefixes(_) | Self::RawPrefixes(_) => "prefix",
        }
    }

    /// Whether this is state before noise.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        matches!(self, Self::Raw(_) | Self::RawPrefixes(_))
    }

    /// Rows and width, of a stack with its levels.
    #[must_use]
    pub fn shape(&self) -> AnyShape {
        match self {
            Self::Private(sketch) => AnyShape::CountSketch(sketch.shape()),
            Self::Raw(raw) => AnyShape::CountSketch(raw.shape()),
            Self::Prefixes(stack) => AnyShape::of_stack(stack.layout()),
            Self::RawPrefixes(raw) => AnyShape::of_stack(raw.layout()),
        }
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        match self {
            Self::Private(sketch) => sketch.hash_id(),
            Self::Raw(raw) => raw.hash_id(),
            Self::Prefixes(stack) => stack.hash_id(),
            Self::RawPrefixes(raw) => raw.hash_id(),
        }
    }

    pub(crate) fn describe(&self) -> Value {
        match self {
            Self::Private(sketch) => describe_private(sketch),
            Self::Raw(raw) => describe_raw(raw),
            Self::Prefixes(stack) => describe_prefixes(stack),
            Self::RawPrefixes(raw) => describe_raw_prefixes(raw),
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

impl From<RecordedPrefixStack> for FrequencySketch {
    fn from(stack: RecordedPrefixStack) -> Self {
        Self::Prefixes(stack)
    }
}

impl From<RawPrefixStack> for FrequencySketch {
    fn from(raw: RawPrefixStack) -> Self {
        Self::RawPrefixes(raw)
    }
}
