//! The released sketch of a secret sample.

use core::fmt;

use cardinality_estimators::{Confidence, Estimate};
use dp_noise::{Epsilon, NoiseSource, Sampling, loss_under_one_key};
use sketch_hash::HashId;

use super::error::SubsampledMergeError;
use crate::error::MergeError;
use crate::leaf::{Leaf, ReleaseId, multiply_up};
use crate::lineage::MergeForm;
use crate::params::PcsaShape;
use crate::private::SfmSketch;
use crate::union::union_estimate;
use crate::unit::Unit;

/// A private sketch of the items that a secret key keeps. Immutable.
///
/// Two levels belong to every release: ε, towards whoever does not know the key, and ε₀, towards whoever does. It is a private
/// sketch at ε₀ ([`sampled`](Self::sampled)) with rate, name of the key and ε beside it.
///
/// # Privacy
/// Nothing in it tells the key. Whoever may ever see key and sketch counts with ε₀. See [`SubsampleKey`](dp_noise::SubsampleKey).
#[derive(Clone, PartialEq)]
pub struct SubsampledSfmSketch {
    inner: SfmSketch,
    sampling: Sampling,
    /// One for each release of `inner`, in its order.
    levels: Vec<Epsilon>,
}

/// One release of a secret sample, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubsampledSfmRelease {
    leaf: Leaf,
    epsilon: Epsilon,
}

impl SubsampledSfmRelease {
    /// The name of the release.
    #[must_use]
    pub const fn id(&self) -> ReleaseId {
        self.leaf.id()
    }

    /// ε as given, of one [unit](Self::unit), while the key is secret and if nothing else is released under it.
    #[must_use]
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// ε₀ of one unit: the level towards whoever knows the key.
    #[must_use]
    pub const fn epsilon_if_key_known(&self) -> Epsilon {
        self.leaf.epsilon()
    }

    /// Whom the release protects.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.leaf.unit()
    }

    /// The flip probability, as an integer over 2⁶⁴.
    #[must_use]
    pub fn flip_numerator(&self) -> u64 {
        self.leaf.q_numerator()
    }

    /// The level of noise on one cell, rounded up.
    fn cell_level(&self) -> f64 {
        self.leaf.noise().epsilon_upper().get()
    }
}

impl fmt::Debug for SubsampledSfmSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubsampledSfmSketch")
            .field("sampled", &self.inner)
            .field("sampling", &self.sampling)
            .field("epsilon", &self.epsilon())
            .finish_non_exhaustive()
    }
}

impl SubsampledSfmSketch {
    pub(super) fn of_release(inner: SfmSketch, sampling: Sampling, epsilon: Epsilon) -> Self {
        Self { inner, sampling, levels: vec![epsilon] }
    }

    /// From parts that were checked.
    pub(super) const fn from_parts(inner: SfmSketch, sampling: Sampling, levels: Vec<Epsilon>) -> Self {
        Self { inner, sampling, levels }
    }

    /// The sketch of the kept items by itself, which is one at ε₀: its counts are those of the sample.
    #[must_use]
    pub const fn sampled(&self) -> &SfmSketch {
        &self.inner
    }

