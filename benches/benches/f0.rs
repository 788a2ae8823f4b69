//! Layer 1: the verbs of f0-sketch on the default shape, 24 levels × 4096 cells, beside those of sfm-pcsa in the same run.

use std::hint::black_box;

use criterion::{BatchSize, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Bencher, Criterion, quick, strings, words};
use f0_sketch::cardinality_estimators::Confidence;
use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
use f0_sketch::sketch_hash::{DefaultHash, hash64_unsigned, hash128_unsigned};
use f0_sketch::{F0Shape, F0Sketch, MaxWeight, Mode, Presampled, PrivateF0Sketch, Set, Weight, WeightRule};
use gf2_linalg::{xor_into, xor_popcount};
use sfm_pcsa::{PcsaShape, PcsaSketch};

const SHAPE: F0Shape = F0Shape::DEFAULT;
const CELLS: u64 = 24 * 4096;
/// Items that an update adds: many cells, and few enough to stay in the second cache.
const ITEMS: usize = 1 << 14;

fn generator() -> NoiseRng {
    NoiseRng::from_os().expect("the operating system gives random bytes")
}

fn permit() -> Permit<Epsilon> {
    Permit::standalone(Epsilon::new(1.0).expect("in range"))
}

fn empty<M: Mode>(rule: WeightRule) -> F0Sketch<M> {
    F0Sketch::new(SHAPE, rule, DefaultHash::default())
}

/// A raw sketch of a hundred thousand items.
fn raw(seed: u64) -> F0Sketch {
    let mut sketch: F0Sketch = empty(WeightRule::Unit);
    sketch.toggle_u64_batch(&words(seed, 100_000));
    sketch
}

fn released(seed: u64, noise: &mut NoiseRng) -> PrivateF0Sketch {
    raw(seed).release(permit(), noise).expect("there is entropy")
}

fn weights() -> (WeightRule, Vec<Weight>) {
    let weights = words(3, ITEMS).into_iter().map(|word| Weight::from_threshold(word >> 32).expect("below 2^32"));
    (WeightRule::Weighted(MaxWeight::new(1.0).expect("in range")), weights.collect())
}

fn update(c: &mut Criterion) {
    let items: Vec<u64> = words(1, ITEMS).iter().map(|word| word >> 1).collect();
    let text = strings(2, ITEMS, 12, 20);
    let text: Vec<&[u8]> = text.iter().map(Vec::as_slice).collect();
    let (rule, weights) = weights();
    let (mut set, mut weighted, mut stream) =
        (empty::<Set>(WeightRule::Unit), empty::<Set>(rule), empty::<Presampled>(WeightRule::Unit));
    let mut sfm = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    let mut coins = generator();
    let mut group = c.benchmark_group("f0/update");
    group.throughput(Throughput::Elements(ITEMS as u64));
    group.bench_function("u64, batch, sfm", |bench| bench.iter(|| sfm.update_u64_batch(black_box(&items))));
    group.bench_function("u64, batch", |bench| bench.iter(|| set.toggle_u64_batch(black_box(&items))));
    group.bench_function("u64, weighted batch", |bench| {
        bench.iter(|| weighted.toggle_u64_batch_weighted(black_box(&items), &weights));
    });
    group.bench_function("u64, presampled batch", |bench| {
        bench.iter(|| stream.observe_u64_batch(black_box(&items), &mut coins));
    });
    group.bench_function("u64, one by one", |bench| {
        bench.iter(|| black_box(&items).iter().for_each(|item| set.toggle_u64(*item)));
    });
    group.bench_function("12 to 20 bytes, batch, sfm", |bench| bench.iter(|| sfm.update_batch(black_box(&text))));
    group.bench_function("12 to 20 bytes, batch", |bench| bench.iter(|| set.toggle_batch(black_box(&text))));
    group.bench_function("12 to 20 bytes, one by one", |bench| {
        bench.iter(|| black_box(&text).iter().for_each(|item| set.toggle(item)));
    });
    // What is left when hashing costs nothing, and what hashing costs.
    let (mut narrow, mut wide) = (vec![0; ITEMS], vec![[0; 2]; ITEMS]);
    let hash = DefaultHash::default();
    group.bench_function("64 bits of u64", |bench| {
        bench.iter(|| hash64_unsigned(&hash, black_box(&items), &mut narrow));
    });
    group.bench_function("128 bits of u64", |bench| {
        bench.iter(|| hash128_unsigned(&hash, black_box(&items), &mut wide));
    });
    group.bench_function("hashes, sfm", |bench| bench.iter(|| sfm.update_hashes(black_box(&narrow))));
    group.bench_function("hashes", |bench| bench.iter(|| set.toggle_hashes(black_box(&wide))));
    group.finish();
}

