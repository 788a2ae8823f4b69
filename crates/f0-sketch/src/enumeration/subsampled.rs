//! Releases of secret samples: the whole mechanism, over every value of the coins and of the noise.

use dp_noise::{SampleRate, SubsampleKey, loss_under_one_key};

use super::*;
use crate::RawSubsampledF0;
use crate::noise::level_of;

const RATES: [f64; 4] = [0.003, 0.057, 0.23, 0.5];

fn rate(gamma: f64) -> SampleRate {
    SampleRate::new(gamma).unwrap()
}

/// The flip probability that the code releases a sample with.
fn noise_of(gamma: SampleRate, unit: Unit, level: Epsilon) -> DyadicProbability {
    let coins = SubsampleKey::from_bytes([1; 32]).sampler(gamma);
    let shape = F0Shape::new(1, 3).unwrap();
    let raw: RawSubsampledF0 = RawSubsampledF0::new(shape, WeightRule::Unit, DefaultHash::default(), coins.sampling())
        .with_unit(unit)
        .unwrap();
    let private = raw.release(Permit::standalone(level), &mut InsecureTestRng::from_u64(1)).unwrap();
    assert_eq!(private.releases().next().unwrap().epsilon(), level);
    DyadicProbability::from_numerator(private.sampled().leaves()[0].flip_numerator())
}

/// The joint law of releases, of which `outcome(kept)` gives states and flips for the items that are kept: item `i` with a coin of
/// its own, of probability `γ`.
fn law_of_coins(
    gamma: SampleRate,
    items: usize,
    cells: usize,
    outcome: impl Fn(usize) -> Vec<(usize, DyadicProbability)>,
) -> Law {
    mixture((0..1 << items).map(|kept: usize| {
        let coins = (0..items).fold(Big::one(), |product, item| {
            let keeps = kept >> item & 1 == 1;
            product.times(if keeps { gamma.numerator() } else { gamma.numerator().wrapping_neg() })
        });
        let laws = outcome(kept).into_iter().map(|(state, p)| law_of_state(state, cells, p));
        let joint = laws.reduce(|first, second| product(&first, &second)).unwrap();
        joint.iter().map(|term| term.times_big(&coins)).collect()
    }))
}

/// The state of the cells when these items toggle theirs.
fn toggled(cells: &[usize], kept: usize) -> usize {
    cells.iter().enumerate().filter(|(item, _)| kept >> item & 1 == 1).fold(0, |state, (_, cell)| state ^ 1 << cell)
}

/// `((1 − γ) p + γ (1 − p)) / p`, what the secret coin leaves of one cell.
fn sampled_ratio(gamma: SampleRate, p: DyadicProbability) -> Ratio {
    let (rate, p) = (gamma.numerator(), p.numerator());
    let mut ones = Big::one().times(rate.wrapping_neg()).times(p);
    ones.add(&Big::one().times(rate).times(p.wrapping_neg()));
    Ratio(ones, Big::one().times(p).times_big(&Big::one().times(1 << 63).times(2)))
}

#[test]
fn a_sample_protects_its_items_at_epsilon_and_at_the_inner_level_if_the_key_is_known() {
    let shape = small_shape();
    let cells = shape.cells();
    for level in LEVELS.map(epsilon) {
        for gamma in RATES.map(rate) {
            let p = noise_of(gamma, Unit::Item, level);
            // Decided with e^-ε rounded up: the exact bound below is within e^ε.
            assert!(gamma.keeps(p, level));
            // The item beside two others, in cells of their own and in its own cell.
            let places = apart(&shape, 2);
            for others in [vec![], vec![places[0]], vec![places[1]], vec![places[1], places[0]]] {
                let with: Vec<usize> = others.iter().copied().chain([places[0]]).collect();
                let count = with.len();
                let law =
                    |seen: usize| law_of_coins(gamma, count, cells, |kept| vec![(toggled(&with, kept & seen), p)]);
                let (without, all) = (law((1 << (count - 1)) - 1), law((1 << count) - 1));
                let reached = assert_within(&without, &all, &sampled_ratio(gamma, p));
                // Beside an item in the same cell even the worst outcome tells less.
                assert_eq!(reached, !others.contains(&places[0]));
                // Whoever knows the coins: at ε₀, for every value of them.
                for kept in 0..1 << count {
                    let known = |seen: usize| law_of_state(toggled(&with, kept & seen), cells, p);
                    let own = 1 << (count - 1);
                    let reached = assert_within(&known(own - 1), &known(2 * own - 1), &symmetric_ratio(p));
                    assert_eq!(reached, kept & own != 0, "and only if it is kept");
                }
            }
            let bound = sampled_ratio(gamma, p).ln();
            assert!(bound <= level.get() && bound > level.get() * (1.0 - 1e-9), "{bound} for {level:?}");
        }
    }
}

