//! The density of a row's error from its cells, as the weights of a reweighted mean.

use crate::combiner::count;
use crate::granularity::to_i64;

/// Weights `w(u) = −f′(u)/(u·f(u))` of errors `u`, non-increasing in `|u|`, times the square of the scale.
#[derive(Clone, Debug)]
pub(crate) struct Scores {
    scale: f64,
    inverse: f64,
    /// For `v = 1 + (u/s)²` in bins of equal length within every power of two.
    weights: Box<[f64]>,
}

/// Bins of `v` within a power of two are 2^this many.
const BIN_BITS: u32 = 7;

/// Nodes of the grid in one width of the kernel.
const NODES: u32 = 6;

/// Where the kernel ends, in widths: it is 2e−8 there.
const REACH: u32 = 6;

/// What is added to the density everywhere on the scale of the histogram, half of one cell: where there are no cells the
/// density of `t` is flat, and a row that far out counts as `1/u²`.
const FLOOR: f64 = 0.5;

/// The median of the absolute values of a standard Gaussian variable.
const GAUSSIAN_MEDIAN: f64 = 0.674_489_750_196_081_7;

/// The weights for values with these absolute values; `None` where more than half of them are 0.
pub(crate) fn score_weights(mut magnitudes: Vec<f64>) -> Option<Scores> {
    let middle = magnitudes.len() / 2;
    if magnitudes.is_empty() {
        return None;
    }
    let scale = *magnitudes.select_nth_unstable_by(middle, f64::total_cmp).1 / GAUSSIAN_MEDIAN;
    if scale <= 0.0 || !scale.is_finite() {
        return None;
    }
    let largest = magnitudes.iter().copied().fold(0.0, f64::max);
    let grid = Grid::new(&magnitudes, scale, largest);
    let mut nodes = grid.weights();
    make_non_increasing(&mut nodes);
    let bins = bin_of(1.0 + (largest / scale).powi(2)) + 2;
    let weight = |bin: usize| {
        let v = middle_of_bin(bin);
        interpolated(&nodes, (v - 1.0).sqrt().asinh() / grid.step)
    };
    Some(Scores { scale, inverse: scale.recip(), weights: (0..bins).map(weight).collect() })
}

impl Scores {
    pub(crate) const fn scale(&self) -> f64 {
        self.scale
    }

    /// From a location to the mean of the rows with the weights they have there. Rows that count for nothing do not move it.
    pub(crate) fn step(&self, rows: &[f64], location: f64) -> f64 {
        let (mut weighted, mut total) = (0.0, 0.0);
        for row in rows {
            let error = row - location;
            let weight = self.weight(error);
            weighted += weight * error;
            total += weight;
        }
        if total > 0.0 { weighted / total } else { 0.0 }
    }

    fn weight(&self, error: f64) -> f64 {
        let ratio = error * self.inverse;
        let v = 1.0 + ratio * ratio;
        match self.weights.get(bin_of(v)) {
            Some(weight) => *weight,
            // Beyond all cells, as in any gap.
            None => self.weights.last().map_or(0.0, |last| last * middle_of_bin(self.weights.len() - 1) / v),
        }
    }
}

/// The bin of a number from 1 on: its exponent and the first bits of its fraction.
fn bin_of(v: f64) -> usize {
    let above_one = v.to_bits().saturating_sub(1.0_f64.to_bits());
    usize::try_from(above_one >> (52 - BIN_BITS)).unwrap_or(usize::MAX)
}

fn middle_of_bin(bin: usize) -> f64 {
    let bits = (bin as u64) << (52 - BIN_BITS) | 1 << (51 - BIN_BITS);
    f64::from_bits(1.0_f64.to_bits() + bits)
}

/// The histogram of `t = asinh(|c|/s)` on equidistant nodes.
struct Grid {
    step: f64,
    width: f64,
    counts: Vec<f64>,
}

impl Grid {
    fn new(magnitudes: &[f64], scale: f64, largest: f64) -> Self {
        let width = count(magnitudes.len()).powf(-0.2);
        let step = width / f64::from(NODES);
        let nodes = node((largest / scale).asinh() / step) + usize::try_from(REACH * NODES).unwrap_or(0) + 2;
        let mut counts = vec![0.0; nodes];
        for magnitude in magnitudes {
            let place = (magnitude / scale).asinh() / step;
            let (below, share) = (node(place), place - place.floor());
            // A cell between two nodes belongs to both.
            for (at, part) in [(below, 1.0 - share), (below + 1, share)] {
                if let Some(slot) = counts.get_mut(at) {
                    *slot += part;
                }
            }
        }
        // The mirrored half shares this node.
        if let Some(zero) = counts.first_mut() {
            *zero *= 2.0;
        }
        Self { step, width, counts }
    }

