//! Bounds on a probability from a count.

use crate::number;

/// How often something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) hits: u64,
    pub(super) of: u64,
}

/// Between what a probability lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Each end is wrong with probability at most `alpha`, by the inequality of Chernoff and Hoeffding:
/// `P[count/n ≥ x] ≤ e^(−n·KL(x, p))` for x above p, and as much below.
pub(super) fn bounds(share: Share, alpha: f64) -> Bounds {
    let (n, seen) = (number::to_f64(share.of), number::to_f64(share.hits) / number::to_f64(share.of));
    let allowed = -alpha.ln() / n;
    let reach = |mut inside: f64, mut outside: f64| {
        for _ in 0..200 {
            let middle = f64::midpoint(inside, outside);
            if divergence(seen, middle) <= allowed { inside = middle } else { outside = middle }
        }
        outside
    };
    Bounds { low: reach(seen, 0.0), high: reach(seen, 1.0) }
}

/// The relative entropy of coins of probability x and p.
fn divergence(x: f64, p: f64) -> f64 {
    let term = |x: f64, p: f64| if x > 0.0 { x * (x / p).ln() } else { 0.0 };
    term(x, p) + term(1.0 - x, 1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_the_inequality() {
        // No hit in n: (1 − p)^n = α.
        let none = bounds(Share { hits: 0, of: 1000 }, 1e-6);
        assert!(none.low.abs() < 1e-12 && (none.high - (1.0 - 1e-6_f64.powf(1e-3))).abs() < 1e-9, "{none:?}");
        // Near a half KL(x, p) is 2(x − p)²: √(ln(10⁶)/2n).
        let half = bounds(Share { hits: 500_000, of: 1_000_000 }, 1e-6);
        assert!((half.high - 0.5 - 0.002_628).abs() < 1e-5 && (0.5 - half.low - 0.002_628).abs() < 1e-5, "{half:?}");
        let all = bounds(Share { hits: 10, of: 10 }, 0.01);
        assert!((all.high - 1.0).abs() < 1e-12 && (all.low - 0.01_f64.powf(0.1)).abs() < 1e-9);
    }
}
