//! The highest point of a likelihood over region sizes that are not negative.
//!
//! Fisher scoring on `l + μ·Σ ln x_A`, scaled by the sizes, with a barrier `μ` that falls from 1 to 1e-11: no region comes
//! near 0 before the others have found their place. Then regions that are as good as empty are set to 0, the others are
//! polished by Newton's method without a barrier, and the likelihood must not rise where an empty region is filled again
//! (the conditions of Karush, Kuhn and Tucker). All loops are bounded.

use super::surface::{Slope, Surface};
use super::symmetric::Symmetric;

/// A maximum and its height.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Peak {
    pub(crate) regions: Vec<f64>,
    pub(crate) height: f64,
}

/// The weights of the barrier, first and last.
const FIRST_BARRIER: f64 = 1.0;
const LAST_BARRIER: f64 = 1e-11;
/// Where the barrier starts again when the likelihood wants an empty region filled.
const LATE_BARRIER: f64 = 1e-4;

/// Steps with one barrier, and steps of one polish.
const STEPS: usize = 40;

/// How often regions may be emptied and filled again.
const ROUNDS: usize = 8;

/// A region below this share of all items, or of its own standard error, is as good as empty.
const NEGLIGIBLE: f64 = 1e-6;

/// Where a climb ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Climbed {
    pub(crate) peak: Peak,
    /// Whether it came to rest there.
    pub(crate) at_rest: bool,
}

/// Climbs from `start`.
pub(crate) fn climb<S: Surface + ?Sized>(surface: &S, start: Vec<f64>) -> Climbed {
    let mut climber = Climber { surface, regions: start };
    climber.follow_barrier(FIRST_BARRIER);
    let mut left = f64::INFINITY;
    for _ in 0..ROUNDS {
        climber.empty_small();
        left = climber.polish();
        if climber.fill_wanted() {
            climber.follow_barrier(LATE_BARRIER);
        } else if !climber.empty_small() {
            break;
        }
    }
    climber.empty_all();
    let height = surface.height(&climber.regions);
    Climbed { peak: Peak { regions: climber.regions, height }, at_rest: height.is_finite() && left < 1e-4 }
}

struct Climber<'a, S: ?Sized> {
    surface: &'a S,
    regions: Vec<f64>,
}

/// A step in units of the sizes of the regions that are free to move, and twice the gain it promises.
struct Step {
    free: Vec<usize>,
    changes: Vec<f64>,
    promise: f64,
}

impl<S: Surface + ?Sized> Climber<'_, S> {
    fn follow_barrier(&mut self, first: f64) {
        let mut barrier = first;
        while barrier > LAST_BARRIER {
            for _ in 0..STEPS {
                let slope = self.surface.slope(&self.regions);
                let Some(step) = self.step(&slope, barrier) else { break };
                if step.promise < 0.1 * barrier || !self.advance(&step, barrier) {
                    break;
                }
            }
            barrier *= self.surface.barrier_factor();
        }
    }

    /// Newton's method on the regions that are not empty. Returns what the last step still promised.
    fn polish(&mut self) -> f64 {
        let mut last = f64::INFINITY;
        for _ in 0..STEPS {
            let slope = self.surface.slope(&self.regions);
            let Some(step) = self.step(&slope, 0.0) else { return last };
            let promise = step.promise;
            // Near the top rounding hides the gain; there whole steps halve the digits left, until they no longer do.
            let near = promise < 1e-7;
            if promise <= 0.0 || (near && promise > 0.25 * last) {
                return promise.min(last);
            }
            last = promise;
            if near {
                self.take(&step, 1.0_f64.min(step.reach()));
            } else if !self.advance(&step, 0.0) {
                return last;
            }
        }
        last
    }

    /// The best step with this barrier: by the curvature of the data where that is a peak's, else by the expected one.
    fn step(&self, slope: &Slope, barrier: f64) -> Option<Step> {
        let free: Vec<usize> = (0..self.regions.len()).filter(|&i| self.regions[i] > 0.0).collect();
        let scales: Vec<f64> = free.iter().map(|&i| self.regions[i]).collect();
        let gradient: Vec<f64> = free.iter().map(|&i| self.regions[i] * slope.gradient[i] + barrier).collect();
        let solve = |curvature: &Symmetric, ridge: f64| {
            let mut matrix = curvature.scaled_part(&free, &scales);
            for i in 0..matrix.size() {
                let own = matrix.at(i, i).abs();
                matrix.add_to_diagonal(i, barrier + ridge * own + f64::MIN_POSITIVE);
            }
            let changes = matrix.factor()?.solve(&gradient);
            let promise: f64 = changes.iter().zip(&gradient).map(|(x, y)| x * y).sum();
            (promise.is_finite() && promise >= 0.0 && changes.iter().all(|x| x.is_finite())).then(|| Step {
                free: free.clone(),
                changes,
                promise,
            })
        };
        let by_data = if barrier < 0.01 { solve(&slope.bend, 0.0) } else { None };
        by_data.or_else(|| [0.0, 1e-12, 1e-9, 1e-6].into_iter().find_map(|ridge| solve(&slope.information, ridge)))
    }

    /// The longest of ever shorter steps that gains a share of what it promises.
    fn advance(&mut self, step: &Step, barrier: f64) -> bool {
        let before = self.regions.clone();
        let height = self.merit(barrier);
        let mut share = 1.0_f64.min(step.reach());
        for _ in 0..40 {
            self.take(step, share);
            if self.merit(barrier) > height + 1e-4 * share * step.promise {
                return true;
            }
            self.regions.clone_from(&before);
            share *= 0.5;
        }
        false
    }

    fn take(&mut self, step: &Step, share: f64) {
        let cap = self.surface.cap();
        for (&i, t) in step.free.iter().zip(&step.changes) {
            let n = self.regions[i];
            self.regions[i] = (n + n * share * t).clamp(f64::MIN_POSITIVE, cap);
        }
    }

    fn merit(&self, barrier: f64) -> f64 {
        let logs: f64 = self.regions.iter().filter(|n| **n > 0.0).map(|n| n.ln()).sum();
        self.surface.height(&self.regions) + barrier * logs
    }

    /// Sets regions as good as empty to 0, all together or, where the data need one of them, one by one.
    fn empty_small(&mut self) -> bool {
        let slope = self.surface.slope(&self.regions);
        let total: f64 = self.regions.iter().sum();
        let is_small = |&i: &usize| {
            let n = self.regions[i];
            n > 0.0 && (n < NEGLIGIBLE * total || n * slope.information.at(i, i).sqrt() < NEGLIGIBLE)
        };
        let small: Vec<usize> = (0..self.regions.len()).filter(is_small).collect();
        if small.is_empty() {
            return false;
        }
        let kept = self.regions.clone();
        let floor = self.surface.height(&kept) - 1e-3;
        for &i in &small {
            self.regions[i] = 0.0;
        }
        if self.surface.height(&self.regions) >= floor {
            return true;
        }
        self.regions = kept;
        let mut emptied = false;
        for i in small {
            let n = core::mem::replace(&mut self.regions[i], 0.0);
            if self.surface.height(&self.regions) >= floor {
                emptied = true;
            } else {
                self.regions[i] = n;
            }
        }
        emptied
    }

    /// Sets all regions to 0 where they are nothing even together and the data do not need them: shares of the total say
    /// nothing then.
    fn empty_all(&mut self) {
        let nothing = vec![0.0; self.regions.len()];
        let is_small = self.regions.iter().sum::<f64>() < NEGLIGIBLE;
        if is_small && self.surface.height(&nothing) >= self.surface.height(&self.regions) - 1e-3 {
            self.regions = nothing;
        }
    }

    /// Gives empty regions that the data want filled a small size. Returns whether there are any.
    fn fill_wanted(&mut self) -> bool {
        let slope = self.surface.slope(&self.regions);
        let mut any = false;
        for (i, n) in self.regions.iter_mut().enumerate() {
            let unit = slope.information.at(i, i).sqrt().recip();
            if *n <= 0.0 && unit.is_finite() && slope.gradient[i] * unit > 1e-6 {
                *n = 1e-3 * unit;
                any = true;
            }
        }
        any
    }
}

