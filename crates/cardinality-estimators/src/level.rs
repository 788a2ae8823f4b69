//! Counts of ones in groups of equally likely cells.

use crate::information::Information;
use crate::number::to_f64;
use crate::{BitChannel, Grid, ParamError};

/// How the last level of a PCSA bitmap is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LastLevel {
    /// The last level takes the whole tail, so its cells are as likely as those of the level before: what sketches do.
    #[default]
    Exact,
    /// Half of that, as Presto's estimator assumes; only to reproduce its answers.
    Presto,
}

/// Cells that share one rate, and how many of them hold a one.
///
/// The rate is `−ln(1 − ρ)` where `ρ` is the probability that one item hits a given cell, so a cell is still empty
/// after `n` items with probability `exp(−rate·n)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellGroup {
    pub(crate) cells: u64,
    pub(crate) ones: u64,
    pub(crate) rate: f64,
}

impl CellGroup {
    /// The smallest accepted rate, 2^-128.
    pub const MIN_RATE: f64 = f64::from_bits((1023 - 128) << 52);
    /// The largest accepted rate.
    pub const MAX_RATE: f64 = 128.0;

    /// A group of `cells` cells of which `ones` read one.
    ///
    /// # Errors
    /// [`ParamError::Ones`] when `ones > cells`; [`ParamError::Rate`] unless `2^-128 ≤ rate ≤ 128`.
    pub fn new(cells: u64, ones: u64, rate: f64) -> Result<Self, ParamError> {
        if ones > cells {
            return Err(ParamError::Ones { ones, cells });
        }
        if !(Self::MIN_RATE..=Self::MAX_RATE).contains(&rate) {
            return Err(ParamError::Rate { found: rate });
        }
        Ok(Self { cells, ones, rate })
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(&self) -> u64 {
        self.cells
    }

    /// How many of them read one.
    #[must_use]
    pub const fn ones(&self) -> u64 {
        self.ones
    }

    /// `−ln(1 − ρ)`.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }
}

/// One group as the likelihood reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) rate: f64,
    pub(crate) ones: f64,
    pub(crate) zeros: f64,
}

impl Term {
    pub(crate) fn cells(&self) -> f64 {
        self.ones + self.zeros
    }
}

/// Everything the likelihood needs of one sketch: ones in groups of cells, one channel, and the end of the search.
///
/// The order of the groups does not matter; groups of equal rate count as one.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelCounts {
    pub(crate) terms: Vec<Term>,
    channel: BitChannel,
    n_cap: f64,
    grid: Grid,
    hashes: u32,
}

impl LevelCounts {
    /// Counts of general groups, with the largest count `n_cap` to search for.
    ///
    /// The search ends at `512/rate` of the least likely cells if `n_cap` lies beyond: no cell is left empty there.
    ///
    /// # Errors
    /// [`ParamError::Cells`] without a single cell; [`ParamError::Cap`] unless `2^-20 ≤ n_cap ≤ 2^200`.
    pub fn new(groups: Vec<CellGroup>, channel: BitChannel, n_cap: f64) -> Result<Self, ParamError> {
        let terms = terms(&check(groups, n_cap)?);
        let slowest = terms.last().map_or(CellGroup::MAX_RATE, |term| term.rate);
        Ok(Self { terms, channel, n_cap: n_cap.min(512.0 / slowest), grid: Grid::default(), hashes: 1 })
    }

    /// Counts of a PCSA bitmap of `buckets` cells a level; see [`CellLayout::pcsa`](crate::CellLayout::pcsa) for rates and range.
    ///
    /// # Errors
    /// As [`CellLayout::pcsa`](crate::CellLayout::pcsa), and [`ParamError::Ones`] when a level holds more ones than buckets.
    pub fn pcsa(buckets: u32, ones_per_level: &[u64], channel: BitChannel) -> Result<Self, ParamError> {
        Self::pcsa_with(buckets, ones_per_level, channel, LastLevel::Exact)
    }

    /// As [`Self::pcsa`] with a choice of how the last level is modelled.
    ///
    /// # Errors
    /// As [`Self::pcsa`].
    pub fn pcsa_with(
        buckets: u32,
        ones_per_level: &[u64],
        channel: BitChannel,
        last_level: LastLevel,
    ) -> Result<Self, ParamError> {
        let (groups, n_cap) = pcsa_groups(buckets, ones_per_level, last_level)?;
        Self::new(groups, channel, n_cap)
    }

