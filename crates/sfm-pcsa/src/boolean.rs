//! Boolean operations on released sketches, cell by cell.

use cardinality_estimators::BitChannel;
use dp_noise::NoiseSource;
use sketch_hash::HashId;

use crate::cell_share::CellShare;
use crate::error::MergeError;
use crate::gate::{BooleanOp, OutputForm, gate};
use crate::leaf::Leaf;
use crate::lineage::{Lineage, MergeForm, Outcome, Step};
use crate::merge::check_alike;
use crate::noisy::{NoisyBits, clear_beyond};
use crate::pair::PairRule;
use crate::params::PcsaShape;
use crate::private::PrivateBitmap;
use crate::shape::BitmapShape;

/// Noisy bits that answer a Boolean question about each cell: the result of operations on released sketches. Immutable.
///
/// A bit is a flipped version of, say, "this cell is set in the sketch of A **and** in that of B", with a known
/// [channel](Self::channel). That is **not** the sketch of `A ∩ B`: two different items may set the same cell. Of the
/// cells hit with probability `ρ` by an item, a share
///
/// ```text
/// 1 − (1−ρ)^|A| − (1−ρ)^|B| + (1−ρ)^|A ∪ B|
/// ```
///
/// is set in both. So these cells have no estimate of a number of items and do not merge into sketches; what they have is
/// the [share](Self::share) of true cells. For sizes of intersections, differences and any other formula use
/// [`set_estimate`](crate::set_estimate), which draws no coins either.
///
/// # Privacy
/// Post-processing of the releases: costs nothing more. The levels are those of the releases, as for sketches.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
/// use sfm_pcsa::sketch_hash::DefaultHash;
/// use sfm_pcsa::{BooleanOp, OutputForm, PcsaShape, PcsaSketch};
///
/// let mut noise = NoiseRng::from_os()?;
/// let mut release = |items: std::ops::Range<u64>| {
///     let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
///     raw.update_u64_batch(&items.collect::<Vec<_>>());
///     raw.release(Permit::standalone(Epsilon::new(3.0)?), &mut noise).map_err(Box::<dyn core::error::Error>::from)
/// };
/// let (a, b) = (release(0..5000)?, release(2500..7500)?);
/// let both = a.combine(BooleanOp::And, &b, OutputForm::Extremal, &mut noise)?;
/// let level = both.shares_per_level()[0];
/// let empty = |items: f64| (1.0 - 0.5 / 4096.0_f64).powf(items);
/// let expected = 1.0 - 2.0 * empty(5000.0) + empty(7500.0);
/// assert!((level.share() - expected).abs() < 10.0 * level.std_error() + 0.05);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq)]
pub struct NoisyCells<S: BitmapShape> {
    shape: S,
    hash_id: HashId,
    noisy: NoisyBits,
}

impl<S: BitmapShape> core::fmt::Debug for NoisyCells<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.noisy.describe(f.debug_struct("NoisyCells").field("shape", &self.shape).field("hash", &self.hash_id))
    }
}

impl<S: BitmapShape> From<&PrivateBitmap<S>> for NoisyCells<S> {
    /// "This cell is set."
    fn from(sketch: &PrivateBitmap<S>) -> Self {
        Self { shape: sketch.shape(), hash_id: sketch.hash_id(), noisy: sketch.noisy().clone() }
    }
}

impl<S: BitmapShape> PrivateBitmap<S> {
    /// A Boolean operation on the true cells of two released sketches: [`NoisyCells`], which are no sketch of a set.
    ///
    /// Each output bit is drawn from the two noisy bits so that it is a flipped version of the operation on the true ones
    /// [HTC23, Section 4]. For [`BooleanOp::Or`] the same bits are the sketch of the union, and
    /// [`merge`](Self::merge) gives it as such.
    ///
    /// # Privacy
    /// As for [`merge`](Self::merge).
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn combine<R>(
        &self,
        op: BooleanOp,
        other: &Self,
        form: OutputForm,
        noise: &mut R,
    ) -> Result<NoisyCells<S>, MergeError>
    where
        R: NoiseSource + ?Sized,
    {
        NoisyCells::from(self).combine(op, &other.into(), form, noise)
    }
}

