//! Exact laws of merges, by adding up every pattern of noisy bits. Tests only.
//!
//! The thresholds are the integers over 2⁶⁴ that the code compares its coins with. [`drawn_bits_follow_the_thresholds`]
//! ties every drawing path to them; the rest is arithmetic of about 100 bits.

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, NoiseSource, RandomizedResponse};

use crate::bit_merge::merge_or;
use crate::channel::Channel;
use crate::coin::Threshold;
use crate::double_double::DoubleDouble;
use crate::gate::{BooleanOp, OutputForm, gate};
use crate::or_merge::OrMerge;

mod gates;

const FORMS: [OutputForm; 2] = [OutputForm::Extremal, OutputForm::Symmetric];

fn channel(noise: RandomizedResponse) -> Channel {
    Channel::from_numerators(noise.p().numerator(), noise.q().numerator()).unwrap()
}

fn symmetric(epsilon: f64) -> Channel {
    channel(RandomizedResponse::symmetric(Epsilon::new(epsilon).unwrap()))
}

fn xor_family(epsilon: f64) -> Channel {
    channel(RandomizedResponse::xor_family(Epsilon::new(epsilon).unwrap()))
}

/// Lists of inputs: one and many, equal and mixed, both mechanisms, merged ones, and more than fifteen.
fn input_lists() -> Vec<Vec<Channel>> {
    let merged = OrMerge::new(OutputForm::Extremal, &[symmetric(1.0), symmetric(2.5)]).unwrap().channel();
    let published = OrMerge::new(OutputForm::Symmetric, &[symmetric(0.5), xor_family(3.0)]).unwrap().channel();
    vec![
        vec![symmetric(1.0)],
        vec![symmetric(1.0); 2],
        vec![symmetric(0.5), symmetric(2.0)],
        vec![symmetric(4.0), xor_family(1.0)],
        vec![xor_family(1.0), xor_family(2.0)],
        vec![symmetric(2.0); 5],
        vec![xor_family(0.7), xor_family(1.0), xor_family(3.0)],
        vec![merged, symmetric(1.0), published],
        vec![symmetric(0.3), symmetric(1.0), symmetric(1.0), symmetric(44.0), xor_family(2.0), merged],
        // Below one half, as other gates may leave them.
        vec![Channel::from_probabilities(0.4, 0.1).unwrap(), symmetric(1.0), symmetric(1.0)],
        vec![Channel::from_probabilities(0.3, 0.1).unwrap(), Channel::from_probabilities(0.2, 0.15).unwrap()],
    ]
}

/// The threshold for noisy bits `pattern` (input `i` is bit `i`), from the definition.
fn threshold(merge: &OrMerge, pattern: u128) -> Threshold {
    let factors = merge.factors().iter().enumerate();
    let x = factors.fold(DoubleDouble::ONE, |x, (i, factor)| x * factor[usize::from(pattern >> i & 1 == 1)]);
    Threshold::from_probability(merge.probability(x).unwrap()).unwrap()
}

/// P(noisy bits = `pattern` | true bits = `state`).
fn pattern_probability(inputs: &[Channel], pattern: u128, state: u128) -> DoubleDouble {
    inputs.iter().enumerate().fold(DoubleDouble::ONE, |product, (i, channel)| {
        let one = if state >> i & 1 == 1 { channel.p() } else { channel.q() };
        product * if pattern >> i & 1 == 1 { one } else { DoubleDouble::ONE - one }
    })
}

/// P(out = 1 | true bits = `state`), with the thresholds of the code.
fn output_probability(merge: &OrMerge, inputs: &[Channel], state: u128) -> DoubleDouble {
    (0..1 << inputs.len()).fold(DoubleDouble::ZERO, |sum, pattern| {
        sum + pattern_probability(inputs, pattern, state) * threshold(merge, pattern).to_probability()
    })
}

fn assert_close(got: DoubleDouble, want: DoubleDouble, tolerance: f64, what: &str) {
    let error = (got - want).abs().to_f64();
    assert!(error <= tolerance, "{what}: got {got:?}, want {want:?}, {error:e} apart");
}

