//! The numbers behind the answers: tails, bounds, laws and variances, as functions of plain numbers.
//!
//! Nothing here sees a sketch. Planners, simulations and tests call these functions; answers are made of them.
//! All variances are in the squared unit of the values they belong to.

mod binomial;
mod closed_form;
mod count_mean;
mod gaussian_median;
mod gaussian_minimum;
mod level;
mod median_tail;
mod moment;
mod normal;
mod order_statistic;
mod quadrature;
mod row_chebyshev;
mod row_probability;
mod row_tail;
mod search;

pub use closed_form::{closed_form_tail, closed_form_tail_norm};
pub use count_mean::{CountMeanLocal, count_mean_central, count_mean_noise_variance, count_mean_variance};
pub use gaussian_median::MedianOfGaussians;
pub use gaussian_minimum::MinimumOfGaussians;
pub use level::{disjoint_loss, hierarchy_variances, merged_noise_rho, shared_loss, top_up_variance};
pub use median_tail::{MedianTail, median_tail, required_row_probability};
pub use moment::{NormPair, f2_variance, inner_product_variance};
pub use order_statistic::{OrderStatistics, order_statistic_interval};
pub use row_chebyshev::{row_miss_one_sided, row_probability_chebyshev};
pub use row_probability::{ROW_PROBABILITY_SLOPE, row_probability, row_probability_fejer};
pub(crate) use row_tail::half_width_on_grid;
pub use row_tail::{TailNorms, half_width, row_probability_of_tail};

pub(crate) use binomial::{BinomialTail, at_least};
pub(crate) use median_tail::allowed_row_miss;
pub(crate) use normal::upper_tail as normal_upper_tail;
pub(crate) use search::least_satisfying;

/// A number outside the range in which a formula holds.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{argument} must be {expected}, found {found}")]
#[non_exhaustive]
pub struct DomainError {
    /// Which argument.
    pub argument: &'static str,
    /// What was expected of it.
    pub expected: &'static str,
    /// What was given.
    pub found: f64,
}

/// `value`, if it is as `expected`.
pub(crate) fn require(
    argument: &'static str,
    expected: &'static str,
    found: f64,
    holds: bool,
) -> Result<f64, DomainError> {
    if holds { Ok(found) } else { Err(DomainError { argument, expected, found }) }
}

/// A finite number that is not negative.
pub(crate) fn non_negative(argument: &'static str, found: f64) -> Result<f64, DomainError> {
    require(argument, "finite and at least 0", found, found.is_finite() && found >= 0.0)
}

/// A finite number above zero.
pub(crate) fn positive(argument: &'static str, found: f64) -> Result<f64, DomainError> {
    require(argument, "finite and above 0", found, found.is_finite() && found > 0.0)
}

/// A probability strictly between 0 and 1.
pub(crate) fn inner_probability(argument: &'static str, found: f64) -> Result<f64, DomainError> {
    require(argument, "strictly between 0 and 1", found, found > 0.0 && found < 1.0)
}

/// An odd number of rows.
pub(crate) fn odd_rows(rows: u32) -> Result<u32, DomainError> {
    require("rows", "odd", f64::from(rows), rows % 2 == 1)?;
    Ok(rows)
}
