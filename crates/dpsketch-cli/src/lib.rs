#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod cli;
mod console;
mod failure;
mod format;
mod input;
mod io;
mod paths;
mod progress;
mod rows_out;
mod run;
mod table;
mod verb;
mod version;

pub use run::{command, run};
