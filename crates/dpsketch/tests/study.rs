//! Study files: read strictly, compared completely.

use dp_noise::Epsilon;
use dpsketch::{
    AnySketch, DistinctBuilder, Error, ErrorKind, MaxItems, PrivacyUnit, RawSketch, Study, StudyError, StudyFacts,
    StudyShape, TextFileError, TextRules, merge, tally,
};
use proptest::prelude::*;
use sfm_pcsa::{MergeForm, PcsaShape};
use sketch_hash::{AnyHash, DefaultHash, HashId, HashKey, KeyedHash, PrestoHash};

const GOOD: &str = r#"{
  "format": "dpsketch study",
  "version": 1,
  "kind": "sfm",
  "buckets": 4096,
  "levels": 24,
  "hash": "siphash-1-3",
  "key": "00000000000000ff",
  "epsilon": "0.1",
  "unit": "user",
  "max_items": 5,
  "trim": true,
  "lowercase": false,
  "null": "NA"
}
"#;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("a valid epsilon")
}

fn user(max_items: u32) -> PrivacyUnit {
    PrivacyUnit::User { max_items: MaxItems::new(max_items).expect("a valid bound") }
}

fn good() -> Study {
    Study::parse(GOOD.as_bytes()).expect("a study")
}

#[test]
fn the_text_says_what_it_says() {
    let study = good();
    assert_eq!(study.shape(), StudyShape::Sfm(PcsaShape::DEFAULT));
    assert_eq!(study.hash().to_string(), "siphash-1-3 key 00000000000000ff");
    assert_eq!((study.epsilon(), study.unit()), (epsilon(0.1), user(5)));
    assert_eq!(study.text(), &TextRules { trim: true, lowercase: false, null: Some("NA".into()) });
    assert_eq!(study.to_text(), GOOD, "and is written the same");
}

fn hashes() -> impl Strategy<Value = HashId> {
    prop_oneof![
        Just(PrestoHash.id()),
        any::<[u8; 16]>().prop_map(|key| DefaultHash::new(HashKey::from_bytes(key)).id()),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        (index_bits, levels) in (1..=20_u8, 1..=44_u8),
        hash in hashes(),
        level in 1e-2..256.0,
        max_items in 0..1000_u32,
        (trim, lowercase) in any::<(bool, bool)>(),
        null in prop::option::of("\\PC{0,60}"),
    ) {
        let shape = PcsaShape::new(1 << index_bits, levels).unwrap();
        let study = Study::new(shape.into(), hash, epsilon(level))
            .with_unit(PrivacyUnit::from_max_items(max_items).unwrap()).unwrap()
            .with_text(TextRules { trim, lowercase, null }).unwrap();
        let read = Study::parse(study.to_text().as_bytes()).unwrap();
        prop_assert_eq!(&read, &study);
        prop_assert_eq!(read.check(&StudyFacts::from(&study)), Ok(()));
    }

    #[test]
    fn changed_bytes_never_panic(place in 0..GOOD.len(), byte: u8) {
        let mut text = GOOD.as_bytes().to_vec();
        text[place] = byte;
        if let Err(error) = Study::parse(&text) {
            let kind = Error::from(error).kind();
            prop_assert!(matches!(kind, ErrorKind::Damaged | ErrorKind::Parameter));
        }
    }
}

#[test]
fn every_field_is_needed_and_none_may_be_added_or_repeated() {
    let lines: Vec<&str> =
        GOOD.lines().filter(|line| line.starts_with("  ")).map(|line| line.trim_end_matches(',')).collect();
    let join = |lines: &[&str]| format!("{{\n{}\n}}", lines.join(",\n"));
    assert!(Study::parse(join(&lines).as_bytes()).is_ok());
    for place in 0..lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(place);
        assert!(Study::parse(join(&fewer).as_bytes()).is_err(), "without {}", lines[place]);
        let mut more = lines.clone();
        more.push(lines[place]);
        assert!(Study::parse(join(&more).as_bytes()).is_err(), "with {} twice", lines[place]);
    }
    let mut more = lines.clone();
    more.push("\"trims\": true");
    assert!(Study::parse(join(&more).as_bytes()).is_err());
}

