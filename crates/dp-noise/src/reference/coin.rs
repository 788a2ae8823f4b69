//! Coins that fall with probability `e^-γ` for a rational γ.

use crate::{NoiseSource, SampleError};

use super::MAX_ROUNDS;

/// A uniform integer in `0 .. bound`, without bias: as many bits as the largest value has, drawn anew while too large.
pub(super) fn uniform_below<R: NoiseSource + ?Sized>(bound: u128, noise: &mut R) -> Result<u128, SampleError> {
    debug_assert!(bound > 0);
    let largest = bound - 1;
    if largest == 0 {
        return Ok(0);
    }
    let surplus = largest.leading_zeros();
    for _ in 0..MAX_ROUNDS {
        let mut value = u128::from(noise.next_u64());
        if surplus < 64 {
            value |= u128::from(noise.next_u64()) << 64;
        }
        let value = value & (u128::MAX >> surplus);
        if value <= largest {
            return Ok(value);
        }
    }
    Err(SampleError::Rounds { rounds: MAX_ROUNDS })
}

/// A coin that is true with probability exactly `e^(−numerator/denominator)` \[CKS20, Algorithm 1\].
///
/// Slow and obvious; the samplers use tables instead and are tested against it.
///
/// # Errors
/// [`SampleError::Overflow`] when `denominator` is 0 or an integer of the algorithm does not fit into 128 bits.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{NoiseRng, bernoulli_exp_reference};
/// assert!(bernoulli_exp_reference(0, 1, &mut NoiseRng::from_os()?)?); // e^0 = 1
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn bernoulli_exp_reference<R: NoiseSource + ?Sized>(
    numerator: u128,
    denominator: u128,
    noise: &mut R,
) -> Result<bool, SampleError> {
    if denominator == 0 {
        return Err(SampleError::Overflow);
    }
    // γ > 1: one coin of e^-1 for each whole unit, all of which must be true.
    for _ in 0..numerator / denominator {
        if !at_most_one(1, 1, noise)? {
            return Ok(false);
        }
    }
    at_most_one(numerator % denominator, denominator, noise)
}

/// The same for `γ = numerator/denominator <= 1`.
fn at_most_one<R: NoiseSource + ?Sized>(
    numerator: u128,
    denominator: u128,
    noise: &mut R,
) -> Result<bool, SampleError> {
    // K is the first k whose coin of probability γ/k is false; P[K > k] = γ^k/k!, so P[K odd] = e^-γ.
    for k in 1..=MAX_ROUNDS {
        let bound = denominator.checked_mul(u128::from(k)).ok_or(SampleError::Overflow)?;
        if uniform_below(bound, noise)? >= numerator {
            return Ok(k % 2 == 1);
        }
    }
    Err(SampleError::Rounds { rounds: MAX_ROUNDS })
}
