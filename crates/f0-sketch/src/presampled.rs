//! Raw sketches of streams with repetitions.
//!
//! # Several releases of the same coins
//!
//! Once coins have been released, a further release with the same coins amplifies less. With noise of level `l`
//! (`l = ln((1−p)/p)`) on a cell whose bit is fair to whoever has seen releases of levels that add up to `s`, the further
//! loss is `ln((1 + e^(s+l)) / (1 + e^s))`: from what was seen the odds of the bit lie in `e^−s ..= e^s`, and a release
//! multiplies them by at most `e^l`. So a sketch records `s`, its `exposure`, and the noise of each release is made for it:
//! the permits of all releases simply add up.
//!
//! A merge of parts of exposure `s_i` has exposure `max s_i`: the odds of a sum of independent bits are no further from even
//! than those of any of them (`tanh(s/2)` multiplies). That holds for trees of merges and releases, in which every coin is
//! in one sketch at a time. Therefore a sketch in this mode has no copies, and a merge empties the part that was merged in.

use dp_noise::{EntropyError, Epsilon, NoiseSource};
use sketch_hash::{Domain, Item, KeyedHash};
use zeroize::Zeroizing;

use crate::error::{MergeError, ObserveError, ReleaseError, WeightError};
use crate::mode::{ModeKind, Presampled};
use crate::noise::{NoiseRule, add_up, flip_probability, level_of};
use crate::release::share_of;
use crate::sketch::F0Sketch;
use crate::unit::Unit;
use crate::weight::Weight;

/// Each occurrence of an item, in every stream, toggles its cell by an own fair coin, drawn from a [`NoiseSource`] and
/// forgotten.
///
/// The single methods draw from the generator as it is; the batches mix fresh bytes of the system into it first, as a
/// release does, so that two copies of a process do not continue with equal coins. A program that forks or is restored from
/// snapshots calls [`NoiseSource::begin_release`] before it observes one by one.
///
/// # Privacy
/// The coins are part of the guarantee: they must be secret, and coins of the insecure test generator mark whatever is
/// released from them. A checkpoint ([`to_sensitive_bytes`](Self::to_sensitive_bytes)) that is restored twice is a copy of
/// the coins: releases of both copies lose more than the sum of their ε, see
/// [`presampled_cost`](crate::presampled_cost).
impl<H: KeyedHash> F0Sketch<Presampled, H> {
    /// Sees one occurrence of an item: bytes, where text counts by its UTF-8 bytes.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use f0_sketch::{F0Shape, F0Sketch, Presampled, WeightRule};
    /// use f0_sketch::dp_noise::NoiseRng;
    /// use f0_sketch::sketch_hash::DefaultHash;
    /// let mut coins = NoiseRng::from_os()?;
    /// let mut sketch: F0Sketch<Presampled> =
    ///     F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// for _ in 0..3 {
    ///     sketch.observe(b"alice", &mut coins); // one item, whatever the number of times
    /// }
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn observe<R: NoiseSource + ?Sized>(&mut self, item: &[u8], coins: &mut R) {
        self.observe_hash(self.hash().hash128(Domain::Bytes, item), coins);
    }

    /// As [`observe`](Self::observe) for an integer; the same item as [`Item::Integer`] of that value.
    pub fn observe_u64<R: NoiseSource + ?Sized>(&mut self, item: u64, coins: &mut R) {
        self.observe_item(&Item::from(item), coins);
    }

    /// As [`observe`](Self::observe) for a typed value.
    pub fn observe_item<R: NoiseSource + ?Sized>(&mut self, item: &Item<'_>, coins: &mut R) {
        self.observe_hash(item.hash128(self.hash()), coins);
    }

    /// As [`observe`](Self::observe) for an item known by its hash. The caller answers for the hash being the one of
    /// [`hash_id`](Self::hash_id).
    #[inline]
    pub fn observe_hash<R: NoiseSource + ?Sized>(&mut self, hash: [u64; 2], coins: &mut R) {
        self.observe_one(hash, Weight::ONE, coins);
    }

    /// Sees one occurrence of an item with a weight, which must be the same for all occurrences: of unequal ones the largest
    /// counts.
    ///
    /// # Errors
    /// [`WeightError::Unit`] when the sketch has [no weights](crate::WeightRule::Unit); nothing is changed then.
    pub fn observe_weighted<R>(&mut self, item: &[u8], weight: Weight, coins: &mut R) -> Result<(), WeightError>
    where
        R: NoiseSource + ?Sized,
    {
        self.observe_hash_weighted(self.hash().hash128(Domain::Bytes, item), weight, coins)
    }

