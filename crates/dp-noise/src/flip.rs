//! Randomised response: the private way to publish bits.

use core::fmt;

use zeroize::Zeroizing;

use crate::dyadic::to_f64;
use crate::exp::exp_minus;
use crate::fixed::Fixed;
use crate::{DyadicProbability, Epsilon, NoiseSource, bernoulli_words};

/// Limbs of the fixed-point bounds: 64 integer and 192 fraction bits.
const LIMBS: usize = 4;

/// A channel that keeps a one with probability `p` and turns a zero into a one with probability `q`.
///
/// Changing one bit of the input changes the probability of any output by at most the factor `e^ε` exactly when
///
/// ```text
/// p <= e^ε q    and    1 − q <= e^ε (1 − p)            (1)
/// ```
///
/// [HTC23, Theorem 3.2]. Both probabilities are multiples of `2⁻⁶⁴`, rounded so that (1) holds for the numbers that
/// are drawn, not only for the real numbers they stand for. Estimators use these same numbers, so noise and debiasing
/// agree to the last bit. Neither `q = 0` nor `p = 1` can be constructed: they would mean no privacy.
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, RandomizedResponse};
/// let channel = RandomizedResponse::symmetric(Epsilon::new(1.0)?);
/// assert!((channel.q().to_f64() - 0.268_941_421_369_995_1).abs() < 1e-15); // 1 / (1 + e)
/// assert!(channel.epsilon_upper() <= Epsilon::new(1.0)?);
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomizedResponse {
    p: DyadicProbability,
    q: DyadicProbability,
}

/// Two probabilities that are not a channel of the stated level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelError {
    p: DyadicProbability,
    q: DyadicProbability,
    epsilon: Epsilon,
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "p = {} / 2^64 and q = {} / 2^64 are not a channel with 0 < q < p of privacy level {}",
            self.p.numerator(),
            self.q.numerator(),
            self.epsilon.get()
        )
    }
}

impl core::error::Error for ChannelError {}

impl RandomizedResponse {
    /// Flips ones and zeros with the same probability `q = 1 / (1 + e^ε)`, `p = 1 − q`.
    ///
    /// The numerator of `q` is the least one that keeps (1) by an upper bound of `e^-ε`, so it is
    /// `⌈2⁶⁴ q⌉` (or one more, where that bound cannot tell), and never 0: above ε = ln(2⁶⁴ − 1) = 44.36 it stays 1.
    #[must_use]
    pub fn symmetric(epsilon: Epsilon) -> Self {
        let shrink = shrink_upper(epsilon.get());
        let q = least(|q| shrink.scaled_is_at_most(q.wrapping_neg(), q));
        Self { p: DyadicProbability::from_numerator(q.wrapping_neg()), q: DyadicProbability::from_numerator(q) }
    }

    /// Keeps ones with probability exactly one half: `p = 1/2`, `q = e^-ε / 2`.
    ///
    /// Sketches flipped this way merge by exclusive or without further coins [HTC23, Theorem 4.1].
    #[must_use]
    pub fn xor_family(epsilon: Epsilon) -> Self {
        let shrink = shrink_upper(epsilon.get());
        let p = DyadicProbability::half();
        let q = least(|q| shrink.scaled_is_at_most(p.numerator(), q));
        Self { p, q: DyadicProbability::from_numerator(q) }
    }

    /// Accepts given probabilities when they form a channel of level `epsilon`, say after reading them from a file.
    ///
    /// # Errors
    /// [`ChannelError`] unless `0 < q < p` and both inequalities (1) hold, checked with `e^-ε` rounded up.
    pub fn from_parts(p: DyadicProbability, q: DyadicProbability, epsilon: Epsilon) -> Result<Self, ChannelError> {
        let channel = Self { p, q };
        if q.numerator() > 0 && q < p && channel.satisfies(epsilon.get()) {
            Ok(channel)
        } else {
            Err(ChannelError { p, q, epsilon })
        }
    }

    /// The probability that a one stays a one.
    #[must_use]
    pub fn p(&self) -> DyadicProbability {
        self.p
    }

    /// The probability that a zero becomes a one.
    #[must_use]
    pub fn q(&self) -> DyadicProbability {
        self.q
    }

    /// The level that the numbers drawn realise, `max(ln(p / q), ln((1 − q) / (1 − p)))`, rounded up.
    ///
    /// At most the level the channel was made for; levels below [`Epsilon::MIN`] are stated as that.
    #[must_use]
    pub fn epsilon_upper(&self) -> Epsilon {
        let (p, q) = (self.p.numerator(), self.q.numerator());
        let gain = to_f64(p - q);
        let ratio = (gain / to_f64(q)).max(gain / to_f64(p.wrapping_neg()));
        // A start below the true level: the f64 steps before it lose at most a few units of 2^-53. The proof is the loop.
        let mut level = ratio.ln_1p() * (1.0 - 16.0 * f64::EPSILON);
        while !self.satisfies(level) {
            level = level.next_up();
        }
        Epsilon::at_least_min(level)
    }

    /// Sends every bit of `words` through the channel.
    ///
    /// All noise is drawn first, by an amount of work that depends on the number of words and on the random bits, never
    /// on the bits that are flipped; it is wiped afterwards. Bits of the last word that are no cells come out random
    /// too: the caller clears them.
    ///
    /// # Privacy
    /// ε-differentially private for data sets that differ in one bit, with ε at most
    /// [`epsilon_upper`](Self::epsilon_upper). Call [`NoiseSource::begin_release`] first, and apply once: each further
    /// application to the same bits that is published costs the level again.
    pub fn apply<R: NoiseSource + ?Sized>(&self, noise: &mut R, words: &mut [u64]) {
        if self.p.complement() == Some(self.q) {
            let mut flips = Zeroizing::new(vec![0; words.len()]);
            bernoulli_words(self.q, noise, &mut flips);
            for (word, flip) in words.iter_mut().zip(flips.iter()) {
                *word ^= flip;
            }
        } else {
            let mut kept = Zeroizing::new(vec![0; words.len()]);
            let mut made = Zeroizing::new(vec![0; words.len()]);
            bernoulli_words(self.p, noise, &mut kept);
            bernoulli_words(self.q, noise, &mut made);
            for (word, (kept, made)) in words.iter_mut().zip(kept.iter().zip(made.iter())) {
                *word = (*word & kept) | (!*word & made);
            }
        }
    }

    /// Whether both inequalities (1) hold at `level`, decided with `e^-level` rounded up; `level < 2⁶³`.
    fn satisfies(&self, level: f64) -> bool {
        let (p, q) = (self.p.numerator(), self.q.numerator());
        let shrink = shrink_upper(level);
        shrink.scaled_is_at_most(p, q) && shrink.scaled_is_at_most(q.wrapping_neg(), p.wrapping_neg())
    }
}

/// `e^-level`, rounded up.
fn shrink_upper(level: f64) -> Fixed<LIMBS> {
    // Levels have at most 53 bits and are at least 2^-64 or 0, so 192 fraction bits hold them; 1 bounds any e^-level.
    Fixed::from_f64(level).map_or(Fixed::from_integer(1), |x| exp_minus(x).high)
}

/// The least numerator in `1 ..= 2⁶³` with the property, which holds from some numerator on and at `2⁶³`.
fn least(holds: impl Fn(u64) -> bool) -> u64 {
    let (mut fails, mut good) = (0_u64, 1 << 63);
    while good - fails > 1 {
        let middle = fails + (good - fails) / 2;
        if holds(middle) { good = middle } else { fails = middle }
    }
    good
}

#[cfg(test)]
mod tests;
