//! Several groups of sketches together, each as a tally.

use cardinality_estimators::CellLayout;
use cardinality_estimators::tally::TallyClass;
use cardinality_estimators::venn::GroupCounts;

use super::answers::{by_channel, cells, states_within};
use super::histogram::joint_numbers;
use super::planes::Planes;
use super::{SfmTally, TallyError};
use crate::error::{MergeError, UnionError};
use crate::leaf::{Leaf, first_repeated};
use crate::merge::{check_alike, check_together};
use crate::private::PrivateBitmap;
use crate::shape::{BitmapShape, ShapeInternals};

/// For every cell the numbers of ones in several tallies at once, counted level by level: what sizes of intersections,
/// differences and other formulas over *unions* of releases are estimated from.
///
/// Each tally stands for the union of its data sets. See [`cardinality_estimators::venn::fit_groups`].
///
/// # Privacy
/// Costs nothing beyond the releases. Somebody in all data sets has paid the sum of all their ε.
///
/// # Errors
/// [`TallyError::Mismatch`] without a tally, for tallies of different hash or shape, and for a release in more than one;
/// [`TallyError::Estimate`] for more than four tallies, and when the numbers have too many combinations.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use sfm_pcsa::cardinality_estimators::{Confidence, venn::fit_groups};
/// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
/// use sfm_pcsa::sketch_hash::DefaultHash;
/// use sfm_pcsa::{PcsaShape, PcsaSketch, SfmSketch, group_counts, tally_of};
///
/// let mut noise = NoiseRng::from_os()?;
/// let mut release = |items: std::ops::Range<u64>| -> Result<SfmSketch, Box<dyn core::error::Error>> {
///     let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
///     raw.update_u64_batch(&items.collect::<Vec<_>>());
///     Ok(raw.release(Permit::standalone(Epsilon::new(3.0)?), &mut noise)?)
/// };
/// // Two groups of two: 0..40,000 and 30,000..90,000.
/// let left = tally_of(&[&release(0..20_000)?, &release(10_000..40_000)?])?;
/// let right = tally_of(&[&release(30_000..60_000)?, &release(50_000..90_000)?])?;
/// let fit = fit_groups(&group_counts(&[&left, &right])?)?;
/// let both = fit.region(0b11, Confidence::P95)?;
/// assert!(both.value().is_some_and(|n| n < 25_000.0));
/// # }
/// # Ok(())
/// # }
/// ```
pub fn group_counts(tallies: &[&SfmTally]) -> Result<GroupCounts, TallyError> {
    let (first, others) = tallies.split_first().ok_or(MergeError::Empty)?;
    for other in others {
        check_alike((first.hash_id, first.shape), (other.hash_id, other.shape))?;
    }
    let releases = tallies.iter().flat_map(|tally| tally.releases());
    if let Some(id) = first_repeated(releases.map(Leaf::id)) {
        return Err(MergeError::RepeatedRelease { id }.into());
    }
    let groups: Vec<Vec<TallyClass>> = tallies.iter().map(|tally| tally.classes()).collect();
    let planes: Vec<&Planes> = tallies.iter().flat_map(|tally| &tally.classes).map(|class| &class.planes).collect();
    Ok(counted(&first.shape.layout(), &groups, &planes)?)
}

/// The same straight from groups of private sketches of any family; merges stand for the union of their data sets.
///
/// # Privacy
/// Costs nothing beyond the releases.
///
/// # Errors
/// [`UnionError::Mismatch`] as for [`union_estimate`](crate::union_estimate) of all sketches together, and
/// [`UnionError::Estimate`] for an empty group or more than four, and when the numbers have too many combinations.
pub fn sketch_group_counts<S: BitmapShape>(groups: &[&[&PrivateBitmap<S>]]) -> Result<GroupCounts, UnionError> {
    let all: Vec<&PrivateBitmap<S>> = groups.iter().flat_map(|group| group.iter().copied()).collect();
    let layout = check_together(&all)?.shape().layout();
    let counted_apart: Vec<Vec<(TallyClass, Planes)>> = groups.iter().map(|group| by_channel(group)).collect();
    let classes: Vec<Vec<TallyClass>> =
        counted_apart.iter().map(|group| group.iter().map(|(class, _)| *class).collect()).collect();
    let planes: Vec<&Planes> = counted_apart.iter().flatten().map(|(_, planes)| planes).collect();
    Ok(counted(&layout, &classes, &planes)?)
}

/// The counts of all classes of all groups, refused before they are counted if there are too many.
fn counted(
    layout: &CellLayout,
    groups: &[Vec<TallyClass>],
    planes: &[&Planes],
) -> Result<GroupCounts, cardinality_estimators::ParamError> {
    let counts = match states_within(groups.iter().flatten(), GroupCounts::MAX_STATES) {
        Some(states) => joint_numbers(planes, states, cells(layout)),
        // Refused below, by name.
        None => Vec::new(),
    };
    GroupCounts::new(layout, groups, counts)
}
