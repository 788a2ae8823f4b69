//! A whole file inside a body: a run of bytes after its length.
//!
//! Copied as one, and read into exactly as much memory as it has bytes, so that raw files leave no copies behind as a list grows.
//! For `#[serde(with = "sketch_wire::nested")]` on a `Vec<u8>`.
//!
//! # Examples
//! ```
//! use serde::{Deserialize, Serialize};
//! use sketch_wire::{Family, Flags, WireBody, decode, encode};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Wrapped {
//!     #[serde(with = "sketch_wire::nested")]
//!     file: Vec<u8>,
//! }
//!
//! impl WireBody for Wrapped {
//!     const FAMILY: Family = Family::EXAMPLE;
//!     const BODY_VERSION: u8 = 1;
//!     const MAX_BODY_LEN: u64 = 1000;
//! }
//!
//! let bytes = encode(&Wrapped { file: vec![1, 2, 3] }, Flags::PRIVATE)?;
//! assert_eq!(bytes[32..], [3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]);
//! assert_eq!(decode::<Wrapped>(&bytes)?.0.file, [1, 2, 3]);
//! # Ok::<(), sketch_wire::WireError>(())
//! ```

use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

/// Writes the number of bytes, then the bytes.
///
/// # Errors
/// Those of the serialiser.
pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

/// Reads what [`serialize`] writes.
///
/// # Errors
/// Those of the deserialiser.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_byte_buf(FileVisitor)
}

struct FileVisitor;

impl Visitor<'_> for FileVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}
