//! Layer 0: all regions of a few sets from their noisy sketches, by cardinality-estimators.

use std::hint::black_box;

use cardinality_estimators::{BitChannel, CellLayout, Confidence, PatternCounts, venn};
use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, quick};

const BUCKETS: u32 = 4096;
const LEVELS: u8 = 24;

/// Cells flipped at level ε.
fn flipped(epsilon: f64) -> BitChannel {
    BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).expect("a valid channel")
}

/// Uniform on [0, 1), the same on every run (`SplitMix64`).
fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from(u32::try_from((x ^ (x >> 31)) >> 32).expect("32 bits")) / 4_294_967_296.0
}

/// Patterns of sketches with `items` in every region, each cell drawn on its own.
fn patterns(sketches: usize, epsilon: f64, items: f64) -> PatternCounts {
    let layout = CellLayout::pcsa(BUCKETS, LEVELS).expect("a valid shape");
    let channels = vec![flipped(epsilon); sketches];
    let mut state = 1;
    let level = |(cells, rate): (u64, f64)| {
        let mut counts = vec![0; 1 << sketches];
        for _ in 0..cells {
            let hit = |region: usize, state: &mut u64| if unit(state) < -(-rate * items).exp_m1() { region } else { 0 };
            let occupied = (1..1 << sketches).fold(0, |sets, region| sets | hit(region, &mut state));
            let noisy = |sketch: usize, state: &mut u64| {
                let one = if (occupied >> sketch) & 1 == 1 { channels[sketch].p() } else { channels[sketch].q() };
                usize::from(unit(state) < one) << sketch
            };
            counts[(0..sketches).fold(0, |pattern, sketch| pattern | noisy(sketch, &mut state))] += 1;
        }
        counts
    };
    PatternCounts::new(&layout, &channels, layout.groups().map(level).collect()).expect("counts of every cell")
}

fn fits(c: &mut Criterion) {
    let mut group = c.benchmark_group("venn/fit");
    group.throughput(Throughput::Elements(1));
    for sketches in 2..=4 {
        for epsilon in [1.0, 4.0] {
            let counts = patterns(sketches, epsilon, 1e5);
            let name = BenchmarkId::from_parameter(format!("{sketches} sketches, ε = {epsilon}"));
            group.bench_function(name, |b| b.iter(|| venn::fit(black_box(&counts))));
        }
    }
    group.finish();
}

fn answers(c: &mut Criterion) {
    let mut group = c.benchmark_group("venn/answer");
    group.throughput(Throughput::Elements(1));
    for sketches in [2, 4] {
        let fit = venn::fit(&patterns(sketches, 2.0, 1e5)).expect("few sketches");
        let name = BenchmarkId::from_parameter(format!("union of {sketches}, with its interval"));
        group.bench_function(name, |b| b.iter(|| black_box(&fit).union(Confidence::P95)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = quick();
    targets = fits, answers
}
criterion_main!(benches);
