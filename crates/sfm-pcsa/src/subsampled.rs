//! Sketches of a secret sample of the items: far less noise at the same ε, as long as the key of the sample stays secret.
//!
//! An item's coin is a function of the secret key and of the item's hash, so that repetitions agree on it. The kept items go into
//! an ordinary sketch, which is released at ε₀ > ε ([`SampleRate::inner_level`](dp_noise::SampleRate::inner_level)); what is
//! estimated from it is divided by the rate. All of this is \[ours\].

#[cfg(test)]
mod enumeration;
mod error;
mod private;
mod raw;
mod wire;

pub use error::{SubsampledDecodeError, SubsampledMergeError};
pub use private::{SubsampledSfmRelease, SubsampledSfmSketch, subsampled_union_estimate};
pub use raw::{RawSubsampledPcsa, SampleWriter};
pub use wire::subsampled_hash_id;
