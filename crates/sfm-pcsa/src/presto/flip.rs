//! Between the flip probability of Presto's format, an `f64`, and the exact channels of this crate.

use dp_noise::{DyadicProbability, Epsilon, RandomizedResponse};

use super::error::{PrestoDecodeError, PrestoEncodeError};
use crate::channel::Channel;
use crate::double_double::{DoubleDouble, TWO_64};

/// `p + q` this close to 1 is symmetric: merges decide to 2⁻⁶⁴.
const SYMMETRIC: f64 = 1.0 / TWO_64;
/// `1 − 2q` must survive being written in 53 bits with this relative error.
const KEPT: f64 = 1.0 / 1_048_576.0;

/// The channel that a flip probability in 0 ..= 1/2 states, with its level rounded up.
///
/// From 2⁻¹¹ on every `f64` is a multiple of 2⁻⁶⁴ and is taken exactly. Smaller ones are rounded to the nearest multiple,
/// but not to 0; that moves an estimate by far less than one item. The level is that of the number given or of the
/// multiple, whichever is larger.
pub(super) fn mechanism(flip: f64) -> Result<(RandomizedResponse, Epsilon), PrestoDecodeError> {
    if flip >= 0.5 {
        return Err(PrestoDecodeError::NoSignal);
    }
    let too_little = PrestoDecodeError::TooLittleNoise { found: flip };
    // Exact: a power of two.
    let scaled = flip * TWO_64;
    let noise = symmetric(to_numerator(scaled.round().max(1.0))).ok_or(too_little.clone())?;
    let realised = noise.epsilon_upper();
    if scaled >= 1.0 && scaled.fract() == 0.0 {
        return Ok((noise, realised));
    }
    // ln((1 − q)/q); every step is right to a unit or two of the last place.
    let given = ((1.0 - 2.0 * flip) / flip).ln_1p() * (1.0 + 8.0 * f64::EPSILON);
    let given = Epsilon::new(given).map_err(|_| too_little)?;
    Ok((noise, if given < realised { realised } else { given }))
}

/// Symmetric noise of flip probability `numerator / 2⁶⁴`, in 1 .. 2⁶³.
fn symmetric(numerator: u64) -> Option<RandomizedResponse> {
    let [p, q] = [numerator.wrapping_neg(), numerator].map(DyadicProbability::from_numerator);
    let largest = Epsilon::new(Epsilon::MAX).ok()?;
    RandomizedResponse::from_parts(p, q, largest).ok()
}

/// A whole number below 2⁶³.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, not negative and below 2^63")]
fn to_numerator(whole: f64) -> u64 {
    whole as u64
}

/// The flip probability of a symmetric channel, rounded down to an `f64`: whoever reads a level off it finds none below
/// that of the bits. The rounding is below one part in 2⁵².
pub(super) fn probability(channel: Channel) -> Result<f64, PrestoEncodeError> {
    let (p, q) = (channel.p(), channel.q());
    let excess = p + q - DoubleDouble::ONE;
    if excess.abs().to_f64() > SYMMETRIC {
        return Err(PrestoEncodeError::Asymmetric { p: p.to_f64(), q: q.to_f64() });
    }
    let written = round_down(q);
    let (keep, kept) = (channel.d().to_f64(), 1.0 - 2.0 * written);
    if (kept - keep).abs() > keep * KEPT {
        return Err(PrestoEncodeError::TooMuchNoise { keep });
    }
    Ok(written)
}

