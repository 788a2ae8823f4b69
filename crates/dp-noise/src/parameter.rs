//! The privacy parameters ε, δ and ρ as types that cannot hold a bad value.

use core::fmt;

/// `2^exponent` for exponents of normal numbers.
pub(crate) const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent).unsigned_abs()) << 52)
}

/// A parameter outside its accepted range; the message names the parameter, the value and the range.
///
/// # Examples
/// ```
/// let error = dp_noise::Epsilon::new(-1.0).unwrap_err();
/// assert_eq!(error.to_string(), "epsilon must lie in 9.313225746154785e-10 ..= 256.0, found -1.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterError {
    name: &'static str,
    value: f64,
    min: f64,
    max: f64,
}

impl ParameterError {
    /// The parameter's name in lower case.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The value that was refused.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The least accepted value.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.min
    }

    /// The largest accepted value.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.max
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must lie in {:?} ..= {:?}, found {:?}", self.name, self.min, self.max, self.value)
    }
}

impl core::error::Error for ParameterError {}

/// Accepts `value` only inside `min ..= max`; every comparison with NaN is false, so NaN is refused.
pub(crate) fn checked(name: &'static str, value: f64, min: f64, max: f64) -> Result<f64, ParameterError> {
    if (min..=max).contains(&value) { Ok(value) } else { Err(ParameterError { name, value, min, max }) }
}

/// The largest `f64` not above `value / parts`.
///
/// The fused product `quotient * parts - value` has the sign of the exact one, so it tells on which side the rounded
/// quotient lies.
fn divide_down(value: f64, parts: u32) -> f64 {
    let parts = f64::from(parts);
    let quotient = value / parts;
    if quotient.mul_add(parts, -value) > 0.0 { quotient.next_down() } else { quotient }
}

/// The least `f64` not below `a + b`.
fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // The rounding error of a sum is itself an f64 (Knuth's two-sum), so this comparison is exact.
    let b_seen = sum - a;
    let lost = (a - (sum - b_seen)) + (b - b_seen);
    if lost > 0.0 { sum.next_up() } else { sum }
}

/// The privacy loss ε of pure differential privacy, in nats.
///
/// A mechanism is ε-differentially private when, for neighbouring data sets, no event's probability changes by more
/// than the factor `e^ε`. Accepted are `2⁻³⁰ ..= 256`: below, the noise drowns any data; above, the noise could not
/// be told from none. A release with no privacy at all is not an ε and has its own, differently named functions in the
/// sketches.
///
/// # Examples
/// ```
/// use dp_noise::Epsilon;
/// let epsilon = Epsilon::new(1.0)?;
/// assert_eq!(epsilon.divide(4)?.get(), 0.25);
/// assert!(Epsilon::new(f64::NAN).is_err());
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Epsilon(f64);

impl Epsilon {
    /// The least accepted value, `2⁻³⁰`.
    pub const MIN: f64 = power_of_two(-30);
    /// The largest accepted value.
    pub const MAX: f64 = 256.0;
    /// Above this value the guarantee says little and front ends warn.
    pub const WARN_ABOVE: f64 = 10.0;

    /// Checks the range.
    ///
    /// # Errors
    /// [`ParameterError`] unless `value` lies in [`Self::MIN`]` ..= `[`Self::MAX`].
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        checked("epsilon", value, Self::MIN, Self::MAX).map(Self)
    }

    /// The value in nats.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// Whether the value is so large that a caller should be warned: above [`Self::WARN_ABOVE`].
    #[must_use]
    pub fn is_weak(self) -> bool {
        self.0 > Self::WARN_ABOVE
    }

    /// An equal share of this budget, rounded down so that the shares never exceed the whole.
    ///
    /// # Errors
    /// [`ParameterError`] when the share is below [`Self::MIN`] (or `parts` is 0).
    pub fn divide(self, parts: u32) -> Result<Self, ParameterError> {
        Self::new(divide_down(self.0, parts))
    }

    /// The cost of both releases together (sequential composition), rounded up.
    ///
    /// # Errors
    /// [`ParameterError`] when the sum is above [`Self::MAX`].
    pub fn plus(self, other: Self) -> Result<Self, ParameterError> {
        Self::new(add_up(self.0, other.0))
    }

    /// Brings a level that is known to be at most [`Self::MAX`] into the range; levels below the range round up.
    pub(crate) fn at_least_min(value: f64) -> Self {
        Self(value.clamp(Self::MIN, Self::MAX))
    }
}

