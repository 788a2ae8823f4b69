//! Two sketches with the same coins: their releases would cost more than the sum of their levels.

use f0_sketch::{F0Sketch, Presampled};

fn copies(stream: &F0Sketch<Presampled>) -> F0Sketch<Presampled> {
    stream.clone()
}

fn main() {}
