//! All regions of the Venn diagram of a few sets at once, from their noisy sketches.
//!
//! Set estimates by inclusion and exclusion treat every union on its own. Here one likelihood holds one count a region, which
//! cannot be negative, and every formula is read off the same fit: unions, intersections and differences fit together, and
//! errors are about half of those of inclusion and exclusion for intersections.
//!
//! * [`fit()`]: up to four sketches, each with its own channel;
//! * [`fit_groups`]: up to four groups of sketches that are kept as tallies, each group standing for the union of its sets;
//! * [`VennFit`]: regions, any [`SetFormula`](crate::SetFormula), the union, the Jaccard similarity.
//!
//! Source: ours. The likelihood treats cells as independent, as that of one sketch does, and standard errors are corrected
//! in the same way for a fixed number of items.

mod answer;
mod climb;
mod fit;
mod group_law;
mod groups;
mod likelihood;
mod model;
mod pattern_law;
mod surface;
mod symmetric;

pub use fit::{MAX_SETS, VennFit, fit};
pub use groups::{GroupCounts, fit_groups};

pub(crate) use fit::region_weights;
