//! Discrete Gaussian noise whose memory access and work do not depend on the draws.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::gaussian::magnitude_law;
use crate::table::{Table, table_for, with_sign};
use crate::{NoiseSampler, NoiseSource, SampleError, Variance};

/// The largest σ².
const MAX_VARIANCE: u128 = 256;
/// Words drawn at a time, one for a draw.
const BLOCK: usize = 128;

/// Discrete Gaussian noise for `σ <= 16` by comparing 63 random bits with **every** entry of the table.
///
/// The law of [`DiscreteGaussian`](crate::DiscreteGaussian), exactly, by ten to twenty times its work. No branch and no
/// address depends on a draw, with one exception: a word that equals an entry, about once in `2⁵⁶` draws, needs further
/// random bits.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{FixedTimeGaussian, NoiseRng, NoiseSampler, Variance};
/// let law = FixedTimeGaussian::new(Variance::new(4, 1)?)?;
/// let mut draws = [0; 100];
/// law.fill(&mut NoiseRng::from_os()?, &mut draws)?;
/// assert!(draws.iter().all(|draw| draw.abs() < 80));
/// assert!(FixedTimeGaussian::new(Variance::new(257, 1)?).is_err());
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FixedTimeGaussian {
    parameter: Variance,
    table: Arc<Table>,
    /// The first 63 binary digits of each entry.
    bounds: Box<[i64]>,
}

impl FixedTimeGaussian {
    /// The law of parameter σ².
    ///
    /// # Errors
    /// [`SampleError::TooLarge`] for σ² above 256.
    pub fn new(parameter: Variance) -> Result<Self, SampleError> {
        if parameter.numerator() > MAX_VARIANCE * u128::from(parameter.denominator()) {
            return Err(SampleError::TooLarge { name: "variance", value: parameter.to_f64(), max: 256.0 });
        }
        let table = table_for(magnitude_law(parameter))?;
        let bounds = table.digits().iter().map(|digits| (digits >> 1).cast_signed()).collect();
        Ok(Self { parameter, table, bounds })
    }

    /// The parameter σ².
    #[must_use]
    pub fn parameter(&self) -> Variance {
        self.parameter
    }

    #[inline]
    fn draw<R: NoiseSource + ?Sized>(&self, word: u64, noise: &mut R) -> Result<i64, SampleError> {
        let bits = (word & (u64::MAX >> 1)).cast_signed();
        let (mut passed, mut ties) = (0_u64, 0_u64);
        for &bound in &self.bounds {
            passed += u64::from(bound < bits);
            ties += u64::from(bound == bits);
        }
        if ties != 0 {
            passed = self.table.decide(bits.unsigned_abs(), 63, noise)?;
        }
        Ok(with_sign(word >> 63 == 1, passed))
    }
}

impl NoiseSampler for FixedTimeGaussian {
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        let mut words = Zeroizing::new([0_u64; BLOCK]);
        for block in out.chunks_mut(BLOCK) {
            let words = &mut words[..block.len()];
            noise.fill_words(words);
            for (place, word) in block.iter_mut().zip(words.iter()) {
                *place = self.draw(*word, noise)?;
            }
        }
        Ok(())
    }

    fn variance(&self) -> f64 {
        crate::law::gaussian_variance(self.parameter)
    }

    /// 0: the sampler is exact.
    fn statistical_distance(&self) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{Script, random_words};

    #[test]
    fn every_word_gives_the_draw_of_the_table() {
        for (numerator, denominator) in [(1, 20), (1, 1), (31, 2), (256, 1)] {
            let parameter = Variance::new(numerator, denominator).unwrap();
            let law = FixedTimeGaussian::new(parameter).unwrap();
            for word in random_words(3).take(2000) {
                // The table looks at 31 bits first, here those of the word; what follows them is in the next 33.
                let [half, _] = crate::table::halves(word);
                let wanted = law.table.invert(half, &mut Script::new([word << 32])).unwrap();
                let drawn = law.draw(word, &mut Script::new([])).unwrap();
                assert_eq!(drawn, with_sign(word >> 63 == 1, wanted));
            }
        }
    }

    #[test]
    fn words_equal_to_an_entry_are_decided_by_further_digits() {
        let law = FixedTimeGaussian::new(Variance::new(31, 2).unwrap()).unwrap();
        for (j, digits) in (0..).zip(&law.table.digits()[..20]) {
            let word = digits >> 1;
            // The 64th digit and all after it: zeros fall short of the entry, ones exceed it.
            let below = law.draw(word, &mut Script::new([0; 17])).unwrap();
            let above = law.draw(word, &mut Script::new([u64::MAX; 17])).unwrap();
            assert_eq!((below, above), (j, j + 1));
            // Without a tie nothing further is drawn.
            assert_eq!(law.draw(word - 1, &mut Script::new([])).unwrap(), j);
            assert_eq!(law.draw((word + 1) | 1 << 63, &mut Script::new([])).unwrap(), -j - 1);
        }
    }
}
