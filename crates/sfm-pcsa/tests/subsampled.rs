//! Sketches of a secret sample: what goes together, what they state, and bytes that nobody meant well with.

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit, SampleRate, SubsampleKey, Subsampler};
use sfm_pcsa::cardinality_estimators::{Confidence, Status};
use sfm_pcsa::{
    MergeError, MergeForm, PcsaShape, RawSubsampledPcsa, SubsampledDecodeError, SubsampledMergeError,
    SubsampledSfmSketch, subsampled_hash_id, subsampled_union_estimate,
};
use sketch_hash::DefaultHash;
use sketch_testkit::{assert_accepted_is_canonical, assert_damage_is_refused, reseal};

fn noise(seed: u64) -> InsecureTestRng {
    InsecureTestRng::from_u64(seed)
}

fn coins(key: u8, gamma: f64) -> Subsampler {
    SubsampleKey::from_bytes([key; 32]).sampler(SampleRate::new(gamma).expect("a rate"))
}

fn raw(buckets: u32, coins: &Subsampler, items: core::ops::Range<u64>) -> RawSubsampledPcsa {
    let shape = PcsaShape::new(buckets, 16).expect("a shape");
    let mut raw = RawSubsampledPcsa::new(shape, DefaultHash::default(), coins.sampling());
    let mut writer = raw.writer(coins).expect("its own coins");
    items.for_each(|item| writer.update_item(&item.into()));
    raw
}

fn released(raw: RawSubsampledPcsa, level: f64, seed: u64) -> SubsampledSfmSketch {
    let permit = Permit::standalone(Epsilon::new(level).expect("in range"));
    raw.release(permit, &mut noise(seed)).expect("a release")
}

fn read(bytes: &[u8]) -> Result<SubsampledSfmSketch, SubsampledDecodeError> {
    SubsampledSfmSketch::from_bytes_allowing_insecure_noise(bytes)
}

fn read_raw(bytes: &[u8]) -> Result<RawSubsampledPcsa, SubsampledDecodeError> {
    RawSubsampledPcsa::from_sensitive_bytes(bytes, DefaultHash::default())
}

fn bytes(raw: &RawSubsampledPcsa) -> Vec<u8> {
    raw.to_sensitive_bytes().to_vec()
}

/// Ten standard errors, which noise crosses once in 10^22.
#[test]
fn counts_come_back_from_samples_with_their_error() {
    let coins = coins(4, 0.05);
    let [a, b] = [0..60_000, 40_000..100_000].map(|items| raw(1024, &coins, items));
    let mut together = a.clone();
    together.merge(&b).expect("one key");
    assert_eq!(together.estimate(Confidence::P95), raw(1024, &coins, 0..100_000).estimate(Confidence::P95));
    let [a, b] = [(a, 1), (b, 2)].map(|(raw, seed)| released(raw, 1.0, seed));
    let merged = SubsampledSfmSketch::merge_all(&[&a, &b], MergeForm::Extremal, &mut noise(3)).expect("one key");
    assert_eq!((merged.releases().len(), merged.epsilon()), (2, 1.0));
    assert!(merged.epsilon_total().expect("one unit") > 4.0, "one key: more than 2");
    let union = subsampled_union_estimate(&[&a, &b], Confidence::P95).expect("one key");
    for (found, exact) in [(a.estimate(Confidence::P95), 6e4), (merged.estimate(Confidence::P95), 1e5), (union, 1e5)] {
        let (value, error) = (found.value().expect("a value"), found.std_error().expect("an error"));
        assert!((value - exact).abs() < 10.0 * error && error < 0.2 * exact, "{found} for {exact}");
    }
    let nothing = raw(1024, &coins, 0..0).estimate(Confidence::P95);
    assert_eq!(nothing.status(), Status::BelowNoise, "an empty sample is no proof of an empty set");
}

#[test]
fn samples_of_other_keys_and_rates_stay_apart() {
    let own = coins(1, 0.1);
    let mut first = raw(64, &own, 0..50);
    let before = bytes(&first);
    for other in [coins(2, 0.1), coins(1, 0.2)] {
        assert!(first.writer(&other).is_err());
        let stranger = raw(64, &other, 0..50);
        assert!(matches!(first.merge(&stranger), Err(SubsampledMergeError::Sampling(_))));
        let (a, b) = (released(first.clone(), 1.0, 1), released(stranger, 1.0, 2));
        let merged = SubsampledSfmSketch::merge_all(&[&a, &b], MergeForm::Extremal, &mut noise(3));
        assert!(matches!(merged, Err(SubsampledMergeError::Sampling(_))));
        let union = subsampled_union_estimate(&[&a, &b], Confidence::P95);
        assert!(matches!(union, Err(SubsampledMergeError::Sampling(_))));
        assert_eq!(bytes(&first), before);
    }
    let one = released(first, 1.0, 1);
    let twice = SubsampledSfmSketch::merge_all(&[&one, &one], MergeForm::Extremal, &mut noise(3));
    assert!(matches!(twice, Err(SubsampledMergeError::Sketch(MergeError::RepeatedRelease { .. }))));
}

