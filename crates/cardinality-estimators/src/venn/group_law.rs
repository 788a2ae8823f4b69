//! The likelihood of the region sizes of groups of sketches, the law inside every pattern of groups being whatever fits best.
//!
//! The sizes fix the probability `s_C` that a cell is occupied in exactly the groups `C`. How many sketches of each of these
//! groups hold it is free: the columns of the kernel with digits above 0 in exactly the groups of `C` are one block of mass
//! `s_C`. With `ν_C = dl/ds_C` (the envelope theorem: the law inside the blocks moves too, but that does not matter to first
//! order) the gradient is `rate·Σ ν·(J_A − 1)·s`. The information about `s` is what the free weights leave of it: with
//! `M = K' diag(N/f) K` over the weights above 0 and `E` the blocks' indicators, `(E' M⁻¹ E)⁻¹`.

use core::cell::RefCell;

use super::groups::GroupCounts;
use super::model::sketches;
use super::pattern_law::{occupied, pull, with_one_more};
use super::surface::{Slope, Surface};
use super::symmetric::Symmetric;
use crate::law::{BlockLaw, LawFit, Symmetric as Dense, dot, product_kernel};
use crate::number::to_f64;
use crate::tally::TalliedCells;

/// What the log-likelihood may miss, in all.
const TOLERANCE: f64 = 1e-6;
const ROUGH: f64 = 0.5;
/// Weights below this share of their block are 0.
const FREE: f64 = 1e-6;
/// Blocks get at least this share of all items for the information about them.
const FLOOR: f64 = 1e-9;

/// Counts of groups with all that does not change while their sizes do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupModel {
    pub(super) counts: GroupCounts,
    law: BlockLaw,
    /// The block of every column.
    blocks: Vec<usize>,
    /// Where the solver starts in every level.
    starts: Vec<Option<LawFit>>,
}

impl GroupModel {
    /// `None` only for a kernel without columns, which [`GroupCounts`] excludes.
    pub(crate) fn new(counts: GroupCounts) -> Option<Self> {
        let classes: Vec<_> = counts.groups.iter().flatten().map(|class| (class.channel, class.sketches)).collect();
        let (kernel, states) = (product_kernel(&classes), counts.states());
        let patterns = counts.patterns();
        let mut order: Vec<usize> = (0..states).collect();
        order.sort_by_key(|&column| patterns[column]);
        let mut sorted = Vec::with_capacity(kernel.len());
        for row in kernel.chunks_exact(states) {
            sorted.extend(order.iter().map(|&column| row[column]));
        }
        let blocks: Vec<usize> = order.iter().map(|&column| patterns[column]).collect();
        let lengths =
            (0..1 << counts.sets()).map(|block| blocks.iter().filter(|&&other| other == block).count()).collect();
        let starts = vec![None; counts.levels.len()];
        Some(Self { law: BlockLaw::new(states, sorted, lengths)?, counts, blocks, starts })
    }

    /// Whatever is asked from now on is near these sizes.
    pub(crate) fn settle(&mut self, regions: &[f64]) {
        let surface = GroupSurface::new(self);
        surface.height(regions);
        self.starts = surface.fits.into_inner();
    }
}

/// The likelihood of groups with what its solver remembers.
#[derive(Debug)]
pub(crate) struct GroupSurface<'a> {
    counts: &'a GroupCounts,
    law: &'a BlockLaw,
    blocks: &'a [usize],
    nothing_fixed: Vec<f64>,
    fits: RefCell<Vec<Option<LawFit>>>,
}

impl<'a> GroupSurface<'a> {
    pub(crate) fn new(model: &'a GroupModel) -> Self {
        Self {
            counts: &model.counts,
            law: &model.law,
            blocks: &model.blocks,
            nothing_fixed: vec![0.0; model.law.states()],
            fits: RefCell::new(model.starts.clone()),
        }
    }

    /// The best law of one level with these masses, from the one before.
    fn level_fit(&self, index: usize, level: &TalliedCells, masses: &[f64], tolerance: f64) -> LawFit {
        let tolerance = tolerance / to_f64(self.counts.levels.len().max(1) as u64);
        let before = self.fits.try_borrow_mut().ok().and_then(|mut fits| fits.get_mut(index)?.take());
        let fit = self.law.fit(&level.counts, &self.nothing_fixed, masses, tolerance, before.as_ref());
        if let Ok(mut fits) = self.fits.try_borrow_mut()
            && let Some(place) = fits.get_mut(index)
        {
            *place = Some(fit.clone());
        }
        fit
    }

