//! Sketches of a secret sample: what goes together, what they state, and bytes that nobody meant well with.

mod support;

use dp_noise::{SampleRate, SubsampleKey, Subsampler, loss_under_one_key};
use f0_sketch::cardinality_estimators::parity::SetCombination;
use f0_sketch::cardinality_estimators::{Confidence, Status};
use f0_sketch::{
    F0Shape, MergeError, RawSubsampledF0, SubsampledDecodeError, SubsampledF0Sketch, SubsampledMergeError, Unit,
    WeightRule, subsampled_hash_id,
};
use sketch_hash::DefaultHash;
use sketch_testkit::{assert_accepted_is_canonical, assert_damage_is_refused, reseal};
use support::{epsilon, noise, permit, shape};

fn coins(key: u8, gamma: f64) -> Subsampler {
    SubsampleKey::from_bytes([key; 32]).sampler(SampleRate::new(gamma).expect("a rate"))
}

fn raw(shape: F0Shape, coins: &Subsampler, items: core::ops::Range<u64>) -> RawSubsampledF0 {
    let mut raw = RawSubsampledF0::new(shape, WeightRule::Unit, DefaultHash::default(), coins.sampling());
    let mut writer = raw.writer(coins).expect("its own coins");
    items.for_each(|item| writer.toggle_item(&item.into()));
    raw
}

fn released(raw: RawSubsampledF0, level: f64, seed: u64) -> SubsampledF0Sketch {
    raw.release(permit(level), &mut noise(seed)).expect("a release")
}

fn read(bytes: &[u8]) -> Result<SubsampledF0Sketch, SubsampledDecodeError> {
    SubsampledF0Sketch::from_bytes_allowing_insecure_noise(bytes)
}

fn read_raw(bytes: &[u8]) -> Result<RawSubsampledF0, SubsampledDecodeError> {
    RawSubsampledF0::from_sensitive_bytes(bytes, DefaultHash::default())
}

fn bytes(raw: &RawSubsampledF0) -> Vec<u8> {
    raw.to_sensitive_bytes().to_vec()
}

#[test]
fn a_release_states_both_levels_and_their_formulas() {
    let coins = coins(1, 0.0082);
    let one = released(raw(shape(8, 64), &coins, 0..50), 1.0, 1);
    let release = one.releases().next().expect("one");
    assert_eq!((release.epsilon(), one.epsilon(), one.epsilon_total()), (epsilon(1.0), 1.0, Some(1.0)));
    // ln(1 + (e − 1)/γ) = 5.35.
    let inner = (1.0 + 1_f64.exp_m1() / 0.0082).ln();
    assert!((release.epsilon_if_key_known().get() - inner).abs() < 1e-9 && inner > 5.34 && inner < 5.36);
    assert!((release.flip_probability() - 1.0 / (1.0 + inner.exp())).abs() < 1e-12);
    let two = one.merge(&released(raw(shape(8, 64), &coins, 20..90), 1.0, 2)).expect("one key");
    let all = two.epsilon_total().expect("one unit");
    let expected = (1.0 + 0.0082 * ((2.0 * inner).exp() - 1.0)).ln();
    assert!((all - expected).abs() < 1e-6 && all > 5.8, "{all}: not 2");
    assert_eq!((two.epsilon(), two.releases().len()), (1.0, 2));
    assert!((two.epsilon_if_key_known() - inner).abs() < 1e-9);
    let text = format!("{one:?}");
    assert!(text.contains(&coins.sampling().key.to_string()), "{text}");
}

#[test]
fn samples_of_other_keys_and_rates_stay_apart() {
    let own = coins(1, 0.1);
    let mut first = raw(shape(8, 64), &own, 0..50);
    let before = bytes(&first);
    for other in [coins(2, 0.1), coins(1, 0.2)] {
        assert!(first.writer(&other).is_err());
        let stranger = raw(shape(8, 64), &other, 0..50);
        assert!(matches!(first.merge(&stranger), Err(SubsampledMergeError::Sampling(_))));
        let (a, b) = (released(first.clone(), 1.0, 1), released(stranger, 1.0, 2));
        assert!(matches!(a.merge(&b), Err(SubsampledMergeError::Sampling(_))));
        let pair = a.estimate_with(&b, SetCombination::Union, Confidence::P95);
        assert!(matches!(pair, Err(SubsampledMergeError::Sampling(_))));
        assert_eq!(bytes(&first), before);
    }
    let one = released(first, 1.0, 1);
    let twice = one.merge(&one).expect_err("one release twice");
    assert!(matches!(twice, SubsampledMergeError::Sketch(MergeError::RepeatedRelease { .. })));
    assert!(SubsampledF0Sketch::merge_all(&[]).is_err());
}

