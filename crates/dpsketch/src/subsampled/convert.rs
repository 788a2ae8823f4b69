//! Errors of sub-sampled sketches, as a front end tells them.

use dp_noise::SamplingMismatch;

use crate::convert::{chain, wire_hint};
use crate::error::{Error, ErrorKind};

impl From<SamplingMismatch> for Error {
    fn from(error: SamplingMismatch) -> Self {
        Self::new(ErrorKind::Incompatible, error.to_string())
            .value(error.found.to_string())
            .allowed(error.expected.to_string())
            .hint("sketches of samples go together only if all were built with one --subsample-key and one --subsample-rate")
            .caused_by(error)
    }
}

macro_rules! errors_of {
    ($crate_name:ident, $($other:pat => $told:expr),* $(,)?) => {
        impl From<$crate_name::SubsampledMergeError> for Error {
            fn from(error: $crate_name::SubsampledMergeError) -> Self {
                match error {
                    $crate_name::SubsampledMergeError::Sampling(error) => error.into(),
                    $crate_name::SubsampledMergeError::Sketch(error) => error.into(),
                    $($other => $told,)*
                    other => Self::new(ErrorKind::Incompatible, chain(&other)).caused_by(other),
                }
            }
        }

        impl From<$crate_name::SubsampledDecodeError> for Error {
            fn from(error: $crate_name::SubsampledDecodeError) -> Self {
                match error {
                    $crate_name::SubsampledDecodeError::Sketch(error) => error.into(),
                    $crate_name::SubsampledDecodeError::Wire(wire) => {
                        let hint = wire_hint(&wire);
                        Self::new(ErrorKind::Damaged, chain(&wire)).hint(hint).caused_by(wire)
                    }
                    other => Self::new(ErrorKind::Damaged, chain(&other))
                        .hint("the file does not hold a valid sketch: make it again")
                        .caused_by(other),
                }
            }
        }
    };
}

errors_of!(f0_sketch,);
errors_of!(sfm_pcsa, sfm_pcsa::SubsampledMergeError::Union(error) => error.into());
