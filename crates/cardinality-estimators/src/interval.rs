//! Intervals for the count.

use crate::solve::Grid;

/// Both ends of an interval; no upper end when nothing up to the largest count contradicts the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    pub(crate) lower: f64,
    pub(crate) upper: Option<f64>,
}

impl Ends {
    /// The same interval with the upper end rounded up to a whole item.
    ///
    /// Without noise the error on a few items is a fraction of one, and always one-sided: items hide behind others.
    pub(crate) fn to_whole_items(self) -> Self {
        Self { lower: self.lower, upper: self.upper.map(f64::ceil) }
    }

    /// Whether the relative error is small, and at both ends of a Wald interval within a twentieth of the one in its middle.
    ///
    /// Where it is not, the Wald interval misses: near the noise floor it covers 93 % instead of 95 %, and near the end of
    /// the range, where the error soars, less than 80 %.
    pub(crate) fn is_even(self, rse: f64, cap: f64, rse_at: impl Fn(f64) -> f64) -> bool {
        let even = |n: f64| (rse_at(n) - rse).abs() <= 0.05 * rse;
        rse <= 0.1 && even(self.lower) && self.upper.is_some_and(|upper| upper < cap && even(upper))
    }
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

/// The two counts either side of the only maximum `n` where `distance` reaches `cut`: as [`hull`] without its walk.
///
/// `distance` is the square root of a likelihood ratio, close to a straight line in `ln n`, so false position from the
/// ends of the Wald interval `guess` needs a handful of steps.
pub(crate) fn crossings(n: f64, guess: Ends, cap: f64, cut: f64, distance: impl Fn(f64) -> f64) -> Ends {
    if cut <= 0.0 {
        return Ends { lower: n, upper: Some(n) };
    }
    let count = |at: f64| n * at.exp();
    let gap = |at: f64| distance(count(at)) - cut;
    // In ln(n'/n): the smallest step that still changes n', and an end beyond which only 0 is left.
    let step_down = (guess.lower / n).ln().min(-1e-12);
    let step_up = guess.upper.map_or(1.0, |upper| (upper / n).ln()).max(1e-12);
    let lower = if distance(0.0) > cut { crossing(step_down, -128.0, cut, gap).map(count) } else { None };
    let upper = crossing(step_up, (cap / n).ln(), cut, gap).map(count);
    Ends { lower: lower.unwrap_or(0.0), upper }
}

/// The count above the only maximum 0 where `distance` reaches `cut`; it is of the order of `guess`.
pub(crate) fn crossing_above_zero(guess: f64, cap: f64, cut: f64, distance: impl Fn(f64) -> f64) -> Option<f64> {
    if cut > 0.0 { crossing(guess, cap, cut, |n| distance(n) - cut) } else { Some(0.0) }
}

/// Walks from 0 in doubling strides until `gap` is positive, then closes in; `None` if it stays negative up to `limit`.
///
/// `gap` is `−cut` at 0. Strides and limit have the same sign.
pub(crate) fn crossing(stride: f64, limit: f64, cut: f64, gap: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut near, mut below) = (0.0, -cut);
    let mut far = if stride.abs() < limit.abs() { stride } else { limit };
    let mut above = gap(far);
    while above <= 0.0 {
        if far.abs() >= limit.abs() {
            return None;
        }
        (near, below) = (far, above);
        far = if 2.0 * far.abs() < limit.abs() { 2.0 * far } else { limit };
        above = gap(far);
    }
    for _ in 0..60 {
        let at = near + (far - near) * below / (below - above);
        let here = gap(at);
        if here.abs() <= 1e-6 * cut {
            return Some(at);
        }
        // The Illinois rule: halve the value of an end that stays, so that both ends move.
        if here > 0.0 {
            (far, above, below) = (at, here, below / 2.0);
        } else {
            (near, below, above) = (at, here, above / 2.0);
        }
    }
    Some(near)
}
