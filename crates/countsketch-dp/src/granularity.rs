//! The grid that weights lie on.

use crate::ParamError;

/// The unit of weights, `2^−e`: cells hold whole numbers of it.
///
/// Real weights are rounded to the grid before anything else happens, and noise is drawn on the grid, so released cells
/// are multiples of one power of two that was fixed before the data. At most a 64th of the noise's standard deviation
/// loses nothing.
///
/// # Examples
/// ```
/// use countsketch_dp::Granularity;
/// let cents = Granularity::new(7)?;
/// assert_eq!(cents.step(), 1.0 / 128.0);
/// assert_eq!(cents.units(0.5), Some(64));
/// assert_eq!(Granularity::ONE.units(2.5), Some(2), "ties go to the even neighbour");
/// # Ok::<(), countsketch_dp::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Granularity {
    exponent: u8,
}

impl Granularity {
    /// Whole numbers.
    pub const ONE: Self = Self { exponent: 0 };

    /// The finest grid, `2⁻⁵²`.
    pub const MAX_EXPONENT: u8 = 52;

    /// The grid of step `2^−exponent`.
    ///
    /// # Errors
    /// [`ParamError::Granularity`] for an exponent above 52.
    pub const fn new(exponent: u8) -> Result<Self, ParamError> {
        if exponent > Self::MAX_EXPONENT {
            return Err(ParamError::Granularity { max: Self::MAX_EXPONENT, found: exponent });
        }
        Ok(Self { exponent })
    }

    /// e, where the step is `2^−e`.
    #[must_use]
    pub const fn exponent(self) -> u8 {
        self.exponent
    }

    /// A weight in grid units, rounded to the nearest, ties to even; `None` for NaN and beyond ±(2⁶³ − 1).
    #[must_use]
    pub fn units(self, weight: f64) -> Option<i64> {
        // Multiplying by a power of two is exact, but for overflow to infinity.
        to_i64((weight * self.per_unit()).round_ties_even())
    }

    /// The largest number of grid units that is not above a bound on weights; `None` unless the bound is positive and its
    /// units fit.
    #[must_use]
    pub fn units_within(self, bound: f64) -> Option<u64> {
        to_i64((bound * self.per_unit()).floor()).and_then(|units| u64::try_from(units).ok()).filter(|&units| units > 0)
    }

    /// `2^e`, exactly.
    pub(crate) fn per_unit(self) -> f64 {
        f64::from_bits((1023 + u64::from(self.exponent)) << 52)
    }

    /// The step, exactly.
    #[must_use]
    pub fn step(self) -> f64 {
        f64::from_bits((1023 - u64::from(self.exponent)) << 52)
    }
}

impl core::fmt::Display for Granularity {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.exponent {
            0 => f.write_str("1"),
            exponent => write!(f, "2^-{exponent}"),
        }
    }
}

/// A whole number as an integer; `None` for NaN and beyond ±(2⁶³ − 1).
#[expect(clippy::cast_possible_truncation, reason = "the range is checked, and the number is whole")]
pub(crate) fn to_i64(whole: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (whole.abs() < LIMIT).then_some(whole as i64)
}
