//! Layer 1: the verbs of sfm-pcsa on the default shape, 4096 buckets × 24 levels.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Bencher, Criterion, quick, strings, words};
use sfm_pcsa::cardinality_estimators::Confidence;
use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
use sfm_pcsa::sketch_hash::{DefaultHash, KeyedHash, PrestoHash};
use sfm_pcsa::{MergeForm, PcsaShape, PcsaSketch, SfmSketch, SfmTally, tally_of, union_estimate};

const SHAPE: PcsaShape = PcsaShape::DEFAULT;
const CELLS: u64 = SHAPE.cells() as u64;
/// Items that an update adds: many cells, and few enough to stay in the second cache.
const ITEMS: usize = 1 << 14;

fn generator() -> NoiseRng {
    NoiseRng::from_os().expect("the operating system gives random bytes")
}

fn permit() -> Permit<Epsilon> {
    Permit::standalone(Epsilon::new(1.0).expect("in range"))
}

fn empty<H: KeyedHash>(hash: H) -> PcsaSketch<H> {
    PcsaSketch::new(SHAPE, hash)
}

/// A raw sketch of a hundred thousand items.
fn raw(seed: u64) -> PcsaSketch {
    let mut sketch = empty(DefaultHash::default());
    sketch.update_u64_batch(&words(seed, 100_000));
    sketch
}

/// Releases at ε = 1 of different data.
fn releases(count: u64, noise: &mut NoiseRng) -> Vec<SfmSketch> {
    (1..=count).map(|seed| raw(seed).release(permit(), noise).expect("there is entropy")).collect()
}

fn xor_releases(count: u64, noise: &mut NoiseRng) -> Vec<SfmSketch> {
    (1..=count).map(|seed| raw(seed).release_xor_family(permit(), noise).expect("there is entropy")).collect()
}

fn update(c: &mut Criterion) {
    let whole_range = words(1, ITEMS);
    let items: Vec<u64> = whole_range.iter().map(|word| word >> 1).collect();
    let text = strings(2, ITEMS, 12, 20);
    let text: Vec<&[u8]> = text.iter().map(Vec::as_slice).collect();
    let mut sketch = empty(DefaultHash::default());
    let mut presto = empty(PrestoHash);
    let mut group = c.benchmark_group("sfm/update");
    group.throughput(Throughput::Elements(ITEMS as u64));
    group.bench_function("u64, batch", |bench| bench.iter(|| sketch.update_u64_batch(black_box(&items))));
    // Integers from 2^63 on are encoded apart.
    group.bench_function("u64 of the whole range, batch", |bench| {
        bench.iter(|| sketch.update_u64_batch(black_box(&whole_range)));
    });
    group.bench_function("u64, batch, PrestoHash", |bench| bench.iter(|| presto.update_u64_batch(black_box(&items))));
    group.bench_function("u64, one by one", |bench| {
        bench.iter(|| black_box(&items).iter().for_each(|item| sketch.update_u64(*item)));
    });
    group.bench_function("12 to 20 bytes, batch", |bench| bench.iter(|| sketch.update_batch(black_box(&text))));
    group.bench_function("12 to 20 bytes, batch, PrestoHash", |bench| {
        bench.iter(|| presto.update_batch(black_box(&text)));
    });
    group.bench_function("12 to 20 bytes, one by one", |bench| {
        bench.iter(|| black_box(&text).iter().for_each(|item| sketch.update(item)));
    });
    // What is left when hashing costs nothing.
    group.bench_function("hashes", |bench| bench.iter(|| sketch.update_hashes(black_box(&whole_range))));
    group.finish();
}

fn raw_verbs(c: &mut Criterion) {
    let (mut left, right) = (raw(1), raw(2));
    let half = PcsaShape::new(2048, 20).expect("a valid shape");
    let mut group = c.benchmark_group("sfm/raw");
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("merge", |bench| bench.iter(|| left.merge(black_box(&right))));
    group.bench_function("fold to 2048 x 20", |bench| bench.iter(|| right.fold(black_box(half))));
    group.bench_function("estimate", |bench| bench.iter(|| black_box(&right).estimate(Confidence::P95)));
    group.finish();
}

/// A release consumes its sketch, so every run gets a copy, made outside the measured time; few at once, so that they stay in the second cache.
fn release(c: &mut Criterion) {
    let (sketch, mut noise) = (raw(1), generator());
    let mut group = c.benchmark_group("sfm/release");
    group.throughput(Throughput::Elements(CELLS));
    let mut run = |name: &str, release: fn(PcsaSketch, &mut NoiseRng) -> bool| {
        group.bench_function(name, |bench: &mut Bencher<'_>| {
            bench.iter_batched(|| sketch.clone(), |raw| release(raw, &mut noise), BatchSize::NumIterations(8));
        });
    };
    run("symmetric", |raw, noise| black_box(raw.release(permit(), noise)).is_ok());
    run("xor family", |raw, noise| black_box(raw.release_xor_family(permit(), noise)).is_ok());
    group.finish();
}