#[test]
fn every_or_merge_realises_its_channel() {
    for inputs in input_lists() {
        for form in FORMS {
            let merge = OrMerge::new(form, &inputs).unwrap();
            for state in 0..1 << inputs.len() {
                let wanted = if state == 0 { merge.channel().q() } else { merge.channel().p() };
                // A threshold is less than 2^-64 = 5.4e-20 off.
                assert_close(output_probability(&merge, &inputs, state), wanted, 5.5e-20, "output");
            }
        }
    }
}

#[test]
fn every_gate_realises_its_channel() {
    let channels = [symmetric(0.5), symmetric(3.0), xor_family(1.0), Channel::from_probabilities(0.4, 0.1).unwrap()];
    for op in BooleanOp::ALL {
        for form in FORMS {
            for (first, second) in channels.iter().flat_map(|&a| channels.iter().map(move |&b| (a, b))) {
                let gate = gate(op, form, first, second).unwrap();
                for (s1, s2) in [(false, false), (false, true), (true, false), (true, true)] {
                    let state = u128::from(s1) | u128::from(s2) << 1;
                    let out = [0b00, 0b10, 0b01, 0b11].iter().zip(gate.table).fold(
                        DoubleDouble::ZERO,
                        |sum, (&pattern, v)| {
                            let v = Threshold::from_probability(v).unwrap().to_probability();
                            sum + pattern_probability(&[first, second], pattern, state) * v
                        },
                    );
                    let wanted = if op.apply(s1, s2) { gate.channel.p() } else { gate.channel.q() };
                    assert_close(out, wanted, 5.5e-20, "gate");
                }
            }
        }
    }
}

#[test]
fn gate_or_and_one_shot_or_agree() {
    for inputs in input_lists().into_iter().filter(|inputs| inputs.len() == 2) {
        for form in FORMS {
            let gate = gate(BooleanOp::Or, form, inputs[0], inputs[1]).unwrap();
            let merge = OrMerge::new(form, &inputs).unwrap();
            assert_close(gate.channel.p(), merge.channel().p(), 1e-28, "p");
            assert_close(gate.channel.a(), merge.channel().a(), 1e-28, "a");
            for (t, v) in gate.table.into_iter().enumerate() {
                let x = merge.factors()[0][t >> 1] * merge.factors()[1][t & 1];
                assert_close(merge.probability(x).unwrap(), v, 1e-28, "v");
            }
        }
    }
}

/// P(out = 1 | noisy bits) of two merges one after the other: `(0, 1)` first, then `2`.
fn two_steps(form: OutputForm, inputs: &[Channel], pattern: u128) -> DoubleDouble {
    let inner = OrMerge::new(form, &inputs[..2]).unwrap();
    let outer = OrMerge::new(form, &[inner.channel(), inputs[2]]).unwrap();
    let third = pattern & 0b100;
    let middle = threshold(&inner, pattern & 0b011).to_probability();
    let with = |bit: u128| threshold(&outer, bit | third >> 1).to_probability();
    middle * with(1) + (DoubleDouble::ONE - middle) * with(0)
}

#[test]
fn one_shot_and_pairwise_merges_have_one_distribution() {
    let lists = [
        vec![symmetric(1.0); 3],
        vec![symmetric(0.5), symmetric(2.0), symmetric(4.0)],
        vec![xor_family(1.0), symmetric(1.0), xor_family(3.0)],
        vec![xor_family(1.0), xor_family(2.0), xor_family(3.0)],
    ];
    for inputs in lists {
        for form in FORMS {
            // The symmetric form of xor-family inputs leaves that family, so only like inputs are compared there.
            let mixed = inputs.iter().any(|channel| channel.p() == DoubleDouble::HALF);
            if form == OutputForm::Symmetric && mixed {
                continue;
            }
            let one_shot = OrMerge::new(form, &inputs).unwrap();
            for pattern in 0..8 {
                let direct = threshold(&one_shot, pattern).to_probability();
                assert_close(two_steps(form, &inputs, pattern), direct, 2e-19, "pattern");
            }
        }
    }
}

