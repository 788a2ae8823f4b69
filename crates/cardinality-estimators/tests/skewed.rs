//! Set formulas whose noisy unions came out too low, and with them the errors they state.
//!
//! Such data are made from their expected counts: the noisy patterns of sets of given sizes, the union's chosen freely.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, Estimate, PatternCounts, SetFormula, Status, set_estimate,
};

const BUCKETS: u32 = 4096;

/// The intersection of two sets as an answer, where the data say: both sets have `each` items, their union has `union`.
fn intersection(epsilon: f64, each: f64, union: f64, confidence: Confidence) -> Estimate {
    let channel = BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).unwrap();
    let layout = CellLayout::pcsa(BUCKETS, 24).unwrap();
    let counts = layout.groups().map(|(cells, rate)| {
        let (alone, both) = ((-rate * each).exp(), (-rate * union).exp());
        // True patterns 00, 10, 01, 11; a union below a set makes some negative, which noise covers.
        let truth = [both, alone - both, alone - both, 1.0 - 2.0 * alone + both];
        let seen = |noisy: usize| {
            let flip = |true_bit: usize, bit: usize| {
                let one = if true_bit == 1 { channel.p() } else { channel.q() };
                if bit == 1 { one } else { 1.0 - one }
            };
            let law =
                truth.iter().enumerate().map(|(t, share)| share * flip(t & 1, noisy & 1) * flip(t >> 1, noisy >> 1));
            law.sum::<f64>()
        };
        let [none, first, second] = [0, 1, 2].map(|noisy| whole(seen(noisy) * f64::from(BUCKETS)));
        vec![none, first, second, cells - none - first - second]
    });
    let patterns = PatternCounts::new(&layout, &[channel; 2], counts.collect()).unwrap();
    let both = SetFormula::from_membership(2, |sets| sets == 3).unwrap();
    set_estimate(&patterns, &both, confidence).unwrap()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 4096")]
fn whole(count: f64) -> u64 {
    count.round() as u64
}

#[test]
fn a_union_that_came_out_too_low_gives_no_certain_intersection() {
    // Ten thousand items each, seemingly all common and half as many again: six standard errors from any possible truth.
    let answer = intersection(0.25, 10_000.0, 4_000.0, Confidence::P95);
    let (value, error) = (answer.value().unwrap(), answer.std_error().unwrap());
    assert!((value - 16_000.0).abs() < 2_000.0 && value > 4.0 * error, "{answer}, error {error}");
    assert_eq!(answer.status(), Status::LowInformation);
    let reach = value - answer.lower().unwrap();
    assert!(reach > 1.25 * Confidence::P95.z() * error, "{answer}, error {error}");
    // A union that is larger than it seems is what makes the intersection smaller: the arm above is the shorter one.
    assert!(answer.upper().unwrap() - value < reach);
}

#[test]
fn well_known_unions_leave_the_standard_error_as_it_is() {
    let answer = intersection(2.0, 100_000.0, 150_000.0, Confidence::P95);
    let (value, error) = (answer.value().unwrap(), answer.std_error().unwrap());
    assert_eq!(answer.status(), Status::Ok);
    assert!((value / 50_000.0 - 1.0).abs() < 0.02, "{answer}");
    // Between one and 1.05 times z standard errors, on the scale of the interval.
    let below = (value / answer.lower().unwrap()).ln() * value / (Confidence::P95.z() * error);
    assert!((1.0 - 1e-9..1.05).contains(&below), "{below}");
}

#[test]
fn intervals_hold_the_value_and_grow_with_the_confidence() {
    let mut width = 0.0;
    for confidence in [0.5, 0.9, 0.99, 0.999_999] {
        let answer = intersection(0.5, 10_000.0, 12_000.0, Confidence::new(confidence).unwrap());
        let (lower, upper) = (answer.lower().unwrap(), answer.upper().unwrap_or(f64::INFINITY));
        assert!(lower <= answer.value().unwrap() && answer.value().unwrap() <= upper);
        assert!(upper - lower > width, "{answer}");
        width = upper - lower;
    }
}