fn merged() -> SubsampledSfmSketch {
    let coins = coins(1, 0.1);
    let [a, b] = [1.0, 2.0].map(|level| released(raw(4, &coins, 0..20), level, level.to_bits()));
    SubsampledSfmSketch::merge_all(&[&a, &b], MergeForm::Extremal, &mut noise(3)).expect("one key")
}

#[test]
fn damaged_and_forged_bytes_are_refused_or_canonical() {
    let mut sample = raw(4, &coins(1, 0.1), 0..20);
    assert_damage_is_refused(&merged().to_bytes(), read);
    assert_damage_is_refused(&bytes(&sample), read_raw);
    assert_accepted_is_canonical(&merged().to_bytes(), read, SubsampledSfmSketch::to_bytes);
    assert_accepted_is_canonical(&bytes(&sample), read_raw, bytes);
    assert_eq!(subsampled_hash_id(&bytes(&sample)).expect("its own"), sample.hash_id());
    assert!(SubsampledSfmSketch::from_bytes(&merged().to_bytes()).is_err(), "noise of the test generator");
    sample.record_release(Epsilon::new(1.0).expect("in range")).expect("in range");
    assert_eq!(read_raw(&bytes(&sample)).expect("its own bytes"), sample);
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
    let larger = SampleRate::new(0.11).expect("a rate").numerator();
    assert!(matches!(forge(32, &larger.to_le_bytes()), Err(SubsampledDecodeError::Level { .. })));
    let smaller = SampleRate::new(0.09).expect("a rate").numerator();
    assert!(forge(32, &smaller.to_le_bytes()).is_ok());
    for level in [0.999, 0.0, f64::NAN, 257.0] {
        assert!(matches!(forge(64, &f64::to_le_bytes(level)), Err(SubsampledDecodeError::Level { .. })), "{level}");
    }
    assert!(matches!(forge(7, &[1]), Err(SubsampledDecodeError::Flags)));
    let sample = bytes(&raw(4, &coins(1, 0.1), 0..20));
    for bad in [-0.0, 1.0, f64::NAN, f64::INFINITY] {
        let mut forged = sample.clone();
        forged[56..64].copy_from_slice(&f64::to_le_bytes(bad));
        reseal(&mut forged);
        assert!(matches!(read_raw(&forged), Err(SubsampledDecodeError::Exposure { .. })), "{bad}");
    }
    assert!(read_raw(&whole).is_err() && read(&sample).is_err(), "families are not taken for each other");
}

/// `golden/generate_subsampled.py` made them, with its own `ChaCha20` and its own formula of the level.
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
        let read = SubsampledSfmSketch::from_bytes(&bytes).expect("a sketch");
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!((read.sampling().rate, read.sampling().key), (rate_of(&says), key.id()), "{name}");
        assert_eq!(key.id().to_string(), says["sample_key"].as_str().expect("text"));
        let levels: Vec<f64> = read.releases().map(|release| release.epsilon().get()).collect();
        assert_eq!(serde_json::json!(levels), says["levels"]);
        assert_eq!(read.sampled().to_bytes(), golden(says["parts"][0].as_str().expect("a name")).0);
        // Within the digit that they were rounded up by.
        for release in read.releases() {
            let flips = dp_noise::DyadicProbability::from_numerator(release.flip_numerator());
            let (realised, level) = (read.sampling().rate.level(flips), release.epsilon().get());
            assert!(realised <= level && realised > level - 0.001, "{realised} {level}");
        }
    }
    let (bytes, says) = golden("subsampled-raw");
    let coins = key.sampler(rate_of(&says));
    let shape = PcsaShape::new(64, 8).expect("a shape");
    let mut built = RawSubsampledPcsa::new(shape, DefaultHash::default(), coins.sampling());
    let mut writer = built.writer(&coins).expect("its own coins");
    let items = says["items"].as_array().expect("a list");
    for item in items {
        writer.update_item(&item.as_u64().expect("a number").into());
    }
    assert_eq!(self::bytes(&built), bytes);
    assert!(!built.estimate(Confidence::P95).covers(0.0), "some are kept");
}
