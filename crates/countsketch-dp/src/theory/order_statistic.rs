//! Intervals that read their ends off the sorted rows.

use super::{DomainError, inner_probability, require};

/// Which of the sorted rows bound the true value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderStatistics {
    /// The interval is `[X_(r), X_(k+1−r)]`, counted from 1; 0 when no finite interval misses rarely enough.
    pub rank: u32,
    /// The probability that the interval misses, `2·P[Bin(k, ½) ≤ r−1]`; 0 for `rank` 0.
    pub miss_probability: f64,
}

/// The narrowest interval of order statistics of `rows` independent rows whose median is the true value that misses it
/// with probability at most `beta`.
///
/// The largest `r` with `2·P[Bin(k, ½) ≤ r−1] ≤ beta`. Nothing about the spread of the rows is assumed.
///
/// # Errors
/// [`DomainError`] when `rows` is 0 or `beta` is not strictly between 0 and 1.
///
/// # Examples
/// ```
/// let five = countsketch_dp::theory::order_statistic_interval(5, 0.2)?;
/// assert_eq!((five.rank, five.miss_probability), (1, 0.0625)); // all five on one side: 2/32
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn order_statistic_interval(rows: u32, beta: f64) -> Result<OrderStatistics, DomainError> {
    require("rows", "at least 1", f64::from(rows), rows > 0)?;
    inner_probability("beta", beta)?;
    let mut best = OrderStatistics { rank: 0, miss_probability: 0.0 };
    let mut term = 2.0 * 0.5_f64.powf(f64::from(rows));
    let mut miss = 0.0;
    for below in 0..rows / 2 {
        miss += term;
        if miss > beta {
            break;
        }
        best = OrderStatistics { rank: below + 1, miss_probability: miss };
        term *= f64::from(rows - below) / f64::from(below + 1);
    }
    Ok(best)
}
