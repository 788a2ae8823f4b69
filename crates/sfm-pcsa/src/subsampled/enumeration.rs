//! The whole mechanism, over every value of the coins and of the noise, in integers. Tests only.

use std::cmp::Ordering;

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit, SampleRate, SubsampleKey, loss_under_one_key};
use sketch_hash::{DefaultHash, Item};
use sketch_testkit::Big;

use super::RawSubsampledPcsa;
use crate::{PcsaShape, PcsaSketch, Unit};

/// Numerators of the probabilities of all outcomes, over one denominator.
type Law = Vec<Big>;

fn rate(gamma: f64) -> SampleRate {
    SampleRate::new(gamma).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Numerator of the flip probability that the code releases a sample with, and the level of a cell that it is.
fn noise_of(gamma: SampleRate, unit: Unit, level: Epsilon) -> (u64, f64) {
    let coins = SubsampleKey::from_bytes([1; 32]).sampler(gamma);
    let raw: RawSubsampledPcsa =
        RawSubsampledPcsa::new(PcsaShape::new(2, 2).unwrap(), DefaultHash::default(), coins.sampling()).with_unit(unit);
    let inner = raw.inner_level(level).unwrap();
    let private = raw.release(Permit::standalone(level), &mut InsecureTestRng::from_u64(1)).unwrap();
    let release = private.releases().next().unwrap();
    assert_eq!((release.epsilon(), private.epsilon_total()), (level, Some(level.get())));
    (release.flip_numerator(), inner)
}

/// The law of the noisy cells of a state, each flipped with probability `p` over 2⁶⁴.
fn law_of_state(state: usize, cells: usize, p: u64) -> Law {
    let flip = |flipped: bool| if flipped { p } else { p.wrapping_neg() };
    let term =
        |pattern: usize| (0..cells).fold(Big::one(), |product, cell| product.times(flip(pattern >> cell & 1 == 1)));
    (0..1 << cells).map(|outcome| term(outcome ^ state)).collect()
}

/// The mixture over the coins of the items, each kept with probability γ, of the laws that `of` gives for the items kept.
fn over_coins(gamma: SampleRate, items: usize, of: impl Fn(usize) -> Law) -> Law {
    let laws = (0..1_usize << items).map(|kept| {
        let coins = (0..items).fold(Big::one(), |product, item| {
            let keeps = kept >> item & 1 == 1;
            product.times(if keeps { gamma.numerator() } else { gamma.numerator().wrapping_neg() })
        });
        of(kept).iter().map(|term| term.times_big(&coins)).collect::<Law>()
    });
    laws.reduce(|mut sum, law| {
        sum.iter_mut().zip(&law).for_each(|(sum, term)| sum.add(term));
        sum
    })
    .unwrap()
}

/// The cells that the kept items set.
fn set(cells: &[usize], kept: usize) -> usize {
    cells.iter().enumerate().filter(|(item, _)| kept >> item & 1 == 1).fold(0, |state, (_, cell)| state | 1 << cell)
}

/// Asserts that no outcome is more likely under one law than `numerator / denominator` times as under the other.
#[track_caller]
fn assert_within(first: &Law, second: &Law, (numerator, denominator): &(Big, Big)) {
    for (a, b) in first.iter().zip(second).chain(second.iter().zip(first)) {
        assert_ne!(a.times_big(denominator).compare(&b.times_big(numerator)), Ordering::Greater);
    }
}

fn largest_loss(first: &Law, second: &Law) -> f64 {
    first.iter().zip(second).map(|(a, b)| a.ln_ratio(b).abs()).fold(0.0, f64::max)
}

/// `((1 − γ) p + γ (1 − p)) / p`.
fn sampled_bound(gamma: SampleRate, p: u64) -> (Big, Big) {
    let mut ones = Big::one().times(gamma.numerator().wrapping_neg()).times(p);
    ones.add(&Big::one().times(gamma.numerator()).times(p.wrapping_neg()));
    (ones, Big::one().times(p).times(1 << 63).times(2))
}

#[test]
fn a_sample_protects_its_items_at_epsilon_and_at_the_inner_level_if_the_key_is_known() {
    for level in [0.1, 0.5, 1.0, 3.0].map(epsilon) {
        for gamma in [0.003, 0.057, 0.23, 0.5].map(rate) {
            let (p, inner) = noise_of(gamma, Unit::Item, level);
            let bound = sampled_bound(gamma, p);
            let loss = bound.0.ln_ratio(&bound.1);
            assert!(loss <= level.get() && loss > level.get() * (1.0 - 1e-9), "{loss} for {level:?}");
            // The last item beside others, in cells of their own and in its cell.
            for cells in [&[0][..], &[1, 0], &[0, 0], &[0, 1, 0]] {
                let (own, states) = (1 << (cells.len() - 1), 3);
                let law = |seen: usize| {
                    over_coins(gamma, cells.len(), |kept| law_of_state(set(cells, kept & seen), states, p))
                };
                assert_within(&law(own - 1), &law(2 * own - 1), &bound);
                // Whoever knows the coins, for every value of them.
                for kept in 0..2 * own {
                    let known = |seen: usize| law_of_state(set(cells, kept & seen), states, p);
                    let loss = largest_loss(&known(own - 1), &known(2 * own - 1));
                    assert!(loss <= inner, "{loss} {inner}");
                }
            }
            let alone = |seen: usize| over_coins(gamma, 1, |kept| law_of_state(kept & seen, 3, p));
            let reached = largest_loss(&alone(0), &alone(1));
            assert!((reached - loss).abs() < 1e-12, "the bound is reached");
        }
    }
}

#[test]
fn samples_under_one_key_cost_what_the_formula_says_and_under_fresh_keys_the_sum() {
    for level in [0.5, 1.0].map(epsilon) {
        for gamma in [0.0082, 0.057, 0.23].map(rate) {
            let (p, inner) = noise_of(gamma, Unit::Item, level);
            let pair = |a: usize, b: usize| -> Law {
                let (first, second) = (law_of_state(a, 2, p), law_of_state(b, 2, p));
                first.iter().flat_map(|x| second.iter().map(move |y| x.times_big(y))).collect()
            };
            let shared = |seen: usize| over_coins(gamma, 1, |kept| pair(kept & seen, kept & seen));
            let loss = largest_loss(&shared(0), &shared(1));
            let stated = loss_under_one_key(&[(gamma, inner); 2]);
            assert!(loss <= stated && stated < loss * (1.0 + 1e-9), "{loss} {stated}");
            assert!(loss > 2.0 * level.get(), "{loss}: plain addition would be wrong");
            let fresh = |seen: usize| over_coins(gamma, 2, |kept| pair(kept & seen & 1, kept >> 1 & seen));
            assert!(largest_loss(&fresh(0), &fresh(1)) <= 2.0 * level.get());
        }
    }
}

#[test]
fn users_are_protected_with_all_their_items() {
    let user = Unit::user(2).unwrap();
    for gamma in [0.057, 0.5].map(rate) {
        let (p, _) = noise_of(gamma, user, epsilon(2.0));
        for cells in [[0, 1], [1, 1]] {
            let law = |seen: usize| over_coins(gamma, 2, |kept| law_of_state(set(&cells, kept & seen), 2, p));
            assert!(largest_loss(&law(0), &law(3)) <= 2.0);
        }
    }
}

/// What goes into the cells is what the key keeps, however often it comes.
#[test]
fn the_sketch_holds_the_items_that_the_key_keeps() {
    let coins = SubsampleKey::from_bytes([3; 32]).sampler(rate(0.3));
    let shape = PcsaShape::new(64, 8).unwrap();
    let new = || RawSubsampledPcsa::new(shape, DefaultHash::default(), coins.sampling());
    let hashes: Vec<u64> = (0..300_u64).map(|item| Item::from(item).hash64(&DefaultHash::default())).collect();
    let (mut single, mut batch, mut kept) = (new(), new(), PcsaSketch::new(shape, DefaultHash::default()));
    for &hash in &hashes {
        single.writer(&coins).unwrap().update_hash(hash);
        // The word beside a hash of 64 bits: "pcsa".
        if coins.keeps([hash, u64::from_le_bytes(*b"pcsa\0\0\0\0")]) {
            kept.update_hash(hash);
        }
    }
    batch.writer(&coins).unwrap().update_hashes(&hashes);
    batch.writer(&coins).unwrap().update_hashes(&hashes);
    assert_eq!(single, batch);
    assert_eq!(single.sketch, kept);
    assert!(!kept.is_empty());
}
