#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bit_cells;
mod bit_merge;
mod bloom;
mod boolean;
mod boundaries;
mod cell_share;
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
mod leaf;
mod legions;
mod lineage;
mod linear;
mod merge;
mod murmur3;
mod noisy;
mod or_merge;
mod pair;
#[cfg(feature = "rayon")]
mod parallel;
mod params;
mod patterns;
mod pcsa_cells;
mod presto;
mod private;
mod release;
mod sensitive;
#[cfg(feature = "serde")]
mod serde_impl;
mod sets;
mod shape;
mod sketch;
mod store;
mod subsampled;
mod symmetrise;
mod table;
mod tally;
mod thin;
mod transpose;
mod union;
mod unit;
mod unseen;
mod weight;
mod wire;
mod wire_raw;

pub use cardinality_estimators;
pub use dp_noise;
pub use sketch_hash;

pub use bloom::{BloomShape, BloomSketch, PrivateBloom};
pub use boolean::NoisyCells;
pub use cell_share::CellShare;
pub use channel::ChannelError;
pub use error::{DecodeError, MergeError, ParamError, ReleaseError, UnionError};
pub use gate::{BooleanOp, OutputForm};
pub use leaf::{Leaf, ReleaseId};
pub use legions::{LegionsShape, LegionsSketch, PrivateLegions};
pub use lineage::{LineageError, MAX_RELEASES, MergeForm};
pub use linear::{LinearCountingSketch, LinearShape, PrivateLinearCounting};
pub use params::PcsaShape;
pub use pcsa_cells::PcsaCells;
pub use presto::{PrestoDecodeError, PrestoEncodeError, PrestoHeader, looks_like_presto};
pub use private::{PrivateBitmap, SfmSketch};
pub use release::Mechanism;
pub use sensitive::SensitiveBytes;
pub use sets::{jaccard_estimate, pattern_counts, set_estimate};
pub use shape::{BitmapShape, SketchShape};
pub use sketch::{PcsaSketch, RawBitmap};
pub use subsampled::{
    RawSubsampledPcsa, SampleWriter, SubsampledDecodeError, SubsampledMergeError, SubsampledSfmRelease,
    SubsampledSfmSketch, subsampled_hash_id, subsampled_union_estimate,
};
pub use tally::{SfmTally, TallyError, TallyFault, group_counts, sketch_group_counts, tally_counts, tally_of};
pub use union::union_estimate;
pub use unit::Unit;
pub use unseen::{UnseenBitmap, UnseenSfmSketch};
pub use wire_raw::raw_hash_id;
