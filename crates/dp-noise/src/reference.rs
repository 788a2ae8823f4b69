//! The slow, obvious samplers: every step is a uniform integer below an integer.
//!
//! They are what the fast samplers are tested against, and they depend on nothing but 128-bit integers. Algorithms of
//! \[CKS20\], with the numbers of its steps.

mod coin;
mod gaussian;
mod laplace;

pub use coin::bernoulli_exp_reference;
pub use gaussian::ReferenceGaussian;
pub use laplace::ReferenceLaplace;

/// Proposals after which a loop gives up. Each is accepted with probability above 1/3, so an honest generator gets here
/// with probability below `2⁻⁵⁰⁰⁰`.
const MAX_ROUNDS: u32 = 10_000;
