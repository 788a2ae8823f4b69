//! Mode `set`: known bits under noise.

use dp_noise::{Epsilon, Permit};
use sketch_hash::DefaultHash;

use super::*;
use crate::weight::MaxWeight;
use crate::{SharedNoise, Weight};

fn noise_of(rule: NoiseRule, level: Epsilon, items: u32) -> DyadicProbability {
    flip_probability(ModeKind::Set, rule, level.divide(items).unwrap(), 0.0)
}

/// The state of a data set: which of the items are there.
fn state(data: usize, cells: &[usize]) -> usize {
    cells.iter().enumerate().fold(0, |state, (item, cell)| state ^ ((data >> item & 1) << cell))
}

#[test]
fn one_item_more_or_less_is_protected_at_epsilon_and_no_better() {
    let shape = small_shape();
    let cells = cells(&shape, 5);
    for level in LEVELS.map(epsilon) {
        let p = noise_of(NoiseRule::Tight, level, 1);
        assert_keeps(ModeKind::Set, p, level);
        let bound = symmetric_ratio(p);
        assert!((bound.ln() / level.get() - 1.0).abs() < 1e-15, "tight");
        for data in 0..32_usize {
            let law = law_of_state(state(data, &cells), shape.cells(), p);
            for item in 0..5 {
                let neighbour = law_of_state(state(data ^ (1 << item), &cells), shape.cells(), p);
                assert!(assert_within(&law, &neighbour, &bound), "the bound is reached");
            }
        }
    }
}

#[test]
fn replacing_an_item_costs_twice_at_most() {
    let shape = small_shape();
    let cells = apart(&shape, 2);
    let p = noise_of(NoiseRule::Tight, epsilon(1.0), 1);
    let law = |data| law_of_state(state(data, &cells), shape.cells(), p);
    assert!(assert_within(&law(0b01), &law(0b10), &symmetric_ratio(p).power(2)));
}

#[test]
fn noise_of_the_paper_spends_the_logarithm_of_one_plus_epsilon() {
    let shape = small_shape();
    let cells = cells(&shape, 1);
    for level in LEVELS.map(epsilon) {
        let p = noise_of(NoiseRule::Paper, level, 1);
        assert_keeps(ModeKind::Set, p, level);
        let bound = symmetric_ratio(p);
        assert!((bound.ln() / level.get().ln_1p() - 1.0).abs() < 1e-15);
        let law = |data| law_of_state(state(data, &cells), shape.cells(), p);
        assert!(assert_within(&law(0), &law(1), &bound));
    }
}

#[test]
fn a_user_with_several_items_is_protected_at_epsilon() {
    let shape = small_shape();
    for items in 1..=4_u32 {
        let cells = apart(&shape, items as usize);
        for level in LEVELS.map(epsilon) {
            for rule in [NoiseRule::Tight, NoiseRule::Paper] {
                let p = noise_of(rule, level, items);
                // e^(ε/k), k times.
                assert_keeps(ModeKind::Set, p, level.divide(items).unwrap());
                let bound = symmetric_ratio(p).power(items as usize);
                let empty = law_of_state(0, shape.cells(), p);
                for data in 1..1 << items {
                    let law = law_of_state(state(data, &cells), shape.cells(), p);
                    let all = data == (1 << items) - 1;
                    assert_eq!(assert_within(&empty, &law, &bound), all);
                }
            }
        }
    }
}

/// All weights that make a difference for an item: just below and just above its hash.
fn telling_weights(hash: [u64; 2]) -> Vec<Weight> {
    let edge = hash[1] & 0xffff_ffff;
    [0, 1, edge, edge + 1, 1 << 31, 1 << 32].into_iter().filter_map(Weight::from_threshold).collect()
}

#[test]
fn a_change_of_weight_toggles_one_cell_at_most() {
    let shape = small_shape();
    let rule = WeightRule::Weighted(MaxWeight::new(1.0).unwrap());
    let p = noise_of(NoiseRule::Tight, epsilon(1.0), 1);
    let bound = symmetric_ratio(p);
    let sketch_of = |hash, weight| {
        let mut sketch: F0Sketch = F0Sketch::new(shape.clone(), rule, DefaultHash::default());
        sketch.toggle_hash_weighted(hash, weight).unwrap();
        usize::try_from(sketch.cells.words()[0]).unwrap()
    };
    for item in 0..200_u64 {
        let hash = Item::from(item).hash128(&DefaultHash::default());
        let states: Vec<usize> = telling_weights(hash).into_iter().map(|weight| sketch_of(hash, weight)).collect();
        assert!(states.contains(&0) && states.iter().any(|&state| state != 0), "kept and not kept");
        for (first, second) in states.iter().flat_map(|&a| states.iter().map(move |&b| (a, b))) {
            assert!((first ^ second).count_ones() <= 1);
            if item == 0 {
                let [first, second] = [first, second].map(|state| law_of_state(state, shape.cells(), p));
                assert_within(&first, &second, &bound);
            }
        }
    }
}

