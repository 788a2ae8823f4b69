//! Shapes of sketches: groups of equally likely cells.

use core::ops::Range;

use crate::legions::Legions;
use crate::level::{Term, check, pcsa_groups, rate_of, terms};
use crate::number::to_f64;
use crate::{BitChannel, CellGroup, LastLevel, LevelCounts, ParamError};

/// The shape of a sketch as estimators see it: groups of equally likely cells and the largest count worth looking for.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, CellLayout, predicted_rse};
/// let layout = CellLayout::pcsa(4096, 24)?;
/// let rse = predicted_rse(&layout, BitChannel::NOISELESS, 1e6);
/// assert!((rse - 0.0101).abs() < 1e-4);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CellLayout {
    groups: Vec<CellGroup>,
    n_cap: f64,
    hashes: u32,
}

impl CellLayout {
    /// A layout of `(cells, rate)` groups and the largest count `n_cap` to search for.
    ///
    /// # Errors
    /// [`ParamError::Rate`] and [`ParamError::Cap`] outside their ranges; [`ParamError::Cells`] without a single cell.
    pub fn new(groups: &[(u64, f64)], n_cap: f64) -> Result<Self, ParamError> {
        let groups = groups.iter().map(|&(cells, rate)| CellGroup::new(cells, 0, rate)).collect::<Result<_, _>>()?;
        check(groups, n_cap).map(|groups| Self { groups, n_cap, hashes: 1 })
    }

    /// The layout of a PCSA bitmap: `levels` levels of `buckets` cells, level `j` with `ρ = 2^-(j+1)/buckets` and the
    /// last level as likely as the one before it; `n_cap = (ln buckets + 5)/ρ_last`.
    ///
    /// # Errors
    /// [`ParamError::Cells`] without a bucket, [`ParamError::Levels`] outside `1 ..= 64`, [`ParamError::Rate`] for the
    /// one bucket of one level that every item hits.
    pub fn pcsa(buckets: u32, levels: u8) -> Result<Self, ParamError> {
        let zeros = [0; 64];
        let levels = usize::from(levels);
        let ones = zeros.get(..levels).ok_or(ParamError::Levels { found: levels })?;
        let (groups, n_cap) = pcsa_groups(buckets, ones, LastLevel::Exact)?;
        Ok(Self { groups, n_cap, hashes: 1 })
    }

    /// The layout of linear counting: one group of `cells` equally likely cells, `n_cap = (ln cells + 5)·cells`.
    ///
    /// # Errors
    /// [`ParamError::Cells`] with fewer than two cells.
    pub fn linear(cells: u64) -> Result<Self, ParamError> {
        Self::bloom(cells, 1)
    }

