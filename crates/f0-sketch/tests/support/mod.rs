//! What several test files need.
#![allow(dead_code, reason = "no test file uses all of it")]

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, NoiseSource, Permit};
use f0_sketch::{F0Shape, F0Sketch, Mode, Presampled, PrivateF0Sketch, Table, WeightRule};
use sketch_hash::{DefaultHash, HashKey};

pub(crate) type Raw = F0Sketch;

/// Reproducible noise.
pub(crate) fn noise(seed: u64) -> InsecureTestRng {
    InsecureTestRng::from_u64(seed)
}

pub(crate) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("an epsilon in range")
}

pub(crate) fn permit(level: f64) -> Permit<Epsilon> {
    Permit::standalone(epsilon(level))
}

pub(crate) fn shape(levels: u8, cells: u32) -> F0Shape {
    F0Shape::new(levels, cells).expect("a valid shape")
}

/// A shape that is not regular, with tables that end inside words.
pub(crate) fn general() -> F0Shape {
    let table = |share, cells| Table { share, cells };
    F0Shape::with_tables(&[table(1 << 62, 16), table(3 << 59, 50), table(5 << 59, 30)]).expect("a valid shape")
}

pub(crate) fn empty<M: Mode>(shape: F0Shape) -> F0Sketch<M> {
    F0Sketch::new(shape, WeightRule::Unit, DefaultHash::default())
}

/// The raw sketch of a set of integers under the default key.
pub(crate) fn raw(shape: F0Shape, items: impl IntoIterator<Item = u64>) -> Raw {
    let mut sketch: Raw = empty(shape);
    sketch.toggle_u64_batch(&items.into_iter().collect::<Vec<_>>());
    sketch
}

/// A raw sketch of a stream of integers.
pub(crate) fn stream(shape: F0Shape, items: &[u64], coins: &mut InsecureTestRng) -> F0Sketch<Presampled> {
    let mut sketch = empty(shape);
    sketch.observe_u64_batch(items, coins).expect("test coins");
    sketch
}

pub(crate) fn other_key() -> DefaultHash {
    DefaultHash::new(HashKey::from_bytes([7; 16]))
}

pub(crate) fn released<M: Mode, R: NoiseSource>(raw: F0Sketch<M>, level: f64, noise: &mut R) -> PrivateF0Sketch<M> {
    raw.release(permit(level), noise).expect("a release")
}

/// Raw bytes, which are equal when the sketches are.
pub(crate) fn bytes<M: Mode>(sketch: &F0Sketch<M>) -> Vec<u8> {
    sketch.to_sensitive_bytes().to_vec()
}