#[test]
fn channels_of_merges_associate() {
    let lists = [[0.5, 1.0, 4.0], [1.0, 1.0, 1.0], [0.01, 8.0, 0.3]];
    for epsilons in lists {
        for form in FORMS {
            let [a, b, c] = epsilons.map(symmetric);
            let join = |inputs: &[Channel]| OrMerge::new(form, inputs).unwrap().channel();
            let (left, right) = (join(&[join(&[a, b]), c]), join(&[a, join(&[b, c])]));
            for other in [right, join(&[a, b, c])] {
                assert_close(left.p(), other.p(), 1e-28, "p");
                assert_close(left.a() / other.a(), DoubleDouble::ONE, 1e-27, "a");
            }
        }
    }
}

#[test]
fn extremal_merges_take_the_least_p_and_the_product_of_a() {
    let inputs = [symmetric(0.5), symmetric(2.0), symmetric(4.0)];
    let merged = OrMerge::new(OutputForm::Extremal, &inputs).unwrap().channel();
    assert_eq!(merged.p(), inputs[0].p());
    let product = inputs.iter().fold(DoubleDouble::ONE, |a, channel| a * channel.a());
    assert_close(merged.a(), product, 1e-30, "a");
    let published = OrMerge::new(OutputForm::Symmetric, &inputs).unwrap().channel();
    assert_close(published.p(), DoubleDouble::ONE / (DoubleDouble::TWO - product), 1e-30, "p");
    assert_close(published.a(), product, 1e-30, "a");
}

/// Whether a uniform number is below each lane's threshold, decided digit by digit without any cleverness: the first
/// five digits of all lanes are the bits of five words, the digits after them are read from the words that follow, for
/// one lane after the other and only as far as needed.
fn draw_plainly(thresholds: &[Threshold; 64], noise: &mut InsecureTestRng) -> [bool; 64] {
    let mut words = [0; 256];
    noise.fill_words(&mut words);
    let mut bits = words[5..].iter().flat_map(|word| (0..64).rev().map(move |k| word >> k & 1));
    core::array::from_fn(|lane| match thresholds[lane] {
        Threshold::Always => true,
        Threshold::NEVER => false,
        Threshold::Below(t) => {
            let shared = words[..5].iter().map(|word| word >> lane & 1);
            for (place, digit) in shared.enumerate() {
                let wanted = t >> (63 - place) & 1;
                if digit != wanted {
                    return digit < wanted;
                }
            }
            for k in (0..59).rev() {
                let (digit, wanted) = (bits.next().expect("16,000 bits"), t >> k & 1);
                if digit != wanted {
                    return digit < wanted;
                }
            }
            false
        }
    })
}

#[test]
fn drawn_bits_follow_the_thresholds() {
    let mut lists = input_lists();
    lists.push(vec![symmetric(3.0); 16]);
    lists.push(vec![symmetric(6.0); 70]);
    // More inputs than one table takes.
    lists.push((1..=18).map(|i| symmetric(2.0 + f64::from(i) / 10.0)).collect());
    for (seed, inputs) in (0..).zip(lists) {
        for form in FORMS {
            let merge = OrMerge::new(form, &inputs).unwrap();
            // Lane l holds the pattern l in the first six inputs; the others repeat them.
            let words: Vec<[u64; 1]> = (0..inputs.len())
                .map(|i| [(0..64).fold(0, |word, lane| word | (lane >> (i % 6) & 1) << lane)])
                .collect();
            let columns: Vec<&[u64]> = words.iter().map(|word| &word[..]).collect();
            let mut noise = InsecureTestRng::from_u64(seed);
            let thresholds: [Threshold; 64] = core::array::from_fn(|lane| {
                let bit = |(i, word): (usize, &[u64; 1])| u128::from(word[0] >> lane & 1) << i;
                threshold(&merge, words.iter().enumerate().map(bit).sum())
            });
            let expected = draw_plainly(&thresholds, &mut noise.clone());
            let drawn = merge_or(&merge, &columns, 64, &mut noise).unwrap()[0];
            let drawn: [bool; 64] = core::array::from_fn(|lane| drawn >> lane & 1 == 1);
            assert_eq!(drawn, expected, "{} inputs", inputs.len());
        }
    }
}

