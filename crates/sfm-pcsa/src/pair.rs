//! Drawing a bit from each pair of noisy bits.

use dp_noise::NoiseSource;

use crate::channel::ChannelError;
use crate::coin::{Coins, Threshold};
use crate::double_double::DoubleDouble;

/// With which probability the output is 1, by the bits `t1 t2`; patterns of one threshold together.
#[derive(Clone, Debug)]
pub(crate) struct PairRule(Vec<Class>);

/// Patterns of two noisy bits that share a threshold.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Bit `t` is set for pattern `t = 2 t1 + t2`.
    patterns: u64,
    threshold: Threshold,
}

impl PairRule {
    /// From P(out = 1) for `t1 t2` = 00, 01, 10, 11.
    pub(crate) fn new(table: [DoubleDouble; 4]) -> Result<Self, ChannelError> {
        let mut classes: Vec<Class> = Vec::with_capacity(4);
        for (t, v) in table.into_iter().enumerate() {
            let threshold = Threshold::from_probability(v)?;
            match classes.iter_mut().find(|class| class.threshold == threshold) {
                Some(class) => class.patterns |= 1 << t,
                None => classes.push(Class { patterns: 1 << t, threshold }),
            }
        }
        Ok(Self(classes))
    }

    /// Whether every probability is 0 or 1, so that no coin is drawn.
    pub(crate) fn is_deterministic(&self) -> bool {
        self.0.iter().all(|class| matches!(class.threshold, Threshold::NEVER | Threshold::Always))
    }

    /// The output of 64 cells.
    pub(crate) fn draw_word<R: NoiseSource + ?Sized>(&self, x: u64, y: u64, coins: &mut Coins<'_, R>) -> u64 {
        let lanes = [!x & !y, !x & y, x & !y, x & y];
        let mut masks = [(0, Threshold::NEVER); 4];
        for (slot, class) in masks.iter_mut().zip(&self.0) {
            let chosen = lanes.iter().enumerate().map(|(t, lanes)| lanes & (class.patterns >> t & 1).wrapping_neg());
            *slot = (chosen.fold(0, |mask, lanes| mask | lanes), class.threshold);
        }
        coins.by_class(&masks[..self.0.len()])
    }

    /// The output of whole bitmaps of one length; bits beyond the last cell are as for two zeros.
    pub(crate) fn draw<R: NoiseSource + ?Sized>(&self, first: &[u64], second: &[u64], noise: &mut R) -> Vec<u64> {
        let mut coins = Coins::new(noise);
        first.iter().zip(second).map(|(&x, &y)| self.draw_word(x, y, &mut coins)).collect()
    }

    /// The thresholds for `t1 t2` = 00, 01, 10, 11.
    #[cfg(test)]
    pub(crate) fn thresholds(&self) -> [Threshold; 4] {
        core::array::from_fn(|t| {
            let class = self.0.iter().find(|class| class.patterns >> t & 1 == 1);
            class.map_or(Threshold::NEVER, |class| class.threshold)
        })
    }
}
