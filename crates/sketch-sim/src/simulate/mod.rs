//! Simulation: build, release, merge and estimate many times, by the product's code and with seeded randomness.

mod binomial;
mod placement;
mod predict;
mod run;
mod settings;
mod summary;

pub use placement::Placement;
pub use predict::predicted_rse;
pub use run::{SimulationError, simulate};
pub(crate) use settings::threads;
pub use settings::{Merge, Overlap, Settings, UnknownWord};
pub use summary::Summary;
