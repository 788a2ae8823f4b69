#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bound;
mod error;
mod granularity;
mod private;
mod rows;
mod shape;
mod sketch;
mod table;

pub use cardinality_estimators;
pub use dp_noise;
pub use sketch_hash;

pub use bound::ContributionBound;
pub use error::{MergeError, ParamError, UpdateError};
pub use granularity::Granularity;
pub use private::PrivateCountSketch;
pub use rows::RowHashes;
pub use shape::CountSketchShape;
pub use sketch::CountSketch;