    /// The same counts, searched over another grid.
    #[must_use]
    pub fn with_grid(mut self, grid: Grid) -> Self {
        self.grid = grid;
        self
    }

    /// The same counts of a sketch into which every item throws several darts.
    pub(crate) fn with_hashes(mut self, hashes: u32) -> Self {
        self.hashes = hashes;
        self
    }

    /// The channel all cells went through.
    #[must_use]
    pub const fn channel(&self) -> BitChannel {
        self.channel
    }

    /// The largest count to search for.
    #[must_use]
    pub const fn n_cap(&self) -> f64 {
        self.n_cap
    }

    /// The grid of the exhaustive search.
    #[must_use]
    pub const fn grid(&self) -> Grid {
        self.grid
    }

    pub(crate) fn information(&self) -> Information<'_> {
        Information { terms: &self.terms, channel: self.channel, hashes: f64::from(self.hashes) }
    }

    /// Whether no cell reads one.
    #[must_use]
    pub fn is_all_zero(&self) -> bool {
        self.terms.iter().all(|term| term.ones <= 0.0)
    }
}

/// `−ln(1 − ρ)` without cancellation.
pub(crate) fn rate_of(rho: f64) -> f64 {
    if rho < 1.0 / 4096.0 {
        // Five terms of the series: the sixth is below 2^-62 of the first.
        rho * (1.0 + rho * (0.5 + rho * (1.0 / 3.0 + rho * (0.25 + rho * 0.2))))
    } else {
        -(-rho).ln_1p()
    }
}

pub(crate) fn pcsa_groups(
    buckets: u32,
    ones: &[u64],
    last_level: LastLevel,
) -> Result<(Vec<CellGroup>, f64), ParamError> {
    if !(1..=64).contains(&ones.len()) {
        return Err(ParamError::Levels { found: ones.len() });
    }
    if buckets == 0 {
        return Err(ParamError::Cells { expected: 1, found: 0 });
    }
    let mut groups = Vec::with_capacity(ones.len());
    let mut rho = 1.0 / f64::from(buckets);
    for (level, &ones_here) in ones.iter().enumerate() {
        let tail = level + 1 == ones.len() && last_level == LastLevel::Exact;
        if !tail {
            rho /= 2.0;
        }
        groups.push(CellGroup::new(u64::from(buckets), ones_here, rate_of(rho))?);
    }
    Ok((groups, (f64::from(buckets).ln() + 5.0) / rho))
}

pub(crate) fn check_range(n_cap: f64) -> Result<(), ParamError> {
    if (2.0_f64.powi(-20)..=2.0_f64.powi(200)).contains(&n_cap) {
        Ok(())
    } else {
        Err(ParamError::Cap { found: n_cap })
    }
}

pub(crate) fn check(groups: Vec<CellGroup>, n_cap: f64) -> Result<Vec<CellGroup>, ParamError> {
    check_range(n_cap)?;
    if groups.iter().all(|group| group.cells == 0) {
        return Err(ParamError::Cells { expected: 1, found: 0 });
    }
    Ok(groups)
}

/// Sorted by falling rate, equal rates joined, empty groups dropped: one canonical form whatever the order given.
pub(crate) fn terms(groups: &[CellGroup]) -> Vec<Term> {
    let mut sorted: Vec<CellGroup> = groups.iter().copied().filter(|group| group.cells > 0).collect();
    sorted.sort_by(|x, y| y.rate.total_cmp(&x.rate).then((x.cells, x.ones).cmp(&(y.cells, y.ones))));
    let mut joined: Vec<Term> = Vec::with_capacity(sorted.len());
    for group in sorted {
        let (ones, zeros) = (to_f64(group.ones), to_f64(group.cells - group.ones));
        match joined.last_mut() {
            Some(last) if last.rate.to_bits() == group.rate.to_bits() => {
                last.ones += ones;
                last.zeros += zeros;
            }
            _ => joined.push(Term { rate: group.rate, ones, zeros }),
        }
    }
    joined
}
