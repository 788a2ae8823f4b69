//! Frequencies from rows to answers, through files and ledgers.

use dpsketch::cardinality_estimators::{Confidence, Status};
use dpsketch::countsketch_dp::dp_noise::{DisjointParts, Epsilon, Neighbouring, Rho};
use dpsketch::countsketch_dp::{CountSketchShape, Granularity, PrivateCountSketch, QueryOptions};
use dpsketch::sfm_pcsa::{MergeForm, PcsaShape};
use dpsketch::sketch_hash::{AnyHash, DefaultHash, HashKey, Item};
use dpsketch::{
    AnySketch, CountSketchTerms, Description, DistinctBuilder, ErrorKind, FrequencyAnswer, FrequencyBuilder,
    FrequencyError, FrequencyLevel, FrequencyQuery, FrequencySketch, Moment, OutputFile, RawCountSketch, RawSketch,
    Readers, TextRules, TopItems, TopRule, check_compatible, merge, merge_disjoint, release_frequency_file,
    release_frequency_file_paid,
};

/// Names with known frequencies: name n comes 2000/n times.
fn names() -> Vec<(String, u32)> {
    (1..=200).map(|n| (format!("name {n}"), 2000 / n)).collect()
}

fn raw(key: u8, shape: (u8, u32), max_weight: u64) -> RawCountSketch {
    let terms = CountSketchTerms::records(
        CountSketchShape::new(shape.0, shape.1).expect("all of it is valid"),
        Granularity::ONE,
        max_weight,
    );
    let hash = AnyHash::from(DefaultHash::new(HashKey::from_bytes([key; 16])));
    let mut builder = FrequencyBuilder::new(terms.expect("all of it is valid"), hash, TextRules::default())
        .expect("all of it is valid");
    for (name, times) in names() {
        builder
            .push_texts(std::iter::repeat_n(name.as_str(), times.try_into().expect("a small number")))
            .expect("all of it is valid");
    }
    builder.finish().expect("all of it is valid")
}

fn private(key: u8) -> PrivateCountSketch {
    raw(key, (9, 2048), 1)
        .release(FrequencyLevel::Rho(Rho::new(4.5).expect("all of it is valid")), Neighbouring::AddRemove)
        .expect("all of it is valid")
}

fn hash(key: u8) -> AnyHash {
    AnyHash::from(DefaultHash::new(HashKey::from_bytes([key; 16])))
}

fn named(sketches: Vec<AnySketch>) -> Vec<(String, AnySketch)> {
    (1..).zip(sketches).map(|(number, sketch)| (format!("{number}.dps"), sketch)).collect()
}

#[test]
fn items_are_found_with_their_frequencies() {
    let sketch = private(1);
    // Noise of variance 9/(2·4.5) = 1; ‖x‖² = 6.6e6, so collisions have a standard deviation of about 57 a row at most, and
    // the median of nine rows hardly ever strays by four of them.
    let mut query = FrequencyQuery::new(&sketch, hash(1), TextRules::default(), QueryOptions::default()).unwrap();
    let all = names();
    let answers: Vec<_> = query.answers(all.iter().map(|(name, _)| name)).collect::<Result<_, _>>().unwrap();
    assert_eq!(answers.len(), 200);
    for (answer, (name, times)) in answers.iter().zip(&all) {
        assert_eq!(answer.item(), name);
        let found = answer.estimate().value().unwrap();
        assert!((found - f64::from(*times)).abs() < 228.0, "{name}: {found}");
    }
    // One by one and with text rules the same.
    assert_eq!(query.ask([Some(Item::from("name 1"))]).unwrap().as_ref(), Some(answers[0].estimate()));
    let rules = TextRules { trim: true, lowercase: true, null: Some("na".to_owned()) };
    let mut cleaning = FrequencyQuery::new(&sketch, hash(1), rules, QueryOptions::default()).unwrap();
    let answer = cleaning.answers([" NAME 1 ", "na"]).collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!((answer.len(), answer[0].estimate()), (1, answers[0].estimate()));
}

#[test]
fn all_intervals_together_are_wider_than_each_alone() {
    let sketch = private(1);
    let width = |answers| {
        let options = QueryOptions::default().simultaneous(answers);
        let mut query = FrequencyQuery::new(&sketch, hash(1), TextRules::default(), options).unwrap();
        let answer = query.ask([Some(Item::from("name 1"))]).unwrap().unwrap();
        answer.upper().unwrap() - answer.lower().unwrap()
    };
    assert!(width(1) < width(100));
}

#[test]
fn another_key_finds_nothing_and_is_refused() {
    let sketch = private(1);
    let query = FrequencyQuery::new(&sketch, hash(2), TextRules::default(), QueryOptions::default());
    let error = query.unwrap_err();
    assert_eq!((error.kind(), error.to_json()["argument"].as_str()), (ErrorKind::Incompatible, Some("--key-file")));
}

