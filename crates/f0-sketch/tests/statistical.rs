//! Frequencies from fixed seeds; each bound is missed by a right build less than once in a million.
#![expect(clippy::cast_precision_loss, reason = "53 digits are enough to be compared with a sample")]

mod support;

use f0_sketch::diagnostics::place;
use f0_sketch::{F0Sketch, MaxWeight, NoiseRule, Presampled, Set, Unit, WeightRule};
use sketch_hash::{DefaultHash, Item};
use sketch_testkit::{assert_binomial, assert_frequencies};
use support::{empty, general, noise, permit, raw, shape, stream};

#[test]
fn hashed_items_fall_into_tables_and_cells_as_their_shares_say() {
    for shape in [shape(8, 20), general()] {
        let tables: Vec<_> = shape.tables().collect();
        let mut by_table = vec![0; tables.len()];
        let mut by_cell: Vec<Vec<u64>> = tables.iter().map(|table| vec![0; table.cells as usize]).collect();
        for item in 0..400_000_u64 {
            let (table, cell) = place(&shape, Item::from(item).hash128(&DefaultHash::default()));
            by_table[table] += 1;
            by_cell[table][cell] += 1;
        }
        let shares: Vec<f64> = tables.iter().map(|table| table.share as f64 / 2_f64.powi(63)).collect();
        assert_frequencies(&by_table, &shares);
        for counts in by_cell {
            assert_frequencies(&counts, &vec![1.0 / counts.len() as f64; counts.len()]);
        }
    }
}

#[test]
fn cells_are_flipped_as_often_as_leaves_say() {
    for (seed, level) in (0..).zip([0.1, 0.5, 1.0, 2.0, 6.0]) {
        for rule in [NoiseRule::Tight, NoiseRule::Paper] {
            let set = empty::<Set>(shape(24, 4096)).release_with(rule, Unit::Item, permit(level), &mut noise(seed));
            let set = set.expect("a release");
            assert_binomial(set.ones_per_table().iter().sum(), 98_304, set.leaves()[0].flip_probability());
            let coins = empty::<Presampled>(shape(24, 4096));
            let coins = coins.release_with(rule, Unit::Item, permit(level), &mut noise(seed + 100)).expect("a release");
            assert_binomial(coins.ones_per_table().iter().sum(), 98_304, coins.leaves()[0].flip_probability());
        }
    }
}

/// Ones of raw cells, read from its bytes.
fn ones(bytes: &[u8], cells: usize) -> u64 {
    bytes[bytes.len() - cells / 8..].iter().map(|byte| u64::from(byte.count_ones())).sum()
}

#[test]
fn an_item_is_kept_as_often_as_its_weight_says() {
    // One cell an item: few items in many cells, none of which meet.
    let max = MaxWeight::new(8.0).expect("in range");
    for (seed, value) in (0_u64..).zip([0.5, 1.0, 3.0, 7.9]) {
        let mut kept = 0;
        for item in 0..40_000 {
            let rule = WeightRule::Weighted(max);
            let mut sketch: F0Sketch = F0Sketch::new(shape(1, 64), rule, DefaultHash::default());
            sketch
                .toggle_u64_weighted(item + seed * 1_000_000, max.weight(value).expect("in range"))
                .expect("weighted");
            kept += u64::from(!sketch.is_zero());
        }
        assert_binomial(kept, 40_000, value / 8.0);
    }
}

#[test]
fn an_item_that_occurs_is_there_half_of_the_time_whatever_its_multiplicity() {
    let mut coins = noise(5);
    for times in 1..=4 {
        let mut there = 0;
        for _ in 0..20_000 {
            there += u64::from(!stream(shape(1, 64), &vec![7; times], &mut coins).is_zero());
        }
        assert_binomial(there, 20_000, 0.5);
    }
    // One by one, too.
    let mut there = 0;
    for _ in 0..20_000 {
        let mut sketch = empty::<Presampled>(shape(1, 64));
        (0..3).for_each(|_| sketch.observe(b"x", &mut coins));
        there += u64::from(!sketch.is_zero());
    }
    assert_binomial(there, 20_000, 0.5);
}

/// In a table of `m` cells with `n` toggles a cell is 1 with probability `(1 − (1 − 2/m)^n)/2`. Cells are nearly independent,
/// with a slightly smaller variance than the binomial one.
#[test]
fn parities_follow_their_law() {
    let shape = shape(1, 1 << 16);
    for n in [3_000, 30_000, 100_000_u64] {
        let sketch = raw(shape.clone(), 0..n);
        let rate = (1.0 - (1.0 - 2.0 / 65_536.0_f64).powf(n as f64)) / 2.0;
        assert_binomial(ones(&sketch.to_sensitive_bytes(), shape.cells()), 65_536, rate);
    }
}
