//! The private sketch of both modes.

use core::fmt;
use core::marker::PhantomData;

use gf2_linalg::popcount_range;
use sketch_hash::HashId;

use crate::coins::{CoinId, CoinSet, CoinUses};
use crate::contrast::Contrast;
use crate::leaf::{Leaf, ReleaseId};
use crate::mode::{Mode, ModeKind, Set};
use crate::noise::{add_up, multiply_up};
use crate::shape::F0Shape;
use crate::sketch::Kind;
use crate::unit::Unit;
use crate::weight::WeightRule;

/// A private sketch: the flipped cells, and the releases they come from. Immutable.
///
/// Made by the `release` of a raw sketch, by merging others, or from bytes. It knows the noise that its cells went through,
/// so it can be estimated and merged without any further knowledge.
///
/// In mode [`Presampled`](crate::Presampled) it states the [names](crate::CoinId) of the coins that it was made from. Releases of the
/// same coins, as [`release_keeping`](crate::F0Sketch::release_keeping) and copies through bytes make them, are refused in one
/// merge: what they share would cancel.
///
/// # Privacy
/// Whatever is computed from it costs nothing more. Each release in it protects one [unit](Self::units), an item or a
/// user. Three numbers tell what it cost to make: [`epsilon`](Self::epsilon), the largest level of the releases in it,
/// is what one data set paid at most; [`epsilon_total`](Self::epsilon_total) is what somebody in all of them paid;
/// [`epsilon_if_seen_alone`](Self::epsilon_if_seen_alone) is information about the merged cells only, not to be booked.
///
/// # Examples
/// See [`F0Sketch::release`](crate::F0Sketch::release) and [`PrivateF0Sketch::merge`].
#[derive(Clone, PartialEq)]
pub struct PrivateF0Sketch<M: Mode = Set> {
    shape: F0Shape,
    rule: WeightRule,
    hash_id: HashId,
    /// Bits beyond the last cell are zero.
    bits: Vec<u64>,
    /// In rising order of their names.
    leaves: Vec<Leaf>,
    /// Of mode `presampled`: of which release which coins are.
    coins: CoinUses,
    contrast: Contrast,
    insecure_noise: bool,
    mode: PhantomData<M>,
}

/// Noisy cells, and the releases in rising order of their names.
#[derive(Clone, Debug)]
pub(crate) struct Noisy {
    pub(crate) bits: Vec<u64>,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) coins: CoinUses,
    pub(crate) insecure_noise: bool,
}

impl<M: Mode> fmt::Debug for PrivateF0Sketch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateF0Sketch")
            .field("mode", &M::KIND)
            .field("shape", &self.shape)
            .field("weights", &self.rule)
            .field("hash", &self.hash_id)
            .field("releases", &self.leaves.len())
            .field("epsilon", &self.epsilon())
            .field("epsilon_total", &self.epsilon_total())
            .field("insecure_noise", &self.insecure_noise)
            .finish_non_exhaustive()
    }
}

impl<M: Mode> PrivateF0Sketch<M> {
    pub(crate) fn of_release(
        kind: Kind<'_>,
        bits: Vec<u64>,
        leaf: Leaf,
        coins: &CoinSet,
        insecure_noise: bool,
    ) -> Self {
        let coins = CoinUses::of(leaf.id(), coins);
        Self::from_parts(kind, Noisy { bits, leaves: vec![leaf], coins, insecure_noise })
    }

    pub(crate) fn from_parts(kind: Kind<'_>, noisy: Noisy) -> Self {
        let Noisy { bits, leaves, coins, insecure_noise } = noisy;
        let contrast = contrast_of(&leaves);
        let Kind { hash_id, shape, rule } = kind;
        Self { shape: shape.clone(), rule, hash_id, bits, leaves, coins, contrast, insecure_noise, mode: PhantomData }
    }

    /// The mode of the sketch, as a value.
    #[must_use]
    pub const fn mode(&self) -> ModeKind {
        M::KIND
    }

