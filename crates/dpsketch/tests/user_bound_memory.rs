//! The memory that bounding users takes, measured.

use dpsketch::{MaxItems, SpillSettings, UserBound};
use sketch_hash::{HashKey, Item};
use sketch_testkit::{CountingAllocator, measure_thread};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The most bytes held at a time while `users` users with three rows each go in.
fn peak(mut bound: UserBound, users: u64) -> u64 {
    let ((), taken) = measure_thread(|| {
        let mut kept = 0;
        for row in 0..3 * users {
            bound.push(Item::from(row / 3), row, |items| kept += items.len() as u64).expect("sorted input");
        }
        bound.finish(|items| kept += items.len() as u64).expect("sorted input");
        assert_eq!(kept, 2 * users);
    });
    taken.peak
}

#[test]
fn spilling_keeps_to_its_memory() {
    for memory in [1 << 18, 1 << 20] {
        let settings = SpillSettings { memory, ..SpillSettings::default() };
        let (bound, before) =
            measure_thread(|| UserBound::spilling(MaxItems::new(2).unwrap(), HashKey::DEFAULT, settings));
        let (before, allowed) = (before.peak, memory as u64 + (1 << 16));
        let peak = peak(bound.unwrap(), 100_000);
        assert!(before <= allowed && before + peak <= allowed, "{before} + {peak} bytes of {memory}");
    }
}

#[test]
fn the_memory_of_sorted_input_does_not_grow_with_it() {
    // Twice as many users as are remembered one by one.
    let bound = UserBound::sorted(MaxItems::new(2).unwrap(), HashKey::DEFAULT);
    let peak = peak(bound, 1 << 21);
    assert!(peak <= 1 << 26, "{peak} bytes");
}
