//! Privacy by enumeration: exact probabilities of everything that somebody sees, never samples.
//!
//! One cell is enough: cells are flipped independently, and a person changes the cells of its items only. Whoever sees
//! several bits sees their joint law, so that is what is enumerated.

mod support;

use sfm_pcsa::diagnostics::{GateTable, gate_table, mechanisms};
use sfm_pcsa::{BooleanOp, MergeForm, OutputForm, dp_noise::Epsilon};
use support::{noise, raw, released, shape};

/// Channels `(p, q)` of both mechanisms at a level.
fn channels(epsilon: f64) -> [(f64, f64); 2] {
    let both = mechanisms(Some(Epsilon::new(epsilon).expect("an epsilon in range")));
    [(both.symmetric.p, both.symmetric.q), (both.xor_family.p, both.xor_family.q)]
}

/// P(t | s).
fn flip((p, q): (f64, f64), t: bool, s: bool) -> f64 {
    let one = if s { p } else { q };
    if t { one } else { 1.0 - one }
}

/// The largest |ln P/P'| over outcomes; infinite if one law has an outcome that the other lacks.
fn loss(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .filter(|(a, b)| **a > 0.0 || **b > 0.0)
        .fold(0.0, |worst, (a, b)| (a / b).ln().abs().max(worst))
}

/// Rounding of a few products and a logarithm.
const TINY: f64 = 1e-12;

#[test]
fn one_item_more_costs_epsilon_and_no_less() {
    for epsilon in [2f64.powi(-10), 0.1, 1.0, 2.0, 10.0] {
        for channel in channels(epsilon) {
            let [without, with] = [false, true].map(|s| [false, true].map(|t| flip(channel, t, s)));
            let found = loss(&without, &with);
            assert!(found <= epsilon * (1.0 + TINY), "{channel:?}: {found}");
            assert!(
                found >= epsilon * (1.0 - 1e-9) - 1e-12,
                "{channel:?} adds more noise than {epsilon} asks for: {found}"
            );
        }
    }
}

/// The law of several cells behind one channel.
fn joint(channel: (f64, f64), states: &[bool]) -> Vec<f64> {
    (0..1_usize << states.len())
        .map(|t| states.iter().enumerate().map(|(i, &s)| flip(channel, t >> i & 1 == 1, s)).product())
        .collect()
}

#[test]
fn replacing_an_item_costs_twice_and_k_items_cost_k_times() {
    let channel = channels(1.0)[0];
    let replaced = loss(&joint(channel, &[true, false]), &joint(channel, &[false, true]));
    assert!((replaced - 2.0).abs() < TINY, "{replaced}");
    for items in 1..=5 {
        let found = loss(&joint(channel, &vec![true; items]), &joint(channel, &vec![false; items]));
        let expected = f64::from(u32::try_from(items).expect("few items"));
        assert!((found - expected).abs() < 1e-11, "{items}: {found}");
    }
}

/// What an observer of a merge of two sketches may see besides its output.
#[derive(Clone, Copy)]
enum Sees {
    /// The merged bit alone.
    Output,
    /// The merged bit and the first input.
    OutputAndFirst,
    /// The merged bit and the uniform number that decided it.
    OutputAndCoins,
}

/// The law of what is seen when the true bits are `s1`, `s2`.
fn seen(sees: Sees, inputs: [(f64, f64); 2], table: [f64; 4], s1: bool, s2: bool) -> Vec<f64> {
    let pattern = |t: usize| flip(inputs[0], t >> 1 == 1, s1) * flip(inputs[1], t & 1 == 1, s2);
    match sees {
        Sees::Output => {
            let one: f64 = (0..4).map(|t| pattern(t) * table[t]).sum();
            vec![1.0 - one, one]
        }
        Sees::OutputAndFirst => (0..4)
            .map(|seen| {
                let (first, out) = (seen >> 1, seen & 1);
                (0..2)
                    .map(|second| {
                        let t = first << 1 | second;
                        pattern(t) * if out == 1 { table[t] } else { 1.0 - table[t] }
                    })
                    .sum()
            })
            .collect(),
        Sees::OutputAndCoins => {
            // Between two thresholds the output is one function of the noisy bits.
            let mut cuts = [0.0, table[0], table[1], table[2], table[3], 1.0];
            cuts.sort_by(f64::total_cmp);
            let pieces = cuts.windows(2).filter(|piece| piece[1] - piece[0] > TINY);
            pieces
                .flat_map(|piece| {
                    let middle = f64::midpoint(piece[0], piece[1]);
                    let one: f64 = (0..4).filter(|&t| middle < table[t]).map(pattern).sum();
                    let width = piece[1] - piece[0];
                    [width * one, width * (1.0 - one)]
                })
                .map(|x| if x < TINY * TINY { 0.0 } else { x })
                .collect()
        }
    }
}

/// Loss about somebody in the first input only, and about somebody in both.
fn losses(sees: Sees, inputs: [(f64, f64); 2], form: OutputForm) -> (f64, f64) {
    let GateTable { v, .. } = gate_table(BooleanOp::Or, form, inputs[0], inputs[1]).expect("a gate");
    let law = |s1, s2| seen(sees, inputs, v, s1, s2);
    let one = [false, true].map(|other| loss(&law(false, other), &law(true, other))).into_iter().fold(0.0, f64::max);
    (one, loss(&law(false, false), &law(true, true)))
}

