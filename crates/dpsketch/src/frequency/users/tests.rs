use std::collections::BTreeMap;

use countsketch_dp::{CountSketchShape, Granularity};

use super::*;
use crate::error::ErrorKind;
use crate::frequency::terms::Clipping;

fn terms(items: u32, weight: u64, clipping: Clipping) -> CountSketchTerms {
    let shape = CountSketchShape::new(3, 64).unwrap();
    CountSketchTerms::users(shape, Granularity::ONE, items, weight, clipping).unwrap()
}

fn sorted(terms: CountSketchTerms) -> UserFrequencyBuilder {
    UserFrequencyBuilder::sorted(terms, AnyHash::default(), TextRules::default(), HashKey::DEFAULT).unwrap()
}

fn spilling(terms: CountSketchTerms) -> UserFrequencyBuilder {
    let settings = SpillSettings { memory: 1 << 16, ..SpillSettings::default() };
    let hash = AnyHash::default();
    UserFrequencyBuilder::spilling(terms, hash, TextRules::default(), HashKey::DEFAULT, settings).unwrap()
}

fn push(builder: &mut UserFrequencyBuilder, user: u64, item: u64, weight: i64) {
    let row = (Some(Item::from(user)), [Some(Item::from(item))], Some(Item::from(weight)));
    builder.push_weighted_row(row.0, row.1, row.2).unwrap();
}

/// Rows of 500 users with up to 9 items each, several rows an item.
fn rows() -> Vec<(u64, u64, i64)> {
    let weights = (0..7).cycle().map(|step| step - 2);
    (0..20_000_u64).zip(weights).map(|(row, weight)| (row % 500, row * row % (1 + row % 9), weight)).collect()
}

#[test]
fn bounds_that_nobody_reaches_give_the_sketch_of_all_records() {
    let terms = terms(9, 1 << 40, Clipping::Off);
    let mut builder = spilling(terms);
    let mut sums = BTreeMap::new();
    for (user, item, weight) in rows() {
        push(&mut builder, user, item, weight);
        *sums.entry(item).or_insert(0_i64) += weight;
    }
    let (raw, users) = builder.finish().unwrap();
    assert_eq!((users.rows, users.users), (20_000, 500));
    let mut expected = CountSketch::new(terms.shape(), AnyHash::default(), terms.bound());
    for (item, weight) in sums {
        // One user with this one item.
        let mut user = UserContribution::new(AnyHash::default());
        user.add_u64(item, weight);
        expected.add_user(user).unwrap();
    }
    assert_eq!(*raw.to_sensitive_bytes(), *expected.to_sensitive_bytes());
}

#[test]
fn order_and_disk_do_not_change_a_byte() {
    for terms in [terms(3, 4, Clipping::Off), terms(3, 4, Clipping::Auto), terms(2, 1, Clipping::At(5))] {
        let mut rows = rows();
        let mut shuffled = spilling(terms);
        rows.iter().rev().for_each(|(user, item, weight)| push(&mut shuffled, *user, *item, *weight));
        rows.sort_by_key(|row| row.0);
        let mut in_order = sorted(terms);
        for (user, item, weight) in rows {
            push(&mut in_order, user, item, weight);
        }
        let ((first, one), (second, other)) = (shuffled.finish().unwrap(), in_order.finish().unwrap());
        assert_eq!(one, other);
        assert_eq!(*first.to_sensitive_bytes(), *second.to_sensitive_bytes(), "{terms}");
    }
}

/// The norms of what one user adds, from raw bytes: cells follow the 60 bytes of frame, bound and counts.
fn norms(raw: &RawCountSketch) -> (u128, u128) {
    let bytes = raw.to_sensitive_bytes();
    let cells = bytes[32 + 60..].chunks_exact(8).map(|word| i64::from_le_bytes(word.try_into().unwrap()));
    cells.fold((0, 0), |(l1, l2), cell| {
        let size = u128::from(cell.unsigned_abs());
        (l1 + size, l2 + size * size)
    })
}

