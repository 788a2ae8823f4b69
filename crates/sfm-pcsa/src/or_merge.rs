//! The OR of any number of noisy bits at once.

use crate::channel::{Channel, ChannelError, probability};
use crate::double_double::DoubleDouble;
use crate::gate::OutputForm;

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