#[test]
fn what_a_merge_says_if_seen_alone_bounds_what_its_coins_realise() {
    for inputs in input_lists() {
        for form in FORMS {
            let merge = OrMerge::new(form, &inputs).unwrap();
            let outcome =
                crate::lineage::Outcome { channel: merge.channel(), randomised: u32::from(!merge.is_deterministic()) };
            let stated = crate::noisy::level_seen_alone(&outcome, 32);
            let absent = output_probability(&merge, &inputs, 0);
            for state in 1..1 << inputs.len() {
                let present = output_probability(&merge, &inputs, state);
                let not = |x: DoubleDouble| DoubleDouble::ONE - x;
                // ln(x / y) as ln(1 + (x - y)/y); the thresholds of two patterns may round either way.
                for (x, y) in [(present, absent), (not(absent), not(present))] {
                    let realised = ((x - y) / y).to_f64().ln_1p();
                    assert!(realised <= stated, "realised {realised}, stated {stated}");
                }
            }
        }
    }
}

#[test]
fn thirty_two_noisy_merges_are_not_reported_below_their_rounding() {
    let channel = OrMerge::new(OutputForm::Extremal, &[symmetric(0.1); 32]).unwrap().channel();
    // a = (1 - e^-0.1)^32 is about 2e-33, far below the 2^-64 to which coins are decided.
    assert!(channel.level() < 1e-32);
    let outcome = crate::lineage::Outcome { channel, randomised: 31 };
    let stated = crate::noisy::level_seen_alone(&outcome, 32);
    assert!(stated >= 2.0 * 31.0 / 2f64.powi(64) / channel.q().to_f64().min(channel.not_p().to_f64()));
}

#[test]
fn probabilities_outside_the_unit_interval_are_refused_and_never_clamped() {
    use crate::channel::{ChannelError, probability};
    for bad in [-1e-11, 1.0 + 1e-11, -3.0, 7.0, f64::NAN, f64::INFINITY] {
        let refused = probability(DoubleDouble::from_f64(bad));
        assert!(matches!(refused, Err(ChannelError::Probability { .. })), "{bad}");
    }
    for rounding in [-1e-13, 0.0, 0.3, 1.0, 1.0 + 1e-13] {
        assert!(probability(DoubleDouble::from_f64(rounding)).is_ok(), "{rounding}");
    }
}

#[test]
fn thresholds_round_towards_one_half_and_keep_exact_multiples() {
    let exact = DoubleDouble::from_numerator(12_345);
    assert_eq!(Threshold::from_probability(exact).unwrap(), Threshold::Below(12_345));
    let third = DoubleDouble::ONE / DoubleDouble::from_f64(3.0);
    // 2^64 / 3 = 6148914691236517205.33…, and twice that is 12297829382473034410.67.
    assert_eq!(Threshold::from_probability(third).unwrap(), Threshold::Below(6_148_914_691_236_517_206));
    assert_eq!(Threshold::from_probability(third.scale(2.0)).unwrap(), Threshold::Below(12_297_829_382_473_034_410));
    assert_eq!(Threshold::from_probability(DoubleDouble::ZERO).unwrap(), Threshold::NEVER);
    assert_eq!(Threshold::from_probability(DoubleDouble::ONE).unwrap(), Threshold::Always);
}

#[test]
fn merges_that_leave_no_signal_are_refused() {
    use crate::channel::ChannelError;
    let refused = OrMerge::new(OutputForm::Extremal, &[symmetric(1e-6); 20]);
    assert!(matches!(refused, Err(ChannelError::NoSignal { .. })));
    assert!(matches!(OrMerge::new(OutputForm::Extremal, &[]), Err(ChannelError::NoInput)));
    assert!(matches!(OrMerge::xor(&[xor_family(1.0), symmetric(1.0)]), Err(ChannelError::NotHalf { .. })));
}
