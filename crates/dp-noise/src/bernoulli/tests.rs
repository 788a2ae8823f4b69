use std::collections::VecDeque;

use super::*;
use crate::scripted::{Script, all_digit_sequences, random_words};

/// `numerator / 2^digits`.
fn dyadic(numerator: u64, digits: u32) -> DyadicProbability {
    DyadicProbability::from_numerator(numerator << (64 - digits))
}

fn digit(p: DyadicProbability, place: u32) -> bool {
    (p.numerator() << place) >> 63 == 1
}

/// The obvious algorithm: each lane compares its own random digits with those of `p`. It reads the words in the order
/// in which the fast path draws them, and like that one keeps 64 bits in sight for the lanes dealt with singly.
fn lane_by_lane(p: DyadicProbability, mut words: impl Iterator<Item = u64>, length: usize) -> Vec<u64> {
    let digits = p.significant_digits();
    let mut next = || words.next().expect("endless");
    let mut bits = VecDeque::new();
    let mut out = vec![0; length];
    for block in out.chunks_mut(BLOCK) {
        let shared: Vec<Vec<u64>> =
            (0..digits.min(SHARED_DIGITS)).map(|_| block.iter().map(|_| next()).collect()).collect();
        for (index, word) in block.iter_mut().enumerate() {
            for lane in 0..64 {
                if digits > SHARED_DIGITS && bits.len() < 64 {
                    let fresh = next();
                    bits.extend((0..64).rev().map(|place| (fresh >> place) & 1 == 1));
                }
                let mut random = |place: u32| match shared.get(usize::try_from(place).unwrap()) {
                    Some(draw) => (draw[index] >> lane) & 1 == 1,
                    None => bits.pop_front().unwrap(),
                };
                // The first place where the random digit differs decides; none means not below p.
                let below = (0..digits).find(|&place| random(place) != digit(p, place)).map(|place| digit(p, place));
                *word |= u64::from(below.unwrap_or(false)) << lane;
            }
        }
        // The fast path looks ahead at once, the loop above before it needs to.
        if digits > SHARED_DIGITS && bits.len() < 64 {
            let fresh = next();
            bits.extend((0..64).rev().map(|place| (fresh >> place) & 1 == 1));
        }
    }
    out
}

#[test]
fn words_equal_the_lane_by_lane_reference() {
    let probabilities = [1, 2, 3 << 40, 0xdead_beef_0123_4567, u64::MAX, 1 << 58, 1 << 57, 33 << 58, 1 << 63];
    for (seed, numerator) in (0..).zip(probabilities) {
        let p = DyadicProbability::from_numerator(numerator);
        for length in [0, 1, 31, 32, 33, 100] {
            let mut fast = vec![0; length];
            bernoulli_words(p, &mut Script::new(random_words(seed).take(64 * length + 64)), &mut fast);
            assert_eq!(fast, lane_by_lane(p, random_words(seed), length), "{p:?}, {length} words");
        }
    }
}

#[test]
fn short_probabilities_have_their_exact_law() {
    for digits in 1..=SHARED_DIGITS {
        for numerator in 0..1 << digits {
            let p = dyadic(numerator, digits);
            let needed = usize::try_from(p.significant_digits()).unwrap();
            let mut script = Script::new(all_digit_sequences(digits));
            let mut out = [0];
            bernoulli_words(p, &mut script, &mut out);
            assert_eq!(u64::from(out[0].count_ones()), numerator << (6 - digits), "{numerator} / 2^{digits}");
            // Trailing zeros of p are never compared, so their words stay in the script.
            assert_eq!(script.left(), usize::try_from(digits).unwrap() - needed);
        }
    }
}

#[test]
fn long_probabilities_have_their_exact_law() {
    // Lanes 0..32 go through all beginnings of five digits, the runs through all continuations: together every sequence
    // of `digits` random digits occurs once in these lanes.
    let digits = 11;
    for numerator in 0..1_u64 << digits {
        let p = dyadic(numerator, digits);
        let mut ones = 0;
        for continuation in 0..1_u64 << (digits - SHARED_DIGITS) {
            let mut script = all_digit_sequences(SHARED_DIGITS);
            script.extend([continuation << (64 - (digits - SHARED_DIGITS)), 0]);
            let mut out = [0];
            bernoulli_words(p, &mut Script::new(script), &mut out);
            ones += u64::from((out[0] & 0xffff_ffff).count_ones());
        }
        assert_eq!(ones, numerator, "{numerator} / 2^{digits}");
    }
}

#[test]
fn lanes_that_share_a_reservoir_are_independent() {
    // p = 0.00000 101 in binary: lanes whose first five digits are 0 go on to the reservoir. Two of them, and all 2^6
    // beginnings of it: each pair of outcomes must occur as often as the product of the probabilities says.
    let p = dyadic(5, 8);
    let (rest, all) = (5_u64, 8_u64);
    let mut pairs = [[0_u64; 2]; 2];
    for stream in 0..64_u64 {
        let mut script = vec![!0b11; 5];
        script.extend([stream << 58, 0]);
        let mut out = [0];
        bernoulli_words(p, &mut Script::new(script), &mut out);
        pairs[usize::from(out[0] & 1 == 1)][usize::from(out[0] & 2 == 2)] += 1;
    }
    assert_eq!(pairs, [[(all - rest) * (all - rest), (all - rest) * rest], [rest * (all - rest), rest * rest]]);
}

