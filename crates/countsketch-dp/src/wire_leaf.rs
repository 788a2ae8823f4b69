//! Releases, their bounds and the steps of a history in bytes. The layout stands in [`wire`](crate::wire).

use dp_noise::{Epsilon, Neighbouring, Rho, Scale, Variance};
use serde::{Deserialize, Serialize};

use crate::bound::ContributionBound;
use crate::leaf::{Guarantee, Leaf, NoiseLaw, PrivacyCost, ReleaseId};
use crate::lineage::Step;
use crate::shape::CountSketchShape;

/// A bound on contributions.
#[derive(Serialize, Deserialize)]
pub(crate) struct BoundV1 {
    kind: u8,
    items: u32,
    weight: u64,
    /// Low word first.
    squared_norm: [u64; 2],
}

/// One release.
#[derive(Serialize, Deserialize)]
pub(crate) struct LeafV1 {
    id: [u8; 16],
    law: u8,
    /// Low word first.
    numerator: [u64; 2],
    denominator: u64,
    secret: u32,
    summed: u32,
    factor: i64,
    /// 0: noise on top, which protects nobody.
    relation: u8,
    bound: BoundV1,
    parts: u32,
    cost: f64,
}

/// One step of the history: operation 0 takes `count` releases, 1 adds the top `count` costs up, 2 takes the largest of them.
#[derive(Serialize, Deserialize)]
pub(crate) struct StepV1 {
    pub(crate) operation: u8,
    count: u32,
}

impl From<ContributionBound> for BoundV1 {
    fn from(bound: ContributionBound) -> Self {
        let (kind, items, weight, squared_norm) = bound.to_codes();
        Self { kind, items, weight, squared_norm: to_words(squared_norm) }
    }
}

impl BoundV1 {
    const NONE: Self = Self { kind: 0, items: 0, weight: 0, squared_norm: [0; 2] };

    pub(crate) fn to_bound(&self) -> Option<ContributionBound> {
        ContributionBound::from_codes((self.kind, self.items, self.weight, from_words(self.squared_norm)))
    }

    fn is_none(&self) -> bool {
        (self.kind, self.items, self.weight, self.squared_norm) == (0, 0, 0, [0; 2])
    }
}

impl From<&Leaf> for LeafV1 {
    fn from(leaf: &Leaf) -> Self {
        let (law, numerator, denominator, secret, summed) = match leaf.law {
            NoiseLaw::Gaussian { variance } => (1, variance.numerator(), variance.denominator(), 0, 0),
            NoiseLaw::Laplace { scale } => (2, scale.numerator(), scale.denominator(), 0, 0),
            NoiseLaw::GaussianShares { share, secret, summed } => {
                (3, share.numerator(), share.denominator(), secret, summed)
            }
            NoiseLaw::LaplaceShares { scale, secret, summed } => {
                (4, scale.numerator(), scale.denominator(), secret, summed)
            }
        };
        let (relation, bound, parts, cost) = match leaf.guarantee {
            None => (0, BoundV1::NONE, 0, 0.0),
            Some(Guarantee { bound, parts, relation, cost }) => {
                let cost = match cost {
                    PrivacyCost::Rho(rho) => rho.get(),
                    PrivacyCost::Epsilon(epsilon) => epsilon.get(),
                };
                (relation_code(relation), bound.into(), parts, cost)
            }
        };
        let (id, numerator, factor) = (leaf.id.to_bytes(), to_words(numerator), leaf.factor);
        Self { id, law, numerator, denominator, secret, summed, factor, relation, bound, parts, cost }
    }
}

impl LeafV1 {
    /// The release, or nothing for numbers that no release has.
    pub(crate) fn to_leaf(&self, shape: CountSketchShape) -> Option<Leaf> {
        let law = self.to_law()?;
        let guarantee = if self.relation == 0 {
            let nothing = self.bound.is_none() && self.parts == 0 && self.cost.to_bits() == 0;
            let fresh = matches!(law, NoiseLaw::Gaussian { .. });
            (nothing && fresh).then_some(None)?
        } else {
            Some(self.to_guarantee()?)
        };
        let leaf = Leaf { id: ReleaseId::from_bytes(self.id), law, factor: self.factor, guarantee };
        let factor_is_valid = self.factor != 0 && self.factor != i64::MIN;
        (factor_is_valid && leaf.keeps_its_cost(shape)).then_some(leaf)
    }

    fn to_law(&self) -> Option<NoiseLaw> {
        let (numerator, denominator) = (from_words(self.numerator), self.denominator);
        let variance = || {
            let variance = Variance::new(numerator, denominator).ok()?;
            (variance.numerator() == numerator && variance.denominator() == denominator).then_some(variance)
        };
        let scale = || {
            let scale = Scale::new(numerator, denominator).ok()?;
            (scale.numerator() == numerator && scale.denominator() == denominator).then_some(scale)
        };
        let (secret, summed) = (self.secret, self.summed);
        let alone = (secret, summed) == (0, 0);
        Some(match self.law {
            1 if alone => NoiseLaw::Gaussian { variance: variance()? },
            2 if alone => NoiseLaw::Laplace { scale: scale()? },
            3 if !alone => NoiseLaw::GaussianShares { share: variance()?, secret, summed },
            4 if !alone => NoiseLaw::LaplaceShares { scale: scale()?, secret, summed },
            _ => return None,
        })
    }

    fn to_guarantee(&self) -> Option<Guarantee> {
        let relation = match self.relation {
            1 => Neighbouring::AddRemove,
            2 => Neighbouring::Substitute,
            _ => return None,
        };
        let cost = match self.law {
            1 | 3 => PrivacyCost::Rho(Rho::new(self.cost).ok()?),
            _ => PrivacyCost::Epsilon(Epsilon::new(self.cost).ok()?),
        };
        Some(Guarantee { bound: self.bound.to_bound()?, parts: self.parts, relation, cost })
    }
}

fn relation_code(relation: Neighbouring) -> u8 {
    match relation {
        Neighbouring::AddRemove => 1,
        Neighbouring::Substitute => 2,
    }
}

impl From<Step> for StepV1 {
    fn from(step: Step) -> Self {
        let (operation, count) = match step {
            Step::Releases { count } => (0, count),
            Step::Sum { arity } => (1, arity),
            Step::Largest { arity } => (2, arity),
        };
        Self { operation, count }
    }
}

impl StepV1 {
    pub(crate) fn to_step(&self) -> Option<Step> {
        let (count, arity) = (self.count, self.count);
        Some(match self.operation {
            0 => Step::Releases { count },
            1 => Step::Sum { arity },
            2 => Step::Largest { arity },
            _ => return None,
        })
    }
}

/// Low word, high word.
#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
const fn to_words(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

fn from_words([low, high]: [u64; 2]) -> u128 {
    u128::from(low) | u128::from(high) << 64
}
