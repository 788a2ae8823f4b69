//! Whose secret coins a sketch in mode `presampled` was made with.
//!
//! Coins that are in two sketches cancel in their xor, and the answer misses whatever the two share. So coins have a name,
//! which stays with them from the raw sketch to every release, and nothing with coins in common is put together.

use dp_noise::NoiseSource;
use sketch_hash::KeyedHash;

use crate::error::{MergeError, ReleaseError};
use crate::leaf::ReleaseId;
use crate::mode::Presampled;
use crate::name::random_name;
use crate::sketch::F0Sketch;

/// The most names of coins that one sketch may hold, raw or private, a merge included.
pub const MAX_COINS: usize = 1 << 17;

random_name! {
    /// The random name of the secret coins of one raw sketch in mode [`Presampled`](crate::Presampled), 128 bits from the
    /// generator of the coins.
    ///
    /// A raw sketch draws it before its first coin, also when the first batch is empty. A merge of raw sketches holds the
    /// names of all of them, and every release states those of the sketch that it was made from. So releases of one day and of
    /// the week with that day are known for what they are, and never come together in a merge or a
    /// [pair](crate::SketchPair).
    ///
    /// # Privacy
    /// A name says nothing about items. The *number* of names in a release tells how many raw sketches were put together,
    /// which must not depend on the data: see [`F0Sketch::rename_coins`](crate::F0Sketch::rename_coins).
    CoinId
}

impl<H: KeyedHash> F0Sketch<Presampled, H> {
    #[inline]
    pub(crate) fn begin_coins<R: NoiseSource + ?Sized>(&mut self, coins: &mut R) {
        self.insecure_coins |= coins.is_insecure();
        if self.coins.is_empty() {
            self.coins = CoinSet::draw(coins);
        }
    }

    /// Gives all coins in this sketch one fresh name in place of those that they have.
    ///
    /// For parts that exist only here: of a build by several threads, or of devices whose sketches were merged and are gone. Call
    /// it on an empty sketch to name its coins before the first is drawn.
    ///
    /// # Privacy
    /// A release states how many names its coins have. Where the number of raw sketches that were merged depends on the data, such
    /// as one for each user who was there, it tells of the data, and has to be made one.
    ///
    /// The old names are what keeps releases of common coins apart, so coins that were released keep them. Rename nothing of
    /// which there is a copy in another sketch or file that will be released: this sketch cannot know of it.
    ///
    /// # Errors
    /// [`ReleaseError::Named`] when the coins have been [released](Self::releases), and [`ReleaseError::Entropy`] when the
    /// operating system gives no random bytes; nothing is changed then.
    pub fn rename_coins<R: NoiseSource + ?Sized>(&mut self, coins: &mut R) -> Result<(), ReleaseError> {
        if self.releases() > 0 {
            return Err(ReleaseError::Named { releases: self.releases() });
        }
        coins.begin_release()?;
        self.coins = CoinSet::draw(coins);
        Ok(())
    }
}

/// Names in rising order, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoinSet(Vec<CoinId>);

impl CoinSet {
    /// One fresh name.
    pub(crate) fn draw<R: NoiseSource + ?Sized>(source: &mut R) -> Self {
        Self(vec![CoinId::draw(source)])
    }

    /// From names in rising order; the index of the first that is not above the one before it otherwise.
    pub(crate) fn from_rising(names: Vec<CoinId>) -> Result<Self, usize> {
        match names.windows(2).position(|pair| pair[0] >= pair[1]) {
            Some(before) => Err(before + 1),
            None => Ok(Self(names)),
        }
    }

    pub(crate) fn as_slice(&self) -> &[CoinId] {
        &self.0
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the two can become one set: no name in both, and not too many in all.
    pub(crate) fn check_union(&self, other: &Self) -> Result<(), MergeError> {
        let (few, many) = if self.0.len() < other.0.len() { (self, other) } else { (other, self) };
        if let Some(&coin) = few.0.iter().find(|coin| many.0.binary_search(coin).is_ok()) {
            return Err(MergeError::RepeatedCoins { coin });
        }
        check_number(self.0.len() + other.0.len())
    }

    /// Takes in the names of another set, which was checked.
    ///
    /// A collector takes in many sets of one name, and then some that are merges themselves: a few names go to their places, many
    /// are merged in one pass, since a stable sort finds the two runs.
    pub(crate) fn append(&mut self, other: &Self) {
        const FEW: usize = 4;
        if other.0.len() > FEW {
            self.0.extend_from_slice(&other.0);
            self.0.sort();
            return;
        }
        for &coin in &other.0 {
            let place = self.0.partition_point(|own| *own < coin);
            self.0.insert(place, coin);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Coins, each with the release that was made from them; coins in rising order, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoinUses(Vec<(CoinId, ReleaseId)>);

impl CoinUses {
    /// The coins of one release.
    pub(crate) fn of(release: ReleaseId, coins: &CoinSet) -> Self {
        Self(coins.0.iter().map(|&coin| (coin, release)).collect())
    }

    /// From coins in rising order; the index of the first that is not above the one before it otherwise.
    pub(crate) fn from_rising(uses: Vec<(CoinId, ReleaseId)>) -> Result<Self, usize> {
        match uses.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
            Some(before) => Err(before + 1),
            None => Ok(Self(uses)),
        }
    }

    pub(crate) fn as_slice(&self) -> &[(CoinId, ReleaseId)] {
        &self.0
    }

    /// The coins alone.
    pub(crate) fn names(&self) -> CoinSet {
        CoinSet(self.0.iter().map(|&(coin, _)| coin).collect())
    }

    /// Those of several sketches together, of different releases, for a sketch that holds them all.
    pub(crate) fn join<'a>(lists: impl Iterator<Item = &'a Self> + Clone) -> Result<Self, MergeError> {
        check_number(lists.clone().map(|list| list.0.len()).sum())?;
        Self::join_any(lists)
    }

    /// Checks that sketches, of different releases, have no coins in common; their number does not matter.
    pub(crate) fn check_apart<'a>(lists: impl Iterator<Item = &'a Self> + Clone) -> Result<(), MergeError> {
        Self::join_any(lists).map(drop)
    }

    fn join_any<'a>(lists: impl Iterator<Item = &'a Self> + Clone) -> Result<Self, MergeError> {
        let mut uses = Vec::with_capacity(lists.clone().map(|list| list.0.len()).sum());
        for list in lists {
            uses.extend_from_slice(&list.0);
        }
        // Finds the lists, which rise.
        uses.sort();
        match uses.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(MergeError::SharedCoins { coin: pair[0].0, first: pair[0].1, second: pair[1].1 }),
            None => Ok(Self(uses)),
        }
    }
}

