//! Secret Poisson sub-sampling: what it costs and what it buys.

use crate::ParamError;
use crate::parity::parity_asymptotic_rse;

/// Keeping each item with a secret coin of probability `γ`, then noise at a larger `ε₀`: `ε`-DP as a whole.
///
/// `ε₀ = ln(1 + (e^ε − 1)/γ)`. All numbers here are to nearest, for planning; noise is made with its own, directed rounding.
///
/// Source: ours; the amplification is that of \[HTC23\], Corollary 4.5, at any rate, and pre-sampling \[PS21\] is `γ = 1/2`.
///
/// # Examples
/// ```
/// use cardinality_estimators::parity::Subsampling;
/// let sampling = Subsampling::new(1.0, 0.05)?;
/// assert!((sampling.inner_epsilon() - 3.5657).abs() < 1e-4);
/// // Two sketches under one key cost far more than 2ε together.
/// assert!(sampling.epsilon_under_one_key(2) > 4.0);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subsampling {
    gamma: f64,
    inner: f64,
}

impl Subsampling {
    /// Sub-sampling at rate `gamma` such that the whole is `epsilon`-DP.
    ///
    /// # Errors
    /// [`ParamError::Plan`] unless `epsilon` is positive and at most 256 and `2⁻⁶⁴ ≤ gamma ≤ 1`.
    pub fn new(epsilon: f64, gamma: f64) -> Result<Self, ParamError> {
        if !(epsilon > 0.0 && epsilon <= 256.0) {
            return Err(ParamError::Plan { what: "epsilon", found: epsilon });
        }
        if !(gamma >= 2.0_f64.powi(-64) && gamma <= 1.0) {
            return Err(ParamError::Plan { what: "the sampling rate", found: gamma });
        }
        Ok(Self { gamma, inner: (epsilon.exp_m1() / gamma).ln_1p() })
    }

    /// `γ`.
    #[must_use]
    pub const fn gamma(&self) -> f64 {
        self.gamma
    }

    /// `ε₀`, the level of the noise and of whoever learns the coins.
    #[must_use]
    pub const fn inner_epsilon(&self) -> f64 {
        self.inner
    }

    /// The flip probability `1/(1 + e^ε₀)` of one sketch.
    #[must_use]
    pub fn flip_probability(&self) -> f64 {
        1.0 / (1.0 + self.inner.exp())
    }

    /// The contrast `tanh(ε₀/2)^merges` of so many merged sketches.
    #[must_use]
    pub fn contrast(&self, merges: u32) -> f64 {
        (self.inner / 2.0).tanh().powf(f64::from(merges))
    }

    /// What a user in `sketches` sketches whose coins share one key pays: `ln(1 + γ(e^{sketches·ε₀} − 1))`, not
    /// `sketches·ε`, since all of them see the user or none.
    #[must_use]
    pub fn epsilon_under_one_key(&self, sketches: u32) -> f64 {
        let together = f64::from(sketches) * self.inner;
        if together > 500.0 { together + self.gamma.ln() } else { (self.gamma * together.exp_m1()).ln_1p() }
    }

    /// The relative standard error of a count of `n`: that of the sketch in mid-range and of the sample,
    /// `√(4·ln 2/(m·Li₂(c²)) + (1 − γ)/(γ·n))`.
    #[must_use]
    pub fn rse(&self, cells_per_level: u64, merges: u32, n: f64) -> f64 {
        parity_asymptotic_rse(cells_per_level, self.contrast(merges))
            .hypot(((1.0 - self.gamma) / (self.gamma * n)).sqrt())
    }
}
