//! Flip probabilities over 2⁶⁴ and the noise that leads from one pair to another.

use cardinality_estimators::BitChannel;

use crate::channel::{Channel, ChannelError};
use crate::coin::Threshold;
use crate::double_double::{TWO_64, to_f64};

/// `p = P(1→1)` and `q = P(0→1)` as integers over 2⁶⁴, `0 < q < p`. Ordered by `p`, then `q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flips {
    pub(crate) p: u64,
    pub(crate) q: u64,
}

/// 2⁶⁴.
const WHOLE: u128 = 1 << 64;

impl Flips {
    /// The channel of these flips.
    pub(crate) fn channel(self) -> Result<Channel, ChannelError> {
        let share = |numerator: u64| to_f64(numerator) / TWO_64;
        Channel::from_numerators(self.p, self.q).ok_or(ChannelError::Order { p: share(self.p), q: share(self.q) })
    }

    /// The same for the estimators.
    pub(crate) fn bit_channel(self) -> Result<BitChannel, ChannelError> {
        self.channel()?.to_bit_channel()
    }

    fn gain(self) -> u128 {
        u128::from(self.p.saturating_sub(self.q))
    }

    fn not_q(self) -> u128 {
        WHOLE - u128::from(self.q)
    }

    fn not_p(self) -> u128 {
        WHOLE - u128::from(self.p)
    }

    /// Whether more noise turns this channel into `other`: neither `P/Q` nor `(1 − Q)/(1 − P)` may grow.
    ///
    /// A one is kept with probability `u`, a zero raised with probability `w`, where `u − w = D/d` and `w = Q − q D/d`
    /// with `d = p − q`, `D = P − Q`. The two conditions are `w ≥ 0` and `u ≤ 1`.
    pub(crate) fn reaches(self, other: Self) -> bool {
        self.extra(other).is_some()
    }

    /// `w` and `1 − u` as numerators over `2⁶⁴ d`.
    fn extra(self, other: Self) -> Option<[u128; 2]> {
        let raised = (u128::from(other.q) * self.gain()).checked_sub(u128::from(self.q) * other.gain())?;
        // Below 2^128: 1 − q is at most 1 − 2^-64.
        let lost = (other.not_q() * self.gain()).checked_sub(self.not_q() * other.gain())?;
        Some([raised, lost])
    }

    /// The probabilities of a one for a zero and for a one on the way to `other`, to the nearest 2⁻⁶⁴; `None` where no
    /// noise leads there.
    pub(crate) fn noise_to(self, other: Self) -> Option<[Threshold; 2]> {
        let divisor = self.gain();
        let [raised, lost] = self.extra(other)?.map(|numerator| {
            let (quotient, rest) = (numerator / divisor, numerator % divisor);
            quotient + u128::from(rest > divisor / 2)
        });
        let threshold = |numerator: u128| u64::try_from(numerator).map_or(Threshold::Always, Threshold::Below);
        Some([threshold(raised), threshold(WHOLE - lost)])
    }

    /// The least noisy channel that all of `flips` reach.
    ///
    /// With `α` the least `p/q` and `β` the least `(1 − q)/(1 − p)` among them, the channels in reach are those with
    /// `P ≤ α Q` and `1 − Q ≤ β (1 − P)`, and the corner `Q = (β − 1)/(αβ − 1)`, `P = α Q` reaches every other one. It is
    /// one of `flips` where that one is the noisiest in both respects. Else `Q` is a multiple of 2⁻⁶⁴ at the corner and `P`
    /// rounded down, which keeps both conditions.
    pub(crate) fn common(flips: &[Self]) -> Result<Self, ChannelError> {
        if let Some(&noisiest) = flips.iter().find(|target| flips.iter().all(|from| from.reaches(**target))) {
            return Ok(noisiest);
        }
        let ones = flips
            .iter()
            .copied()
            .reduce(|a, b| if u128::from(a.p) * u128::from(b.q) <= u128::from(b.p) * u128::from(a.q) { a } else { b });
        let zeros = flips.iter().copied().reduce(|a, b| if less_sure_of_zeros(a, b) { a } else { b });
        let (Some(ones), Some(zeros)) = (ones, zeros) else { return Err(ChannelError::NoInput) };
        let by_ones = |q: u64| u128::from(ones.p) * u128::from(q) / u128::from(ones.q);
        let by_zeros = |q: u64| WHOLE - ((WHOLE - u128::from(q)) * zeros.not_p()).div_ceil(zeros.not_q());
        // The first bound rises faster: it is the lower one up to the corner.
        let (mut below, mut beyond) = (0, u64::MAX);
        while beyond - below > 1 {
            let middle = below + (beyond - below) / 2;
            if by_ones(middle) <= by_zeros(middle) { below = middle } else { beyond = middle }
        }
        let p = u64::try_from(by_ones(below)).unwrap_or(u64::MAX);
        let corner = Self { p, q: below };
        if corner.q > 0 && corner.p > corner.q { Ok(corner) } else { Err(ChannelError::NoSignal { keep: 0.0 }) }
    }
}

