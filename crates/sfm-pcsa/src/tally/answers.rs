//! The size of the union of tallied sketches.

use core::ops::Range;

use cardinality_estimators::tally::{SizeSpread, TallyClass, TallyCounts, TallyEstimate, estimate_union, point_union};
use cardinality_estimators::{CellLayout, Confidence, Estimate, LevelCounts, ParamError, estimate};

use super::histogram::joint_numbers;
use super::planes::Planes;
use super::{SfmTally, Tallied, TallyError};
use crate::counts::runs;
use crate::error::UnionError;
use crate::merge::check_together;
use crate::private::PrivateBitmap;
use crate::shape::{BitmapShape, ShapeInternals};

impl SfmTally {
    /// Level by level, how many cells hold every combination of numbers of the classes: with the [sizes](Self::sizes),
    /// all that an estimate reads.
    ///
    /// # Privacy
    /// Costs nothing beyond the releases.
    ///
    /// # Errors
    /// [`TallyError::Estimate`] for more than two classes, and when the numbers have more than
    /// [`TallyCounts::MAX_STATES`] combinations: [`thin`](Self::thin) the tally then.
    pub fn counts(&self) -> Result<TallyCounts, TallyError> {
        let planes: Vec<&Planes> = self.classes.iter().map(|class| &class.planes).collect();
        Ok(counted(&self.shape.layout(), &self.classes(), &planes)?)
    }

    /// How much the sizes of the single data sets differ, each from the ones per level of its release.
    ///
    /// `None` for one release, and when some data set has no size, say because its sketch is saturated.
    ///
    /// # Privacy
    /// Costs nothing beyond the releases.
    #[must_use]
    pub fn sizes(&self) -> Option<SizeSpread> {
        spread(self.releases.iter().map(|release| self.size(release)))
    }

    fn size(&self, release: &Tallied) -> Option<Estimate> {
        let channel = release.flips().bit_channel().ok()?;
        let ones: Vec<u64> = release.ones.iter().map(|&ones| u64::from(ones)).collect();
        let counts = LevelCounts::pcsa(self.shape.buckets(), &ones, channel).ok()?;
        Some(estimate(&counts, Confidence::P95))
    }

    /// The number of distinct items in the union of the data sets behind the releases.
    ///
    /// See [`estimate_union`] for the method, which the answer names, and for the meaning of its parts. Takes four
    /// milliseconds for eight releases, a quarter of a second for 32 and several seconds for 128.
    ///
    /// # Privacy
    /// Costs nothing beyond the releases. Somebody in all data sets has paid [`epsilon_total`](Self::epsilon_total).
    ///
    /// # Errors
    /// As [`counts`](Self::counts).
    ///
    /// # Examples
    /// See [`SfmTally`].
    pub fn estimate(&self, confidence: Confidence) -> Result<TallyEstimate, TallyError> {
        Ok(estimate_union(&self.counts()?, self.sizes().as_ref(), confidence)?)
    }

    /// As [`estimate`](Self::estimate) without the interval, which takes most of the time.
    ///
    /// # Privacy
    /// Costs nothing beyond the releases.
    ///
    /// # Errors
    /// As [`counts`](Self::counts).
    pub fn point(&self, confidence: Confidence) -> Result<TallyEstimate, TallyError> {
        Ok(point_union(&self.counts()?, self.sizes().as_ref(), confidence)?)
    }
}