#[test]
fn samples_under_one_key_cost_what_the_formula_says_and_under_fresh_keys_the_sum() {
    for level in [0.5, 1.0].map(epsilon) {
        for gamma in RATES.map(rate) {
            let other = epsilon(0.7 * level.get());
            let [p, q] = [level, other].map(|level| noise_of(gamma, Unit::Item, level));
            // One coin: two sketches of an item, or two noisy copies of one.
            let shared = |seen: usize| law_of_coins(gamma, 1, 3, |kept| vec![(kept & seen, p), (kept & seen, q)]);
            let loss = largest_loss(&shared(0), &shared(1));
            let stated = loss_under_one_key(&[p, q].map(|flips| (gamma, level_of(flips))));
            assert!(loss <= stated && stated < loss * (1.0 + 1e-9), "{loss} {stated}");
            assert!(loss > level.get() + other.get(), "{loss}: plain addition would be wrong");
            // Two coins.
            let fresh =
                |seen: usize| law_of_coins(gamma, 2, 3, |kept| vec![(kept & seen & 1, p), (kept >> 1 & seen, q)]);
            let bound = sampled_ratio(gamma, p).times(&sampled_ratio(gamma, q));
            assert!(assert_within(&fresh(0), &fresh(1), &bound) && bound.ln() <= level.get() + other.get());
        }
    }
    // The numbers of the documentation: two sketches at ε = 1 and γ = .0082.
    let gamma = rate(0.0082);
    let p = level_of(noise_of(gamma, Unit::Item, epsilon(1.0)));
    assert!((loss_under_one_key(&[(gamma, p); 2]) - 5.9).abs() < 0.05);
}

#[test]
fn samples_at_two_rates_under_one_key_share_a_coin() {
    let (large, small) = (rate(0.4), rate(0.1));
    let [p, q] = [large, small].map(|gamma| noise_of(gamma, Unit::Item, epsilon(1.0)));
    // The coin of an item is below both thresholds, below the larger one only, or below none.
    let parts = [
        (small.numerator(), [1, 1]),
        (large.numerator() - small.numerator(), [1, 0]),
        (large.numerator().wrapping_neg(), [0, 0]),
    ];
    let law = |seen: usize| {
        mixture(parts.iter().map(|&(weight, [a, b])| {
            let joint = product(&law_of_state(a & seen, 3, p), &law_of_state(b & seen, 3, q));
            joint.iter().map(|term| term.times(weight)).collect()
        }))
    };
    let loss = largest_loss(&law(0), &law(1));
    let stated = loss_under_one_key(&[(small, level_of(q)), (large, level_of(p))]);
    assert!(loss <= stated && stated < loss * (1.0 + 1e-9), "{loss} {stated}");
    // The coins of the code are nested like that.
    let key = SubsampleKey::from_bytes([2; 32]);
    let [large, small] = [large, small].map(|rate| key.sampler(rate));
    assert!((0..1000).all(|item| large.keeps([item, item]) || !small.keeps([item, item])));
}

#[test]
fn users_are_protected_with_all_their_items() {
    let user = Unit::user(2).unwrap();
    for level in [0.5, 2.0].map(epsilon) {
        for gamma in RATES.map(rate) {
            let p = noise_of(gamma, user, level);
            let bound = sampled_ratio(gamma, p).power(2);
            assert!(bound.ln() <= level.get());
            for (cells, is_tight) in [([0, 1], true), ([2, 2], false)] {
                let law = |seen: usize| law_of_coins(gamma, 2, 3, |kept| vec![(toggled(&cells, kept & seen), p)]);
                assert_eq!(assert_within(&law(0), &law(3), &bound), is_tight);
            }
        }
    }
}

/// What goes into the cells is what the key keeps, and a second toggle takes it out again.
#[test]
fn the_sketch_holds_the_items_that_the_key_keeps() {
    let coins = SubsampleKey::from_bytes([3; 32]).sampler(rate(0.3));
    let new = || RawSubsampledF0::new(small_shape(), WeightRule::Unit, DefaultHash::default(), coins.sampling());
    let hashes: Vec<[u64; 2]> = (0..200_u64).map(|item| Item::from(item).hash128(&DefaultHash::default())).collect();
    let (mut single, mut batch) = (new(), new());
    let mut kept: F0Sketch = F0Sketch::new(small_shape(), WeightRule::Unit, DefaultHash::default());
    for &hash in &hashes {
        single.writer(&coins).unwrap().toggle_hash(hash);
        if coins.keeps(hash) {
            kept.toggle_hash(hash);
        }
    }
    batch.writer(&coins).unwrap().toggle_hashes(&hashes);
    assert_eq!(single, batch);
    assert_eq!(single.sketch, kept);
    single.writer(&coins).unwrap().toggle_hashes(&hashes);
    assert!(single.sketch.is_zero());
}
