//! Sketches of a secret sample of the items.

mod answer;
mod any;
mod builder;
mod check;
mod convert;
mod describe;
mod key_file;
mod release;

pub(crate) use answer::{estimate_samples, formula_samples, merge_samples, no_similarity};
pub use any::{AnySubsampled, RawSubsampled};
pub use builder::SampleBuilder;
pub(crate) use check::check_samples;
pub(crate) use describe::rate_json;
pub use key_file::{create_subsample_key_file, read_subsample_key_file};
pub use release::{SampleRelease, release_subsampled_file, release_subsampled_file_paid};
