#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bit_merge;
mod channel;
mod coin;
mod counts;
pub mod diagnostics;
mod double_double;
#[cfg(test)]
mod enumeration;
mod error;
mod gate;
mod lineage;
mod merge;
mod murmur3;
mod noisy;
mod or_merge;
#[cfg(feature = "rayon")]
mod parallel;
mod params;
mod private;
mod release;
mod sensitive;
#[cfg(feature = "serde")]
mod serde_impl;
mod shape;
mod sketch;
mod table;
mod transpose;
mod union;
mod unit;
mod weight;
mod wire;
mod wire_raw;

pub use cardinality_estimators;
pub use dp_noise;
pub use sketch_hash;

pub use channel::ChannelError;
pub use error::{DecodeError, MergeError, ParamError, ReleaseError, UnionError};
pub use lineage::{Leaf, LineageError, MAX_RELEASES, MergeForm, ReleaseId};
pub use params::PcsaShape;
pub use private::{PrivateBitmap, SfmSketch};
pub use release::Mechanism;
pub use sensitive::SensitiveBytes;
pub use shape::{BitmapShape, SketchShape};
pub use sketch::PcsaSketch;
pub use union::union_estimate;
pub use unit::Unit;
pub use wire_raw::raw_hash_id;
