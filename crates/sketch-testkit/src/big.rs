//! Natural numbers of any size: as much as exact probabilities need.
#![expect(clippy::cast_possible_truncation, reason = "the lower half of a product is meant")]
#![expect(clippy::cast_precision_loss, reason = "leading digits only")]
#![cfg_attr(test, expect(clippy::float_cmp, reason = "powers of two are exact"))]

use std::cmp::Ordering;

/// Limbs, least significant first, without zeros at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Big(Vec<u64>);

impl Big {
    /// 0.
    #[must_use]
    pub fn zero() -> Self {
        Self(Vec::new())
    }

    /// 1.
    #[must_use]
    pub fn one() -> Self {
        Self(vec![1])
    }

    /// Whether it is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The product with a word.
    #[must_use]
    pub fn times(&self, factor: u64) -> Self {
        self.times_big(&Self(vec![factor]))
    }

    /// The product.
    #[must_use]
    pub fn times_big(&self, other: &Self) -> Self {
        let mut limbs = vec![0_u64; self.0.len() + other.0.len() + 1];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.0.iter().chain(&[0]).enumerate() {
                let sum = u128::from(a) * u128::from(b) + u128::from(limbs[i + j]) + carry;
                limbs[i + j] = sum as u64;
                carry = sum >> 64;
            }
        }
        Self::trimmed(limbs)
    }

    /// Adds another number to it.
    pub fn add(&mut self, other: &Self) {
        let length = self.0.len().max(other.0.len()) + 1;
        self.0.resize(length, 0);
        let mut carry = 0;
        for (i, limb) in self.0.iter_mut().enumerate() {
            let sum = u128::from(*limb) + u128::from(other.0.get(i).copied().unwrap_or(0)) + carry;
            *limb = sum as u64;
            carry = sum >> 64;
        }
        *self = Self::trimmed(std::mem::take(&mut self.0));
    }

    fn trimmed(mut limbs: Vec<u64>) -> Self {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Self(limbs)
    }

    /// Which of the two is larger.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// `self − other`, where that is not negative.
    fn minus(&self, other: &Self) -> Self {
        let mut limbs = self.0.clone();
        let mut borrow = false;
        for (i, limb) in limbs.iter_mut().enumerate() {
            let (difference, under) = limb.overflowing_sub(other.0.get(i).copied().unwrap_or(0));
            let (difference, under_borrow) = difference.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (difference, under | under_borrow);
        }
        assert!(!borrow, "a negative difference");
        Self::trimmed(limbs)
    }

    /// The three highest limbs as a number, and how many are below.
    fn leading(&self) -> (f64, i32) {
        let top = self.0.iter().rev().take(3).fold(0.0, |sum, &limb| sum * 2.0_f64.powi(64) + limb as f64);
        (top, i32::try_from(self.0.len().saturating_sub(3)).unwrap_or(i32::MAX))
    }

    /// `ln(self / other)`, to a few units of 2⁻⁵³ however close the two are; 0 where both are 0.
    #[must_use]
    pub fn ln_ratio(&self, other: &Self) -> f64 {
        match self.compare(other) {
            Ordering::Equal => 0.0,
            Ordering::Less => -other.ln_ratio(self),
            Ordering::Greater => {
                let ((gain, above), (base, below)) = (self.minus(other).leading(), other.leading());
                (gain / base * 2.0_f64.powi(64 * (above - below))).ln_1p()
            }
        }
    }
}

#[test]
fn numbers_add_multiply_and_compare() {
    let big = Big::one().times(u64::MAX).times(u64::MAX);
    assert_eq!(big.0, [1, u64::MAX - 1]);
    let mut sum = big.clone();
    sum.add(&Big::one().times(u64::MAX));
    assert_eq!(sum.0, [0, u64::MAX]);
    assert_eq!(sum.compare(&big), Ordering::Greater);
    assert!(Big::one().times(0).is_zero() && Big::zero().is_zero());
    assert_eq!(big.times_big(&sum), sum.times_big(&big));
    let power = |count| (0..count).fold(Big::one(), |power, _| power.times(1 << 63));
    assert!((power(10).ln_ratio(&power(9)) - 63.0 * std::f64::consts::LN_2).abs() < 1e-13);
    let mut close = power(10);
    close.add(&power(9));
    assert_eq!(close.ln_ratio(&power(10)), 2.0_f64.powi(-63));
    assert_eq!(power(10).ln_ratio(&close), -(2.0_f64.powi(-63)));
    assert_eq!(Big::zero().ln_ratio(&Big::one()), f64::NEG_INFINITY);
}
