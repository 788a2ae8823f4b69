#![cfg_attr(feature = "os-rng", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "os-rng"),
    doc = "Exact noise for differential privacy, with budgets; built without a source of entropy."
)]
#![forbid(unsafe_code)]

mod amount;
mod bernoulli;
mod budget;
mod dyadic;
mod entropy;
mod exp;
mod fixed;
mod flip;
#[cfg(feature = "hazmat")]
pub mod hazmat;
mod parameter;
mod permit;
mod reservoir;
mod rng;
#[cfg(test)]
mod scripted;
mod source;

pub use amount::{Amount, AmountError};
pub use bernoulli::{bernoulli, bernoulli_words, bernoulli_words_fixed_time};
pub use budget::{Budget, BudgetError, Cost, DisjointParts};
pub use dyadic::DyadicProbability;
pub use entropy::EntropyError;
pub use flip::{ChannelError, RandomizedResponse};
pub use parameter::{Delta, Epsilon, ParameterError, Rho};
pub use permit::Permit;
pub use rand_core;
pub use rng::NoiseRng;
pub use source::NoiseSource;