    /// As [`observe_weighted`](Self::observe_weighted) for a typed value.
    ///
    /// # Errors
    /// As for [`observe_weighted`](Self::observe_weighted).
    pub fn observe_item_weighted<R>(
        &mut self,
        item: &Item<'_>,
        weight: Weight,
        coins: &mut R,
    ) -> Result<(), WeightError>
    where
        R: NoiseSource + ?Sized,
    {
        self.observe_hash_weighted(item.hash128(self.hash()), weight, coins)
    }

    /// As [`observe_weighted`](Self::observe_weighted) for an item known by its hash.
    ///
    /// # Errors
    /// As for [`observe_weighted`](Self::observe_weighted).
    pub fn observe_hash_weighted<R>(&mut self, hash: [u64; 2], weight: Weight, coins: &mut R) -> Result<(), WeightError>
    where
        R: NoiseSource + ?Sized,
    {
        self.check_weighted()?;
        self.observe_one(hash, weight, coins);
        Ok(())
    }

    #[inline]
    fn observe_one<R: NoiseSource + ?Sized>(&mut self, hash: [u64; 2], weight: Weight, coins: &mut R) {
        self.begin_coins(coins);
        // A coin is drawn whatever the weight, so that the work does not tell.
        self.toggle_one(hash, weight, coins.next_u64());
    }

    /// Sees integers, several times faster than one by one: hashes are computed in batches by vector instructions, and a
    /// random word gives 64 coins.
    ///
    /// # Errors
    /// [`EntropyError`] when the operating system gives no random bytes; nothing is changed then.
    pub fn observe_u64_batch<R>(&mut self, items: &[u64], coins: &mut R) -> Result<(), EntropyError>
    where
        R: NoiseSource + ?Sized,
    {
        self.begin(coins)?;
        self.batches_u64(items, |sketch, _, hashes| sketch.observe_tossed(hashes, coins));
        Ok(())
    }

    /// Sees byte strings in batches.
    ///
    /// # Errors
    /// As for [`observe_u64_batch`](Self::observe_u64_batch).
    pub fn observe_batch<R>(&mut self, items: &[&[u8]], coins: &mut R) -> Result<(), EntropyError>
    where
        R: NoiseSource + ?Sized,
    {
        self.begin(coins)?;
        self.batches_bytes(items, |sketch, _, hashes| sketch.observe_tossed(hashes, coins));
        Ok(())
    }

    /// Sees items by their hashes.
    ///
    /// # Errors
    /// As for [`observe_u64_batch`](Self::observe_u64_batch).
    pub fn observe_hashes<R>(&mut self, hashes: &[[u64; 2]], coins: &mut R) -> Result<(), EntropyError>
    where
        R: NoiseSource + ?Sized,
    {
        self.begin(coins)?;
        self.observe_tossed(hashes, coins);
        Ok(())
    }

    /// Sees integers with a weight each.
    ///
    /// # Errors
    /// [`ObserveError::Weight`] when the sketch has no weights or there is not one for each item, [`ObserveError::Entropy`]
    /// without random bytes; nothing is changed then.
    pub fn observe_u64_batch_weighted<R>(
        &mut self,
        items: &[u64],
        weights: &[Weight],
        coins: &mut R,
    ) -> Result<(), ObserveError>
    where
        R: NoiseSource + ?Sized,
    {
        self.check_weights(items.len(), weights)?;
        self.begin(coins)?;
        self.batches_u64(items, |sketch, at, hashes| sketch.observe_kept(hashes, &weights[at..], coins));
        Ok(())
    }

    /// Sees byte strings with a weight each.
    ///
    /// # Errors
    /// As for [`observe_u64_batch_weighted`](Self::observe_u64_batch_weighted).
    pub fn observe_batch_weighted<R>(
        &mut self,
        items: &[&[u8]],
        weights: &[Weight],
        coins: &mut R,
    ) -> Result<(), ObserveError>
    where
        R: NoiseSource + ?Sized,
    {
        self.check_weights(items.len(), weights)?;
        self.begin(coins)?;
        self.batches_bytes(items, |sketch, at, hashes| sketch.observe_kept(hashes, &weights[at..], coins));
        Ok(())
    }

