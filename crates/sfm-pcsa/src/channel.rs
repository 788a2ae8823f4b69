//! Channels of noisy bits and the algebra of their merges.
//!
//! Nothing here knows a sketch: a channel says how one bit is flipped, and the functions say with which probability the
//! output bit must be drawn so that the result is again such a channel. Any family of bitmaps can use them.
//!
//! Notation, as in the paper [HTC23]: `s` is a true bit, `t` its noisy version, `p = P(t=1 | s=1)`, `q = P(t=1 | s=0)`,
//! `d = p − q`, `a = 1 − q/p = d/p`. A channel carries `(p, a)`: after many merges `a` may be 10⁻²⁰, and `p − q` formed
//! from rounded numbers would have no correct digit left.

use cardinality_estimators::BitChannel;

use crate::double_double::DoubleDouble;

/// How far outside 0..=1 a computed probability may lie by rounding. Anything further is an error, never clamped.
const SLACK: f64 = 1e-12;
/// A merge whose `a` is smaller keeps nothing that a sketch of any size could show; the estimators' own limit.
const SMALLEST_KEEP: f64 = BitChannel::MIN_KEEP;

/// One bit's flips: `p = P(1→1)`, and `a = 1 − P(0→1)/p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Channel {
    p: DoubleDouble,
    a: DoubleDouble,
}

/// What can be wrong with a channel or with the merge that should give it.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// Not `0 ≤ q < p ≤ 1`.
    #[error("channel p = {p}, q = {q} is outside 0 <= q < p <= 1")]
    Order {
        /// P(1→1) as found.
        p: f64,
        /// P(0→1) as found.
        q: f64,
    },
    /// A probability came out outside 0..=1 by more than rounding explains (10⁻¹²).
    #[error("probability {found} is outside 0..=1")]
    Probability {
        /// The value as computed.
        found: f64,
    },
    /// So much noise came together that nothing is left to estimate from.
    #[error("the merged channel keeps a = 1 - q/p = {keep:e} of the signal, allowed are 2^-300 ..= 1")]
    NoSignal {
        /// `a = 1 − q/p` of the merged channel.
        keep: f64,
    },
    /// The deterministic merge by exclusive or needs `p = 1/2` in every input.
    #[error("the xor merge needs p = 1/2 in every input, found {p}")]
    NotHalf {
        /// P(1→1) of the input at fault.
        p: f64,
    },
    /// A merge of no input.
    #[error("a merge needs at least one input")]
    NoInput,
}

/// Which of the feasible output channels a merge aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputForm {
    /// The corner with the largest `p/q` and `(1−q)/(1−p)` at once: every other feasible output is a degraded copy of it.
    Extremal,
    /// `p + q = 1`, the published form.
    Symmetric,
}

/// A Boolean operation on two bits.
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
    Diff,
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
        [Self::Or, Self::And, Self::Xor, Self::Diff, Self::Implies, Self::Nor, Self::Nand, Self::Xnor];

    /// The operation on true bits.
    #[must_use]
    pub const fn apply(self, s1: bool, s2: bool) -> bool {
        match self {
            Self::Or => s1 || s2,
            Self::And => s1 && s2,
            Self::Xor => s1 ^ s2,
            Self::Diff => s1 && !s2,
            Self::Implies => !s1 || s2,
            Self::Nor => !(s1 || s2),
            Self::Nand => !(s1 && s2),
            Self::Xnor => !(s1 ^ s2),
        }
    }
}

impl Channel {
    /// From numerators over 2⁶⁴; `None` unless `0 < q < p`.
    pub(crate) fn from_numerators(p: u64, q: u64) -> Option<Self> {
        if q == 0 || q >= p {
            return None;
        }
        let p_exact = DoubleDouble::from_numerator(p);
        Some(Self { p: p_exact, a: DoubleDouble::from_numerator(p - q) / p_exact })
    }

    /// From probabilities taken as exact; the noiseless channel is allowed.
    pub(crate) fn from_probabilities(p: f64, q: f64) -> Result<Self, ChannelError> {
        if !(0.0 <= q && q < p && p <= 1.0) {
            return Err(ChannelError::Order { p, q });
        }
        let (p, q) = (DoubleDouble::from_f64(p), DoubleDouble::from_f64(q));
        Ok(Self { p, a: (p - q) / p })
    }

