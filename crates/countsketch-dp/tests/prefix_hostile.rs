//! Stacks that nobody meant well with. Every forged stack carries right checksums, its own and those of its levels, so that
//! it is the checks behind them that refuse it.

mod parts;
mod support;

use countsketch_dp::{
    BudgetSplit, DecodeError, PrefixLayout, PrefixStack, PrivateCountSketch, PrivatePrefixStack, prefix_hash_id,
};
use dp_noise::{DisjointParts, Neighbouring};
use parts::{Parts, is_sealed};
use proptest::prelude::*;
use sketch_hash::DefaultHash;
use sketch_testkit::{
    CountingAllocator, assert_accepted_is_canonical, assert_damage_is_refused, measure_thread, reseal,
};
use support::{entry, epsilon, noise, other_key, raw, rho, shape};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn read(bytes: &[u8]) -> Result<PrivatePrefixStack, DecodeError> {
    PrivatePrefixStack::from_bytes_allowing_insecure_noise(bytes, DefaultHash::default())
}

fn read_raw(bytes: &[u8]) -> Result<PrefixStack, DecodeError> {
    PrefixStack::from_sensitive_bytes(bytes, DefaultHash::default())
}

/// A plain level of 4 cells and two sketched ones of 6.
fn small() -> PrefixStack {
    let layout = PrefixLayout::with_lengths(vec![2, 4, 7], shape(3, 2)).expect("a valid layout");
    let mut raw = PrefixStack::new(layout, DefaultHash::default(), entry(2)).expect("not clipped");
    raw.update(100, 2).expect("within the bound");
    raw
}

fn released(seed: u64) -> PrivatePrefixStack {
    small().release(rho(0.75), &mut noise(seed)).expect("a release")
}

fn is_level(found: &Result<PrivatePrefixStack, DecodeError>, level: usize) -> bool {
    matches!(found, Err(DecodeError::Level { level: found }) if *found == level)
}

/// Offsets in the file of a level with one release.
const GRANULARITY: usize = 32 + 14;
const LEAF: usize = 32 + 23;
/// And in that of a raw level.
const RAW_BOUND: usize = 32 + 15;

#[test]
fn damaged_files_are_refused() {
    assert_damage_is_refused(&released(1).to_bytes(), read);
    assert_damage_is_refused(&small().to_sensitive_bytes(), read_raw);
}

#[test]
fn forged_files_are_refused_or_canonical() {
    let private = released(1);
    assert_accepted_is_canonical(&private.to_bytes(), read, PrivatePrefixStack::to_bytes);
    assert_accepted_is_canonical(&small().to_sensitive_bytes(), read_raw, |raw| raw.to_sensitive_bytes().to_vec());
    // Every bit of every level, behind right checksums.
    let parts = Parts::of(&private.to_bytes());
    assert_eq!(parts.to_bytes(), private.to_bytes());
    let mut accepted = 0;
    for level in 0..3 {
        for bit in (0..8 * parts.levels[level].1.len()).filter(|bit| !is_sealed(bit / 8)) {
            let byte = parts.levels[level].1[bit / 8] ^ (1 << (bit % 8));
            let forged = parts.patched(level, bit / 8, &[byte]);
            if let Ok(stack) = read(&forged) {
                accepted += 1;
                assert!(stack.to_bytes() == forged, "level {level} bit {bit}");
            }
        }
    }
    // All but one bit of each of 16 cells, and more of names and costs.
    assert!(accepted > 16 * 63, "{accepted}");
}

#[test]
fn forged_raw_levels_are_refused_or_canonical() {
    let bytes = small().to_sensitive_bytes();
    let parts = Parts::of(&bytes);
    for level in 0..3 {
        for bit in (0..8 * parts.levels[level].1.len()).filter(|bit| !is_sealed(bit / 8)) {
            let byte = parts.levels[level].1[bit / 8] ^ (1 << (bit % 8));
            let forged = parts.patched(level, bit / 8, &[byte]);
            if let Ok(stack) = read_raw(&forged) {
                assert!(stack.to_sensitive_bytes()[..] == forged, "level {level} bit {bit}");
                let at = bit / 8;
                assert!(at >= 32 + 60, "level {level}: byte {at} differs from the other levels");
            }
        }
    }
}

