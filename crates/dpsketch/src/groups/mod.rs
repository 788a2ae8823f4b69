//! One sketch for each of very many groups, in one table.

mod builder;
mod checksum;
mod container;
mod date;
mod error;
mod key_type;
mod keys;
mod release;

pub use builder::{GroupCounts, GroupedBuilder};
pub use checksum::GroupCheck;
pub use container::{GroupContainer, group_value};
pub use error::GroupError;
pub use release::{GroupedSketches, ReleasedGroups};