/// The counts of a tally, and the spread of sizes if there is one, straight from private sketches of any family.
///
/// Sketches of one channel are counted together, others in a class of their own, in the order of `p` and then of `a`. In
/// contrast to an [`SfmTally`] merges are taken as well: they stand for the union of their data sets.
///
/// # Privacy
/// Costs nothing beyond the releases.
///
/// # Errors
/// [`UnionError::Mismatch`] as for [`union_estimate`](crate::union_estimate): no sketch, different hash or shape, or a
/// release in more than one of them. [`UnionError::Estimate`] for more than two channels, and when the numbers have more
/// than [`TallyCounts::MAX_STATES`] combinations.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use sfm_pcsa::cardinality_estimators::{Confidence, tally::estimate_union};
/// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
/// use sfm_pcsa::sketch_hash::DefaultHash;
/// use sfm_pcsa::{LinearCountingSketch, LinearShape, tally_counts};
///
/// let mut noise = NoiseRng::from_os()?;
/// let mut sketches = Vec::new();
/// for party in 0..4_u64 {
///     let mut raw = LinearCountingSketch::new(LinearShape::new(8192)?, DefaultHash::default());
///     raw.update_u64_batch(&(party * 500..party * 500 + 1000).collect::<Vec<_>>());
///     sketches.push(raw.release(Permit::standalone(Epsilon::new(2.0)?), &mut noise)?);
/// }
/// let (counts, sizes) = tally_counts(&sketches.iter().collect::<Vec<_>>())?;
/// let union = estimate_union(&counts, sizes.as_ref(), Confidence::P95)?.estimate();
/// assert!((union.value().ok_or("no value")? / 2500.0 - 1.0).abs() < 0.5);
/// # }
/// # Ok(())
/// # }
/// ```
pub fn tally_counts<S: BitmapShape>(
    sketches: &[&PrivateBitmap<S>],
) -> Result<(TallyCounts, Option<SizeSpread>), UnionError> {
    let layout = check_together(sketches)?.shape().layout();
    let (classes, planes) = by_channel(sketches).into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
    let counts = counted(&layout, &classes, &planes.iter().collect::<Vec<_>>())?;
    Ok((counts, spread(sketches.iter().map(|sketch| Some(sketch.estimate(Confidence::P95))))))
}

/// Sketches of one hash and shape, counted by channel, in the order of `p` and then of `a`.
pub(super) fn by_channel<S: BitmapShape>(sketches: &[&PrivateBitmap<S>]) -> Vec<(TallyClass, Planes)> {
    let mut classes: Vec<(TallyClass, Planes)> = Vec::new();
    for sketch in sketches {
        let channel = sketch.channel();
        let order = |class: &(TallyClass, Planes)| {
            let other = class.0.channel;
            other.p().total_cmp(&channel.p()).then(other.a().total_cmp(&channel.a()))
        };
        let index = classes.binary_search_by(order).unwrap_or_else(|index| {
            classes.insert(index, (TallyClass { channel, sketches: 0 }, Planes::new()));
            index
        });
        let (class, planes) = &mut classes[index];
        class.sketches += 1;
        planes.add_bits(sketch.noisy().bits());
    }
    classes
}

/// The counts of `classes`, refused before they are counted if there are too many.
fn counted(layout: &CellLayout, classes: &[TallyClass], planes: &[&Planes]) -> Result<TallyCounts, ParamError> {
    let counts = match states_within(classes, TallyCounts::MAX_STATES) {
        Some(states) if classes.len() <= TallyCounts::MAX_CLASSES => joint_numbers(planes, states, cells(layout)),
        // Refused below, by name.
        _ => Vec::new(),
    };
    TallyCounts::new(layout, classes, counts)
}

/// The number of combinations of numbers, if it is at most `max`.
pub(super) fn states_within<'a>(classes: impl IntoIterator<Item = &'a TallyClass>, max: usize) -> Option<usize> {
    let product = |states: usize, class: &TallyClass| states.checked_mul(class.sketches + 1);
    classes.into_iter().try_fold(1, product).filter(|&states| states <= max)
}

/// The runs of equally likely cells.
pub(super) fn cells(layout: &CellLayout) -> impl Iterator<Item = Range<usize>> + '_ {
    runs(layout).map(|(cells, _)| cells)
}

/// The spread of sizes, if every data set has one. Added up in rising order, so that the order of the sketches does not
/// show in the last digit.
fn spread(sizes: impl Iterator<Item = Option<Estimate>>) -> Option<SizeSpread> {
    let size = |estimate: Option<Estimate>| {
        let estimate = estimate?;
        Some((estimate.value()?, estimate.std_error()?.powi(2)))
    };
    let mut sizes = sizes.map(size).collect::<Option<Vec<(f64, f64)>>>()?;
    sizes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    SizeSpread::new(&sizes).ok()
}
