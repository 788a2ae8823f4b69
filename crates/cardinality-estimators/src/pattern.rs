//! What several sketches show together: how many cells hold which pattern of noisy bits.

use crate::level::CellGroup;
use crate::number::to_f64;
use crate::{BitChannel, CellLayout, LevelCounts, ParamError, ProductMoments, ProductStatistic};

/// The joint counts of up to eight sketches of one layout.
///
/// In a cell, bit `i` of its *pattern* is the noisy bit of sketch `i`, so `k` sketches have `2^k` patterns. These counts,
/// group by group of the layout, are all that set estimates need.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, CellLayout, PatternCounts};
/// let layout = CellLayout::linear(100)?;
/// // In one cell of a hundred both sketches hold a one, in twenty only the first, in nine only the second.
/// let patterns = PatternCounts::new(&layout, &[BitChannel::NOISELESS; 2], vec![vec![70, 20, 9, 1]])?;
/// assert_eq!(patterns.sketches(), 2);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PatternCounts {
    channels: Vec<BitChannel>,
    /// By falling rate.
    pub(crate) groups: Vec<PatternGroup>,
    pub(crate) n_cap: f64,
    hashes: u32,
}

/// One group of equally likely cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PatternGroup {
    pub(crate) cells: u64,
    pub(crate) rate: f64,
    pub(crate) counts: Vec<u64>,
}

impl PatternCounts {
    /// The most sketches in one estimate.
    pub const MAX_SKETCHES: usize = 8;

    /// `counts[group][pattern]` cells of each group of the layout, for sketches behind `channels`.
    ///
    /// # Errors
    /// [`ParamError::SetSketches`] unless there are `1 ..= 8` channels; [`ParamError::Counts`] unless there is one list a
    /// group, of one count a pattern; [`ParamError::Patterns`] unless the counts of a group add up to its cells.
    pub fn new(layout: &CellLayout, channels: &[BitChannel], counts: Vec<Vec<u64>>) -> Result<Self, ParamError> {
        if !(1..=Self::MAX_SKETCHES).contains(&channels.len()) {
            return Err(ParamError::SetSketches { found: channels.len() });
        }
        let equal =
            |expected, found| if expected == found { Ok(()) } else { Err(ParamError::Counts { expected, found }) };
        equal(layout.groups().len(), counts.len())?;
        let mut groups = Vec::with_capacity(counts.len());
        for ((cells, rate), counts) in layout.groups().zip(counts) {
            equal(1 << channels.len(), counts.len())?;
            let found = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
            if found != Some(cells) {
                return Err(ParamError::Patterns { expected: cells, found: found.unwrap_or(u64::MAX) });
            }
            if cells > 0 {
                groups.push(PatternGroup { cells, rate, counts });
            }
        }
        groups.sort_by(|x, y| y.rate.total_cmp(&x.rate));
        Ok(Self { channels: channels.to_vec(), groups, n_cap: layout.n_cap(), hashes: layout.hashes() })
    }

    /// The number of sketches.
    #[must_use]
    pub const fn sketches(&self) -> usize {
        self.channels.len()
    }

    /// The channels, sketch by sketch.
    #[must_use]
    pub fn channels(&self) -> &[BitChannel] {
        &self.channels
    }

    pub(crate) const fn hashes(&self) -> u32 {
        self.hashes
    }

    pub(crate) fn is_noiseless(&self) -> bool {
        self.channels.iter().all(BitChannel::is_noiseless)
    }

    /// `y = Π (p_i − t_i)/d_i` over the sketches of `union`, for every pattern.
    pub(crate) fn products(&self, union: usize) -> Vec<f64> {
        let mut products = vec![1.0];
        for (sketch, channel) in self.channels.iter().enumerate() {
            let member = (union >> sketch) & 1 == 1;
            let (zero, one) =
                if member { (channel.p() / channel.d(), -channel.miss() / channel.d()) } else { (1.0, 1.0) };
            let with_one: Vec<f64> = products.iter().map(|y| y * one).collect();
            for y in &mut products {
                *y *= zero;
            }
            products.extend(with_one);
        }
        products
    }

    /// The product statistic of the sketches of `union`.
    ///
    /// # Errors
    /// [`ParamError::Moments`] when products overflow.
    pub(crate) fn statistic(&self, union: usize) -> Result<ProductStatistic, ParamError> {
        let products = self.products(union);
        let moments = self.groups.iter().map(|group| {
            ProductMoments::from_values(group.rate, products.iter().copied().zip(group.counts.iter().copied()))
        });
        let members = (0..self.sketches()).filter(|sketch| (union >> sketch) & 1 == 1);
        let channels: Vec<BitChannel> = members.map(|sketch| self.channels[sketch]).collect();
        ProductStatistic::new(moments.collect::<Result<_, _>>()?, &channels, self.n_cap)?.with_hashes(self.hashes)
    }

    /// The counts of one sketch alone.
    pub(crate) fn single(&self, sketch: usize) -> Result<LevelCounts, ParamError> {
        let groups = self.groups.iter().map(|group| {
            let with_one = group.counts.iter().enumerate().filter(|(pattern, _)| (pattern >> sketch) & 1 == 1);
            CellGroup::new(group.cells, with_one.map(|(_, count)| count).sum(), group.rate)
        });
        let counts = LevelCounts::new(groups.collect::<Result<_, _>>()?, self.channels[sketch], self.n_cap)?;
        Ok(counts.with_hashes(self.hashes))
    }

    /// The counts to expect of a group when union `T` holds `sizes[T]` items (`sizes[0] = 0`).
    pub(crate) fn expected(&self, group: &PatternGroup, sizes: &[f64]) -> Vec<f64> {
        let everything = sizes.len() - 1;
        // A cell is empty in all sketches of T with probability e^(−rate·sizes[T]): at most the other sketches are occupied.
        // Differences leave the probability that exactly these are.
        let mut law: Vec<f64> =
            (0..sizes.len()).map(|occupied| (-group.rate * sizes[everything ^ occupied]).exp()).collect();
        for bit in (0..self.sketches()).map(|sketch| 1 << sketch) {
            for index in (0..sizes.len()).filter(|index| index & bit == bit) {
                law[index] -= law[index ^ bit];
            }
        }
        for (sketch, channel) in self.channels.iter().enumerate() {
            let bit = 1 << sketch;
            for index in (0..sizes.len()).filter(|index| index & bit == 0) {
                let (empty, occupied) = (law[index].max(0.0), law[index | bit].max(0.0));
                law[index] = (1.0 - channel.q()) * empty + channel.miss() * occupied;
                law[index | bit] = channel.q() * empty + channel.p() * occupied;
            }
        }
        let cells = to_f64(group.cells);
        law.into_iter().map(|probability| cells * probability).collect()
    }
}
