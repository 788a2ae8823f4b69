use sketch_hash::HashKey;

use super::*;
use crate::shape::CountSketchShape;

fn hash() -> DefaultHash {
    DefaultHash::new(HashKey::from_bytes([5; 16]))
}

fn rows(rows: u8, width: u32) -> RowHashes {
    RowHashes::new(CountSketchShape::new(rows, width).unwrap(), hash().id())
}

fn kept(records: &[(u64, i64)], bound: ContributionBound, rows: &RowHashes) -> Vec<(u64, i64)> {
    let mut user = UserContribution::new(hash());
    for &(key, weight) in records {
        user.add_hash(key, weight);
    }
    let kept = user.bounded(bound, rows);
    kept.keys.iter().copied().zip(kept.weights.iter().copied()).collect()
}

/// The squared norm of the cells of some items, from the definition.
fn squared_norm(items: &[(u64, i64)], rows: &RowHashes) -> u128 {
    let mut cells = std::collections::BTreeMap::new();
    for row in 0..rows.len() {
        for &(key, weight) in items {
            let (bucket, sign) = rows.bucket_and_sign(row, key);
            *cells.entry((row, bucket)).or_insert(0_i128) += i128::from(sign * weight);
        }
    }
    cells.values().map(|cell| cell.unsigned_abs().pow(2)).sum()
}

#[test]
fn weights_of_one_item_add_up_before_they_are_bounded() {
    let bound = ContributionBound::user_items(4, 5).unwrap();
    let rows = rows(3, 8);
    assert_eq!(kept(&[(1, 3), (1, 4)], bound, &rows), [(1, 5)]);
    assert_eq!(kept(&[(1, 9), (1, -7)], bound, &rows), [(1, 2)]);
    assert_eq!(kept(&[(1, 9), (1, -9)], bound, &rows), []);
    assert_eq!(kept(&[(1, i64::MIN), (1, i64::MIN), (1, i64::MAX)], bound, &rows), [(1, -5)]);
}

#[test]
fn a_total_weight_is_used_up_in_the_order_of_the_items() {
    let rows = rows(3, 8);
    let records: Vec<(u64, i64)> = (0..20).map(|n| (n, if n % 2 == 0 { 3 } else { -3 })).collect();
    for total in 1..=60 {
        let kept = kept(&records, ContributionBound::user_total(total).unwrap(), &rows);
        assert_eq!(kept.iter().map(|(_, weight)| weight.unsigned_abs()).sum::<u64>(), total);
        assert!(kept.iter().all(|(key, weight)| (weight > &0) == (key % 2 == 0)));
        assert!(kept.iter().rev().skip(1).all(|(_, weight)| weight.abs() == 3), "only the last one in part");
    }
}

#[test]
fn the_first_items_are_kept_whatever_the_order_of_the_records() {
    let (rows, bound) = (rows(3, 8), ContributionBound::user_items(5, 2).unwrap());
    let records: Vec<(u64, i64)> = (0..50).map(|n| (n, 1)).collect();
    let forward = kept(&records, bound, &rows);
    let backward = kept(&records.iter().rev().copied().collect::<Vec<_>>(), bound, &rows);
    assert_eq!((forward.len(), &forward), (5, &backward));
    let keys: Vec<u64> = forward.iter().map(|item| item.0).collect();
    assert_ne!(keys, [0, 1, 2, 3, 4], "the order is pseudo-random");
}

#[test]
fn the_bound_on_items_does_not_depend_on_the_memory_there_is() {
    // An allocator may give more room than was asked for.
    let items: Vec<(u64, i128)> = (0..10).map(|n| (n, 1)).collect();
    for room in [0, 3, 100] {
        let mut kept = Kept::with_capacity(room);
        kept.take_items(&items, 3, 1);
        assert_eq!((kept.keys.len(), kept.weights.len()), (3, 3), "room for {room}");
    }
}

#[test]
fn clipping_keeps_the_longest_beginning_that_fits() {
    let rows = rows(5, 16);
    let records: Vec<(u64, i64)> = (0..30).map(|n| (n * 7, i64::try_from(n % 5).unwrap() - 2)).collect();
    let all = kept(&records, ContributionBound::user_items(30, 2).unwrap(), &rows);
    let norms: Vec<u128> = (0..=all.len()).map(|n| squared_norm(&all[..n], &rows)).collect();
    for bound in 1..=norms.iter().max().unwrap() + 1 {
        let clipped = kept(&records, ContributionBound::clipped(30, 2, bound).unwrap(), &rows);
        let longest = (0..=all.len()).rev().find(|&n| norms[n] <= bound).unwrap();
        assert_eq!(clipped, all[..longest], "C² = {bound}");
    }
}

#[test]
fn clipping_counts_what_really_collides() {
    // In two buckets 20 items of weight 1 must collide; the bound of a hundredth of k m² keeps a few.
    let rows = rows(1, 2);
    let records: Vec<(u64, i64)> = (0..20).map(|n| (n, 1)).collect();
    let kept = kept(&records, ContributionBound::clipped(20, 1, 4).unwrap(), &rows);
    assert!(squared_norm(&kept, &rows) <= 4 && !kept.is_empty());
}

#[test]
fn the_largest_weights_do_not_overflow() {
    let rows = rows(255, 2);
    let records: Vec<(u64, i64)> = (0..1 << 10).map(|n| (n, i64::MAX)).collect();
    let bound = ContributionBound::clipped(1 << 10, 1 << 46, u128::MAX).unwrap();
    assert_eq!(kept(&records, bound, &rows).len(), 1 << 10);
}

#[test]
fn many_records_of_few_items_take_little_memory() {
    let mut user = UserContribution::new(hash());
    (0..100_000_u64).for_each(|n| user.add_hash(n % 100, 1));
    assert!(user.items.capacity() <= 256, "{}", user.items.capacity());
    let bound = ContributionBound::user_items(100, 5000).unwrap();
    let kept = user.bounded(bound, &rows(3, 8));
    assert!(kept.keys.len() == 100 && kept.weights.iter().all(|&weight| weight == 1000));
}
