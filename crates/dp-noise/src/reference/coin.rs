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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Script;

    #[test]
    fn uniform_integers_have_no_bias() {
        // Below five: three bits, of which five values are kept and three drawn anew, whatever the bits above them.
        let kept: Vec<u128> =
            (0..8).map(|bits| uniform_below(5, &mut Script::new([bits | 0xabc8, 3])).unwrap()).collect();
        assert_eq!(kept, [0, 1, 2, 3, 4, 3, 3, 3]);
        assert_eq!(uniform_below(1, &mut Script::new([])).unwrap(), 0);
        assert_eq!(uniform_below(8, &mut Script::new([15])).unwrap(), 7);
    }

    #[test]
    fn long_bounds_take_two_words() {
        let bound = (1 << 64) + 1;
        assert_eq!(uniform_below(bound, &mut Script::new([7, 2])).unwrap(), 7, "the high bit is masked off");
        assert_eq!(uniform_below(bound, &mut Script::new([0, 1])).unwrap(), 1 << 64);
        assert_eq!(uniform_below(bound, &mut Script::new([1, 1, 5, 0])).unwrap(), 5, "2^64 + 1 is too large");
        assert_eq!(uniform_below(u128::MAX, &mut Script::new([9, u64::MAX])).unwrap(), (u128::MAX << 64) | 9);
    }

    #[test]
    fn coins_follow_the_first_failure() {
        // γ = 1/2: the coins have probabilities 1/2, 1/4, 1/6 …, drawn below 2, 4, 6: true while 0 comes.
        let coin = |words: &[u64]| bernoulli_exp_reference(1, 2, &mut Script::new(words.iter().copied())).unwrap();
        assert!(coin(&[1]), "K = 1 is odd");
        assert!(!coin(&[0, 3]), "K = 2");
        assert!(coin(&[0, 0, 5]), "K = 3");
        assert!(coin(&[0, 0, 7, 2]), "7 is not below 6 and drawn anew");
    }

    #[test]
    fn integers_that_do_not_fit_are_errors() {
        assert_eq!(bernoulli_exp_reference(1, 0, &mut Script::new([])), Err(SampleError::Overflow));
        // The second coin needs an integer below 2 (2^128 − 1).
        let second = bernoulli_exp_reference(1, u128::MAX, &mut Script::new([0, 0]));
        assert_eq!(second, Err(SampleError::Overflow));
        let broken = uniform_below(5, &mut Script::new(vec![7; 10_000]));
        assert_eq!(broken, Err(SampleError::Rounds { rounds: 10_000 }));
    }

    #[test]
    fn variances_beyond_128_bits_are_errors_of_the_reference() {
        use crate::{NoiseSampler, ReferenceGaussian, Variance};
        let law = ReferenceGaussian::new(Variance::new((1 << 79) + 1, 3).unwrap());
        let refused = law.fill(&mut Script::new([1; 100]), &mut [0; 1]);
        assert_eq!(refused, Err(SampleError::Overflow));
    }
}
