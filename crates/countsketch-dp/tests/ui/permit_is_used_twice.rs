//! One payment, two releases.

use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
use dp_noise::{NoiseRng, Permit, Rho};
use sketch_hash::DefaultHash;

fn main() {
    let shape = CountSketchShape::new(3, 64).unwrap();
    let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    let permit = Permit::standalone(Rho::new(1.0).unwrap());
    let mut noise = NoiseRng::from_os().unwrap();
    let _ = raw.clone().release(permit, &mut noise);
    let _ = raw.release(permit, &mut noise);
}
