//! Threads do not change results.
#![cfg(feature = "rayon")]

mod support;

use f0_sketch::{F0Sketch, MaxWeight, Weight, WeightError, WeightRule};
use sketch_hash::DefaultHash;
use support::{Raw, bytes, empty, general};

fn items() -> Vec<u64> {
    (0..300_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

#[test]
fn threads_give_the_same_bytes() {
    let items = items();
    for threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let (mut sequential, mut parallel): (Raw, Raw) = (empty(general()), empty(general()));
        sequential.toggle_u64_batch(&items);
        pool.install(|| parallel.par_toggle_u64_batch(&items));
        assert_eq!(bytes(&parallel), bytes(&sequential), "{threads} threads");
        // Onto what is there already, and back to nothing.
        pool.install(|| parallel.par_toggle_u64_batch(&items));
        assert!(parallel.is_zero());
        pool.install(|| parallel.par_toggle_u64_batch(&[]));
        assert!(parallel.is_zero());
    }
}

#[test]
fn threads_give_the_same_bytes_for_strings_and_weights() {
    let items = items();
    let text: Vec<String> = items.iter().take(150_000).map(u64::to_string).collect();
    let text: Vec<&[u8]> = text.iter().map(String::as_bytes).collect();
    let (mut sequential, mut parallel): (Raw, Raw) = (empty(general()), empty(general()));
    sequential.toggle_batch(&text);
    parallel.par_toggle_batch(&text);
    assert_eq!(bytes(&parallel), bytes(&sequential));

    let rule = WeightRule::Weighted(MaxWeight::new(1.0).expect("in range"));
    let weights: Vec<Weight> = items.iter().map(|item| Weight::from_threshold(item >> 32).expect("in range")).collect();
    let mut sequential: Raw = F0Sketch::new(general(), rule, DefaultHash::default());
    let mut parallel = sequential.clone();
    sequential.toggle_u64_batch_weighted(&items, &weights).expect("weighted");
    parallel.par_toggle_u64_batch_weighted(&items, &weights).expect("weighted");
    assert_eq!(bytes(&parallel), bytes(&sequential));
    let refused = parallel.par_toggle_u64_batch_weighted(&items, &weights[1..]);
    assert!(matches!(refused, Err(WeightError::Count { .. })));
    assert_eq!(bytes(&parallel), bytes(&sequential));
}
