//! Mode `presampled`: fair bits under noise, and what they share.

use dp_noise::{Epsilon, Permit};

use super::*;
use crate::noise::level_of;
use crate::presampled_cost;

fn noise_of(rule: NoiseRule, level: Epsilon, exposure: f64) -> DyadicProbability {
    flip_probability(ModeKind::Presampled, rule, level, exposure)
}

/// The xor of the cells of the occurrences whose coin fell on one.
fn tossed(occurrences: &[usize], coins: usize) -> usize {
    occurrences.iter().enumerate().fold(0, |state, (index, cell)| state ^ ((coins >> index & 1) << cell))
}

/// The law of one release of a stream whose occurrences fall into these cells, each kept by an own coin of `coins` in all.
fn law_of_stream(occurrences: &[usize], coins: usize, cells: usize, p: DyadicProbability) -> Law {
    mixture((0..1 << coins).map(|toss| law_of_state(tossed(occurrences, toss), cells, p)))
}

/// The law of everything that is released from some coins: `see` says which states are released, with their noise.
fn joint_law(coins: usize, cells: usize, see: impl Fn(usize) -> Vec<(usize, DyadicProbability)>) -> Law {
    mixture((0..1 << coins).map(|toss| {
        let laws = see(toss).into_iter().map(|(state, p)| law_of_state(state, cells, p));
        laws.reduce(|joint, law| product(&joint, &law)).unwrap()
    }))
}

#[test]
fn one_item_with_all_its_occurrences_is_protected_at_epsilon() {
    let shape = small_shape();
    let cells = cells(&shape, 3);
    for level in LEVELS.map(epsilon) {
        let p = noise_of(NoiseRule::Tight, level, 0.0);
        assert_keeps(ModeKind::Presampled, p, level);
        let bound = fair_ratio(p);
        assert!((bound.ln() / level.get() - 1.0).abs() < 1e-15, "tight");
        // The others occur once and twice; one item occurs up to three times or not at all.
        let others = [cells[1], cells[2], cells[2]];
        let without = law_of_stream(&others, 6, shape.cells(), p);
        let with = |times: usize| {
            let occurrences = [&others[..], &vec![cells[0]; times]].concat();
            law_of_stream(&occurrences, 6, shape.cells(), p)
        };
        let once = with(1);
        let shared = cells[1..].contains(&cells[0]);
        assert_eq!(assert_within(&without, &once, &bound), !shared, "reached where no other item is in the cell");
        for times in 2..=3 {
            assert_eq!(with(times), once, "repetitions change nothing");
        }
    }
}

#[test]
fn noise_of_the_paper_spends_half_as_much_inside_the_logarithm() {
    for level in LEVELS.map(epsilon) {
        let p = noise_of(NoiseRule::Paper, level, 0.0);
        assert_keeps(ModeKind::Presampled, p, level);
        let (without, with) = (law_of_stream(&[], 1, 4, p), law_of_stream(&[2], 1, 4, p));
        assert!(assert_within(&without, &with, &fair_ratio(p)));
        assert!((fair_ratio(p).ln() / (level.get() / 2.0).ln_1p() - 1.0).abs() < 1e-15);
    }
}

#[test]
fn a_user_with_several_items_is_protected_at_epsilon() {
    let shape = small_shape();
    for items in 1..=3_u32 {
        let cells = apart(&shape, items as usize);
        for level in LEVELS.map(epsilon) {
            let share = level.divide(items).unwrap();
            let p = noise_of(NoiseRule::Tight, share, 0.0);
            assert_keeps(ModeKind::Presampled, p, share);
            let bound = fair_ratio(p).power(items as usize);
            let without = law_of_stream(&[], 3, shape.cells(), p);
            let with = law_of_stream(&cells, 3, shape.cells(), p);
            assert!(assert_within(&without, &with, &bound));
            // Two items in one cell, and items beside others of the same user, lose less.
            let crowded = law_of_stream(&vec![cells[0]; items as usize], 3, shape.cells(), p);
            assert_within(&without, &crowded, &fair_ratio(p));
        }
    }
}

