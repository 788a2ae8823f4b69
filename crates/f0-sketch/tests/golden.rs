//! The cases of `golden/noise.json` (independent Python with mpmath at 60 digits), computed with the public API.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

mod support;

use f0_sketch::diagnostics::{flip_numerator, merged_contrast, place, spent_level};
use f0_sketch::{F0Shape, F0Sketch, Mode, ModeKind, NoiseRule, Presampled, PrivateF0Sketch, Set, Unit};
use serde_json::{Value, json};
use sketch_testkit::{GoldenCase, GoldenFile};
use support::{empty, epsilon, noise, permit, shape};

const TWO_64: f64 = 18_446_744_073_709_551_616.0;

#[test]
fn every_case_is_met() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/noise.json");
    let file = GoldenFile::read(path).unwrap();
    assert_eq!(file.cases.len(), 16);
    let mut misses = Vec::new();
    for case in &file.cases {
        let got = match case.kind.as_str() {
            "noise" => noise_case(case),
            "xor_compose" => compose_case(case),
            "level_from_hash" => level_case(case),
            other => panic!("unknown kind {other}"),
        };
        misses.extend(case.check(&got));
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

/// A release of nothing at the level of the case, for a user with as many items as cells change.
fn release<M: Mode>(case: &GoldenCase, rule: NoiseRule) -> PrivateF0Sketch<M> {
    let (level, unit) = terms(case);
    let raw: F0Sketch<M> = empty(shape(2, 4));
    raw.release_with(rule, unit, permit(level), &mut noise(1)).unwrap()
}

fn terms(case: &GoldenCase) -> (f64, Unit) {
    let cells = u32::try_from(case.input["cells_per_item"].as_u64().unwrap()).unwrap();
    (case.input["eps"].as_f64().unwrap(), Unit::user(cells).unwrap())
}

fn noise_case(case: &GoldenCase) -> Value {
    let (level, unit) = terms(case);
    let tight = release::<Set>(case, NoiseRule::Tight);
    let paper = release::<Set>(case, NoiseRule::Paper);
    let presampled = release::<Presampled>(case, NoiseRule::Tight);
    let paper_presampled = release::<Presampled>(case, NoiseRule::Paper);
    // The diagnostics give the same numerators as a release.
    for (mode, rule, found) in [
        (ModeKind::Set, NoiseRule::Tight, &tight.leaves()[0]),
        (ModeKind::Set, NoiseRule::Paper, &paper.leaves()[0]),
        (ModeKind::Presampled, NoiseRule::Tight, &presampled.leaves()[0]),
    ] {
        assert_eq!(flip_numerator(mode, rule, epsilon(level), unit).unwrap(), found.flip_numerator());
        assert!((spent_level(mode, found.flip_numerator(), unit) - found.realised_level()).abs() < 1e-14 * level);
    }
    json!({
        "p_paper": paper.leaves()[0].flip_probability(),
        "p_tight": tight.leaves()[0].flip_probability(),
        "p_presampled": presampled.leaves()[0].flip_probability(),
        "eps_spent_by_paper_p": paper.leaves()[0].realised_level(),
        "eps_spent_by_paper_p_presampled": paper_presampled.leaves()[0].realised_level(),
        "contrast_tight": tight.contrast(),
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "probabilities below one, scaled to 2^64")]
fn compose_case(case: &GoldenCase) -> Value {
    let flips = case.input["p"].as_array().unwrap().iter().map(|p| (p.as_f64().unwrap() * TWO_64) as u64);
    let contrast = merged_contrast(&flips.collect::<Vec<_>>());
    json!({"p": (1.0 - contrast) / 2.0, "contrast": contrast})
}

fn level_case(case: &GoldenCase) -> Value {
    let hash = u64::from_str_radix(case.input["hash"].as_str().unwrap(), 16).unwrap();
    let levels = u8::try_from(case.input["levels"].as_u64().unwrap()).unwrap();
    let (level, _) = place(&F0Shape::new(levels, 16).unwrap(), [hash, 0]);
    json!({"level": level})
}
