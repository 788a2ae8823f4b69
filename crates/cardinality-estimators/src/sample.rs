//! From a sample to everything: counts of items that were kept with a known probability.

use crate::{Estimate, ParamError, Status};

impl Estimate {
    /// The answer about all items, where this one is about a sample that kept each with probability `rate`: everything over
    /// the rate, and with the error of the sampling besides.
    ///
    /// With `N = n̂/γ` the variance is `(se/γ)² + w N (1 − γ)/γ`, where `w` is the `largest` weight, 1 for counts; with unequal
    /// weights that is too much rather than too little. The interval puts two together: this one over γ, and the score interval of the
    /// sampling, `(u − N)² = z² w u (1 − γ)/γ`, by the sum of the squares of their half-widths on each side. So it does not end at
    /// 0 where nothing was kept. Source: ours; the combination is the usual one of independent errors.
    ///
    /// A sample without items says less than a set without items: `empty` becomes `below_noise`.
    ///
    /// # Errors
    /// [`ParamError::Plan`] unless `0 < rate ≤ 1` and `largest` is positive and finite; [`ParamError::Estimate`] when a number would
    /// be infinite.
    ///
    /// # Examples
    /// ```
    /// use cardinality_estimators::{Confidence, Estimate, Status};
    /// let kept = Estimate::new(Status::Ok, Some(1000.0), Some(30.0), (Some(941.0), Some(1059.0)), Confidence::P95)?;
    /// let all = kept.of_sample(0.01, 1.0)?;
    /// assert_eq!(all.value(), Some(100_000.0));
    /// // 3 % of the sketch, and √(0.99/1000) = 3.1 % of the sampling.
    /// assert!((all.std_error().ok_or("none")? - 1e5 * (0.03_f64.powi(2) + 0.99e-3).sqrt()).abs() < 1.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn of_sample(&self, rate: f64, largest: f64) -> Result<Self, ParamError> {
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(ParamError::Plan { what: "the sampling rate", found: rate });
        }
        if !(largest > 0.0 && largest.is_finite()) {
            return Err(ParamError::Plan { what: "the largest weight", found: largest });
        }
        // Variance of the sampling, per item of the total.
        let spread = largest * (1.0 - rate) / rate;
        let z = self.confidence().z();
        // Half-widths of the score interval around a total, to the left and to the right.
        let ends = |total: f64| {
            let half = z * z * spread / 2.0;
            let root = (2.0 * half).mul_add(total, half * half).sqrt();
            (root - half, root + half)
        };
        let scaled = |number: f64| number / rate;
        // Without a value, as of a sketch that is full, the lower end stands for itself.
        let centre = self.value().or(self.lower()).map(scaled);
        let (left, right) = centre.map_or((0.0, 0.0), ends);
        let lower =
            centre.zip(self.lower()).map(|(centre, lower)| (centre - (centre - scaled(lower)).hypot(left)).max(0.0));
        let upper = centre.zip(self.upper()).map(|(centre, upper)| centre + (scaled(upper) - centre).hypot(right));
        let value = self.value().map(scaled);
        let std_error = self.std_error().map(|error| scaled(error).hypot((spread * value.unwrap_or(0.0)).sqrt()));
        let weak = value.zip(std_error).is_some_and(|(value, error)| error > value / 2.0);
        let status = match self.status() {
            Status::Ok if weak => Status::LowInformation,
            Status::Empty => Status::BelowNoise,
            other => other,
        };
        Self::new(status, value, std_error, (lower, upper), self.confidence())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Confidence;

    fn new(status: Status, value: Option<f64>, error: Option<f64>, ends: (Option<f64>, Option<f64>)) -> Estimate {
        Estimate::new(status, value, error, ends, Confidence::P95).unwrap()
    }

    #[test]
    fn a_sample_of_everything_is_everything() {
        let all = new(Status::Ok, Some(50.0), Some(4.0), (Some(42.0), Some(59.0)));
        assert_eq!(all.of_sample(1.0, 1.0).unwrap(), all);
    }

    #[test]
    fn without_noise_the_interval_is_the_score_interval_of_the_sampling() {
        let kept = new(Status::Ok, Some(25.0), Some(0.0), (Some(25.0), Some(25.0)));
        let all = kept.of_sample(0.1, 1.0).unwrap();
        let z = Confidence::P95.z();
        for end in [all.lower().unwrap(), all.upper().unwrap()] {
            // (u − 250)² = z² u · 9.
            assert!(((end - 250.0).powi(2) / (z * z * end * 9.0) - 1.0).abs() < 1e-12, "{end}");
        }
        assert!((all.std_error().unwrap() - (250.0 * 9.0_f64).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn statuses_follow_what_is_known() {
        let none = new(Status::Empty, Some(0.0), Some(0.0), (Some(0.0), Some(0.0))).of_sample(0.01, 1.0).unwrap();
        assert_eq!((none.status(), none.value(), none.lower()), (Status::BelowNoise, Some(0.0), Some(0.0)));
        assert!(none.upper().unwrap() > 300.0, "z² 99");
        let weak = new(Status::Ok, Some(3.0), Some(0.1), (Some(2.8), Some(3.2))).of_sample(0.01, 1.0).unwrap();
        assert_eq!(weak.status(), Status::LowInformation);
        let full = new(Status::Saturated, None, None, (Some(100.0), None)).of_sample(0.5, 1.0).unwrap();
        assert_eq!((full.status(), full.upper()), (Status::Saturated, None));
        assert!(full.lower().unwrap() < 200.0 && full.lower().unwrap() > 150.0);
        let lost = Estimate::not_converged(Confidence::P95);
        assert_eq!(lost.of_sample(0.5, 1.0).unwrap(), lost);
    }

    #[test]
    fn rates_and_weights_are_checked() {
        let one = new(Status::Ok, Some(50.0), Some(4.0), (Some(42.0), Some(59.0)));
        for (rate, largest) in [(0.0, 1.0), (1.1, 1.0), (f64::NAN, 1.0), (0.5, 0.0), (0.5, f64::INFINITY)] {
            assert!(one.of_sample(rate, largest).is_err(), "{rate} {largest}");
        }
        // A weight of 10 has ten times the spread of a weight of 1.
        let (light, heavy) = (one.of_sample(0.1, 1.0).unwrap(), one.of_sample(0.1, 10.0).unwrap());
        let sampling = |all: &Estimate| all.std_error().unwrap().powi(2) - 40.0_f64.powi(2);
        assert!((sampling(&heavy) / sampling(&light) - 10.0).abs() < 1e-9);
    }
}
