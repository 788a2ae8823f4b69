//! Frequent keys that nobody listed: stacks of prefixes.

mod builder;
mod key;
mod private;
mod raw;

pub use builder::PrefixBuilder;
pub use key::PrefixKeys;
pub use private::{FoundKeys, RecordedPrefixStack};
pub use raw::RawPrefixStack;
