//! Sizes of intersections, differences and other formulas, without merging.

use cardinality_estimators::{
    BitChannel, Confidence, Estimate, ParamError, PatternCounts, SetFormula, jaccard, set_estimate as estimate,
};

use crate::error::UnionError;
use crate::merge::check_together;
use crate::patterns::count_patterns;
use crate::private::PrivateBitmap;
use crate::shape::BitmapShape;

/// How many equally likely cells, for PCSA level by level, hold each of the `2^k` patterns of bits in `k` sketches, at
/// most eight.
///
/// Bit `i` of a pattern is the noisy bit of sketch `i`. The counts, with the channels of the sketches, are all that
/// estimates from several sketches need; most callers want [`set_estimate`] or [`jaccard_estimate`].
///
/// # Privacy
/// Costs nothing beyond the releases.
///
/// # Errors
/// [`UnionError::Mismatch`] as for [`union_estimate`](crate::union_estimate): no sketch, different hash or shape, or a
/// release in more than one of them. [`UnionError::Estimate`] for more than eight sketches.
pub fn pattern_counts<S: BitmapShape>(sketches: &[&PrivateBitmap<S>]) -> Result<PatternCounts, UnionError> {
    let first = check_together(sketches)?;
    if sketches.len() > PatternCounts::MAX_SKETCHES {
        return Err(ParamError::SetSketches { found: sketches.len() }.into());
    }
    let layout = first.shape().layout();
    let channels: Vec<BitChannel> = sketches.iter().map(|sketch| sketch.channel()).collect();
    let bitmaps: Vec<&[u64]> = sketches.iter().map(|sketch| sketch.noisy().bits()).collect();
    let runs = layout.groups().map(|(cells, _)| usize::try_from(cells).unwrap_or(usize::MAX));
    Ok(PatternCounts::new(&layout, &channels, count_patterns(&bitmaps, runs))?)
}

/// The number of distinct items in a set formula over the data sets behind up to eight sketches: intersections,
/// differences, and whatever else [`SetFormula`] can say.
///
/// Sketches that are merges themselves stand for the union of their data sets. The value comes from inclusion and
/// exclusion over [union estimates](crate::union_estimate), and its error from all of them together, covariances
/// included. That error is about the error of the union, whatever the size of the answer: a small overlap of large sets
/// is not seen, and the [status](Estimate::status) says so.
///
/// # Privacy
/// Costs nothing beyond the releases. Somebody in several data sets has paid the sum of their ε.
///
/// # Errors
/// As for [`pattern_counts`], and [`UnionError::Estimate`] for a formula of another number of sets.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use sfm_pcsa::cardinality_estimators::{Confidence, SetFormula};
/// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
/// use sfm_pcsa::sketch_hash::DefaultHash;
/// use sfm_pcsa::{PcsaShape, PcsaSketch, set_estimate};
///
/// let mut noise = NoiseRng::from_os()?;
/// let mut release = |items: std::ops::Range<u64>| {
///     let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
///     raw.update_u64_batch(&items.collect::<Vec<_>>());
///     raw.release(Permit::standalone(Epsilon::new(4.0)?), &mut noise).map_err(Box::<dyn core::error::Error>::from)
/// };
/// let (a, b) = (release(0..100_000)?, release(50_000..150_000)?);
/// // In a but not in b.
/// let only = SetFormula::from_membership(2, |sets| sets == 0b01)?;
/// let count = set_estimate(&[&a, &b], &only, Confidence::P95)?.value().ok_or("no value")?;
/// assert!((count / 50_000.0 - 1.0).abs() < 0.27, "ten standard errors of 2.7%");
/// # }
/// # Ok(())
/// # }
/// ```
pub fn set_estimate<S: BitmapShape>(
    sketches: &[&PrivateBitmap<S>],
    formula: &SetFormula,
    confidence: Confidence,
) -> Result<Estimate, UnionError> {
    Ok(estimate(&pattern_counts(sketches)?, formula, confidence)?)
}

/// The Jaccard similarity `|A ∩ B| / |A ∪ B|` of two data sets: an [`Estimate`] of a share, not of a count.
///
/// # Privacy
/// Costs nothing beyond the releases.
///
/// # Errors
/// As for [`pattern_counts`].
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use sfm_pcsa::cardinality_estimators::Confidence;
/// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
/// use sfm_pcsa::sketch_hash::DefaultHash;
/// use sfm_pcsa::{PcsaShape, PcsaSketch, jaccard_estimate};
///
/// let mut noise = NoiseRng::from_os()?;
/// let mut release = |items: std::ops::Range<u64>| {
///     let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
///     raw.update_u64_batch(&items.collect::<Vec<_>>());
///     raw.release(Permit::standalone(Epsilon::new(4.0)?), &mut noise).map_err(Box::<dyn core::error::Error>::from)
/// };
/// let (a, b) = (release(0..100_000)?, release(50_000..150_000)?);
/// let share = jaccard_estimate(&a, &b, Confidence::P95)?.value().ok_or("no value")?;
/// assert!((share - 1.0 / 3.0).abs() < 0.15);
/// # }
/// # Ok(())
/// # }
/// ```
pub fn jaccard_estimate<S: BitmapShape>(
    first: &PrivateBitmap<S>,
    second: &PrivateBitmap<S>,
    confidence: Confidence,
) -> Result<Estimate, UnionError> {
    Ok(jaccard(&pattern_counts(&[first, second])?, confidence)?)
}