#[test]
fn raw_data_into_a_noisy_sketch_that_was_seen_has_no_bound() {
    let p = noise_of(NoiseRule::Tight, epsilon(1.0), 1);
    let seen = law_of_state(0, 4, p);
    // What is seen: noisy bits, and the same after raw data was xored in without noise of its own.
    let joint = |raw: usize| -> Law {
        let mut law = vec![Big::zero(); 256];
        seen.iter().enumerate().for_each(|(noisy, weight)| law[noisy << 4 | (noisy ^ raw)] = weight.clone());
        law
    };
    let (without, with) = (joint(0), joint(1));
    let proofs = without.iter().zip(&with).filter(|(a, b)| a.is_zero() && !b.is_zero()).count();
    assert_eq!(proofs, 16, "every outcome with the item is impossible without it");
    // Unseen, the second alone is one release.
    let alone = |raw: usize| law_of_state(raw, 4, p);
    assert!(assert_within(&alone(0), &alone(1), &symmetric_ratio(p)));
}

#[test]
fn a_second_copy_costs_its_own_epsilon() {
    let [p, q] = [1.0, 0.5].map(|level| noise_of(NoiseRule::Tight, epsilon(level), 1));
    let joint = |state| product(&law_of_state(state, 4, p), &law_of_state(state, 4, q));
    assert!(assert_within(&joint(0), &joint(1), &symmetric_ratio(p).times(&symmetric_ratio(q))));
}

#[test]
fn a_merge_seen_alone_keeps_what_it_states() {
    let mut noise = InsecureTestRng::from_u64(1);
    let mut release = |level: f64| {
        let raw: F0Sketch = F0Sketch::new(small_shape(), WeightRule::Unit, DefaultHash::default());
        raw.release(Permit::standalone(epsilon(level)), &mut noise).unwrap()
    };
    let (a, b) = (release(1.0), release(3.0));
    let [p, q] = [&a, &b].map(|sketch| DyadicProbability::from_numerator(sketch.leaves()[0].flip_numerator()));
    // The xor of two independent flips, over 2^128.
    let [p, q] = [p, q].map(|p| [p.numerator().wrapping_neg(), p.numerator()]);
    let mut zero = Big::one().times(p[0]).times(q[0]);
    zero.add(&Big::one().times(p[1]).times(q[1]));
    let mut one = Big::one().times(p[0]).times(q[1]);
    one.add(&Big::one().times(p[1]).times(q[0]));
    let level = zero.ln_ratio(&one);
    let stated = crate::private::level_seen_alone(ModeKind::Set, a.merge(&b).unwrap().exact_contrast());
    assert!(level <= stated && stated < level * (1.0 + 1e-14), "{level} {stated}");
    assert_eq!(a.merge(&b).unwrap().epsilon_if_seen_alone(), None, "test noise protects nobody");
}

/// The law of the xor of the noise that so many parties add to three cells.
fn noise_of_parties(plan: &SharedNoise, honest: u32) -> Law {
    let mut noise = vec![Big::zero(); 8];
    noise[0] = Big::one();
    for _ in 0..honest {
        let mut next = vec![Big::zero(); 8];
        for (before, added) in (0..8).flat_map(|a| (0..8).map(move |b| (a, b))) {
            next[before ^ added].add(&noise[before].times_big(&weight(added, 3, plan.flips())));
        }
        noise = next;
    }
    noise
}

#[test]
fn an_opened_sum_is_one_release_and_a_share_alone_is_uniform() {
    for (parties, honest) in [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)] {
        // The others add nothing; what they did add would be post-processing.
        let plan = SharedNoise::new::<Set>(parties, honest, Unit::Item, epsilon(1.0)).unwrap();
        let noise = noise_of_parties(&plan, honest);
        let law = |state: usize| -> Law { (0..8).map(|outcome| noise[outcome ^ state].clone()).collect() };
        let needed = symmetric_ratio(noise_of(NoiseRule::Tight, epsilon(1.0), 1));
        let loss = largest_loss(&law(0), &law(1));
        assert!(loss <= needed.ln() + 1e-15 && loss > 1.0 - 1e-9, "{loss}");
        assert_within(&law(0), &law(1), &needed);

        let plan = SharedNoise::new::<Presampled>(parties, honest, Unit::Item, epsilon(1.0)).unwrap();
        let noise = noise_of_parties(&plan, honest);
        let law = |seen: usize| -> Law {
            mixture((0..2).map(|toss| (0..8).map(|outcome| noise[outcome ^ (toss & seen)].clone()).collect()))
        };
        let needed = fair_ratio(flip_probability(ModeKind::Presampled, NoiseRule::Tight, epsilon(1.0), 0.0));
        let loss = largest_loss(&law(0), &law(1));
        assert!(loss > 1.0 - 1e-9, "{loss}");
        assert_within(&law(0), &law(1), &needed);
    }
    // Shares: the mask r alone, and s ⊕ φ ⊕ r alone, take every value equally often over all r.
    for hidden in 0..8 {
        let mut seen: Vec<usize> = (0..8).map(|mask| hidden ^ mask).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..8));
    }
}
