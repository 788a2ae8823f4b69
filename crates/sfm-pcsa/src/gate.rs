//! Boolean operations on two noisy bits.

use crate::channel::{Channel, ChannelError, probability};
use crate::double_double::DoubleDouble;

/// Which of the feasible output channels an operation aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputForm {
    /// The corner with the largest `p/q` and `(1−q)/(1−p)` at once: every other feasible output is a degraded copy of it.
    Extremal,
    /// `p + q = 1`, the published form.
    Symmetric,
}

/// A Boolean operation on two bits; negation is [`NoisyCells::negated`](crate::NoisyCells::negated).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BooleanOp {
    /// `s1 ∨ s2`
    Or,
    /// `s1 ∧ s2`
    And,
    /// `s1 ⊕ s2`
    Xor,
    /// `s1 ∧ ¬s2`
    Difference,
    /// `¬s1 ∨ s2`
    Implies,
    /// `¬(s1 ∨ s2)`
    Nor,
    /// `¬(s1 ∧ s2)`
    Nand,
    /// `¬(s1 ⊕ s2)`
    Xnor,
}

impl BooleanOp {
    /// Every operation, in the order of the variants.
    pub const ALL: [Self; 8] =
        [Self::Or, Self::And, Self::Xor, Self::Difference, Self::Implies, Self::Nor, Self::Nand, Self::Xnor];

    /// The operation on true bits.
    #[must_use]
    pub const fn apply(self, s1: bool, s2: bool) -> bool {
        match self {
            Self::Or => s1 || s2,
            Self::And => s1 && s2,
            Self::Xor => s1 ^ s2,
            Self::Difference => s1 && !s2,
            Self::Implies => !s1 || s2,
            Self::Nor => !(s1 || s2),
            Self::Nand => !(s1 && s2),
            Self::Xnor => !(s1 ^ s2),
        }
    }
}

/// A randomised gate for two bits: with which probability the output is 1, and the channel it then has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    /// The channel of the output with respect to `f(s1, s2)`.
    pub(crate) channel: Channel,
    /// P(out = 1) for `t1 t2` = 00, 01, 10, 11.
    pub(crate) table: [DoubleDouble; 4],
}

/// The gate of `op` for two independent inputs.
///
/// The multilinear extension `f̂` of the operation, evaluated at unbiased estimates of the bits, averages to `f(s1, s2)`;
/// `v = q* + (p* − q*) f̂` is then the one probability with which the output has the channel `(p*, q*)`, and it is a
/// probability iff `q* ≥ −m D` and `q* ≤ 1 − M D`, where `D = p* − q*` and `m ≤ f̂ ≤ M` [HTC23, Section 4].
pub(crate) fn gate(op: BooleanOp, form: OutputForm, first: Channel, second: Channel) -> Result<Gate, ChannelError> {
    let one = DoubleDouble::ONE;
    let (left, right) = match op {
        BooleanOp::Or | BooleanOp::Nor => (first.empty_estimates(), second.empty_estimates()),
        BooleanOp::And | BooleanOp::Nand => (first.set_estimates(), second.set_estimates()),
        BooleanOp::Difference | BooleanOp::Implies => (first.set_estimates(), second.empty_estimates()),
        BooleanOp::Xor | BooleanOp::Xnor => (first.sign_estimates(), second.sign_estimates()),
    };
    let product = [left[0] * right[0], left[0] * right[1], left[1] * right[0], left[1] * right[1]];
    let extension = product.map(|x| match op {
        BooleanOp::And | BooleanOp::Difference | BooleanOp::Nor => x,
        BooleanOp::Or | BooleanOp::Nand | BooleanOp::Implies => one - x,
        BooleanOp::Xor => (one - x) * DoubleDouble::HALF,
        BooleanOp::Xnor => (one + x) * DoubleDouble::HALF,
    });
    let largest = extension.iter().fold(extension[0], |m, &x| m.max(x));
    let smallest = extension.iter().fold(extension[0], |m, &x| m.min(x));
    let (p, a, table) = match form {
        OutputForm::Extremal => {
            let spread = largest - smallest;
            let p = (one - smallest) / spread;
            (p, one / (one - smallest), extension.map(|x| (x - smallest) / spread))
        }
        OutputForm::Symmetric => {
            let d = one / (one - smallest.scale(2.0)).max(largest.scale(2.0) - one);
            let q = (one - d) * DoubleDouble::HALF;
            ((one + d) * DoubleDouble::HALF, d.scale(2.0) / (one + d), extension.map(|x| q + d * x))
        }
    };
    let mut checked = table;
    for v in &mut checked {
        *v = probability(*v)?;
    }
    Ok(Gate { channel: Channel::from_merge(p, a)?, table: checked })
}
