//! Layer 0: keystream, exact flips and budgets' channels of dp-noise.
//!
//! The generator is keyed by the operating system, as in a release: nothing here turns on the insecure one. How much work
//! a draw takes depends on the random bits only through which lanes stay undecided, and that averages out.

use std::hint::black_box;

use criterion::{Throughput, criterion_group, criterion_main};
use dp_noise::rand_core::Rng;
use dp_noise::{
    DyadicProbability, EntropyError, Epsilon, NoiseRng, NoiseSource, RandomizedResponse, bernoulli, bernoulli_words,
    bernoulli_words_fixed_time,
};
use dpsketch_benches::{Criterion, quick, words};

/// Cells of the default sketch, 4096 × 24.
const CELLS: u64 = 98_304;
/// The words that hold them.
const WORDS: usize = 1536;

fn generator() -> NoiseRng {
    NoiseRng::from_os().expect("the operating system gives random bytes")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("in range")
}

fn keystream(c: &mut Criterion) {
    let mut noise = generator();
    let mut out = vec![0; WORDS];
    let mut group = c.benchmark_group("noise/keystream");
    group.throughput(Throughput::Bytes(8));
    group.bench_function("next_u64", |bench| bench.iter(|| noise.next_u64()));
    group.throughput(Throughput::Bytes(8 * WORDS as u64));
    group.bench_function("fill_words", |bench| bench.iter(|| noise.fill_words(black_box(&mut out))));
    group.finish();
}

fn flips(c: &mut Criterion) {
    let mut noise = generator();
    let mut out = vec![0; WORDS];
    let long = RandomizedResponse::symmetric(epsilon(1.0)).q();
    let mut group = c.benchmark_group("noise/bernoulli");
    group.throughput(Throughput::Elements(1));
    group.bench_function("bernoulli, one bit", |bench| bench.iter(|| bernoulli(black_box(long), &mut noise)));
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("bernoulli_words, p = 1/(1 + e)", |bench| {
        bench.iter(|| bernoulli_words(black_box(long), &mut noise, black_box(&mut out)));
    });
    group.bench_function("bernoulli_words, p = 1/2", |bench| {
        bench.iter(|| bernoulli_words(black_box(DyadicProbability::half()), &mut noise, black_box(&mut out)));
    });
    group.bench_function("bernoulli_words_fixed_time, p = 1/(1 + e)", |bench| {
        bench.iter(|| bernoulli_words_fixed_time(black_box(long), &mut noise, black_box(&mut out)));
    });
    group.finish();
}

fn responses(c: &mut Criterion) {
    let mut noise = generator();
    let mut cells = words(1, WORDS);
    let (symmetric, xor) = (RandomizedResponse::symmetric(epsilon(1.0)), RandomizedResponse::xor_family(epsilon(1.0)));
    let mut group = c.benchmark_group("noise/randomized response");
    group.throughput(Throughput::Elements(1));
    group.bench_function("symmetric, made for ε", |bench| {
        bench.iter(|| RandomizedResponse::symmetric(black_box(epsilon(1.0))));
    });
    group.bench_function("xor family, made for ε", |bench| {
        bench.iter(|| RandomizedResponse::xor_family(black_box(epsilon(1.0))));
    });
    group.bench_function("epsilon_upper", |bench| bench.iter(|| black_box(symmetric).epsilon_upper()));
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("apply, symmetric", |bench| {
        bench.iter(|| symmetric.apply(&mut noise, black_box(&mut cells)));
    });
    group.bench_function("apply, xor family", |bench| bench.iter(|| xor.apply(&mut noise, black_box(&mut cells))));
    group.finish();
}

fn entropy(c: &mut Criterion) {
    let mut noise = generator();
    let mut group = c.benchmark_group("noise/entropy");
    group.throughput(Throughput::Elements(1));
    group.bench_function("from_os", |bench| bench.iter(NoiseRng::from_os));
    group.bench_function("begin_release", |bench| bench.iter(|| -> Result<(), EntropyError> { noise.begin_release() }));
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = keystream, flips, responses, entropy);
criterion_main!(benches);
