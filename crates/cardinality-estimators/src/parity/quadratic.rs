//! A quadratic programme in three variables, solved exactly.
//!
//! One step of projected Fisher scoring: the `δ` that makes `g·δ − δ·F·δ/2` largest with no region below 0 and, for a
//! profile, on a plane `w·θ = t`. With three variables every set of regions that may be at 0 is tried in turn.

use crate::parity::joint::{Regions, dot};
use crate::parity::joint_likelihood::{JointSlope, quadratic_form};

/// A plane `w·θ = t` in the space of region sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plane {
    pub(crate) normal: Regions,
    pub(crate) level: f64,
}

/// The best step from `at`, if any set of active bounds has one.
pub(crate) fn best_step(slope: &JointSlope, at: Regions, plane: Option<Plane>) -> Option<Regions> {
    let scaled = Scaled::new(slope, at, plane);
    let mut best: Option<(f64, Regions)> = None;
    for at_zero in 0_u8..8 {
        let Some(step) = scaled.step(at_zero).filter(|step| scaled.is_inside(step)) else { continue };
        let gain = dot(scaled.gradient, step) - 0.5 * quadratic_form(&scaled.information, step);
        if gain.is_finite() && best.is_none_or(|(top, _)| gain > top) {
            best = Some((gain, step));
        }
    }
    best.map(|(_, step)| core::array::from_fn(|i| (step[i] * scaled.unit[i]).max(-at[i])))
}

/// The programme in units in which the information has a diagonal of 1.
struct Scaled {
    unit: Regions,
    at: Regions,
    gradient: Regions,
    information: [Regions; 3],
    plane: Option<Plane>,
}

impl Scaled {
    /// Added to the diagonal so that regions the data cannot tell apart still have one answer. It slows the last steps a
    /// little and moves no maximum.
    const RIDGE: f64 = 1e-9;

    fn new(slope: &JointSlope, at: Regions, plane: Option<Plane>) -> Self {
        let diagonal = |i: usize| slope.information[i][i];
        let unit: Regions = core::array::from_fn(|i| if diagonal(i) > 0.0 { diagonal(i).sqrt().recip() } else { 1.0 });
        let mut information: [Regions; 3] =
            core::array::from_fn(|i| core::array::from_fn(|j| slope.information[i][j] * unit[i] * unit[j]));
        for (i, row) in information.iter_mut().enumerate() {
            row[i] += Self::RIDGE;
        }
        let plane = plane.map(|plane| {
            let normal: Regions = core::array::from_fn(|i| plane.normal[i] * unit[i]);
            let length = dot(normal, normal).sqrt();
            Plane { normal: normal.map(|x| x / length), level: (plane.level - dot(plane.normal, at)) / length }
        });
        let gradient = core::array::from_fn(|i| slope.gradient[i] * unit[i]);
        Self { unit, at: core::array::from_fn(|i| at[i] / unit[i]), gradient, information, plane }
    }

    fn is_inside(&self, step: &Regions) -> bool {
        (0..3).all(|i| self.at[i] + step[i] >= -1e-9 * (1.0 + self.at[i]))
    }

    /// The stationary step with the regions of the mask at 0: rows of `F·δ + λ·w = g`, of `δ = −θ`, and of `w·δ = t`.
    fn step(&self, at_zero: u8) -> Option<Regions> {
        let mut system = [[0.0; 5]; 4];
        for (i, row) in system.iter_mut().enumerate().take(3) {
            if (at_zero >> i) & 1 == 1 {
                row[i] = 1.0;
                row[4] = -self.at[i];
            } else {
                row[..3].copy_from_slice(&self.information[i]);
                row[3] = self.plane.map_or(0.0, |plane| plane.normal[i]);
                row[4] = self.gradient[i];
            }
        }
        match self.plane {
            Some(plane) => {
                system[3][..3].copy_from_slice(&plane.normal);
                system[3][4] = plane.level;
            }
            None => system[3][3] = 1.0,
        }
        solve(system).map(|[x, y, z, _]| [x, y, z])
    }
}

/// Gaussian elimination with row pivots; `None` without a unique finite solution.
fn solve(mut system: [[f64; 5]; 4]) -> Option<[f64; 4]> {
    for column in 0..4 {
        let pivot = (column..4).max_by(|&x, &y| system[x][column].abs().total_cmp(&system[y][column].abs()))?;
        system.swap(column, pivot);
        let head = system[column];
        if head[column].is_nan() || head[column].abs() <= 1e-13 {
            return None;
        }
        for row in system.iter_mut().skip(column + 1) {
            let factor = row[column] / head[column];
            for (entry, &above) in row.iter_mut().zip(&head) {
                *entry -= factor * above;
            }
        }
    }
    let mut solution = [0.0; 4];
    for row in (0..4).rev() {
        let known: f64 = (row + 1..4).map(|column| system[row][column] * solution[column]).sum();
        solution[row] = (system[row][4] - known) / system[row][row];
    }
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}

