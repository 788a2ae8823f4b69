//! The checksum of files.

use core::fmt;

use crc::{CRC_64_XZ, Crc, Digest, Table};

static CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_XZ);

/// CRC-64/XZ of bytes that come piece by piece: finds damage, not forgery.
///
/// # Examples
/// ```
/// use sketch_wire::Checksum;
///
/// let mut checksum = Checksum::new();
/// checksum.update(b"1234");
/// checksum.update(b"56789");
/// assert_eq!(checksum.finish(), 0x995d_c9bb_df19_39fa); // the check value of this CRC
/// ```
#[derive(Clone)]
pub struct Checksum(Digest<'static, u64, Table<16>>);

impl Checksum {
    /// Of nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self(CRC.digest())
    }

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes.
    #[must_use]
    pub fn finish(self) -> u64 {
        self.0.finalize()
    }
}

impl Default for Checksum {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checksum").finish_non_exhaustive()
    }
}
