//! The 32 bytes before every body.

use crate::{Family, Flags, WireError};

/// The first four bytes of every file.
pub const MAGIC: [u8; 4] = *b"DPSK";

/// The header layout that this version reads and writes.
pub const HEADER_VERSION: u8 = 1;

/// Length of the header in bytes.
pub const HEADER_LEN: usize = 32;

const CHECKSUM_AT: usize = 24;

/// What a header says, once it has been checked.
///
/// ```text
/// offset  length  field
///      0       4  magic, "DPSK"
///      4       1  header version, 1
///      5       1  family
///      6       1  body version
///      7       1  flags
///      8       8  body length, u64 little endian
///     16       8  reserved, zero
///     24       8  CRC-64/XZ of bytes 0..24 and the body, u64 little endian
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) family: Family,
    pub(crate) body_version: u8,
    pub(crate) flags: Flags,
    pub(crate) body_len: u64,
    pub(crate) checksum: u64,
}

impl Header {
    /// The kind of sketch in the body.
    #[must_use]
    pub const fn family(&self) -> Family {
        self.family
    }

    /// The layout of the body.
    #[must_use]
    pub const fn body_version(&self) -> u8 {
        self.body_version
    }

    /// Private or raw, and whether the noise was predictable.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// Length of the body in bytes, as stated. A reader caps it before it allocates.
    #[must_use]
    pub const fn body_len(&self) -> u64 {
        self.body_len
    }

    /// The checksum as stated.
    #[must_use]
    pub const fn checksum(&self) -> u64 {
        self.checksum
    }

    /// The first 24 bytes, which the checksum covers.
    pub(crate) fn covered(&self) -> [u8; CHECKSUM_AT] {
        let mut bytes = [0; CHECKSUM_AT];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&[HEADER_VERSION, self.family.number(), self.body_version, self.flags.bits()]);
        bytes[8..16].copy_from_slice(&self.body_len.to_le_bytes());
        bytes
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..CHECKSUM_AT].copy_from_slice(&self.covered());
        bytes[CHECKSUM_AT..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// Reads a header; with `wanted`, only of that family and body version.
    pub(crate) fn parse(bytes: &[u8], wanted: Option<(Family, u8)>) -> Result<Self, WireError> {
        check_magic(bytes)?;
        if let Some(&found) = bytes.get(MAGIC.len())
            && found != HEADER_VERSION
        {
            return Err(WireError::HeaderVersion { expected: HEADER_VERSION, found });
        }
        let Some(header) = bytes.first_chunk::<HEADER_LEN>() else {
            return Err(WireError::Truncated { expected: HEADER_LEN as u64, found: bytes.len() as u64 });
        };
        let [_, _, _, _, _, family, body_version, flags, ..] = *header;
        let family = Family::from_number(family).ok_or(WireError::UnknownFamily { found: family })?;
        if let Some((expected, version)) = wanted {
            if family != expected {
                return Err(WireError::Family { expected, found: family });
            }
            if body_version != version {
                return Err(WireError::BodyVersion { family, expected: version, found: body_version });
            }
        }
        let flags = Flags::from_bits(flags).ok_or(WireError::UnknownFlags { found: flags })?;
        check_flags(family, flags)?;
        let reserved = word(header, 16);
        if reserved != 0 {
            return Err(WireError::Reserved { found: reserved.to_le_bytes() });
        }
        Ok(Self { family, body_version, flags, body_len: word(header, 8), checksum: word(header, CHECKSUM_AT) })
    }
}

/// Reads and checks a header alone: `bytes` may end anywhere after its 32 bytes.
///
/// Magic and versions come first, then family, flags and reserved bytes. Neither the length of the body nor the
/// checksum is compared with what follows: [`verify`](crate::verify) and [`decode`](crate::decode) do that.
///
/// # Errors
/// The [`WireError`] of the first field that is wrong; [`WireError::Truncated`] below 32 bytes.
///
/// # Examples
/// ```
/// use sketch_wire::{Family, WireError, peek};
///
/// let mut bytes = *b"DPSK\x01\x01\x01\x01........\0\0\0\0\0\0\0\0........";
/// assert_eq!(peek(&bytes)?.family(), Family::SFM_PRIVATE);
/// bytes[0] = b'P';
/// assert_eq!(peek(&bytes), Err(WireError::Magic { found: *b"PPSK" }));
/// # Ok::<(), WireError>(())
/// ```
pub fn peek(bytes: &[u8]) -> Result<Header, WireError> {
    Header::parse(bytes, None)
}

/// Exactly one of private and raw, and the one that the family allows.
pub(crate) fn check_flags(family: Family, found: Flags) -> Result<(), WireError> {
    let (private, raw) = (found.contains(Flags::PRIVATE), found.contains(Flags::RAW));
    if private == raw {
        Err(WireError::FlagsExclusive { found })
    } else if (private && family.is_raw()) || (raw && family.is_private()) {
        Err(WireError::FlagsFamily { family, found })
    } else {
        Ok(())
    }
}

fn check_magic(bytes: &[u8]) -> Result<(), WireError> {
    let start = &bytes[..bytes.len().min(MAGIC.len())];
    if MAGIC.starts_with(start) {
        return Ok(());
    }
    let mut found = [0; 4];
    found[..start.len()].copy_from_slice(start);
    Err(WireError::Magic { found })
}

/// The little-endian word at `at ..= at + 7`.
fn word(header: &[u8; HEADER_LEN], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&header[at..at + 8]);
    u64::from_le_bytes(bytes)
}