#[test]
fn the_exposure_of_a_raw_sample_adds_up_and_tells_what_a_further_release_costs() {
    let coins = coins(1, 0.05);
    let mut sample = raw(shape(8, 64), &coins, 0..50);
    let inner = sample.inner_level(epsilon(1.0)).expect("in range");
    assert!((sample.loss_with(epsilon(1.0)).expect("in range") - 1.0).abs() < 1e-9);
    assert_eq!(sample.record_release(epsilon(1.0)).expect("in range"), 1);
    assert!((sample.exposure() - inner).abs() < 1e-12);
    let both = sample.loss_with(epsilon(1.0)).expect("in range");
    let formula = loss_under_one_key(&[(coins.sampling().rate, inner); 2]);
    assert!((both - formula).abs() < 1e-9 && both > 4.0, "{both}");
    assert_eq!(read_raw(&bytes(&sample)).expect("its own bytes"), sample);
    let other = sample.clone();
    sample.merge(&other).expect("one key");
    assert!((sample.exposure() - 2.0 * inner).abs() < 1e-9 && sample.releases() == 2);
    let user = Unit::user(1000).expect("items");
    let tiny = raw(shape(8, 64), &coins, 0..0).with_unit(user).expect("an item before");
    assert!(tiny.check_release(epsilon(1e-8)).is_err(), "a thousandth is below the least");
    assert!(tiny.check_release(epsilon(100.0)).is_err(), "a thousand times its inner level is above the largest");
}

/// Ten standard errors, which noise crosses once in 10^22.
#[test]
fn counts_come_back_from_samples_with_their_error() {
    let coins = coins(4, 0.05);
    let [a, b] = [0..60_000, 40_000..100_000].map(|items| raw(shape(20, 2048), &coins, items));
    let close = |found: Option<f64>, error: Option<f64>, exact: f64| {
        let (found, error) = (found.expect("a value"), error.expect("an error"));
        assert!((found - exact).abs() < 10.0 * error && error < 0.3 * exact, "{found} ± {error} for {exact}");
    };
    let kept = a.estimate(Confidence::P95);
    close(kept.value(), kept.std_error(), 60_000.0);
    let [a, b] = [(a, 1), (b, 2)].map(|(raw, seed)| released(raw, 1.0, seed));
    let one = a.estimate(Confidence::P95);
    close(one.value(), one.std_error(), 60_000.0);
    // Of the sketch alone, over the rate: the sampling adds (1 − γ)/(γ n).
    let inner = a.sampled().estimate(Confidence::P95).std_error().expect("an error") / 0.05;
    let sampling = one.value().expect("a value") * 0.95 / 0.05;
    assert!((one.std_error().expect("an error") - (inner * inner + sampling).sqrt()).abs() < 1.0);
    let xor = a.merge(&b).expect("one key").estimate(Confidence::P95);
    close(xor.value(), xor.std_error(), 80_000.0);
    let union = a.estimate_with(&b, SetCombination::Union, Confidence::P95).expect("one key");
    close(union.value(), union.std_error(), 100_000.0);
    let nothing = raw(shape(20, 2048), &coins, 0..0).estimate(Confidence::P95);
    assert_eq!(nothing.status(), Status::BelowNoise, "an empty sample is no proof of an empty set");
    assert!(nothing.upper().expect("bounded") > 50.0);
}

fn merged() -> SubsampledF0Sketch {
    let coins = coins(1, 0.1);
    let [a, b] = [1.0, 2.0].map(|level| released(raw(shape(3, 20), &coins, 0..20), level, level.to_bits()));
    a.merge(&b).expect("one key")
}

#[test]
fn damaged_and_forged_bytes_are_refused_or_canonical() {
    let sample = raw(shape(3, 20), &coins(1, 0.1), 0..20);
    assert_damage_is_refused(&merged().to_bytes(), read);
    assert_damage_is_refused(&bytes(&sample), read_raw);
    assert_accepted_is_canonical(&merged().to_bytes(), read, SubsampledF0Sketch::to_bytes);
    assert_accepted_is_canonical(&bytes(&sample), read_raw, bytes);
    assert_eq!(subsampled_hash_id(&bytes(&sample)).expect("its own"), sample.hash_id());
    assert!(SubsampledF0Sketch::from_bytes(&merged().to_bytes()).is_err(), "noise of the test generator");
}

