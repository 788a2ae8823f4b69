//! Channels of noisy bits.
//!
//! Nothing here knows a sketch: a channel says how one bit is flipped, and `gate` and `or_merge` say with which
//! probability an output bit must be drawn so that the result is again such a channel. Any family of bitmaps can use them.
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

    /// From the probabilities of the two errors, taken as exact: `1 − p` and `q`, which keep their digits where there is
    /// little noise.
    pub(crate) fn from_errors(miss: f64, q: f64) -> Result<Self, ChannelError> {
        let p = DoubleDouble::ONE - DoubleDouble::from_f64(miss);
        let d = p - DoubleDouble::from_f64(q);
        if !(miss >= 0.0 && q >= 0.0 && d > DoubleDouble::ZERO) {
            return Err(ChannelError::Order { p: 1.0 - miss, q });
        }
        Ok(Self { p, a: d / p })
    }

    /// The output of a merge. Checks the range and that some signal is left.
    pub(crate) fn from_merge(p: DoubleDouble, a: DoubleDouble) -> Result<Self, ChannelError> {
        let keep = a.to_f64();
        if !(a.is_finite() && keep >= SMALLEST_KEEP) {
            return Err(ChannelError::NoSignal { keep });
        }
        Ok(Self { p: probability(p)?, a: probability(a)? })
    }

    /// The channel of the negated bit: `p` becomes `1 − q` and `q` becomes `1 − p`. Nothing is lost.
    pub(crate) fn negated(self) -> Result<Self, ChannelError> {
        let not_q = DoubleDouble::ONE - self.q();
        Self::from_merge(not_q, self.d() / not_q)
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
    pub(crate) fn empty_estimates(self) -> [DoubleDouble; 2] {
        [self.p / self.d(), -(self.not_p() / self.d())]
    }

    /// The estimates of `s`: `(t − q)/d` at t = 0 and 1.
    pub(crate) fn set_estimates(self) -> [DoubleDouble; 2] {
        [-(self.q() / self.d()), (DoubleDouble::ONE - self.q()) / self.d()]
    }

    /// The estimates of `1 − 2s`: `(p + q − 2t)/d` at t = 0 and 1.
    pub(crate) fn sign_estimates(self) -> [DoubleDouble; 2] {
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
