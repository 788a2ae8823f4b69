//! Real weights, rounded to the grid without bias.

use dp_noise::NoiseSource;

use crate::granularity::{Granularity, to_i64};

impl Granularity {
    /// A weight in grid units, rounded up or down at random so that the mean is the weight itself; `None` as for
    /// [`units`](Self::units).
    ///
    /// Exact: the fraction of an `f64` is compared with random bits, from the first on. What was rounded is bounded
    /// afterwards, in grid units, so rounding cannot raise the sensitivity.
    ///
    /// # Privacy
    /// The coins need the generator of the noise: whoever could repeat them would learn the fraction. Call
    /// [`begin_release`](NoiseSource::begin_release) once before the weights of a build are rounded: it takes fresh randomness after
    /// a fork of the process and reports a generator that has none, which no single weight can do.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::Granularity;
    /// use countsketch_dp::dp_noise::NoiseRng;
    /// let mut noise = NoiseRng::from_os()?;
    /// let sum: i64 = (0..10_000).filter_map(|_| Granularity::ONE.units_at_random(-0.25, &mut noise)).sum();
    /// assert!((sum + 2500).abs() < 433, "ten standard deviations");
    /// # }
    /// # Ok::<(), countsketch_dp::dp_noise::EntropyError>(())
    /// ```
    #[must_use]
    pub fn units_at_random<R: NoiseSource + ?Sized>(self, weight: f64, noise: &mut R) -> Option<i64> {
        // Multiplying by a power of two is exact, but for overflow to infinity, which has no place on the grid either.
        let size = (weight * self.per_unit()).abs();
        let whole = to_i64(size.floor())?;
        let units = whole.checked_add(i64::from(bernoulli(size.fract(), noise)))?;
        Some(if weight < 0.0 { -units } else { units })
    }
}

/// True with probability `fraction`, exactly, for a fraction in 0 .. 1.
fn bernoulli<R: NoiseSource + ?Sized>(mut fraction: f64, noise: &mut R) -> bool {
    const WORD: f64 = 18_446_744_073_709_551_616.0;
    // A uniform number is below the fraction; 64 binary digits at a time until the first that differ.
    while fraction > 0.0 {
        let scaled = fraction * WORD;
        let digits = to_word(scaled.floor());
        let drawn = noise.next_u64();
        if drawn != digits {
            return drawn < digits;
        }
        fraction = scaled.fract();
    }
    false
}

/// A whole number below 2⁶⁴ as an integer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and in range")]
fn to_word(whole: f64) -> u64 {
    whole as u64
}

#[cfg(test)]
mod tests {
    use dp_noise::hazmat::InsecureTestRng;
    use sketch_testkit::assert_binomial;

    use super::*;

    #[test]
    fn weights_on_the_grid_stay_what_they_are() {
        let mut noise = InsecureTestRng::from_u64(1);
        let grid = Granularity::new(4).unwrap();
        for sixteenths in -1000..1000_i32 {
            let weight = f64::from(sixteenths) / 16.0;
            assert_eq!(grid.units_at_random(weight, &mut noise), Some(i64::from(sixteenths)));
            assert_eq!(grid.units(weight), Some(i64::from(sixteenths)));
        }
        for weight in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300, 2f64.powi(63), -2f64.powi(63)] {
            assert_eq!(Granularity::ONE.units_at_random(weight, &mut noise), None, "{weight}");
            assert_eq!(Granularity::ONE.units(weight), None, "{weight}");
        }
        assert_eq!(Granularity::ONE.units(-1e18), Some(-1_000_000_000_000_000_000));
    }

    #[test]
    fn fractions_are_rounded_up_as_often_as_they_say() {
        let mut noise = InsecureTestRng::from_u64(2);
        for (weight, up, far) in
            [(0.5, 0.5, 1), (2.125, 0.125, 3), (-2.125, 0.125, -3), (7.999, 0.999, 8), (1e-3, 1e-3, 1)]
        {
            let mut ups = 0;
            for _ in 0..100_000 {
                ups += u64::from(Granularity::ONE.units_at_random(weight, &mut noise) == Some(far));
            }
            assert_binomial(ups, 100_000, up);
        }
    }

    #[test]
    fn fractions_beyond_one_word_go_on_to_the_next() {
        // 2⁻⁷⁰: the first word must be zero, then the next below 2⁵⁸. A generator of zeros says yes.
        let mut noise = InsecureTestRng::from_u64(3);
        assert!((0..1000).all(|_| !bernoulli(2f64.powi(-70), &mut noise)));
        assert!((0..1000).all(|_| !bernoulli(f64::MIN_POSITIVE, &mut noise)));
        assert!((0..1000).all(|_| bernoulli(1.0f64.next_down(), &mut noise)));
    }
}
