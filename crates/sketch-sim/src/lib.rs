#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod accuracy;
pub mod audit;
pub mod f0;
pub mod figures;
pub mod frequency;
pub mod golden;
mod number;
mod options;
pub mod simulate;

pub use options::{OptionError, Options};
