//! What secret sub-sampling buys: predicted and measured errors of F0 and SFM sketches, with real keys and real noise.
//!
//! `cargo run --release -p dpsketch --example subsampled -- 200` prints the table of the chapter on sub-sampling with 200 trials a row.

use std::error::Error;

use dpsketch::cardinality_estimators::parity::{ParityErrors, ParityModel};
use dpsketch::cardinality_estimators::{BitChannel, CellLayout, Confidence, predicted_rse};
use dpsketch::dp_noise::{Epsilon, NoiseRng, Permit, RandomizedResponse, SampleRate, SubsampleKey, Subsampler};
use dpsketch::f0_sketch::{F0Shape, RawSubsampledF0, SubsampledF0Sketch, WeightRule};
use dpsketch::sfm_pcsa::{PcsaShape, RawSubsampledPcsa, subsampled_union_estimate};
use dpsketch::sketch_hash::{DefaultHash, HashKey, Item};

/// Items, ε of a sketch, sketches that share the items, and γ.
const ROWS: [(u32, f64, u32, f64); 6] = [
    (100_000, 1.0, 1, 0.057),
    (100_000, 1.0, 8, 0.031),
    (100_000, 1.0, 32, 0.014),
    (1_000_000, 0.5, 1, 0.0076),
    (1_000_000, 0.5, 32, 0.003),
    (10_000, 1.0, 2, 0.23),
];

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let trials = std::env::args().nth(1).map_or(Ok(100), |text| text.parse::<u32>())?;
    println!(
        "| n | ε | k | γ | ε₀ | F0 predicted | F0 measured | F0 without | SFM predicted | SFM measured | SFM without |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (n, epsilon, sketches, gamma) in ROWS {
        let (rate, level) = (SampleRate::new(gamma)?, Epsilon::new(epsilon)?);
        let inner = rate.inner_level(level);
        let (mut parity, mut bitmap) = (0.0, 0.0);
        for _ in 0..trials {
            parity += error_of_f0(n, sketches, rate, level)?.powi(2);
            // Of one sketch: what several SFM sketches tell together depends on how they are put together.
            bitmap += error_of_sfm(n, rate, level)?.powi(2);
        }
        let measured = |sum: f64| percent((sum / f64::from(trials)).sqrt());
        let sampling = ((1.0 - gamma) / (gamma * f64::from(n))).sqrt();
        let (of_f0, of_sfm) =
            (predicted_f0(gamma * f64::from(n), inner, sketches)?, predicted_sfm(gamma * f64::from(n), inner)?);
        println!(
            "| {n} | {epsilon} | {sketches} | {gamma} | {:.2} | {} | {} | {} | {} | {} | {} |",
            inner.get(),
            percent(of_f0.hypot(sampling)),
            measured(parity),
            percent(predicted_f0(f64::from(n), level, sketches)?),
            percent(of_sfm.hypot(sampling)),
            measured(bitmap),
            percent(predicted_sfm(f64::from(n), level)?),
        );
    }
    Ok(())
}

fn percent(error: f64) -> String {
    if error < 20.0 { format!("{:.2} %", error * 100.0) } else { "none".to_owned() }
}

/// Relative standard error of so many merged F0 sketches of 24 levels of 4096 cells.
fn predicted_f0(n: f64, level: Epsilon, sketches: u32) -> Outcome<f64> {
    let contrast = (level.get() / 2.0).tanh().powi(i32::try_from(sketches)?);
    Ok(ParityErrors::new(&F0Shape::DEFAULT.layout(), ParityModel::Set, contrast)?.rse(n))
}

/// The same of one SFM sketch.
fn predicted_sfm(n: f64, level: Epsilon) -> Outcome<f64> {
    let channel = BitChannel::symmetric(RandomizedResponse::symmetric(level).q().to_f64())?;
    Ok(predicted_rse(&CellLayout::pcsa(4096, 24)?, channel, n))
}

/// Coins and hash of a trial.
fn fresh(rate: SampleRate, noise: &mut NoiseRng) -> (Subsampler, DefaultHash) {
    use dpsketch::dp_noise::rand_core::Rng;
    let mut key = [0; 16];
    noise.fill_bytes(&mut key);
    (SubsampleKey::draw(noise).sampler(rate), DefaultHash::new(HashKey::from_bytes(key)))
}

/// The relative error of the XOR of sketches with disjoint parts of the items.
fn error_of_f0(n: u32, sketches: u32, rate: SampleRate, level: Epsilon) -> Outcome<f64> {
    let mut noise = NoiseRng::from_os()?;
    let (coins, hash) = fresh(rate, &mut noise);
    let mut released = Vec::new();
    for part in 0..sketches {
        let mut raw = RawSubsampledF0::new(F0Shape::DEFAULT, WeightRule::Unit, hash.clone(), coins.sampling());
        let hashes: Vec<_> =
            (part..n).step_by(sketches as usize).map(|item| Item::from(u64::from(item)).hash128(&hash)).collect();
        raw.writer(&coins)?.toggle_hashes(&hashes);
        released.push(raw.release(Permit::standalone(level), &mut noise)?);
    }
    let merged = SubsampledF0Sketch::merge_all(&released.iter().collect::<Vec<_>>())?;
    let found = merged.estimate(Confidence::P95).value().unwrap_or(f64::INFINITY);
    Ok(found / f64::from(n) - 1.0)
}

/// The relative error of one sketch of all items.
fn error_of_sfm(n: u32, rate: SampleRate, level: Epsilon) -> Outcome<f64> {
    let mut noise = NoiseRng::from_os()?;
    let (coins, hash) = fresh(rate, &mut noise);
    let mut raw = RawSubsampledPcsa::new(PcsaShape::DEFAULT, hash.clone(), coins.sampling());
    let hashes: Vec<_> = (0..n).map(|item| Item::from(u64::from(item)).hash64(&hash)).collect();
    raw.writer(&coins)?.update_hashes(&hashes);
    let released = raw.release(Permit::standalone(level), &mut noise)?;
    let found = subsampled_union_estimate(&[&released], Confidence::P95)?.value().unwrap_or(f64::INFINITY);
    Ok(found / f64::from(n) - 1.0)
}
