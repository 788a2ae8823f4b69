//! Few cells as a list, many as a table: nobody can tell which but by the memory.

mod support;

use proptest::prelude::*;
use sfm_pcsa::cardinality_estimators::Confidence;
use sfm_pcsa::{MergeError, PcsaCells, PcsaShape, PcsaSketch};
use sketch_hash::{DefaultHash, Item, KeyedHash};
use support::{noise, raw, released, shape};

/// Cells filled one hash at a time.
fn cells(shape: PcsaShape, items: impl IntoIterator<Item = u64>) -> PcsaCells {
    let hash = DefaultHash::default();
    let mut cells = PcsaCells::new(shape);
    items.into_iter().for_each(|item| cells.insert_hash(Item::from(item).hash64(&hash)));
    cells
}

/// The bits of a file from the definition: level `j` of bucket `k` is bit `j · buckets + k`.
fn bits_by_definition(shape: PcsaShape, items: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let hash = DefaultHash::default();
    let mut bits = vec![0; shape.cells().div_ceil(64)];
    for item in items {
        let (bucket, level) =
            sfm_pcsa::diagnostics::placement(Item::from(item).hash64(&hash), shape.index_bits(), shape.levels());
        let cell = usize::from(level) * shape.buckets() as usize + bucket as usize;
        bits[cell / 64] |= 1_u64 << (cell % 64);
    }
    bits
}

/// The words of a raw file, which begin behind header, shape, hash, releases, unit and their number.
fn words(sketch: &PcsaSketch) -> Vec<u64> {
    let bytes = sketch.to_sensitive_bytes();
    let words = bytes[32 + 2 + 9 + 4 + 4 + 8..].chunks_exact(8);
    words.map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect()
}

#[test]
fn the_value_is_sixteen_bytes_and_three_items_need_no_more() {
    assert_eq!(size_of::<PcsaCells>(), 16);
    for count in 0..=3 {
        assert_eq!(cells(PcsaShape::DEFAULT, 0..count).heap_bytes(), 0);
    }
}

#[test]
fn memory_is_never_above_that_of_the_table() {
    for shape in [PcsaShape::DEFAULT, shape(64, 24), shape(1024, 44), shape(2, 3)] {
        let mut group = PcsaCells::new(shape);
        let table = shape.buckets() as usize * if shape.levels() > 32 { 8 } else { 4 };
        let hash = DefaultHash::default();
        let mut most = 0;
        for item in 0..20_000_u64 {
            group.insert_hash(hash.hash64_word(sketch_hash::Domain::Integer, item));
            most = most.max(group.heap_bytes());
        }
        // The table's own header is 32 bytes.
        assert!(most <= table + 32, "{most} bytes for a table of {table}");
        assert_eq!(group.heap_bytes(), table + 32, "{shape}: many items lie in the table");
    }
}

#[test]
fn lists_grow_with_the_items_and_not_faster() {
    for count in [4, 10, 100, 1000] {
        let group = cells(PcsaShape::DEFAULT, 0..count);
        let items = usize::try_from(count).expect("few");
        // A list at most half empty, its header, and no cell for an item that shares one.
        assert!(group.heap_bytes() <= 8 * items + 24, "{} bytes for {count} items", group.heap_bytes());
    }
}

#[test]
fn p6_a_sparse_sketch_merged_into_an_empty_one_stays_as_it_is() {
    for count in [0, 2, 100, 2000, 50_000] {
        let source = raw(PcsaShape::DEFAULT, 0..count);
        let (bytes, estimate) = (source.to_sensitive_bytes(), source.estimate(Confidence::P95));
        let mut target = raw(PcsaShape::DEFAULT, []);
        target.merge(&source).expect("one hash and shape");
        assert_eq!((source.to_sensitive_bytes(), source.estimate(Confidence::P95)), (bytes, estimate));
        assert_eq!(target, source);
        assert_eq!(target.to_sensitive_bytes(), source.to_sensitive_bytes());
        // And the other way round: an empty one merged into it.
        let mut full = source.clone();
        full.merge(&raw(PcsaShape::DEFAULT, [])).expect("one hash and shape");
        assert_eq!(full, source);
        // Cells alone behave alike.
        let (source, mut target) = (source.into_cells(), PcsaCells::new(PcsaShape::DEFAULT));
        let before = source.clone();
        target.merge(&source).expect("one shape");
        assert!(source == before && target == source);
    }
}

#[test]
fn cells_of_another_shape_are_refused() {
    let mut group = cells(PcsaShape::DEFAULT, 0..5);
    let refused = group.merge(&PcsaCells::new(shape(64, 24))).expect_err("another shape");
    assert!(matches!(refused, MergeError::Shape { .. }));
    assert_eq!(group, cells(PcsaShape::DEFAULT, 0..5));
}

#[test]
fn a_release_does_not_depend_on_how_cells_are_held() {
    let listed = raw(PcsaShape::DEFAULT, 0..100);
    // Through a table and back: merged with many items, then rebuilt from bytes that hold the few.
    let mut tabled = PcsaSketch::from_cells(cells(PcsaShape::DEFAULT, 0..100), DefaultHash::default());
    tabled.merge(&listed).expect("one hash and shape");
    let [a, b] = [listed, tabled].map(|sketch| released(sketch, 1.0, &mut noise(5)).to_bytes());
    assert_eq!(a, b);
}

#[test]
fn debug_shows_the_shape_only() {
    let shown = format!("{:?}", cells(shape(64, 8), 0..3));
    assert_eq!(shown, "PcsaCells { shape: PcsaShape { index_bits: 6, levels: 8 }, .. }");
}

fn shapes() -> impl Strategy<Value = PcsaShape> {
    (1..=8_u8).prop_flat_map(|index_bits| {
        (1..=64 - index_bits).prop_map(move |levels| PcsaShape::from_index_bits(index_bits, levels).expect("in range"))
    })
}

/// Sets of every size around the change from list to table.
fn items() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(any::<u64>(), 0..400)
}

proptest! {
    #[test]
    fn lists_and_tables_hold_the_same_bits(shape in shapes(), items in items(), more in items()) {
        let expected = bits_by_definition(shape, items.iter().copied());
        let group = cells(shape, items.iter().copied());
        let sketch = PcsaSketch::from_cells(group.clone(), DefaultHash::default());
        prop_assert_eq!(words(&sketch), expected.clone());
        prop_assert_eq!(words(&raw(shape, items.iter().copied())), expected);
        let read = PcsaSketch::from_sensitive_bytes(&sketch.to_sensitive_bytes(), DefaultHash::default());
        prop_assert_eq!(read.expect("its own bytes").into_cells(), group.clone());

        let both = || items.iter().chain(&more).copied();
        let mut joined = group;
        joined.merge(&cells(shape, more.iter().copied())).expect("one shape");
        let joined = PcsaSketch::from_cells(joined, DefaultHash::default());
        prop_assert_eq!(words(&joined), bits_by_definition(shape, both()));
        prop_assert_eq!(joined, raw(shape, both()));
    }

    #[test]
    fn equality_sees_cells_and_not_how_they_are_held(shape in shapes(), items in items()) {
        let mut tabled = raw(shape, items.iter().copied());
        let listed = PcsaSketch::from_sensitive_bytes(&tabled.to_sensitive_bytes(), DefaultHash::default());
        prop_assert_eq!(listed.expect("its own bytes"), tabled.clone());
        tabled.merge(&tabled.clone()).expect("itself");
        prop_assert_eq!(tabled, raw(shape, items));
    }
}
