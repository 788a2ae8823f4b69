//! Statistical checks on fixed seeds; each has a false-alarm rate of 1e-6 (the testkit's), unless it states another.

use std::collections::HashSet;

use sketch_hash::{
    DefaultHash, Domain, HashKey, KeyedHash, MixedTabulation, MultiplyShift, Polynomial2, Polynomial4,
    SimpleTabulation, bucket_top_bits, geometric_level, level_leading, sign_low_bit,
};
use sketch_testkit::{assert_binomial, assert_frequencies, binomial_two_sided};

/// Hashes of the integers below `count`: structured keys are where a weak hash would fail.
fn hashes(count: u64) -> Vec<u64> {
    let words: Vec<u64> = (0..count).collect();
    let mut out = vec![0; words.len()];
    DefaultHash::default().hash64_words(Domain::Integer, &words, &mut out);
    out
}

/// 2^−(level+1), and twice the last but one for the last.
fn level_law(levels: usize) -> Vec<f64> {
    let mut law: Vec<f64> =
        (1..=levels).map(|level| 0.5_f64.powf(f64::from(u32::try_from(level).unwrap_or(0)))).collect();
    if let Some(last) = law.last_mut() {
        *last *= 2.0;
    }
    law
}

/// Two of 2^17 random 64-bit hashes agree with probability 2^33 / 2^64 = 4.7e-10; of 32-bit hashes about two pairs do.
#[test]
fn no_two_of_many_words_share_a_hash() {
    let count = 1 << 17;
    let mut state = 0_u64;
    let words: Vec<u64> = (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state
        })
        .collect();
    let mut out = vec![0; words.len()];
    DefaultHash::default().hash64_words(Domain::Integer, &words, &mut out);
    assert_eq!(out.iter().collect::<HashSet<_>>().len(), words.len());
    assert_eq!(hashes(count).into_iter().collect::<HashSet<_>>().len(), words.len());
    sketch_hash::PrestoHash.hash64_words(Domain::Integer, &words, &mut out);
    assert_eq!(out.iter().collect::<HashSet<_>>().len(), words.len());
}

#[test]
fn every_input_bit_flips_every_output_bit_half_of_the_time() {
    let hash = DefaultHash::default();
    let trials = 4096;
    for input_bit in 0..64 {
        let mut flips = [0_u64; 64];
        for word in 0..trials {
            let changed =
                hash.hash64_word(Domain::Integer, word) ^ hash.hash64_word(Domain::Integer, word ^ 1 << input_bit);
            for (bit, count) in flips.iter_mut().enumerate() {
                *count += changed >> bit & 1;
            }
        }
        // 4096 counts share the false-alarm rate.
        for flips in flips {
            let tail = binomial_two_sided(flips, trials, 0.5);
            assert!(tail > 1e-6 / 4096.0, "{flips} of {trials} for input bit {input_bit}");
        }
    }
}

#[test]
fn cells_follow_the_product_of_the_bucket_and_level_laws() {
    let levels = 8;
    let law = level_law(levels);
    let mut trailing = vec![0; 16 * levels];
    let mut leading = vec![0; levels];
    for hash in hashes(1 << 18) {
        let level = usize::from(geometric_level(hash, 4, 8));
        trailing[bucket_top_bits(hash, 4) as usize * levels + level] += 1;
        leading[usize::from(level_leading(hash, 8))] += 1;
    }
    assert_frequencies(&trailing, &law.iter().map(|p| p / 16.0).cycle().take(16 * levels).collect::<Vec<_>>());
    assert_frequencies(&leading, &law);
}

/// How a family is tested: many members, a few keys.
macro_rules! family {
    ($name:ident, $family:ty, $members:expr) => {
        mod $name {
            use super::*;

            const MEMBERS: u64 = $members;

            fn members() -> impl Iterator<Item = $family> {
                (0..MEMBERS).map(|index| <$family>::new(HashKey::DEFAULT, index))
            }

            #[test]
            fn a_pair_of_keys_falls_uniformly_on_pairs_of_buckets_and_signs() {
                // 4 buckets and a sign for each of two neighbouring keys: 64 classes.
                let mut counts = vec![0; 64];
                for member in members() {
                    let class = |key| member.bucket(key, 4) * 2 + u64::from(member.sign(key) < 0);
                    counts[usize::try_from(class(41) * 8 + class(42)).unwrap()] += 1;
                }
                assert_frequencies(&counts, &[1.0 / 64.0; 64]);
            }

            #[test]
            fn collisions_in_a_table_are_as_rare_as_for_random_hashes() {
                // One pair of keys collides in a table of 64 with probability 1/64, over the choice of the member.
                let collisions = members().filter(|member| member.bucket(1000, 64) == member.bucket(1001, 64)).count();
                assert_binomial(collisions as u64, MEMBERS, 1.0 / 64.0);
            }
        }
    };
}

family!(multiply_shift, MultiplyShift, 20_000);
family!(polynomial2, Polynomial2, 20_000);
family!(polynomial4, Polynomial4, 20_000);
family!(simple_tabulation, SimpleTabulation, 2_000);
family!(mixed_tabulation, MixedTabulation, 2_000);

/// How many of `members` give keys whose signs multiply to −1.
fn negative_products(members: u64, sign: impl Fn(u64, u64) -> i64, keys: &[u64]) -> u64 {
    (0..members).filter(|index| keys.iter().map(|key| sign(*index, *key)).product::<i64>() < 0).count() as u64
}

#[test]
fn three_signs_are_independent_where_the_family_promises_it() {
    let keys = &CORNERS[..3];
    let polynomial = |index, key| Polynomial4::new(HashKey::DEFAULT, index).sign(key);
    assert_binomial(negative_products(20_000, polynomial, keys), 20_000, 0.5);
    let simple = |index, key| SimpleTabulation::new(HashKey::DEFAULT, index).sign(key);
    assert_binomial(negative_products(500, simple, keys), 500, 0.5);
    let mixed = |index, key| MixedTabulation::new(HashKey::DEFAULT, index).sign(key);
    assert_binomial(negative_products(500, mixed, keys), 500, 0.5);
}

/// The four corners of a rectangle, which show what is 4-wise independent and what is not.
const CORNERS: [u64; 4] = [0x0101, 0x0102, 0x0201, 0x0202];

#[test]
fn polynomials_of_degree_three_have_four_independent_signs() {
    let sign = |index, key| Polynomial4::new(HashKey::DEFAULT, index).sign(key);
    assert_binomial(negative_products(20_000, sign, &CORNERS), 20_000, 0.5);
}

#[test]
fn simple_tabulation_is_not_four_wise_independent_and_mixed_tabulation_repairs_that_case() {
    for index in 0..10 {
        let simple = SimpleTabulation::new(HashKey::DEFAULT, index);
        let mixed = MixedTabulation::new(HashKey::DEFAULT, index);
        assert_eq!(CORNERS.iter().fold(0, |sum, key| sum ^ simple.hash(*key)), 0);
        assert_ne!(CORNERS.iter().fold(0, |sum, key| sum ^ mixed.hash(*key)), 0);
    }
}

#[test]
fn signs_of_structured_keys_are_balanced() {
    let negative = hashes(1 << 17).into_iter().filter(|hash| sign_low_bit(*hash) < 0).count();
    assert_binomial(negative as u64, 1 << 17, 0.5);
}
