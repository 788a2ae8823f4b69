//! Discrete Laplace noise without a table, sixty-four draws at a time.

use core::fmt;

use zeroize::Zeroizing;

use crate::bernoulli::{LongProbability, long_bernoulli_words, long_bernoulli_words_fixed_time};
use crate::exp::{Enclosure, exp_minus_enclosed};
use crate::fixed::Fixed;
use crate::laplace::check_scale;
use crate::{DyadicProbability, NoiseSampler, NoiseSource, SampleError, Scale};

/// Words of 64 draws that are made together.
const GROUPS: usize = 16;
/// Most bits of a geometric variable: scales go up to 2⁵².
const MAX_BITS: usize = 60;
/// 64-bit limbs of the probabilities: 384 binary digits, of which 128 are used and squaring may cost 60.
const LIMBS: usize = 7;

/// Discrete Laplace noise as the difference of two geometric variables, drawn bit by bit for 64 lanes at once.
///
/// The bits of a geometric variable with ratio `q` are independent, bit `j` being 1 with probability
/// `q^(2^j)/(1 + q^(2^j))`, and the difference of two of them has the discrete Laplace law: no sign, no rejection, no
/// table. Probabilities are rounded to 128 binary digits, and bits of probability below `2⁻¹²⁸` are left out, so the law
/// is met up to [`statistical_distance`](NoiseSampler::statistical_distance) only, less than `2⁻¹²¹`: fine for an (ε, δ)
/// statement, not for pure ε. [`DiscreteLaplace`](crate::DiscreteLaplace) is exact and mostly faster; use this where the
/// pattern of memory access must not depend on the draws, and [`fixed_time`](Self::fixed_time) where the work must not
/// either.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{BitSlicedLaplace, NoiseRng, NoiseSampler, Scale};
/// let law = BitSlicedLaplace::fixed_time(Scale::new(10, 1)?)?;
/// assert!(law.statistical_distance() < 2.0_f64.powi(-121));
/// let mut draws = [0; 100];
/// law.fill(&mut NoiseRng::from_os()?, &mut draws)?;
/// assert!(draws.iter().all(|draw| draw.abs() < 1000));
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BitSlicedLaplace {
    scale: Scale,
    /// The probability of each bit, least significant first.
    bits: Box<[LongProbability]>,
    fixed_time: bool,
}

impl BitSlicedLaplace {
    /// The sampler of scale t; the number of random words depends on the random bits.
    ///
    /// # Errors
    /// [`SampleError::TooLarge`] for a scale above `2⁵²`.
    pub fn new(scale: Scale) -> Result<Self, SampleError> {
        check_scale(scale)?;
        Ok(Self { scale, bits: bit_probabilities(scale).into(), fixed_time: false })
    }

    /// The same law by an amount of work, and a pattern of memory access, that depends on the scale and on the number of
    /// draws only: some fifteen times the work.
    ///
    /// # Errors
    /// [`SampleError::TooLarge`] for a scale above `2⁵²`.
    pub fn fixed_time(scale: Scale) -> Result<Self, SampleError> {
        Ok(Self { fixed_time: true, ..Self::new(scale)? })
    }

    /// The scale t.
    #[must_use]
    pub fn parameter(&self) -> Scale {
        self.scale
    }

    /// Draws `groups` words of bit planes of the difference of two geometric variables, `groups` to a plane; the last
    /// plane is the sign.
    fn draw_planes<R: NoiseSource + ?Sized>(&self, groups: usize, planes: &mut Planes, noise: &mut R) {
        let draw = if self.fixed_time { long_bernoulli_words_fixed_time } else { long_bernoulli_words };
        let (mut minuend, mut subtrahend) = (Zeroizing::new([0; GROUPS]), Zeroizing::new([0; GROUPS]));
        let mut borrow = Zeroizing::new([0; GROUPS]);
        for (plane, &probability) in planes.iter_mut().zip(&self.bits) {
            draw(probability, noise, &mut minuend[..groups]);
            draw(probability, noise, &mut subtrahend[..groups]);
            for group in 0..groups {
                let (a, b, c) = (minuend[group], subtrahend[group], borrow[group]);
                plane[group] = a ^ b ^ c;
                borrow[group] = (!a & (b | c)) | (b & c);
            }
        }
        // The borrow that is left is the sign, repeated in all places above.
        for plane in &mut planes[self.bits.len()..] {
            plane.copy_from_slice(borrow.as_slice());
        }
    }
}

/// 64 bit planes of some groups of 64 draws.
type Planes = [[u64; GROUPS]; 64];

impl NoiseSampler for BitSlicedLaplace {
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        let mut planes = Zeroizing::new([[0; GROUPS]; 64]);
        let mut square = Zeroizing::new([0; 64]);
        for chunk in out.chunks_mut(64 * GROUPS) {
            self.draw_planes(chunk.len().div_ceil(64), &mut planes, noise);
            for (group, draws) in chunk.chunks_mut(64).enumerate() {
                for (row, plane) in square.iter_mut().zip(planes.iter()) {
                    *row = plane[group];
                }
                transpose(&mut square);
                for (draw, column) in draws.iter_mut().zip(square.iter()) {
                    *draw = column.cast_signed();
                }
            }
        }
        Ok(())
    }

    fn variance(&self) -> f64 {
        crate::law::laplace_variance(self.scale)
    }

    /// `(J + 3) 2⁻¹²⁸` for `J` bits: each of `2J` probabilities is within `2⁻¹²⁹`, what two variables lose above their
    /// last bit is below `2⁻¹²⁷`, and one unit is for rounding.
    fn statistical_distance(&self) -> f64 {
        (crate::dyadic::to_f64(self.bits.len() as u64) + 3.0) * crate::parameter::power_of_two(-128)
    }
}

impl fmt::Debug for BitSlicedLaplace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BitSlicedLaplace")
            .field("scale", &self.scale)
            .field("bits", &self.bits.len())
            .field("fixed_time", &self.fixed_time)
            .finish()
    }
}

/// The probabilities of the bits, to the nearest multiple of `2⁻¹²⁸`, up to the first bit that hardly ever is 1.
fn bit_probabilities(scale: Scale) -> Vec<LongProbability> {
    let one = Enclosure::<LIMBS>::exactly(Fixed::from_integer(1));
    let mut power = exp_minus_enclosed(Enclosure::of_ratio(u128::from(scale.denominator()), scale.numerator()));
    let mut bits = Vec::with_capacity(MAX_BITS);
    while power.high >= Fixed::power(128) {
        let probability = power.times(&one.plus(&power).reciprocal()).low.plus(&Fixed::power(129));
        let [first, tail] = probability.first_words();
        bits.push(LongProbability { first: DyadicProbability::from_numerator(first), tail });
        power = power.times(&power);
    }
    bits
}

/// Transposes a 64 × 64 matrix of bits; bit `c` of word `r` goes to bit `r` of word `c`.
fn transpose(matrix: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::MAX >> 32;
    while width != 0 {
        for block in matrix.chunks_exact_mut(2 * width) {
            let (upper, lower) = block.split_at_mut(width);
            for (a, b) in upper.iter_mut().zip(lower) {
                // Exchanges the high half of each 2·width bits of `a` with the low half of `b`.
                let exchanged = ((*a >> width) ^ *b) & mask;
                *b ^= exchanged;
                *a ^= exchanged << width;
            }
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests;
