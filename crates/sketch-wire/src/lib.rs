#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod checksum;
mod codec;
mod error;
mod family;
mod flags;
mod header;
pub mod nested;
mod wire;

pub use checksum::Checksum;
pub use codec::CODEC_LIMIT;
pub use error::{BodyError, WireError};
pub use family::Family;
pub use flags::Flags;
pub use header::{HEADER_LEN, HEADER_VERSION, Header, MAGIC, peek};
pub use wire::{WireBody, decode, encode, verify};