#[test]
fn levels_must_be_those_of_the_layout() {
    let parts = Parts::of(&released(1).to_bytes());
    let refused = |change: &dyn Fn(&mut Parts)| read(&parts.changed(change)).expect_err("no stack has such levels");
    assert!(matches!(refused(&|p| p.levels.clear()), DecodeError::Shape(_)));
    for lengths in [[2, 4, 4], [4, 2, 7], [0, 4, 7], [2, 4, 65], [2, 4, 21], [2, 4, 255]] {
        let change = |p: &mut Parts| p.levels.iter_mut().zip(lengths).for_each(|(level, length)| level.0 = length);
        assert!(matches!(refused(&change), DecodeError::Shape(_)), "{lengths:?}");
    }
    // More or fewer prefixes than the plain level has cells.
    for length in [1, 3] {
        let found = read(&parts.changed(|p| p.levels[0].0 = length));
        assert!(is_level(&found, 0), "{length}");
    }
    // Shapes that the files do not have, of any size.
    for (rows, width) in [(5, 2), (3, 3), (1, 6), (3, 1 << 24)] {
        let found = refused(&|p| (p.rows, p.width) = (rows, width));
        assert!(matches!(found, DecodeError::Level { .. } | DecodeError::Shape(_)), "{rows} {width}: {found}");
    }
    for (rows, width) in [(2, 2), (0, 2), (3, 0), (3, 1), (3, u32::MAX), (255, 1 << 24)] {
        assert!(matches!(refused(&|p| (p.rows, p.width) = (rows, width)), DecodeError::Shape(_)), "{rows} {width}");
    }
    let swapped = |p: &mut Parts| (p.levels[0].1, p.levels[1].1) = (p.levels[1].1.clone(), p.levels[0].1.clone());
    assert!(is_level(&Err(refused(&swapped)), 0));
}

#[test]
fn files_of_levels_must_be_private_sketches_of_the_right_hash() {
    let parts = Parts::of(&released(1).to_bytes());
    let raw_parts = Parts::of(&small().to_sensitive_bytes());
    let foreign = raw_parts.levels[1].1.clone();
    assert!(matches!(read(&parts.changed(|p| p.levels[1].1 = foreign)), Err(DecodeError::Wire(_))));
    for file in [vec![], parts.to_bytes(), vec![0; 32]] {
        assert!(matches!(read(&parts.changed(|p| p.levels[1].1 = file)), Err(DecodeError::Wire(_))));
    }
    // A fingerprint of another key, in a plain level and in a sketched one.
    for level in [0, 1] {
        let forged = parts.patched(level, 32 + 6, &1_u64.to_le_bytes());
        assert!(matches!(read(&forged), Err(DecodeError::HashMismatch { .. })), "level {level}");
    }
    let bytes = released(1).to_bytes();
    let other = PrivatePrefixStack::from_bytes_allowing_insecure_noise(&bytes, other_key());
    assert!(matches!(other, Err(DecodeError::HashMismatch { .. })));
    // Levels in which noise and cost do not agree.
    assert!(matches!(read(&parts.patched(2, LEAF + 91, &1e-3_f64.to_le_bytes())), Err(DecodeError::Leaf { index: 0 })));
}

/// What a level paid must be of the unit of the others, or the sum would be nobody's.
#[test]
fn levels_of_different_histories_are_refused() {
    let parts = Parts::of(&released(1).to_bytes());
    // A finer grid; a bound of 1 instead of 2, of a user instead of a record: all with noise enough.
    assert!(is_level(&read(&parts.patched(1, GRANULARITY, &[1])), 1));
    assert!(is_level(&read(&parts.patched(2, LEAF + 63, &1_u64.to_le_bytes())), 2));
    assert!(is_level(&read(&parts.patched(2, LEAF + 58, &[3])), 2));
    assert!(is_level(&read(&parts.patched(2, LEAF + 49, &(-1_i64).to_le_bytes())), 2));
    // The first level is the one that others are held against.
    assert!(is_level(&read(&parts.patched(0, LEAF + 49, &(-1_i64).to_le_bytes())), 1));
    let with = |level: PrivateCountSketch| read(&parts.changed(|p| p.levels[1].1 = level.to_bytes()));
    let sketch = || raw(shape(3, 2), entry(2), []);
    let one = || sketch().release(rho(0.25), &mut noise(7)).expect("a release");
    assert!(with(one()).is_ok(), "a level of another stack of this kind");
    assert!(is_level(&with(sketch().release_laplace(epsilon(0.5), &mut noise(7)).expect("a release")), 1));
    let replaced = sketch().release_with(Neighbouring::Substitute, rho(0.25), &mut noise(7)).expect("a release");
    assert!(is_level(&with(replaced), 1));
    let two = sketch().release(rho(0.25), &mut noise(8)).expect("a release");
    assert!(is_level(&with(one().merge(&two).expect("two releases")), 1));

    // Sums of levels that were joined in different ways.
    let [left, right] = [released(1), released(2)];
    let sum = Parts::of(&left.merge(&right).expect("two releases").to_bytes());
    let apart = left.merge_disjoint(&right, DisjointParts::EachUnitInOnePart).expect("two releases");
    let apart = Parts::of(&apart.to_bytes());
    assert!(read(&sum.to_bytes()).is_ok() && read(&apart.to_bytes()).is_ok());
    assert!(is_level(&read(&sum.changed(|p| p.levels[2].1.clone_from(&apart.levels[2].1))), 2));
}