    /// The layout of an unpartitioned Bloom filter: every item throws `hashes` independent darts at `cells` cells.
    ///
    /// The filter of `n` items is that of linear counting after `hashes·n` items, so what is known of the one carries
    /// over: the rate of a cell is `−hashes·ln(1 − 1/cells)`, and `Var(n̂) = 1/H − n/hashes`.
    ///
    /// # Errors
    /// [`ParamError::Cells`] with fewer than two cells; [`ParamError::Hashes`] unless `1 ≤ hashes ≤ 64`.
    ///
    /// # Examples
    /// ```
    /// use cardinality_estimators::{BitChannel, CellLayout, predicted_rse};
    /// // Without noise a second hash helps a little while cells are many; its noise costs far more than that.
    /// let error = |hashes: u32, epsilon: f64| {
    ///     let flip = 1.0 / (1.0 + (epsilon / f64::from(hashes)).exp());
    ///     let layout = CellLayout::bloom(4096, hashes)?;
    ///     Ok::<f64, Box<dyn core::error::Error>>(predicted_rse(&layout, BitChannel::symmetric(flip)?, 1000.0))
    /// };
    /// assert!(error(2, 2.0)? > 1.3 * error(1, 2.0)?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn bloom(cells: u64, hashes: u32) -> Result<Self, ParamError> {
        if cells < 2 {
            return Err(ParamError::Cells { expected: 2, found: cells });
        }
        if !(1..=64).contains(&hashes) {
            return Err(ParamError::Hashes { found: hashes });
        }
        let rate = f64::from(hashes) * rate_of(1.0 / to_f64(cells));
        let n_cap = (to_f64(cells).ln() + 5.0) / rate;
        Ok(Self { groups: vec![CellGroup::new(cells, 0, rate)?], n_cap, hashes })
    }

    /// The layout of a Liquid Legions sketch: `cells` cells, cell `i` with
    /// `ρ = e^(−Ai/cells)·(1 − e^(−A/cells))/(1 − e^(−A))` for a decay `A`; `n_cap = (ln cells + 5)/ρ_last`.
    ///
    /// Every cell has its own rate, but neighbours whose rates span a factor of at most `e^w`, `w = 0.3·(A/cells)^(1/4)`,
    /// form a group with their mean rate. This biases an estimate by less than a hundredth of its standard error and makes
    /// 400 groups of 100,000 cells at `A = 12`, so that an estimate takes a tenth of a millisecond and not a third of a
    /// second.
    ///
    /// Source: \[KWS+20\] for the sketch; probabilities and estimate are those of any other bitmap.
    ///
    /// # Errors
    /// [`ParamError::Cells`] with fewer than two cells, [`ParamError::Decay`] unless `2^-20 ≤ decay ≤ 64`;
    /// [`ParamError::Rate`] when the last cell's is below its range, which needs more than 2^35 cells.
    ///
    /// # Examples
    /// ```
    /// use cardinality_estimators::{BitChannel, CellLayout, predicted_rse};
    /// let layout = CellLayout::legions(100_000, 12.0)?;
    /// assert!((300..500).contains(&layout.groups().len()));
    /// // √(6A/(π²·cells)) for many items and no noise.
    /// let rse = predicted_rse(&layout, BitChannel::NOISELESS, 1e7);
    /// assert!((rse - 0.00854).abs() < 1e-4);
    /// # Ok::<(), cardinality_estimators::ParamError>(())
    /// ```
    pub fn legions(cells: u64, decay: f64) -> Result<Self, ParamError> {
        let legions = Legions::new(cells, decay)?;
        Ok(Self { groups: legions.groups()?, n_cap: legions.n_cap(), hashes: 1 })
    }

    /// The counts of a sketch of this layout, one count of ones a group, in the order of the groups.
    ///
    /// # Errors
    /// [`ParamError::Counts`] unless there is one count a group; [`ParamError::Ones`] when a count exceeds its cells.
    pub fn counts(&self, ones: &[u64], channel: BitChannel) -> Result<LevelCounts, ParamError> {
        if ones.len() != self.groups.len() {
            return Err(ParamError::Counts { expected: self.groups.len(), found: ones.len() });
        }
        let groups: Result<Vec<_>, _> =
            self.groups.iter().zip(ones).map(|(g, &ones)| CellGroup::new(g.cells, ones, g.rate)).collect();
        Ok(LevelCounts::new(groups?, channel, self.n_cap)?.with_hashes(self.hashes))
    }

    /// The counts of a sketch whose cells lie in the order of the groups: `ones_in` says how many cells of a range hold
    /// a one.
    ///
    /// # Errors
    /// [`ParamError::Ones`] when it says more than there are cells.
    ///
    /// # Examples
    /// ```
    /// use cardinality_estimators::{BitChannel, CellLayout, Confidence, estimate};
    /// let layout = CellLayout::legions(5000, 10.0)?;
    /// let bits: Vec<u64> = (0..5000).map(|cell| u64::from(cell < 1800)).collect();
    /// let ones_in = |cells: std::ops::Range<u64>| bits[cells.start as usize..cells.end as usize].iter().sum();
    /// let counts = layout.counts_by_range(ones_in, BitChannel::NOISELESS)?;
    /// // Items enough to fill a cell of rank 1800 with probability of about a half.
    /// assert!(estimate(&counts, Confidence::P95).value().is_some_and(|n| (10_000.0..15_000.0).contains(&n)));
    /// # Ok::<(), cardinality_estimators::ParamError>(())
    /// ```
    pub fn counts_by_range(
        &self,
        mut ones_in: impl FnMut(Range<u64>) -> u64,
        channel: BitChannel,
    ) -> Result<LevelCounts, ParamError> {
        let mut start = 0_u64;
        let ones = self.groups.iter().map(|group| {
            let cells = start..start.saturating_add(group.cells);
            start = cells.end;
            ones_in(cells)
        });
        let ones: Vec<u64> = ones.collect();
        self.counts(&ones, channel)
    }

    /// The largest count to search for.
    #[must_use]
    pub const fn n_cap(&self) -> f64 {
        self.n_cap
    }

    /// How many darts an item throws at the cells: 1 but for Bloom filters.
    #[must_use]
    pub const fn hashes(&self) -> u32 {
        self.hashes
    }

    /// The groups as `(cells, rate)`, in the order given.
    #[must_use]
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (u64, f64)> + '_ {
        self.groups.iter().map(|g| (g.cells, g.rate))
    }

    pub(crate) fn terms(&self) -> Vec<Term> {
        terms(&self.groups)
    }
}
