#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod answer;
mod baseline;
mod bound;
mod calibrated;
mod combiner;
mod combiner_network;
mod decode;
mod error;
mod exposure;
mod granularity;
mod heavy;
mod holders;
mod interval;
mod interval_pool;
mod interval_resample;
mod kernel;
mod law;
mod law_density;
mod law_query;
mod leaf;
mod lineage;
mod linear;
mod noisy;
mod norm;
mod norm_inner;
#[cfg(feature = "rayon")]
mod parallel;
mod plan;
mod prefix;
mod private;
mod private_linear;
mod query;
mod query_error;
mod query_estimate;
mod release;
mod row_hash;
mod rows;
mod sensitive;
#[cfg(feature = "serde")]
mod serde_impl;
mod shape;
mod share;
mod sketch;
mod table;
pub mod theory;
mod top_up;
mod user;
mod weight;
mod wire;
mod wire_leaf;
mod wire_list;
mod wire_raw;

pub use cardinality_estimators;
pub use dp_noise;
pub use sketch_hash;

pub use baseline::{
    DenseVector, LocalCountMean, LocalReport, LocalShape, PrivateUnsignedSketch, PrivateVector, TotalWeight,
    UnsignedSketch,
};
pub use bound::ContributionBound;
pub use combiner::Combiner;
pub use decode::{DecodeOptions, Decoded, Threshold};
pub use error::{DecodeError, MergeError, ParamError, ReleaseError, UpdateError};
pub use exposure::{Exposure, GaussianTerms};
pub use granularity::Granularity;
pub use heavy::{HeavyHitter, HeavyHitters, HeavyRule};
pub use holders::NumberShare;
pub use interval::{IntervalMethod, QueryOptions};
pub use law::QueryLaw;
pub use law_query::LawFrequencies;
pub use leaf::{Guarantee, Leaf, NoiseLaw, PrivacyCost, ReleaseId};
pub use lineage::{LineageError, MAX_RELEASES};
pub use noisy::NoisyCountSketch;
pub use plan::{Plan, PlanError, Planner};
pub use prefix::{
    BudgetSplit, PrefixHit, PrefixHits, PrefixLayout, PrefixSearch, PrefixStack, PrivatePrefixStack, prefix_hash_id,
};
pub use private::PrivateCountSketch;
pub use query::PointReader;
pub use query_error::QueryError;
pub use query_estimate::Frequencies;
pub use rows::RowHashes;
pub use sensitive::SensitiveBytes;
pub use shape::CountSketchShape;
pub use share::{ShareSketch, ShareTerms};
pub use sketch::CountSketch;
pub use user::UserContribution;
pub use wire_raw::raw_hash_id;
