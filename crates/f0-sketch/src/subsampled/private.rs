//! The released sketch of a secret sample.

use core::fmt;

use cardinality_estimators::parity::SetCombination;
use cardinality_estimators::{Confidence, Estimate};
use dp_noise::{Epsilon, Sampling, loss_under_one_key};
use sketch_hash::HashId;

use super::error::SubsampledMergeError;
use crate::error::MergeError;
use crate::leaf::{Leaf, ReleaseId};
use crate::mode::Set;
use crate::noise::{level_of, multiply_up};
use crate::private::PrivateF0Sketch;
use crate::sets::SketchPair;
use crate::shape::F0Shape;
use crate::unit::Unit;
use crate::weight::WeightRule;

/// A private sketch of the items that a secret key keeps. Immutable.
///
/// Two levels belong to every release: ε, towards whoever does not know the key, and ε₀, towards whoever does. It is a private
/// sketch at ε₀ ([`sampled`](Self::sampled)) with rate, name of the key and ε beside it.
///
/// # Privacy
/// Nothing in it tells the key. Whoever may ever see key and sketch counts with ε₀. See [`SubsampleKey`](dp_noise::SubsampleKey).
#[derive(Clone, PartialEq)]
pub struct SubsampledF0Sketch {
    inner: PrivateF0Sketch<Set>,
    sampling: Sampling,
    /// One for each release of `inner`, in its order.
    levels: Vec<Epsilon>,
}

/// One release of a secret sample, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubsampledF0Release {
    leaf: Leaf,
    epsilon: Epsilon,
}

impl SubsampledF0Release {
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

    /// The flip probability.
    #[must_use]
    pub fn flip_probability(&self) -> f64 {
        self.leaf.flip_probability()
    }

    /// The level of noise on one cell, rounded up.
    pub(crate) fn cell_level(&self) -> f64 {
        level_of(dp_noise::DyadicProbability::from_numerator(self.leaf.flip_numerator()))
    }
}

impl fmt::Debug for SubsampledF0Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubsampledF0Sketch")
            .field("sampled", &self.inner)
            .field("sampling", &self.sampling)
            .field("epsilon", &self.epsilon())
            .finish_non_exhaustive()
    }
}

impl SubsampledF0Sketch {
    pub(super) fn of_release(inner: PrivateF0Sketch<Set>, sampling: Sampling, epsilon: Epsilon) -> Self {
        Self { inner, sampling, levels: vec![epsilon] }
    }

    /// From parts that were checked.
    pub(super) const fn from_parts(inner: PrivateF0Sketch<Set>, sampling: Sampling, levels: Vec<Epsilon>) -> Self {
        Self { inner, sampling, levels }
    }

    /// The sketch of the kept items by itself, which is one at ε₀: its counts are those of the sample.
    #[must_use]
    pub const fn sampled(&self) -> &PrivateF0Sketch<Set> {
        &self.inner
    }

    /// Rate and name of the key.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        self.inner.shape()
    }

    /// Whether items have weights, and their largest.
    #[must_use]
    pub const fn weight_rule(&self) -> WeightRule {
        self.inner.weight_rule()
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.inner.hash_id()
    }

    /// Whether some noise came from the reproducible test generator.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.inner.insecure_noise()
    }

    /// The releases in it, in rising order of their names.
    #[must_use]
    pub fn releases(&self) -> impl ExactSizeIterator<Item = SubsampledF0Release> + '_ {
        let of = |(leaf, epsilon): (&Leaf, &Epsilon)| SubsampledF0Release { leaf: *leaf, epsilon: *epsilon };
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

    /// The xor of two: of the symmetric difference of the sets, sampled by the same key.
    ///
    /// # Errors
    /// As [`merge_all`](Self::merge_all).
    pub fn merge(&self, other: &Self) -> Result<Self, SubsampledMergeError> {
        Self::merge_all(&[self, other])
    }

    /// The xor of any number.
    ///
    /// # Privacy
    /// Post-processing of the inputs: costs nothing more.
    ///
    /// # Errors
    /// [`SubsampledMergeError::Sampling`] for other rates or keys, [`SubsampledMergeError::Sketch`] as for
    /// [`PrivateF0Sketch::merge_all`].
    pub fn merge_all(sketches: &[&Self]) -> Result<Self, SubsampledMergeError> {
        let (first, others) = sketches.split_first().ok_or(MergeError::Empty)?;
        others.iter().try_for_each(|other| first.sampling.check(other.sampling))?;
        let inner = PrivateF0Sketch::merge_all(&sketches.iter().map(|sketch| &sketch.inner).collect::<Vec<_>>())?;
        let mut releases: Vec<_> = sketches.iter().flat_map(|sketch| sketch.releases()).collect();
        // In the order of the leaves.
        releases.sort_unstable_by_key(SubsampledF0Release::id);
        let levels = releases.iter().map(SubsampledF0Release::epsilon).collect();
        Ok(Self { inner, sampling: first.sampling, levels })
    }

    /// The number of distinct items, or the sum of their weights, with the errors of the sketch and of the sampling: see
    /// [`Estimate::of_sample`].
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        of_sample(&self.inner.estimate(confidence), self.sampling, self.weight_rule())
    }

    /// The size of a combination of two sets, of which the samples were taken with one key: see [`SketchPair`].
    ///
    /// # Errors
    /// [`SubsampledMergeError`] as for [`merge`](Self::merge).
    pub fn estimate_with(
        &self,
        other: &Self,
        combination: SetCombination,
        confidence: Confidence,
    ) -> Result<Estimate, SubsampledMergeError> {
        self.sampling.check(other.sampling)?;
        let pair = SketchPair::new(&self.inner, &other.inner)?;
        Ok(of_sample(&pair.estimate(combination, confidence), self.sampling, self.weight_rule()))
    }
}

/// About all items, from an answer about the kept ones.
pub(super) fn of_sample(kept: &Estimate, sampling: Sampling, rule: WeightRule) -> Estimate {
    // Counts below 2^200 over rates of 2^-32 at least: nothing overflows.
    let all = kept.of_sample(sampling.rate.get(), rule.scale());
    all.unwrap_or(Estimate::not_converged(kept.confidence()))
}
