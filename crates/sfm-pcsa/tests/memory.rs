//! Bytes that very many small groups take, counted by the allocator.

use std::collections::HashMap;

use sfm_pcsa::{PcsaCells, PcsaShape, PcsaSketch};
use sketch_hash::{DefaultHash, Item};
use sketch_testkit::{CountingAllocator, measure_thread};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The cells of `groups` groups of `items` items each, by group.
fn groups(groups: u64, items: u64) -> HashMap<u64, PcsaCells> {
    let hash = DefaultHash::default();
    let mut all = HashMap::new();
    for row in 0..groups * items {
        let cells = all.entry(row % groups).or_insert_with(|| PcsaCells::new(PcsaShape::DEFAULT));
        cells.insert_hash(Item::from(row).hash64(&hash));
    }
    all
}

#[test]
fn a_million_groups_of_three_items_take_few_bytes_beyond_the_items() {
    const GROUPS: u64 = 1_000_000;
    let (all, taken) = measure_thread(|| groups(GROUPS, 3));
    assert_eq!(all.len(), 1_000_000);
    // At the worst moment the growing map holds its entries twice, and its keys are counted, too.
    let peak = taken.peak / GROUPS;
    assert!(peak <= 100 + 3 * 8, "{peak} bytes a group at the peak");
    let held: usize = all.values().map(|cells| size_of_val(cells) + cells.heap_bytes()).sum();
    assert_eq!(held, 16_000_000, "three cells lie in place");
}

#[test]
fn groups_of_any_size_take_less_than_eight_bytes_an_item_and_a_hundred_more() {
    for items in [1, 2, 3, 4, 5, 8, 20, 100, 500] {
        let (all, taken) = measure_thread(|| groups(1_000, items));
        let held: usize = all.values().map(|cells| size_of_val(cells) + cells.heap_bytes()).sum();
        assert!(held as u64 <= taken.peak);
        let each = held as u64 / 1_000;
        assert!(each <= 100 + 8 * items, "{each} bytes for {items} items");
    }
}

#[test]
fn an_empty_sketch_allocates_nothing_but_its_hash() {
    let hash = DefaultHash::default();
    let (sketch, taken) = measure_thread(|| PcsaSketch::new(PcsaShape::DEFAULT, hash));
    assert!(sketch.is_empty() && taken.count == 0);
}
