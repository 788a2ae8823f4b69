use dp_noise::{Epsilon, NoiseRng, RandomizedResponse};

fn main() {
    let epsilon = Epsilon::new(1.0).unwrap();
    let mut noise = NoiseRng::from_os().unwrap();
    RandomizedResponse::symmetric(epsilon).apply(&mut noise, &mut [0]);
}