    /// The output of a merge. Checks the range and that some signal is left.
    fn from_merge(p: DoubleDouble, a: DoubleDouble) -> Result<Self, ChannelError> {
        let keep = a.to_f64();
        if !(a.is_finite() && keep >= SMALLEST_KEEP) {
            return Err(ChannelError::NoSignal { keep });
        }
        Ok(Self { p: probability(p)?, a: probability(a)? })
    }

    pub(crate) fn p(self) -> DoubleDouble {
        self.p
    }

    pub(crate) fn a(self) -> DoubleDouble {
        self.a
    }

    pub(crate) fn d(self) -> DoubleDouble {
        self.p * self.a
    }

    pub(crate) fn q(self) -> DoubleDouble {
        self.p * (DoubleDouble::ONE - self.a)
    }

    pub(crate) fn not_p(self) -> DoubleDouble {
        DoubleDouble::ONE - self.p
    }

    /// `max(ln p/q, ln (1−q)/(1−p))`, infinite for a noiseless side. Tight [HTC23, Theorem 3.2].
    ///
    /// Formed as `ln(1 + d/q)` and `ln(1 + d/(1−p))`, which keep their digits when `d` is small.
    pub(crate) fn level(self) -> f64 {
        let d = self.d();
        let side = |weight: DoubleDouble| {
            if weight <= DoubleDouble::ZERO { f64::INFINITY } else { (d / weight).to_f64().ln_1p() }
        };
        side(self.q()).max(side(self.not_p()))
    }

    /// For the estimators, which compute in `f64`: from the two small numbers where there is little noise, from `a` where
    /// there is much.
    pub(crate) fn to_bit_channel(self) -> Result<BitChannel, ChannelError> {
        let channel = if self.a > DoubleDouble::HALF {
            BitChannel::from_errors(self.not_p().to_f64(), self.q().to_f64())
        } else {
            BitChannel::from_keep(self.p.to_f64(), self.a.to_f64())
        };
        channel.map_err(|_| ChannelError::NoSignal { keep: self.a.to_f64() })
    }

    /// The estimates of `1 − s` that average to it: `(p − t)/d` at t = 0 and 1.
    fn empty_estimates(self) -> [DoubleDouble; 2] {
        [self.p / self.d(), -(self.not_p() / self.d())]
    }

    /// The estimates of `s`: `(t − q)/d` at t = 0 and 1.
    fn set_estimates(self) -> [DoubleDouble; 2] {
        [-(self.q() / self.d()), (DoubleDouble::ONE - self.q()) / self.d()]
    }

    /// The estimates of `1 − 2s`: `(p + q − 2t)/d` at t = 0 and 1.
    fn sign_estimates(self) -> [DoubleDouble; 2] {
        let sum = self.p + self.q();
        [sum / self.d(), (sum - DoubleDouble::TWO) / self.d()]
    }
}

