//! Criterion benchmarks of the workspace, one file per layer in `benches/`; here is what they share.
//!
//! `cargo xtask bench` runs them all in a few minutes and writes the table of the book. `cargo bench -p dpsketch-benches
//! --bench sfm -- merge --measurement-time 5` looks longer at a few.
#![forbid(unsafe_code)]

mod clock;
mod input;
mod settings;

pub use clock::ThreadTime;
pub use input::{strings, words};
pub use settings::{Bencher, Criterion, Group, quick};