impl Step {
    /// The share of the step that leads 95 % of the way to the first region's end.
    fn reach(&self) -> f64 {
        let steepest = self.changes.iter().fold(0.0, |most: f64, t| most.max(-t));
        if steepest > 0.0 { 0.95 / steepest } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::to_f64;
    use crate::venn::pattern_law::{occupied, through};
    use crate::{BitChannel, CellLayout, PatternCounts};

    /// Uniform on [0, 1), the same on every run (`SplitMix64`).
    fn unit(state: &mut u64) -> f64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        to_f64((x ^ (x >> 31)) >> 11) / to_f64(1 << 53)
    }

    /// Patterns drawn from their law.
    fn drawn(state: &mut u64, regions: &[f64], channels: &[BitChannel]) -> PatternCounts {
        let layout = CellLayout::pcsa(256, 12).unwrap();
        let level = |(cells, rate)| {
            let mut law = occupied(rate, regions);
            through(channels, &mut law);
            let mut counts = vec![0; law.len()];
            for _ in 0..cells {
                let mut left = unit(state);
                let pattern = law.iter().position(|share| {
                    left -= share;
                    left < 0.0
                });
                counts[pattern.unwrap_or(0)] += 1;
            }
            counts
        };
        PatternCounts::new(&layout, channels, layout.groups().map(level).collect()).unwrap()
    }

    /// Climbs from very different starts end equally high: the likelihood is not a mountain range.
    #[test]
    fn the_start_does_not_matter() {
        let mut state = 1;
        for trial in 0..240_u32 {
            let sets = 2 + usize::try_from(trial % 2).unwrap();
            let size = (1 << sets) - 1;
            let epsilon = [0.5, 1.0, 2.0, 4.0][usize::try_from(trial / 2 % 4).unwrap()];
            let channels = vec![BitChannel::symmetric(1.0 / (1.0 + f64::exp(epsilon))).unwrap(); sets];
            let regions: Vec<f64> =
                (0..size).map(|_| if unit(&mut state) < 0.4 { 0.0 } else { 3000.0 * unit(&mut state) }).collect();
            let patterns = drawn(&mut state, &regions, &channels);
            let start =
                |weight: &dyn Fn(usize) -> f64| (1..=size).map(|mask| 2000.0 * weight(mask)).collect::<Vec<f64>>();
            let starts = [
                start(&|_| 0.3),
                start(&|mask| if mask.is_power_of_two() { 1.0 } else { 1e-3 }),
                start(&|mask| if mask == size { 1.0 } else { 1e-3 }),
                start(&|mask| if mask & 1 == 1 { 10.0 } else { 1e-2 }),
                start(&|_| 1e-3),
            ];
            let ends = starts.map(|start| climb(&patterns, start));
            let highest = ends.iter().map(|end| end.peak.height).fold(f64::NEG_INFINITY, f64::max);
            for end in &ends {
                assert!(end.at_rest && highest - end.peak.height < 1e-3, "{trial}: {end:?} below {highest}");
            }
        }
    }
}
