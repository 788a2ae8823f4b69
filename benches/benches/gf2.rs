//! Layer 0: vectors and matrices of gf2-linalg.

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, quick};
use gf2_linalg::{BitMatrix, BitVector, HashColumns, xor_popcount};

const SIZES: [usize; 2] = [1024, 4096];

/// Random bits from `SplitMix64`; the words of xorshift generators depend on each other linearly over GF(2).
fn bits(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed << 32;
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn matrix(seed: u64, size: usize) -> BitMatrix {
    BitMatrix::from_words(size, size, &bits(seed, size * size / 64)).expect("whole words")
}

fn vector(seed: u64, size: usize) -> BitVector {
    BitVector::from_words(bits(seed, size / 64), size).expect("whole words")
}

fn products(c: &mut Criterion) {
    let mut group = c.benchmark_group("gf2/product");
    for size in SIZES {
        let (a, b, x) = (matrix(1, size), matrix(2, size), vector(3, size));
        group.bench_function(BenchmarkId::new("matrix", size), |bench| bench.iter(|| black_box(&a).mul(black_box(&b))));
        group.throughput(Throughput::Bytes((size * size / 8) as u64));
        group.bench_function(BenchmarkId::new("vector", size), |bench| {
            bench.iter(|| black_box(&a).mul_vec(black_box(&x)));
        });
        group.bench_function(BenchmarkId::new("row vector", size), |bench| {
            bench.iter(|| black_box(&a).vec_mul(black_box(&x)));
        });
        group.bench_function(BenchmarkId::new("transpose", size), |bench| bench.iter(|| black_box(&a).transpose()));
    }
    group.finish();
}

fn elimination(c: &mut Criterion) {
    let mut group = c.benchmark_group("gf2/elimination");
    for size in SIZES {
        let (a, b) = (matrix(1, size), vector(3, size));
        let inverted = invertible(size);
        group.bench_function(BenchmarkId::new("rank", size), |bench| bench.iter(|| black_box(&a).rank()));
        group.bench_function(BenchmarkId::new("rref", size), |bench| bench.iter(|| black_box(&a).rref()));
        group.bench_function(BenchmarkId::new("ple", size), |bench| bench.iter(|| black_box(&a).ple()));
        group.bench_function(BenchmarkId::new("solve", size), |bench| bench.iter(|| black_box(&a).solve(&b)));
        group.bench_function(BenchmarkId::new("inverse", size), |bench| bench.iter(|| black_box(&inverted).inverse()));
        let factors = inverted.ple();
        group.bench_function(BenchmarkId::new("solve by factors", size), |bench| {
            bench.iter(|| black_box(&factors).solve(&b));
        });
    }
    group.finish();
}

/// A unit lower times a unit upper triangular matrix: invertible whatever the bits are.
fn invertible(size: usize) -> BitMatrix {
    let triangle = |seed: u64| {
        let mut triangle = matrix(seed, size);
        for i in 0..size {
            triangle.row_mut(i).expect("a row")[..i].fill(false);
            triangle.set(i, i, true).expect("inside");
        }
        triangle
    };
    triangle(1).transpose().and_then(|lower| lower.mul(&triangle(2))).expect("one size")
}

/// Sketches of 48 KiB: 24 levels of 16,384 cells.
fn sketches(c: &mut Criterion) {
    let mut group = c.benchmark_group("gf2/sketch");
    let (a, b) = (bits(1, 6144), bits(2, 6144));
    group.throughput(Throughput::Bytes(2 * 48 * 1024));
    group.bench_function("xor and popcount, 2 x 48 KiB", |bench| {
        bench.iter(|| xor_popcount(black_box(&a), black_box(&b)));
    });
    let columns =
        HashColumns::new(1 << 14, |item: &u64| [(item % (1 << 14)) as usize, (item >> 40) as usize % (1 << 14)]);
    let items = bits(3, 1024);
    group.throughput(Throughput::Elements(items.len() as u64));
    group.bench_function("columns of two cells", |bench| bench.iter(|| columns.mul_sparse(black_box(&items))));
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = products, elimination, sketches);
criterion_main!(benches);
