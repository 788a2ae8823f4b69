//! What happens when the stored digits do not decide.

use core::cmp::Ordering;

use zeroize::Zeroizing;

use super::Law;
use crate::exp::Enclosure;
use crate::fixed::Fixed;
use crate::{NoiseSource, SampleError};

/// 64-bit limbs of the second computation: 1216 binary digits.
const LIMBS: usize = 20;
/// Random words that are drawn before giving up: with an honest generator that has probability below `2⁻¹⁰⁰⁰`.
const MAX_WORDS: usize = 17;

/// A uniform real number in `0 .. 1`, of which the digits drawn so far are known.
pub(crate) struct RandomFraction {
    words: Zeroizing<[u64; MAX_WORDS]>,
    count: usize,
}

impl RandomFraction {
    /// A number whose first `count` digits, fewer than 64, are `digits`.
    pub(crate) fn starting_with<R: NoiseSource + ?Sized>(digits: u64, count: u32, noise: &mut R) -> Self {
        let mut words = Zeroizing::new([0; MAX_WORDS]);
        words[0] = (digits << (64 - count)) | (noise.next_u64() >> count);
        Self { words, count: 1 }
    }

    /// The first 64 digits.
    pub(crate) fn first(&self) -> u64 {
        self.words[0]
    }

    /// Draws 64 digits more; `false` when there are enough of them to suspect the generator.
    fn extend<R: NoiseSource + ?Sized>(&mut self, noise: &mut R) -> bool {
        let Some(word) = self.words.get_mut(self.count) else { return false };
        *word = noise.next_u64();
        self.count += 1;
        true
    }

    /// Whether the number is less than (or not less than) one of which bounds are known; `None` where more digits of
    /// either are needed.
    fn compare<const N: usize>(&self, bounds: &Enclosure<N>) -> Option<Ordering> {
        let used = self.count.min(N - 1);
        let low = Fixed::<N>::from_fraction(&self.words[..used]);
        let mut last = [0_u64; MAX_WORDS];
        last[used - 1] = 1;
        let high = low.plus(&Fixed::from_fraction(&last[..used]));
        if high <= bounds.low {
            Some(Ordering::Less)
        } else if low >= bounds.high {
            Some(Ordering::Greater)
        } else {
            None
        }
    }

    /// Whether the number is less than the one that `bounds` computes to about `64 (N − 1)` digits, for two `N`: the
    /// cheap one first.
    ///
    /// # Errors
    /// [`SampleError::Rounds`] when a thousand digits do not decide.
    pub(crate) fn is_less<R: NoiseSource + ?Sized>(
        &mut self,
        cheap: impl FnOnce() -> Enclosure<4>,
        precise: impl FnOnce() -> Enclosure<LIMBS>,
        noise: &mut R,
    ) -> Result<bool, SampleError> {
        let bounds = cheap();
        for _ in 0..2 {
            if let Some(order) = self.compare(&bounds) {
                return Ok(order.is_lt());
            }
            self.extend(noise);
        }
        self.is_less_than(&precise(), noise)
    }

    fn is_less_than<R: NoiseSource + ?Sized>(
        &mut self,
        bounds: &Enclosure<LIMBS>,
        noise: &mut R,
    ) -> Result<bool, SampleError> {
        loop {
            if let Some(order) = self.compare(bounds) {
                return Ok(order.is_lt());
            }
            if !self.extend(noise) {
                return Err(SampleError::Rounds { rounds: u32::try_from(MAX_WORDS).unwrap_or(u32::MAX) });
            }
        }
    }
}

/// The least index not below `from` with `fraction < F(index)`.
pub(super) fn invert<R: NoiseSource + ?Sized>(
    law: Law,
    from: usize,
    fraction: &mut RandomFraction,
    noise: &mut R,
) -> Result<u64, SampleError> {
    for (index, bounds) in law.cumulative::<LIMBS>().enumerate().skip(from) {
        if fraction.is_less_than(&bounds, noise)? {
            return Ok(index as u64);
        }
    }
    // The law has no last value.
    Err(SampleError::Precision)
}

/// The first 64 binary digits of `F(index)`.
pub(super) fn first_word(law: Law, index: usize) -> Result<u64, SampleError> {
    let bounds = law.cumulative::<LIMBS>().nth(index).ok_or(SampleError::Precision)?;
    if bounds.low.first_word() == bounds.high.first_word() {
        Ok(bounds.low.first_word())
    } else {
        Err(SampleError::Precision)
    }
}
