//! Fresh bytes from the operating system, and what it means when there are none.

use core::fmt;

/// The operating system gave no random bytes, so no noise can be drawn.
///
/// There is no fallback to a weaker source: a release that meets this error does not happen.
#[derive(Debug)]
pub struct EntropyError {
    cause: Box<dyn core::error::Error + Send + Sync>,
}

impl EntropyError {
    #[cfg_attr(not(feature = "os-rng"), expect(dead_code, reason = "only the operating system's source can fail"))]
    pub(crate) fn new(cause: impl Into<Box<dyn core::error::Error + Send + Sync>>) -> Self {
        Self { cause: cause.into() }
    }
}

impl fmt::Display for EntropyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operating system gave no random bytes")
    }
}

impl core::error::Error for EntropyError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(self.cause.as_ref())
    }
}

/// 32 fresh bytes from the operating system.
#[cfg(feature = "os-rng")]
pub(crate) fn fresh_key() -> Result<zeroize::Zeroizing<[u8; 32]>, EntropyError> {
    let mut key = zeroize::Zeroizing::new([0_u8; 32]);
    getrandom::fill(key.as_mut_slice()).map_err(|error| EntropyError::new(error.to_string()))?;
    Ok(key)
}
