//! The private sketch.

use cardinality_estimators::{BitChannel, Confidence, Estimate};
use sketch_hash::HashId;

use crate::channel::{Channel, ChannelError};
use crate::counts::estimate_bits;
use crate::double_double::{DoubleDouble, TWO_64, to_f64};
use crate::lineage::{Leaf, Lineage, Outcome};
use crate::params::PcsaShape;

/// A private sketch: the flipped cells, and where they come from. Immutable.
///
/// Made by [`PcsaSketch::release`](crate::PcsaSketch::release), by merging others, or from bytes. It knows the channel
/// its bits went through, so it can be estimated and merged without any further knowledge.
///
/// # Privacy
/// Whatever is computed from it costs nothing more. Three numbers tell what it cost to make:
/// [`epsilon`](Self::epsilon), the largest level of the releases in it, is what one data set paid at most;
/// [`epsilon_total`](Self::epsilon_total) is what somebody in all of them paid;
/// [`epsilon_if_seen_alone`](Self::epsilon_if_seen_alone) is information about the merged bits only, not to be booked.
///
/// # Examples
/// See [`PcsaSketch::release`](crate::PcsaSketch::release) and [`SfmSketch::merge`].
#[derive(Clone, PartialEq)]
pub struct SfmSketch {
    shape: PcsaShape,
    hash_id: HashId,
    bits: Vec<u64>,
    lineage: Lineage,
    outcome: Outcome,
    channel: BitChannel,
    insecure_noise: bool,
}

impl core::fmt::Debug for SfmSketch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SfmSketch")
            .field("shape", &self.shape)
            .field("hash", &self.hash_id)
            .field("releases", &self.lineage.leaves().len())
            .field("epsilon", &self.epsilon())
            .field("epsilon_total", &self.epsilon_total())
            .field("insecure_noise", &self.insecure_noise)
            .finish_non_exhaustive()
    }
}

/// The parts of a sketch whose history has been evaluated.
pub(crate) struct Parts {
    pub(crate) shape: PcsaShape,
    pub(crate) hash_id: HashId,
    /// Level-major; bits beyond the last cell are zero.
    pub(crate) bits: Vec<u64>,
    pub(crate) lineage: Lineage,
    pub(crate) outcome: Outcome,
    pub(crate) insecure_noise: bool,
}

impl SfmSketch {
    /// One release; bits beyond the last cell are still random.
    pub(crate) fn from_release(
        shape: PcsaShape,
        hash_id: HashId,
        mut bits: Vec<u64>,
        leaf: Leaf,
        insecure_noise: bool,
    ) -> Result<Self, ChannelError> {
        if let (Some(last), used @ 1..) = (bits.last_mut(), shape.cells() % 64) {
            *last &= (1 << used) - 1;
        }
        let outcome = Outcome { channel: leaf.channel()?, randomised: 0 };
        Self::from_parts(Parts { shape, hash_id, bits, lineage: Lineage::single(leaf), outcome, insecure_noise })
    }

    pub(crate) fn from_parts(parts: Parts) -> Result<Self, ChannelError> {
        let Parts { shape, hash_id, bits, lineage, outcome, insecure_noise } = parts;
        let channel = outcome.channel.to_bit_channel()?;
        Ok(Self { shape, hash_id, bits, lineage, outcome, channel, insecure_noise })
    }

    /// Buckets and levels.
    #[must_use]
    pub const fn shape(&self) -> PcsaShape {
        self.shape
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// How a true cell became the stored one: P(1→1) and P(0→1), over all noise and all merges.
    #[must_use]
    pub const fn channel(&self) -> BitChannel {
        self.channel
    }

    /// The releases that this sketch was made from, one unless it is a merge.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        self.lineage.leaves()
    }

    /// Ones in each level: all that an estimate reads.
    #[must_use]
    pub fn ones_per_level(&self) -> Vec<u64> {
        let mut ones = vec![0; usize::from(self.shape.levels())];
        gf2_linalg::level_popcounts(&self.bits, self.shape.buckets() as usize, &mut ones);
        ones
    }

    /// The largest ε among the releases: what one data set paid at most.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.leaves().iter().fold(0.0, |largest, leaf| leaf.epsilon().get().max(largest))
    }

    /// The sum of ε over the releases, rounded up: what somebody paid who is in all of the data sets.
    ///
    /// A ledger for those people books the inputs, hence this number, never
    /// [`epsilon_if_seen_alone`](Self::epsilon_if_seen_alone).
    #[must_use]
    pub fn epsilon_total(&self) -> f64 {
        self.leaves().iter().fold(0.0, |sum, leaf| add_up(sum, leaf.epsilon().get()))
    }

    /// The level of the bits of this sketch alone, for somebody who leaves the union at once, rounded up.
    ///
    /// Holds only if whoever sees this sketch sees none of its inputs and no other merge that shares one, and if the
    /// coins of the merges are unknown. For a sketch of one release it is the level that its flips realise. `None` when
    /// the noise came from an insecure generator.
    #[must_use]
    pub fn epsilon_if_seen_alone(&self) -> Option<f64> {
        if self.insecure_noise {
            return None;
        }
        let level = match self.leaves() {
            [leaf] => leaf.realised_level(),
            leaves => level_seen_alone(&self.outcome, leaves.len()),
        };
        Some(level.min(self.epsilon_total()))
    }

    /// Whether some noise or some coins came from the reproducible test generator, so that nobody is protected.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.insecure_noise
    }

    /// The number of distinct items in the union of the data sets, with its error.
    ///
    /// Maximum of the composite likelihood of the ones in each level, where a cell of level `j` reads one with
    /// probability `p − d γ_j^n` [HTC23, Section 5]. Noise can leave no signal, and the range of a shape is bounded:
    /// the [status](Estimate::status) says so.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        estimate_bits(&self.bits, self.shape, self.channel, confidence)
    }

    pub(crate) fn bits(&self) -> &[u64] {
        &self.bits
    }

    pub(crate) fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome
    }
}

/// The level of the merged channel of `leaves` releases, plus what the rounding of merge probabilities may add, rounded
/// up.
///
/// A merge probability is a multiple of 2⁻⁶⁴ less than 2⁻⁶⁴ away from the ideal one, and the merges after it pass a
/// deviation on without enlarging it. So after `k` randomised merges P(1|s) is within `e = k 2⁻⁶⁴` of `p*` or `q*`, and
/// `ln((p*+e)/(q*−e)) ≤ ln(p*/q*) + 2e/(q*−e)`; the same for zeros with `1 − p*`.
pub(crate) fn level_seen_alone(outcome: &Outcome, leaves: usize) -> f64 {
    /// Covers a few roundings of relative size 2⁻⁵³.
    const UP: f64 = 1.0 + 8.0 * f64::EPSILON;
    /// Bounds the error of `1 − a` and `1 − p` from each release and its merge, 2⁻⁹⁶.
    const DIGIT: f64 = 1.0 / (TWO_64 * 4_294_967_296.0);
    let channel: Channel = outcome.channel;
    let [q, not_p] = [channel.q(), channel.not_p()].map(DoubleDouble::to_f64);
    let blur = to_f64(leaves as u64) * DIGIT * (1.0 / q + 1.0 / not_p);
    let level = (channel.level() + blur) * UP;
    if outcome.randomised == 0 {
        return level;
    }
    let error = f64::from(outcome.randomised) / TWO_64;
    let room = q.min(not_p) - error;
    if room > 0.0 { (level + 2.0 * error / room * UP).next_up() } else { f64::INFINITY }
}

/// The least `f64` that is not below `a + b`.
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    if error > 0.0 { sum.next_up() } else { sum }
}
