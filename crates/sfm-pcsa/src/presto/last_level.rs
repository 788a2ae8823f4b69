//! Estimates as Presto models them.

use cardinality_estimators::{BitChannel, Confidence, Estimate, LastLevel, LevelCounts, estimate};
use sketch_hash::KeyedHash;
use zeroize::Zeroizing;

use crate::params::PcsaShape;
use crate::private::SfmSketch;
use crate::sketch::PcsaSketch;

impl SfmSketch {
    /// As [`estimate`](Self::estimate) with a choice of how likely the last level is.
    ///
    /// [`LastLevel::Exact`] is what sketches do, here and in Presto: the last level takes the rest, so it is as likely as
    /// the one before. Presto's estimator gives it half of that, which counts 2% too much at a tenth of
    /// `buckets · 2^(levels−1)` items, 10% at half of them and about 20% at all of them. [`LastLevel::Presto`] is for
    /// comparing answers with its.
    pub fn estimate_with(&self, last_level: LastLevel, confidence: Confidence) -> Estimate {
        estimate_bits(self.noisy().bits(), self.shape(), self.channel(), last_level, confidence)
    }
}

impl<H: KeyedHash> PcsaSketch<H> {
    /// As [`estimate`](Self::estimate) with a choice of how likely the last level is; see [`SfmSketch::estimate_with`].
    ///
    /// # Privacy
    /// None at all. To publish a count, [`release`](Self::release) first.
    pub fn estimate_with(&self, last_level: LastLevel, confidence: Confidence) -> Estimate {
        let bits = Zeroizing::new(self.to_bits());
        estimate_bits(&bits, self.shape(), BitChannel::NOISELESS, last_level, confidence)
    }
}

/// # Panics
/// Never for bits of `shape`: every level has as many cells as there are buckets.
fn estimate_bits(
    bits: &[u64],
    shape: PcsaShape,
    channel: BitChannel,
    last_level: LastLevel,
    confidence: Confidence,
) -> Estimate {
    let mut ones = Zeroizing::new(vec![0; usize::from(shape.levels())]);
    gf2_linalg::level_popcounts(bits, shape.buckets() as usize, &mut ones);
    let counts = LevelCounts::pcsa_with(shape.buckets(), &ones, channel, last_level);
    estimate(&counts.expect("a level has as many cells as buckets"), confidence)
}
