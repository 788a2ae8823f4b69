//! Raw data into noisy bits: fine while nobody has seen them, infinitely revealing afterwards.
#![expect(clippy::cast_precision_loss, reason = "counts are small")]

mod support;

use sfm_pcsa::cardinality_estimators::Confidence;
use sfm_pcsa::{Mechanism, MergeError, PcsaShape, PcsaSketch, SfmSketch, Unit, diagnostics::mechanisms};
use sketch_hash::DefaultHash;
use sketch_testkit::assert_mean;
use support::{noise, other_key, permit, raw, released, shape};

/// P(out = 1 | seen noisy bit t2, raw bit s1): the rule of `absorb`.
fn absorbed(p: f64, t2: bool, s1: bool) -> f64 {
    if s1 { p } else { f64::from(u8::from(t2)) }
}

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

/// The law of the published bit.
fn unseen(channel: (f64, f64), s1: bool, s2: bool) -> [f64; 2] {
    let one: f64 = [false, true].iter().map(|&t2| flip(channel, t2, s2) * absorbed(channel.0, t2, s1)).sum();
    [1.0 - one, one]
}

/// The joint law of the noisy bit before and the published bit.
fn seen(channel: (f64, f64), s1: bool, s2: bool) -> Vec<f64> {
    let both = |t2: bool, out: bool| {
        let one = absorbed(channel.0, t2, s1);
        flip(channel, t2, s2) * if out { one } else { 1.0 - one }
    };
    [(false, false), (false, true), (true, false), (true, true)].iter().map(|&(t2, out)| both(t2, out)).collect()
}

fn channels(epsilon: f64) -> [(f64, f64); 2] {
    let both = mechanisms(Some(dp_noise::Epsilon::new(epsilon).expect("an epsilon in range")));
    [(both.symmetric.p, both.symmetric.q), (both.xor_family.p, both.xor_family.q)]
}

#[test]
fn p1_d_unseen_bits_give_one_release_of_the_union() {
    for epsilon in [0.1, 1.0, 3.0] {
        for channel in channels(epsilon) {
            for (s1, s2) in [(false, false), (false, true), (true, false), (true, true)] {
                let expected = flip(channel, true, s1 || s2);
                assert!((unseen(channel, s1, s2)[1] - expected).abs() < 1e-15);
            }
            // An item in the later part, in the earlier one, and in both.
            for (s1, s2) in [(true, false), (false, true), (true, true)] {
                let found = loss(&unseen(channel, false, false), &unseen(channel, s1, s2));
                assert!(found <= epsilon * (1.0 + 1e-12) && found >= epsilon * (1.0 - 1e-9), "{found}");
            }
        }
    }
}

