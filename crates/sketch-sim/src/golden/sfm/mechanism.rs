//! Kinds `mechanism` and `dp_level`: the flip probabilities of a release.

use dp_noise::Epsilon;
use sfm_pcsa::diagnostics::{self, Flips};

use crate::golden::{CaseError, Got, Input};

/// A release uses `Q/2^64` with `Q` up to two above the least allowed integer, which itself is up to one above the real
/// number, so its probabilities differ from the real ones by less than this.
const DYADIC: f64 = 3.0 / 18_446_744_073_709_551_616.0;

pub(super) fn mechanism(input: Input<'_>) -> Result<Got, CaseError> {
    let found = diagnostics::mechanisms(epsilon(input.number_or_infinity("eps")?)?);
    Ok(Got::fields([("symmetric", flips(&found.symmetric)), ("xor_family", flips(&found.xor_family))]))
}

pub(super) fn dp_level(input: Input<'_>) -> Result<Got, CaseError> {
    let level = diagnostics::dp_level(input.number("p")?, input.number("q")?).map_err(CaseError::refused)?;
    Ok(Got::fields([("eps", Got::Number(level))]))
}

fn flips(flips: &Flips) -> Got {
    Got::fields([
        ("p", probability(flips.p)),
        ("q", probability(flips.q)),
        ("min_q_numerator_over_2pow64", Got::Numerator(flips.q_numerator)),
    ])
}

/// A probability that was rounded to a multiple of `2^-64`.
pub(super) fn probability(value: f64) -> Got {
    Got::Within(value, DYADIC)
}

/// An ε of the product; infinity is no noise.
pub(super) fn epsilon(value: f64) -> Result<Option<Epsilon>, CaseError> {
    if value.is_infinite() { Ok(None) } else { Epsilon::new(value).map(Some).map_err(CaseError::refused) }
}
