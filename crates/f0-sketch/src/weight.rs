//! Weights: how likely an item is kept, so that the count becomes a sum.

use core::fmt;

use crate::error::{WeightError, WeightFault};

/// 2³², the threshold of weight 1.
const WHOLE: u64 = 1 << 32;
/// 2³² as a number.
const SCALE: f64 = 4_294_967_296.0;

/// What the weights of a sketch are measured in.
///
/// Part of what sketches must share to be merged, and of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WeightRule {
    /// Every item counts 1: the answer is the number of distinct items.
    #[default]
    Unit,
    /// Items weigh up to a declared maximum: the answer is the sum of the weights of the distinct items.
    Weighted(MaxWeight),
}

impl WeightRule {
    /// The weights are multiples of this: the declared maximum, or 1.
    #[must_use]
    pub const fn scale(self) -> f64 {
        match self {
            Self::Unit => 1.0,
            Self::Weighted(max) => max.get(),
        }
    }

    /// As bytes state it: the maximum, or 0.
    pub(crate) const fn to_number(self) -> f64 {
        match self {
            Self::Unit => 0.0,
            Self::Weighted(max) => max.get(),
        }
    }

    pub(crate) fn from_number(number: f64) -> Result<Self, WeightError> {
        if number.to_bits() == 0 { Ok(Self::Unit) } else { MaxWeight::new(number).map(Self::Weighted) }
    }
}

impl fmt::Display for WeightRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("every item counts 1"),
            Self::Weighted(max) => write!(f, "weights up to {}", max.get()),
        }
    }
}

/// The largest weight that an item can have; heavier ones count as this.
///
/// It only fixes the unit: an item of weight `v` is kept with probability `v / max`, and the answer is multiplied by `max`.
/// The relative sampling error is about `√(max / sum of weights)`, so a maximum far above most weights costs accuracy.
///
/// # Privacy
/// It must be public and fixed before the data is looked at. Weights themselves may be private: a change of an item's weight
/// toggles one cell at most, as its removal does, and costs the same ε.
///
/// # Examples
/// ```
/// use f0_sketch::{MaxWeight, Weight};
/// let euros = MaxWeight::new(100.0)?;
/// assert_eq!(euros.weight(25.0)?.threshold(), 1 << 30);
/// assert_eq!(euros.weight(250.0)?, Weight::ONE, "clipped");
/// assert!(euros.weight(-1.0).is_err() && euros.weight(f64::NAN).is_err());
/// # Ok::<(), f0_sketch::WeightError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct MaxWeight(f64);

impl MaxWeight {
    /// The least maximum, 2⁻²⁵⁶.
    pub const MIN: f64 = f64::from_bits((1023 - 256) << 52);
    /// The largest maximum, 2²⁵⁶.
    pub const MAX: f64 = f64::from_bits((1023 + 256) << 52);

    /// # Errors
    /// [`WeightError::Max`] unless `max` lies in 2⁻²⁵⁶ ..= 2²⁵⁶.
    pub fn new(max: f64) -> Result<Self, WeightError> {
        if (Self::MIN..=Self::MAX).contains(&max) { Ok(Self(max)) } else { Err(WeightError::Max { found: max }) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The weight of an item with value `value`: the least multiple of 2⁻³² not below `value / max`, at most 1.
    ///
    /// # Errors
    /// [`WeightError::Value`] for a negative or infinite number and for NaN.
    pub fn weight(self, value: f64) -> Result<Weight, WeightError> {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(WeightError::Value { found: fault_of(value) });
        }
        if value >= self.0 {
            return Ok(Weight::ONE);
        }
        // Below 2^32; the division is correctly rounded and the scaling exact, so the ceiling is off by one at most.
        let estimate = (value / self.0 * SCALE).ceil();
        // `t · max ≥ value · 2³²`, decided exactly: a fused product has the sign of the exact one.
        let reaches = |t: f64| t.mul_add(self.0, -(value * SCALE)) >= 0.0;
        let least = [estimate - 1.0, estimate].into_iter().find(|&t| t >= 0.0 && reaches(t));
        Ok(Weight(threshold(least.unwrap_or(estimate + 1.0))))
    }
}

/// What is wrong with a number that is no weight.
const fn fault_of(value: f64) -> WeightFault {
    if value.is_nan() {
        WeightFault::NotANumber
    } else if value < 0.0 {
        WeightFault::Negative
    } else {
        WeightFault::Infinite
    }
}

/// The share of its [maximum](MaxWeight) that an item weighs: the probability with which it is kept.
///
/// Kept exactly: an item is kept when the lower 32 bits of its second hash word are below the threshold `⌈w · 2³²⌉`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u64);

impl Weight {
    /// Never kept: touches no cell.
    pub const ZERO: Self = Self(0);
    /// Always kept: the maximum.
    pub const ONE: Self = Self(WHOLE);

