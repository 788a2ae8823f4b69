//! Bounds of `e^-x` that hold whatever the platform's floating point does.

use crate::fixed::Fixed;

/// A number known to lie in `low ..= high`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enclosure<const N: usize> {
    pub(crate) low: Fixed<N>,
    pub(crate) high: Fixed<N>,
}

impl<const N: usize> Enclosure<N> {
    pub(crate) fn exactly(value: Fixed<N>) -> Self {
        Self { low: value, high: value }
    }

    /// `numerator / denominator`, a quotient below 2⁶³.
    pub(crate) fn of_ratio(numerator: u128, denominator: u128) -> Self {
        let down = Fixed::from_ratio(numerator, denominator);
        Self { low: down.0, high: up(down) }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self { low: self.low.plus(&other.low), high: self.high.plus(&other.high) }
    }

    pub(crate) fn halved(self) -> Self {
        Self { low: self.low.halved().0, high: up(self.high.halved()) }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self { low: self.low.times(&other.low).0, high: up(self.high.times(&other.high)) }
    }

    pub(crate) fn divided_by(self, divisor: u64) -> Self {
        Self { low: self.low.divided_by(divisor).0, high: up(self.high.divided_by(divisor)) }
    }

    /// `1 / self` for numbers of at least 1.
    pub(crate) fn reciprocal(&self) -> Self {
        Self { low: self.high.reciprocal(), high: self.low.reciprocal().plus(&Fixed::unit()) }
    }
}

/// Completes an operation that was rounded down to one that is rounded up.
fn up<const N: usize>((value, inexact): (Fixed<N>, bool)) -> Fixed<N> {
    if inexact { value.plus(&Fixed::unit()) } else { value }
}

/// Bounds of `e^-x` for `x < 2⁶³`, a few hundred units of the last place apart.
///
/// `x` is halved `s` times until it is at most 1/2, there the alternating series `Σ (−y)ⁿ / n!` is summed with every
/// operation rounded outward, and the result is squared `s` times.
pub(crate) fn exp_minus<const N: usize>(x: Fixed<N>) -> Enclosure<N> {
    exp_minus_enclosed(Enclosure::exactly(x))
}

/// The same for an argument of which bounds are known.
pub(crate) fn exp_minus_enclosed<const N: usize>(x: Enclosure<N>) -> Enclosure<N> {
    let one = Fixed::from_integer(1);
    let (half, _) = one.halved();
    let mut y = x;
    let mut halvings = 0;
    while y.high > half {
        y = y.halved();
        halvings += 1;
    }

    let mut sum = Enclosure::exactly(one);
    let mut term = sum;
    for n in 1.. {
        term = term.times(&y).divided_by(n);
        if n % 2 == 1 {
            sum = Enclosure { low: sum.low.minus(&term.high), high: sum.high.minus(&term.low) };
        } else {
            sum = Enclosure { low: sum.low.plus(&term.low), high: sum.high.plus(&term.high) };
        }
        if term.high <= Fixed::unit() {
            break;
        }
    }
    // Terms fall by half at least, so what is left out is below the last term, at most one unit.
    sum = Enclosure { low: sum.low.minus(&Fixed::unit()), high: sum.high.plus(&Fixed::unit()) };
    for _ in 0..halvings {
        sum = sum.times(&sum);
    }
    Enclosure { low: sum.low, high: sum.high.min(one) }
}

#[cfg(test)]
mod tests {
    use sketch_testkit::GoldenFile;

    use super::*;
    use crate::Epsilon;

    fn golden() -> GoldenFile {
        GoldenFile::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/bernoulli_exp.json")).unwrap()
    }

    #[test]
    fn the_first_192_bits_are_those_of_the_golden_file() {
        // 256 fraction bits; the first three limbs below the point must be the golden prefix.
        for case in golden().of_kind("bernoulli_exp") {
            let [num, den] = ["num", "den"].map(|name| case.input[name].as_u64().unwrap());
            let argument = Fixed::<5>::from_integer(num).divided_by(den).0;
            let bounds = exp_minus(argument);
            let prefix = |value: &Fixed<5>| {
                let limbs = value.limbs();
                format!("{:016x}{:016x}{:016x}", limbs[3], limbs[2], limbs[1])
            };
            assert_eq!(prefix(&bounds.low), case.expect["hex"].as_str().unwrap(), "{}", case.id);
            assert_eq!(prefix(&bounds.high), case.expect["hex"].as_str().unwrap(), "{}", case.id);
        }
    }

    #[test]
    fn bounds_are_in_order_and_close() {
        for x in [0.0, Epsilon::MIN, 0.1, 0.5, 0.5_f64.next_up(), 1.0, 44.36, 256.0] {
            let bounds = exp_minus(Fixed::<4>::from_f64(x).unwrap());
            assert!(bounds.low <= bounds.high);
            let width = bounds.high.minus(&bounds.low);
            // 192 fraction bits; the limb above the lowest is empty, so the bounds agree to 128 bits and more.
            assert_eq!(width.limbs()[1..], [0; 3], "at {x}");
            assert!(width.limbs()[0] < 1 << 20, "at {x}: {width:?}");
        }
    }

    #[test]
    fn zero_gives_one_and_huge_arguments_give_nearly_nothing() {
        let one = Fixed::<4>::from_integer(1);
        assert_eq!(exp_minus(Fixed::<4>::ZERO).high, one);
        let far = exp_minus(Fixed::<4>::from_f64(1e6).unwrap());
        assert_eq!(far.low, Fixed::ZERO);
        assert!(far.high > Fixed::ZERO && far.high.limbs()[1..] == [0; 3]);
    }
}
