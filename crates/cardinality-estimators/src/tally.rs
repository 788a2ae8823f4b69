//! Tallies: for every cell, how many of several noisy sketches read one.
//!
//! Sketches kept together as such counts say more about the union of their sets than any sketch merged from them, whose
//! noise nobody needs. Two likelihoods read them. The *free law* assumes nothing about how the sets overlap; the *shared
//! law* assumes that no set is special, and is then far more accurate. [`estimate_union`] weighs them by what the counts and
//! the sketches' own sizes say against the assumption. Ours; the book's chapter on tallies derives and measures all of it.
//!
//! ```
//! use cardinality_estimators::tally::{TallyClass, TallyCounts, estimate_union};
//! use cardinality_estimators::{BitChannel, CellLayout, Confidence, Status};
//! // Three sketches of six levels of 512 cells, each cell flipped with probability 0.1: in how many cells of every level
//! // do none, one, two, all three read one? Here as expected of three disjoint sets of 400 items each.
//! let layout = CellLayout::pcsa(512, 6)?;
//! let class = TallyClass { channel: BitChannel::symmetric(0.1)?, sketches: 3 };
//! let histograms = [
//!     [135, 227, 126, 24],
//!     [223, 214, 68, 7],
//!     [288, 183, 38, 3],
//!     [328, 157, 26, 1],
//!     [350, 142, 19, 1],
//!     [350, 142, 19, 1],
//! ];
//! let counts = TallyCounts::new(&layout, &[class], histograms.iter().map(|h| h.to_vec()).collect())?;
//! let answer = estimate_union(&counts, None, Confidence::P95)?;
//! assert_eq!(answer.estimate().status(), Status::Ok);
//! assert!(answer.estimate().value().is_some_and(|n| (n - 1200.0).abs() < 100.0));
//! # Ok::<(), cardinality_estimators::ParamError>(())
//! ```

mod answer;
mod cells;
mod counts;
mod ends;
mod free;
mod free_fit;
mod guard;
mod nodes;
mod semigroup;
mod shared;
mod shared_fit;
mod sizes;

pub(crate) use cells::TalliedCells;

pub use answer::{TallyEstimate, TallyMethod, estimate_union, point_union};
pub use counts::{TallyClass, TallyCounts};
pub use guard::LawEstimate;
pub use sizes::SizeSpread;

/// The free law at one size, solved afresh.
pub(crate) fn free_law_at(counts: &TallyCounts, n: f64, tolerance: f64) -> crate::diagnostics::FreeLawAt {
    let nothing = crate::diagnostics::FreeLawAt { log_likelihood: f64::NAN, score: f64::NAN, gap: f64::INFINITY };
    free::FreeLaw::new(counts).map_or(nothing, |mut law| {
        let point = law.at(n, tolerance);
        crate::diagnostics::FreeLawAt { log_likelihood: point.log_likelihood, score: point.slope, gap: point.gap }
    })
}
