use dp_noise::rand_core::{Infallible, TryCryptoRng, TryRng};
use dp_noise::{Epsilon, RandomizedResponse};

struct MyOwn;

impl TryRng for MyOwn {
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

impl TryCryptoRng for MyOwn {}

fn main() {
    let epsilon = Epsilon::new(1.0).unwrap();
    RandomizedResponse::symmetric(epsilon).apply(&mut MyOwn, &mut [0]);
}
