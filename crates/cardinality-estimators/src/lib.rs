#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod asymptotic;
mod channel;
mod confidence;
pub mod diagnostics;
mod error;
mod estimate;
mod formula;
mod information;
mod interval;
mod layout;
mod legions;
mod level;
mod likelihood;
mod maximum;
mod number;
mod occupancy;
mod one_group;
mod one_step;
pub mod parity;
mod pattern;
mod product;
mod product_moments;
mod set_estimate;
mod solve;
mod status;

pub use answer::estimate;
pub use asymptotic::{asymptotic_information, asymptotic_rse};
pub use channel::BitChannel;
pub use confidence::Confidence;
pub use error::ParamError;
pub use estimate::Estimate;
pub use formula::SetFormula;
pub use information::predicted_rse;
pub use layout::CellLayout;
pub use legions::legions_probability;
pub use level::{CellGroup, LastLevel, LevelCounts};
pub use occupancy::{bloom_count, bloom_rate, linear_counting, linear_counting_private};
pub use one_step::{noise_floor, signed_one_step};
pub use pattern::PatternCounts;
pub use product::ProductStatistic;
pub use product_moments::ProductMoments;
pub use set_estimate::{jaccard, set_estimate};
pub use solve::Grid;
pub use status::Status;
