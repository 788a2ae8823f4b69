//! Many small groups: time of filling them, and the bytes that a million groups of three items take.
//!
//! The bytes are printed before the times, counted by the allocator at the worst moment of the building.
#![expect(clippy::print_stdout, reason = "the figure is what the benchmark is for")]

use std::collections::HashMap;
use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, quick, words};
use sfm_pcsa::sketch_hash::{DefaultHash, hash64_unsigned};
use sfm_pcsa::{PcsaCells, PcsaShape};
use sketch_testkit::{CountingAllocator, measure_thread};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Hashes of as many items, one after the other.
fn hashes(items: usize) -> Vec<u64> {
    let items: Vec<u64> = words(1, items).iter().map(|word| word >> 1).collect();
    let mut hashes = vec![0; items.len()];
    hash64_unsigned(&DefaultHash::default(), &items, &mut hashes);
    hashes
}

/// Item `i` goes to group `i mod groups`: every group is met again when all others have been.
fn build(groups: u64, hashes: &[u64]) -> HashMap<u64, PcsaCells> {
    let mut all = HashMap::new();
    for (group, &hash) in (0..groups).cycle().zip(hashes) {
        all.entry(group).or_insert_with(|| PcsaCells::new(PcsaShape::DEFAULT)).insert_hash(hash);
    }
    all
}

fn memory(_: &mut Criterion) {
    for items in [1, 3, 10, 100] {
        let groups = if items > 10 { 100_000 } else { 1_000_000 };
        let hashes = hashes(items * groups);
        let (all, taken) = measure_thread(|| build(groups as u64, &hashes));
        let held: usize = all.values().map(|cells| size_of_val(cells) + cells.heap_bytes()).sum();
        println!(
            "{groups} groups of {items} items: {} bytes of cells a group, {} with the map at its peak",
            held / groups,
            taken.peak / groups as u64
        );
    }
}

fn fill(c: &mut Criterion) {
    let mut group = c.benchmark_group("groups/insert");
    for items in [3_usize, 30, 300, 3000] {
        let hashes = hashes(30_000);
        group.throughput(Throughput::Elements(hashes.len() as u64));
        group.bench_function(BenchmarkId::new("items a group", items), |bench| {
            bench.iter(|| {
                for group in hashes.chunks(items) {
                    let mut cells = PcsaCells::new(PcsaShape::DEFAULT);
                    for &hash in group {
                        cells.insert_hash(hash);
                    }
                    black_box(&cells);
                }
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = quick();
    targets = memory, fill
}
criterion_main!(benches);
