//! Estimators for parity sketches: cells that hold the parity of the items that fell into them, seen through noise.
//!
//! Such a sketch is linear over GF(2): the xor of two is the sketch of the symmetric difference. \[PS21\] releases it with
//! every cell flipped with probability `p`. With contrast `c = 1 − 2p` and a table of `m` cells that gets a share `q` of the
//! items, a cell reads one with probability
//!
//! ```text
//! P(n) = (1 − c·e^{−k·n})/2,    k = −ln(1 − 2q/m)    (sets)
//!                               k = −ln(1 − q/m)     (pre-sampled streams: ParityModel::Presampled)
//! ```
//!
//! so the ones of every table are all an estimate needs. The module has
//!
//! * estimator (b), [`parity_estimate`]: composite maximum likelihood. Use this one;
//! * estimator (a), [`IntervalIntersection`]: the paper's, with its guarantee, for comparison;
//! * [`JointFit`]: all combinations of two sets at once; [`SetSizes`] does the same by plugging in;
//! * [`ParityErrors`], [`PlanRequest`], [`Subsampling`]: what to expect before any data.
//!
//! Labels of sources: \[PS21\] for what the paper states; *resolved* where it leaves a constant open and this crate chose
//! one; *ours* for what goes beyond it.

mod answer;
mod counts;
mod expected;
mod intersection;
mod joint;
mod joint_answer;
mod joint_fit;
mod joint_likelihood;
mod layout;
mod plan;
mod predict;
mod quadratic;
mod set_sizes;
mod subsample;

pub use answer::parity_estimate;
pub use counts::{ItemWeights, ParityCounts};
pub use expected::{expected_ones, expected_ones_of_weights, sampling_variance};
pub use intersection::{IntervalIntersection, Radius, TableInterval};
pub use joint::JointParityCounts;
pub use joint_answer::{JointFit, SetCombination};
pub use layout::{ParityLayout, ParityModel};
pub use plan::{ParityPlan, PlanRequest};
pub use predict::{ParityErrors, parity_asymptotic_rse};
pub use set_sizes::SetSizes;
pub use subsample::Subsampling;
