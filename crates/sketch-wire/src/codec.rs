//! Bodies to and from packed little endian. The only file that names bincode: with fixed integers its output for the
//! types of the format is plain packed little endian, so it can be replaced without changing a byte.

use alloc::{string::ToString, vec::Vec};

use bincode::{
    config::{Configuration, Fixint, Limit, LittleEndian, legacy},
    enc::write::Writer,
    error::{DecodeError, EncodeError},
    serde::{decode_from_slice, encode_into_writer},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{BodyError, WireError};

/// The longest body that any family may allow: 2³¹ bytes.
pub const CODEC_LIMIT: u64 = 1 << 31;

/// Bodies up to the first length are read under the first limit, and so on, so that a list cannot claim much more
/// memory than there are bytes.
const SMALL: usize = 1 << 16;
const MEDIUM: usize = 1 << 24;
const LARGE: usize = 1 << 31;

type Bounded<const N: usize> = Configuration<LittleEndian, Fixint, Limit<N>>;

const fn bounded<const N: usize>() -> Bounded<N> {
    legacy().with_little_endian().with_fixed_int_encoding().with_limit::<N>()
}

/// `header_len` zero bytes and then `body`, of at most `max` bytes. Allocates once, so that no copy is left behind.
pub(crate) fn write<B: Serialize>(body: &B, header_len: usize, max: u64) -> Result<Vec<u8>, WireError> {
    let mut size = Size { length: 0, max };
    let counted = encode_into_writer(body, &mut size, bounded::<LARGE>());
    if size.length > max {
        return Err(WireError::BodyTooLong { max, found: size.length });
    }
    counted.map_err(|error| encode_error(&error))?;
    let mut out = Vec::with_capacity(header_len + usize::try_from(size.length).unwrap_or(0));
    out.resize(header_len, 0);
    encode_into_writer(body, &mut Bytes(&mut out), bounded::<LARGE>()).map_err(|error| encode_error(&error))?;
    Ok(out)
}

/// Reads a body that fills `bytes` exactly.
pub(crate) fn read<B: DeserializeOwned>(bytes: &[u8]) -> Result<B, BodyError> {
    let read = if bytes.len() <= SMALL {
        decode_from_slice(bytes, bounded::<SMALL>())
    } else if bytes.len() <= MEDIUM {
        decode_from_slice(bytes, bounded::<MEDIUM>())
    } else {
        decode_from_slice(bytes, bounded::<LARGE>())
    };
    let (body, used) = read.map_err(decode_error)?;
    if used == bytes.len() {
        Ok(body)
    } else {
        Err(BodyError::Unread { expected: used as u64, found: bytes.len() as u64 })
    }
}

/// Counts bytes, and stops once there are more than `max`.
struct Size {
    length: u64,
    max: u64,
}

impl Writer for Size {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.length = self.length.saturating_add(bytes.len() as u64);
        if self.length > self.max { Err(EncodeError::UnexpectedEnd) } else { Ok(()) }
    }
}

struct Bytes<'a>(&'a mut Vec<u8>);

impl Writer for Bytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

fn encode_error(error: &EncodeError) -> WireError {
    WireError::Body(match error {
        EncodeError::OtherString(message) => BodyError::Field { message: message.clone() },
        EncodeError::Other(message) => BodyError::Field { message: (*message).to_string() },
        _ => BodyError::Unsupported,
    })
}

fn decode_error(error: DecodeError) -> BodyError {
    match error {
        DecodeError::UnexpectedEnd { additional } => BodyError::Ends { missing: additional as u64 },
        DecodeError::LimitExceeded | DecodeError::OutsideUsizeRange(_) => BodyError::OverLimit,
        DecodeError::InvalidBooleanValue(found) => BodyError::Boolean { found },
        DecodeError::OtherString(message) => BodyError::Field { message },
        DecodeError::Other(message) => BodyError::Field { message: message.to_string() },
        _ => BodyError::Unsupported,
    }
}
