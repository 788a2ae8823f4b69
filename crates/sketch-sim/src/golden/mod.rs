//! The golden-file runner: every case is computed by the product's public API and compared with its expected fields.

mod beyond;
mod compare;
mod countsketch;
mod f0;
mod input;
mod report;
mod run;
mod schema;
mod sections;
mod sfm;

pub use compare::{Got, Mismatch, Tolerance, compare};
pub use input::{CaseError, Input};
pub use report::Report;
pub use run::{default_files, run};
pub use schema::{Case, Schema};
