//! Noisy bits, whatever their cells mean: the state that private sketches of every family wrap.

use core::fmt;

use cardinality_estimators::BitChannel;
use dp_noise::{Epsilon, NoiseSource, Permit};
use zeroize::Zeroizing;

use crate::bit_merge::merge_or;
use crate::channel::{Channel, ChannelError};
use crate::double_double::{DoubleDouble, TWO_64, to_f64};
use crate::error::{MergeError, ReleaseError};
use crate::leaf::{Leaf, ReleaseId, Terms, first_repeated, multiply_up};
use crate::lineage::{Lineage, MAX_RELEASES, MergeForm, Outcome};
use crate::params::PcsaShape;
use crate::unit::Unit;

/// Bits behind one channel, with the releases and merges that they come from. Immutable.
#[derive(Clone, PartialEq)]
pub(crate) struct NoisyBits {
    cells: usize,
    /// Bits beyond the last cell are zero.
    bits: Vec<u64>,
    lineage: Lineage,
    outcome: Outcome,
    channel: BitChannel,
    insecure_noise: bool,
}

impl NoisyBits {
    /// Flips every bit: fresh entropy, a fresh name, one pass of noise over all cells whatever they hold.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub(crate) fn release<R>(
        bits: Zeroizing<Vec<u64>>,
        cells: usize,
        terms: Terms,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<Self, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        // Wiped wherever the release ends early.
        let mut bits = bits;
        noise.begin_release()?;
        let mut id = [0; 16];
        noise.fill_bytes(&mut id);
        let leaf = Leaf::new(ReleaseId::from_bytes(id), terms, permit.cost(), permit.stated())?;
        leaf.noise().apply(noise, &mut bits);
        clear_beyond(&mut bits, cells);
        let outcome = Outcome { channel: leaf.channel()?, randomised: 0 };
        let bits = core::mem::take(&mut *bits);
        Ok(Self::from_parts(cells, bits, Lineage::single(leaf), outcome, noise.is_insecure())?)
    }

    /// Bits whose history has been evaluated.
    pub(crate) fn from_parts(
        cells: usize,
        bits: Vec<u64>,
        lineage: Lineage,
        outcome: Outcome,
        insecure_noise: bool,
    ) -> Result<Self, ChannelError> {
        let channel = outcome.channel.to_bit_channel()?;
        Ok(Self { cells, bits, lineage, outcome, channel, insecure_noise })
    }

    /// The OR of the true bits, with one draw a cell. The inputs have equally many cells; one input is returned as it is.
    pub(crate) fn merge_all<R>(inputs: &[&Self], form: MergeForm, noise: &mut R) -> Result<Self, MergeError>
    where
        R: NoiseSource + ?Sized,
    {
        Self::check_disjoint(inputs)?;
        let (&first, others) = inputs.split_first().ok_or(MergeError::Empty)?;
        if others.is_empty() {
            return Ok(first.clone());
        }
        let channels: Vec<_> = inputs.iter().map(|input| input.outcome.channel).collect();
        let rule = form.or_merge(&channels)?;
        let draws = !rule.is_deterministic();
        if draws {
            noise.begin_release()?;
        }
        let columns: Vec<_> = inputs.iter().map(|input| input.bits()).collect();
        let bits = merge_or(&rule, &columns, first.cells, noise)?;
        let lineages: Vec<_> = inputs.iter().map(|input| &input.lineage).collect();
        let randomised = inputs.iter().map(|input| input.outcome.randomised).sum::<u32>() + u32::from(draws);
        let outcome = Outcome { channel: rule.channel(), randomised };
        let insecure = inputs.iter().any(|input| input.insecure_noise) || (draws && noise.is_insecure());
        Ok(Self::from_parts(first.cells, bits, Lineage::merged(&lineages, form), outcome, insecure)?)
    }

    /// Checks that no release is in more than one of the inputs, and that one sketch can record them all.
    pub(crate) fn check_disjoint(inputs: &[&Self]) -> Result<(), MergeError> {
        let leaves = || inputs.iter().flat_map(|input| input.leaves());
        if let Some(id) = first_repeated(leaves().map(Leaf::id)) {
            return Err(MergeError::RepeatedRelease { id });
        }
        let found = leaves().count();
        if found > MAX_RELEASES {
            return Err(MergeError::TooManyReleases { max: MAX_RELEASES, found });
        }
        Ok(())
    }

    /// Moves the bits out, for a release that nobody has seen yet.
    pub(crate) fn take_bits(&mut self) -> Vec<u64> {
        core::mem::take(&mut self.bits)
    }

    /// The same history with other bits of as many cells.
    pub(crate) fn with_bits(self, bits: Vec<u64>, insecure_noise: bool) -> Self {
        Self { bits, insecure_noise, ..self }
    }

    /// Ends the `Debug` of what wraps these bits: releases and levels, which are public, and no bit.
    pub(crate) fn describe(&self, wrapper: &mut fmt::DebugStruct<'_, '_>) -> fmt::Result {
        wrapper
            .field("releases", &self.leaves().len())
            .field("epsilon", &self.epsilon())
            .field("epsilon_total", &self.epsilon_total())
            .field("insecure_noise", &self.insecure_noise)
            .finish_non_exhaustive()
    }

    /// Ones in each level, if these are the cells of a PCSA sketch of this shape.
    pub(crate) fn ones_per_level(&self, shape: PcsaShape) -> Vec<u64> {
        let mut ones = vec![0; usize::from(shape.levels())];
        gf2_linalg::level_popcounts(&self.bits, shape.buckets() as usize, &mut ones);
        ones
    }

    pub(crate) fn cells(&self) -> usize {
        self.cells
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

    pub(crate) fn leaves(&self) -> &[Leaf] {
        self.lineage.leaves()
    }

    pub(crate) fn channel(&self) -> BitChannel {
        self.channel
    }

    pub(crate) fn insecure_noise(&self) -> bool {
        self.insecure_noise
    }

    /// The largest ε among the releases.
    pub(crate) fn epsilon(&self) -> f64 {
        largest_epsilon(self.leaves())
    }

    /// The sum of ε over the releases, rounded up; `None` when some protect items and others users.
    pub(crate) fn epsilon_total(&self) -> Option<f64> {
        sum_of_epsilon(self.leaves())
    }

    /// The level of these bits alone, for a unit that leaves all data sets at once, rounded up. `None` when there is no
    /// common kind of unit, or when some noise came from an insecure generator or from another program.
    pub(crate) fn epsilon_if_seen_alone(&self, cells_per_item: u32) -> Option<f64> {
        if self.insecure_noise || self.leaves().iter().any(Leaf::made_elsewhere) {
            return None;
        }
        let items = common_unit(self.leaves())?;
        let level = match self.leaves() {
            [leaf] if self.outcome.randomised == 0 => leaf.realised_level(),
            leaves => {
                let bits = multiply_up(items, f64::from(cells_per_item));
                multiply_up(level_seen_alone(&self.outcome, leaves.len()), bits)
            }
        };
        self.epsilon_total().map(|total| level.min(total))
    }
}

