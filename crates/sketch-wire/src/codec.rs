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

/// Appends `body` to `out`, at most `max` bytes.
pub(crate) fn append<B: Serialize>(body: &B, out: &mut Vec<u8>, max: u64) -> Result<u64, WireError> {
    let start = out.len();
    let mut writer = BoundedWriter { out, start, max, over: None };
    let result = encode_into_writer(body, &mut writer, bounded::<LARGE>());
    if let Some(found) = writer.over {
        return Err(WireError::BodyTooLong { max, found });
    }
    result.map_err(|error| encode_error(&error))?;
    Ok((out.len() - start) as u64)
}

/// Reads a body that fills `bytes` exactly.
pub(crate) fn read<B: DeserializeOwned>(bytes: &[u8]) -> Result<B, BodyError> {
    let read = match bytes.len() {
        ..=SMALL => decode_from_slice(bytes, bounded::<SMALL>()),
        ..=MEDIUM => decode_from_slice(bytes, bounded::<MEDIUM>()),
        _ => decode_from_slice(bytes, bounded::<LARGE>()),
    };
    let (body, used) = read.map_err(decode_error)?;
    if used == bytes.len() {
        Ok(body)
    } else {
        Err(BodyError::Unread { expected: used as u64, found: bytes.len() as u64 })
    }
}

/// Stops before `max` bytes are passed.
struct BoundedWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    max: u64,
    over: Option<u64>,
}

impl Writer for BoundedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        let length = (self.out.len() - self.start) as u64 + bytes.len() as u64;
        if length > self.max {
            self.over = Some(length);
            return Err(EncodeError::UnexpectedEnd);
        }
        self.out.extend_from_slice(bytes);
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
