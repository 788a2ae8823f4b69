//! One sketch for each of very many groups, in one table.

mod builder;
mod container;
mod error;
mod keys;
mod release;

pub use builder::{GroupCounts, GroupedBuilder};
pub use container::{GroupContainer, group_value};
pub use error::GroupError;
pub use release::{GroupedSketches, ReleasedGroups};