#[test]
fn fixed_time_words_have_their_exact_law() {
    for digits in 1..=6 {
        for numerator in 0..1 << digits {
            let p = dyadic(numerator, digits);
            let used = p.significant_digits();
            let mut script = Script::new(all_digit_sequences(used));
            let mut out = [!0];
            bernoulli_words_fixed_time(p, &mut script, &mut out);
            assert_eq!(u64::from(out[0].count_ones()), numerator << (6 - digits), "{numerator} / 2^{digits}");
            assert_eq!(script.left(), 0, "one word a significant digit, whatever the words");
        }
    }
}

#[test]
fn fixed_time_words_agree_with_comparing_whole_numbers() {
    let p = DyadicProbability::from_numerator(0x89ab_cdef_0123_4567);
    let words: Vec<u64> = random_words(3).take(64).collect();
    let mut out = [0];
    bernoulli_words_fixed_time(p, &mut Script::new(words.clone()), &mut out);
    for lane in 0..64 {
        // The first word drawn holds the last digits.
        let uniform = words.iter().enumerate().fold(0, |u: u64, (place, word)| u | (((word >> lane) & 1) << place));
        assert_eq!((out[0] >> lane) & 1 == 1, uniform < p.numerator(), "lane {lane}");
    }
}

#[test]
fn half_takes_one_word_and_zero_takes_none() {
    let mut script = Script::new([0x0123_4567_89ab_cdef; 40]);
    let mut out = [0; 40];
    bernoulli_words(DyadicProbability::half(), &mut script, &mut out);
    assert_eq!((out, script.left()), ([!0x0123_4567_89ab_cdef; 40], 0));

    let mut nothing = Script::new([]);
    bernoulli_words(DyadicProbability::ZERO, &mut nothing, &mut out);
    assert_eq!(out, [0; 40]);
    bernoulli_words_fixed_time(DyadicProbability::ZERO, &mut nothing, &mut out);
}

#[test]
fn one_bit_compares_strictly() {
    let p = DyadicProbability::from_numerator(1000);
    assert!(bernoulli(p, &mut Script::new([999])));
    assert!(!bernoulli(p, &mut Script::new([1000])));
    assert!(!bernoulli(DyadicProbability::ZERO, &mut Script::new([0])));
}

#[test]
fn a_long_probability_takes_little_more_than_five_random_bits_a_bit() {
    // 5 shared digits, and 2 bits for each of the 1/32 of the lanes that they leave undecided: 5.0625.
    let words = 16_384_u32;
    let mut script = Script::new(random_words(1).take(6 * 16_384));
    let before = script.left();
    bernoulli_words(DyadicProbability::from_numerator(u64::MAX / 3), &mut script, &mut vec![0; 16_384]);
    let used = f64::from(u32::try_from(before - script.left()).unwrap()) / f64::from(words);
    // Standard deviation a word: sqrt(64 (1/32 · 2 + 31/1024 · 4)) / 64 = 0.054; over 16,384 words 0.0004.
    assert!((used - 5.0625).abs() < 0.0025, "{used} words a word");
}

/// A probability of `2⁻⁶⁵`: its first 64 digits are zeros.
const TINY: LongProbability = LongProbability { first: DyadicProbability::ZERO, tail: 1 << 63 };

#[test]
fn digits_beyond_the_64th_decide_when_the_first_are_equal() {
    // Zeros throughout are less than 2^-65, in every lane.
    let mut out = [7];
    long_bernoulli_words(TINY, &mut Script::new([0; 1000]), &mut out);
    assert_eq!(out, [u64::MAX]);
    // One zero short of it: lane 0 draws the 65th digit 1, the other lanes are decided by ones before.
    let first_word_differs = [!1_u64, 0, 0, 0, 0].into_iter().chain([0, 0, 1 << 63]);
    long_bernoulli_words(TINY, &mut Script::new(first_word_differs), &mut out);
    assert_eq!(out, [0]);
    let first_word_differs = [!1_u64, 0, 0, 0, 0].into_iter().chain([0, 0, (1 << 63) - 1]);
    long_bernoulli_words(TINY, &mut Script::new(first_word_differs), &mut out);
    assert_eq!(out, [1]);
}

#[test]
fn the_fixed_time_form_compares_all_128_digits() {
    // Words come from the last digit to the first; only the 65th digit and those before it matter here.
    let script = |at: usize, word: u64| {
        let mut words = vec![u64::MAX; 63];
        words.extend([0; 65]);
        words[at] = word;
        Script::new(words)
    };
    for (at, word, want) in [(63, 0, u64::MAX), (63, 0b10, !0b10), (64, 0b10, !0b10), (127, 1, !1), (0, 0, u64::MAX)] {
        let mut out = [7];
        let mut noise = script(at, word);
        long_bernoulli_words_fixed_time(TINY, &mut noise, &mut out);
        assert_eq!((out, noise.left()), ([want], 0), "word {at}");
    }
}