    /// `s²·w` at the nodes, and the share of the squared score that each stands for.
    ///
    /// With `u = s·sinh t` and `g` the density of `t`, `f(u) = g(t)/(s·cosh t)`, so that
    /// `s²·w = (tanh t − g′/g)/(sinh t·cosh t)`, and `1 − g″/g` at 0.
    fn weights(&self) -> Vec<Block> {
        let reach = i64::from(REACH * NODES);
        let kernel: Vec<f64> = (0..=reach)
            .map(|offset| (-0.5 * (crate::combiner::integer(offset) / f64::from(NODES)).powi(2)).exp())
            .collect();
        let smooth = |at: usize| {
            let (mut density, mut slope, mut bend) = (FLOOR, 0.0, 0.0);
            for offset in -reach..=reach {
                let from = i64::try_from(at).unwrap_or(i64::MAX) - offset;
                let distance = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
                let from = usize::try_from(from.unsigned_abs()).unwrap_or(usize::MAX);
                let (Some(count), Some(height)) = (self.counts.get(from), kernel.get(distance)) else { continue };
                let z = crate::combiner::integer(offset) / f64::from(NODES);
                density += count * height;
                slope -= z / self.width * count * height;
                bend += (z * z - 1.0) / self.width.powi(2) * count * height;
            }
            (density, slope, bend)
        };
        let block = |at: usize| {
            let (density, slope, bend) = smooth(at);
            let t = count(at) * self.step;
            let (sinh, cosh) = (t.sinh(), t.cosh());
            let weight = if at == 0 { 1.0 - bend / density } else { (t.tanh() - slope / density) / (sinh * cosh) };
            Block { weight, mass: density * sinh * sinh + f64::MIN_POSITIVE, nodes: 1 }
        };
        (0..self.counts.len()).map(block).collect()
    }
}

/// The node at or below a place on the grid.
fn node(place: f64) -> usize {
    to_i64(place.floor()).and_then(|node| usize::try_from(node).ok()).unwrap_or(0)
}

/// Neighbouring nodes with one weight.
struct Block {
    weight: f64,
    mass: f64,
    nodes: usize,
}

/// The non-increasing weights, none below 0, that are nearest to these in the mean square of the score `w·u`: neighbours
/// that rise are pooled.
fn make_non_increasing(nodes: &mut Vec<Block>) {
    let mut pooled: Vec<Block> = Vec::with_capacity(nodes.len());
    for mut block in nodes.drain(..) {
        while let Some(last) = pooled.pop_if(|last| last.weight < block.weight) {
            let mass = last.mass + block.mass;
            let weight = last.weight * (last.mass / mass) + block.weight * (block.mass / mass);
            block = Block { weight, mass, nodes: last.nodes + block.nodes };
        }
        pooled.push(block);
    }
    let spread = |block: Block| {
        let weight = block.weight.max(0.0);
        (0..block.nodes).map(move |_| Block { weight, mass: 0.0, nodes: 1 })
    };
    nodes.extend(pooled.into_iter().flat_map(spread));
}

/// The weight between two nodes, of the last one beyond them.
fn interpolated(nodes: &[Block], place: f64) -> f64 {
    let (below, share) = (node(place), place - place.floor());
    match (nodes.get(below), nodes.get(below + 1)) {
        (Some(left), Some(right)) => left.weight * (1.0 - share) + right.weight * share,
        _ => nodes.last().map_or(0.0, |last| last.weight),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of |N(0, 1)| times a scale, by bisection of the normal tail.
    fn gaussian(scale: f64, cells: u32) -> Vec<f64> {
        let quantile = |share: f64| {
            let (mut low, mut high) = (0.0, 10.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if 1.0 - 2.0 * sketch_testkit::normal_tail(middle) < share { low = middle } else { high = middle }
            }
            scale * low
        };
        (0..cells).map(|cell| quantile((f64::from(cell) + 0.5) / f64::from(cells))).collect()
    }

    /// For a Gaussian law w is 1/σ² everywhere. Smoothing widens it, least in the middle: by h² on the scale of t.
    #[test]
    fn a_gaussian_law_weighs_all_rows_alike() {
        let scores = score_weights(gaussian(50.0, 20_000)).unwrap();
        assert!((scores.scale() / 50.0 - 1.0).abs() < 1e-3);
        for error in [0.0, 25.0, 50.0, 75.0] {
            assert!((scores.weight(error) - 1.0).abs() < 0.1, "{error}: {}", scores.weight(error));
        }
    }

    #[test]
    fn weights_never_rise_and_are_never_negative() {
        let laws = [gaussian(1.0, 500), (0..300).map(|n| 10.0 * f64::from(n % 3)).collect(), vec![1.0, 1e18]];
        for law in laws {
            let scores = score_weights(law).unwrap();
            let errors = (0..400_i32).map(|n| 1e-3 * 1.2_f64.powi(n));
            let weights: Vec<f64> = errors.map(|error| scores.weight(error)).collect();
            assert!(weights.iter().all(|weight| *weight >= 0.0));
            assert!(weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
        }
    }

    #[test]
    fn pooling_keeps_the_mean_of_what_it_pools() {
        let block = |weight: f64| Block { weight, mass: 1.0, nodes: 1 };
        let mut nodes: Vec<Block> = [3.0, 1.0, 2.0, 0.5, -4.0].map(block).into();
        make_non_increasing(&mut nodes);
        let found: Vec<f64> = nodes.iter().map(|node| node.weight).collect();
        assert!(found.iter().zip([3.0, 1.5, 1.5, 0.5, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn bins_hold_their_middles() {
        for bin in [0, 1, 127, 128, 129, 10_000] {
            assert_eq!(bin_of(middle_of_bin(bin)), bin);
        }
        assert_eq!(bin_of(1.0), 0);
    }
}
