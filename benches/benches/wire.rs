//! Layer 0: header, checksum and body of sketch-wire.

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, quick, words};
use sketch_wire::{Family, Flags, WireBody, decode, encode, peek, verify};

/// Words of the default sketch, 12 KiB; and a mebibyte of them.
const LENGTHS: [usize; 2] = [1536, 1 << 17];

#[derive(serde::Serialize, serde::Deserialize)]
struct BodyV1 {
    levels: u8,
    words: Vec<u64>,
}

impl WireBody for BodyV1 {
    const FAMILY: Family = Family::EXAMPLE;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = 1 << 24;
}

fn files(c: &mut Criterion) {
    let mut group = c.benchmark_group("wire");
    for length in LENGTHS {
        let body = BodyV1 { levels: 24, words: words(1, length) };
        let bytes = encode(&body, Flags::PRIVATE).expect("a valid body");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let id = |name: &str| BenchmarkId::new(name, format!("{} bytes", bytes.len()));
        group.bench_function(id("encode"), |bench| bench.iter(|| encode(black_box(&body), Flags::PRIVATE)));
        group.bench_function(id("decode"), |bench| bench.iter(|| decode::<BodyV1>(black_box(&bytes))));
        group.bench_function(id("verify"), |bench| bench.iter(|| verify(black_box(&bytes))));
    }
    let bytes = encode(&BodyV1 { levels: 24, words: words(1, LENGTHS[0]) }, Flags::PRIVATE).expect("a valid body");
    group.throughput(Throughput::Elements(1));
    group.bench_function("peek", |bench| bench.iter(|| peek(black_box(&bytes))));
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = files);
criterion_main!(benches);