    /// Sees items by their hashes, with a weight each.
    ///
    /// # Errors
    /// As for [`observe_u64_batch_weighted`](Self::observe_u64_batch_weighted).
    pub fn observe_hashes_weighted<R>(
        &mut self,
        hashes: &[[u64; 2]],
        weights: &[Weight],
        coins: &mut R,
    ) -> Result<(), ObserveError>
    where
        R: NoiseSource + ?Sized,
    {
        self.check_weights(hashes.len(), weights)?;
        self.begin(coins)?;
        self.observe_kept(hashes, weights, coins);
        Ok(())
    }

    fn begin<R: NoiseSource + ?Sized>(&mut self, coins: &mut R) -> Result<(), EntropyError> {
        coins.begin_release()?;
        self.begin_coins(coins);
        Ok(())
    }

    fn observe_tossed<R: NoiseSource + ?Sized>(&mut self, hashes: &[[u64; 2]], coins: &mut R) {
        let tosses = tosses(hashes.len(), coins);
        self.toggle_if(hashes, |index, _| tosses[index / 64] >> (index % 64));
    }

    /// As many weights as hashes, at least.
    fn observe_kept<R: NoiseSource + ?Sized>(&mut self, hashes: &[[u64; 2]], weights: &[Weight], coins: &mut R) {
        let tosses = tosses(hashes.len(), coins);
        let toss = |index: usize| tosses[index / 64] >> (index % 64);
        self.toggle_if(hashes, |index, hash| toss(index) & u64::from(weights[index].keeps(hash)));
    }

    /// The sketch of the union of the two data sets. Moves everything over: `other` is empty afterwards, as after
    /// [`Vec::append`], because coins that were in two sketches at once would be released twice.
    ///
    /// # Errors
    /// [`MergeError::Hash`], [`MergeError::Shape`] or [`MergeError::Weights`] for a sketch of another kind,
    /// [`MergeError::Unit`] when one of the two was [bounded for users](Self::with_unit), [`MergeError::RepeatedCoins`] when one
    /// has coins of the other, being a copy or a sum with a copy in it, and [`MergeError::TooManyCoins`] when the names of the
    /// coins exceed [`MAX_COINS`](crate::MAX_COINS); nothing is changed then.
    pub fn merge(&mut self, other: &mut Self) -> Result<(), MergeError> {
        self.check_merge(other)?;
        self.cells.xor(&other.cells);
        self.join_records(other);
        other.cells.clear();
        other.forget_records();
        Ok(())
    }

    /// The sum of the noise levels `ln((1−p)/p)` of a cell at which these coins have been released, 0 before the first
    /// release; after a merge, the largest among the parts.
    ///
    /// A further release is made so that all permits together pay for everything. See
    /// [`presampled_cost`](crate::presampled_cost).
    #[must_use]
    pub const fn exposure(&self) -> f64 {
        self.exposure
    }

    /// Records a release at `epsilon` for `unit` by [`NoiseRule::Tight`] that another copy of these bytes goes through:
    /// raises the count of [`releases`](Self::releases) and the [`exposure`](Self::exposure), and returns the count.
    ///
    /// A program that keeps raw files writes the copy with the record back *before* it releases the other.
    /// [`prepare_release`](Self::prepare_release) makes both, and holds the second to what the first records.
    ///
    /// # Errors
    /// [`ReleaseError::Share`] and [`ReleaseError::Unit`] as for [`release_with`](Self::release_with); nothing is changed
    /// then.
    pub fn record_release(&mut self, unit: Unit, epsilon: Epsilon) -> Result<u32, ReleaseError> {
        self.check_unit(unit)?;
        self.expose(NoiseRule::Tight, share_of(epsilon, unit)?);
        Ok(self.releases())
    }

    /// Counts a release at a level of a cell.
    pub(crate) fn expose(&mut self, rule: NoiseRule, share: Epsilon) {
        let flips = flip_probability(ModeKind::Presampled, rule, share, self.exposure);
        self.exposure = add_up(self.exposure, level_of(flips)).min(f64::MAX);
        self.count_release();
    }
}

/// Fair coins, 64 a word.
fn tosses<R: NoiseSource + ?Sized>(count: usize, coins: &mut R) -> Zeroizing<Vec<u64>> {
    let mut tosses = Zeroizing::new(vec![0; count.div_ceil(64)]);
    coins.fill_words(&mut tosses);
    tosses
}
