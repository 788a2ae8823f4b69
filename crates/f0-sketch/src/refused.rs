//! What was not taken, handed back.

use core::error::Error;
use core::fmt;

/// An operation that would have used something up and was refused: why, and the thing itself, unchanged.
///
/// `Debug` and `Display` are those of the error, so that neither shows what was handed back.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use f0_sketch::{F0Shape, F0Sketch, MergeError, WeightRule};
/// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
/// use f0_sketch::sketch_hash::{DefaultHash, HashKey};
/// let raw = |hash| -> F0Sketch { F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, hash) };
/// let permit = Permit::standalone(Epsilon::new(1.0)?);
/// let mut unseen = raw(DefaultHash::default()).release_unseen(permit, &mut NoiseRng::from_os()?)?;
/// let mut other = raw(DefaultHash::new(HashKey::from_bytes([1; 16])));
/// other.insert(b"alice");
/// let Err(refused) = unseen.absorb(other) else { return Err("another key".into()) };
/// assert!(matches!(refused.error(), MergeError::Hash { .. }));
/// assert!(!refused.into_inner().is_zero(), "nothing is lost");
/// # }
/// # Ok(())
/// # }
/// ```
pub struct Refused<T, E> {
    inner: Box<T>,
    error: E,
}

impl<T, E> Refused<T, E> {
    pub(crate) fn new(inner: T, error: impl Into<E>) -> Self {
        Self { inner: Box::new(inner), error: error.into() }
    }

    /// Why it was refused.
    #[must_use]
    pub const fn error(&self) -> &E {
        &self.error
    }

    /// The reason alone. What was not taken is dropped.
    #[must_use]
    pub fn into_error(self) -> E {
        self.error
    }

    /// What was not taken, as it was before.
    #[must_use]
    pub fn into_inner(self) -> T {
        *self.inner
    }
}

impl<T, E: fmt::Debug> fmt::Debug for Refused<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Refused").field(&self.error).finish()
    }
}

impl<T, E: fmt::Display> fmt::Display for Refused<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T, E: Error> Error for Refused<T, E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
