//! F0 sketches from rows: sets, changes and streams, with and without weights, in one part and in many.

use std::thread;

use dpsketch::f0_sketch::{F0Shape, MaxWeight, ModeKind};
use dpsketch::sketch_hash::{AnyHash, DefaultHash, HashKey, Item};
use dpsketch::{
    ErrorKind, F0Builder, F0Counts, F0Error, F0Terms, RawF0Sketch, SpillSettings, TextRules, WeightConflict,
};

fn shape() -> F0Shape {
    F0Shape::new(8, 128).expect("a shape")
}

fn unit() -> F0Terms {
    F0Terms::unit(shape())
}

fn weighted(max: f64) -> F0Terms {
    F0Terms::weighted(shape(), MaxWeight::new(max).expect("in range"))
}

fn little_memory() -> SpillSettings {
    SpillSettings { memory: 1 << 16, ..SpillSettings::default() }
}

fn set(terms: F0Terms) -> F0Builder {
    F0Builder::set(terms, AnyHash::default(), TextRules::default(), little_memory()).expect("enough memory")
}

fn operations(terms: F0Terms) -> F0Builder {
    F0Builder::operations(terms, AnyHash::default(), TextRules::default())
}

fn presampled(terms: F0Terms) -> F0Builder {
    F0Builder::presampled(terms, AnyHash::default(), TextRules::default()).expect("randomness")
}

fn finish(builder: F0Builder) -> (RawF0Sketch, F0Counts) {
    builder.finish().expect("a sketch")
}

/// The sketch of a set whose members are known to be different: inserted one by one.
fn of_members(items: impl IntoIterator<Item = u64>) -> RawF0Sketch {
    let mut builder = operations(unit());
    for item in items {
        builder.push_row_with([Some(Item::from(item))], None, Some(Item::from("+"))).expect("an insert");
    }
    finish(builder).0
}

fn source(error: &dpsketch::Error) -> Option<&F0Error> {
    std::error::Error::source(error)?.downcast_ref()
}

#[test]
fn repeats_of_a_set_count_once_in_memory_and_on_disk() {
    // 20,000 items of 24 bytes do not fit into 64 KiB.
    for items in [0_u64, 1, 50, 20_000] {
        let mut builder = set(unit());
        for round in 0..3 {
            for item in (0..items).filter(|item| round != 1 || item % 7 != 0) {
                builder.push_row([Some(Item::from(item))]).expect("a row");
            }
        }
        let (raw, counts) = finish(builder);
        assert_eq!((raw.mode(), counts.items, counts.conflicts), (ModeKind::Set, Some(items), 0));
        assert_eq!(raw, of_members(0..items), "{items}");
    }
}

