//! Layer 0: word kernels of gf2-linalg.

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, quick, words};
use gf2_linalg::{
    and_popcount, joint_counts, level_popcounts, or_into, popcount, transpose32_pairs, transpose64, xor_into,
    xor_popcount,
};

/// 4096 × 24 cells, the default sketch; and vectors beyond every cache.
const LENGTHS: [usize; 2] = [98_304 / 64, 1 << 22];

fn counting(c: &mut Criterion) {
    let mut group = c.benchmark_group("words/count");
    for length in LENGTHS {
        let (a, b) = (words(1, length), words(2, length));
        let bytes = 8 * length as u64;
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function(BenchmarkId::new("popcount", length), |bench| bench.iter(|| popcount(black_box(&a))));
        group.throughput(Throughput::Bytes(2 * bytes));
        group.bench_function(BenchmarkId::new("xor_popcount", length), |bench| {
            bench.iter(|| xor_popcount(black_box(&a), black_box(&b)));
        });
        group.bench_function(BenchmarkId::new("and_popcount", length), |bench| {
            bench.iter(|| and_popcount(black_box(&a), black_box(&b)));
        });
        group.bench_function(BenchmarkId::new("joint_counts", length), |bench| {
            bench.iter(|| joint_counts(black_box(&a), black_box(&b)));
        });
    }
    let a = words(1, LENGTHS[0]);
    group.throughput(Throughput::Bytes(8 * a.len() as u64));
    group.bench_function("level_popcounts/4096x24", |bench| {
        let mut counts = [0; 24];
        bench.iter(|| level_popcounts(black_box(&a), 4096, black_box(&mut counts)));
    });
    group.finish();
}

fn joining(c: &mut Criterion) {
    let mut group = c.benchmark_group("words/join");
    for length in LENGTHS {
        let (mut a, b) = (words(1, length), words(2, length));
        group.throughput(Throughput::Bytes(16 * length as u64));
        group.bench_function(BenchmarkId::new("xor_into", length), |bench| {
            bench.iter(|| xor_into(black_box(&mut a), black_box(&b)));
        });
        group.bench_function(BenchmarkId::new("or_into", length), |bench| {
            bench.iter(|| or_into(black_box(&mut a), black_box(&b)));
        });
        // What reading alone costs: the rate that memory gives.
        group.throughput(Throughput::Bytes(16 * length as u64));
        group.bench_function(BenchmarkId::new("read", length), |bench| {
            let sum = |words: &[u64]| words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
            bench.iter(|| sum(black_box(&a)).wrapping_add(sum(black_box(&b))));
        });
    }
    group.finish();
}

fn transposing(c: &mut Criterion) {
    let mut group = c.benchmark_group("words/transpose");
    let source = words(3, 64);
    let mut square = [0; 64];
    square.copy_from_slice(&source);
    let mut pair = [0; 32];
    pair.copy_from_slice(&source[..32]);
    group.throughput(Throughput::Elements(64 * 64));
    group.bench_function("64x64", |bench| bench.iter(|| transpose64(black_box(&mut square))));
    group.throughput(Throughput::Elements(2 * 32 * 32));
    group.bench_function("2x32x32", |bench| bench.iter(|| transpose32_pairs(black_box(&mut pair))));
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = counting, joining, transposing);
criterion_main!(benches);
