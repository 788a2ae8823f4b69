//! The noise on one bit.

use crate::ParamError;

/// What noise does to one bit: `p = P(1 → 1)` and `q = P(0 → 1)`, with `p > q`.
///
/// Besides `p` and `q` the channel carries the contrast `a = 1 − q/p` and `d = p − q = p·a`. Merging sketches multiplies
/// contrasts, and after many merges `a` is far smaller than the rounding of `p − q`, so it is kept, not recomputed.
/// Likewise `1 − p` is carried, since it may be smaller than the spacing of numbers near 1.
///
/// Noiseless and private sketches share every formula of this crate: [`BitChannel::NOISELESS`] is `p = 1`, `q = 0`.
///
/// # Examples
/// ```
/// use cardinality_estimators::BitChannel;
/// // Randomised response of one bit at ε = 1.
/// let q = 1.0 / (1.0 + 1.0_f64.exp());
/// let channel = BitChannel::new(1.0 - q, q)?;
/// assert!((channel.dp_level() - 1.0).abs() < 1e-12);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BitChannel {
    p: f64,
    q: f64,
    miss: f64,
    keep: f64,
    contrast: f64,
}

impl BitChannel {
    /// Bits that are what they are: `p = 1`, `q = 0`.
    pub const NOISELESS: Self = Self { p: 1.0, q: 0.0, miss: 0.0, keep: 1.0, contrast: 1.0 };

    /// The smallest contrast `a` this crate computes with, 2^-300.
    pub const MIN_KEEP: f64 = f64::from_bits((1023 - 300) << 52);

    /// The channel with `P(1 → 1) = p` and `P(0 → 1) = q`.
    ///
    /// # Errors
    /// [`ParamError::Channel`] unless `0 ≤ q < p ≤ 1`; [`ParamError::Keep`] when `1 − q/p` is below
    /// [`Self::MIN_KEEP`].
    pub fn new(p: f64, q: f64) -> Result<Self, ParamError> {
        let ordered = 0.0 <= q && q < p && p <= 1.0;
        if !ordered {
            return Err(ParamError::Channel { p, q });
        }
        let contrast = p - q;
        Self { p, q, miss: 1.0 - p, keep: contrast / p, contrast }.checked()
    }

    /// The channel with `P(1 → 1) = p` and contrast `a`, so `q = p·(1 − a)`: the form merged sketches need.
    ///
    /// # Errors
    /// [`ParamError::Channel`] unless `0 < p ≤ 1`; [`ParamError::Keep`] unless `2^-300 ≤ a ≤ 1`.
    pub fn from_keep(p: f64, a: f64) -> Result<Self, ParamError> {
        Self { p, q: p * (1.0 - a), miss: 1.0 - p, keep: a, contrast: p * a }.checked()
    }

    /// The channel with `P(1 → 0) = miss` and `P(0 → 1) = q`: exact also where `p = 1 − miss` would round to 1.
    ///
    /// # Errors
    /// [`ParamError::Channel`] unless both are at least 0 and their sum is below 1; [`ParamError::Keep`] when
    /// `1 − q/p` is below [`Self::MIN_KEEP`].
    pub fn from_errors(miss: f64, q: f64) -> Result<Self, ParamError> {
        let (p, contrast) = (1.0 - miss, 1.0 - (miss + q));
        if !(miss >= 0.0 && q >= 0.0 && contrast > 0.0) {
            return Err(ParamError::Channel { p, q });
        }
        Self { p, q, miss, keep: contrast / p, contrast }.checked()
    }

    /// Symmetric randomised response: each bit flips with probability `flip < 1/2`.
    ///
    /// # Errors
    /// [`ParamError::Channel`] unless `0 ≤ flip < 1/2`.
    pub fn symmetric(flip: f64) -> Result<Self, ParamError> {
        Self::from_errors(flip, flip)
    }

    fn checked(self) -> Result<Self, ParamError> {
        let inside = self.p > 0.0 && self.p <= 1.0 && (0.0..1.0).contains(&self.miss) && self.q >= 0.0;
        if !inside {
            return Err(ParamError::Channel { p: self.p, q: self.q });
        }
        if (Self::MIN_KEEP..=1.0).contains(&self.keep) { Ok(self) } else { Err(ParamError::Keep { found: self.keep }) }
    }

    /// `P(1 → 1)`.
    #[must_use]
    pub const fn p(&self) -> f64 {
        self.p
    }

    /// `P(0 → 1)`.
    #[must_use]
    pub const fn q(&self) -> f64 {
        self.q
    }

    /// `P(1 → 0) = 1 − p`, exact where `p` rounds to 1.
    #[must_use]
    pub const fn miss(&self) -> f64 {
        self.miss
    }

    /// The contrast `a = 1 − q/p`; contrasts of merged sketches multiply.
    #[must_use]
    pub const fn a(&self) -> f64 {
        self.keep
    }

    /// `d = p − q`.
    #[must_use]
    pub const fn d(&self) -> f64 {
        self.contrast
    }

    /// Whether bits pass unchanged.
    #[must_use]
    pub fn is_noiseless(&self) -> bool {
        self.miss == 0.0 && self.q == 0.0
    }

    /// The privacy loss of one noisy bit, `max(ln(p/q), ln((1−q)/(1−p)))`; infinite without noise.
    ///
    /// To nearest, not rounded up: a ledger needs its own rounding.
    #[must_use]
    pub fn dp_level(&self) -> f64 {
        // Near a = 0 the quotient p/q is 1 + a and loses its digits; near a = 1 the sum 1 − a does.
        let ones = if self.keep < 0.5 { -(-self.keep).ln_1p() } else { (self.p / self.q).ln() };
        let zeros = (self.contrast / self.miss).ln_1p();
        ones.max(zeros)
    }
}
