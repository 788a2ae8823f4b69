//! The gates of Boolean operations, negation, and thinning.

use dp_noise::hazmat::InsecureTestRng;

use super::{FORMS, assert_close, draw_plainly, input_lists, pattern_probability, symmetric, xor_family};
use crate::channel::Channel;
use crate::coin::Threshold;
use crate::double_double::DoubleDouble;
use crate::gate::{BooleanOp, OutputForm, gate};
use crate::or_merge::OrMerge;
use crate::pair::PairRule;
use crate::thin::Thinning;

/// A channel after every operation that a history may hold, for operations on results of operations.
fn results() -> Vec<Channel> {
    let mut found = vec![symmetric(1.0), xor_family(2.0)];
    for op in BooleanOp::ALL {
        for form in FORMS {
            found.push(gate(op, form, symmetric(2.0), symmetric(3.5)).unwrap().channel);
        }
    }
    // Here p < 1/2.
    let both = gate(BooleanOp::And, OutputForm::Extremal, xor_family(1.0), xor_family(1.0)).unwrap().channel;
    found.extend([both, both.negated().unwrap()]);
    found
}

/// With the thresholds that [`PairRule`] draws with, on pairs of results, some with `p < 1/2`.
#[test]
fn every_gate_on_results_of_gates_realises_its_channel_with_the_thresholds_used() {
    let channels = results();
    assert!(channels.iter().any(|channel| channel.p() < DoubleDouble::HALF));
    for (op, form) in BooleanOp::ALL.into_iter().flat_map(|op| FORMS.map(|form| (op, form))) {
        for (&first, &second) in channels.iter().zip(channels.iter().rev()).chain(channels.iter().zip(&channels)) {
            let gate = gate(op, form, first, second).unwrap();
            let thresholds = PairRule::new(gate.table).unwrap().thresholds();
            for (s1, s2) in [(false, false), (false, true), (true, false), (true, true)] {
                let state = u128::from(s1) | u128::from(s2) << 1;
                let inputs = [first, second];
                let out = (0..4).fold(DoubleDouble::ZERO, |sum, t| {
                    let pattern = t as u128 >> 1 | (t as u128 & 1) << 1;
                    sum + pattern_probability(&inputs, pattern, state) * thresholds[t].to_probability()
                });
                let wanted = if op.apply(s1, s2) { gate.channel.p() } else { gate.channel.q() };
                assert_close(out, wanted, 5.5e-20, "gate");
            }
        }
    }
}

#[test]
fn every_result_made_symmetric_realises_its_channel_and_is_symmetric() {
    for channel in results() {
        let Some(thinning) = Thinning::new(channel).unwrap() else {
            assert_close(channel.p() + channel.q(), DoubleDouble::ONE, 5.5e-20, "left alone");
            continue;
        };
        let [zero, one] = thinning.table().map(Threshold::to_probability);
        let result = thinning.channel();
        assert_close(result.p() + result.q(), DoubleDouble::ONE, 1e-28, "symmetric");
        for (t, wanted) in [(channel.p(), result.p()), (channel.q(), result.q())] {
            assert_close(t * one + (DoubleDouble::ONE - t) * zero, wanted, 5.5e-20, "thinned");
        }
        assert!(Thinning::new(result).unwrap().is_none());
    }
}

#[test]
fn an_extremal_or_made_symmetric_is_the_symmetric_or() {
    for inputs in input_lists().into_iter().filter(|inputs| inputs.len() > 1) {
        let [extremal, published] = FORMS.map(|form| OrMerge::new(form, &inputs).unwrap().channel());
        let thinned = Thinning::new(extremal).unwrap().map_or(extremal, |thinning| thinning.channel());
        assert_close(thinned.p(), published.p(), 1e-28, "p");
        assert_close(thinned.a() / published.a(), DoubleDouble::ONE, 1e-27, "a");
    }
}

#[test]
fn a_negation_swaps_the_errors_and_keeps_the_signal() {
    for channel in results() {
        let negated = channel.negated().unwrap();
        assert_close(negated.p(), DoubleDouble::ONE - channel.q(), 1e-30, "p");
        assert_close(negated.q(), DoubleDouble::ONE - channel.p(), 1e-30, "q");
        assert!((negated.level() - channel.level()).abs() < 1e-13);
    }
}

#[test]
fn the_symmetric_xor_is_a_plain_xor() {
    for form in FORMS {
        let xor = gate(BooleanOp::Xor, form, symmetric(1.0), symmetric(0.4)).unwrap();
        let rule = PairRule::new(xor.table).unwrap();
        assert!(rule.is_deterministic());
        assert_eq!(rule.thresholds(), [Threshold::NEVER, Threshold::Always, Threshold::Always, Threshold::NEVER]);
        // tanh(eps*/2) = tanh(eps1/2) tanh(eps2/2).
        let (level, wanted) = (xor.channel.level(), 0.5_f64.tanh() * 0.2_f64.tanh());
        assert!(((level / 2.0).tanh() - wanted).abs() < 1e-15);
        assert!(
            !PairRule::new(gate(BooleanOp::And, form, symmetric(1.0), symmetric(1.0)).unwrap().table)
                .unwrap()
                .is_deterministic()
        );
    }
}

#[test]
fn drawn_pairs_follow_the_thresholds() {
    // Lane l holds the pattern l & 3: first bit the higher one.
    let words = [2, 1].map(|bit| (0..64).fold(0_u64, |word, lane| word | u64::from(lane & bit != 0) << lane));
    for (seed, op) in (0..).zip(BooleanOp::ALL) {
        for form in FORMS {
            let rule = PairRule::new(gate(op, form, symmetric(0.7), xor_family(2.0)).unwrap().table).unwrap();
            let thresholds = core::array::from_fn(|lane| rule.thresholds()[lane & 3]);
            let mut noise = InsecureTestRng::from_u64(seed);
            let expected = draw_plainly(&thresholds, &mut noise.clone());
            let drawn = rule.draw(&words[..1], &words[1..], &mut noise)[0];
            assert_eq!(core::array::from_fn(|lane| drawn >> lane & 1 == 1), expected, "{op:?}");
        }
    }
}

#[test]
fn thinned_bits_follow_the_thresholds() {
    let alternating = 0xaaaa_aaaa_aaaa_aaaa;
    let extremal = OrMerge::new(OutputForm::Extremal, &[symmetric(1.0), symmetric(2.0)]).unwrap().channel();
    for (seed, channel) in (0..).zip([extremal, xor_family(1.0), Channel::from_probabilities(0.3, 0.1).unwrap()]) {
        let thinning = Thinning::new(channel).unwrap().expect("not symmetric");
        let thresholds = core::array::from_fn(|lane| thinning.table()[lane & 1]);
        let mut noise = InsecureTestRng::from_u64(seed);
        let expected = draw_plainly(&thresholds, &mut noise.clone());
        let drawn = thinning.draw(&[alternating], &mut noise)[0];
        assert_eq!(core::array::from_fn(|lane| drawn >> lane & 1 == 1), expected, "{channel:?}");
    }
}
