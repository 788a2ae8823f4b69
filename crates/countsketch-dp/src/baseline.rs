//! What a private CountSketch is compared with, under the same relation and budget.

mod count_mean;
mod count_min;
mod local;
mod unsigned;
mod vector;

pub use count_mean::TotalWeight;
pub use local::{LocalCountMean, LocalReport, LocalShape};
pub use unsigned::{PrivateUnsignedSketch, UnsignedSketch};
pub use vector::{DenseVector, PrivateVector};

use crate::bound::ContributionBound;
use crate::error::ParamError;

/// Clipping follows the norm of CountSketch cells, and bounds no other cells.
pub(crate) fn refuse_clipping(bound: ContributionBound) -> Result<(), ParamError> {
    if bound.squared_norm().is_some() { Err(ParamError::Clipped { bound }) } else { Ok(()) }
}
