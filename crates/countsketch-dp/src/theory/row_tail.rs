//! Heavy items apart: bounds that use the norm of the tail.

use super::{DomainError, inner_probability, non_negative, odd_rows, require};
use super::{required_row_probability, row_probability};

/// What is known of a vector's size: a few of its largest squared entries, and the sum of all other squares.
///
/// # Examples
/// ```
/// use countsketch_dp::theory::TailNorms;
/// let norms = TailNorms::new(vec![100.0, 25.0], 10.0)?;
/// assert_eq!((norms.squared(), norms.tail_squared(1)), (135.0, 35.0));
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TailNorms(Known);

#[derive(Clone, Debug, PartialEq)]
enum Known {
    /// `tails[m]` is the squared norm without the `m` largest entries.
    Tails(Vec<f64>),
    /// The square of `‖x‖₁`.
    SquaredTotal(f64),
}

impl TailNorms {
    /// From squared entries in any order and the sum of the other squares.
    ///
    /// # Errors
    /// [`DomainError`] when a number is negative or not finite.
    pub fn new(mut squares: Vec<f64>, rest: f64) -> Result<Self, DomainError> {
        let mut tail = non_negative("rest", rest)?;
        for &square in &squares {
            non_negative("square", square)?;
        }
        squares.sort_unstable_by(f64::total_cmp);
        let mut tails = vec![tail];
        for square in squares {
            tail += square;
            tails.push(tail);
        }
        non_negative("squared norm", tail)?;
        tails.reverse();
        Ok(Self(Known::Tails(tails)))
    }

    /// Nothing is known but the squared norm.
    ///
    /// # Errors
    /// [`DomainError`] when it is negative or not finite.
    pub fn of_squared(norm: f64) -> Result<Self, DomainError> {
        Self::new(Vec::new(), norm)
    }

    /// Nothing is known but the total weight `N = ‖x‖₁`, such as a number of records: `‖tail_m‖² ≤ N²/(4m)`, as the `m`
    /// heaviest entries are all at least as heavy as the rest.
    ///
    /// # Errors
    /// [`DomainError`] when the total is negative or its square not finite.
    pub fn of_total(total: f64) -> Result<Self, DomainError> {
        non_negative("total", total)?;
        Ok(Self(Known::SquaredTotal(non_negative("squared total", total * total)?)))
    }

    /// `‖x‖²`, at most.
    #[must_use]
    pub fn squared(&self) -> f64 {
        self.tail_squared(0)
    }

    /// `‖tail_m(x)‖²` at most, the squared norm without the `heavy` largest entries, as far as they are known.
    #[must_use]
    pub fn tail_squared(&self, heavy: usize) -> f64 {
        match &self.0 {
            Known::Tails(tails) => tails[heavy.min(tails.len() - 1)],
            Known::SquaredTotal(square) if heavy == 0 => *square,
            Known::SquaredTotal(square) => square / (4.0 * crate::combiner::count(heavy)),
        }
    }

    /// The norms of the vector in another unit: all squares times `factor`.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self(match &self.0 {
            Known::Tails(tails) => Known::Tails(tails.iter().map(|tail| tail * factor).collect()),
            Known::SquaredTotal(square) => Known::SquaredTotal(square * factor),
        })
    }

    /// How many entries can be set apart.
    fn known(&self) -> usize {
        match &self.0 {
            Known::Tails(tails) => tails.len() - 1,
            Known::SquaredTotal(_) => usize::MAX,
        }
    }
}

/// A lower bound on `P[|C| ≤ g]` for one row of `width` buckets, given that the `m` heaviest other items miss the bucket:
/// `(1−1/b)^m` times [`row_probability`] with `v = ‖tail_m‖²/b`, for the best `m ≤ b/2` that was tried.
///
/// Powers of two are tried, and the largest `m` known; any `m` gives a valid bound.
///
/// # Errors
/// [`DomainError`] as [`row_probability`], and for a width below 2.
pub fn row_probability_of_tail(gamma: f64, norms: &TailNorms, width: u32, s2: f64) -> Result<f64, DomainError> {
    let b = require("width", "at least 2", f64::from(width), width >= 2)?;
    let most = u32::try_from(norms.known()).unwrap_or(u32::MAX).min(width / 2);
    let mut best = 0.0_f64;
    let mut heavy = 0;
    loop {
        let missed = (f64::from(heavy) * (-b.recip()).ln_1p()).exp();
        // Even certainty would not beat what was found.
        if missed <= best {
            break;
        }
        let tail = norms.tail_squared(usize::try_from(heavy).unwrap_or(usize::MAX));
        best = best.max(missed * row_probability(gamma, tail / b, s2)?);
        if heavy == most {
            break;
        }
        heavy = (2 * heavy).max(1).min(most);
    }
    Ok(best)
}

