//! Two sketches together: sizes of unions, intersections and differences.

use cardinality_estimators::parity::{JointFit, JointParityCounts, SetCombination, SetSizes, parity_estimate};
use cardinality_estimators::{Confidence, Estimate};

use crate::coins::CoinUses;
use crate::error::MergeError;
use crate::estimate::{in_units, weights_of};
use crate::leaf::{Leaf, first_repeated};
use crate::mode::{Mode, ModeKind};
use crate::private::PrivateF0Sketch;
use crate::sketch::check_alike;
use crate::weight::WeightRule;

/// Two private sketches, fitted together: the size of any combination of their data sets.
///
/// The pairs of bits in equal cells say more than the two sketches and their xor do. The sizes of "only A", "only B" and
/// "both" maximise their joint likelihood \[ours\]; see [`JointFit`] for errors and intervals. In mode
/// [`Presampled`](crate::Presampled) the same law holds with the coins of the two streams independent, so unions,
/// intersections and differences come from there too; only the *sketch* of a difference is lost.
///
/// With weights, an item that is in both must have the same weight in both. In mode `presampled` the two sketches must have
/// coins of their own: two releases of the same coins ([`release_keeping`](crate::F0Sketch::release_keeping)) would look like sets
/// whose union is nearly empty, and are refused.
///
/// The error of an intersection is of the order of the union's: a small overlap of large sets is not seen, and the
/// [status](Estimate::status) says so.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use f0_sketch::cardinality_estimators::Confidence;
/// use f0_sketch::cardinality_estimators::parity::SetCombination;
/// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
/// use f0_sketch::sketch_hash::DefaultHash;
/// use f0_sketch::{F0Shape, F0Sketch, SketchPair, WeightRule};
///
/// let mut noise = NoiseRng::from_os()?;
/// let mut release = |items: std::ops::Range<u64>, epsilon: f64| {
///     let mut raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
///     raw.toggle_u64_batch(&items.collect::<Vec<_>>());
///     let permit = Permit::standalone(Epsilon::new(epsilon)?);
///     raw.release(permit, &mut noise).map_err(Box::<dyn core::error::Error>::from)
/// };
/// let (a, b) = (release(0..100_000, 2.0)?, release(50_000..150_000, 4.0)?);
/// let pair = SketchPair::new(&a, &b)?;
/// let only = pair.estimate(SetCombination::OnlyFirst, Confidence::P95).value().ok_or("no value")?;
/// assert!((only / 50_000.0 - 1.0).abs() < 0.6, "ten standard errors of 6%");
/// let alike = pair.jaccard(Confidence::P95).value().ok_or("no value")?;
/// assert!((alike - 1.0 / 3.0).abs() < 0.2);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SketchPair {
    fit: JointFit,
    rule: WeightRule,
    mode: ModeKind,
}

impl SketchPair {
    /// Fits two sketches together. They may be merges, and may have different noise.
    ///
    /// # Privacy
    /// Costs nothing beyond the releases. Somebody in both data sets has paid the sum of their ε.
    ///
    /// # Errors
    /// [`MergeError`] for another hash, shape or rule of weights, and for a release that is in both: their noise would not
    /// be independent.
    pub fn new<M: Mode>(first: &PrivateF0Sketch<M>, second: &PrivateF0Sketch<M>) -> Result<Self, MergeError> {
        let counts = pair_counts(first, second)?;
        Ok(Self { fit: fit(counts), rule: first.weight_rule(), mode: M::KIND })
    }

    /// The fit, in units of the largest weight.
    #[must_use]
    pub const fn fit(&self) -> &JointFit {
        &self.fit
    }

    /// The number of distinct items in a combination of the two data sets, or the sum of their weights.
    ///
    /// `low_information` says that the standard error exceeds the value.
    pub fn estimate(&self, combination: SetCombination, confidence: Confidence) -> Estimate {
        in_units(self.fit.estimate(combination, confidence), self.rule)
    }

    /// The Jaccard similarity `|A ∩ B| / |A ∪ B|`, with weights that of the sums: an [`Estimate`] of a share, not of a count.
    pub fn jaccard(&self, confidence: Confidence) -> Estimate {
        self.fit.jaccard(confidence)
    }

    /// The same by plugging three estimates into the algebra of sets: of the two sketches and of their xor. `None`
    /// when one of them has no value.
    ///
    /// In mode [`Set`](crate::Set) `|A ∩ B| = (a + b − d)/2`, in mode [`Presampled`](crate::Presampled) `a + b − u`. No error
    /// bars; of use to see what the joint fit gains, and to notice sketches that do not belong together.
    #[must_use]
    pub fn plug_in(&self) -> Option<SetSizes> {
        let counts = self.fit.counts();
        let value = |counts: Result<_, _>| {
            let answer = parity_estimate(&counts.ok()?, Confidence::P95);
            in_units(answer, self.rule).value()
        };
        let (first, second, xor) = (value(counts.first())?, value(counts.second())?, value(counts.xor())?);
        Some(match self.mode {
            ModeKind::Set => SetSizes::from_symmetric_difference(first, second, xor),
            ModeKind::Presampled => SetSizes::from_union(first, second, xor),
        })
    }
}

fn fit(counts: JointParityCounts) -> JointFit {
    JointFit::new(counts).expect("counts that were accepted together are accepted one by one")
}

/// The cells of two sketches by what they read: what [`SketchPair`] fits.
fn pair_counts<M: Mode>(
    first: &PrivateF0Sketch<M>,
    second: &PrivateF0Sketch<M>,
) -> Result<JointParityCounts, MergeError> {
    check_alike(&first.kind(), &second.kind())?;
    let mut leaves = [first.leaves(), second.leaves()].concat();
    leaves.sort_unstable_by_key(Leaf::id);
    if let Some(id) = first_repeated(&leaves) {
        return Err(MergeError::RepeatedRelease { id });
    }
    CoinUses::check_apart([first.coin_uses(), second.coin_uses()].into_iter())?;
    let counts = first.joint_counts(second);
    let pairs: Vec<[u64; 4]> =
        counts.iter().map(|table| [table.neither, table.second_only, table.first_only, table.both]).collect();
    let contrasts = [first.contrast(), second.contrast()];
    let weights = weights_of(first.weight_rule());
    let joint = JointParityCounts::new(&first.shape().layout(), M::KIND.model(), weights, &pairs, contrasts);
    Ok(joint.expect("the pairs of a table are as many as its cells, a contrast at most 1"))
}