/// The inverse of a symmetric information matrix; `None` when it has none to 12 digits.
pub(crate) fn inverse(matrix: &[Regions; 3]) -> Option<[Regions; 3]> {
    let unit: Regions = core::array::from_fn(|i| matrix[i][i].sqrt().recip());
    let mut columns = [[0.0; 3]; 3];
    for (j, column) in columns.iter_mut().enumerate() {
        let mut system = [[0.0; 5]; 4];
        for i in 0..3 {
            system[i][..3].copy_from_slice(&core::array::from_fn::<f64, 3, _>(|k| matrix[i][k] * unit[i] * unit[k]));
        }
        system[3][3] = 1.0;
        system[j][4] = 1.0;
        let [x, y, z, _] = solve(system)?;
        *column = [x, y, z];
    }
    let symmetric = |i: usize, j: usize| 0.5 * (columns[i][j] + columns[j][i]) * unit[i] * unit[j];
    Some(core::array::from_fn(|i| core::array::from_fn(|j| symmetric(i, j))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of golden ratios: spread, and the same on every run.
    fn spread(index: u32) -> f64 {
        (f64::from(index) * 0.618_033_988_749_894_9).fract()
    }

    fn programme(seed: u32) -> (JointSlope, Regions) {
        let at = |i: u32| spread(seed * 37 + i);
        let root: [Regions; 3] =
            core::array::from_fn(|i| core::array::from_fn(|j| at(3 * u32::try_from(i + 3 * j).unwrap_or(0)) - 0.5));
        let information =
            core::array::from_fn(|i| core::array::from_fn(|j| dot(root[i], root[j]) + if i == j { 0.05 } else { 0.0 }));
        let gradient = core::array::from_fn(|i| 2.0 * at(20 + u32::try_from(i).unwrap_or(0)) - 1.2);
        let start = core::array::from_fn(|i| at(30 + u32::try_from(i).unwrap_or(0)));
        (JointSlope { gradient, information }, start)
    }

    fn gain(slope: &JointSlope, step: Regions) -> f64 {
        dot(slope.gradient, step) - 0.5 * quadratic_form(&slope.information, step)
    }

    #[test]
    fn no_step_allowed_gains_more_than_the_best() {
        for seed in 0..200 {
            let (slope, at) = programme(seed);
            let best = best_step(&slope, at, None).expect("a step");
            assert!((0..3).all(|i| at[i] + best[i] >= 0.0));
            for other in 0..300 {
                let step = core::array::from_fn(|i| {
                    let wide = 4.0 * spread(other * 3 + u32::try_from(i).unwrap_or(0)) - 2.0;
                    // Near the best step and far from it.
                    (best[i] + wide * 0.5_f64.powi(i32::try_from(other % 10).unwrap_or(0))).max(-at[i])
                });
                assert!(gain(&slope, step) <= gain(&slope, best) + 1e-7, "programme {seed}");
            }
        }
    }

    #[test]
    fn steps_onto_a_plane_arrive_there_and_gain_most_of_all_that_do() {
        for seed in 0..200 {
            let (slope, at) = programme(seed);
            let plane = Plane { normal: [1.0, 0.0, 1.0], level: 1.5 };
            let best = best_step(&slope, at, Some(plane)).expect("a step");
            let reached = |step: Regions| core::array::from_fn(|i| at[i] + step[i]);
            assert!((dot(plane.normal, reached(best)) - plane.level).abs() < 1e-9);
            for other in 0..300 {
                let first = 1.5 * spread(other);
                let second = 3.0 * spread(other + 1000);
                let step = [first - at[0], second - at[1], 1.5 - first - at[2]];
                assert!(gain(&slope, step) <= gain(&slope, best) + 1e-7, "programme {seed}");
            }
        }
    }

    #[test]
    fn the_inverse_gives_the_identity() {
        for seed in 0..50 {
            let (slope, _) = programme(seed);
            let inverse = inverse(&slope.information).expect("a positive matrix");
            for i in 0..3 {
                let row: Regions = core::array::from_fn(|j| dot(slope.information[i], inverse.map(|row| row[j])));
                assert!((0..3).all(|j| (row[j] - if i == j { 1.0 } else { 0.0 }).abs() < 1e-8));
            }
        }
        assert_eq!(inverse(&[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), None);
    }
}
