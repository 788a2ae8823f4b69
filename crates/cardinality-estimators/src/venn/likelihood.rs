//! The log-likelihood of the region sizes of a few sketches, its gradient, its expected information and its curvature.
//!
//! With `f` the law of noisy patterns in a group of cells and `c` their counts, `l = Σ c·ln f`. With `u = c/f` taken back
//! through the channels the gradient is `rate·Σ u·(J_A − 1)·Pr`, and no noisy derivative is needed for it.

use super::pattern_law::{expected_through, occupied, pull, through, with_one_more};
use super::surface::{Slope, Surface};
use super::symmetric::Symmetric;
use crate::PatternCounts;
use crate::number::to_f64;
use crate::pattern::PatternGroup;

/// Probabilities below this are computed as this: such a count refutes the sizes, whatever the exact figure.
const SMALLEST: f64 = 1e-290;

/// One group of cells at some sizes.
struct At {
    law: Vec<f64>,
    noisy: Vec<f64>,
}

impl PatternCounts {
    fn at(&self, group: &PatternGroup, regions: &[f64]) -> At {
        let law = occupied(group.rate, regions);
        let mut noisy = law.clone();
        through(self.channels(), &mut noisy);
        for probability in &mut noisy {
            *probability = probability.max(SMALLEST);
        }
        At { law, noisy }
    }

    /// Adds what one group says.
    fn add_slope(&self, group: &PatternGroup, regions: &[f64], sums: &mut Sums) {
        let At { law, noisy } = self.at(group, regions);
        let counts: Vec<f64> = group.counts.iter().map(|&count| to_f64(count)).collect();
        let mut pulls: Vec<f64> = counts.iter().zip(&noisy).map(|(c, f)| c / f).collect();
        expected_through(self.channels(), &mut pulls);
        let moved: Vec<Vec<f64>> = (1..=regions.len()).map(|region| with_one_more(&law, region)).collect();
        let seen: Vec<Vec<f64>> = moved
            .iter()
            .map(|moved| {
                let mut seen = moved.clone();
                through(self.channels(), &mut seen);
                seen
            })
            .collect();
        let (rate, cells) = (group.rate, to_f64(group.cells));
        for (i, (region, row)) in (1..).zip(&seen).enumerate() {
            sums.gradient[i] += rate * pull(&law, &pulls, region);
            for (j, column) in seen.iter().enumerate().take(i + 1) {
                let (mut expected, mut found) = (0.0, 0.0);
                for (((x, y), f), c) in row.iter().zip(column).zip(&noisy).zip(&counts) {
                    let square = x * y / f;
                    expected += square;
                    found += c * square / f;
                }
                let index = i * regions.len() + j;
                sums.information[index] += rate * rate * cells * expected;
                sums.bend[index] += rate * rate * (found - pull(&moved[j], &pulls, region));
            }
        }
    }
}

struct Sums {
    gradient: Vec<f64>,
    /// The lower triangles.
    information: Vec<f64>,
    bend: Vec<f64>,
}

impl Surface for PatternCounts {
    fn dimensions(&self) -> usize {
        (1 << self.sketches()) - 1
    }

    fn cap(&self) -> f64 {
        self.n_cap
    }

    fn height(&self, regions: &[f64]) -> f64 {
        let group = |group: &PatternGroup| {
            let noisy = self.at(group, regions).noisy;
            let seen = group.counts.iter().zip(noisy).filter(|(count, _)| **count > 0);
            seen.map(|(&count, f)| to_f64(count) * f.ln()).sum::<f64>()
        };
        self.groups.iter().map(group).sum()
    }

    fn slope(&self, regions: &[f64]) -> Slope {
        let size = regions.len();
        let square = vec![0.0; size * size];
        let mut sums = Sums { gradient: vec![0.0; size], information: square.clone(), bend: square };
        for group in &self.groups {
            self.add_slope(group, regions, &mut sums);
        }
        Slope {
            gradient: sums.gradient,
            information: Symmetric::from_lower(size, |i, j| sums.information[i * size + j]),
            bend: Symmetric::from_lower(size, |i, j| sums.bend[i * size + j]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BitChannel, CellLayout};

    fn patterns() -> PatternCounts {
        let layout = CellLayout::pcsa(100, 3).unwrap();
        let channels = [BitChannel::new(0.8, 0.3), BitChannel::symmetric(0.1), BitChannel::new(0.9, 0.2)];
        let counts = vec![
            vec![20, 10, 5, 15, 9, 11, 13, 17],
            vec![30, 10, 5, 5, 9, 11, 13, 17],
            vec![20, 20, 15, 5, 9, 11, 13, 7],
        ];
        PatternCounts::new(&layout, &channels.map(Result::unwrap), counts).unwrap()
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let patterns = patterns();
        let at = [20.0, 30.0, 5.0, 40.0, 10.0, 8.0, 60.0];
        let slope = patterns.slope(&at);
        let step = 1e-3;
        for i in 0..7 {
            let shifted = |sign: f64| {
                let mut shifted = at;
                shifted[i] += sign * step;
                shifted
            };
            let (up, down) = (shifted(1.0), shifted(-1.0));
            let rise = (patterns.height(&up) - patterns.height(&down)) / (2.0 * step);
            assert!((rise - slope.gradient[i]).abs() < 1e-7, "{rise} {}", slope.gradient[i]);
            let (above, below) = (patterns.slope(&up).gradient, patterns.slope(&down).gradient);
            for j in 0..7 {
                let bend = -(above[j] - below[j]) / (2.0 * step);
                assert!((bend - slope.bend.at(i, j)).abs() < 1e-8, "{i} {j} {bend} {}", slope.bend.at(i, j));
            }
        }
    }

    /// With the counts that are expected, the curvature of the data is the information.
    #[test]
    fn the_information_is_the_expected_curvature() {
        let at = [20.0, 30.0, 5.0, 40.0, 10.0, 8.0, 60.0];
        let base = patterns();
        let mut expected = base.clone();
        // A million times as many cells, so that rounding to whole counts is small.
        for group in &mut expected.groups {
            let noisy = base.at(group, &at).noisy;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive count below 2^40")]
            let counts = noisy.iter().map(|f| (f * 1e8).round() as u64).collect();
            group.counts = counts;
            group.cells = group.counts.iter().sum();
        }
        let slope = expected.slope(&at);
        for i in 0..7 {
            for j in 0..7 {
                let (bend, information) = (slope.bend.at(i, j), slope.information.at(i, j));
                let scale = (slope.information.at(i, i) * slope.information.at(j, j)).sqrt();
                assert!((bend - information).abs() < 1e-5 * scale, "{i} {j} {bend} {information}");
            }
        }
    }
}
