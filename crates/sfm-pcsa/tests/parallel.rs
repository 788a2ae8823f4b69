//! Threads change nothing.
#![cfg(feature = "rayon")]

mod support;

use sfm_pcsa::{PcsaShape, PcsaSketch};
use sketch_hash::DefaultHash;
use support::{raw, shape};

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

#[test]
fn parallel_building_gives_the_bytes_of_sequential_building() {
    // More than one task's least share, with repetitions.
    let items: Vec<u64> = (0..300_000).map(|i| i * 7 % 200_003).collect();
    for shape in [PcsaShape::DEFAULT, shape(2, 40), shape(65_536, 33)] {
        let sequential = raw(shape, items.iter().copied()).to_sensitive_bytes();
        for threads in [1, 2, 3, 8] {
            let mut parallel = raw(shape, []);
            pool(threads).install(|| parallel.par_update_u64_batch(&items));
            assert_eq!(parallel.to_sensitive_bytes(), sequential, "{threads} threads");
        }
    }
}

#[test]
fn parallel_building_adds_to_what_is_there() {
    let texts: Vec<String> = (0..200_000).map(|i| format!("item {}", i % 150_000)).collect();
    let slices: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let mut sequential = raw(PcsaShape::DEFAULT, 0..100);
    sequential.record_release();
    let mut parallel = sequential.clone();
    sequential.update_batch(&slices);
    pool(2).install(|| parallel.par_update_batch(&slices));
    assert_eq!(parallel, sequential);
    pool(2).install(|| parallel.par_update_batch(&[]));
    assert_eq!(parallel, sequential);
}

#[test]
fn sketches_of_any_split_of_the_items_merge_to_the_same_bytes() {
    let items: Vec<u64> = (0..50_000).collect();
    let whole = raw(PcsaShape::DEFAULT, items.iter().copied()).to_sensitive_bytes();
    for parts in [2, 3, 7] {
        let mut joined = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
        for part in items.chunks(items.len().div_ceil(parts)).rev() {
            joined.merge(&raw(PcsaShape::DEFAULT, part.iter().copied())).expect("one hash and shape");
        }
        assert_eq!(joined.to_sensitive_bytes(), whole);
    }
}