#[test]
fn invalid_values_are_told_by_field() {
    for (from, to, field) in [
        ("\"sfm\"", "\"hll\"", "kind"),
        ("4096", "4095", "buckets or levels"),
        ("24", "53", "buckets or levels"),
        ("siphash-1-3", "md5", "hash"),
        ("\"siphash-1-3\"", "\"xxh64-seed-0\"", "key"),
        ("\"00000000000000ff\"", "null", "key"),
        ("00000000000000ff", "00000000000000FF", "key"),
        ("00000000000000ff", "0000000000000000", "key"),
        ("00000000000000ff", "ff", "key"),
        ("\"0.1\"", "\"0\"", "epsilon"),
        ("\"0.1\"", "\"NaN\"", "epsilon"),
        ("\"0.1\"", "\"one\"", "epsilon"),
        ("\"user\"", "\"item\"", "max_items"),
        ("\"user\"", "\"users\"", "unit"),
        ("5,", "null,", "max_items"),
        ("5,", "0,", "max_items"),
        ("5,", "1048577,", "max_items"),
    ] {
        match Study::parse(GOOD.replacen(from, to, 1).as_bytes()) {
            Err(StudyError::File(TextFileError::Field { field: found, .. })) => assert_eq!(found, field, "{to}"),
            other => panic!("{to}: {other:?}"),
        }
    }
    for (from, to) in [("0.1", "1e-9"), ("NA", &"N".repeat(256))] {
        assert!(Study::parse(GOOD.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
    }
}

#[test]
fn the_length_is_bounded() {
    let long = format!("{GOOD}{}", " ".repeat(1 << 16));
    assert_eq!(Study::parse(long.as_bytes()), Err(TextFileError::TooLong { max: 1 << 16 }.into()));
}

#[test]
fn every_difference_is_found_at_once_and_the_unknown_agrees() {
    let study = good();
    assert_eq!(study.check(&StudyFacts::default()), Ok(()));
    let facts = StudyFacts {
        shape: Some(PcsaShape::new(2048, 24).unwrap().into()),
        hash: Some(PrestoHash.id()),
        epsilon: Some(epsilon(0.1_f64.next_up())),
        unit: Some(PrivacyUnit::Item),
        text: Some(TextRules { trim: false, lowercase: true, null: None }),
    };
    let Err(StudyError::Differs { differences }) = study.check(&facts) else { panic!("it does differ") };
    let told: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "shape: expected sfm 4096 x 24, found sfm 2048 x 24",
            "hash: expected siphash-1-3 key 00000000000000ff, found xxh64-seed-0",
            "epsilon: expected 0.1, found 0.10000000000000002",
            "unit: expected one user with at most 5 items, found one item",
            "trim: expected true, found false",
            "lowercase: expected false, found true",
            "null: expected \"NA\", found none",
        ]
    );
    let error = Error::from(study.check(&facts).unwrap_err());
    assert_eq!((error.kind(), error.kind().exit_code()), (ErrorKind::Incompatible, 3));
}

#[test]
fn a_sketch_is_checked_with_every_release_in_it() {
    let release = |levels: &[f64]| -> Vec<(String, AnySketch)> {
        let sketches = levels.iter().map(|level| {
            let builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
            let sketch = RawSketch::try_from(builder).unwrap().release(epsilon(*level)).unwrap();
            (level.to_string(), AnySketch::from(sketch))
        });
        sketches.collect()
    };
    let build = |levels: &[f64]| merge(&release(levels), MergeForm::Extremal).unwrap();
    let tallied = |levels: &[f64]| tally(&release(levels)).unwrap();
    let study = Study::new(PcsaShape::DEFAULT.into(), AnyHash::default().id(), epsilon(1.0));
    for alike in [build(&[1.0, 1.0]), tallied(&[1.0, 1.0])] {
        assert_eq!(study.check_sketch(&alike), Ok(()));
    }
    for mixed in [build(&[1.0, 0.5]), tallied(&[1.0, 0.5])] {
        let error = study.check_sketch(&mixed).unwrap_err();
        assert_eq!(error.to_string(), "not made as the study says: epsilon: expected 1, found 0.5");
    }
    let other = Study::new(PcsaShape::new(2, 2).unwrap().into(), PrestoHash.id(), epsilon(1.0));
    let Err(StudyError::Differs { differences }) = other.check_sketch(&build(&[1.0, 1.0])) else {
        panic!("it differs")
    };
    assert_eq!(differences.iter().map(|found| found.field).collect::<Vec<_>>(), ["shape", "hash"]);
}

#[test]
fn a_study_file_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.study");
    good().save_new(&path).unwrap();
    assert_eq!(Study::load(&path).unwrap(), good());
    assert_eq!(good().save_new(&path).unwrap_err().kind(), ErrorKind::Parameter);
    std::fs::write(&path, "{}").unwrap();
    let error = Study::load(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(
        error.message().ends_with("a.study: not a study: expected \"dpsketch study 1\", found \"no format\""),
        "{error}"
    );
    assert_eq!(Study::load(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::Unreadable);
}

#[test]
fn a_level_too_small_for_one_item_is_refused() {
    let study = Study::new(PcsaShape::DEFAULT.into(), PrestoHash.id(), epsilon(1e-4));
    let error = Error::from(study.with_unit(user(MaxItems::MAX)).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert!(error.message().starts_with("the level of one item"), "{error}");
}
