//! Bytes that are as sensitive as the data.

use core::fmt;
use core::ops::Deref;

use zeroize::Zeroize;

/// Bytes of a raw sketch. Wiped when dropped; `Debug` shows their number only.
///
/// # Privacy
/// Whoever reads them learns about every item whether it may be in the data set. Files of them need mode 0600.
#[derive(PartialEq, Eq)]
pub struct SensitiveBytes(Vec<u8>);

impl SensitiveBytes {
    pub(crate) const fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Drop for SensitiveBytes {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Deref for SensitiveBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for SensitiveBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SensitiveBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SensitiveBytes({} bytes)", self.0.len())
    }
}
