use countsketch_dp::ContributionBound;
use dp_noise::{Delta, Epsilon, Rho};
use sketch_hash::{AnyHash, DefaultHash, HashKey, KeyedHash};

use super::*;
use crate::Study;
use crate::frequency::{Clipping, FrequencyBuilder};

fn shape() -> CountSketchShape {
    CountSketchShape::new(5, 64).unwrap()
}

fn studies() -> Vec<FrequencyStudy> {
    let grid = Granularity::new(8).unwrap();
    let hash = DefaultHash::new(HashKey::DEFAULT).id();
    let levels = [
        FrequencyLevel::Rho(Rho::new(0.1).unwrap()),
        FrequencyLevel::Approximate { epsilon: Epsilon::new(1.0).unwrap(), delta: Delta::new(1e-8).unwrap() },
        FrequencyLevel::Pure(Epsilon::new(0.5).unwrap()),
    ];
    let terms = [
        CountSketchTerms::records(shape(), Granularity::ONE, 1).unwrap(),
        CountSketchTerms::users(shape(), grid, 5, 256, Clipping::Off).unwrap(),
        CountSketchTerms::users(shape(), grid, 5, 256, Clipping::Auto).unwrap(),
    ];
    let rules = TextRules { trim: true, lowercase: true, null: Some("NA".to_owned()) };
    let study = |(terms, level): (CountSketchTerms, FrequencyLevel)| {
        let study = FrequencyStudy::new(terms, hash, level).with_relation(Neighbouring::Substitute);
        study.with_text(rules.clone()).unwrap()
    };
    terms.into_iter().flat_map(|terms| levels.map(|level| (terms, level))).map(study).collect()
}

#[test]
fn every_study_comes_back_from_its_text() {
    for study in studies() {
        let text = study.to_text();
        assert_eq!(FrequencyStudy::parse(text.as_bytes()).unwrap(), study, "{text}");
        assert!(Study::parse(text.as_bytes()).is_err(), "the other kind refuses it");
    }
}

#[test]
fn every_changed_word_is_refused_or_another_study() {
    let study = studies().remove(3);
    let text = study.to_text();
    for (old, new) in [
        ("\"countsketch\"", "\"sfm\""),
        ("\"rows\": 5", "\"rows\": 4"),
        ("\"granularity\": 8", "\"granularity\": 53"),
        ("\"unit\": \"user\"", "\"unit\": \"record\""),
        ("\"unit\": \"user\"", "\"unit\": \"person\""),
        ("\"max_items\": 5", "\"max_items\": null"),
        ("\"max_items\": 5", "\"max_items\": 0"),
        ("\"level\": \"rho\"", "\"level\": \"pure\""),
        ("\"level\": \"rho\"", "\"level\": \"none\""),
        ("\"relation\": \"substitute\"", "\"relation\": \"none\""),
        ("\"rho\": \"0.1\"", "\"rho\": \"-1\""),
        ("\"rho\": \"0.1\"", "\"rho\": null"),
        ("\"trim\": true,", "\"trim\": true, \"more\": 1,"),
        ("\"trim\": true,", ""),
    ] {
        let changed = text.replace(old, new);
        assert_ne!(changed, text, "{old}");
        assert!(FrequencyStudy::parse(changed.as_bytes()).is_err(), "{old} -> {new}");
    }
    let clipped = |square: &str| text.replace("\"squared_norm\": null", &format!("\"squared_norm\": {square:?}"));
    assert!(FrequencyStudy::parse(clipped("7").as_bytes()).is_ok_and(|other| other != study));
    for square in ["0", "01", "-1", "x"] {
        assert!(FrequencyStudy::parse(clipped(square).as_bytes()).is_err(), "{square}");
    }
}

fn released(terms: CountSketchTerms, level: FrequencyLevel, relation: Neighbouring) -> PrivateCountSketch {
    let builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default()).unwrap();
    builder.finish().unwrap().release(level, relation).unwrap()
}

#[test]
fn sketches_are_checked_against_every_field() {
    let terms = CountSketchTerms::records(shape(), Granularity::ONE, 1).unwrap();
    for level in studies().iter().take(3).map(FrequencyStudy::level) {
        let study = FrequencyStudy::new(terms, AnyHash::default().id(), level);
        let sketch = released(terms, level, Neighbouring::AddRemove);
        study.check_private(&sketch).unwrap();
        let fields = |study: FrequencyStudy| match study.check_private(&sketch) {
            Err(StudyError::Differs { differences }) => differences.iter().map(|found| found.field).collect(),
            _ => Vec::new(),
        };
        let other_key = DefaultHash::new(HashKey::from_bytes([1; 16])).id();
        assert_eq!(fields(FrequencyStudy::new(terms, other_key, level)), ["hash"]);
        let other = FrequencyStudy::new(terms, study.hash(), FrequencyLevel::Rho(Rho::new(0.7).unwrap()));
        assert_eq!(fields(other), ["level"]);
        let wide = CountSketchShape::new(5, 128).unwrap();
        let other = CountSketchTerms::new(wide, Granularity::new(1).unwrap(), ContributionBound::UNIT_ENTRY);
        assert_eq!(fields(FrequencyStudy::new(other, study.hash(), level)), ["shape", "granularity", "unit"]);
        assert_eq!(fields(study.with_relation(Neighbouring::Substitute))[0], "relation");
    }
}

#[test]
fn a_raw_sketch_has_no_level_yet() {
    let terms = CountSketchTerms::records(shape(), Granularity::ONE, 1).unwrap();
    let raw = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default()).unwrap().finish().unwrap();
    let level = FrequencyLevel::Rho(Rho::new(0.1).unwrap());
    FrequencyStudy::new(terms, raw.hash_id(), level).check_raw(&raw).unwrap();
    let other = CountSketchTerms::records(shape(), Granularity::ONE, 2).unwrap();
    let error = FrequencyStudy::new(other, raw.hash_id(), level).check_raw(&raw).unwrap_err();
    assert!(error.to_string().contains("unit: expected one record of weight at most 2"), "{error}");
}
