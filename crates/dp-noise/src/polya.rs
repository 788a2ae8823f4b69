//! Shares of Laplace noise for several parties.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::table::{Family, Law, Table, halves, table_for};
use crate::{NoiseSampler, NoiseSource, SampleError, Scale};

/// The largest scale: the table has some 44 entries for each unit of it.
const MAX_SCALE: u128 = 4096;
/// Words drawn at a time.
const BLOCK: usize = 128;

/// One of `m` independent shares that add up to discrete Laplace noise of scale t.
///
/// Each party adds a share to every cell of its own data, and a secure sum reveals the total only. A share is the
/// difference of two negative binomial variables of shape `1/m` (Pólya variables); sums of `m` of these are geometric, so
/// the total has exactly the law of [`DiscreteLaplace`](crate::DiscreteLaplace) \[GX17\]. Exact, by a table.
///
/// # Privacy
/// A share alone protects nobody. The total is ε-differentially private for `t = D₁/ε` when all `m` shares are added and
/// stay secret: with dropouts or colluding parties make the shares for the number `m` that is sure to remain.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{DiscreteLaplace, NoiseRng, NoiseSampler, PolyaShare, Scale};
/// let scale = Scale::new(10, 1)?;
/// let share = PolyaShare::new(scale, 100)?;
/// assert!((100.0 * share.variance() / DiscreteLaplace::new(scale)?.variance() - 1.0).abs() < 1e-12);
/// let mut draws = [0; 1000];
/// share.fill(&mut NoiseRng::from_os()?, &mut draws)?;
/// assert!(draws.iter().filter(|&&draw| draw == 0).count() > 800); // 0.95 on average
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolyaShare {
    scale: Scale,
    shares: u32,
    table: Arc<Table>,
}

impl PolyaShare {
    /// A share of noise of scale t for `shares` parties.
    ///
    /// # Errors
    /// [`SampleError::TooLarge`] for a scale above 4096, [`SampleError::NoShares`] for 0 shares.
    pub fn new(scale: Scale, shares: u32) -> Result<Self, SampleError> {
        let (n, d) = (scale.numerator(), u128::from(scale.denominator()));
        if shares == 0 {
            return Err(SampleError::NoShares);
        }
        if n > d * MAX_SCALE {
            return Err(SampleError::TooLarge { name: "scale", value: scale.to_f64(), max: 4096.0 });
        }
        let table = table_for(Law { family: Family::Polya { shares }, numerator: d, denominator: n })?;
        Ok(Self { scale, shares, table })
    }

    /// The scale t of the sum.
    #[must_use]
    pub fn parameter(&self) -> Scale {
        self.scale
    }

    /// How many shares add up to the noise.
    #[must_use]
    pub fn shares(&self) -> u32 {
        self.shares
    }
}

impl NoiseSampler for PolyaShare {
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        let mut words = Zeroizing::new([0_u64; BLOCK]);
        for block in out.chunks_mut(BLOCK) {
            let words = &mut words[..block.len()];
            noise.fill_words(words);
            for (place, word) in block.iter_mut().zip(words.iter()) {
                let [one, other] = halves(*word);
                // Magnitudes are far below 2^63: the table's scale is at most 4096.
                let one = self.table.invert(one, noise)?.cast_signed();
                *place = one - self.table.invert(other, noise)?.cast_signed();
            }
        }
        Ok(())
    }

    /// The variance of one share; `m` of them make that of the whole.
    fn variance(&self) -> f64 {
        crate::law::laplace_variance(self.scale) / f64::from(self.shares)
    }

    /// 0: the sampler is exact.
    fn statistical_distance(&self) -> f64 {
        0.0
    }
}
