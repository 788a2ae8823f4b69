//! The laws that tables are made of, and their distribution functions to any accuracy.

use core::iter;

use crate::exp::{Enclosure, exp_minus_enclosed};
use crate::fixed::Fixed;

/// The shape of the weights `w(j)`, `j >= 0`, with `x` the law's exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// `|X|` for the discrete Gaussian: 1 at 0 and `2 e^(−x j²)` beyond.
    GaussianMagnitude,
    /// The discrete Gaussian above and at 0: `e^(−x j²)`. Its zero has twice the share that the magnitude's has.
    GaussianHalf,
    /// `|X|` for the discrete Laplace law: 1 at 0 and `2 e^(−x j)` beyond.
    LaplaceMagnitude,
    /// The geometric law `e^(−x j)`.
    Geometric,
    /// The negative binomial law with shape `1/shares`: `Γ(j + 1/m)/(Γ(1/m) j!) · e^(−x j)`.
    Polya {
        /// How many independent draws add up to a geometric one.
        shares: u32,
    },
}

/// A law on the non-negative integers with weights that fall like powers of `e^-x`, `x = numerator/denominator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Law {
    pub(crate) family: Family,
    pub(crate) numerator: u128,
    pub(crate) denominator: u128,
}

impl Law {
    /// The exponent x for the Gaussian families is half this ratio.
    fn exponent<const N: usize>(&self) -> Enclosure<N> {
        let ratio = Enclosure::of_ratio(self.numerator, self.denominator);
        match self.family {
            Family::GaussianMagnitude | Family::GaussianHalf => ratio.halved(),
            Family::LaplaceMagnitude | Family::Geometric | Family::Polya { .. } => ratio,
        }
    }

    /// `w(0), w(1), w(2), …`, each with the ratio to the next one.
    fn weights<const N: usize>(&self) -> impl Iterator<Item = Weight<N>> + use<N> {
        let family = self.family;
        let first = exp_minus_enclosed(self.exponent());
        // Gaussian: w(j + 1)/w(j) = e^(−x(2j + 1)), which falls by e^(−2x) each time.
        let step = match family {
            Family::GaussianMagnitude | Family::GaussianHalf => Some(first.times(&first)),
            _ => None,
        };
        let start = Weight { value: Enclosure::exactly(Fixed::from_integer(1)), ratio: first };
        let mut next = Some((start, first));
        let mut j = 0_u64;
        iter::from_fn(move || {
            let (weight, pure) = next.take()?;
            let ratio = match family {
                // (j + 1/m)/(j + 1) = (m j + 1)/(m (j + 1)), below 1
                Family::Polya { shares } => {
                    let m = u64::from(shares);
                    pure.times(&Enclosure::exactly(Fixed::from_integer(m * j + 1))).divided_by(m * (j + 1))
                }
                _ => pure,
            };
            let mut value = weight.value.times(&ratio);
            if j == 0 && matches!(family, Family::GaussianMagnitude | Family::LaplaceMagnitude) {
                value = value.plus(&value);
            }
            let pure = step.as_ref().map_or(pure, |step| pure.times(step));
            j += 1;
            next = Some((Weight { value, ratio: pure }, pure));
            Some(weight)
        })
    }

    /// Bounds of the sum of all weights.
    fn total<const N: usize>(&self) -> Enclosure<N> {
        let one = Fixed::from_integer(1);
        let mut sum = Enclosure::exactly(Fixed::ZERO);
        for weight in self.weights() {
            sum = sum.plus(&weight.value);
            if weight.value.high <= Fixed::small() {
                // No later ratio is larger (for Pólya, than `pure`), so the rest is below w · ratio / (1 − ratio).
                let gap = one.minus(&weight.ratio.high);
                let (mut rest, mut multiple) = (weight.value.high, gap);
                while multiple < one && multiple > Fixed::ZERO {
                    multiple = multiple.plus(&multiple);
                    rest = rest.plus(&rest);
                }
                return Enclosure { low: sum.low, high: sum.high.plus(&rest) };
            }
        }
        sum
    }

    /// `F(0), F(1), F(2), …`, to about `64 (N − 1)` binary digits; without end.
    pub(crate) fn cumulative<const N: usize>(&self) -> impl Iterator<Item = Enclosure<N>> + use<N> {
        let scale = self.total().reciprocal();
        let mut sum = Enclosure::exactly(Fixed::ZERO);
        self.weights().map(move |weight| {
            sum = sum.plus(&weight.value);
            sum.times(&scale)
        })
    }
}

/// A weight and a bound of the ratio of any later weight to the one before it.
struct Weight<const N: usize> {
    value: Enclosure<N>,
    ratio: Enclosure<N>,
}