impl TryFrom<f64> for Epsilon {
    type Error = ParameterError;

    fn try_from(value: f64) -> Result<Self, ParameterError> {
        Self::new(value)
    }
}

/// The failure probability δ of approximate differential privacy.
///
/// δ bounds the chance that the guarantee `e^ε` does not hold, up to plain disclosure. Accepted are
/// `2⁻³⁰⁰ ..= 0.5`. Pure differential privacy is a different guarantee, not `δ = 0`.
///
/// # Examples
/// ```
/// use dp_noise::Delta;
/// assert!(Delta::new(1e-9).is_ok());
/// assert!(Delta::new(0.0).is_err());
/// assert!(Delta::new(0.01)?.is_weak());
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Delta(f64);

impl Delta {
    /// The least accepted value, `2⁻³⁰⁰`.
    pub const MIN: f64 = power_of_two(-300);
    /// The largest accepted value.
    pub const MAX: f64 = 0.5;
    /// Above this value front ends warn: δ is a chance of plain disclosure.
    pub const WARN_ABOVE: f64 = 1e-3;

    /// Checks the range.
    ///
    /// # Errors
    /// [`ParameterError`] unless `value` lies in [`Self::MIN`]` ..= `[`Self::MAX`].
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        checked("delta", value, Self::MIN, Self::MAX).map(Self)
    }

    /// The probability.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// Whether the value is so large that a caller should be warned: above [`Self::WARN_ABOVE`].
    #[must_use]
    pub fn is_weak(self) -> bool {
        self.0 > Self::WARN_ABOVE
    }

    /// The failure probability of two releases together, rounded up.
    ///
    /// # Errors
    /// [`ParameterError`] when the sum is above [`Self::MAX`].
    pub fn plus(self, other: Self) -> Result<Self, ParameterError> {
        Self::new(add_up(self.0, other.0))
    }
}

impl TryFrom<f64> for Delta {
    type Error = ParameterError;

    fn try_from(value: f64) -> Result<Self, ParameterError> {
        Self::new(value)
    }
}

/// The privacy loss ρ of zero-concentrated differential privacy.
///
/// A mechanism is ρ-zCDP when the Rényi divergence of order α between its outputs on neighbouring data sets is at most
/// `ρ α` for every `α > 1` \[BS16\]. Accepted are `2⁻⁴⁰ ..= 2¹⁶`.
///
/// # Examples
/// ```
/// use dp_noise::Rho;
/// let rho = Rho::new(0.5)?;
/// assert_eq!(rho.divide(2)?.get(), 0.25);
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rho(f64);

impl Rho {
    /// The least accepted value, `2⁻⁴⁰`.
    pub const MIN: f64 = power_of_two(-40);
    /// The largest accepted value, `2¹⁶`.
    pub const MAX: f64 = 65536.0;

    /// Checks the range.
    ///
    /// # Errors
    /// [`ParameterError`] unless `value` lies in [`Self::MIN`]` ..= `[`Self::MAX`].
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        checked("rho", value, Self::MIN, Self::MAX).map(Self)
    }

    /// The value.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// An equal share of this budget, rounded down so that the shares never exceed the whole.
    ///
    /// # Errors
    /// [`ParameterError`] when the share is below [`Self::MIN`] (or `parts` is 0).
    pub fn divide(self, parts: u32) -> Result<Self, ParameterError> {
        Self::new(divide_down(self.0, parts))
    }

    /// The cost of both releases together, rounded up.
    ///
    /// # Errors
    /// [`ParameterError`] when the sum is above [`Self::MAX`].
    pub fn plus(self, other: Self) -> Result<Self, ParameterError> {
        Self::new(add_up(self.0, other.0))
    }
}

impl TryFrom<f64> for Rho {
    type Error = ParameterError;

    fn try_from(value: f64) -> Result<Self, ParameterError> {
        Self::new(value)
    }
}
