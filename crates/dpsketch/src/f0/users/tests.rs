use std::collections::{BTreeMap, BTreeSet};

use f0_sketch::{F0Shape, MaxWeight};
use sfm_pcsa::Unit;

use super::*;
use crate::f0::F0Builder;

fn shape() -> F0Shape {
    F0Shape::new(8, 128).unwrap()
}

fn little() -> SpillSettings {
    SpillSettings { memory: 1 << 17, ..SpillSettings::default() }
}

fn builder(is_sorted: bool, mode: ModeKind, terms: F0Terms, max_items: u32) -> F0UserBuilder {
    let make = if is_sorted { F0UserBuilder::sorted } else { F0UserBuilder::spilling };
    let (hash, rules, max_items) = (AnyHash::default(), TextRules::default(), MaxItems::new(max_items).unwrap());
    make(mode, terms, hash, rules, max_items, HashKey::DEFAULT, little()).unwrap()
}

fn unit() -> F0Terms {
    F0Terms::unit(shape())
}

fn push(builder: &mut F0UserBuilder, user: u64, item: u64) {
    builder.push_row(Some(Item::from(user)), [Some(Item::from(item))], None).unwrap();
}

/// The sketch of items without a bound, for the same unit.
fn of_items(items: impl IntoIterator<Item = u64>, max_items: u32) -> RawF0Sketch {
    let mut all = F0Builder::operations(unit(), AnyHash::default(), TextRules::default());
    for item in items {
        all.push_row_with([Some(Item::from(item))], None, Some(Item::from("+"))).unwrap();
    }
    let raw = all.finish().unwrap().0;
    let unit = f0_unit(Unit::user(max_items).unwrap());
    match raw.0 {
        crate::f0::raw::RawMode::Set(sketch) => {
            RawF0Sketch(crate::f0::raw::RawMode::Set(sketch.with_unit(unit).unwrap()))
        }
        crate::f0::raw::RawMode::Presampled(other) => panic!("{other:?}"),
    }
}

#[test]
fn users_within_the_bound_keep_everything_and_shared_items_count_once() {
    for is_sorted in [true, false] {
        let mut builder = builder(is_sorted, ModeKind::Set, unit(), 3);
        for user in 0..4_000_u64 {
            // Two items alone, one shared with a hundred others, and a repeat.
            for item in [2 * user, 2 * user + 1, 100_000 + user / 100, 2 * user] {
                push(&mut builder, user, item);
            }
        }
        let (raw, users, counts) = builder.finish().unwrap();
        assert_eq!((users.rows, users.users, users.kept), (16_000, 4_000, 12_000));
        assert_eq!(counts.items, Some(8_040));
        assert_eq!(raw, of_items((0..8_000).chain(100_000..100_040), 3));
        assert_eq!(raw.unit(), Unit::user(3).unwrap());
    }
}

#[test]
fn both_ways_keep_the_same_items_whatever_the_order_and_never_more_than_the_bound() {
    let rows: Vec<(u64, u64)> = (0..200).flat_map(|user| (0..=user % 40).map(move |item| (user, item * 7))).collect();
    let build = |is_sorted, rows: &[(u64, u64)]| {
        let mut builder = builder(is_sorted, ModeKind::Set, unit(), 5);
        for (user, item) in rows {
            push(&mut builder, *user, *item);
        }
        builder.finish().unwrap()
    };
    let (raw, users, _) = build(true, &rows);
    let expected: u64 = (0..200_u64).map(|user| (1 + user % 40).min(5)).sum();
    assert_eq!((users.users, users.kept), (200, expected));
    let backwards: Vec<_> = rows.iter().rev().copied().collect();
    assert_eq!(build(true, &backwards).0, raw);
    assert_eq!(build(false, &backwards).0, raw);
    assert_eq!(build(false, &rows).1, users);
}

#[test]
fn one_user_changes_as_many_cells_as_the_bound_allows_at_most() {
    let build = |without: Option<u64>| {
        let mut builder = builder(true, ModeKind::Set, unit(), 4);
        for user in (0..50_u64).filter(|user| Some(*user) != without) {
            (0..30).for_each(|item| push(&mut builder, user, user * 11 + item));
        }
        builder.finish().unwrap().0.to_sensitive_bytes().to_vec()
    };
    let all = build(None);
    for user in [0, 17, 49] {
        let fewer = build(Some(user));
        // Behind the frame, everything but the cells is equal; the checksum is in the header.
        let changed: u32 = all[32..].iter().zip(&fewer[32..]).map(|(a, b)| (a ^ b).count_ones()).sum();
        assert!((1..=4).contains(&changed), "{changed}");
    }
}