#[test]
fn the_top_of_a_stream_of_candidates_is_ranked_and_told_apart_from_noise() {
    let sketch = private(1);
    let candidates = || names().into_iter().rev().map(|(name, _)| name).chain((0..2000).map(|n| format!("nobody {n}")));
    let top = |limit, rule| {
        let options = QueryOptions::default();
        TopItems::among(&sketch, hash(1), TextRules::default(), candidates(), limit, rule, options).unwrap()
    };
    let largest = top(3, TopRule::Largest);
    let found: Vec<&str> = largest.items().iter().map(FrequencyAnswer::item).collect();
    assert_eq!(found[0], "name 1", "{found:?}");
    assert_eq!((largest.candidates(), largest.has_more()), (2200, true));
    assert_eq!(largest.to_json()["items"][0]["rank"], 1);
    let above = top(2200, TopRule::Above(0.0));
    assert!(above.items().iter().all(|item| item.item().starts_with("name ")), "no false positives at 95 percent");
    assert!(above.items().len() >= 2 && !above.has_more());
    let p = above.false_positive_probability().unwrap();
    assert!((p - 0.05).abs() < 1e-12);
    // Repeated candidates count once.
    let twice = ["name 1", "name 1", "name 2"].map(str::to_owned);
    let options = QueryOptions::default();
    let top = TopItems::among(&sketch, hash(1), TextRules::default(), twice, 3, TopRule::Largest, options).unwrap();
    assert_eq!((top.items().len(), top.candidates()), (2, 2));
    let none: [String; 0] = [];
    let options = QueryOptions::default();
    assert!(TopItems::among(&sketch, hash(1), TextRules::default(), none, 0, TopRule::Largest, options).is_err());
}

#[test]
fn norms_and_inner_products_are_those_of_the_data() {
    let (one, other) = (private(1), private(1));
    let square: f64 = names().iter().map(|(_, times)| f64::from(*times).powi(2)).sum();
    for moment in [Moment::of(&[&one], Confidence::P95), Moment::of(&[&one, &other], Confidence::P95)] {
        let moment = moment.unwrap();
        let value = moment.estimate().value().unwrap();
        // Variance at most (2F²/b + …)/k: 1.1 percent of F₂; five of them.
        assert!((value / square - 1.0).abs() < 0.055, "{} {value}", moment.quantity());
        assert_eq!(moment.estimate().status(), Status::Ok);
    }
    let json = Moment::of(&[&one, &other], Confidence::P95).unwrap().to_json();
    assert_eq!(
        (json["rho"].as_f64(), json["rho_total"].as_f64(), json["sketches"].as_u64()),
        (Some(4.5), Some(9.0), Some(2))
    );
    assert!(json["epsilon_total"].is_null() && json["norm"].is_null());
    assert!(Moment::of(&[&one, &one], Confidence::P95).is_err(), "one release twice");
    assert!(Moment::of(&[], Confidence::P95).is_err());
}

#[test]
fn files_are_read_by_content_described_and_added_up() {
    let (one, other) = (AnySketch::from(private(1)), AnySketch::from(private(1)));
    let raw = AnySketch::from(raw(1, (9, 2048), 1));
    for sketch in [&one, &raw] {
        assert_eq!(&AnySketch::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
        assert_eq!((sketch.kind(), sketch.shape().to_string().as_str()), ("countsketch", "9 x 2048"));
    }
    let facts = Description::of(&one).to_json();
    assert_eq!(
        (facts["rows"].as_u64(), facts["width"].as_u64(), facts["rho_total"].as_f64()),
        (Some(9), Some(2048), Some(4.5))
    );
    assert_eq!(facts["noise_parameter"], "1/1");
    assert_eq!(facts["releases"][0]["law"], "discrete gaussian");
    assert_eq!(facts["unit"], "one record of weight at most 1");
    let facts = Description::of(&raw).to_json();
    assert_eq!((facts["state"].as_str(), facts["times_released"].as_u64()), (Some("raw"), Some(0)));
    assert!(facts["rho_total"].is_null());

    let both = named(vec![one, other]);
    let AnySketch::Frequencies(FrequencySketch::Private(sum)) = merge(&both, MergeForm::default()).unwrap() else {
        panic!("a sum is private")
    };
    assert_eq!((sum.rho_total(), sum.leaves().len()), (Some(9.0), 2));
    let assumption = DisjointParts::EachUnitInOnePart;
    let AnySketch::Frequencies(FrequencySketch::Private(sum)) = merge_disjoint(&both, assumption).unwrap() else {
        panic!("a sum is private")
    };
    assert_eq!(sum.rho_total(), Some(4.5));
    let raws = named(vec![raw.clone(), AnySketch::from(one_record())]);
    let AnySketch::Frequencies(FrequencySketch::Raw(sum)) = merge(&raws, MergeForm::default()).unwrap() else {
        panic!("a sum is raw")
    };
    assert_eq!(sum.parts(), 1, "records are in one part each");
}

/// A raw sketch of the first name, once.
fn one_record() -> RawCountSketch {
    let terms = raw(1, (9, 2048), 1).terms();
    let mut builder = FrequencyBuilder::new(terms, hash(1), TextRules::default()).expect("records are bounded");
    builder.push_texts(["name 1"]).expect("a record of weight 1");
    builder.finish().expect("all of it is valid")
}

/// Adding a copy would make a record of weight 2 behind noise for 1.
#[test]
fn a_copy_of_raw_data_is_not_added_to_it() {
    let data = raw(1, (9, 2048), 1);
    let mut released_before = data.clone();
    released_before.record_release();
    let other = one_record();
    for copy in [data.clone(), released_before] {
        let files = named(vec![data.clone().into(), other.clone().into(), copy.into()]);
        let disjoint = merge_disjoint(&files, DisjointParts::EachUnitInOnePart).unwrap_err();
        for error in [merge(&files, MergeForm::default()).unwrap_err(), disjoint] {
            assert_eq!(error.kind(), ErrorKind::Incompatible);
            let source = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<FrequencyError>());
            let copied = FrequencyError::Copied { first: "1.dps".to_owned(), second: "3.dps".to_owned() };
            assert_eq!(source, Some(&copied));
        }
    }
    // Days without a record are alike, and harmless.
    let terms = data.terms();
    let empty = || FrequencyBuilder::new(terms, hash(1), TextRules::default()).unwrap().finish().unwrap();
    assert!(merge(&named(vec![data.into(), empty().into(), empty().into()]), MergeForm::default()).is_ok());
}

