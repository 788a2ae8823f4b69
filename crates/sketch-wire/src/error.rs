//! What can be wrong with bytes.

use alloc::string::String;

use crate::{Family, Flags};

/// Why bytes are not a readable file, or a body cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The first four bytes are not `DPSK` (bytes that are missing are shown as zero).
    #[error("not a dpsketch file: expected the first bytes {:02x?}, found {found:02x?}", crate::MAGIC)]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The header has a layout that this version does not know.
    #[error("header version: expected {expected}, found {found}")]
    HeaderVersion {
        /// The version that can be read.
        expected: u8,
        /// The version in the bytes.
        found: u8,
    },
    /// No family has this number.
    #[error("unknown family {found}: made by a later version, or damaged")]
    UnknownFamily {
        /// The number in the bytes.
        found: u8,
    },
    /// The bytes hold another kind of sketch.
    #[error("expected {expected}, found {found}")]
    Family {
        /// The family asked for.
        expected: Family,
        /// The family in the bytes.
        found: Family,
    },
    /// The body has a layout that this version does not know.
    #[error("body version of {family}: expected {expected}, found {found}")]
    BodyVersion {
        /// The family of the body.
        family: Family,
        /// The version that can be read.
        expected: u8,
        /// The version in the bytes.
        found: u8,
    },
    /// A flag has no meaning.
    #[error("unknown flags in {found:#010b}")]
    UnknownFlags {
        /// The flag byte.
        found: u8,
    },
    /// Not exactly one of private and raw.
    #[error("expected exactly one of the flags private and raw, found {found}")]
    FlagsExclusive {
        /// The flags given.
        found: Flags,
    },
    /// A private family marked raw, or a raw one marked private.
    #[error("the flags of {family} cannot be {found}")]
    FlagsFamily {
        /// The family of the body.
        family: Family,
        /// The flags given.
        found: Flags,
    },
    /// Reserved bytes that are not zero.
    #[error("expected eight reserved zero bytes, found {found:02x?}")]
    Reserved {
        /// The reserved bytes.
        found: [u8; 8],
    },
    /// The header states a longer body than this family may have, or a body to be written is longer.
    #[error("body length: expected at most {max} bytes, found {found}")]
    BodyTooLong {
        /// The longest body allowed.
        max: u64,
        /// The length stated, or reached when writing stopped.
        found: u64,
    },
    /// The bytes end too early.
    #[error("truncated: expected {expected} bytes, found {found}")]
    Truncated {
        /// The length that the header asks for.
        expected: u64,
        /// The length given.
        found: u64,
    },
    /// The bytes go on after the body.
    #[error("trailing bytes: expected {expected} bytes, found {found}")]
    TrailingBytes {
        /// The length that the header asks for.
        expected: u64,
        /// The length given.
        found: u64,
    },
    /// Header or body changed after they were written.
    #[error("damaged: expected the checksum {expected:016x}, found {found:016x}")]
    Checksum {
        /// The checksum in the header.
        expected: u64,
        /// The checksum of the bytes.
        found: u64,
    },
    /// The body does not have the layout of its family and version.
    #[error("unreadable body")]
    Body(#[from] BodyError),
}

/// What is wrong inside a body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A field reaches beyond the end of the body.
    #[error("the body ends {missing} bytes before the end of a field")]
    Ends {
        /// At least this many bytes are missing.
        missing: u64,
    },
    /// Bytes are left after the last field.
    #[error("fields end after {expected} bytes, the body after {found}")]
    Unread {
        /// Length of the fields.
        expected: u64,
        /// Length of the body.
        found: u64,
    },
    /// A list claims more bytes than a body may have.
    #[error("a field claims more bytes than a body may have")]
    OverLimit,
    /// A byte that should be 0 or 1.
    #[error("expected 0 or 1 for a boolean, found {found}")]
    Boolean {
        /// The byte.
        found: u8,
    },
    /// A field was refused by the type that it becomes.
    #[error("{message}")]
    Field {
        /// What that type says. It must not quote data.
        message: String,
    },
    /// The body type uses something that the format has no place for.
    #[error("the format has no place for a type in the body")]
    Unsupported,
}
