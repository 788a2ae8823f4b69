//! Both ends of a likelihood ratio interval from heights and slopes of a likelihood.

/// A function of `ln n` with its highest point.
pub(crate) struct Summit {
    /// Where it is highest.
    pub(crate) n: f64,
    /// How high.
    pub(crate) height: f64,
    /// About how far, in `ln n`, one standard error goes.
    pub(crate) reach: f64,
}

/// The distance in standard errors is taken to be as close as this to the cut.
const CLOSE: f64 = 2e-3;
/// One more step from here needs no check: the square root of a deviance is nearly straight in `ln n`.
const NEARLY: f64 = 0.1;

impl Summit {
    /// The count on one side (`sign` ±1) where `√(2·(height − l))` is `cut`; `None` if it is less up to `limit`.
    ///
    /// `at(n)` is `l` and `dl/dn`. Newton's steps on the square root, within a bracket.
    pub(crate) fn end(&self, sign: f64, cut: f64, limit: f64, mut at: impl FnMut(f64) -> (f64, f64)) -> Option<f64> {
        let far = ((limit / self.n).ln() * sign).max(0.0);
        if cut <= 0.0 || far <= 0.0 {
            return if cut <= 0.0 { Some(self.n) } else { None };
        }
        if cut < 0.01 {
            // Heights are not known well enough to see it.
            return Some(self.n * (sign * cut * self.reach).exp()).filter(|n| n.is_finite());
        }
        let (mut near, mut outside) = (0.0, None);
        let mut x = (cut * self.reach).clamp(1e-9, 2.0).min(far);
        for _ in 0..60 {
            let n = self.n * (sign * x).exp();
            let (height, slope) = at(n);
            let distance = if height.is_nan() { f64::INFINITY } else { (2.0 * (self.height - height)).max(0.0).sqrt() };
            if distance >= cut {
                outside = Some(x);
            } else {
                if x >= far {
                    return None;
                }
                near = x;
            }
            if (distance - cut).abs() <= CLOSE * cut {
                return Some(n);
            }
            let climb = -sign * slope * n / distance;
            let step = (cut - distance) / climb;
            let next = x + step;
            let straight = climb > 0.0 && next.is_finite() && next > near;
            if straight && (distance - cut).abs() <= NEARLY * cut && (distance / x - climb).abs() <= 0.25 * climb {
                return Some(self.n * (sign * next.min(far)).exp());
            }
            x = match outside {
                Some(outside) if straight && next < outside => next,
                Some(outside) => {
                    let middle = 0.5 * (near + outside);
                    if outside - near <= CLOSE * outside {
                        return Some(self.n * (sign * middle).exp());
                    }
                    middle
                }
                None if straight => next.min(2.0 * x + 2.0).min(far),
                None => (2.0 * x).min(far),
            };
        }
        Some(self.n * (sign * near).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_a_poisson_likelihood_are_where_they_should_be() {
        // 30 counts of mean n: l = 30 ln n − n.
        let height = |n: f64| 30.0 * n.ln() - n;
        let summit = Summit { n: 30.0, height: height(30.0), reach: 0.18 };
        for sign in [-1.0, 1.0] {
            let mut calls = 0;
            let limit = if sign > 0.0 { 1e9 } else { 1e-9 };
            let end = summit.end(sign, 1.96, limit, |n| {
                calls += 1;
                (height(n), 30.0 / n - 1.0)
            });
            let distance = (2.0 * (summit.height - height(end.unwrap()))).sqrt();
            assert!((distance - 1.96).abs() < 0.01 && calls <= 4, "{distance} after {calls}");
        }
    }

    #[test]
    fn a_flat_likelihood_has_no_end() {
        let summit = Summit { n: 10.0, height: 0.0, reach: f64::NAN };
        assert_eq!(summit.end(1.0, 2.0, 1e6, |_| (-0.5, 0.0)), None);
        assert!(summit.end(1.0, 2.0, 1e6, |_| (f64::NAN, f64::NAN)).is_some());
    }
}