#[test]
fn parties_pay_each_for_what_each_releases_and_once_for_a_sketch_of_all() {
    for level in LEVELS.map(epsilon) {
        let p = noise_of(NoiseRule::Tight, level, 0.0);
        let cells = 3;
        // Three parties saw the item, each with an own coin. Released each by itself:
        let each =
            |seen: usize| joint_law(3, cells, |toss| (0..3).map(|party| ((toss >> party & 1) & seen, p)).collect());
        assert!(assert_within(&each(0), &each(1), &fair_ratio(p).power(3)), "three releases pay thrice");
        // Merged before the release:
        let once = |parties: usize| law_of_stream(&vec![0; parties], 3, cells, p);
        for parties in 1..=3 {
            assert!(assert_within(&once(0), &once(parties), &fair_ratio(p)));
            assert_eq!(once(parties), once(1), "as if one had seen it");
        }
    }
}

#[test]
fn copies_of_the_same_coins_cost_more_than_their_sum() {
    for level in LEVELS.map(epsilon) {
        let p = noise_of(NoiseRule::Tight, level, 0.0);
        let shared = |seen: usize| joint_law(1, 3, |toss| vec![(toss & seen, p); 2]);
        let loss = largest_loss(&shared(0), &shared(1));
        let stated = presampled_cost(&[p; 2]);
        assert!(loss <= stated && stated < loss * (1.0 + 1e-13), "{loss} {stated}");
        assert!(loss > 2.0 * level.get(), "{loss}: plain addition would be wrong");
        // With fresh coins for each release addition is right.
        let fresh = |seen: usize| joint_law(2, 3, |toss| vec![(toss & seen, p), (toss >> 1 & seen, p)]);
        assert!(assert_within(&fresh(0), &fresh(1), &fair_ratio(p).power(2)));
    }
    let one = noise_of(NoiseRule::Tight, epsilon(1.0), 0.0);
    assert!((presampled_cost(&[one; 2]) - 2.336).abs() < 1e-3);
}

/// The raw states of parts after releases, so that the noise of the code can be asked for.
fn raw() -> F0Sketch<Presampled> {
    F0Sketch::new(F0Shape::new(1, 3).unwrap(), WeightRule::Unit, DefaultHash::default())
}

/// Releases, and says with which flip probability.
fn keep(
    sketch: &mut F0Sketch<Presampled>,
    rule: NoiseRule,
    level: Epsilon,
    noise: &mut InsecureTestRng,
) -> DyadicProbability {
    let released = sketch.release_keeping(rule, Unit::Item, Permit::standalone(level), noise).unwrap();
    DyadicProbability::from_numerator(released.leaves()[0].flip_numerator())
}

#[test]
fn further_releases_of_kept_coins_cost_what_their_permits_say() {
    let mut noise = InsecureTestRng::from_u64(3);
    for levels in [[1.0, 1.0, 1.0], [0.1, 3.0, 0.5], [3.0, 0.1, 1.0], [0.5, 0.5, 8.0]] {
        for rule in [NoiseRule::Tight, NoiseRule::Paper] {
            let mut sketch = raw();
            let noises = levels.map(|level| keep(&mut sketch, rule, epsilon(level), &mut noise));
            for count in 1..=3 {
                let law =
                    |seen: usize| joint_law(1, 3, |toss| noises[..count].iter().map(|&p| (toss & seen, p)).collect());
                let (loss, paid) = (largest_loss(&law(0), &law(1)), levels[..count].iter().sum::<f64>());
                assert!(loss <= paid, "{loss} for {paid}");
                let tight = rule == NoiseRule::Tight;
                assert!(!tight || loss > paid * (1.0 - 1e-9), "no more noise than needed: {loss} for {paid}");
            }
            let levels = noises.map(|p| epsilon(level_of(p)));
            let sum: f64 = levels.iter().map(|level| level.get()).sum();
            assert!((sketch.exposure() - sum).abs() < 1e-12 && sketch.releases() == 3);
        }
    }
}

