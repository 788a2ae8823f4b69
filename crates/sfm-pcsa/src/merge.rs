//! Merging private sketches.

use dp_noise::NoiseSource;
use sketch_hash::HashId;

use crate::error::MergeError;
use crate::lineage::MergeForm;
use crate::noisy::NoisyBits;
use crate::private::PrivateBitmap;
use crate::shape::BitmapShape;

impl<S: BitmapShape> PrivateBitmap<S> {
    /// The private sketch of the union of two data sets.
    ///
    /// The output bit of a cell is drawn from the two noisy bits so that it is again a flipped version of the true
    /// cell of the union, with a known channel [HTC23, Section 4]. Any tree of merges in one form gives the same channel
    /// as [merging all at once](Self::merge_all).
    ///
    /// If only the *number* of items in the union is wanted, [`union_estimate`](crate::union_estimate) draws no coins
    /// and is more accurate.
    ///
    /// # Privacy
    /// Post-processing of the inputs: costs nothing more, and whoever saw the inputs learns nothing new. The coins come
    /// from a [`NoiseSource`] because [`epsilon_if_seen_alone`](Self::epsilon_if_seen_alone) holds only while they are
    /// secret; coins of the insecure test generator mark the result.
    ///
    /// # Errors
    /// [`MergeError`] for another hash or shape, for a release that is in both (a sketch never merges with itself), for
    /// inputs whose noise leaves nothing, and when there is no entropy.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::{MergeForm, PcsaShape, PcsaSketch};
    /// use sfm_pcsa::cardinality_estimators::Confidence;
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    ///
    /// let mut noise = NoiseRng::from_os()?;
    /// let mut release = |items: std::ops::Range<u64>| {
    ///     let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    ///     raw.update_u64_batch(&items.collect::<Vec<_>>());
    ///     raw.release(Permit::standalone(Epsilon::new(2.0)?), &mut noise).map_err(Box::<dyn core::error::Error>::from)
    /// };
    /// let (a, b) = (release(0..60_000)?, release(40_000..100_000)?);
    ///
    /// let union = a.merge(&b, MergeForm::Extremal, &mut noise)?;
    /// let count = union.estimate(Confidence::P95).value().ok_or("no value")?;
    /// assert!((count / 100_000.0 - 1.0).abs() < 0.19, "ten standard errors of 1.8%");
    /// assert_eq!((union.epsilon(), union.epsilon_total()), (2.0, Some(4.0)));
    /// assert!(a.merge(&a, MergeForm::Extremal, &mut noise).is_err(), "one release cannot be used twice");
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge<R>(&self, other: &Self, form: MergeForm, noise: &mut R) -> Result<Self, MergeError>
    where
        R: NoiseSource + ?Sized,
    {
        Self::merge_all(&[self, other], form, noise)
    }

    /// The private sketch of the union of any number of data sets, with one draw a cell.
    ///
    /// One input is returned as it is.
    ///
    /// # Privacy
    /// As for [`merge`](Self::merge).
    ///
    /// # Errors
    /// As for [`merge`](Self::merge); [`MergeError::Empty`] without any input, [`MergeError::TooManyReleases`] when the
    /// result would record more than [`MAX_RELEASES`](crate::MAX_RELEASES).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// use sfm_pcsa::{MergeForm, PcsaShape, PcsaSketch, SfmSketch};
    /// let mut noise = NoiseRng::from_os()?;
    /// let mut parts = Vec::new();
    /// for epsilon in [1.0, 2.0, 4.0] {
    ///     let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    ///     parts.push(raw.release(Permit::standalone(Epsilon::new(epsilon)?), &mut noise)?);
    /// }
    /// let all = SfmSketch::merge_all(&parts.iter().collect::<Vec<_>>(), MergeForm::Extremal, &mut noise)?;
    /// // p* = min p_i and a* = Π a_i with a_i = 1 − e^−ε_i.
    /// assert_eq!(all.channel().p(), parts[0].channel().p());
    /// assert!((all.channel().a() - 0.6321 * 0.8647 * 0.9817).abs() < 1e-4);
    /// assert_eq!(all.epsilon_total(), Some(7.0));
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge_all<R>(sketches: &[&Self], form: MergeForm, noise: &mut R) -> Result<Self, MergeError>
    where
        R: NoiseSource + ?Sized,
    {
        let first = check_together(sketches)?;
        let inputs: Vec<_> = sketches.iter().map(|sketch| sketch.noisy()).collect();
        Ok(Self::from_noisy(first.shape(), first.hash_id(), NoisyBits::merge_all(&inputs, form, noise)?))
    }
}

/// Checks that sketches can be combined, and returns the first.
pub(crate) fn check_together<'a, S: BitmapShape>(
    sketches: &[&'a PrivateBitmap<S>],
) -> Result<&'a PrivateBitmap<S>, MergeError> {
    let (&first, others) = sketches.split_first().ok_or(MergeError::Empty)?;
    for other in others {
        check_alike((first.hash_id(), first.shape()), (other.hash_id(), other.shape()))?;
    }
    NoisyBits::check_disjoint(&sketches.iter().map(|sketch| sketch.noisy()).collect::<Vec<_>>())?;
    Ok(first)
}

/// Checks that two bitmaps have one hash and one shape.
pub(crate) fn check_alike<S: BitmapShape>(first: (HashId, S), other: (HashId, S)) -> Result<(), MergeError> {
    let ((expected, expected_shape), (found, found_shape)) = (first, other);
    if expected != found {
        return Err(MergeError::Hash { expected, found });
    }
    if expected_shape != found_shape {
        return Err(MergeError::Shape { expected: expected_shape.into(), found: found_shape.into() });
    }
    Ok(())
}