fn check_number(found: usize) -> Result<(), MergeError> {
    if found > MAX_COINS { Err(MergeError::TooManyCoins { max: MAX_COINS, found }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coin(number: u8) -> CoinId {
        CoinId::from_bytes([number; 16])
    }

    fn set(numbers: &[u8]) -> CoinSet {
        CoinSet::from_rising(numbers.iter().map(|&number| coin(number)).collect()).unwrap()
    }

    fn uses(release: u8, numbers: &[u8]) -> CoinUses {
        CoinUses::of(ReleaseId::from_bytes([release; 16]), &set(numbers))
    }

    #[test]
    fn sets_join_in_order_and_never_with_a_name_in_common() {
        let (mut first, second) = (set(&[1, 4, 9]), set(&[2, 7]));
        first.check_union(&second).unwrap();
        first.append(&second);
        assert_eq!(first, set(&[1, 2, 4, 7, 9]));
        for other in [&[7][..], &[0, 9], &[1, 2, 3, 4, 5, 6, 7, 8]] {
            let shared = first.check_union(&set(other));
            assert!(matches!(shared, Err(MergeError::RepeatedCoins { .. })), "{other:?}");
        }
        assert!(first.check_union(&CoinSet::default()).is_ok());
        assert_eq!(CoinSet::from_rising(vec![coin(1), coin(1)]), Err(1));
        assert_eq!(CoinSet::from_rising(vec![coin(1), coin(3), coin(2)]), Err(2));
    }

    #[test]
    fn releases_with_coins_in_common_are_both_named() {
        let lists = [uses(1, &[1, 5]), uses(2, &[2]), uses(3, &[3, 5])];
        assert_eq!(CoinUses::join(lists[..2].iter()).unwrap().as_slice().len(), 3);
        let Err(MergeError::SharedCoins { coin: found, first, second }) = CoinUses::join(lists.iter()) else {
            panic!("releases 1 and 3 share coins")
        };
        assert_eq!((found, first.to_bytes()[0], second.to_bytes()[0]), (coin(5), 1, 3));
    }

    #[test]
    fn few_and_many_names_join_alike() {
        let base: Vec<u8> = (0..40).filter(|number| number % 3 == 1).collect();
        for count in 0..12_u8 {
            let other: Vec<u8> = (0..count).map(|number| 3 * number + 2 * (number % 2)).collect();
            let mut joined = set(&base);
            joined.append(&set(&other));
            let mut expected = [base.clone(), other.clone()].concat();
            expected.sort_unstable();
            assert_eq!(joined, set(&expected));
            let mut reverse = set(&other);
            reverse.append(&set(&base));
            assert_eq!(reverse, joined);
        }
    }

    /// So many names, from a number on.
    fn names(from: u32, number: u32) -> CoinSet {
        let name = |number: u32| {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            CoinId::from_bytes(bytes)
        };
        CoinSet::from_rising((from..from + number).map(name).collect()).unwrap()
    }

    #[test]
    fn what_is_only_compared_may_have_any_number_of_names() {
        let list = |release, from| CoinUses::of(ReleaseId::from_bytes([release; 16]), &names(from, 100_000));
        let (first, second, overlapping) = (list(1, 0), list(2, 100_000), list(3, 199_999));
        CoinUses::check_apart([&first, &second].into_iter()).unwrap();
        let refused = CoinUses::join([&first, &second].into_iter());
        assert!(matches!(refused, Err(MergeError::TooManyCoins { found: 200_000, .. })));
        let shared = CoinUses::check_apart([&second, &overlapping].into_iter());
        assert!(matches!(shared, Err(MergeError::SharedCoins { coin, .. }) if coin == names(199_999, 1).0[0]));
    }

    #[test]
    fn names_are_bounded() {
        let full = names(0, 1 << 17);
        assert!(full.check_union(&CoinSet::default()).is_ok());
        let refused = full.check_union(&names(1 << 20, 1));
        assert!(matches!(refused, Err(MergeError::TooManyCoins { max: MAX_COINS, found: 131_073 })));
    }
}
