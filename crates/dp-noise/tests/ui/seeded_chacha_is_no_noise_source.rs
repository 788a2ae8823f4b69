use dp_noise::rand_core::SeedableRng;
use dp_noise::{Epsilon, RandomizedResponse};

fn main() {
    let epsilon = Epsilon::new(1.0).unwrap();
    let mut noise = chacha20::ChaCha20Rng::from_seed([42; 32]);
    RandomizedResponse::symmetric(epsilon).apply(&mut noise, &mut [0]);
}