#[test]
fn the_largest_weight_counts_and_differences_are_refused_unless_allowed() {
    let terms = F0Terms::weighted(shape(), MaxWeight::new(8.0).unwrap());
    let build = |rows: &[(u64, u64, f64)], conflict| {
        let mut builder = builder(true, ModeKind::Set, terms.clone(), 9).with_conflict(conflict);
        for (user, item, weight) in rows {
            let (user, item) = (Some(Item::from(*user)), [Some(Item::from(*item))]);
            builder.push_row(user, item, Some(Item::from(*weight))).unwrap();
        }
        builder.finish()
    };
    let rows = [(1, 1, 2.0), (1, 1, 4.0), (2, 1, 3.0), (2, 2, 9.0)];
    assert!(build(&rows, WeightConflict::Refuse).is_err());
    let (raw, users, counts) = build(&rows, WeightConflict::Largest).unwrap();
    assert_eq!((users.kept, counts.items, counts.conflicts, counts.clipped), (3, Some(2), 1, 1));
    assert_eq!(raw, build(&[(1, 1, 4.0), (2, 2, 8.0)], WeightConflict::Refuse).unwrap().0);
}

#[test]
fn streams_of_users_toss_one_coin_for_each_kept_item() {
    let mut ones = BTreeMap::new();
    for _ in 0..300 {
        let mut builder = builder(true, ModeKind::Presampled, unit(), 2);
        for _ in 0..5 {
            push(&mut builder, 1, 1);
        }
        let (raw, users, counts) = builder.finish().unwrap();
        assert_eq!((users.kept, counts.items, raw.mode()), (1, None, ModeKind::Presampled));
        // The cells alone: every build has coins of its own name.
        let (bytes, cells) = (raw.to_sensitive_bytes(), 8 * raw.shape().cells().div_ceil(64));
        *ones.entry(bytes[bytes.len() - cells..].to_vec()).or_insert(0) += 1;
    }
    // The cell of the one item is one or zero, each with probability 1/2: 150 of 300, and 8.7 is a standard deviation.
    assert_eq!(ones.len(), 2);
    assert!(ones.values().all(|count| (100..=200).contains(count)), "{:?}", ones.values());
}

#[test]
fn rows_without_user_item_or_weight_are_left_out_and_bounded_sketches_do_not_merge() {
    let mut bounded = builder(true, ModeKind::Set, unit(), 1);
    bounded.push_row(None, [Some(Item::from(1_u32))], None).unwrap();
    bounded.push_row(Some(Item::from("u")), [None], None).unwrap();
    push(&mut bounded, 1, 1);
    assert_eq!((bounded.counts().rows, bounded.counts().nulls), (3, 2));
    assert!(bounded.push_row(Some(Item::from("u")), [Some(Item::from(1_u32))], Some(Item::from(1.0))).is_err());
    let raw = || {
        let mut bounded = builder(true, ModeKind::Set, unit(), 1);
        push(&mut bounded, 1, 1);
        bounded.finish().unwrap().0
    };
    let files = [("a".to_owned(), raw().into()), ("b".to_owned(), raw().into())];
    let error = crate::merge(&files, sfm_pcsa::MergeForm::default()).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Incompatible);
}

#[test]
fn kept_items_are_those_of_smallest_rank() {
    // An independent choice: sort all items of one user by the keyed hash, and take the first.
    let ranks = crate::user_bound::Ranks::new(HashKey::DEFAULT);
    let hash = AnyHash::default();
    let user = Item::from(7_u64).hash128(&sketch_hash::DefaultHash::new(HashKey::DEFAULT.derive("dpsketch user", 0)));
    let by_rank: BTreeSet<(u64, u64)> =
        (0..100_u64).map(|item| (ranks.of_wide(user, Item::from(item).hash128(&hash)), item)).collect();
    let mut builder = builder(true, ModeKind::Set, unit(), 6);
    (0..100).for_each(|item| push(&mut builder, 7, item));
    assert_eq!(builder.finish().unwrap().0, of_items(by_rank.iter().take(6).map(|(_, item)| *item), 6));
}