#[test]
fn p1_d_seen_bits_reveal_an_item_without_bound() {
    for channel in channels(1.0) {
        assert!(loss(&seen(channel, false, false), &seen(channel, true, false)).is_infinite());
        // What was shown alone costs epsilon: the loss comes from showing it next to the result.
        assert!((loss(&unseen(channel, false, false), &unseen(channel, true, false)) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_published_sketch_is_one_release_at_the_permits_level() {
    let mut coins = noise(1);
    let mut week = raw(shape(64, 8), 0..10).release_unseen(permit(1.5), &mut coins).expect("a release");
    assert_eq!((week.epsilon(), week.shape()), (1.5, shape(64, 8)));
    week.absorb(raw(shape(64, 8), 5..20), &mut coins).expect("one hash and shape");
    let published = week.publish();
    assert_eq!((published.epsilon(), published.epsilon_total()), (1.5, Some(1.5)));
    assert_eq!(published.leaves().len(), 1);
    let single = released(raw(shape(64, 8), 0..20), 1.5, &mut noise(2));
    assert_eq!(published.channel(), single.channel());
    assert!(published.insecure_noise(), "test noise stays marked");
    let bytes = published.to_bytes();
    assert_eq!(SfmSketch::from_bytes_allowing_insecure_noise(&bytes).expect("its own bytes"), published);
}

#[test]
fn units_and_mechanisms_carry_over() {
    let unit = Unit::user(3).expect("at least one item");
    let mut coins = noise(3);
    let start = raw(shape(64, 8), 0..10);
    let mut unseen = start.release_unseen_with(Mechanism::XorFamily, unit, permit(1.5), &mut coins).expect("a release");
    unseen.absorb(raw(shape(64, 8), 0..0), &mut coins).expect("one hash and shape");
    let published = unseen.publish();
    assert_eq!(published.units(), [unit]);
    assert!((published.channel().p() - 0.5).abs() < 1e-15);
    assert!((published.channel().q() - (-0.5f64).exp() / 2.0).abs() < 1e-15);
}

#[test]
fn sketches_that_do_not_fit_are_refused_and_change_nothing() {
    let publish = |refused: bool| {
        let mut coins = noise(4);
        let mut unseen = raw(shape(64, 8), 0..10).release_unseen(permit(1.0), &mut coins).expect("a release");
        if refused {
            let other = PcsaSketch::new(shape(64, 8), other_key());
            assert!(matches!(unseen.absorb(other, &mut coins), Err(MergeError::Hash { .. })));
            let error = unseen.absorb(raw(shape(64, 9), 0..10), &mut coins);
            assert!(matches!(error, Err(MergeError::Shape { .. })));
            let bounded = raw(shape(64, 8), 0..10).with_unit(Unit::user(2).expect("at least one item"));
            assert!(matches!(unseen.absorb(bounded, &mut coins), Err(MergeError::Unit { .. })));
        }
        unseen.publish()
    };
    assert_eq!(publish(true), publish(false));
}

#[test]
fn debug_shows_neither_cells_nor_bits() {
    let unseen = raw(shape(64, 8), 0..10).release_unseen(permit(1.0), &mut noise(5)).expect("a release");
    let text = format!("{unseen:?}");
    assert!(text.starts_with("UnseenBitmap") && text.len() < 250, "{text}");
}

#[cfg(feature = "os-rng")]
#[test]
fn secure_noise_stays_secure_and_insecure_coins_mark_the_result() {
    use sfm_pcsa::dp_noise::NoiseRng;
    let mut secure = NoiseRng::from_os().expect("entropy");
    let mut insecure = noise(6);
    for mark in [false, true] {
        let mut unseen = raw(shape(64, 8), 0..10).release_unseen(permit(1.0), &mut secure).expect("a release");
        let more = raw(shape(64, 8), 5..20);
        if mark { unseen.absorb(more, &mut insecure) } else { unseen.absorb(more, &mut secure) }.expect("it fits");
        let published = unseen.publish();
        assert_eq!(published.insecure_noise(), mark);
        assert_eq!(published.epsilon_if_seen_alone().is_some(), !mark);
    }
}

/// Flip rates of published bits by what the true cells were, and the estimate: 400 weeks of three days.
#[test]
fn published_bits_and_estimates_follow_the_law_of_one_release() {
    let shape = PcsaShape::new(256, 12).expect("a shape");
    let mut coins = noise(7);
    let (mut kept, mut estimates) = (Vec::new(), Vec::new());
    let days = [0..700_u64, 500..900, 200..1000];
    let all = raw(shape, 0..1000);
    // A probe sees the true cells: nearly no noise.
    let truth: f64 = released(all, 44.0, &mut coins).ones_per_level().iter().map(|&ones| ones as f64).sum();
    for _ in 0..400 {
        let mut week =
            PcsaSketch::new(shape, DefaultHash::default()).release_unseen(permit(1.0), &mut coins).expect("a release");
        for day in days.clone() {
            week.absorb(raw(shape, day), &mut coins).expect("it fits");
        }
        let published = week.publish();
        let ones: f64 = published.ones_per_level().iter().map(|&ones| ones as f64).sum();
        let (p, q) = (published.channel().p(), published.channel().q());
        // p ones among the true cells, q among the others.
        kept.push(ones - p * truth - q * (shape.cells() as f64 - truth));
        estimates.push(published.estimate(Confidence::P95).value().expect("a value"));
    }
    let variance = shape.cells() as f64 * 0.731_058_578_6 * 0.268_941_421_4;
    assert_mean(&kept, 0.0, variance.sqrt());
    // 1000 items, standard error about 11%; the estimator's own bias is a percent.
    let mean = estimates.iter().sum::<f64>() / 400.0;
    assert!((mean / 1000.0 - 1.0).abs() < 0.08, "{mean}");
}
