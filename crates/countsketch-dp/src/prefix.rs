//! Heavy hitters among keys that nobody listed: a stack of sketches of their prefixes.

mod consistent;
mod layout;
mod level;
mod private;
mod search;
mod split;
mod stack;
mod wire;

pub use layout::PrefixLayout;
pub use private::PrivatePrefixStack;
pub use search::{PrefixHit, PrefixHits, PrefixSearch};
pub use split::BudgetSplit;
pub use stack::PrefixStack;
pub use wire::prefix_hash_id;
