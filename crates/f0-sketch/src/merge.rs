//! Merging private sketches.

use cardinality_estimators::BitChannel;

use crate::coins::CoinUses;
use crate::error::MergeError;
use crate::leaf::{Leaf, MAX_RELEASES, first_repeated};
use crate::mode::Mode;
use crate::private::{Noisy, PrivateF0Sketch, contrast_of};
use crate::sketch::check_alike;

impl<M: Mode> PrivateF0Sketch<M> {
    /// The xor of two private sketches: in mode [`Set`](crate::Set) that of the symmetric difference, in mode
    /// [`Presampled`](crate::Presampled) that of the union.
    ///
    /// The noise of both comes together, `p₁ + p₂ − 2 p₁ p₂`: the contrasts multiply. No coins are drawn, and merges in any
    /// order and grouping give the same sketch to the last bit.
    ///
    /// The union is of data with coins of its own. Two releases of the *same* coins, say of
    /// [Monday and of the week with Monday](crate::F0Sketch::release_keeping), share what Monday put into them, which would cancel.
    /// Every release states the [names](crate::CoinId) of its coins, and such a merge is refused.
    ///
    /// # Privacy
    /// Post-processing of the inputs: costs nothing more, and whoever saw the inputs learns nothing new.
    ///
    /// # Errors
    /// [`MergeError`] for another hash, shape or rule of weights, for a release that is in both (a sketch never merges with
    /// itself), for two releases of the same coins, for too many releases or coins and for inputs whose noise leaves nothing.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
    /// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use f0_sketch::sketch_hash::DefaultHash;
    ///
    /// let mut noise = NoiseRng::from_os()?;
    /// let mut release = |items: std::ops::Range<u64>| {
    ///     let mut raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    ///     raw.toggle_u64_batch(&items.collect::<Vec<_>>());
    ///     raw.release(Permit::standalone(Epsilon::new(2.0)?), &mut noise).map_err(Box::<dyn core::error::Error>::from)
    /// };
    /// let (a, b) = (release(0..60_000)?, release(40_000..100_000)?);
    /// let difference = a.merge(&b)?;
    /// assert!((difference.contrast() - 1_f64.tanh().powi(2)).abs() < 1e-15);
    /// assert_eq!((difference.epsilon(), difference.epsilon_total()), (2.0, Some(4.0)));
    /// assert!(a.merge(&a).is_err(), "one release cannot be used twice");
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(&self, other: &Self) -> Result<Self, MergeError> {
        Self::merge_all(&[self, other])
    }

    /// The xor of any number of private sketches. One input is returned as it is.
    ///
    /// # Privacy
    /// As for [`merge`](Self::merge).
    ///
    /// # Errors
    /// As for [`merge`](Self::merge); [`MergeError::Empty`] without any input, [`MergeError::TooManyReleases`] when the
    /// result would record more than [`MAX_RELEASES`], [`MergeError::TooManyCoins`] for more coins than
    /// [`MAX_COINS`](crate::MAX_COINS).
    pub fn merge_all(sketches: &[&Self]) -> Result<Self, MergeError> {
        let (&first, others) = sketches.split_first().ok_or(MergeError::Empty)?;
        for other in others {
            check_alike(&first.kind(), &other.kind())?;
        }
        let leaves = join_leaves(sketches.iter().map(|sketch| sketch.leaves()))?;
        let coins = CoinUses::join(sketches.iter().map(|sketch| sketch.coin_uses()))?;
        if contrast_of(&leaves).to_f64() < BitChannel::MIN_KEEP {
            return Err(MergeError::NoSignal);
        }
        let mut bits = first.bits().to_vec();
        for other in others {
            gf2_linalg::xor_into(&mut bits, other.bits());
        }
        let insecure_noise = sketches.iter().any(|sketch| sketch.insecure_noise());
        Ok(Self::from_parts(first.kind(), Noisy { bits, leaves, coins, insecure_noise }))
    }
}

/// All releases in rising order of their names, if none repeats and they are not too many.
fn join_leaves<'a>(lists: impl Iterator<Item = &'a [Leaf]> + Clone) -> Result<Vec<Leaf>, MergeError> {
    let found = lists.clone().map(<[Leaf]>::len).sum();
    let mut leaves = Vec::with_capacity(usize::min(found, MAX_RELEASES));
    if found > MAX_RELEASES {
        return Err(MergeError::TooManyReleases { max: MAX_RELEASES, found });
    }
    for list in lists {
        leaves.extend_from_slice(list);
    }
    leaves.sort_unstable_by_key(Leaf::id);
    match first_repeated(&leaves) {
        Some(id) => Err(MergeError::RepeatedRelease { id }),
        None => Ok(leaves),
    }
}
