use super::*;
use crate::scripted::{Script, all_digit_sequences, random_words};

fn quarters(p: u64, q: u64) -> RandomizedResponse {
    let [p, q] = [p, q].map(|quarters| DyadicProbability::from_numerator(quarters << 62));
    RandomizedResponse::from_parts(p, q, Epsilon::new(3.0_f64.ln().next_up()).unwrap()).unwrap()
}

#[test]
fn symmetric_flips_have_their_exact_law() {
    // All 64 lanes together go through all four pairs of random digits, 16 times each.
    for (input, ones) in [(0, 16), (u64::MAX, 48)] {
        let mut words = [input];
        let mut script = Script::new(all_digit_sequences(2));
        quarters(3, 1).apply(&mut script, &mut words);
        assert_eq!((words[0].count_ones(), script.left()), (ones, 0));
    }
}

#[test]
fn general_flips_have_their_exact_law() {
    // One word decides for ones (p = 1/2), the next two for zeros (q = 1/4): eight triples of digits.
    let digits = all_digit_sequences(3);
    for (input, ones) in [(0, 16), (u64::MAX, 32)] {
        let mut words = [input];
        quarters(2, 1).apply(&mut Script::new(digits.clone()), &mut words);
        assert_eq!(words[0].count_ones(), ones);
    }
}

#[test]
fn output_ratios_on_three_bits_never_exceed_the_level() {
    // Lane by lane the outcome is independent, so P[out | in] is a product of p, q and their complements, here in
    // quarters; over neighbours (one bit apart) every ratio is at most 3 = e^ε.
    for (p, q) in [(3_u64, 1_u64), (2, 1)] {
        let chance = |input: u32, output: u32| -> u64 {
            (0..3)
                .map(|bit| {
                    let one = if (input >> bit) & 1 == 1 { p } else { q };
                    if (output >> bit) & 1 == 1 { one } else { 4 - one }
                })
                .product()
        };
        for input in 0..8 {
            assert_eq!((0..8).map(|output| chance(input, output)).sum::<u64>(), 64);
            for neighbour in (0..3).map(|bit| input ^ (1 << bit)) {
                for output in 0..8 {
                    assert!(chance(input, output) <= 3 * chance(neighbour, output), "{input} {neighbour} {output}");
                }
            }
        }
    }
}

#[test]
fn the_work_does_not_depend_on_the_bits_flipped() {
    for channel in [RandomizedResponse::symmetric, RandomizedResponse::xor_family] {
        let channel = channel(Epsilon::new(1.0).unwrap());
        let drawn = |data: u64| {
            let mut script = Script::new(random_words(7).take(2000));
            let mut words = [data; 100];
            channel.apply(&mut script, &mut words);
            (script.left(), words)
        };
        let ((left, zeros), (same_left, ones)) = (drawn(0), drawn(u64::MAX));
        assert_eq!(left, same_left);
        assert!(zeros != ones);
    }
}

#[test]
fn parts_with_one_unit_less_noise_are_refused() {
    for epsilon in [Epsilon::MIN, 0.1, 1.0, 5.0, 40.0].map(|e| Epsilon::new(e).unwrap()) {
        let symmetric = RandomizedResponse::symmetric(epsilon);
        assert_eq!(RandomizedResponse::from_parts(symmetric.p(), symmetric.q(), epsilon), Ok(symmetric));
        let q = symmetric.q().numerator() - 1;
        let [p, q] = [q.wrapping_neg(), q].map(DyadicProbability::from_numerator);
        assert!(RandomizedResponse::from_parts(p, q, epsilon).is_err());

        let xor = RandomizedResponse::xor_family(epsilon);
        assert_eq!(RandomizedResponse::from_parts(xor.p(), xor.q(), epsilon), Ok(xor));
        let q = DyadicProbability::from_numerator(xor.q().numerator() - 1);
        assert!(RandomizedResponse::from_parts(xor.p(), q, epsilon).is_err());
    }
}

#[test]
fn parts_without_privacy_or_without_signal_are_refused() {
    let most = Epsilon::new(Epsilon::MAX).unwrap();
    let try_parts = |p: u64, q: u64| {
        let [p, q] = [p, q].map(DyadicProbability::from_numerator);
        RandomizedResponse::from_parts(p, q, most)
    };
    assert!(try_parts(1 << 63, 0).is_err(), "q = 0 has no level");
    assert!(try_parts(1 << 63, 1 << 63).is_err(), "p = q tells nothing");
    assert!(try_parts(1, 2).is_err(), "p < q is another channel");
    assert!(try_parts(u64::MAX, 1).is_ok());
    let message = try_parts(1, 2).unwrap_err().to_string();
    assert_eq!(message, "p = 1 / 2^64 and q = 2 / 2^64 are not a channel with 0 < q < p of privacy level 256");
}

#[test]
fn the_output_zero_counts_as_much_as_the_output_one() {
    // p = 1023/1024, q = 1/2: output 1 has the ratio 1.998, output 0 the ratio 512.
    let [p, q] = [1023 << 54, 1 << 63].map(DyadicProbability::from_numerator);
    let level = 512.0_f64.ln();
    let try_level = |level: f64| RandomizedResponse::from_parts(p, q, Epsilon::new(level).unwrap());
    assert!(try_level(level.next_down()).is_err());
    assert!((try_level(level * (1.0 + 1e-15)).unwrap().epsilon_upper().get() - level).abs() < 1e-14);
}

#[test]
fn the_bound_behind_the_probabilities_is_an_upper_one() {
    // The same with 320 fraction bits: its lower bound must not exceed what the probabilities were made from.
    for level in [Epsilon::MIN, 0.1, 1.0, 44.0, 256.0] {
        let precise = exp_minus(Fixed::<6>::from_f64(level).unwrap()).low;
        let used = shrink_upper(level);
        let kept: Vec<u64> = precise.limbs()[2..].to_vec();
        let lost = precise.limbs()[..2].iter().any(|&limb| limb != 0);
        let order = used.limbs().iter().rev().cmp(kept.iter().rev());
        assert!(order.is_gt() || (order.is_eq() && !lost), "{level}");
    }
}
