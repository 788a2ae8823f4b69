use dp_noise::rand_core::{Infallible, TryCryptoRng, TryRng};
use dp_noise::{EntropyError, NoiseSource};

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

impl NoiseSource for MyOwn {
    fn begin_release(&mut self) -> Result<(), EntropyError> {
        Ok(())
    }

    fn is_insecure(&self) -> bool {
        false
    }

    fn fill_words(&mut self, words: &mut [u64]) {
        words.fill(4);
    }
}

fn main() {}
