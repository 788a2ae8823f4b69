//! Simulation: build, release, merge and estimate many times, by the product's code and with seeded randomness.

mod binomial;
mod counts;
mod family;
mod placement;
mod predict;
mod run;
mod settings;
mod shape;
mod summary;
mod trials;

pub(crate) use binomial::{below, binomial, fair};
pub use placement::Placement;
pub use predict::predicted_rse;
pub(crate) use run::Trial;
pub use run::{SimulationError, predicted, simulate};
pub use settings::{Merge, Overlap, Sampling, Settings, UnknownWord};
pub(crate) use settings::{count, epsilon, ranged, threads, word};
pub use summary::Summary;
pub(crate) use trials::{in_parallel, repeat};
