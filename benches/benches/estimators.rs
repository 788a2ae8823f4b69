//! Layer 0: from counts of ones to a distinct count, by cardinality-estimators.

use std::hint::black_box;

use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, LevelCounts, ProductMoments, ProductStatistic, estimate, predicted_rse,
};
use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, quick};

const BUCKETS: u32 = 4096;
const LEVELS: u8 = 24;

fn layout() -> CellLayout {
    CellLayout::pcsa(BUCKETS, LEVELS).expect("a valid shape")
}

/// Cells flipped at level ε.
fn flipped(epsilon: f64) -> BitChannel {
    BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).expect("a valid channel")
}

/// A whole number of cells.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of buckets")]
fn cells(count: f64) -> u64 {
    count.round() as u64
}

/// The ones to expect in each level of `n` items behind `channel`.
fn expected_ones(channel: BitChannel, n: f64) -> Vec<u64> {
    let ones = |rate: f64| channel.p() - channel.d() * (-rate * n).exp();
    layout().groups().map(|(_, rate)| cells(f64::from(BUCKETS) * ones(rate))).collect()
}

/// The cells to expect with 0, 1, … `sketches` ones among sketches of the same `n` items, level by level.
fn expected_classes(channel: BitChannel, n: f64, sketches: i32) -> Vec<(f64, Vec<u64>)> {
    let binomial = |w: i32, p: f64| {
        let choose = (1..=w).fold(1.0, |product, i| product * f64::from(sketches - w + i) / f64::from(i));
        choose * p.powi(w) * (1.0 - p).powi(sketches - w)
    };
    let level = |rate: f64| {
        let empty = (-rate * n).exp();
        let share = |w| (1.0 - empty) * binomial(w, channel.p()) + empty * binomial(w, channel.q());
        (0..=sketches).map(|w| cells(f64::from(BUCKETS) * share(w))).collect()
    };
    layout().groups().map(|(_, rate)| (rate, level(rate))).collect()
}

fn one_sketch(c: &mut Criterion) {
    let mut group = c.benchmark_group("estimators/estimate");
    group.throughput(Throughput::Elements(1));
    let cases = [
        ("no noise, n = 1e6", BitChannel::NOISELESS, 1e6),
        ("ε = 4, n = 1e6", flipped(4.0), 1e6),
        ("ε = 1, n = 1e6", flipped(1.0), 1e6),
        // The likelihood is searched over the whole range: no curvature to trust.
        ("ε = 1, low information, n = 150", flipped(1.0), 150.0),
        ("ε = 1, at the noise floor, n = 0", flipped(1.0), 0.0),
        ("ε = 1, beyond the range, n = 1e13", flipped(1.0), 1e13),
    ];
    for (name, channel, n) in cases {
        let counts = LevelCounts::pcsa(BUCKETS, &expected_ones(channel, n), channel).expect("counts of the shape");
        group.bench_function(name, |bench| bench.iter(|| estimate(black_box(&counts), Confidence::P95)));
    }
    group.finish();
}

fn around(c: &mut Criterion) {
    let (channel, layout) = (flipped(1.0), layout());
    let ones = expected_ones(channel, 1e6);
    let mut group = c.benchmark_group("estimators/around");
    group.throughput(Throughput::Elements(1));
    group.bench_function("LevelCounts::pcsa", |bench| {
        bench.iter(|| LevelCounts::pcsa(BUCKETS, black_box(&ones), channel));
    });
    group.bench_function("predicted_rse", |bench| bench.iter(|| predicted_rse(&layout, channel, black_box(1e6))));
    group.finish();
}

fn union(c: &mut Criterion) {
    let channel = flipped(1.0);
    let mut group = c.benchmark_group("estimators/union by products");
    group.throughput(Throughput::Elements(1));
    for sketches in [3_usize, 8] {
        let levels = expected_classes(channel, 1e6, i32::try_from(sketches).unwrap_or(i32::MAX));
        let channels = vec![channel; sketches];
        group.bench_function(BenchmarkId::new("sketches", sketches), |bench| {
            bench.iter(|| {
                let moments = levels.iter().map(|(rate, cells)| ProductMoments::from_classes(*rate, channel, cells));
                let moments: Result<Vec<_>, _> = moments.collect();
                ProductStatistic::new(moments?, black_box(&channels), 1e11).map(|sum| sum.estimate(Confidence::P95))
            });
        });
    }
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = one_sketch, around, union);
criterion_main!(benches);
