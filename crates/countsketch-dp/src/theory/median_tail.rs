//! From one row to the median of the rows.

use super::{BinomialTail, DomainError, at_least, inner_probability, least_satisfying, odd_rows, require};

/// The two bounds of [`median_tail`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianTail {
    /// `min(1, 2·P[Bin(k, (1−p)/2) ≥ (k+1)/2])`; an equality for continuous laws when `p` is exact.
    pub exact: f64,
    /// `min(1, 2·exp(−p²k/2))`, larger and simpler.
    pub hoeffding: f64,
}

/// Bounds on `P[|median| > g]` when each of `rows` independent symmetric rows has `P[|C| ≤ g] ≥ p`.
///
/// The median is above `g` only when `(k+1)/2` rows are, each with probability at most `(1−p)/2` by symmetry.
///
/// # Errors
/// [`DomainError`] when `rows` is even or `p` is not in `0 ..= 1`.
///
/// # Examples
/// ```
/// let tail = countsketch_dp::theory::median_tail(3, 0.3)?;
/// assert!((tail.exact - 0.5635).abs() < 1e-12); // q = 0.35: 2·(3 q² (1 − q) + q³)
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn median_tail(rows: u32, p: f64) -> Result<MedianTail, DomainError> {
    odd_rows(rows)?;
    require("p", "in 0 ..= 1", p, (0.0..=1.0).contains(&p))?;
    let exact = (2.0 * at_least(rows, 0.5 * (1.0 - p), rows / 2 + 1)).min(1.0);
    let hoeffding = (2.0 * (-0.5 * p * p * f64::from(rows)).exp()).min(1.0);
    Ok(MedianTail { exact, hoeffding })
}

/// The least `p` with `median_tail(rows, p).exact ≤ beta`: how much of its law a row must keep within `±g` for the
/// median to leave with probability at most `beta`.
///
/// Equal to `1 − 2·I⁻¹(beta/2; m, m)` with `m = (k+1)/2` and the inverse regularised incomplete beta function. The answer
/// is the upper one of two neighbouring floating-point numbers.
///
/// # Errors
/// [`DomainError`] when `rows` is even or `beta` is not strictly between 0 and 1.
///
/// # Examples
/// ```
/// let p = countsketch_dp::theory::required_row_probability(1, 0.05)?;
/// assert!((p - 0.95).abs() < 1e-12); // one row is its own median
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn required_row_probability(rows: u32, beta: f64) -> Result<f64, DomainError> {
    let miss = allowed_row_miss(rows, beta, rows / 2 + 1)?;
    Ok((1.0 - 2.0 * miss).next_up().min(1.0))
}

/// The largest `q` with `2·P[Bin(rows, q) ≥ needed] ≤ beta`, from below; one side's probability of a row outside `±g`.
pub(crate) fn allowed_row_miss(rows: u32, beta: f64, needed: u32) -> Result<f64, DomainError> {
    odd_rows(rows)?;
    inner_probability("beta", beta)?;
    let tail = BinomialTail::new(rows, needed);
    let above = least_satisfying(0.0, 0.5, |q| 2.0 * tail.at(q) > beta);
    Ok(above.next_down().max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_the_last_number_that_satisfies() {
        for rows in [1, 3, 5, 15, 31, 255] {
            for beta in [1e-9, 0.001, 0.05, 0.5] {
                let q = allowed_row_miss(rows, beta, rows / 2 + 1).unwrap();
                let tail = |q| 2.0 * at_least(rows, q, rows / 2 + 1);
                assert!(tail(q) <= beta && tail(q * (1.0 + 1e-12)) >= beta * (1.0 - 1e-12));
                let p = required_row_probability(rows, beta).unwrap();
                // Near 1 the spacing of p is 1e-16, which is 1e-7 of beta = 1e-9.
                let exact = median_tail(rows, p).unwrap().exact;
                assert!(exact <= beta && exact > beta * (1.0 - 1e-6));
            }
        }
    }

    #[test]
    fn even_rows_and_improper_probabilities_are_refused() {
        assert!(median_tail(4, 0.5).is_err() && median_tail(0, 0.5).is_err());
        assert!(median_tail(3, 1.1).is_err() && median_tail(3, f64::NAN).is_err());
        assert!(required_row_probability(3, 0.0).is_err() && required_row_probability(3, 1.0).is_err());
    }
}
