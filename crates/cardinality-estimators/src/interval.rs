//! Intervals for the count.

use crate::solve::Grid;

/// Both ends of an interval; no upper end when nothing up to the largest count contradicts the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    pub(crate) lower: f64,
    pub(crate) upper: Option<f64>,
}

/// The log-normal Wald interval `n̂·exp(±z·std_error/n̂)`.
pub(crate) fn log_wald(n: f64, std_error: f64, z: f64) -> Ends {
    let factor = (z * std_error / n).exp();
    Ends { lower: n / factor, upper: Some(n * factor) }
}

/// The outer hull of the counts that `fits` accepts, given that it accepts `inside`.
///
/// Private likelihoods may have several maxima, so the accepted set may have gaps: the hull is found from the outside
/// in, on the grid, and its ends are then narrowed down by halving.
pub(crate) fn hull(grid: Grid, cap: f64, inside: f64, fits: impl Fn(f64) -> bool) -> Ends {
    let points: Vec<f64> = core::iter::once(0.0).chain(grid.points(cap)).collect();
    let lower = edge(points.iter().copied().take_while(|&n| n < inside), inside, &fits);
    let upper = if fits(cap) {
        None
    } else {
        Some(edge(points.iter().rev().copied().take_while(|&n| n > inside), inside, &fits))
    };
    Ends { lower, upper }
}

/// The boundary between the refused and the accepted counts, walking from outside towards `inside`.
fn edge(walk: impl Iterator<Item = f64>, inside: f64, fits: &impl Fn(f64) -> bool) -> f64 {
    let mut refused = None;
    let mut accepted = inside;
    for n in walk {
        if fits(n) {
            accepted = n;
            break;
        }
        refused = Some(n);
    }
    let Some(mut refused) = refused else { return accepted };
    for _ in 0..60 {
        if (accepted - refused).abs() <= 1e-10 * accepted {
            break;
        }
        let middle = if refused > 0.0 { (refused * accepted).sqrt() } else { accepted / 2.0 };
        if fits(middle) {
            accepted = middle;
        } else {
            refused = middle;
        }
    }
    accepted
}
