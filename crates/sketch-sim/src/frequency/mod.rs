//! Simulation of private frequencies: build, release and query count sketches many times, beside other mechanisms.

mod data;
mod estimator;
mod run;
mod settings;
mod summary;

pub(crate) use data::Population;
pub use estimator::{Baseline, Estimator};
pub use run::{FrequencyError, simulate};
pub(crate) use run::{absolute_errors, hash_from, private_sketch};
pub use settings::{Data, Settings};
pub use summary::Summary;
pub(crate) use summary::{mean_and_std_error, quantile};

/// What one sketch answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answers {
    /// `answer − truth`, query by query.
    pub(crate) errors: Vec<f64>,
    /// Queries whose interval holds the truth.
    pub(crate) covered: u32,
    /// The mean of half the length of those intervals that have both ends.
    pub(crate) half_width: Option<f64>,
}