#[test]
fn clipped_bounds_and_mixed_flags_are_refused() {
    let parts = Parts::of(&released(1).to_bytes());
    let clipped = |shape| {
        let bound = countsketch_dp::ContributionBound::clipped(1, 2, 100).expect("a valid bound");
        raw_of(shape, bound)
    };
    let forged = parts.changed(|p| {
        for (level, shape) in p.levels.iter_mut().zip([shape(1, 4), shape(3, 2), shape(3, 2)]) {
            level.1 = clipped(shape).release(rho(0.25), &mut noise(1)).expect("a release").to_bytes();
        }
    });
    assert!(is_level(&read(&forged), 0));
    let raw_forged = Parts::of(&small().to_sensitive_bytes()).changed(|p| {
        for (level, shape) in p.levels.iter_mut().zip([shape(1, 4), shape(3, 2), shape(3, 2)]) {
            level.1 = clipped(shape).to_sensitive_bytes().to_vec();
        }
    });
    assert!(matches!(read_raw(&raw_forged), Err(DecodeError::Level { level: 0 })));
    // The insecure flag of the whole, then of one level, taken away.
    let flag = |bytes: &mut Vec<u8>| bytes[7] &= !4;
    assert!(matches!(read(&parts.changed(|p| flag(&mut p.header))), Err(DecodeError::Wire(_))));
    let secure_level = parts.changed(|p| {
        flag(&mut p.levels[1].1);
        reseal(&mut p.levels[1].1);
    });
    assert!(is_level(&read(&secure_level), 1));
}

fn raw_of(shape: countsketch_dp::CountSketchShape, bound: countsketch_dp::ContributionBound) -> support::Raw {
    countsketch_dp::CountSketch::new(shape, DefaultHash::default(), bound)
}

#[test]
fn raw_levels_must_agree() {
    let parts = Parts::of(&small().to_sensitive_bytes());
    for level in 1..3 {
        for (at, value) in [(GRANULARITY, 1), (RAW_BOUND + 5, 1), (RAW_BOUND, 3), (RAW_BOUND + 33, 1)] {
            let found = read_raw(&parts.patched(level, at, &[value]));
            assert!(matches!(found, Err(DecodeError::Level { level: found }) if found == level), "{level} {at}");
        }
    }
    let other = PrefixStack::from_sensitive_bytes(&parts.to_bytes(), other_key());
    assert!(matches!(other, Err(DecodeError::HashMismatch { .. })));
}

#[test]
fn a_short_file_takes_little_memory_whatever_it_claims() {
    let split = BudgetSplit::Weights(vec![1, 1, 2]);
    let released = small().release_with(Neighbouring::AddRemove, &split, rho(1.0), &mut noise(1)).expect("a release");
    for bytes in [released.to_bytes(), small().to_sensitive_bytes().to_vec()] {
        for at in 32..bytes.len() - 7 {
            for claim in [1_u64 << 16, 1 << 26, 1 << 40] {
                let mut forged = bytes.clone();
                forged[at..at + 8].copy_from_slice(&claim.to_le_bytes());
                reseal(&mut forged);
                let ((), taken) = measure_thread(|| {
                    let _ = (read(&forged), read_raw(&forged), prefix_hash_id(&forged));
                });
                assert!(taken.peak < 1 << 17, "{} bytes for {claim} at {at}", taken.peak);
            }
        }
    }
    // A list of levels as long as the body.
    let many = Parts::of(&small().to_sensitive_bytes()).changed(|p| p.levels = vec![(1, vec![]); 7000]);
    let (found, taken) = measure_thread(|| read_raw(&many).is_ok());
    assert!(!found && taken.peak < 1 << 19, "{} bytes for {}", taken.peak, many.len());
}

proptest! {
    #[test]
    fn random_bodies_never_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
        for template in [released(1).to_bytes(), small().to_sensitive_bytes().to_vec()] {
            let mut bytes = template[..32].to_vec();
            bytes.extend(&body);
            reseal(&mut bytes);
            let _ = (read(&bytes), read_raw(&bytes), prefix_hash_id(&bytes));
        }
    }
}