#[test]
fn further_releases_for_users_cost_what_their_permits_say() {
    let mut noise = InsecureTestRng::from_u64(6);
    let user = Unit::user(2).unwrap();
    for levels in [[1.0, 1.0], [0.2, 3.0], [4.0, 0.5]] {
        let mut sketch = raw();
        let noises = levels.map(|level| {
            let permit = Permit::standalone(epsilon(level));
            let released = sketch.release_keeping(NoiseRule::Tight, user, permit, &mut noise).unwrap();
            DyadicProbability::from_numerator(released.leaves()[0].flip_numerator())
        });
        // Two items in cells of their own, then in one.
        for (cells, is_tight) in [([0, 1], true), ([0, 0], false)] {
            let law = |seen: usize| {
                joint_law(2, 2, |toss| noises.iter().map(|&p| (tossed(&cells, toss & seen), p)).collect())
            };
            let (loss, paid) = (largest_loss(&law(0), &law(3)), levels.iter().sum::<f64>());
            assert!(loss <= paid && (!is_tight || loss > paid * (1.0 - 1e-9)), "{loss} for {paid}");
        }
    }
}

#[test]
fn days_and_the_week_they_make_up_cost_what_their_permits_say() {
    let mut noise = InsecureTestRng::from_u64(4);
    for levels in [[1.0, 1.0, 1.0, 1.0], [0.3, 2.0, 0.5, 1.5], [2.0, 0.2, 4.0, 0.1]] {
        let [first, second, both, later] = levels.map(epsilon);
        let (mut monday, mut tuesday, mut rest) = (raw(), raw(), raw());
        let a = keep(&mut monday, NoiseRule::Tight, first, &mut noise);
        let b = keep(&mut tuesday, NoiseRule::Tight, second, &mut noise);
        monday.merge(&mut tuesday).unwrap();
        let c = keep(&mut monday, NoiseRule::Tight, both, &mut noise);
        monday.merge(&mut rest).unwrap();
        let d = keep(&mut monday, NoiseRule::Tight, later, &mut noise);
        // Who is in which of the three parts, one coin for each.
        let law = |seen: usize| {
            joint_law(3, 2, |toss| {
                let coin = |part: usize| (toss & seen) >> part & 1;
                let (x, y, z) = (coin(0), coin(1), coin(2));
                vec![(x, a), (y, b), (x ^ y, c), (x ^ y ^ z, d)]
            })
        };
        let nobody = law(0);
        for seen in 1..8_usize {
            let used = [seen & 1, seen >> 1 & 1, usize::from(seen & 3 != 0), 1];
            let paid: f64 = used.iter().zip(levels).map(|(&used, level)| if used == 1 { level } else { 0.0 }).sum();
            let loss = largest_loss(&nobody, &law(seen));
            assert!(loss <= paid, "parts {seen:03b}: {loss} for {paid}");
        }
    }
}

#[test]
fn coins_tossed_after_a_release_do_not_undo_it() {
    let mut noise = InsecureTestRng::from_u64(5);
    let mut sketch = raw();
    let first = keep(&mut sketch, NoiseRule::Tight, epsilon(1.0), &mut noise);
    let second = keep(&mut sketch, NoiseRule::Tight, epsilon(1.0), &mut noise);
    for (before, after) in [(1, 0), (0, 1), (1, 1)] {
        let law = |seen: usize| {
            joint_law(2, 3, |toss| {
                let (x, y) = (toss & seen & before, toss >> 1 & seen & after);
                vec![(x, first), (x ^ y, second)]
            })
        };
        assert!(largest_loss(&law(0), &law(1)) <= 2.0);
    }
}
