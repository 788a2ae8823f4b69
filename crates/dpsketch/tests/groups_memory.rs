//! A million groups of three items, counted by the allocator. One test, alone in its program.
#![cfg(feature = "arrow")]

use dpsketch::{GroupedBuilder, TextRules};
use sfm_pcsa::PcsaShape;
use sketch_hash::{AnyHash, Item};
use sketch_testkit::{CountingAllocator, measure_process};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const GROUPS: u64 = 1_000_000;
const ITEMS: u64 = 3;

#[test]
fn a_million_small_groups_take_less_than_a_hundred_bytes_each_beyond_their_items() {
    for named_by_text in [false, true] {
        let ((), taken) = measure_process(|| {
            let mut builder = GroupedBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
            for row in 0..GROUPS * ITEMS {
                let (group, item) = (row % GROUPS, row);
                let text = format!("g{group}");
                let group = if named_by_text { Item::from(text.as_str()) } else { Item::from(group.cast_signed()) };
                builder.push_row(Some(group), None, [Some(Item::from(item))]).expect("a row");
            }
            let (sketches, _) = builder.finish().expect("sketches");
            assert_eq!(sketches.len() as u64, GROUPS);
        });
        let each = taken.peak / GROUPS;
        println!("{each} bytes a group at most, named by text: {named_by_text}");
        assert!(each <= 100 + 8 * ITEMS, "{each} bytes a group");
    }
}