/// The largest `f64` not above a probability.
///
/// Releases flip with multiples of 2⁻⁶⁴, but `q` is formed as `p (1 − a)` and a little off. What is within 2⁻⁸⁸ of a
/// multiple is taken for it, so that a number that was read is written again.
fn round_down(q: DoubleDouble) -> f64 {
    const CLOSE: f64 = 1.0 / 16_777_216.0;
    let scaled = q.scale(TWO_64);
    let whole = scaled.to_f64().round();
    let rest = (scaled.to_f64() - whole) + scaled.tail();
    if (rest - rest.round()).abs() <= CLOSE {
        // From 2⁵³ on there are multiples between two f64, and the part left out can be a whole number.
        let down = if rest.round() < 0.0 { whole.next_down() } else { whole };
        down / TWO_64
    } else if q.tail() < 0.0 {
        q.to_f64().next_down()
    } else {
        q.to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_flip_probabilities_are_taken_exactly() {
        for epsilon in [0.01, 0.5, 1.0, 2.0, 4.0, 7.0] {
            let flip = 1.0 / (1.0 + f64::exp(epsilon));
            let (noise, level) = mechanism(flip).unwrap();
            assert_eq!(noise.q().to_f64().to_bits(), flip.to_bits());
            assert_eq!(noise.p().complement(), Some(noise.q()));
            assert!((level.get() - epsilon).abs() < 1e-13, "{level:?}");
        }
    }

    #[test]
    fn levels_are_never_stated_below_those_of_the_number() {
        // Chosen with many digits, below 2^-11 where not every f64 is a multiple of 2^-64, and far below 2^-64.
        for flip in [0.3, 0.1 + 1e-17, 1.234_567_890_123_4e-7, 1e-15, 7e-20, 5e-20, 3e-20, 1e-25, 1e-100] {
            let (noise, level) = mechanism(flip).unwrap();
            // ln((1 - q)/q) with relative error below 2^-51.
            let given = ((1.0 - flip) / flip).ln();
            assert!(level.get() >= given * (1.0 - 1e-15), "{flip}: {level:?} < {given}");
            assert!(level.get() <= given.max(noise.epsilon_upper().get()) * (1.0 + 4e-15), "{flip}");
            assert!(level >= noise.epsilon_upper());
            let moved = (noise.q().to_f64() - flip).abs();
            assert!(moved <= 1.0 / TWO_64, "{flip}: {moved}");
        }
    }

    #[test]
    fn one_half_and_next_to_nothing_are_refused() {
        assert_eq!(mechanism(0.5), Err(PrestoDecodeError::NoSignal));
        assert_eq!(mechanism(0.5_f64.next_down()).map(|(_, level)| level.get()), Ok(Epsilon::MIN));
        for flip in [1e-112, f64::MIN_POSITIVE, f64::from_bits(1)] {
            assert_eq!(mechanism(flip), Err(PrestoDecodeError::TooLittleNoise { found: flip }));
        }
    }

    #[test]
    fn written_probabilities_are_rounded_down_and_read_back() {
        for epsilon in [1e-9, 1e-3, 0.1, 1.0, 3.0, 30.0, 44.0] {
            let exact = RandomizedResponse::symmetric(Epsilon::new(epsilon).unwrap());
            let channel = Channel::from_numerators(exact.p().numerator(), exact.q().numerator()).unwrap();
            let written = probability(channel).unwrap();
            let (read, level) = mechanism(written).unwrap();
            let lost = exact.q().numerator() - read.q().numerator();
            assert!(lost <= exact.q().numerator() >> 52, "{epsilon}: {lost}");
            assert!(level >= exact.epsilon_upper(), "{epsilon}");
            let again = Channel::from_numerators(read.p().numerator(), read.q().numerator()).unwrap();
            assert_eq!(probability(again), Ok(written), "{epsilon}");
        }
    }

    #[test]
    fn channels_that_one_number_cannot_hold_are_refused() {
        let family = Channel::from_probabilities(0.5, 0.1).unwrap();
        assert!(matches!(probability(family), Err(PrestoEncodeError::Asymmetric { .. })));
        let keep = DoubleDouble::from_f64(1e-20);
        let p = (DoubleDouble::ONE + keep).scale(0.5);
        let faint = Channel::from_merge(p, keep / p).unwrap();
        assert!(matches!(probability(faint), Err(PrestoEncodeError::TooMuchNoise { .. })));
    }
}