#[test]
fn one_user_never_adds_more_than_the_sensitivity_says() {
    for clipping in [Clipping::Off, Clipping::Auto, Clipping::At(7)] {
        for user in 0..40 {
            let terms = terms(4, 3, clipping);
            let mut builder = sorted(terms);
            for (row, weight) in (0..200_u64).zip((0..5).cycle()) {
                push(&mut builder, user, row % 30, weight - 1);
            }
            let (raw, users) = builder.finish().unwrap();
            assert_eq!(users.kept, 4);
            let exposure = raw.exposure(dp_noise::Neighbouring::AddRemove);
            let (l1, l2) = norms(&raw);
            assert!(l1 <= exposure.l1().unwrap().get() && l2 <= exposure.squared_l2().unwrap().get(), "{user}");
            assert!(l2 > 0 || clipping == Clipping::At(7));
        }
    }
}

#[test]
fn which_items_of_a_user_are_kept_does_not_depend_on_other_users() {
    let alone = |user: u64| {
        let mut builder = sorted(terms(2, 1, Clipping::Off));
        (0..20).for_each(|item| push(&mut builder, user, item, 1));
        builder.finish().unwrap().0
    };
    let mut together = spilling(terms(2, 1, Clipping::Off));
    for item in 0..20 {
        (0..50).for_each(|user| push(&mut together, user, item, 1));
    }
    let mut sum = alone(0);
    let disjoint = dp_noise::DisjointParts::EachUnitInOnePart;
    (1..50).for_each(|user| sum.merge_disjoint(&alone(user), disjoint).unwrap());
    assert_eq!(together.finish().unwrap().0, sum);
}

#[test]
fn rows_without_user_item_or_weight_are_left_out() {
    let mut builder = sorted(terms(2, 9, Clipping::Off));
    builder.push_weighted_row(None, [Some(Item::from("a"))], Some(Item::from("1"))).unwrap();
    builder.push_weighted_row(Some(Item::from("u")), [None], Some(Item::from("1"))).unwrap();
    builder.push_weighted_row(Some(Item::from("u")), [Some(Item::from("a"))], None).unwrap();
    builder.push_row(Some(Item::from("u")), [Some(Item::from("a"))]).unwrap();
    assert_eq!(builder.counts(), FrequencyCounts { rows: 4, nulls: 3, clipped: 0, zeroed: 0 });
    for user in [Some(Item::from("u")), None] {
        builder.push_weighted_row(user, [Some(Item::from("a"))], Some(Item::from("0.3"))).unwrap();
    }
    assert_eq!(builder.counts(), FrequencyCounts { rows: 6, nulls: 4, clipped: 0, zeroed: 1 });
    let (_, users) = builder.finish().unwrap();
    assert_eq!((users.rows, users.users, users.kept), (6, 1, 1));
}

#[test]
fn a_user_who_comes_back_or_a_weight_that_is_none_gives_the_build_up() {
    let mut builder = sorted(terms(2, 9, Clipping::Off));
    for user in ["a", "b"] {
        builder.push_row(Some(Item::from(user)), [Some(Item::from("x"))]).unwrap();
    }
    let error = builder.push_row(Some(Item::from("a")), [Some(Item::from("x"))]).unwrap_err();
    assert!(error.message().contains("row 3 "), "{error}");
    assert!(builder.push_row(Some(Item::from("b")), [Some(Item::from("x"))]).is_err() && builder.finish().is_err());

    let mut builder = spilling(terms(2, 9, Clipping::Off));
    let error = builder.push_weighted_row(Some(Item::from("a")), [Some(Item::from("x"))], Some(Item::from("x")));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Damaged);
    assert!(builder.finish().is_err());
}

#[test]
fn terms_for_records_or_totals_are_refused() {
    let shape = CountSketchShape::new(3, 64).unwrap();
    let total = countsketch_dp::ContributionBound::user_total(5).unwrap();
    let by_total = CountSketchTerms::new(shape, Granularity::ONE, total);
    for terms in [CountSketchTerms::records(shape, Granularity::ONE, 5).unwrap(), by_total] {
        let refused = UserFrequencyBuilder::sorted(terms, AnyHash::default(), TextRules::default(), HashKey::DEFAULT);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Parameter);
    }
}
