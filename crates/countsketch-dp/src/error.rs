//! The errors of this crate, one type for each kind of operation.

mod decode;
mod merge;
mod param;
mod release;
mod update;

pub use decode::DecodeError;
pub use merge::MergeError;
pub use param::ParamError;
pub use release::ReleaseError;
pub use update::UpdateError;