impl<S: BitmapShape> NoisyCells<S> {
    /// An operation on two answers, for formulas of more than two sketches.
    ///
    /// # Privacy
    /// As for [`PrivateBitmap::merge`].
    ///
    /// # Errors
    /// As for [`PrivateBitmap::merge`]; in particular no release may be in both, so `a & !a` cannot be asked.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// use sfm_pcsa::{BooleanOp, MergeForm, NoisyCells, OutputForm, PcsaShape, PcsaSketch};
    /// let mut noise = NoiseRng::from_os()?;
    /// let mut release = || {
    ///     let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    ///     raw.release(Permit::standalone(Epsilon::new(3.0)?), &mut noise).map_err(Box::<dyn core::error::Error>::from)
    /// };
    /// let (a, b, c) = (release()?, release()?, release()?);
    /// // Cells of a or b that are not cells of c.
    /// let either = NoisyCells::from(&a.merge(&b, MergeForm::Extremal, &mut noise)?);
    /// let only = either.combine(BooleanOp::Difference, &(&c).into(), OutputForm::Extremal, &mut noise)?;
    /// assert_eq!(only.leaves().len(), 3);
    /// assert!(only.combine(BooleanOp::And, &either, OutputForm::Extremal, &mut noise).is_err(), "a and b twice");
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn combine<R>(&self, op: BooleanOp, other: &Self, form: OutputForm, noise: &mut R) -> Result<Self, MergeError>
    where
        R: NoiseSource + ?Sized,
    {
        check_alike((self.hash_id, self.shape), (other.hash_id, other.shape))?;
        let result = combined(op, [&self.noisy, &other.noisy], form, noise)?;
        Ok(Self { shape: self.shape, hash_id: self.hash_id, noisy: result })
    }

    /// The opposite answer in every cell: the bits inverted, without coins and without loss. Twice gives the original.
    ///
    /// # Errors
    /// [`MergeError::Channel`] where `1 − q/p` of the negation is below its least value, 2⁻³⁰⁰.
    pub fn negated(&self) -> Result<Self, MergeError> {
        Ok(Self { shape: self.shape, hash_id: self.hash_id, noisy: negated(&self.noisy)? })
    }

    /// The shape of the sketches.
    #[must_use]
    pub const fn shape(&self) -> S {
        self.shape
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// How a true answer became the stored bit: P(1→1) and P(0→1), over all noise and all operations.
    #[must_use]
    pub fn channel(&self) -> BitChannel {
        self.noisy.channel()
    }

    /// The releases that the answers were made from.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        self.noisy.leaves()
    }

    /// As [`PrivateBitmap::epsilon`].
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.noisy.epsilon()
    }

    /// As [`PrivateBitmap::epsilon_total`].
    #[must_use]
    pub fn epsilon_total(&self) -> Option<f64> {
        self.noisy.epsilon_total()
    }

    /// As [`PrivateBitmap::epsilon_if_seen_alone`]: a unit that leaves all data sets at once changes one answer for each
    /// cell it sets.
    #[must_use]
    pub fn epsilon_if_seen_alone(&self) -> Option<f64> {
        self.noisy.epsilon_if_seen_alone(self.shape.cells_per_item())
    }

    /// As [`PrivateBitmap::insecure_noise`].
    #[must_use]
    pub fn insecure_noise(&self) -> bool {
        self.noisy.insecure_noise()
    }

    /// The share of cells whose true answer is yes, over all cells.
    #[must_use]
    pub fn share(&self) -> CellShare {
        CellShare::new(self.noisy.cells() as u64, gf2_linalg::popcount(self.noisy.bits()), self.noisy.channel())
    }
}

impl NoisyCells<PcsaShape> {
    /// The share of cells whose true answer is yes, level by level.
    #[must_use]
    pub fn shares_per_level(&self) -> Vec<CellShare> {
        let share = |ones| CellShare::new(u64::from(self.shape.buckets()), ones, self.noisy.channel());
        self.noisy.ones_per_level(self.shape).into_iter().map(share).collect()
    }
}

fn combined<R: NoiseSource + ?Sized>(
    op: BooleanOp,
    inputs: [&NoisyBits; 2],
    form: OutputForm,
    noise: &mut R,
) -> Result<NoisyBits, MergeError> {
    if op == BooleanOp::Or {
        let form = match form {
            OutputForm::Extremal => MergeForm::Extremal,
            OutputForm::Symmetric => MergeForm::Symmetric,
        };
        return NoisyBits::merge_all(&inputs, form, noise);
    }
    NoisyBits::check_disjoint(&inputs)?;
    let [first, second] = inputs;
    let gate = gate(op, form, first.outcome().channel, second.outcome().channel)?;
    let rule = PairRule::new(gate.table)?;
    let draws = !rule.is_deterministic();
    if draws {
        noise.begin_release()?;
    }
    let mut bits = rule.draw(first.bits(), second.bits(), noise);
    clear_beyond(&mut bits, first.cells());
    let randomised = first.outcome().randomised + second.outcome().randomised + u32::from(draws);
    let outcome = Outcome { channel: gate.channel, randomised };
    let insecure = inputs.iter().any(|input| input.insecure_noise()) || (draws && noise.is_insecure());
    let lineage = Lineage::joined(&inputs.map(NoisyBits::lineage), Step::Gate { op, form });
    Ok(NoisyBits::from_parts(first.cells(), bits, lineage, outcome, insecure)?)
}

fn negated(input: &NoisyBits) -> Result<NoisyBits, MergeError> {
    let mut bits: Vec<u64> = input.bits().iter().map(|word| !word).collect();
    clear_beyond(&mut bits, input.cells());
    // From the history, so that a negated negation is what it was.
    let (lineage, outcome) = input.lineage().negated()?;
    Ok(NoisyBits::from_parts(input.cells(), bits, lineage, outcome, input.insecure_noise())?)
}
