#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(test, feature = "std")), no_std)]

extern crate alloc;

mod any;
mod column;
mod decimal;
mod item;
mod key;
mod keyed;
mod mix;
mod pairwise;
mod place;
mod polynomial;
mod presto;
mod row;
mod seed;
mod sip;
mod sip_batch;
mod sip_slices;
mod tabulation;
mod word;

pub use any::AnyHash;
pub use column::{
    hash64_dates, hash64_floats, hash64_floats32, hash64_integers, hash64_timestamps, hash64_unsigned, hash128_unsigned,
};
pub use item::{Item, TimeUnit};
pub use key::{HashKey, KeyFingerprint, KeyParseError};
pub use keyed::{Domain, HashAlgorithm, HashId, KeyedHash, UnknownAlgorithm, ValueEncoding};
pub use mix::DefaultHash;
pub use pairwise::MultiplyShift;
pub use place::{
    bucket_multiply_shift, bucket_multiply_shift_64, bucket_top_bits, geometric_level, level_leading, sign_low_bit,
};
pub use polynomial::{Polynomial, Polynomial2, Polynomial4};
pub use presto::PrestoHash;
pub use row::{hash64_row, hash128_row};
pub use seed::SeedStream;
pub use tabulation::{MixedTabulation, SimpleTabulation};
