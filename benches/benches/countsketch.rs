//! Layer 1: updates, releases and merges of countsketch-dp, beside bare random increments.

use std::hint::black_box;

use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
use countsketch_dp::sketch_hash::DefaultHash;
use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
use criterion::{BatchSize, BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, Group, quick, words};

/// Items that an update adds; their hashes stay in the second cache.
const ITEMS: usize = 1 << 14;

fn empty(rows: u8, width: u32) -> CountSketch {
    let shape = CountSketchShape::new(rows, width).expect("a valid shape");
    CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY)
}

fn permit() -> Permit<Rho> {
    Permit::standalone(Rho::new(0.1).expect("in range"))
}

/// A table to increment, and for each row as many random cells as there are items.
fn table(rows: u8, width: u32) -> (Vec<i64>, Vec<Vec<u32>>) {
    let cells = vec![0_i64; usize::from(rows) * width as usize];
    let bucket = |word: &u64| u32::try_from(word % u64::from(width)).unwrap_or(0);
    let places = (0..u64::from(rows)).map(|row| words(row + 1, ITEMS).iter().map(bucket).collect()).collect();
    (cells, places)
}

/// What memory alone allows: for each item one increment in each row, at cells that are known beforehand.
fn increments(row: &mut [i64], places: &[u32]) {
    for &place in places {
        row[place as usize] += 1;
    }
}

/// The same with as little arithmetic as random cells take: each cell and sign is a step of a linear congruential generator.
fn drawn_increments(row: &mut [i64], seed: u64) {
    let (mut state, width) = (seed, row.len() as u64);
    for _ in 0..ITEMS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bucket = ((state >> 32) * width) >> 32;
        row[usize::try_from(bucket).unwrap_or(usize::MAX)] += i64::from(state >> 31 & 1 == 0) * 2 - 1;
    }
}

fn bare(group: &mut Group<'_>, rows: u8, width: u32) {
    let shape = format!("{rows} x {width}");
    let (mut cells, places) = table(rows, width);
    group.bench_function(BenchmarkId::new("bare increments at known cells", &shape), |bench| {
        bench.iter(|| {
            let rows = cells.chunks_exact_mut(width as usize).zip(black_box(&places));
            rows.for_each(|(row, places)| increments(row, places));
        });
    });
    group.bench_function(BenchmarkId::new("bare increments at drawn cells", &shape), |bench| {
        bench.iter(|| {
            let rows = cells.chunks_exact_mut(width as usize).zip(black_box(1)..);
            rows.for_each(|(row, seed)| drawn_increments(row, seed));
        });
    });
}

fn update(c: &mut Criterion) {
    let items: Vec<u64> = words(1, ITEMS).iter().map(|word| word >> 1).collect();
    let keys = words(2, ITEMS);
    let weights: Vec<i64> = keys.iter().map(|word| i64::from(word & 1 == 0) * 2 - 1).collect();
    let mut group = c.benchmark_group("countsketch/update");
    group.throughput(Throughput::Elements(ITEMS as u64));
    for width in [1 << 12, 1 << 14, 1 << 18] {
        for rows in [5, 15, 31] {
            let shape = format!("{rows} x {width}");
            let mut sketch = empty(rows, width);
            group.bench_function(BenchmarkId::new("u64, batch", &shape), |bench| {
                bench.iter(|| sketch.update_u64_batch(black_box(&items)));
            });
            group.bench_function(BenchmarkId::new("hashes, batch", &shape), |bench| {
                bench.iter(|| sketch.update_hashes(black_box(&keys)));
            });
            group.bench_function(BenchmarkId::new("hashes with weights, batch", &shape), |bench| {
                bench.iter(|| sketch.update_weighted_hashes(black_box(&keys), black_box(&weights)));
            });
            bare(&mut group, rows, width);
        }
    }
    let mut sketch = empty(15, 1 << 12);
    group.bench_function(BenchmarkId::new("hashes, one by one", "15 x 4096"), |bench| {
        bench.iter(|| black_box(&keys).iter().try_for_each(|&key| sketch.update_hash(key, 1)));
    });
    group.finish();
}

fn verbs(c: &mut Criterion) {
    let mut noise = NoiseRng::from_os().expect("the operating system gives random bytes");
    let mut raw = empty(15, 1 << 12);
    raw.update_u64_batch(&words(1, 100_000)).expect("no overflow");
    let private: Vec<_> = (0..2).map(|_| raw.clone().release(permit(), &mut noise).expect("entropy")).collect();
    let (other, file) = (raw.clone(), private[0].to_bytes());
    let mut group = c.benchmark_group("countsketch/15 x 4096");
    group.throughput(Throughput::Elements(15 << 12));
    group.bench_function("release", |bench| {
        bench.iter_batched(|| raw.clone(), |raw| raw.release(permit(), &mut noise), BatchSize::LargeInput);
    });
    group.bench_function("merge, raw", |bench| {
        bench.iter_batched_ref(|| raw.clone(), |raw| raw.merge(&other), BatchSize::LargeInput);
    });
    group.bench_function("merge, private", |bench| bench.iter(|| private[0].merge(black_box(&private[1]))));
    group.bench_function("to_bytes", |bench| bench.iter(|| black_box(&private[0]).to_bytes()));
    group.bench_function("from_bytes", |bench| {
        bench.iter(|| countsketch_dp::PrivateCountSketch::from_bytes(black_box(&file)));
    });
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = update, verbs);
criterion_main!(benches);
