use sketch_testkit::assert_frequencies;

use super::*;

fn tables(list: &[(u64, u32)]) -> Vec<Table> {
    list.iter().map(|&(share, cells)| Table { share, cells }).collect()
}

/// A uniform word, from the definition of `SplitMix64` [SLF14].
fn words(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |step: u64| {
        let mut z = seed.wrapping_add(step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

#[test]
fn shares_of_regular_shapes_halve_and_add_up() {
    for levels in 1..=64_u8 {
        let shape = F0Shape::new(levels, 3).unwrap();
        let shares: Vec<u64> = shape.tables().map(|table| table.share).collect();
        assert_eq!(shares.len(), usize::from(levels));
        assert_eq!(shares.iter().map(|&share| u128::from(share)).sum::<u128>(), 1 << 63);
        for (level, &share) in shares[..shares.len() - 1].iter().enumerate() {
            assert_eq!(share, 1 << (62 - level));
        }
        assert_eq!(shares.last(), Some(&(1 << (64 - levels))));
    }
}

#[test]
fn shapes_out_of_range_are_refused() {
    assert_eq!(F0Shape::new(0, 8), Err(ShapeError::Levels { found: 0 }));
    assert_eq!(F0Shape::new(65, 8), Err(ShapeError::Levels { found: 65 }));
    // An item in one cell with probability 1/2 or more is not seen: the cell is a fair bit whatever else is there.
    assert_eq!(F0Shape::new(1, 2), Err(ShapeError::FewCells { table: 0, least: 3, found: 2 }));
    assert_eq!(F0Shape::new(2, 1), Err(ShapeError::FewCells { table: 0, least: 2, found: 1 }));
    assert!(F0Shape::new(1, 3).is_ok() && F0Shape::new(2, 2).is_ok());
    assert_eq!(F0Shape::new(1, 0), Err(ShapeError::FewCells { table: 0, least: 3, found: 0 }));
    assert_eq!(F0Shape::new(64, 1 << 21), Err(ShapeError::ManyCells { found: 1 << 27 }));
    assert_eq!(F0Shape::new(1, u32::MAX), Err(ShapeError::ManyCells { found: (1 << 32) - 1 }));
    assert!(F0Shape::new(1, 1 << 26).is_ok());

    assert_eq!(F0Shape::with_tables(&[]), Err(ShapeError::Tables { found: 0 }));
    assert_eq!(F0Shape::with_tables(&tables(&[(1, 9); 256])), Err(ShapeError::Tables { found: 256 }));
    let half = 1 << 62;
    assert_eq!(
        F0Shape::with_tables(&tables(&[(half, 4), (0, 4), (half, 4)])),
        Err(ShapeError::EmptyShare { table: 1 })
    );
    assert_eq!(
        F0Shape::with_tables(&tables(&[(half, 4), (half - 1, 4)])),
        Err(ShapeError::Shares { found: (1 << 63) - 1 })
    );
    assert_eq!(
        F0Shape::with_tables(&tables(&[(u64::MAX, 9)])),
        Err(ShapeError::Shares { found: u128::from(u64::MAX) })
    );
    // Shares add up in more than 64 bits.
    assert!(F0Shape::with_tables(&tables(&[(1 << 63, 4), (1 << 63, 4), (1 << 63, 4)])).is_err());
}

#[test]
fn a_regular_layout_has_one_spelling() {
    let regular = F0Shape::new(3, 8).unwrap();
    let spelled: Vec<Table> = regular.tables().collect();
    let again = F0Shape::with_tables(&spelled).unwrap();
    assert_eq!((again.cells_per_level(), &again), (Some(8), &regular));
    let other = F0Shape::with_tables(&tables(&[(1 << 62, 8), (1 << 62, 16)])).unwrap();
    assert_eq!((other.cells_per_level(), other.levels(), other.cells()), (None, 2, 24));
    assert_eq!(other.to_string(), "2 tables of 24 cells");
}

#[test]
fn general_placement_agrees_with_leading_zeros() {
    for levels in [1, 2, 7, 24, 63, 64] {
        let regular = F0Shape::new(levels, 5).unwrap();
        let spelled: Vec<Table> = regular.tables().collect();
        let (fast, general) = (regular.placement(), Placement::General(runs(&spelled)));
        let prepared = RegularCells::new(levels, 5);
        let edges = (0..64).flat_map(|k| [1_u64 << k, (1 << k) - 1, (1 << k) + 1]).chain([0, u64::MAX]);
        for (h1, h2) in edges.chain(words(1).take(2000)).zip(words(2)) {
            assert_eq!(fast.cell([h1, h2]), general.cell([h1, h2]), "{levels} levels, {h1:x}");
            assert_eq!(prepared.cell(prepared.prepare([h1, h2])), fast.cell([h1, h2]), "{levels} levels, {h1:x}");
        }
    }
}

#[test]
fn runs_are_as_long_as_their_shares() {
    let shares = [3_u64 << 60, 1, 7 << 55, 12345];
    let rest = F0Shape::WHOLE - shares.iter().sum::<u64>();
    let list = tables(&[(shares[0], 4), (shares[1], 5), (shares[2], 6), (shares[3], 7), (rest, 8)]);
    let shape = F0Shape::with_tables(&list).unwrap();
    let placement = shape.placement();
    let offsets: Vec<usize> = shape.ranges().map(|range| range.start).collect();
    let (mut start, h2) = (0_u64, 0);
    for (table, offset) in list.iter().zip(offsets) {
        // The first and the last number of the run, each for both values of the bit that is not used.
        for number in [start, start + table.share - 1] {
            for low in [0, 1] {
                assert_eq!(placement.cell([!(number << 1 | low), h2]), offset);
            }
        }
        start += table.share;
    }
}

/// The levels of a plan: the last level is not crowded, and one level fewer would be.
#[test]
fn levels_follow_from_the_largest_count() {
    for mode in [ModeKind::Set, ModeKind::Presampled] {
        let factor = if mode == ModeKind::Set { 2 } else { 1 };
        for n_max in [0, 1, 100, 4096, 10_000_000, u64::MAX] {
            for cells in [64, 4096, 65_536] {
                let levels = F0Shape::for_distinct(n_max, cells, mode).unwrap().levels();
                let crowded = |levels: u8| u128::from(n_max) * factor > u128::from(cells) << (levels - 1);
                assert!(!crowded(levels), "{n_max} {cells}");
                assert!(levels == 1 || crowded(levels - 1), "{n_max} {cells}");
            }
        }
    }
}

/// False alarm 10⁻⁶ each; the seeds are fixed.
#[test]
fn tables_and_cells_are_as_frequent_as_their_shares() {
    let general = F0Shape::with_tables(&tables(&[(3 << 60, 5), (1 << 61, 16), (3 << 60, 7)])).unwrap();
    for (seed, shape) in [(3, F0Shape::new(6, 11).unwrap()), (4, general)] {
        let placement = shape.placement();
        let mut counts = vec![0; shape.cells()];
        for (h1, h2) in words(seed).zip(words(seed + 100)).take(500_000) {
            counts[placement.cell([h1, h2])] += 1;
        }
        let rates: Vec<f64> = shape
            .tables()
            .flat_map(|table| {
                #[expect(clippy::cast_precision_loss, reason = "53 digits are enough to be compared with a sample")]
                let rate = table.share as f64 / 2.0_f64.powi(63) / f64::from(table.cells);
                vec![rate; table.cells as usize]
            })
            .collect();
        assert_frequencies(&counts, &rates);
    }
}