/// The largest ε among some releases.
pub(crate) fn largest_epsilon<'a>(leaves: impl IntoIterator<Item = &'a Leaf>) -> f64 {
    leaves.into_iter().fold(0.0, |largest, leaf| leaf.epsilon().get().max(largest))
}

/// The sum of ε over some releases, rounded up; `None` when some protect items and others users.
pub(crate) fn sum_of_epsilon<'a>(leaves: impl IntoIterator<Item = &'a Leaf, IntoIter: Clone>) -> Option<f64> {
    let leaves = leaves.into_iter();
    common_unit(leaves.clone())?;
    Some(leaves.fold(0.0, |sum, leaf| add_up(sum, leaf.epsilon().get())))
}

/// The unit of privacy, if all releases have the same kind: an item, or a user with so many items in all of them.
fn common_unit<'a>(leaves: impl IntoIterator<Item = &'a Leaf, IntoIter: Clone>) -> Option<f64> {
    let leaves = leaves.into_iter();
    let users = leaves.clone().filter(|leaf| leaf.unit() != Unit::Item);
    match users.clone().count() {
        0 => Some(1.0),
        some if some == leaves.count() => {
            Some(users.fold(0.0, |sum, leaf| add_up(sum, f64::from(leaf.unit().max_items()))))
        }
        _ => None,
    }
}

/// Whom some releases protect: each unit that occurs, once, the smallest first.
pub(crate) fn units_of<'a>(leaves: impl IntoIterator<Item = &'a Leaf>) -> Vec<Unit> {
    let mut units: Vec<Unit> = leaves.into_iter().map(Leaf::unit).collect();
    units.sort_unstable();
    units.dedup();
    units
}

/// Zeroes the bits beyond the last cell.
pub(crate) fn clear_beyond(bits: &mut [u64], cells: usize) {
    if let (Some(last), used @ 1..) = (bits.last_mut(), cells % 64) {
        *last &= (1 << used) - 1;
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