/// The half-width of an interval for the median of `rows` rows that misses with probability at most `beta`: the least `g`
/// whose row probability reaches [`required_row_probability`].
///
/// `norms` are those of the vector without the item asked for (the norm of all of it is safe), `s2` the noise variance of
/// a cell. `None` when no `g` will do: conditioning away heavy items costs certainty, but without it the variance bound
/// always ends somewhere, so that happens only for norms beyond the range of `f64`.
///
/// # Errors
/// [`DomainError`] for an even number of rows, a width below 2, or improper numbers.
///
/// # Examples
/// ```
/// use countsketch_dp::theory::{TailNorms, half_width};
/// // Noise alone: the median of 15 values of variance 15; the law's own quantile is 2.42.
/// let g = half_width(15, 1024, &TailNorms::of_squared(0.0)?, 15.0, 0.05)?;
/// assert!((g.ok_or("none")? - 2.422_080_4).abs() < 1e-6);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn half_width(rows: u32, width: u32, norms: &TailNorms, s2: f64, beta: f64) -> Result<Option<f64>, DomainError> {
    odd_rows(rows)?;
    half_width_for(required_row_probability(rows, inner_probability("beta", beta)?)?, width, norms, s2)
}

/// The least `g` whose row probability reaches `needed`.
fn half_width_for(needed: f64, width: u32, norms: &TailNorms, s2: f64) -> Result<Option<f64>, DomainError> {
    require("width", "at least 2", f64::from(width), width >= 2)?;
    let spread = (norms.squared() / f64::from(width) + non_negative("s2", s2)?).sqrt();
    if spread == 0.0 {
        return Ok(Some(0.0));
    }
    let reaches = |g: f64| row_probability_of_tail(g, norms, width, s2).is_ok_and(|p| p >= needed);
    let Some(high) = (0..200).map(|power| spread * 2.0_f64.powi(power)).find(|&g| g.is_finite() && reaches(g)) else {
        return Ok(None);
    };
    Ok(Some(bisect_width(spread, high, reaches)))
}

/// The least whole multiple of `step` whose row probability reaches `needed`: where truth and answer lie on a grid, a width
/// between two of its points covers no more than the lower one.
pub(crate) fn half_width_on_grid(
    needed: f64,
    width: u32,
    norms: &TailNorms,
    s2: f64,
    step: f64,
) -> Result<Option<f64>, DomainError> {
    let Some(half) = half_width_for(needed, width, norms, s2)? else { return Ok(None) };
    let above = (half / step).ceil();
    // The search ends a little above the least width, which may be a point of the grid.
    let below = (above - 1.0) * step;
    let enough = below > 0.0 && row_probability_of_tail(below, norms, width, s2)? >= needed;
    Ok(Some(if enough { below } else { above * step }))
}

/// The least width to one part in 2^24, from above.
fn bisect_width(spread: f64, mut high: f64, reaches: impl Fn(f64) -> bool) -> f64 {
    let mut low = if high > spread { 0.5 * high } else { 0.0 };
    for _ in 0..64 {
        if high - low <= high * 2.0_f64.powi(-24) {
            break;
        }
        let middle = 0.5 * (low + high);
        if reaches(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::MedianOfGaussians;

    #[test]
    fn noise_alone_gives_the_quantile_of_its_law() {
        for rows in [1_u8, 5, 31] {
            let want = MedianOfGaussians::new(u32::from(rows), 2.0).unwrap().quantile_abs(0.99).unwrap();
            let norms = TailNorms::of_squared(0.0).unwrap();
            let got = half_width(u32::from(rows), 64, &norms, 2.0, 0.01).unwrap().unwrap();
            assert!(got >= want * (1.0 - 1e-12) && got < want * (1.0 + 1e-6), "{rows}: {got} {want}");
        }
    }

    #[test]
    fn knowing_heavy_items_narrows_the_bound() {
        let heavy = TailNorms::new(vec![1e8; 4], 1e4).unwrap();
        let lump = TailNorms::of_squared(heavy.squared()).unwrap();
        let width = |norms| half_width(15, 1024, norms, 10.0, 0.05).unwrap().unwrap();
        assert!(width(&heavy) < width(&lump) / 20.0);
    }

    /// `m` entries of weight w and as much again below: the largest tail for its total.
    #[test]
    fn a_total_bounds_every_tail() {
        let total = TailNorms::of_total(64.0).unwrap();
        assert_eq!(total.squared().to_bits(), 4096.0_f64.to_bits());
        for heavy in [1, 2, 8, 32] {
            let entry = 32.0 / crate::combiner::count(heavy);
            let spread = TailNorms::new(vec![entry * entry; 2 * heavy], 0.0).unwrap();
            assert!((spread.tail_squared(heavy) - 1024.0 / crate::combiner::count(heavy)).abs() < 1e-9);
            assert!(spread.tail_squared(heavy) <= total.tail_squared(heavy) * (1.0 + 1e-12));
        }
    }

    #[test]
    fn no_heavy_items_leave_the_plain_bound() {
        let norms = TailNorms::of_squared(640.0).unwrap();
        let got = row_probability_of_tail(3.0, &norms, 64, 1.0).unwrap();
        assert_eq!(got.to_bits(), row_probability(3.0, 10.0, 1.0).unwrap().to_bits());
    }

    #[test]
    fn nothing_in_the_way_needs_no_width() {
        assert_eq!(half_width(5, 64, &TailNorms::of_squared(0.0).unwrap(), 0.0, 0.05), Ok(Some(0.0)));
        assert!(half_width(4, 64, &TailNorms::of_squared(0.0).unwrap(), 0.0, 0.05).is_err());
        assert!(TailNorms::new(vec![f64::NAN], 0.0).is_err());
    }
}
