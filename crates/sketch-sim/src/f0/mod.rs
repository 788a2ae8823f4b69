//! Simulation of parity sketches: build, release, merge and estimate many times.

mod law;
mod model;
mod population;
mod run;
mod sample;
mod settings;

pub(crate) use model::Model;
pub(crate) use run::CONFIDENCE;
pub use run::{F0Error, predicted, simulate};
pub use settings::{Estimator, Settings, Weights};
