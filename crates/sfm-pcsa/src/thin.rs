//! Making noise symmetric by adding to it.

use dp_noise::NoiseSource;

use crate::channel::{Channel, ChannelError};
use crate::coin::{Coins, Threshold};
use crate::double_double::DoubleDouble;

/// The least noise on top of a channel that makes `p + q = 1` [HTC23, Section 4].
///
/// Where `p + q > 1` ones are too many, and each is kept with probability `1/(p + q)`, which leaves `q/p` as it was.
/// Where `p + q < 1` each zero is raised with probability `(1 − p − q)/(2 − p − q)`, which leaves `(1 − p)/(1 − q)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thinning {
    rule: Rule,
    channel: Channel,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    Keep(Threshold),
    Raise(Threshold),
}

impl Thinning {
    /// `None` for a channel that is symmetric already, to the 2⁻⁶⁴ that coins can tell.
    pub(crate) fn new(channel: Channel) -> Result<Option<Self>, ChannelError> {
        let one = DoubleDouble::ONE;
        let (p, sum) = (channel.p(), channel.p() + channel.q());
        let (rule, p, a) = if sum >= one {
            (Rule::Keep(Threshold::from_probability(one / sum)?), p / sum, channel.a())
        } else {
            let (lack, not_q) = (DoubleDouble::TWO - sum, one - channel.q());
            (Rule::Raise(Threshold::from_probability((one - sum) / lack)?), not_q / lack, channel.d() / not_q)
        };
        if matches!(rule, Rule::Keep(Threshold::Always) | Rule::Raise(Threshold::NEVER)) {
            return Ok(None);
        }
        Ok(Some(Self { rule, channel: Channel::from_merge(p, a)? }))
    }

    /// The channel afterwards.
    pub(crate) fn channel(&self) -> Channel {
        self.channel
    }

    /// Sends noisy bits through it; bits beyond the last cell may come out as ones.
    pub(crate) fn draw<R: NoiseSource + ?Sized>(&self, words: &[u64], noise: &mut R) -> Vec<u64> {
        let mut coins = Coins::new(noise);
        let draw = |&word: &u64| match self.rule {
            Rule::Keep(threshold) => coins.by_class(&[(word, threshold)]),
            Rule::Raise(threshold) => word | coins.by_class(&[(!word, threshold)]),
        };
        words.iter().map(draw).collect()
    }

    /// P(out = 1) for a noisy 0 and a noisy 1.
    #[cfg(test)]
    pub(crate) fn table(&self) -> [Threshold; 2] {
        match self.rule {
            Rule::Keep(threshold) => [Threshold::NEVER, threshold],
            Rule::Raise(threshold) => [threshold, Threshold::Always],
        }
    }
}
