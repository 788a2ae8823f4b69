//! The law of a row's error, read off the cells, and the location of rows under it.

use crate::combiner::integer;
use crate::law_density::{Scores, score_weights};
use crate::private::PrivateCountSketch;

/// The law that the error of a row has, as the cells themselves show it, and the best location of rows under that law. Ours.
///
/// The bucket of an item in a row does not depend on the other items, so the error of a row has the law of any bucket with
/// a random sign: noise and collisions together. With its density `f`, the answer is where `Σ ln f(X_i − x)` is highest,
/// near the median of the rows `X_i`. Where noise dominates that is nearly their mean, which has `2/π` of a median's variance;
/// rows that a heavy item fell into count for almost nothing.
///
/// `f` is the symmetrised histogram of all cells on the scale `t = asinh(|c|/s)`, `s` the median of `|c|` over 0.6745,
/// smoothed by a Gaussian kernel of width `n^(−1/5)` for `n` cells: about what is best for a density of spread 1, which the core
/// has on that scale, and a constant share of `|c|` in the tails, where cells are few. The weight of a row,
/// `w(u) = −f′(u)/(u·f(u))`, is then made non-increasing in `|u|` (isotonic regression). With that each step of the reweighted
/// mean, `x ← Σ w·X / Σ w`, raises the likelihood, so that the search ends, between the least and the largest row; and the
/// answer of negated rows is the negated answer.
///
/// Built once for a sketch, `O(cells)`; an answer then takes some ten passes over its rows. Where more than half of the
/// cells are 0 the law has an atom there, and the answer is the median.
///
/// # Privacy
/// Post-processing of a release: nothing is spent.
#[derive(Clone, Debug)]
pub struct QueryLaw {
    scores: Option<Scores>,
}

/// Passes over the rows, at most.
const MAX_STEPS: usize = 64;

/// A step below this share of the scale is the last one: a thousandth of a standard error of 255 rows.
const LAST_STEP: f64 = 1e-4;

impl PrivateCountSketch {
    /// The law of a row's error, for [`law_frequencies`](Self::law_frequencies) or for rows of one's own.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// let shape = CountSketchShape::new(5, 1024)?;
    /// let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// let private = raw.release(Permit::standalone(Rho::new(0.001)?), &mut NoiseRng::from_os()?)?;
    /// let law = private.query_law();
    /// // Noise alone, of standard deviation 50: near the mean of rows, and rows far off do not matter.
    /// assert!((law.locate(&[0.0, 10.0, 20.0, 30.0, 40.0]) - 20.0).abs() < 2.0);
    /// assert!((law.locate(&[0.0, 10.0, 20.0, 30.0, 1e9]) - 15.0).abs() < 4.0);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn query_law(&self) -> QueryLaw {
        QueryLaw::of(self.all_cells().iter().map(|&cell| integer(cell).abs()).collect())
    }
}

impl QueryLaw {
    /// The law of values with these absolute values, in any unit.
    pub(crate) fn of(magnitudes: Vec<f64>) -> Self {
        Self { scores: score_weights(magnitudes) }
    }

    /// The scale of the law in grid units: the median of the absolute cells over 0.6745, a Gaussian law's standard
    /// deviation. 0 where more than half of the cells are 0.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scores.as_ref().map_or(0.0, Scores::scale)
    }

    /// Where rows with errors of this law are most likely centred, in the unit of the rows; 0 for no rows.
    #[must_use]
    pub fn locate(&self, rows: &[f64]) -> f64 {
        self.locate_in(rows, &mut rows.to_vec())
    }

    /// [`locate`](Self::locate) with room for a copy of the rows.
    pub(crate) fn locate_in(&self, rows: &[f64], room: &mut [f64]) -> f64 {
        let start = median(rows, room);
        let Some(scores) = &self.scores else { return start };
        let mut location = start;
        for _ in 0..MAX_STEPS {
            let step = scores.step(rows, location);
            location += step;
            if step.abs() < LAST_STEP * scores.scale() {
                break;
            }
        }
        location
    }
}

/// The median of values, the mean of both middle ones for an even number; 0 for none. `room` has their number.
pub(crate) fn median(values: &[f64], room: &mut [f64]) -> f64 {
    room.copy_from_slice(values);
    let middle = room.len() / 2;
    let Some(last) = room.len().checked_sub(1) else { return 0.0 };
    let (below, upper, _) = room.select_nth_unstable_by(middle, f64::total_cmp);
    if last % 2 == 0 {
        return *upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    0.5 * lower + 0.5 * *upper
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn laws() -> [QueryLaw; 3] {
        let spread = (1..2000).map(|n| f64::from(n % 100)).collect();
        let heavy = (1..2000).map(|n| 1e6 / f64::from(n)).collect();
        [QueryLaw::of(spread), QueryLaw::of(heavy), QueryLaw::of(vec![0.0; 10])]
    }

    proptest! {
        #[test]
        fn locations_lie_among_the_rows_and_are_negated_with_them(
            rows in proptest::collection::vec(-1e4_f64..1e4, 1..40),
        ) {
            let negated: Vec<f64> = rows.iter().map(|row| -row).collect();
            let least = rows.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = rows.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for law in laws() {
                let found = law.locate(&rows);
                prop_assert!(least - 1e-9 <= found && found <= largest + 1e-9, "{found}");
                prop_assert!((found + law.locate(&negated)).abs() <= 0.0);
            }
        }
    }

    #[test]
    fn medians_of_even_and_odd_numbers() {
        assert!((median(&[3.0, 1.0, 2.0], &mut [0.0; 3]) - 2.0).abs() <= 0.0);
        assert!((median(&[4.0, 1.0, 2.0, 9.0], &mut [0.0; 4]) - 3.0).abs() <= 0.0);
        assert!(median(&[], &mut []).abs() <= 0.0);
    }

    #[test]
    fn an_atom_at_zero_gives_the_median() {
        let law = QueryLaw::of(vec![0.0, 0.0, 0.0, 0.0, 7.0]);
        assert!((law.locate(&[5.0, 5.0, 100.0]) - 5.0).abs() <= 0.0 && law.scale().abs() <= 0.0);
    }

    #[test]
    fn no_rows_and_extreme_cells_give_finite_answers() {
        let law = QueryLaw::of(vec![1.0, 2.0, 9.2e18]);
        assert!(law.locate(&[]).abs() <= 0.0);
        assert!(law.locate(&[9.2e18, -9.2e18, 1.0]).is_finite());
        assert!(QueryLaw::of(vec![]).locate(&[1.0, 2.0, 3.0]).is_finite());
    }
}
