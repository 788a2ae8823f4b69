//! The kernels against versions that look at one bit at a time.

use gf2_linalg::{
    BitSlice, JointCounts, Lsb0, and_into, and_popcount, count_ones, joint_count_ones, joint_counts, or_into,
    or_popcount, popcount, transpose32_pairs, transpose64, xor_into, xor_popcount,
};
use proptest::{array::uniform32, collection::vec, prelude::*};

fn bit(words: &[u64], i: usize) -> bool {
    words[i / 64] >> (i % 64) & 1 == 1
}

fn slow_count(a: &[u64], b: &[u64], keep: impl Fn(bool, bool) -> bool) -> u64 {
    (0..64 * a.len()).filter(|&i| keep(bit(a, i), bit(b, i))).count() as u64
}

fn slow_into(a: &[u64], b: &[u64], join: impl Fn(bool, bool) -> bool) -> Vec<u64> {
    let mut out = vec![0; a.len()];
    for i in 0..64 * a.len() {
        out[i / 64] |= u64::from(join(bit(a, i), bit(b, i))) << (i % 64);
    }
    out
}

/// Two vectors of one length, up to past the pieces in which joint counts are taken.
fn pairs() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    prop_oneof![4 => 0_usize..70, 1 => 1020_usize..1030]
        .prop_flat_map(|length| (vec(any::<u64>(), length), vec(any::<u64>(), length)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn counts_are_those_of_single_bits((a, b) in pairs()) {
        prop_assert_eq!(popcount(&a), slow_count(&a, &a, |a, _| a));
        prop_assert_eq!(and_popcount(&a, &b), slow_count(&a, &b, |a, b| a && b));
        prop_assert_eq!(or_popcount(&a, &b), slow_count(&a, &b, |a, b| a || b));
        prop_assert_eq!(xor_popcount(&a, &b), slow_count(&a, &b, |a, b| a != b));
    }

    #[test]
    fn results_are_those_of_single_bits((a, b) in pairs()) {
        let run = |kernel: fn(&mut [u64], &[u64])| {
            let mut into = a.clone();
            kernel(&mut into, &b);
            into
        };
        prop_assert_eq!(run(xor_into), slow_into(&a, &b, |a, b| a != b));
        prop_assert_eq!(run(or_into), slow_into(&a, &b, |a, b| a || b));
        prop_assert_eq!(run(and_into), slow_into(&a, &b, |a, b| a && b));
    }

    #[test]
    fn joint_counts_are_those_of_single_bits((a, b) in pairs()) {
        let slow = JointCounts {
            neither: slow_count(&a, &b, |a, b| !a && !b),
            first_only: slow_count(&a, &b, |a, b| a && !b),
            second_only: slow_count(&a, &b, |a, b| !a && b),
            both: slow_count(&a, &b, |a, b| a && b),
        };
        prop_assert_eq!(joint_counts(&a, &b), slow);
    }

    #[test]
    fn slices_count_their_own_bits_only(
        words in vec(any::<u64>(), 6),
        start_a in 0_usize..150,
        start_b in 0_usize..150,
        length in 0_usize..230,
    ) {
        let bits = BitSlice::<u64, Lsb0>::from_slice(&words);
        let (a, b) = (&bits[start_a..start_a + length], &bits[start_b..start_b + length]);
        let slow = |keep: fn(bool, bool) -> bool| {
            (0..length).filter(|i| keep(bit(&words, start_a + i), bit(&words, start_b + i))).count() as u64
        };
        prop_assert_eq!(count_ones(a), slow(|a, _| a));
        let expected = JointCounts {
            neither: slow(|a, b| !a && !b),
            first_only: slow(|a, b| a && !b),
            second_only: slow(|a, b| !a && b),
            both: slow(|a, b| a && b),
        };
        prop_assert_eq!(joint_count_ones(a, b), expected);
    }

    #[test]
    fn transposing_moves_every_bit_to_its_mirror(low in uniform32(any::<u64>()), high in uniform32(any::<u64>())) {
        let mut before = [0; 64];
        before[..32].copy_from_slice(&low);
        before[32..].copy_from_slice(&high);
        let mut after = before;
        transpose64(&mut after);
        for i in 0..64 {
            for j in 0..64 {
                prop_assert_eq!(bit(&after, 64 * i + j), bit(&before, 64 * j + i));
            }
        }
    }

    #[test]
    fn transposing_halves_keeps_them_apart(before in uniform32(any::<u64>())) {
        let mut after = before;
        transpose32_pairs(&mut after);
        for half in [0, 32] {
            for i in 0..32 {
                for j in 0..32 {
                    prop_assert_eq!(bit(&after, 64 * i + half + j), bit(&before, 64 * j + half + i));
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "operands of different length")]
fn counting_refuses_operands_of_different_length() {
    let _ = xor_popcount(&[0, 0], &[0]);
}

#[test]
#[should_panic(expected = "operands of different length")]
fn joining_refuses_operands_of_different_length() {
    or_into(&mut [0], &[]);
}
