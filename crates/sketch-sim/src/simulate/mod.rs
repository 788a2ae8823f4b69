//! Simulation: build, release, merge and estimate many times, by the product's code and with seeded randomness.

mod binomial;
mod cells;
mod counts;
mod family;
mod overlap;
mod placement;
mod predict;
mod run;
mod sample;
mod settings;
mod shape;
mod summary;
mod trial;
mod trials;

pub(crate) use binomial::{below, binomial, fair};
pub(crate) use cells::{build, release};
pub(crate) use family::{BATCH, hashes};
pub use overlap::Overlap;
pub use placement::Placement;
pub use predict::predicted_rse;
pub use run::{SimulationError, predicted, simulate};
pub(crate) use sample::{MAX_ITEMS, describe, rate, refuse};
pub use settings::{Merge, Sampling, Settings, UnknownWord};
pub(crate) use settings::{count, epsilon, ranged, threads, word};
pub use summary::Summary;
pub(crate) use trial::Trial;
pub(crate) use trials::{in_parallel, repeat};
