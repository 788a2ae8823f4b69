//! One private number split among several holders.

use cardinality_estimators::{Confidence, Estimate};
use dp_noise::{DiscreteGaussian, NoiseSampler, NoiseSource, Permit, Rho, SquaredL2Sensitivity, Variance};

use crate::answer::signed;
use crate::combiner::{Combiner, count, mean_of, wide};
use crate::error::ReleaseError;
use crate::leaf::ReleaseId;
use crate::query_error::QueryError;
use crate::release::noisy_cells;
use crate::theory::MedianOfGaussians;

/// What one holder has of a number that was split: the number with noise of its own.
///
/// Splitting `f` among `k` holders gives each `r_j = f + N_Z(0, k·σ₁²)` with `σ₁² = D²/(2ρ)`. All of them together are
/// ρ-zCDP, and any `i` of them give `f` with an error of about `√(k/i)·σ₁`: by their mean, or by their median, which
/// up to `i/2` corrupted ones cannot move far. A CountSketch does this for every item at once \[PT22, section 1\].
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use countsketch_dp::NumberShare;
/// use countsketch_dp::cardinality_estimators::Confidence;
/// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
/// let permit = Permit::standalone(Rho::new(0.5)?);
/// let shares = NumberShare::split(1000, 1, 15, permit, &mut NoiseRng::from_os()?)?; // σ₁ = 1
/// let all = NumberShare::mean(&shares, Confidence::P95)?;
/// let some = NumberShare::median(&shares[..5], Confidence::P95)?;
/// assert!((all.std_error().ok_or("none")? - 1.0).abs() < 1e-9);
/// assert!((some.std_error().ok_or("none")? - 2.0742).abs() < 1e-4); // √(15·0.28683), a median of five
/// assert!((some.value().ok_or("none")? - 1000.0).abs() < 20.0);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberShare {
    split: ReleaseId,
    index: u32,
    holders: u32,
    value: i64,
    variance: Variance,
    insecure_noise: bool,
}

impl NumberShare {
    /// The most holders, 2¹⁶.
    pub const MAX_HOLDERS: u32 = 1 << 16;

    /// Splits a number among `holders`.
    ///
    /// # Privacy
    /// All shares together are ρ-zCDP for data sets on which the number differs by at most `sensitivity`, under whatever
    /// relation that holds for. Whoever has fewer shares learns less: `i` of them are `ρ·i/k`-zCDP. The number itself is the
    /// caller's to forget.
    ///
    /// # Errors
    /// [`ReleaseError::Shares`] for no holder or more than 2¹⁶, [`ReleaseError`] where noise is out of range or there is no
    /// entropy. The permit is spent.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn split<R>(
        value: i64,
        sensitivity: u64,
        holders: u32,
        permit: Permit<Rho>,
        noise: &mut R,
    ) -> Result<Vec<Self>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let (min, max) = (1, Self::MAX_HOLDERS);
        if !(min..=max).contains(&holders) {
            return Err(ReleaseError::Shares { min, max, found: holders });
        }
        // k holders: the vector (f, …, f) moves by √k·D. At most 2^16 · 2^128 in principle.
        let square = u128::from(sensitivity).checked_mul(u128::from(sensitivity));
        let moved = square.and_then(|square| square.checked_mul(u128::from(holders))).unwrap_or(u128::MAX);
        let variance = Variance::for_rho(SquaredL2Sensitivity::new(moved)?, permit.cost())?;
        let law = DiscreteGaussian::new(variance)?;
        noise.begin_release()?;
        let split = ReleaseId::draw(noise);
        let copies = zeroize::Zeroizing::new(vec![value; usize::try_from(holders).unwrap_or(usize::MAX)]);
        let values = noisy_cells(&copies, &law, noise)?;
        let insecure_noise = noise.is_insecure();
        let share = |(index, value)| Self { split, index, holders, value, variance, insecure_noise };
        Ok((0..).zip(values).map(share).collect())
    }

    /// The holder's number, from 0.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Among how many the number was split.
    #[must_use]
    pub const fn holders(&self) -> u32 {
        self.holders
    }

    /// The number with this holder's noise.
    #[must_use]
    pub const fn value(&self) -> i64 {
        self.value
    }

    /// The parameter σ² of this holder's noise, `k·σ₁²`.
    #[must_use]
    pub const fn noise_parameter(&self) -> Variance {
        self.variance
    }

    /// Whether the noise came from the test generator, so that nobody is protected.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.insecure_noise
    }

    /// The number from the mean of any shares of one split: variance `k·σ₁²/i`, interval normal. The sum of the shares is a
    /// whole number, and so is what the interval allows it to be off, rounded up.
    ///
    /// # Errors
    /// [`QueryError`] for no share, the same one twice, or shares of different splits.
    pub fn mean(shares: &[Self], confidence: Confidence) -> Result<Estimate, QueryError> {
        let (values, variance) = Self::check(shares)?;
        let shares_used = count(values.len());
        let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
        let parameter = shares[0].variance.to_f64() * shares_used;
        let reach = MedianOfGaussians::new(1, parameter)?.upper_quantile(1.0 - confidence.get()).ceil();
        // Ends from whole sums, so that a number at an end is not lost to the rounding of a quotient.
        let end = |sum: f64| Some(sum / shares_used);
        let ends = (end(wide(sum) - reach), end(wide(sum) + reach));
        Ok(signed(mean_of(&values), (variance / shares_used).sqrt(), ends, confidence)?)
    }

    /// The number from the median of any shares of one split, with the exact law of the median of Gaussians. For an even number of shares it is the mean of the two middle ones. Discrete noise is at most one unit further out than normal
    /// noise of the same parameter, and a median of one value is a whole number: the half-width is rounded up, and for an
    /// even number of shares one unit more.
    ///
    /// # Errors
    /// As [`mean`](Self::mean).
    pub fn median(shares: &[Self], confidence: Confidence) -> Result<Estimate, QueryError> {
        let (mut values, variance) = Self::check(shares)?;
        let used = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let tails = MedianOfGaussians::new(used, shares[0].variance.to_f64())?;
        let reach = tails.upper_quantile(1.0 - confidence.get());
        let reach = if used.is_multiple_of(2) { reach + 1.0 } else { reach.ceil() };
        let value = Combiner::Median.combine(&mut values);
        let ends = (Some(value - reach), Some(value + reach));
        Ok(signed(value, MedianOfGaussians::new(used, variance)?.variance().sqrt(), ends, confidence)?)
    }

    /// Values of shares of one split and the variance of each.
    fn check(shares: &[Self]) -> Result<(Vec<i64>, f64), QueryError> {
        let first = shares.first().ok_or(QueryError::NoShares)?;
        if let Some(other) = shares.iter().find(|share| share.split != first.split) {
            return Err(QueryError::Split { expected: first.split, found: other.split });
        }
        let mut indices: Vec<u32> = shares.iter().map(|share| share.index).collect();
        indices.sort_unstable();
        if let Some(pair) = indices.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(QueryError::RepeatedShare { index: pair[0] });
        }
        let variance = DiscreteGaussian::new(first.variance).map_or(first.variance.to_f64(), |law| law.variance());
        Ok((shares.iter().map(|share| share.value).collect(), variance))
    }
}
