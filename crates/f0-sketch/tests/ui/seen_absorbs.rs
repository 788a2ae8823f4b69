//! Raw data into a sketch that somebody may have seen.

use f0_sketch::{F0Sketch, PrivateF0Sketch, Set};

fn decoded(bytes: &[u8], raw: F0Sketch) {
    let mut seen = PrivateF0Sketch::<Set>::from_bytes(bytes).unwrap();
    let _ = seen.absorb(raw);
}

fn published(seen: &PrivateF0Sketch, raw: &F0Sketch) {
    let _ = seen.merge(raw);
}

fn main() {}
