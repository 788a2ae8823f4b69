#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

mod counts;
mod kernels;
mod ranges;
mod transpose;

pub use bitvec::{order::Lsb0, slice::BitSlice};
pub use counts::{JointCounts, joint_count_ones, joint_counts};
pub use kernels::{and_into, and_popcount, or_into, or_popcount, popcount, xor_into, xor_popcount};
pub use ranges::{count_ones, level_popcounts, popcount_range};
pub use transpose::{transpose32_pairs, transpose64};