    /// The shape, which two sketches must share to be merged.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        &self.shape
    }

    /// Whether items have weights, and their largest.
    #[must_use]
    pub const fn weight_rule(&self) -> WeightRule {
        self.rule
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// The releases that this sketch was made from, one unless it is a merge, in rising order of their names.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The names of the secret coins of mode [`Presampled`](crate::Presampled), in rising order, each with the release that was
    /// made from them; none in mode [`Set`].
    #[must_use]
    pub fn coins(&self) -> impl ExactSizeIterator<Item = (CoinId, ReleaseId)> + '_ {
        self.coins.as_slice().iter().copied()
    }

    /// Whom the releases protect: each unit that occurs, once, the smallest first.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> = self.leaves.iter().map(Leaf::unit).collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    /// `c = Π (1 − 2p)` over the releases: how much of the signal is left. The merged noise flips a cell with probability
    /// `(1 − c)/2`.
    ///
    /// Computed from the exact numerators to more digits than an `f64` has; the same on every machine.
    #[must_use]
    pub fn contrast(&self) -> f64 {
        self.contrast.to_f64()
    }

    /// The probability with which all noise together inverts a cell, `(1 − c)/2`.
    #[must_use]
    pub fn flip_probability(&self) -> f64 {
        self.contrast.flip_probability()
    }

    /// The largest ε among the releases: what one data set paid at most.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.leaves.iter().fold(0.0, |largest, leaf| leaf.epsilon().get().max(largest))
    }

    /// The sum of ε over the releases, rounded up: what somebody paid who is in all of the data sets. `None` when some
    /// releases protect items and others users, whose ε do not add up.
    ///
    /// A ledger for those people books the inputs, hence this number, never
    /// [`epsilon_if_seen_alone`](Self::epsilon_if_seen_alone).
    #[must_use]
    pub fn epsilon_total(&self) -> Option<f64> {
        self.common_unit()?;
        Some(self.leaves.iter().fold(0.0, |sum, leaf| add_up(sum, leaf.epsilon().get())))
    }

    /// The level of the cells of this sketch alone, for a unit that leaves all data sets at once, rounded up.
    ///
    /// Holds only if whoever sees this sketch sees none of its inputs, no other merge that shares one,
    /// and in mode `presampled` no other release of the same coins. With contrast `c`
    /// a cell has the level `ln((1+c)/(1−c))`, in mode `presampled` `−ln(1−c)`; an [opened](Leaf::is_opened) sum counts with
    /// the noise that its ε needs. A user in several data sets may have added
    /// the items allowed in each. `None` when the noise came from an insecure generator, and when some releases protect
    /// items and others users.
    #[must_use]
    pub fn epsilon_if_seen_alone(&self) -> Option<f64> {
        if self.insecure_noise {
            return None;
        }
        let items = self.common_unit()?;
        let level = match self.leaves.as_slice() {
            [leaf] => leaf.realised_level(),
            leaves => multiply_up(level_seen_alone(M::KIND, sure_contrast_of(leaves)), items),
        };
        self.epsilon_total().map(|total| level.min(total))
    }

    /// How many items one unit may have in all data sets together, if all releases protect the same kind of unit: an item,
    /// or a user.
    fn common_unit(&self) -> Option<f64> {
        let users = self.leaves.iter().filter(|leaf| leaf.unit() != Unit::Item).count();
        match users {
            0 => Some(1.0),
            all if all == self.leaves.len() => {
                let items = |leaf: &Leaf| f64::from(leaf.unit().max_items());
                Some(self.leaves.iter().fold(0.0, |sum, leaf| add_up(sum, items(leaf))))
            }
            _ => None,
        }
    }

    /// Whether some noise or some coins came from the reproducible test generator, so that nobody is protected.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.insecure_noise
    }

    /// Ones in each table: all that an estimate reads.
    #[must_use]
    pub fn ones_per_table(&self) -> Vec<u64> {
        self.shape.ranges().map(|range| popcount_range(&self.bits, range)).collect()
    }

    /// All names of coins.
    pub(crate) fn coin_set(&self) -> CoinSet {
        self.coins.names()
    }

    pub(crate) const fn coin_uses(&self) -> &CoinUses {
        &self.coins
    }

    pub(crate) fn bits(&self) -> &[u64] {
        &self.bits
    }

    pub(crate) fn into_bits(self) -> Vec<u64> {
        self.bits
    }

    #[cfg(test)]
    pub(crate) const fn exact_contrast(&self) -> Contrast {
        self.contrast
    }

    pub(crate) fn kind(&self) -> Kind<'_> {
        Kind { hash_id: self.hash_id, shape: &self.shape, rule: self.rule }
    }
}

pub(crate) fn contrast_of(leaves: &[Leaf]) -> Contrast {
    leaves.iter().fold(Contrast::ONE, |contrast, leaf| contrast.flipped(leaf.flip_numerator()))
}

/// The contrast behind the noise that is sure to be there, at least.
fn sure_contrast_of(leaves: &[Leaf]) -> Contrast {
    leaves.iter().fold(Contrast::ONE, |contrast, leaf| contrast.flipped(leaf.sure_flip_numerator()))
}

/// The level of one merged cell, rounded up.
///
/// With `q = (1 − c)/2` the flip probability, `ln((1+c)/(1−c)) = ln(1 + c/q)` and `−ln(1−c) = ln(1 + c/(2q))`.
pub(crate) fn level_seen_alone(mode: ModeKind, contrast: Contrast) -> f64 {
    /// Covers a few roundings of relative size 2⁻⁵³, and the 2⁻¹²⁰ of the contrast where little noise is left.
    const UP: f64 = 1.0 + 16.0 * f64::EPSILON;
    let (c, q) = (contrast.to_f64(), contrast.flip_probability());
    let odds = match mode {
        ModeKind::Set => c / q,
        ModeKind::Presampled => c / (2.0 * q),
    };
    odds.ln_1p() * UP
}