    fn log_likelihood(&self, regions: &[f64], tolerance: f64) -> f64 {
        let level = |(index, level): (usize, &TalliedCells)| {
            self.level_fit(index, level, &occupied(level.rate, regions), tolerance).log_likelihood
        };
        self.counts.levels.iter().enumerate().map(level).sum()
    }

    /// The information about the masses of the blocks that the free weights leave, for one level.
    fn about_masses(&self, level: &TalliedCells, masses: &[f64], fit: &LawFit) -> Vec<f64> {
        let number = masses.len();
        let mut columns: Vec<usize> = Vec::new();
        for (block, mass) in masses.iter().enumerate() {
            let own = || (0..self.blocks.len()).filter(|&column| self.blocks[column] == block);
            let before = columns.len();
            columns.extend(own().filter(|&column| fit.weights[column] > FREE * mass));
            if columns.len() == before {
                columns.extend(own().next());
            }
        }
        let mut rows = Vec::with_capacity(columns.len() * self.law.states());
        for state in 0..self.law.states() {
            let row = self.law.row(state);
            let f = dot(row, &fit.weights);
            if f > 1e-280 {
                let scale = (level.cells / f).sqrt();
                rows.extend(columns.iter().map(|&column| row[column] * scale));
            }
        }
        let mut system = Dense::new(columns.len());
        system.add_gram(&rows);
        system.factor();
        let indicator = |block: usize| -> Vec<f64> {
            columns.iter().map(|&column| if self.blocks[column] == block { 1.0 } else { 0.0 }).collect()
        };
        let mut left = Dense::new(number);
        for block in 0..number {
            let mut solution = indicator(block);
            system.solve(&mut solution);
            for other in 0..=block {
                left.add(other, block, dot(&indicator(other), &solution));
            }
        }
        left.factor();
        let mut information = vec![0.0; number * number];
        for block in 0..number {
            let mut solution = vec![0.0; number];
            solution[block] = 1.0;
            left.solve(&mut solution);
            for (other, value) in solution.into_iter().enumerate() {
                information[other * number + block] = value;
            }
        }
        information
    }
}

impl Surface for GroupSurface<'_> {
    fn dimensions(&self) -> usize {
        (1 << self.counts.sets()) - 1
    }

    fn cap(&self) -> f64 {
        self.counts.n_cap
    }

    /// From half the largest average set to twice the sum of all.
    fn totals(&self) -> Vec<f64> {
        let averages = self.counts.averages();
        let each = averages.iter().zip(&self.counts.groups);
        let most: f64 = each.map(|(average, classes)| average * to_f64(sketches(classes) as u64)).sum();
        let least = averages.iter().copied().fold(0.0, f64::max).max(0.0625);
        let mut total = (0.5 * least).min(self.cap());
        let mut totals = vec![total];
        while total < (2.0 * most).min(self.cap()) {
            total = (3.0 * total).min(self.cap());
            totals.push(total);
        }
        totals
    }

    fn barrier_factor(&self) -> f64 {
        1e-3
    }

    fn height(&self, regions: &[f64]) -> f64 {
        self.log_likelihood(regions, TOLERANCE)
    }

    fn rough_height(&self, regions: &[f64]) -> f64 {
        self.log_likelihood(regions, ROUGH)
    }

    fn slope(&self, regions: &[f64]) -> Slope {
        let size = regions.len();
        let total: f64 = regions.iter().sum();
        let held: Vec<f64> = regions.iter().map(|n| n.max(FLOOR * (total + 1.0))).collect();
        let mut gradient = vec![0.0; size];
        let (mut information, mut bend) = (vec![0.0; size * size], vec![0.0; size * size]);
        for (index, level) in self.counts.levels.iter().enumerate() {
            let masses = occupied(level.rate, &held);
            let fit = self.level_fit(index, level, &masses, TOLERANCE);
            let about = self.about_masses(level, &masses, &fit);
            let moved: Vec<Vec<f64>> = (1..=size).map(|region| with_one_more(&masses, region)).collect();
            for (i, (region, row)) in (1..).zip(&moved).enumerate() {
                gradient[i] += level.rate * pull(&masses, &fit.multipliers, region);
                let pulled: Vec<f64> = about.chunks_exact(masses.len()).map(|about| dot(about, row)).collect();
                for (j, column) in moved.iter().enumerate().take(i + 1) {
                    let expected = dot(&pulled, column);
                    let square = level.rate * level.rate;
                    information[i * size + j] += square * expected;
                    bend[i * size + j] += square * (expected - pull(column, &fit.multipliers, region));
                }
            }
        }
        Slope {
            gradient,
            information: Symmetric::from_lower(size, |i, j| information[i * size + j]),
            bend: Symmetric::from_lower(size, |i, j| bend[i * size + j]),
        }
    }
}