    /// The weight with the threshold `⌈w · 2³²⌉`; `None` above 2³².
    #[must_use]
    pub const fn from_threshold(threshold: u64) -> Option<Self> {
        if threshold <= WHOLE { Some(Self(threshold)) } else { None }
    }

    /// `⌈w · 2³²⌉`, at most 2³².
    #[must_use]
    pub const fn threshold(self) -> u64 {
        self.0
    }

    /// Whether an item of this weight is kept.
    #[inline]
    pub(crate) const fn keeps(self, [_, h2]: [u64; 2]) -> bool {
        h2 & 0xffff_ffff < self.0
    }
}

/// A whole number in 0 ..= 2³² as an integer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in 0 ..= 2^32")]
const fn threshold(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "integers below 2^53")]
mod tests {
    use super::*;

    /// `⌈value · 2³² / max⌉` in integers, for numbers with few binary digits.
    fn exact(value: u64, max: u64) -> u64 {
        u64::try_from((u128::from(value) << 32).div_ceil(u128::from(max))).unwrap()
    }

    #[test]
    fn thresholds_are_exact_ceilings() {
        for max in [1, 3, 7, 10, 100, 999_983, (1 << 53) - 1] {
            let rule = MaxWeight::new(max as f64).unwrap();
            for value in [0, 1, 2, 3, max / 3, max / 2, max - 1, max] {
                let value = value.min(max);
                assert_eq!(rule.weight(value as f64).unwrap().threshold(), exact(value, max), "{value} of {max}");
            }
        }
    }

    #[test]
    fn the_least_positive_number_weighs_something() {
        for max in [MaxWeight::MIN, 1.0, MaxWeight::MAX] {
            let rule = MaxWeight::new(max).unwrap();
            assert_eq!(rule.weight(f64::from_bits(1)).unwrap().threshold(), 1);
            assert_eq!(rule.weight(0.0).unwrap(), Weight::ZERO);
            assert_eq!(rule.weight(-0.0).unwrap(), Weight::ZERO);
            assert_eq!(rule.weight(max.next_down()).unwrap(), Weight::ONE, "rounded up");
            assert_eq!(rule.weight(f64::MAX).unwrap(), Weight::ONE);
        }
    }

    #[test]
    fn values_and_maxima_out_of_range_are_refused() {
        let rule = MaxWeight::new(1.0).unwrap();
        for value in [-1.0, -f64::from_bits(1), f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(rule.weight(value).is_err(), "{value}");
        }
        for max in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            assert!(MaxWeight::new(max).is_err(), "{max}");
        }
    }

    #[test]
    fn weight_one_keeps_everything_and_weight_zero_nothing() {
        for low in [0, 1, 0xffff_ffff] {
            let hash = [0, 7 << 32 | low];
            assert!(Weight::ONE.keeps(hash) && !Weight::ZERO.keeps(hash));
        }
        assert!(Weight(5).keeps([0, 4]) && !Weight(5).keeps([0, 5]));
        assert_eq!(Weight::from_threshold((1 << 32) + 1), None);
    }
}