    /// Rate and name of the key.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> PcsaShape {
        self.inner.shape()
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.inner.hash_id()
    }

    /// Whether some noise came from the reproducible test generator.
    #[must_use]
    pub fn insecure_noise(&self) -> bool {
        self.inner.insecure_noise()
    }

    /// The releases in it, in the order of its file.
    #[must_use]
    pub fn releases(&self) -> impl ExactSizeIterator<Item = SubsampledSfmRelease> + '_ {
        let of = |(leaf, epsilon): (&Leaf, &Epsilon)| SubsampledSfmRelease { leaf: *leaf, epsilon: *epsilon };
        self.inner.leaves().iter().zip(&self.levels).map(of)
    }

    pub(super) fn levels(&self) -> &[Epsilon] {
        &self.levels
    }

    /// The largest ε among the releases, while the key is secret.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.levels.iter().fold(0.0, |largest, epsilon| epsilon.get().max(largest))
    }

    /// The largest ε₀ among the releases: towards whoever knows the key.
    #[must_use]
    pub fn epsilon_if_key_known(&self) -> f64 {
        self.inner.epsilon()
    }

    /// What somebody pays who is in all of the data sets, while the key is secret, rounded up: more than the sum of the ε, since
    /// all samples have an item or none ([`loss_under_one_key`]). For users, times the most items of a user. `None` when some releases
    /// protect items and others users.
    #[must_use]
    pub fn epsilon_total(&self) -> Option<f64> {
        self.inner.epsilon_total()?;
        let rate = self.sampling.rate;
        let levels: Vec<_> = self.releases().map(|release| (rate, release.cell_level())).collect();
        let items = self.releases().map(|release| release.unit().max_items()).max().unwrap_or(1);
        let loss = multiply_up(loss_under_one_key(&levels), f64::from(items));
        // Of one release, what was paid for is never less.
        Some(if let [one] = self.levels.as_slice() { loss.min(one.get()) } else { loss })
    }

    /// The private sketch of the union of the data sets, sampled by the same key; see [`SfmSketch::merge_all`].
    ///
    /// # Privacy
    /// Post-processing of the inputs: costs nothing more.
    ///
    /// # Errors
    /// [`SubsampledMergeError::Sampling`] for other rates or keys, [`SubsampledMergeError::Sketch`] as for
    /// [`SfmSketch::merge_all`].
    pub fn merge_all<R>(sketches: &[&Self], form: MergeForm, noise: &mut R) -> Result<Self, SubsampledMergeError>
    where
        R: NoiseSource + ?Sized,
    {
        let first = check_together(sketches)?;
        let inner = SfmSketch::merge_all(&samples_of(sketches), form, noise)?;
        let mut releases: Vec<_> = sketches.iter().flat_map(|sketch| sketch.releases()).collect();
        releases.sort_unstable_by_key(SubsampledSfmRelease::id);
        // In the order of the leaves, all of which are there, each once.
        let level = |leaf: &Leaf| {
            let place = releases.binary_search_by_key(&leaf.id(), SubsampledSfmRelease::id).unwrap_or_default();
            releases[place].epsilon()
        };
        let levels = inner.leaves().iter().map(level).collect();
        Ok(Self { inner, sampling: first.sampling, levels })
    }

    /// The number of distinct items, with the errors of the sketch and of the sampling: see [`Estimate::of_sample`].
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        of_sample(&self.inner.estimate(confidence), self.sampling)
    }
}

/// The number of distinct items in the union of the data sets behind several sketches of one sample, without merging; see
/// [`union_estimate`].
///
/// # Errors
/// [`SubsampledMergeError`].
pub fn subsampled_union_estimate(
    sketches: &[&SubsampledSfmSketch],
    confidence: Confidence,
) -> Result<Estimate, SubsampledMergeError> {
    let first = check_together(sketches)?;
    Ok(of_sample(&union_estimate(&samples_of(sketches), confidence)?, first.sampling))
}

fn check_together<'a>(sketches: &[&'a SubsampledSfmSketch]) -> Result<&'a SubsampledSfmSketch, SubsampledMergeError> {
    let (&first, others) = sketches.split_first().ok_or(MergeError::Empty)?;
    others.iter().try_for_each(|other| first.sampling.check(other.sampling))?;
    Ok(first)
}

fn samples_of<'a>(sketches: &[&'a SubsampledSfmSketch]) -> Vec<&'a SfmSketch> {
    sketches.iter().map(|sketch| &sketch.inner).collect()
}

/// About all items, from an answer about the kept ones.
pub(super) fn of_sample(kept: &Estimate, sampling: Sampling) -> Estimate {
    // Counts below 2^200 over rates of 2^-32 at least: nothing overflows.
    kept.of_sample(sampling.rate.get(), 1.0).unwrap_or(Estimate::not_converged(kept.confidence()))
}
