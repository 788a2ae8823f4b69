//! Searches on the real line.

/// The least `x` in `[low, high]` with `holds(x)`, for a condition that stays true from its first `x` on: bisection down
/// to neighbouring floating-point numbers. `holds(high)` is taken for granted.
pub(crate) fn least_satisfying(mut low: f64, mut high: f64, mut holds: impl FnMut(f64) -> bool) -> f64 {
    if holds(low) {
        return low;
    }
    // A bracket of f64 halves at most about 2^11 + 52 times, mostly about 60.
    loop {
        let middle = midpoint(low, high);
        if middle <= low || middle >= high {
            return high;
        }
        if holds(middle) { high = middle } else { low = middle }
    }
}

/// Halfway, on a logarithmic scale where the ends are far apart.
fn midpoint(low: f64, high: f64) -> f64 {
    if low > 0.0 && high > 4.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) }
}

/// The largest value of a function near the best point of a grid: golden section between its neighbours.
pub(crate) fn maximum_near(from: f64, to: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (from, to);
    let mut inner = [high - RATIO * (high - low), low + RATIO * (high - low)];
    let mut values = inner.map(&mut f);
    for _ in 0..60 {
        if values[0] < values[1] {
            low = inner[0];
            inner = [inner[1], low + RATIO * (high - low)];
            values = [values[1], f(inner[1])];
        } else {
            high = inner[1];
            inner = [high - RATIO * (high - low), inner[0]];
            values = [f(inner[0]), values[0]];
        }
    }
    values[0].max(values[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_number_is_found_to_the_last_bit() {
        let root = least_satisfying(0.0, 1e9, |x| x * x >= 2.0);
        assert!(root * root >= 2.0 && root.next_down().powi(2) < 2.0);
        assert_eq!(least_satisfying(3.0, 4.0, |_| true).to_bits(), 3.0_f64.to_bits());
    }

    #[test]
    fn a_maximum_is_found() {
        let found = maximum_near(0.0, 4.0, |x| 5.0 - (x - 1.25).powi(2));
        assert!((found - 5.0).abs() < 1e-14);
    }
}
