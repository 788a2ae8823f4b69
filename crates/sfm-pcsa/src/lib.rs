#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bit_cells;
mod bit_merge;
mod bloom;
mod boundaries;
mod channel;
mod coin;
mod counts;
pub mod diagnostics;
mod digest;
mod double_double;
#[cfg(test)]
mod enumeration;
mod error;
mod gate;
mod legions;
mod lineage;
mod linear;
mod merge;
mod murmur3;
mod noisy;
mod or_merge;
#[cfg(feature = "rayon")]
mod parallel;
mod params;
mod pcsa_cells;
mod private;
mod release;
mod sensitive;
#[cfg(feature = "serde")]
mod serde_impl;
mod shape;
mod sketch;
mod store;
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

pub use bloom::{BloomShape, BloomSketch, PrivateBloom};
pub use channel::ChannelError;
pub use error::{DecodeError, MergeError, ParamError, ReleaseError, UnionError};
pub use legions::{LegionsShape, LegionsSketch, PrivateLegions};
pub use lineage::{Leaf, LineageError, MAX_RELEASES, MergeForm, ReleaseId};
pub use linear::{LinearCountingSketch, LinearShape, PrivateLinearCounting};
pub use params::PcsaShape;
pub use pcsa_cells::PcsaCells;
pub use private::{PrivateBitmap, SfmSketch};
pub use release::Mechanism;
pub use sensitive::SensitiveBytes;
pub use shape::{BitmapShape, SketchShape};
pub use sketch::{PcsaSketch, RawBitmap};
pub use union::union_estimate;
pub use unit::Unit;
pub use wire_raw::raw_hash_id;
