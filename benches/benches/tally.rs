//! Unions of tallied sketches: points and intervals for 8 and 32 sketches of 4096 buckets and 24 levels.

use std::hint::black_box;

use cardinality_estimators::tally::{TallyClass, TallyCounts, estimate_union, point_union};
use cardinality_estimators::{BitChannel, CellLayout, Confidence};
use criterion::{BenchmarkId, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, quick, words};

const BUCKETS: usize = 4096;
const LEVELS: usize = 24;
const ITEMS: usize = 1_000_000;

/// A tally of `sketches` sets of which half is common to all and the rest to none, flipped at ε = 2.
fn tally(sketches: usize) -> TallyCounts {
    let mut held = vec![0_u64; LEVELS * BUCKETS];
    for (item, word) in words(1, ITEMS).into_iter().enumerate() {
        let level = (word | 1 << (LEVELS - 1)).trailing_zeros() as usize;
        let bucket = usize::try_from(word >> 52).unwrap_or(0);
        held[level * BUCKETS + bucket] |= if item % 2 == 0 { (1 << sketches) - 1 } else { 1 << (item / 2 % sketches) };
    }
    let channel = BitChannel::symmetric(1.0 / (1.0 + 2.0_f64.exp())).expect("a valid channel");
    // A flip where 16 random bits are below q.
    let below = 65_536.0 * channel.q();
    let mut coins = words(2, held.len() * sketches).into_iter();
    let mut histograms = vec![vec![0_u64; sketches + 1]; LEVELS];
    for (cell, held) in held.iter().enumerate() {
        let ones = (0..sketches).filter(|sketch| {
            let flip = coins.next().is_some_and(|coin| f64::from(u16::try_from(coin >> 48).unwrap_or(0)) < below);
            ((held >> sketch) & 1 == 1) != flip
        });
        histograms[cell / BUCKETS][ones.count()] += 1;
    }
    let layout = CellLayout::pcsa(4096, 24).expect("a valid shape");
    TallyCounts::new(&layout, &[TallyClass { channel, sketches }], histograms).expect("a tally of that shape")
}

fn union(c: &mut Criterion) {
    for sketches in [8, 32] {
        let counts = tally(sketches);
        let mut group = c.benchmark_group("estimators/union by tally");
        group.bench_function(BenchmarkId::new("point", sketches), |bench| {
            bench.iter(|| point_union(black_box(&counts), None, Confidence::P95));
        });
        group.bench_function(BenchmarkId::new("interval", sketches), |bench| {
            bench.iter(|| estimate_union(black_box(&counts), None, Confidence::P95));
        });
        group.finish();
    }
}

criterion_group!(name = benches; config = quick(); targets = union);
criterion_main!(benches);
