//! Sketches of a secret sample of the items: far less noise at the same ε, as long as the key of the sample stays secret.
//!
//! Mode `set` only: an item's coin is a function of the secret key and of the item's hash, so that repetitions and
//! deletions agree on it. The kept items go into an ordinary sketch, which is released at ε₀ > ε
//! ([`SampleRate::inner_level`](dp_noise::SampleRate::inner_level)); what is estimated from it is divided by the rate. All of
//! this is \[ours\].

mod error;
mod private;
mod raw;
mod wire;

pub use error::{SubsampledDecodeError, SubsampledMergeError};
pub use private::{SubsampledF0Release, SubsampledF0Sketch};
pub use raw::{RawSubsampledF0, SampleWriter};
pub use wire::subsampled_hash_id;
