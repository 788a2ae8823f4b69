#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

mod counts;
mod elimination;
mod error;
mod factors;
mod hash_columns;
mod kernels;
mod lookup;
mod matrix;
mod panel;
mod parallel;
#[cfg(feature = "rand_core")]
mod random;
mod ranges;
#[cfg(feature = "serde")]
mod serial;
mod solution;
mod transpose;
mod vector;

pub use bitvec::{order::Lsb0, slice::BitSlice};
pub use counts::{JointCounts, joint_count_ones, joint_counts};
pub use error::{EncodingError, InverseError, ShapeError};
pub use factors::{Ple, Rref};
pub use hash_columns::HashColumns;
pub use kernels::{and_into, and_popcount, or_into, or_popcount, popcount, xor_into, xor_popcount};
pub use matrix::{BitMatrix, MAX_BITS, MAX_DIMENSION};
#[cfg(feature = "rand_core")]
pub use rand_core;
pub use ranges::{count_ones, level_popcounts, popcount_range};
pub use solution::{AffineSet, Solution};
pub use transpose::{transpose32_pairs, transpose64};
pub use vector::BitVector;