fn merge(c: &mut Criterion) {
    let mut noise = generator();
    let (sketches, xor) = (releases(8, &mut noise), xor_releases(2, &mut noise));
    let mut group = c.benchmark_group("sfm/merge");
    group.throughput(Throughput::Elements(CELLS));
    let cases = [
        ("two, extremal", &sketches[..2], MergeForm::Extremal),
        ("two, symmetric", &sketches[..2], MergeForm::Symmetric),
        ("two, xor", &xor[..], MergeForm::Xor),
        ("eight at once, extremal", &sketches[..], MergeForm::Extremal),
        ("eight at once, symmetric", &sketches[..], MergeForm::Symmetric),
    ];
    for (name, sketches, form) in cases {
        let inputs: Vec<&SfmSketch> = sketches.iter().collect();
        assert!(SfmSketch::merge_all(&inputs, form, &mut noise).is_ok(), "{name}");
        group.bench_function(name, |bench| {
            bench.iter(|| SfmSketch::merge_all(black_box(&inputs), form, &mut noise));
        });
    }
    group.finish();
}

fn estimate(c: &mut Criterion) {
    let sketches = releases(8, &mut generator());
    let inputs: Vec<&SfmSketch> = sketches.iter().collect();
    let mut group = c.benchmark_group("sfm/estimate");
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("ones_per_level", |bench| bench.iter(|| black_box(inputs[0]).ones_per_level()));
    group.bench_function("estimate", |bench| bench.iter(|| black_box(inputs[0]).estimate(Confidence::P95)));
    for count in [3_usize, 8] {
        assert!(union_estimate(&inputs[..count], Confidence::P95).is_ok());
        group.throughput(Throughput::Elements(CELLS * count as u64));
        group.bench_function(BenchmarkId::new("union_estimate", count), |bench| {
            bench.iter(|| union_estimate(black_box(&inputs[..count]), Confidence::P95));
        });
    }
    group.finish();
}

/// Copies of 12 to 16 KiB, where the `memcpy` of some machines is an order of magnitude too slow; `a plain copy` shows
/// whether this one's is.
fn bytes(c: &mut Criterion) {
    let (raw, private) = (raw(1), releases(1, &mut generator()).remove(0));
    let file = private.to_bytes();
    let words = words(1, SHAPE.cells() / 64);
    let mut copy = words.clone();
    let mut group = c.benchmark_group("sfm/bytes");
    group.throughput(Throughput::Bytes(CELLS / 8));
    group
        .bench_function("a plain copy", |bench| bench.iter(|| black_box(&mut copy).copy_from_slice(black_box(&words))));
    group.bench_function("a new copy", |bench| bench.iter(|| black_box(&words).clone()));
    group.bench_function("clone", |bench| bench.iter(|| black_box(&private).clone()));
    group.bench_function("clone, raw", |bench| bench.iter(|| black_box(&raw).clone()));
    group.bench_function("to_bytes", |bench| bench.iter(|| black_box(&private).to_bytes()));
    group.bench_function("from_bytes", |bench| bench.iter(|| SfmSketch::from_bytes(black_box(&file))));
    group.bench_function("to_sensitive_bytes", |bench| bench.iter(|| black_box(&raw).to_sensitive_bytes()));
    group.finish();
}

fn tally(c: &mut Criterion) {
    let sketches = releases(32, &mut generator());
    let all: Vec<&SfmSketch> = sketches.iter().collect();
    let mut group = c.benchmark_group("sfm/tally");
    for count in [8_usize, 32] {
        let inputs = &all[..count];
        let whole = tally_of(inputs).expect("different releases");
        let halves =
            [&inputs[..count / 2], &inputs[count / 2..]].map(|half| tally_of(half).expect("different releases"));
        let file = whole.to_bytes();
        group.throughput(Throughput::Elements(CELLS * count as u64));
        group.bench_function(BenchmarkId::new("tally_of", count), |bench| bench.iter(|| tally_of(black_box(inputs))));
        group.bench_function(BenchmarkId::new("merge of halves", count), |bench| {
            bench.iter_batched(|| halves[0].clone(), |mut half| half.merge(&halves[1]), BatchSize::NumIterations(8));
        });
        group.bench_function(BenchmarkId::new("counts", count), |bench| bench.iter(|| black_box(&whole).counts()));
        group.bench_function(BenchmarkId::new("from_bytes", count), |bench| {
            bench.iter(|| SfmTally::from_bytes(black_box(&file)));
        });
    }
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = update, raw_verbs, release, merge, estimate, tally, bytes);
criterion_main!(benches);
