//! A raw sketch is gone after its release.

use countsketch_dp::CountSketch;
use dp_noise::{NoiseRng, Permit, Rho};

fn twice(raw: CountSketch, noise: &mut NoiseRng, rho: Rho) {
    let _ = raw.release(Permit::standalone(rho), noise);
    let _ = raw.release(Permit::standalone(rho), noise);
}

fn main() {}