#[test]
fn a_set_is_deduplicated_over_all_threads() {
    let parts: Vec<F0Builder> = thread::scope(|scope| {
        let part = |first: u64| {
            scope.spawn(move || {
                let mut builder = set(unit());
                for item in first..first + 5_000 {
                    builder.push_row([Some(Item::from(item))]).expect("a row");
                }
                builder.push_nulls(2).expect("nulls");
                builder
            })
        };
        // Every item is in two parts, at least.
        let threads: Vec<_> = [0, 2_500, 5_000, 7_500, 0, 7_500].map(part).into_iter().collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut all = set(unit());
    for part in parts {
        all.absorb(part).expect("alike");
    }
    let (raw, counts) = finish(all);
    assert_eq!((counts.rows, counts.nulls, counts.inserts, counts.items), (30_012, 12, 30_000, Some(12_500)));
    assert_eq!(raw, of_members(0..12_500));
}

#[test]
fn changes_toggle_and_say_what_the_set_is_in_the_end() {
    let mut first = operations(unit());
    let mut second = operations(unit());
    let push = |builder: &mut F0Builder, item: u64, word: &str| {
        builder.push_row_with([Some(Item::from(item))], None, Some(Item::from(word))).expect("an operation");
    };
    (0..100).for_each(|item| push(&mut first, item, "insert"));
    (50..100).for_each(|item| push(&mut second, item, "delete"));
    (100..120).for_each(|item| push(&mut second, item, "add"));
    (0..10).for_each(|item| push(&mut second, item, "remove"));
    first.absorb(second).expect("alike");
    let (raw, counts) = finish(first);
    assert_eq!((counts.inserts, counts.deletes, counts.items), (120, 60, None));
    assert_eq!(raw, of_members((10..50).chain(100..120)));
}

#[test]
fn an_unknown_operation_is_refused_with_its_row_and_gives_the_build_up() {
    for operation in [None, Some("update"), Some("")] {
        let mut builder = operations(unit());
        builder.push_row_with([None], None, Some(Item::from("+"))).expect("a missing item is left out");
        let operation = operation.map(Item::from);
        let error = builder.push_row_with([Some(Item::from("a"))], None, operation).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert_eq!(source(&error), Some(&F0Error::NotAnOperation { row: 2 }));
        assert_eq!(error.to_json()["argument"], "--op-column");
        let again = builder.push_row_with([Some(Item::from("a"))], None, Some(Item::from("+"))).unwrap_err();
        assert_eq!(source(&again), Some(&F0Error::GivenUp));
        assert!(builder.push_nulls(1).is_err() && builder.finish().is_err());
    }
}

#[test]
fn weights_are_clipped_and_counted_and_no_number_is_refused() {
    let mut builder = set(weighted(10.0));
    for (item, weight) in [("a", "2.5"), ("b", "11"), ("c", "1e9"), ("d", "0"), ("e", "10")] {
        builder.push_row_with([Some(Item::from(item))], Some(Item::from(weight)), None).expect("a weight");
    }
    builder.push_row_with([Some(Item::from("f"))], None, None).expect("a missing weight is left out");
    builder.push_row_with([None], Some(Item::from("99")), None).expect("a missing item is left out");
    let (_, counts) = finish(builder);
    assert_eq!((counts.rows, counts.nulls, counts.clipped, counts.items), (7, 2, 2, Some(5)));
    for weight in ["-1", "NaN", "inf", "many", ""] {
        let builders = [set(weighted(10.0)), operations(weighted(10.0)), presampled(weighted(10.0))];
        for (mut builder, operation) in builders.into_iter().zip([None, Some("+"), None]) {
            let (item, weight) = ([Some(Item::from("a"))], Some(Item::from(weight)));
            let error = builder.push_row_with(item, weight, operation.map(Item::from)).unwrap_err();
            assert_eq!(source(&error), Some(&F0Error::NotAWeight { row: 1 }), "{weight:?}");
            assert_eq!((error.kind(), error.to_json()["argument"].as_str()), (ErrorKind::Damaged, Some("--weight")));
        }
    }
}

#[test]
fn clipped_weights_are_the_largest_and_weights_are_shares_of_it() {
    let of = |max: f64, weight: &str| {
        let mut builder = set(weighted(max));
        for item in 0..500_u64 {
            builder.push_row_with([Some(Item::from(item))], Some(Item::from(weight)), None).expect("a weight");
        }
        finish(builder).0
    };
    assert_eq!(of(10.0, "12"), of(10.0, "10"));
    assert_ne!(of(10.0, "5"), of(10.0, "10"));
    // Every item of the full weight is kept, as without weights; only the rule differs, and it is part of the sketch.
    assert_ne!(of(10.0, "10"), of_members(0..500));
}

#[test]
fn an_item_with_two_weights_is_refused_or_counts_with_the_larger() {
    let build = |rows: &[(u64, f64)]| {
        let mut builder = set(weighted(4.0));
        for (item, weight) in rows {
            builder.push_row_with([Some(Item::from(*item))], Some(Item::from(*weight)), None).expect("a weight");
        }
        builder
    };
    let rows: Vec<(u64, f64)> = (0..100).flat_map(|item| [(item, 1.0), (item, 3.0)]).collect();
    let error = build(&rows).finish().unwrap_err();
    assert_eq!(source(&error), Some(&F0Error::Conflict { items: 100 }));
    assert_eq!((error.kind(), error.to_json()["argument"].as_str()), (ErrorKind::Refused, Some("--weight")));

    let (largest, counts) = finish(build(&rows).with_conflict(WeightConflict::Largest));
    assert_eq!((counts.items, counts.conflicts), (Some(100), 100));
    let backwards: Vec<_> = rows.iter().rev().copied().collect();
    assert_eq!(finish(build(&backwards).with_conflict(WeightConflict::Largest)).0, largest, "in any order");
    let heavy: Vec<_> = (0..100).map(|item| (item, 3.0)).collect();
    assert_eq!(finish(build(&heavy)).0, largest);
    // What is the same weight after clipping is no conflict.
    assert!(build(&[(1, 4.0), (1, 5.0), (1, 4.0)]).finish().is_ok());
}

#[test]
fn a_delete_with_the_weight_of_its_insert_leaves_nothing() {
    let mut builder = operations(weighted(1.0));
    for word in ["+", "-"] {
        for item in 0..200_u64 {
            let weight = Some(Item::from(0.25));
            builder.push_row_with([Some(Item::from(item))], weight, Some(Item::from(word))).expect("a row");
        }
    }
    assert_eq!(finish(builder).0, finish(operations(weighted(1.0))).0);
}

#[test]
fn what_the_builder_does_not_take_is_a_parameter_error() {
    let item = || [Some(Item::from("a"))];
    let error = set(unit()).push_row_with(item(), Some(Item::from(1.0)), None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    let error = set(unit()).push_row_with(item(), None, Some(Item::from("+"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    let error = presampled(unit()).push_row_with(item(), None, Some(Item::from("-"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter, "streams with coins cannot be deleted from");
}

#[test]
fn coins_keep_every_occurrence_with_probability_one_half() {
    // One item: its cell is one with probability 1/2, whatever the multiplicity. 400 builds; a sum outside 200 ± 50 has
    // probability below 1e-6 (five standard deviations of 10).
    for repeats in [1, 2, 5] {
        let kept = (0..400)
            .filter(|_| {
                let mut builder = presampled(unit());
                (0..repeats).for_each(|_| builder.push_row([Some(Item::from("a"))]).expect("a row"));
                let raw = finish(builder).0;
                // The cells alone: every build has coins of its own name.
                let (bytes, cells) = (raw.to_sensitive_bytes(), 8 * raw.shape().cells().div_ceil(64));
                bytes[bytes.len() - cells..].iter().any(|byte| *byte != 0)
            })
            .count();
        assert!((150..=250).contains(&kept), "{repeats}: {kept}");
    }
}

#[test]
fn parts_of_another_kind_are_not_absorbed() {
    let other_key = AnyHash::from(DefaultHash::new(HashKey::from_bytes([7; 16])));
    let keyed = F0Builder::operations(unit(), other_key, TextRules::default());
    let wider = operations(F0Terms::unit(F0Shape::new(8, 256).expect("a shape")));
    for other in [keyed, wider, operations(weighted(1.0)), set(unit()), presampled(unit())] {
        assert_eq!(operations(unit()).absorb(other).unwrap_err().kind(), ErrorKind::Incompatible);
    }
    let other = set(weighted(2.0));
    assert_eq!(set(weighted(1.0)).absorb(other).unwrap_err().kind(), ErrorKind::Incompatible);
    let mut given_up = set(unit());
    let _ = given_up.push_row_with([None], None, Some(Item::from("+")));
    assert!(set(unit()).absorb(given_up).is_err());
}

#[test]
fn text_rules_apply_to_items_and_weights_and_several_columns_are_one_item() {
    let rules = TextRules { trim: true, lowercase: true, null: Some("NA".to_owned()) };
    let mut builder = F0Builder::set(weighted(9.0), AnyHash::default(), rules, little_memory()).expect("memory");
    for (name, town, weight) in [(" Ann", "X", "3"), ("ann", "x ", " 3 "), ("NA", "x", "3"), ("bob", "x", "NA")] {
        let values = [Some(Item::from(name)), Some(Item::from(town))];
        builder.push_row_with(values, Some(Item::from(weight)), None).expect("a row");
    }
    let (_, counts) = finish(builder);
    assert_eq!((counts.rows, counts.nulls, counts.items, counts.conflicts), (4, 2, Some(1), 0));
}

#[test]
fn debug_of_a_builder_shows_no_counts() {
    let mut builder = set(unit());
    builder.push_texts(["ann", "bob"]).expect("rows");
    let shown = format!("{builder:?}");
    assert!(shown.contains("Set") && !shown.contains("rows") && !shown.contains("ann"), "{shown}");
}
