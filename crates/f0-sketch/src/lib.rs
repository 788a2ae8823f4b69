#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod cell_share;
mod cells;
mod coins;
mod contrast;
pub mod diagnostics;
#[cfg(test)]
mod enumeration;
mod error;
mod estimate;
mod joint;
mod leaf;
mod merge;
mod mode;
mod name;
mod noise;
#[cfg(feature = "rayon")]
mod parallel;
mod plan;
mod prepared;
mod presampled;
mod private;
mod refused;
mod release;
mod sensitive;
#[cfg(feature = "serde")]
mod serde_impl;
mod set;
mod sets;
mod shape;
mod shared_noise;
mod sketch;
mod subsampled;
mod unit;
mod unseen;
mod weight;
mod wire;
mod wire_coins;
mod wire_raw;

pub use cardinality_estimators;
pub use dp_noise;
pub use sketch_hash;

pub use cell_share::CellShare;
pub use coins::{CoinId, MAX_COINS};
pub use error::{
    DecodeError, MergeError, ObserveError, ReleaseError, ShapeError, SharingError, WeightError, WeightFault,
};
pub use leaf::{Leaf, MAX_RELEASES, ReleaseId};
pub use mode::{Mode, ModeKind, Presampled, Set};
pub use noise::{NoiseRule, presampled_cost};
pub use plan::{F0Plan, PlanError, PlannedF0};
pub use prepared::PreparedRelease;
pub use private::PrivateF0Sketch;
pub use refused::Refused;
pub use sensitive::SensitiveBytes;
pub use sets::SketchPair;
pub use shape::{F0Shape, Table};
pub use shared_noise::SharedNoise;
pub use sketch::F0Sketch;
pub use subsampled::{
    RawSubsampledF0, SampleWriter, SubsampledDecodeError, SubsampledF0Release, SubsampledF0Sketch,
    SubsampledMergeError, subsampled_hash_id,
};
pub use unit::Unit;
pub use unseen::UnseenF0Sketch;
pub use weight::{MaxWeight, Weight, WeightRule};
pub use wire::peek_mode;
pub use wire_raw::raw_hash_id;
