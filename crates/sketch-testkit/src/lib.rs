#![doc = include_str!("../README.md")]

mod allocation;
mod big;
mod chi_square;
mod golden;
mod hostile;
mod laws;
mod normal;
mod statistics;
mod tails;

pub use allocation::{Allocations, CountingAllocator, measure_process, measure_thread};
pub use big::Big;
pub use chi_square::{chi_square_above, chi_square_below, chi_square_bounds};
pub use golden::{GoldenCase, GoldenFile, Mismatch, Tolerance, close, compare, number};
pub use hostile::{Damage, assert_accepted_is_canonical, assert_damage_is_refused, crc64_xz, damaged, forged, reseal};
pub use laws::{assert_associates, assert_commutes, assert_idempotent, assert_neutral, assert_round_trips};
pub use normal::{normal_tail, two_sided_z};
pub use statistics::{FALSE_ALARM, assert_binomial, assert_frequencies, assert_mean, assert_variance, mean_tolerance};
pub use tails::{binomial_at_least, binomial_at_most, binomial_two_sided};
