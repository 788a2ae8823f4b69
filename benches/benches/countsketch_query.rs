//! Layer 1: queries of released `CountSketch`es of width 2^12.

use std::hint::black_box;

use countsketch_dp::cardinality_estimators::Confidence;
use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
use countsketch_dp::sketch_hash::{DefaultHash, Item};
use countsketch_dp::{
    Combiner, ContributionBound, CountSketch, CountSketchShape, HeavyRule, PrefixLayout, PrefixSearch, PrefixStack,
    PrivateCountSketch, QueryOptions,
};
use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, quick, words};

/// Items of a batch: more than fit into the caches together with a row.
const ITEMS: usize = 1 << 14;
const ROWS: [u8; 3] = [5, 15, 31];

fn generator() -> NoiseRng {
    NoiseRng::from_os().expect("the operating system gives random bytes")
}

fn permit() -> Permit<Rho> {
    Permit::standalone(Rho::new(0.1).expect("in range"))
}

fn released(rows: u8) -> PrivateCountSketch {
    let shape = CountSketchShape::new(rows, 1 << 12).expect("a valid shape");
    let mut raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    raw.update_u64_batch(&words(1, 100_000)).expect("counters have room");
    raw.release(permit(), &mut generator()).expect("there is entropy")
}

fn keys() -> Vec<u64> {
    let hash = DefaultHash::default();
    words(2, ITEMS).into_iter().map(|item| Item::from(item).hash64(&hash)).collect()
}

fn values(c: &mut Criterion) {
    let keys = keys();
    let mut out = vec![0.0; keys.len()];
    let mut group = c.benchmark_group("countsketch/query");
    group.throughput(Throughput::Elements(ITEMS as u64));
    for rows in ROWS {
        let sketch = released(rows);
        for (name, combiner) in [("median", Combiner::Median), ("trimmed", Combiner::Trimmed), ("mean", Combiner::Mean)]
        {
            let reader = sketch.points(combiner);
            group.bench_function(BenchmarkId::new(name, rows), |bench| {
                bench.iter(|| reader.values(black_box(&keys), &mut out));
            });
        }
        let reader = sketch.points(Combiner::Median);
        group.bench_function(BenchmarkId::new("median, one by one", rows), |bench| {
            bench.iter(|| black_box(&keys).iter().map(|&key| reader.value(key)).sum::<f64>());
        });
        let frequencies = sketch.frequencies(QueryOptions::default()).expect("valid options");
        group.bench_function(BenchmarkId::new("with intervals", rows), |bench| {
            bench.iter(|| frequencies.estimate_all(black_box(&keys)));
        });
        group.bench_function(BenchmarkId::new("top 100", rows), |bench| {
            bench.iter(|| {
                let candidates = black_box(&keys).iter().copied();
                sketch.heavy_hitters(candidates, HeavyRule::Top, 100, QueryOptions::default())
            });
        });
    }
    group.finish();
}

fn once_a_sketch(c: &mut Criterion) {
    let mut group = c.benchmark_group("countsketch/prepare");
    for rows in ROWS {
        let sketch = released(rows);
        group.throughput(Throughput::Elements(sketch.shape().cells() as u64));
        group.bench_function(BenchmarkId::new("bucket intervals", rows), |bench| {
            bench.iter(|| black_box(&sketch).frequencies(QueryOptions::default()).map(|answers| answers.half_width()));
        });
        group.bench_function(BenchmarkId::new("second moment", rows), |bench| {
            bench.iter(|| black_box(&sketch).second_moment(Confidence::P95));
        });
    }
    group.finish();
}

fn prefix_search(c: &mut Criterion) {
    let layout = PrefixLayout::new(32, 6, CountSketchShape::new(5, 1 << 12).expect("a valid shape"));
    let layout = layout.expect("a valid layout");
    let stack = PrefixStack::new(layout, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    let mut stack = stack.expect("not clipped");
    for (place, word) in words(3, 100_000).into_iter().enumerate() {
        let key = if place % 10 == 0 { 0xdead_beef } else { word >> 32 };
        stack.update(key, 1).expect("counters have room");
    }
    let private = stack.release(permit(), &mut generator()).expect("there is entropy");
    c.bench_function("countsketch/prefix search above 1 %", |bench| {
        bench.iter(|| private.search(black_box(&PrefixSearch::above(1000.0))));
    });
}

criterion_group! {
    name = benches;
    config = quick();
    targets = values, once_a_sketch, prefix_search
}
criterion_main!(benches);
