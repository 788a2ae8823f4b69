#![cfg_attr(feature = "os-rng", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "os-rng"),
    doc = "Exact noise for differential privacy, with budgets; built without a source of entropy."
)]
#![forbid(unsafe_code)]

mod amount;
mod bernoulli;
mod budget;
mod calibration;
pub mod diagnostics;
mod digit;
mod distance;
mod dyadic;
mod entropy;
mod exp;
mod fixed;
mod fixed_time;
mod flip;
mod fraction;
mod gaussian;
#[cfg(feature = "hazmat")]
pub mod hazmat;
mod laplace;
mod law;
mod level;
mod parameter;
mod permit;
mod polya;
mod reference;
mod reservoir;
mod rho_budget;
mod rng;
mod sampler;
mod scale;
#[cfg(test)]
mod scripted;
mod sensitivity;
mod sliced;
mod source;
mod subsample;
mod table;
mod variance;
mod wide;

pub use amount::{Amount, AmountError};
pub use bernoulli::{bernoulli, bernoulli_words, bernoulli_words_fixed_time};
pub use budget::{Budget, BudgetError, Cost, DisjointParts};
pub use calibration::{
    CalibrationError, DistributedBound, analytic_gaussian_sigma, calibrate_exact_rows, classical_gaussian_sigma,
    distributed_gaussian_rho, dp_to_zcdp, exact_rows_delta, gaussian_delta, group_epsilon, group_rho,
    integer_query_delta, merged_noise_rho, pure_to_zcdp, split_rho, top_up_rho, top_up_variance, zcdp_delta,
    zcdp_to_dp, zcdp_to_dp_simple,
};
pub use distance::{DistanceError, delta_beside_distance, delta_for_distance};
pub use dyadic::DyadicProbability;
pub use entropy::EntropyError;
pub use fixed_time::FixedTimeGaussian;
pub use flip::{ChannelError, RandomizedResponse};
pub use fraction::FractionError;
pub use gaussian::DiscreteGaussian;
pub use laplace::DiscreteLaplace;
pub use level::PrivacyLevel;
pub use parameter::{Delta, Epsilon, ParameterError, Rho};
pub use permit::Permit;
pub use polya::PolyaShare;
pub use rand_core;
pub use reference::{ReferenceGaussian, ReferenceLaplace, bernoulli_exp_reference};
pub use rho_budget::{RhoBudget, StatementError};
pub use rng::NoiseRng;
pub use sampler::{NoiseSampler, SampleError};
pub use scale::Scale;
pub use sensitivity::{L1Sensitivity, Neighbouring, SensitivityError, SquaredL2Sensitivity};
pub use sliced::BitSlicedLaplace;
pub use source::NoiseSource;
pub use subsample::{
    SampleRate, SampledNoise, Sampling, SamplingMismatch, SubsampleKey, SubsampleKeyId, Subsampler, loss_under_one_key,
};
pub use variance::Variance;