#[test]
fn a_merge_seen_alone_has_the_level_of_its_channel() {
    for form in [OutputForm::Extremal, OutputForm::Symmetric] {
        for (first, second) in [(1.0, 1.0), (0.5, 3.0)] {
            let inputs = [channels(first)[0], channels(second)[0]];
            let level = gate_table(BooleanOp::Or, form, inputs[0], inputs[1]).expect("a gate").epsilon;
            let (one, both) = losses(Sees::Output, inputs, form);
            assert!((both - level).abs() < TINY, "{both} {level}");
            // Leaving one of two inputs changes the union only if the other is empty there.
            assert!((one - level).abs() < TINY, "{one} {level}");
        }
    }
    // Two sketches at epsilon = 1: ln(e + 1/e - 1) for the extremal merge, the published form below it.
    let inputs = [channels(1.0)[0]; 2];
    let (_, extremal) = losses(Sees::Output, inputs, OutputForm::Extremal);
    let expected = (1f64.exp() + (-1f64).exp() - 1.0).ln();
    assert!((extremal - expected).abs() < TINY);
    let (_, published) = losses(Sees::Output, inputs, OutputForm::Symmetric);
    assert!((published + (2.0 * (-1f64).exp() - (-2f64).exp()).ln()).abs() < TINY);
}

#[test]
fn a_merge_with_known_coins_costs_what_its_inputs_cost() {
    let (one, both) = losses(Sees::OutputAndCoins, [channels(1.0)[0]; 2], OutputForm::Extremal);
    assert!((one - 1.0).abs() < 1e-9, "{one}");
    // Not 0.735, which holds only while the coins are secret.
    assert!((both - 2.0).abs() < 1e-9, "{both}");
}

#[test]
fn a_merge_next_to_an_input_costs_what_its_inputs_cost() {
    // The xor merge of A and B next to A gives B's noisy bit back.
    let inputs = [channels(1.0)[1]; 2];
    let (_, alone) = losses(Sees::Output, inputs, OutputForm::Extremal);
    assert!((alone + (2.0 * (-1f64).exp() - (-2f64).exp()).ln()).abs() < TINY, "0.51 if seen alone, not {alone}");
    let (_, both) = losses(Sees::OutputAndFirst, inputs, OutputForm::Extremal);
    assert!((both - 2.0).abs() < 1e-9, "{both}");
    // About somebody in the second input only, whose own sketch was never shown: the full level again.
    let swapped = |s2| seen(Sees::OutputAndFirst, inputs, [0.0, 1.0, 1.0, 0.0], false, s2);
    assert!((loss(&swapped(false), &swapped(true)) - 1.0).abs() < TINY);
}

#[test]
fn what_sketches_state_adds_up() {
    let mut coins = noise(3);
    let small = shape(64, 8);
    let parts = [0.5, 1.0, 2.0].map(|epsilon| released(raw(small, 0..10), epsilon, &mut coins));
    let merged = sfm_pcsa::SfmSketch::merge_all(&parts.each_ref(), MergeForm::Extremal, &mut coins).expect("a merge");
    assert_eq!((merged.epsilon(), merged.epsilon_total()), (2.0, Some(3.5)));
    assert_eq!(merged.epsilon_if_seen_alone(), None, "test noise protects nobody");
    assert!(merged.insecure_noise());
}

#[cfg(feature = "os-rng")]
#[test]
fn real_noise_states_what_its_flips_realise() {
    use sfm_pcsa::dp_noise::NoiseRng;
    let mut coins = NoiseRng::from_os().expect("entropy");
    let single = released(raw(shape(64, 8), 0..10), 1.0, &mut coins);
    let stated = single.epsilon_if_seen_alone().expect("secure noise");
    assert!(stated <= 1.0 && stated > 1.0 - 1e-9, "{stated}");
    let other = released(raw(shape(64, 8), 0..10), 1.0, &mut coins);
    let merged = single.merge(&other, MergeForm::Extremal, &mut coins).expect("a merge");
    let expected = (1f64.exp() + (-1f64).exp() - 1.0).ln();
    let stated = merged.epsilon_if_seen_alone().expect("secure noise");
    assert!(stated >= expected - 1e-12 && stated <= expected * (1.0 + 1e-9), "{stated}");
    assert!(!merged.insecure_noise());
}

#[cfg(feature = "os-rng")]
#[test]
fn insecure_coins_mark_a_merge_but_the_coinless_merge_stays_clean() {
    use sfm_pcsa::dp_noise::NoiseRng;
    let mut secure = NoiseRng::from_os().expect("entropy");
    let release = |secure: &mut NoiseRng| {
        raw(shape(64, 8), 0..10).release_xor_family(support::permit(1.0), secure).expect("a release")
    };
    let (a, b) = (release(&mut secure), release(&mut secure));
    let parity = a.merge(&b, MergeForm::Xor, &mut noise(1)).expect("a merge");
    assert!(!parity.insecure_noise());
    let published = a.merge(&b, MergeForm::Symmetric, &mut noise(1)).expect("a merge");
    assert!(published.insecure_noise());
    assert_eq!(published.epsilon_if_seen_alone(), None);
}
