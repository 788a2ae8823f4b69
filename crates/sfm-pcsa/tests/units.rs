//! Units of privacy by enumeration: an item of a Bloom filter, and a user with several items.
//!
//! What a release shows of one unit are the cells that the unit may set, so their joint law is enumerated, with the flip
//! probabilities that the released sketch states. All other cells have one law with and without the unit.

mod support;

use sfm_pcsa::diagnostics::level_of_a_cell;
use sfm_pcsa::dp_noise::Epsilon;
use sfm_pcsa::{BitmapShape, BloomShape, LegionsShape, LinearShape, Mechanism, MergeError, ReleaseError, Unit};
#[cfg(feature = "os-rng")]
use sfm_pcsa::{MergeForm, PrivateBitmap};
use support::{noise, permit, raw, shape};

const MECHANISMS: [Mechanism; 2] = [Mechanism::Symmetric, Mechanism::XorFamily];

fn user(max_items: u32) -> Unit {
    Unit::user(max_items).expect("at least one item")
}

/// P(1→1) and P(0→1) of one release.
#[expect(clippy::cast_precision_loss, reason = "a probability may round")]
fn flips<S: BitmapShape>(shape: S, mechanism: Mechanism, unit: Unit, epsilon: f64) -> (f64, f64) {
    let private = raw(shape, 0..3).release_with(mechanism, unit, permit(epsilon), &mut noise(1)).expect("a release");
    let [leaf] = private.leaves() else { panic!("one release") };
    assert_eq!((leaf.unit(), leaf.epsilon().get()), (unit, epsilon));
    assert!(leaf.realised_level() <= epsilon && leaf.realised_level() > epsilon * (1.0 - 1e-9));
    let real = |numerator: u64| numerator as f64 / 2f64.powi(64);
    (real(leaf.p_numerator()), real(leaf.q_numerator()))
}

/// The largest log-ratio between the joint laws of `cells` noisy cells that a unit sets and that it does not.
///
/// The other data may have set any of them, so every pair of states `without ≤ with` counts.
fn loss((p, q): (f64, f64), cells: u32) -> f64 {
    let probability = |seen: u32, state: u32| -> f64 {
        (0..cells)
            .map(|cell| {
                let one = if state >> cell & 1 == 1 { p } else { q };
                if seen >> cell & 1 == 1 { one } else { 1.0 - one }
            })
            .product()
    };
    let all = (1 << cells) - 1;
    let mut worst = 0.0_f64;
    for without in 0..=all {
        for seen in 0..=all {
            // Leaving the unit out can only clear cells; with it all are set.
            let ratio: f64 = probability(seen, all) / probability(seen, without);
            worst = worst.max(ratio.ln().abs());
        }
    }
    worst
}

#[test]
fn an_item_of_a_bloom_filter_costs_epsilon_over_all_its_cells() {
    for hashes in 1..=6_u8 {
        for (mechanism, epsilon) in MECHANISMS.into_iter().zip([0.7, 3.0]) {
            let flips = flips(BloomShape::new(50, hashes).expect("in range"), mechanism, Unit::Item, epsilon);
            let found = loss(flips, u32::from(hashes));
            // Tight when no two of the cells are one.
            assert!((found - epsilon).abs() < 1e-11, "{hashes} hashes: {found} for {epsilon}");
            for fewer in 1..hashes {
                assert!(loss(flips, u32::from(fewer)) < epsilon);
            }
        }
    }
}

#[test]
fn an_item_of_one_cell_costs_epsilon() {
    for mechanism in MECHANISMS {
        for flips in [
            flips(LinearShape::new(50).expect("in range"), mechanism, Unit::Item, 1.3),
            flips(LegionsShape::new(50, 5.0).expect("in range"), mechanism, Unit::Item, 1.3),
            flips(shape(64, 8), mechanism, Unit::Item, 1.3),
        ] {
            assert!((loss(flips, 1) - 1.3).abs() < 1e-12);
        }
    }
}

#[test]
fn a_user_costs_epsilon_over_all_its_items() {
    for max_items in 1..=8 {
        for mechanism in MECHANISMS {
            let found = loss(flips(shape(64, 8), mechanism, user(max_items), 2.0), max_items);
            assert!((found - 2.0).abs() < 1e-11, "{max_items} items: {found}");
        }
    }
    // Two hashes for each of four items.
    let found = loss(flips(BloomShape::new(50, 2).expect("in range"), Mechanism::Symmetric, user(4), 5.0), 8);
    assert!((found - 5.0).abs() < 1e-11, "{found}");
}

#[test]
fn the_level_of_a_cell_times_the_cells_of_a_unit_never_exceeds_epsilon() {
    for epsilon in [0.1, 0.3, 1.0, 2.9, 7.7] {
        let epsilon = Epsilon::new(epsilon).expect("in range");
        for max_items in [1, 3, 7, 49, 1000, 65_537] {
            for hashes in [1, 3, 10, 64] {
                let cell = level_of_a_cell(epsilon, user(max_items), hashes).expect("not too small").get();
                // The product is exact: 53 bits times 17 + 6 fit in two f64.
                let cells = f64::from(max_items) * f64::from(hashes);
                assert!(cell.mul_add(cells, -epsilon.get()) <= 0.0, "{cell} times {cells}");
            }
        }
    }
}

