//! Implementing the marker of a secure generator is not enough.

use core::convert::Infallible;

use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
use dp_noise::rand_core::{TryCryptoRng, TryRng};
use dp_noise::{Permit, Rho};
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
    let shape = CountSketchShape::new(3, 64).unwrap();
    let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    let permit = Permit::standalone(Rho::new(1.0).unwrap());
    let _ = raw.release(permit, &mut Own);
}