/// Whether `(1 − q)/(1 − p)` of `a` is at most that of `b`.
fn less_sure_of_zeros(a: Flips, b: Flips) -> bool {
    // 1 − q is at most 1 − 2^-64, so both products are below 2^128.
    a.not_q() * b.not_p() <= b.not_q() * a.not_p()
}

#[cfg(test)]
mod tests {
    use dp_noise::{Epsilon, RandomizedResponse};

    use super::*;
    use crate::double_double::DoubleDouble;

    fn flips(noise: RandomizedResponse) -> Flips {
        Flips { p: noise.p().numerator(), q: noise.q().numerator() }
    }

    fn symmetric(epsilon: f64) -> Flips {
        flips(RandomizedResponse::symmetric(Epsilon::new(epsilon).unwrap()))
    }

    fn xor(epsilon: f64) -> Flips {
        flips(RandomizedResponse::xor_family(Epsilon::new(epsilon).unwrap()))
    }

    #[test]
    fn noise_leads_exactly_to_noisier_channels() {
        let all = [symmetric(0.1), symmetric(1.0), symmetric(2.0), symmetric(44.0), xor(1.0), xor(2.0), xor(40.0)];
        for from in all {
            assert!(from.reaches(from));
            for to in all {
                let ratios = |flips: Flips| {
                    let channel = flips.channel().unwrap();
                    [channel.p() / channel.q(), (DoubleDouble::ONE - channel.q()) / channel.not_p()]
                };
                let noisier = ratios(to).into_iter().zip(ratios(from)).all(|(to, from)| to <= from);
                assert_eq!(from.reaches(to), noisier || from == to, "{from:?} {to:?}");
                let Some([raised, kept]) = from.noise_to(to) else { continue };
                let [w, u] = [raised, kept].map(Threshold::to_probability);
                let (from, to) = (from.channel().unwrap(), to.channel().unwrap());
                for (before, after) in [(from.p(), to.p()), (from.q(), to.q())] {
                    let got = before * u + (DoubleDouble::ONE - before) * w;
                    assert!((got - after).abs().to_f64() <= 1.0 / TWO_64, "{from:?} {to:?}");
                }
            }
        }
    }

    #[test]
    fn the_noisiest_of_symmetric_channels_is_common() {
        let all = [symmetric(2.0), symmetric(0.5), symmetric(1.0)];
        assert_eq!(Flips::common(&all), Ok(symmetric(0.5)));
        assert_eq!(Flips::common(&[xor(1.0), xor(3.0)]), Ok(xor(1.0)));
        assert_eq!(Flips::common(&[xor(1.0)]), Ok(xor(1.0)));
        assert!(Flips::common(&[]).is_err());
    }

    #[test]
    fn other_mixtures_meet_at_the_corner() {
        // p/q is least in the first, (1 − q)/(1 − p) in the second.
        for (a, b) in [(0.5_f64, 1.0_f64), (1.0, 1.2), (2.0, 4.0), (0.001, 0.0015), (10.0, 30.0)] {
            let parts = [symmetric(a), xor(b)];
            let [one, two] = parts;
            if one.reaches(two) || two.reaches(one) {
                continue;
            }
            let common = Flips::common(&parts).unwrap();
            assert!(parts.iter().all(|part| part.reaches(common)));
            let channels = parts.map(|part| part.channel().unwrap());
            let alpha = channels.map(|channel| channel.p() / channel.q());
            let beta = channels.map(|channel| (DoubleDouble::ONE - channel.q()) / channel.not_p());
            let least = |[x, y]: [DoubleDouble; 2]| if x < y { x } else { y };
            let (alpha, beta) = (least(alpha), least(beta));
            let one = DoubleDouble::ONE;
            let q = (beta - one) / (alpha * beta - one);
            // Q is a multiple of 2^-64. The bounds rise at rates that differ by α − 1/β, so their roundings move the corner.
            let slack = (1.0 + 4.0 / (alpha - one / beta).to_f64()) / TWO_64;
            let found = common.channel().unwrap();
            assert!((found.q() - q).abs().to_f64() <= slack, "{a} {b}");
            assert!((found.p() - alpha * q).abs().to_f64() <= (alpha.to_f64() + 1.0) * slack, "{a} {b}");
        }
    }
}
