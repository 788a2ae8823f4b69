//! Rates of the samplers with fixed seeds. False alarms: one in a million for each test, shared out over its lanes.
#![cfg(feature = "hazmat")]
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{
    DyadicProbability, Epsilon, NoiseRng, NoiseSource, RandomizedResponse, bernoulli, bernoulli_words,
    bernoulli_words_fixed_time,
};
use sketch_testkit::{FALSE_ALARM, assert_binomial, binomial_two_sided};

const WORDS: usize = 40_000;

fn lane_counts(words: &[u64]) -> [u64; 64] {
    let mut counts = [0; 64];
    for (lane, count) in counts.iter_mut().enumerate() {
        *count = words.iter().map(|word| (word >> lane) & 1).sum();
    }
    counts
}

fn assert_lanes(words: &[u64], p: f64) {
    for (lane, count) in lane_counts(words).into_iter().enumerate() {
        let trials = u64::try_from(words.len()).unwrap();
        let tail = binomial_two_sided(count, trials, p);
        assert!(tail >= FALSE_ALARM / 64.0, "lane {lane}: {count} of {trials} for {p}, tail {tail:e}");
    }
}

/// Levels around which the sampler takes different ways: nearly a half, long expansions, rare flips.
fn channels() -> impl Iterator<Item = RandomizedResponse> {
    [Epsilon::MIN, 0.1, 1.0, 3.0, 7.0].into_iter().map(|e| RandomizedResponse::symmetric(Epsilon::new(e).unwrap()))
}

#[test]
fn flip_rates_hold_in_every_lane() {
    for (seed, channel) in (1..).zip(channels()) {
        let mut words = vec![0; WORDS];
        channel.apply(&mut InsecureTestRng::from_u64(seed), &mut words);
        assert_lanes(&words, channel.q().to_f64());
        let mut words = vec![u64::MAX; WORDS];
        channel.apply(&mut InsecureTestRng::from_u64(seed + 100), &mut words);
        assert_lanes(&words, channel.p().to_f64());
    }
}

#[test]
fn flip_rates_hold_with_the_secure_generator() {
    for channel in channels() {
        let mut noise = NoiseRng::from_key([1; 32]);
        let mut words = vec![0; WORDS];
        channel.apply(&mut noise, &mut words);
        assert_lanes(&words, channel.q().to_f64());
    }
}

#[test]
fn xor_family_rates_hold_in_every_lane() {
    for (seed, epsilon) in (20..).zip([0.1, 1.0, 3.0]) {
        let channel = RandomizedResponse::xor_family(Epsilon::new(epsilon).unwrap());
        let mut words: Vec<u64> = (0..WORDS).map(|n| if n % 2 == 0 { 0 } else { u64::MAX }).collect();
        channel.apply(&mut InsecureTestRng::from_u64(seed), &mut words);
        let every_other = |start: usize| words.iter().skip(start).step_by(2).copied().collect::<Vec<_>>();
        assert_lanes(&every_other(0), channel.q().to_f64());
        assert_lanes(&every_other(1), 0.5);
    }
}

#[test]
fn neighbouring_bits_are_independent() {
    // Adjacent lanes of a word and the same lane of adjacent words: the pair is 11 with probability p².
    let p = RandomizedResponse::symmetric(Epsilon::new(1.0).unwrap()).q();
    let mut words = vec![0; WORDS];
    bernoulli_words(p, &mut InsecureTestRng::from_u64(31), &mut words);
    let both = p.to_f64().powi(2);
    // Disjoint pairs, so that the counts are binomial.
    let lanes: u64 = words.iter().map(|w| u64::from((w & (w >> 1) & 0x5555_5555_5555_5555).count_ones())).sum();
    assert_binomial(lanes, 32 * WORDS as u64, both);
    let rows: u64 = words.chunks_exact(2).map(|pair| u64::from((pair[0] & pair[1]).count_ones())).sum();
    assert_binomial(rows, 32 * WORDS as u64, both);
}

#[test]
fn fixed_time_and_single_bits_have_the_same_rate() {
    let p = DyadicProbability::from_numerator(0x2545_f491_4f6c_dd1d);
    let mut noise = InsecureTestRng::from_u64(41);
    let mut words = vec![0; WORDS];
    bernoulli_words_fixed_time(p, &mut noise, &mut words);
    assert_lanes(&words, p.to_f64());
    let ones = (0..1_000_000).filter(|_| bernoulli(p, &mut noise)).count() as u64;
    assert_binomial(ones, 1_000_000, p.to_f64());
}

#[test]
fn the_same_seed_gives_the_same_noise_through_a_trait_object() {
    let p = DyadicProbability::from_numerator(u64::MAX / 5);
    let (mut direct, mut boxed) = ([0; 100], [0; 100]);
    bernoulli_words(p, &mut InsecureTestRng::from_u64(51), &mut direct);
    let source: &mut dyn NoiseSource = &mut InsecureTestRng::from_u64(51);
    bernoulli_words(p, source, &mut boxed);
    assert_eq!(direct, boxed);
}
