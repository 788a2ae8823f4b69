//! Distinct counts and sums over GF(2): what stands around an F0 sketch.

mod answer;
mod any;
#[cfg(feature = "arrow")]
mod arrow;
mod builder;
mod convert;
mod copies;
mod counts;
mod describe;
mod error;
mod members;
mod merge;
mod operation;
mod plan;
mod raw;
mod release;
mod release_file;
mod rows;
mod study;
mod terms;
mod totals;
mod users;
mod weight;

pub use answer::F0Whole;
pub(crate) use answer::{combination_of, estimate_f0, formula_f0, jaccard_f0};
pub use any::{AnyF0Sketch, ReleasedF0Sketch};
pub use builder::F0Builder;
pub(crate) use convert::unit_of;
pub use copies::equal_raw_sets;
pub use counts::{F0Counts, WeightConflict};
pub(crate) use describe::extend;
pub use error::F0Error;
pub(crate) use merge::{F0State, not_f0};
pub use operation::Operation;
pub use plan::{F0Plan, F0PlanError, F0Purpose};
pub use raw::RawF0Sketch;
pub(crate) use release_file::release_opened;
pub use release_file::{release_f0_file, release_f0_file_paid};
pub use study::F0Study;
pub(crate) use terms::max_weight;
pub use terms::{F0Terms, f0_shape, parse_max_weight};
pub(crate) use totals::F0Totals;
pub use users::F0UserBuilder;
