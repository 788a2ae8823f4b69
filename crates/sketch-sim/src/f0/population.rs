//! The weights of the simulated items.

use dp_noise::rand_core::Rng;
use f0_sketch::{MaxWeight, Weight, WeightError};

use super::settings::Weights;
use crate::number;
use crate::simulate::binomial;

/// Weights of a population are the quantiles at the middles of so many equal parts.
const CLASSES: u64 = 256;
/// The power of Pareto's law, and the largest weight over the least.
const EXPONENT: f64 = 1.5;
const RANGE: f64 = 100.0;

/// Items with weights between 0 and 1, the same in all trials.
#[derive(Clone, Debug)]
pub(crate) struct Population {
    classes: Vec<Class>,
    total: f64,
    squares: f64,
}

/// Items of equal weight.
#[derive(Clone, Copy, Debug)]
struct Class {
    items: u64,
    weight: Weight,
}

impl Population {
    /// `n` items whose weights follow a law as closely as so few or so many can.
    pub(crate) fn new(weights: Weights, n: u64) -> Result<Self, WeightError> {
        let classes = if weights == Weights::Unit { 1 } else { CLASSES.min(n) };
        let mut population = Self { classes: Vec::new(), total: 0.0, squares: 0.0 };
        for class in 0..classes {
            let quantile = (number::to_f64(class) + 0.5) / number::to_f64(classes);
            let value = match weights {
                Weights::Unit => 1.0,
                Weights::Uniform => quantile,
                Weights::Pareto => ((1.0 - quantile).powf(-1.0 / EXPONENT) / RANGE).min(1.0),
            };
            let items = n / classes + u64::from(class < n % classes);
            population.classes.push(Class { items, weight: MaxWeight::new(1.0)?.weight(value)? });
            population.total += number::to_f64(items) * value;
            population.squares += number::to_f64(items) * value * value;
        }
        Ok(population)
    }

    /// How many items one sketch keeps: of weight `w`, each with the probability `⌈w·2³²⌉/2³²`.
    pub(crate) fn keep<R: Rng>(&self, random: &mut R) -> u64 {
        let kept = |class: &Class| binomial(class.items, number::to_f64(class.weight.threshold()) / WHOLE, random);
        self.classes.iter().map(kept).sum()
    }

    /// The sum of the weights, which is what a sketch estimates.
    pub(crate) const fn total(&self) -> f64 {
        self.total
    }

    /// The sum of their squares.
    pub(crate) const fn squares(&self) -> f64 {
        self.squares
    }

    /// How many items there are.
    pub(crate) fn items(&self) -> u64 {
        self.classes.iter().map(|class| class.items).sum()
    }

    /// The weights of the items, class by class.
    pub(crate) fn weights(&self) -> impl Iterator<Item = Weight> + '_ {
        self.classes.iter().flat_map(|class| (0..class.items).map(|_| class.weight))
    }
}

/// 2³².
const WHOLE: f64 = 4_294_967_296.0;

#[cfg(test)]
mod tests {
    use dp_noise::hazmat::InsecureTestRng;
    use sketch_testkit::{assert_mean, assert_variance};

    use super::*;

    #[test]
    fn totals_are_those_of_their_laws() {
        let of = |weights, n| Population::new(weights, n).unwrap();
        let unit = of(Weights::Unit, 1000);
        assert_eq!((unit.total(), unit.squares()), (1000.0, 1000.0));
        // Means 1/2 and 1/3.
        let uniform = of(Weights::Uniform, 10_240);
        assert!((uniform.total() - 5120.0).abs() < 1e-6 && (uniform.squares() - 10_240.0 / 3.0).abs() < 0.1);
        // ∫ (1−u)^(−2/3)/100 du = 3/100; the middles of 256 parts miss a little of the tail.
        let pareto = of(Weights::Pareto, 256_000);
        let mean = pareto.total() / 256_000.0;
        assert!((0.027..0.03).contains(&mean), "{mean}");
        assert!(of(Weights::Pareto, 3).weights().count() == 3);
    }

    #[test]
    fn as_many_are_kept_as_they_weigh() {
        for weights in [Weights::Uniform, Weights::Pareto] {
            let population = Population::new(weights, 5000).unwrap();
            let (mean, variance) = (population.total(), population.total() - population.squares());
            let mut random = InsecureTestRng::from_u64(3);
            let draws: Vec<f64> =
                (0..20_000).map(|_| (number::to_f64(population.keep(&mut random)) - mean) / variance.sqrt()).collect();
            assert_mean(&draws, 0.0, 1.0);
            assert_variance(&draws, 1.0);
        }
        assert_eq!(Population::new(Weights::Unit, 77).unwrap().keep(&mut InsecureTestRng::from_u64(1)), 77);
    }
}