#[test]
fn what_bytes_state_is_checked() {
    let whole = merged().to_bytes();
    let forge = |at: usize, value: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        reseal(&mut bytes);
        read(&bytes)
    };
    // Rate at 32, key at 40, number of levels at 56, levels at 64 and 72.
    assert!(matches!(forge(32, &1_u64.to_le_bytes()), Err(SubsampledDecodeError::Rate { found: 1 })));
    // A larger rate protects less: the flips do not keep ε.
    let larger = SampleRate::new(0.11).expect("a rate").numerator();
    assert!(matches!(forge(32, &larger.to_le_bytes()), Err(SubsampledDecodeError::Level { .. })));
    let smaller = SampleRate::new(0.09).expect("a rate").numerator();
    assert!(forge(32, &smaller.to_le_bytes()).is_ok());
    for level in [0.999, 0.0, -1.0, f64::NAN, 257.0] {
        assert!(matches!(forge(64, &f64::to_le_bytes(level)), Err(SubsampledDecodeError::Level { .. })), "{level}");
    }
    let mut short = whole[..56].to_vec();
    short.extend(1_u64.to_le_bytes());
    short.extend(&whole[64..72]);
    short.extend(&whole[80..]);
    reseal(&mut short);
    assert!(matches!(read(&short), Err(SubsampledDecodeError::Levels { expected: 2, found: 1 })));
    // The flag of insecure noise is that of the file inside.
    assert!(matches!(forge(7, &[1]), Err(SubsampledDecodeError::Flags)));
    let sample = bytes(&raw(shape(3, 20), &coins(1, 0.1), 0..20));
    for bad in [-0.0, 1.0, f64::NAN, f64::INFINITY] {
        let mut forged = sample.clone();
        forged[56..64].copy_from_slice(&f64::to_le_bytes(bad));
        reseal(&mut forged);
        assert!(matches!(read_raw(&forged), Err(SubsampledDecodeError::Exposure { .. })), "{bad}");
    }
    assert!(read_raw(&whole).is_err() && read(&sample).is_err(), "families are not taken for each other");
}

/// `golden/generate.py` made them, with its own `ChaCha20` and its own formula of the level.
#[test]
fn golden_files_are_what_their_key_and_their_items_give() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let golden = |name: &str| {
        let bytes = std::fs::read(folder.join(format!("{name}.bin"))).expect("a file");
        let says = std::fs::read(folder.join(format!("{name}.json"))).expect("a file");
        (bytes, serde_json::from_slice::<serde_json::Value>(&says).expect("JSON"))
    };
    let key = SubsampleKey::from_bytes(core::array::from_fn(|place| u8::try_from(place).expect("below 32")));
    let rate_of = |says: &serde_json::Value| {
        let numerator = says["rate"].as_str().expect("text").parse().expect("a number");
        SampleRate::from_numerator(numerator).expect("in range")
    };
    for name in ["subsampled-single", "subsampled-pair"] {
        let (bytes, says) = golden(name);
        let read = SubsampledF0Sketch::from_bytes(&bytes).expect("a sketch");
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!((read.sampling().rate, read.sampling().key), (rate_of(&says), key.id()), "{name}");
        assert_eq!(key.id().to_string(), says["sample_key"].as_str().expect("text"));
        let levels: Vec<f64> = read.releases().map(|release| release.epsilon().get()).collect();
        assert_eq!(serde_json::json!(levels), says["levels"]);
        assert_eq!(read.sampled().to_bytes(), golden(says["parts"][0].as_str().expect("a name")).0);
        // Within the digit that they were rounded up by.
        let rate = read.sampling().rate;
        for (leaf, level) in read.sampled().leaves().iter().zip(levels) {
            let realised = rate.level(dp_noise::DyadicProbability::from_numerator(leaf.flip_numerator()));
            assert!(realised <= level && realised > level - 0.001, "{realised} {level}");
        }
    }
    let (bytes, says) = golden("subsampled-raw");
    let coins = key.sampler(rate_of(&says));
    let mut built = RawSubsampledF0::new(shape(4, 10), WeightRule::Unit, DefaultHash::default(), coins.sampling());
    let mut writer = built.writer(&coins).expect("its own coins");
    let items = says["items"].as_array().expect("a list");
    for item in items {
        writer.toggle_item(&item.as_u64().expect("a number").into());
    }
    assert_eq!(self::bytes(&built), bytes);
    assert!(!built.estimate(Confidence::P95).covers(0.0), "some are kept");
}
