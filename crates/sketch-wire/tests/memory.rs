//! How much memory bytes can make the decoder take.

mod example;

use example::ExampleV1;
use sketch_testkit::{CountingAllocator, forged, measure_thread};
use sketch_wire::{Flags, decode, encode};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A list is given room for at most this much before its elements have been read.
const HEAD_START: u64 = 1 << 20;

fn example(words: usize) -> ExampleV1 {
    ExampleV1 {
        tag: 0,
        short: 0,
        count: 0,
        total: 0,
        change: 0,
        ratio: 0.0,
        present: false,
        id: [0; 4],
        entries: Vec::new(),
        words: vec![0; words],
    }
}

#[test]
fn hostile_lengths_take_no_more_than_the_head_start() {
    let bytes = encode(&example(30), Flags::PRIVATE).unwrap();
    let (mut refused, mut most) = (0, 0);
    for (_, version) in forged(&bytes) {
        let (result, taken) = measure_thread(|| decode::<ExampleV1>(&version));
        refused += u32::from(result.is_err());
        most = most.max(taken.peak);
    }
    assert!(refused > 100, "{refused}");
    assert!(most <= HEAD_START + 4 * bytes.len() as u64, "{most}");
}

#[test]
fn a_length_above_the_cap_takes_no_memory() {
    let mut bytes = encode(&example(0), Flags::PRIVATE).unwrap();
    bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    let (result, taken) = measure_thread(|| decode::<ExampleV1>(&bytes).is_err());
    assert!(result);
    assert_eq!(taken.bytes, 0);
}

#[test]
fn writing_allocates_once() {
    let body = example(1536);
    let (bytes, taken) = measure_thread(|| encode(&body, Flags::PRIVATE).unwrap());
    assert_eq!((taken.count, taken.bytes), (1, bytes.len() as u64));
}