/// Passes a probability on unless it is outside 0..=1 by more than rounding.
pub(crate) fn probability(value: DoubleDouble) -> Result<DoubleDouble, ChannelError> {
    let found = value.to_f64();
    if !value.is_finite() || !(-SLACK..=1.0 + SLACK).contains(&found) {
        return Err(ChannelError::Probability { found });
    }
    Ok(value.max(DoubleDouble::ZERO).min(DoubleDouble::ONE))
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
        BooleanOp::Diff | BooleanOp::Implies => (first.set_estimates(), second.empty_estimates()),
        BooleanOp::Xor | BooleanOp::Xnor => (first.sign_estimates(), second.sign_estimates()),
    };
    let product = [left[0] * right[0], left[0] * right[1], left[1] * right[0], left[1] * right[1]];
    let extension = product.map(|x| match op {
        BooleanOp::And | BooleanOp::Diff | BooleanOp::Nor => x,
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

/// The one-shot OR of any number of bits: P(out = 1) as a function of the noisy bits, and the channel it gives.
///
/// With `x_i` = 1 for a zero and `−(1−p_i)/p_i` for a one, and `X = Π x_i`, the merge probability is `(offset − X)/spread`:
/// for the extremal form `(max X − X)/(max X − min X)`. Written like this no difference of close numbers is ever formed,
/// however small `Π a_i` becomes. For equal `p ≥ 1/2` it is `p (1 − (−(1−p)/p)^w)` with `w` ones, whatever the `q_i`.
#[derive(Clone, Debug)]
pub(crate) struct OrMerge {
    channel: Channel,
    /// `x_i` for a zero and for a one, scaled so that the larger magnitude is 1.
    factors: Vec<[DoubleDouble; 2]>,
    offset: DoubleDouble,
    spread: DoubleDouble,
    deterministic: bool,
}

impl OrMerge {
    pub(crate) fn new(form: OutputForm, inputs: &[Channel]) -> Result<Self, ChannelError> {
        if inputs.is_empty() {
            return Err(ChannelError::NoInput);
        }
        let one = DoubleDouble::ONE;
        let factors: Vec<_> = inputs.iter().map(|&channel| or_factors(channel)).collect();
        // Largest and smallest product over all inputs, and Π d_i / max(p_i, 1 − p_i).
        let (mut largest, mut smallest, mut keep) = (one, one, one);
        for (channel, [zero, set]) in inputs.iter().zip(&factors) {
            let ends = [largest * *zero, largest * *set, smallest * *zero, smallest * *set];
            largest = ends.iter().fold(ends[0], |m, &x| m.max(x));
            smallest = ends.iter().fold(ends[0], |m, &x| m.min(x));
            keep = keep * channel.d() / channel.p().max(channel.not_p());
        }
        let spread = largest - smallest;
        let (p, a, offset, spread) = match form {
            OutputForm::Extremal => (extremal_p(inputs, largest / spread), keep / largest, largest, spread),
            OutputForm::Symmetric => {
                let spread = (largest.scale(2.0) - keep).max(keep - smallest.scale(2.0));
                let d = keep / spread;
                let p = (one + d) * DoubleDouble::HALF;
                (p, d.scale(2.0) / (one + d), (spread + keep) * DoubleDouble::HALF, spread)
            }
        };
        let halves = factors.iter().all(|[zero, set]| zero.abs() == set.abs());
        let two_valued = halves || factors.iter().all(|factor| factor[1] == DoubleDouble::ZERO);
        Ok(Self {
            channel: Channel::from_merge(p, a)?,
            factors,
            offset,
            spread,
            deterministic: form == OutputForm::Extremal && two_valued,
        })
    }

    /// The deterministic merge: all `p_i = 1/2`, where the extremal merge is the parity of the noisy bits.
    pub(crate) fn xor(inputs: &[Channel]) -> Result<Self, ChannelError> {
        if let Some(other) = inputs.iter().find(|channel| channel.p() != DoubleDouble::HALF) {
            return Err(ChannelError::NotHalf { p: other.p().to_f64() });
        }
        Self::new(OutputForm::Extremal, inputs)
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel
    }

    /// Whether every probability is 0 or 1, so that no coin is drawn.
    pub(crate) fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    /// `x_i` for a zero and a one of every input.
    pub(crate) fn factors(&self) -> &[[DoubleDouble; 2]] {
        &self.factors
    }

    /// P(out = 1) where the noisy bits give the product `x`.
    pub(crate) fn probability(&self, x: DoubleDouble) -> Result<DoubleDouble, ChannelError> {
        probability((self.offset - x) / self.spread)
    }
}

/// The output's `p` of the extremal form: the smallest of the inputs' if none is below 1/2, without any rounding.
fn extremal_p(inputs: &[Channel], general: DoubleDouble) -> DoubleDouble {
    if inputs.iter().all(|channel| channel.p() >= DoubleDouble::HALF) {
        inputs.iter().fold(DoubleDouble::ONE, |least, channel| least.min(channel.p()))
    } else {
        general
    }
}

/// `(p − t)` at t = 0 and 1, divided by the larger magnitude of the two.
fn or_factors(channel: Channel) -> [DoubleDouble; 2] {
    let (p, not_p) = (channel.p(), channel.not_p());
    if p >= not_p { [DoubleDouble::ONE, -(not_p / p)] } else { [p / not_p, -DoubleDouble::ONE] }
}
