//! Implementing the marker of a secure generator is not enough.

use core::convert::Infallible;

use dp_noise::rand_core::{TryCryptoRng, TryRng};
use dp_noise::{Epsilon, Permit};
use sfm_pcsa::{PcsaShape, PcsaSketch};
use sketch_hash::DefaultHash;

struct Own;

impl TryRng for Own {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(4)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(4)
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(4);
        Ok(())
    }
}

impl TryCryptoRng for Own {}

fn main() {
    let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    let permit = Permit::standalone(Epsilon::new(1.0).unwrap());
    let _ = raw.release(permit, &mut Own);
}