#[test]
fn what_does_not_fit_is_told_with_names_and_reasons() {
    let fits = AnySketch::from(raw(1, (9, 2048), 1));
    let distinct =
        RawSketch::try_from(DistinctBuilder::new(PcsaShape::DEFAULT, hash(1), TextRules::default())).unwrap();
    let one = private(1);
    for (others, reason) in [
        (vec![fits.clone(), AnySketch::from(raw(2, (9, 2048), 1))], "hash key mismatch"),
        (vec![fits.clone(), AnySketch::from(raw(1, (9, 1024), 1))], "shape mismatch"),
        (vec![fits.clone(), AnySketch::from(raw(1, (9, 2048), 2))], "bound mismatch"),
        (vec![fits.clone(), AnySketch::from(one.clone())], "raw"),
        (vec![AnySketch::from(one.clone()), AnySketch::from(one)], "is in more than one"),
        (vec![fits, AnySketch::from(distinct)], "kind"),
    ] {
        let error = check_compatible(&named(others)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.message().contains(reason) && error.message().contains("1.dps"), "{reason}: {error}");
    }
}

fn raw_file(folder: &std::path::Path) -> std::path::PathBuf {
    let path = folder.join("site.raw.dps");
    let raw = raw(1, (3, 64), 1);
    OutputFile::create(&path, Readers::OwnerOnly)
        .expect("all of it is valid")
        .commit(&raw.to_sensitive_bytes())
        .expect("all of it is valid");
    path
}

#[test]
fn a_raw_file_is_released_once_unless_told_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = raw_file(folder.path());
    let level = FrequencyLevel::Pure(Epsilon::new(1.0).unwrap());
    let release = |again| release_frequency_file(&path, level, Neighbouring::AddRemove, again);
    assert_eq!(release(false).unwrap().epsilon_total(), Some(1.0));
    assert_eq!(release(false).unwrap_err().kind(), ErrorKind::Refused);
    release(true).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(RawCountSketch::from_sensitive_bytes(&bytes).unwrap().releases(), 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_release_that_is_not_paid_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = raw_file(folder.path());
    let before = std::fs::read(&path).unwrap();
    let level = FrequencyLevel::Rho(Rho::new(0.5).unwrap());
    let refused = release_frequency_file_paid(&path, level, Neighbouring::AddRemove, false, |_| {
        Err(dpsketch::Error::new(ErrorKind::Refused, "no budget"))
    });
    assert_eq!(refused.unwrap_err().message(), "no budget");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // A level that asks for noise out of range is refused before anybody pays.
    let tiny = FrequencyLevel::Pure(Epsilon::new(Epsilon::MIN).unwrap());
    let heavy = folder.path().join("heavy.raw.dps");
    let raw = raw_heavy();
    OutputFile::create(&heavy, Readers::OwnerOnly).unwrap().commit(&raw.to_sensitive_bytes()).unwrap();
    let unpaid = release_frequency_file_paid(&heavy, tiny, Neighbouring::AddRemove, false, |_| panic!("asked to pay"));
    assert_eq!(unpaid.unwrap_err().kind(), ErrorKind::Parameter);
}

fn raw_heavy() -> RawCountSketch {
    let terms =
        CountSketchTerms::records(CountSketchShape::new(3, 64).expect("all of it is valid"), Granularity::ONE, 1 << 40)
            .expect("all of it is valid");
    FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())
        .expect("all of it is valid")
        .finish()
        .expect("all of it is valid")
}

#[test]
fn raw_state_shows_no_counter_in_debug() {
    let raw = raw(1, (3, 64), 1);
    let shown = format!("{raw:?} {:?}", AnySketch::from(raw.clone()));
    assert!(!shown.contains("cells") && shown.len() < 800, "{shown}");
}
