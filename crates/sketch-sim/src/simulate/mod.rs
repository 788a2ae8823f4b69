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

pub use placement::Placement;
pub use predict::predicted_rse;
pub use run::{SimulationError, predicted, simulate};
pub(crate) use settings::threads;
pub use settings::{Merge, Overlap, Sampling, Settings, UnknownWord};
pub use summary::Summary;
pub(crate) use trials::{in_parallel, repeat};
