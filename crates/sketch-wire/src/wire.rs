//! Whole files: header, checksum and body.

use alloc::vec::Vec;

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    CODEC_LIMIT, Checksum, Family, Flags, Header, WireError, codec,
    header::{HEADER_LEN, check_flags},
};

/// A body of the format: a plain struct whose fields, in order, are the bytes.
///
/// Fields are `u8 … u64`, `i64`, `f64`, `bool`, fixed arrays, structs of these, and `Vec`s of these, which are written
/// as a `u64` length and the elements. No enums, options, maps, `usize`, text, or elements without bytes. A body is
/// frozen once released: a changed layout is a new struct with a new [`BODY_VERSION`](Self::BODY_VERSION).
///
/// # Examples
/// ```
/// use sketch_wire::{Family, Flags, WireBody, WireError, decode, encode};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct BodyV1 {
///     levels: u8,
///     words: Vec<u64>,
/// }
///
/// impl WireBody for BodyV1 {
///     const FAMILY: Family = Family::EXAMPLE;
///     const BODY_VERSION: u8 = 1;
///     const MAX_BODY_LEN: u64 = 1024;
/// }
///
/// let bytes = encode(&BodyV1 { levels: 24, words: vec![1, 2] }, Flags::PRIVATE)?;
/// assert_eq!(bytes.len(), 32 + 1 + 8 + 2 * 8);
/// let (body, flags) = decode::<BodyV1>(&bytes)?;
/// assert_eq!((body.levels, body.words.len(), flags), (24, 2, Flags::PRIVATE));
/// # Ok::<(), WireError>(())
/// ```
pub trait WireBody: Serialize + DeserializeOwned {
    /// What the bytes are.
    const FAMILY: Family;
    /// Which layout of that family. Counted from 1.
    const BODY_VERSION: u8;
    /// The longest body in bytes, at most [`CODEC_LIMIT`]. Nothing longer is written, or read, or allocated for.
    const MAX_BODY_LEN: u64;
}

/// Writes a body behind its header. The bytes are allocated once, at their full length.
///
/// # Errors
/// [`WireError::FlagsExclusive`] or [`WireError::FlagsFamily`] for flags that the family cannot have,
/// [`WireError::BodyTooLong`] above [`WireBody::MAX_BODY_LEN`], [`WireError::Body`] for a type that the format has no
/// place for.
pub fn encode<B: WireBody>(body: &B, flags: Flags) -> Result<Vec<u8>, WireError> {
    const { assert!(B::MAX_BODY_LEN <= CODEC_LIMIT, "MAX_BODY_LEN is above CODEC_LIMIT") };
    check_flags(B::FAMILY, flags)?;
    let mut bytes = codec::write(body, HEADER_LEN, B::MAX_BODY_LEN)?;
    let body_len = (bytes.len() - HEADER_LEN) as u64;
    let mut header = Header { family: B::FAMILY, body_version: B::BODY_VERSION, flags, body_len, checksum: 0 };
    header.checksum = checksum(&header, &bytes[HEADER_LEN..]);
    bytes[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    Ok(bytes)
}

/// Reads a whole file with a body of a known type.
///
/// In this order: magic, header version, family, body version, flags, reserved bytes, body length (its cap, then the
/// length of `bytes`), checksum, body. What is accepted re-encodes to the same bytes.
///
/// # Errors
/// The [`WireError`] of the first thing that is wrong.
pub fn decode<B: WireBody>(bytes: &[u8]) -> Result<(B, Flags), WireError> {
    const { assert!(B::MAX_BODY_LEN <= CODEC_LIMIT, "MAX_BODY_LEN is above CODEC_LIMIT") };
    let header = Header::parse(bytes, Some((B::FAMILY, B::BODY_VERSION)))?;
    if header.body_len > B::MAX_BODY_LEN {
        return Err(WireError::BodyTooLong { max: B::MAX_BODY_LEN, found: header.body_len });
    }
    let body = checked_body(&header, bytes)?;
    Ok((codec::read(body)?, header.flags))
}

/// Checks header, length and checksum of a file of any family, without reading its body.
///
/// # Errors
/// The [`WireError`] of the first thing that is wrong.
///
/// # Examples
/// ```
/// use sketch_wire::{WireError, verify};
///
/// assert_eq!(verify(b"DPSK"), Err(WireError::Truncated { expected: 32, found: 4 }));
/// ```
pub fn verify(bytes: &[u8]) -> Result<Header, WireError> {
    let header = Header::parse(bytes, None)?;
    if header.body_len > CODEC_LIMIT {
        return Err(WireError::BodyTooLong { max: CODEC_LIMIT, found: header.body_len });
    }
    checked_body(&header, bytes)?;
    Ok(header)
}

/// The body, once its length and the checksum are right. The stated length is at most [`CODEC_LIMIT`].
fn checked_body<'a>(header: &Header, bytes: &'a [u8]) -> Result<&'a [u8], WireError> {
    let (expected, found) = (HEADER_LEN as u64 + header.body_len, bytes.len() as u64);
    if found < expected {
        return Err(WireError::Truncated { expected, found });
    }
    if found > expected {
        return Err(WireError::TrailingBytes { expected, found });
    }
    let body = &bytes[HEADER_LEN..];
    let computed = checksum(header, body);
    if computed == header.checksum {
        Ok(body)
    } else {
        Err(WireError::Checksum { expected: header.checksum, found: computed })
    }
}

/// CRC-64/XZ of the first 24 header bytes and the body.
fn checksum(header: &Header, body: &[u8]) -> u64 {
    let mut checksum = Checksum::new();
    checksum.update(&header.covered());
    checksum.update(body);
    checksum.finish()
}