#[test]
fn so_many_items_that_nothing_is_left_are_refused() {
    let refused =
        raw(shape(64, 8), 0..3).release_with(Mechanism::Symmetric, user(u32::MAX), permit(1.0), &mut noise(1));
    let Err(ReleaseError::Share { unit, bits, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((unit, bits), (user(u32::MAX), u64::from(u32::MAX)));
}

#[cfg(feature = "os-rng")]
fn merged<S: BitmapShape>(shape: S, units: &[Unit]) -> PrivateBitmap<S> {
    let mut coins = sfm_pcsa::dp_noise::NoiseRng::from_os().expect("entropy");
    let parts: Vec<PrivateBitmap<S>> = units
        .iter()
        .map(|&unit| {
            raw(shape, 0..9).release_with(Mechanism::Symmetric, unit, permit(8.0), &mut coins).expect("a release")
        })
        .collect();
    PrivateBitmap::merge_all(&parts.iter().collect::<Vec<_>>(), MergeForm::Extremal, &mut coins)
        .expect("fresh releases")
}

#[cfg(feature = "os-rng")]
#[test]
fn merges_state_every_unit_and_a_level_only_for_one_kind() {
    let both = merged(shape(64, 8), &[Unit::Item, user(3), Unit::Item]);
    assert_eq!(both.units(), [Unit::Item, user(3)]);
    assert_eq!(both.epsilon_if_seen_alone(), None, "items and users have no common level");

    let users = merged(shape(64, 8), &[user(2), user(3)]);
    assert_eq!(users.units(), [user(2), user(3)]);
    // A user with two items in one data set and three others in the other changes five cells of the union.
    let expected = 5.0 * users.channel().dp_level();
    let stated = users.epsilon_if_seen_alone().expect("one kind of unit");
    assert!(stated >= expected * (1.0 - 1e-12) && stated <= (expected * (1.0 + 1e-9)).min(16.0), "{stated} {expected}");

    let bloom = merged(BloomShape::new(100, 4).expect("in range"), &[Unit::Item, Unit::Item]);
    let expected = 4.0 * bloom.channel().dp_level();
    let stated = bloom.epsilon_if_seen_alone().expect("one kind of unit");
    assert!(stated >= expected * (1.0 - 1e-12) && stated <= (expected * (1.0 + 1e-9)).min(16.0), "{stated} {expected}");
    let enumerated = loss((bloom.channel().p(), bloom.channel().q()), 4);
    assert!((enumerated - expected).abs() < 1e-9, "{enumerated} {expected}");
}

#[cfg(feature = "os-rng")]
#[test]
fn one_item_of_a_user_is_another_unit_than_an_item() {
    let [item, one] = [Unit::Item, user(1)].map(|unit| merged(shape(64, 8), &[unit]));
    assert_ne!(item.units(), one.units());
    assert_eq!(item.leaves()[0].q_numerator(), one.leaves()[0].q_numerator());
    assert_eq!(one.units()[0].to_string(), "one user with at most 1 item");
}

#[test]
fn data_bounded_for_users_is_released_for_them_only() {
    let bounded = || raw(shape(64, 8), 0..20).with_unit(user(4));
    for other in [Unit::Item, user(3), user(5)] {
        let refused = bounded().release_with(Mechanism::Symmetric, other, permit(1.0), &mut noise(1)).unwrap_err();
        assert!(matches!(refused, ReleaseError::Unit { expected, found } if (expected, found) == (user(4), other)));
        assert!(bounded().release_unseen_with(Mechanism::Symmetric, other, permit(1.0), &mut noise(1)).is_err());
    }
    let released = bounded().release(permit(1.0), &mut noise(1)).expect("for its own unit");
    assert_eq!(released.units(), [user(4)]);
    let xor = bounded().release_xor_family(permit(1.0), &mut noise(1)).expect("for its own unit");
    assert_eq!(xor.units(), [user(4)]);
}

#[test]
fn data_bounded_for_users_merges_with_no_other() {
    let (bounded, free) = (raw(shape(64, 8), 0..20).with_unit(user(4)), raw(shape(64, 8), 5..30));
    for (mut first, second) in
        [(bounded.clone(), free.clone()), (free.clone(), bounded.clone()), (bounded.clone(), bounded.clone())]
    {
        let before = first.clone();
        let units = (first.unit(), second.unit());
        let refused = first.merge(&second).unwrap_err();
        assert!(matches!(refused, MergeError::Unit { first, second } if (first, second) == units));
        assert_eq!(first, before, "nothing was changed");
    }
    let mut unseen = free.release_unseen(permit(1.0), &mut noise(1)).expect("a release");
    assert!(matches!(unseen.absorb(bounded, &mut noise(2)), Err(MergeError::Unit { .. })));
}

#[test]
fn the_bound_stays_with_bytes_and_folds() {
    let bounded = raw(shape(64, 8), 0..20).with_unit(user(4));
    let read =
        support::Raw::from_sensitive_bytes(&bounded.to_sensitive_bytes(), bounded.hash().clone()).expect("whole");
    assert_eq!((read.unit(), &read), (user(4), &bounded));
    assert_ne!(read, raw(shape(64, 8), 0..20));
    assert_eq!(bounded.fold(shape(32, 8)).expect("smaller").unit(), user(4));
}

#[test]
fn merged_raw_data_was_released_as_often_as_its_parts_together() {
    let counted = |times| {
        let mut sketch = raw(shape(64, 8), 0..2);
        for _ in 0..times {
            sketch.record_release();
        }
        sketch
    };
    let mut merged = counted(2);
    merged.merge(&counted(3)).expect("alike");
    assert_eq!(merged.releases(), 5);
}