fn xor(c: &mut Criterion) {
    let mut noise = generator();
    let (mut left, right) = (raw(1), raw(2));
    let (a, b) = (released(3, &mut noise), released(4, &mut noise));
    let (mut first, second) = (words(5, SHAPE.cells() / 64), words(6, SHAPE.cells() / 64));
    let mut group = c.benchmark_group("f0/xor");
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("raw", |bench| bench.iter(|| left.xor(black_box(&right))));
    group.bench_function("merge", |bench| bench.iter(|| black_box(&a).merge(black_box(&b))));
    group.bench_function("ones_per_table", |bench| bench.iter(|| black_box(&a).ones_per_table()));
    group.bench_function("words", |bench| bench.iter(|| xor_into(black_box(&mut first), black_box(&second))));
    group.bench_function("words, counted only", |bench| {
        bench.iter(|| xor_popcount(black_box(&first), black_box(&second)));
    });
    group.finish();
}

/// A release consumes its sketch, so every run gets a copy, made outside the measured time; few at once, so that they stay in
/// the second cache.
fn release(c: &mut Criterion) {
    let (sketch, mut noise) = (raw(1), generator());
    let mut sfm = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    sfm.update_u64_batch(&words(1, 100_000));
    let bytes = empty::<Presampled>(WeightRule::Unit).to_sensitive_bytes();
    let stream =
        || F0Sketch::<Presampled>::from_sensitive_bytes(&bytes, DefaultHash::default()).expect("its own bytes");
    let mut group = c.benchmark_group("f0/release");
    group.throughput(Throughput::Elements(CELLS));
    let few = BatchSize::NumIterations(8);
    group.bench_function("sfm", |bench: &mut Bencher<'_>| {
        bench.iter_batched(|| sfm.clone(), |raw| black_box(raw.release(permit(), &mut noise)).is_ok(), few);
    });
    group.bench_function("set", |bench: &mut Bencher<'_>| {
        bench.iter_batched(|| sketch.clone(), |raw| black_box(raw.release(permit(), &mut noise)).is_ok(), few);
    });
    group.bench_function("presampled", |bench: &mut Bencher<'_>| {
        bench.iter_batched(stream, |raw| black_box(raw.release(permit(), &mut noise)).is_ok(), few);
    });
    group.finish();
}

fn estimate(c: &mut Criterion) {
    let private = released(1, &mut generator());
    let mut group = c.benchmark_group("f0/estimate");
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("estimate", |bench| bench.iter(|| black_box(&private).estimate(Confidence::P95)));
    group.finish();
}

fn bytes(c: &mut Criterion) {
    let private = released(1, &mut generator());
    let file = private.to_bytes();
    let mut group = c.benchmark_group("f0/bytes");
    group.throughput(Throughput::Bytes(CELLS / 8));
    group.bench_function("to_bytes", |bench| bench.iter(|| black_box(&private).to_bytes()));
    group.bench_function("from_bytes", |bench| bench.iter(|| PrivateF0Sketch::<Set>::from_bytes(black_box(&file))));
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = update, xor, release, estimate, bytes);
criterion_main!(benches);
