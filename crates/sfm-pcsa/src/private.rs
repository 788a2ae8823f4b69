//! The private sketch of every family.

use cardinality_estimators::{BitChannel, Confidence, Estimate};
use sketch_hash::HashId;

use crate::counts::estimate_bits;
use crate::leaf::Leaf;
use crate::noisy::{NoisyBits, units_of};
use crate::params::PcsaShape;
use crate::shape::BitmapShape;
use crate::unit::Unit;

/// A private sketch: the flipped cells, and where they come from. Immutable.
///
/// Made by the `release` of a raw sketch, by merging others, or from bytes. It knows the channel its bits went through,
/// so it can be estimated and merged without any further knowledge. The families have aliases of their own, such as
/// [`SfmSketch`].
///
/// # Privacy
/// Whatever is computed from it costs nothing more. Each release in it protects one [unit](Self::units), an item or a
/// user. Three numbers tell what it cost to make: [`epsilon`](Self::epsilon), the largest level of the releases in it,
/// is what one data set paid at most; [`epsilon_total`](Self::epsilon_total) is what somebody in all of them paid;
/// [`epsilon_if_seen_alone`](Self::epsilon_if_seen_alone) is information about the merged bits only, not to be booked.
///
/// # Examples
/// See [`PcsaSketch::release`](crate::PcsaSketch::release) and [`PrivateBitmap::merge`].
#[derive(Clone, PartialEq)]
pub struct PrivateBitmap<S: BitmapShape> {
    shape: S,
    hash_id: HashId,
    noisy: NoisyBits,
}

/// The private sketch of PCSA cells: Sketch-Flip-Merge \[HTC23\].
pub type SfmSketch = PrivateBitmap<PcsaShape>;

impl<S: BitmapShape> core::fmt::Debug for PrivateBitmap<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.noisy.describe(f.debug_struct(S::PRIVATE_NAME).field("shape", &self.shape).field("hash", &self.hash_id))
    }
}

impl<S: BitmapShape> PrivateBitmap<S> {
    pub(crate) fn from_noisy(shape: S, hash_id: HashId, noisy: NoisyBits) -> Self {
        Self { shape, hash_id, noisy }
    }

    /// The shape, which two sketches must share to be merged.
    #[must_use]
    pub const fn shape(&self) -> S {
        self.shape
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// How a true cell became the stored one: P(1→1) and P(0→1), over all noise and all merges.
    #[must_use]
    pub fn channel(&self) -> BitChannel {
        self.noisy.channel()
    }

    /// The releases that this sketch was made from, one unless it is a merge.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        self.noisy.leaves()
    }

    /// Whom the releases protect: each unit that occurs, once, the smallest first.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        units_of(self.leaves())
    }

    /// The largest ε among the releases: what one data set paid at most.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.noisy.epsilon()
    }

    /// The sum of ε over the releases, rounded up: what somebody paid who is in all of the data sets. `None` when some
    /// releases protect items and others users, whose ε do not add up.
    ///
    /// A ledger for those people books the inputs, hence this number, never
    /// [`epsilon_if_seen_alone`](Self::epsilon_if_seen_alone).
    #[must_use]
    pub fn epsilon_total(&self) -> Option<f64> {
        self.noisy.epsilon_total()
    }

    /// The level of the bits of this sketch alone, for a unit that leaves the union at once, rounded up.
    ///
    /// Holds only if whoever sees this sketch sees none of its inputs and no other merge that shares one, and if the
    /// coins of the merges are unknown. For a release as it is, it is the level that its flips realise. A user in
    /// several data sets may have added the items allowed in each. `None` when the noise came from an insecure
    /// generator or was [made elsewhere](Leaf::made_elsewhere), and when some releases protect items and others users.
    #[must_use]
    pub fn epsilon_if_seen_alone(&self) -> Option<f64> {
        self.noisy.epsilon_if_seen_alone(self.shape.cells_per_item())
    }

    /// Whether some noise or some coins came from the reproducible test generator, so that nobody is protected.
    #[must_use]
    pub fn insecure_noise(&self) -> bool {
        self.noisy.insecure_noise()
    }

    /// The number of distinct items in the union of the data sets, with its error.
    ///
    /// Maximum of the composite likelihood of the ones in each group of equally likely cells [HTC23, Section 5]. Noise
    /// can leave no signal, and the range of a shape is bounded: the [status](Estimate::status) says so.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        estimate_bits(self.noisy.bits(), self.shape, self.channel(), confidence)
    }

    pub(crate) fn noisy(&self) -> &NoisyBits {
        &self.noisy
    }
}

impl SfmSketch {
    /// Ones in each level: all that an estimate reads.
    #[must_use]
    pub fn ones_per_level(&self) -> Vec<u64> {
        self.noisy.ones_per_level(self.shape())
    }
}
