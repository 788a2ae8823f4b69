//! A stream can neither delete nor tell a symmetric difference, and a set tosses no coins.

use dp_noise::NoiseRng;
use f0_sketch::{F0Sketch, Presampled, PrivateF0Sketch, Set};

fn verbs(stream: &mut F0Sketch<Presampled>, set: &mut F0Sketch<Set>, coins: &mut NoiseRng) {
    stream.delete(b"x");
    stream.xor(set);
    set.observe(b"x", coins);
}

fn mixed(stream: &PrivateF0Sketch<Presampled>, set: &PrivateF0Sketch<Set>) {
    let _ = set.merge(stream);
}

fn main() {}
