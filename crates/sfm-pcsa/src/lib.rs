#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bit_merge;
mod channel;
mod coin;
mod counts;
mod double_double;
mod error;
mod lineage;
mod merge;
mod params;
mod private;
mod release;
mod sketch;
mod table;
mod transpose;
mod wire;

pub use cardinality_estimators;
pub use dp_noise;
pub use sketch_hash;

pub use channel::{BooleanOp, ChannelError, OutputForm};
pub use error::{DecodeError, MergeError, ParamError, ReleaseError, UnionError};
pub use lineage::{Leaf, LineageError, MAX_RELEASES, MergeForm, ReleaseId};
pub use params::PcsaShape;
pub use private::SfmSketch;
pub use sketch::PcsaSketch;
pub use wire::raw_hash_id;
