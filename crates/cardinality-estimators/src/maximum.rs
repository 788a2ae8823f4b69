//! The global maximum of the likelihood: a fast way that knows when it is right, and a thorough one.

use crate::likelihood::Slope;
use crate::solve::{Objective, Peak, Summit, climb, highest_inside, highest_peak};
use crate::{Grid, LevelCounts};

/// The likelihood as the solver sees it.
struct Likelihood<'a> {
    counts: &'a LevelCounts,
    negligible_beyond: f64,
}

impl Objective for Likelihood<'_> {
    fn grid(&self) -> Grid {
        self.counts.grid()
    }

    fn cap(&self) -> f64 {
        self.counts.n_cap()
    }

    fn height(&self, n: f64) -> f64 {
        self.counts.relative_log_likelihood(n)
    }

    fn slope(&self, n: f64) -> Slope {
        self.counts.derivatives(n, self.negligible_beyond)
    }
}

impl<'a> Likelihood<'a> {
    fn new(counts: &'a LevelCounts) -> Self {
        Self { counts, negligible_beyond: counts.channel().negligible_beyond() }
    }
}

/// The global maximum: Newton from the best single level where that is certain to find it, else the whole grid.
pub(crate) fn maximise(counts: &LevelCounts) -> Summit {
    let only = |n| Summit { peak: Peak::Inside(n), alone: true };
    quick_peak(counts).map_or_else(|| maximise_on_grid(counts), only)
}

/// The global maximum by the grid alone.
pub(crate) fn maximise_on_grid(counts: &LevelCounts) -> Summit {
    highest_peak(&Likelihood::new(counts))
}

/// The highest maximum below the end of the range, if there is one.
pub(crate) fn maximise_inside(counts: &LevelCounts) -> Option<f64> {
    highest_inside(&Likelihood::new(counts)).map(|(n, _)| n)
}

/// A maximum found by Newton, if it is certain to be the global one.
fn quick_peak(counts: &LevelCounts) -> Option<f64> {
    let n = climb(&Likelihood::new(counts), best_single_level(counts)?)?;
    stands_alone(counts, n).then_some(n)
}

/// Whether a local maximum at `n`, where `precision = n²·H(n)`, must be the only one.
///
/// Without noise the likelihood has one maximum. With noise, suppose another count `n'` fitted at least as well. Both
/// then lie within `√X²` of the data, where `X²` is Pearson's misfit at `n`, so within `2√X²` of each other; but two
/// counts a factor of two apart are about `ln 2·√precision` apart in the same distance, and nearer ones lie in the region
/// where the likelihood of data that fit is concave. Hence a small misfit beside a small error is enough.
fn stands_alone(counts: &LevelCounts, n: f64) -> bool {
    if counts.channel().is_noiseless() {
        return true;
    }
    let precision = n * n * counts.information().expected(n);
    precision > 100.0 && misfit(counts, n) < 0.12 * precision
}

/// Pearson's `X²` of the counts against `n` items.
fn misfit(counts: &LevelCounts, n: f64) -> f64 {
    let channel = counts.channel();
    let distance = |term: &crate::level::Term| {
        let cell = channel.cell(term.rate * n);
        let residual = term.ones - term.cells() * cell.on;
        residual * residual / (term.cells() * cell.on * (channel.miss() + channel.d() * cell.empty))
    };
    counts.terms.iter().map(distance).sum()
}

/// The closed form `−ln((p − ones/cells)/d)/rate` of the level that says most about the count.
fn best_single_level(counts: &LevelCounts) -> Option<f64> {
    let channel = counts.channel();
    let mut best = (0.0, None);
    for term in &counts.terms {
        let on = term.ones / term.cells();
        let empty = (channel.p() - on) / channel.d();
        if !(empty > 0.0 && empty < 1.0) {
            continue;
        }
        let x = -empty.ln();
        let reach = x * channel.d() * empty;
        let worth = term.cells() * reach * reach / (on * (1.0 - on));
        if worth > best.0 {
            best = (worth, Some(x / term.rate));
        }
    }
    best.1
}
