//! Pure differential privacy is not paid in zCDP.

use countsketch_dp::CountSketch;
use dp_noise::{NoiseRng, Permit, Rho};

fn released(raw: CountSketch, noise: &mut NoiseRng, rho: Rho) {
    let _ = raw.release_laplace(Permit::standalone(rho), noise);
}

fn main() {}
