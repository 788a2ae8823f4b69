//! F0 sketches in files: read, merged, released once, paid for, described.

use std::path::{Path, PathBuf};

use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::f0_sketch::{F0Shape, MaxWeight, ModeKind, NoiseRule};
use dpsketch::sfm_pcsa::{MergeForm, Unit};
use dpsketch::sketch_hash::{AnyHash, DefaultHash, HashKey, Item};
use dpsketch::{
    AnyF0Sketch, AnyShape, AnySketch, Currency, Description, ErrorKind, F0Builder, F0Error, F0Terms, Ledger,
    LedgerTerms, OutputFile, RawF0Sketch, Readers, ReleasedF0Sketch, TextRules, check_compatible, check_mergeable,
    merge, read_sketch, release_f0_file, release_f0_file_paid, release_frequency_file, release_raw_file,
};
use tempfile::TempDir;

fn shape() -> F0Shape {
    F0Shape::new(12, 256).expect("a shape")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("in range")
}

fn raw_with(terms: F0Terms, key: u8, items: core::ops::Range<u64>) -> RawF0Sketch {
    let hash = AnyHash::from(DefaultHash::new(HashKey::from_bytes([key; 16])));
    let has_weights = terms.max_weight().is_some();
    let mut builder = F0Builder::operations(terms, hash, TextRules::default());
    for item in items {
        let weight = has_weights.then(|| Item::from(1.0));
        builder.push_row_with([Some(Item::from(item))], weight, Some(Item::from("+"))).expect("an insert");
    }
    builder.finish().expect("a sketch").0
}

fn set(items: core::ops::Range<u64>) -> RawF0Sketch {
    raw_with(F0Terms::unit(shape()), 1, items)
}

fn stream(items: core::ops::Range<u64>) -> RawF0Sketch {
    let hash = AnyHash::from(DefaultHash::new(HashKey::from_bytes([1; 16])));
    let mut builder = F0Builder::presampled(F0Terms::unit(shape()), hash, TextRules::default()).expect("randomness");
    for item in items {
        builder.push_row([Some(Item::from(item))]).expect("an occurrence");
    }
    builder.finish().expect("a sketch").0
}

fn raws() -> [RawF0Sketch; 2] {
    [set(0..1_000), stream(0..1_000)]
}

fn named(sketches: impl IntoIterator<Item = impl Into<AnySketch>>) -> Vec<(String, AnySketch)> {
    sketches.into_iter().zip(["a", "b", "c"]).map(|(sketch, name)| (name.to_owned(), sketch.into())).collect()
}

fn file_of(folder: &TempDir, raw: &RawF0Sketch) -> PathBuf {
    let path = folder.path().join("a.raw.dps");
    let output = OutputFile::create(&path, Readers::OwnerOnly).expect("a writable folder");
    output.commit(&raw.to_sensitive_bytes()).expect("a writable folder");
    path
}

fn released(path: &Path) -> u32 {
    match read_sketch(path).expect("a sketch") {
        AnySketch::F0(AnyF0Sketch::Raw(raw)) => raw.releases(),
        other => panic!("{other:?} is not a raw F0 sketch"),
    }
}

fn flip_probability(sketch: &ReleasedF0Sketch) -> f64 {
    sketch.leaves()[0].flip_probability()
}

#[test]
fn both_modes_and_states_are_read_as_what_they_are() {
    for raw in raws() {
        let mode = raw.mode();
        let private = raw.clone().release(epsilon(1.0)).expect("noise");
        for (any, is_raw) in [(AnySketch::from(raw), true), (AnySketch::from(private), false)] {
            let again = AnySketch::from_bytes(&any.to_bytes()).expect("its own bytes");
            assert_eq!(again, any);
            assert_eq!((again.kind(), again.is_raw(), again.shape()), ("f0", is_raw, AnyShape::F0(shape())));
            assert_eq!((again.units(), again.leaves().len()), (vec![Unit::Item], 0));
            let AnySketch::F0(f0) = again else { panic!("{any:?}") };
            assert_eq!(f0.mode(), mode);
        }
    }
}

#[test]
fn damaged_bytes_are_told_and_never_panic() {
    for any in named(raws()).into_iter().map(|(_, any)| any) {
        let bytes = any.to_bytes().to_vec();
        for at in (0..bytes.len()).step_by(7) {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert_eq!(AnySketch::from_bytes(&bad).expect_err("changed").kind(), ErrorKind::Damaged, "{at}");
            assert_eq!(AnySketch::from_bytes(&bytes[..at]).expect_err("cut").kind(), ErrorKind::Damaged);
        }
    }
}

#[test]
fn a_release_is_counted_and_a_second_one_asked_for() {
    for raw in raws() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = file_of(&folder, &raw);
        let first = release_f0_file(&path, epsilon(1.0), NoiseRule::Tight, false).expect("the first release");
        assert_eq!(released(&path), 1);
        let refused = release_f0_file(&path, epsilon(1.0), NoiseRule::Tight, false).expect_err("the second");
        assert_eq!((refused.kind(), released(&path)), (ErrorKind::Refused, 1));
        let AnySketch::F0(AnyF0Sketch::Private(second)) =
            release_raw_file(&path, epsilon(1.0), true).expect("asked for")
        else {
            panic!("not released")
        };
        assert_eq!(released(&path), 2);
        assert_ne!(first.leaves()[0].id(), second.leaves()[0].id());
        let (one, two) = match raw.mode() {
            // 1/(1 + e), each time.
            ModeKind::Set => (0.268_941_42, 0.268_941_42),
            // e^-1/2, then 1/(1 + e + (e − 1)/(2e − 1)) for coins that were seen at ln(2e − 1) before.
            ModeKind::Presampled => (0.183_939_72, 0.243_571_04),
        };
        assert!((flip_probability(&first) - one).abs() < 1e-6, "{}", flip_probability(&first));
        assert!((flip_probability(&second) - two).abs() < 1e-6, "{}", flip_probability(&second));
        // The data is still there: nothing of the file but its record has changed.
        let AnySketch::F0(AnyF0Sketch::Raw(kept)) = read_sketch(&path).expect("a sketch") else { panic!("not raw") };
        assert_eq!((kept.hash_id(), kept.terms()), (raw.hash_id(), raw.terms()));
        assert_ne!(kept, raw, "its record");
    }
}

#[test]
fn a_refused_payment_leaves_file_and_count() {
    for raw in raws() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = file_of(&folder, &raw);
        let before = std::fs::read(&path).expect("readable");
        let broke = dpsketch::Error::new(ErrorKind::Refused, "broke");
        let error = release_f0_file_paid(&path, epsilon(1.0), NoiseRule::Tight, false, |_| Err(broke)).unwrap_err();
        assert_eq!(error.message(), "broke");
        assert_eq!(std::fs::read(&path).expect("readable"), before);
    }
}

#[test]
fn every_release_is_booked_and_the_noise_of_the_paper_pays_more_than_it_spends() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = file_of(&folder, &set(0..100));
    let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("2.5").expect("an amount")).expect("terms");
    let ledger = Ledger::create(&folder.path().join("a.ledger"), terms).expect("a ledger");
    let release = |again| {
        let mut receipt = None;
        let private = release_f0_file_paid(&path, epsilon(1.0), NoiseRule::Paper, again, |unit| {
            let (permit, paid) = ledger.spend_for("a", epsilon(1.0), unit)?.permit();
            receipt = Some(paid);
            Ok(permit)
        })?;
        receipt.expect("paid").finish_f0(private.leaves()[0].id())?;
        Ok::<_, dpsketch::Error>(private)
    };
    let private = release(false).expect("covered");
    release(true).expect("covered");
    let refused = release(true).expect_err("2 of 2.5 are spent");
    assert_eq!((refused.kind(), released(&path)), (ErrorKind::Refused, 2));
    let record = ledger.show().expect("a ledger");
    assert_eq!((record.spent().to_string().as_str(), record.spends().len()), ("2", 2));
    assert!(record.spends().iter().all(|spend| spend.status() == "released"));

    // p = 1/(2 + 1) spends ln 2 of the 1 that was paid.
    let json = Description::of(&private.into()).to_json();
    let of_release = &json["releases"][0];
    assert_eq!((&json["epsilon"], &json["mode"]), (&1.0.into(), &"set".into()));
    assert!((of_release["epsilon_spent"].as_f64().expect("a number") - 2_f64.ln()).abs() < 1e-9, "{json}");
    assert!((of_release["flip_probability"].as_f64().expect("a number") - 1.0 / 3.0).abs() < 1e-9, "{json}");
    assert!((json["contrast"].as_f64().expect("a number") - 1.0 / 3.0).abs() < 1e-9, "{json}");
}

#[test]
fn raw_sets_merge_to_the_symmetric_difference_and_copies_to_nothing() {
    let merged = merge(&named([set(0..600), set(400..1_000)]), MergeForm::default()).expect("alike");
    let mut expected = F0Builder::operations(
        F0Terms::unit(shape()),
        AnyHash::from(DefaultHash::new(HashKey::from_bytes([1; 16]))),
        TextRules::default(),
    );
    for item in (0..400_u64).chain(600..1_000) {
        expected.push_row_with([Some(Item::from(item))], None, Some(Item::from("+"))).expect("an insert");
    }
    assert_eq!(merged, expected.finish().expect("a sketch").0.into());
    let nothing = merge(&named([set(0..600), set(0..600)]), MergeForm::default()).expect("alike");
    assert_eq!(nothing, set(0..0).into());
}

#[test]
fn copies_of_a_raw_stream_are_refused_by_their_names() {
    let raw = stream(0..600);
    let copies = named([raw.clone(), stream(0..600), raw]);
    for error in [check_compatible(&copies).expect_err("a copy"), merge(&copies, MergeForm::default()).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        let below = std::error::Error::source(&error).and_then(|below| below.downcast_ref());
        assert_eq!(below, Some(&F0Error::Copied { first: "a".to_owned(), second: "c".to_owned() }));
    }
    assert!(merge(&copies[..2], MergeForm::default()).is_ok(), "built apart");
    let empty = named([stream(0..0), stream(0..0)]);
    assert!(merge(&empty, MergeForm::default()).is_ok(), "nothing and nothing is nothing");
}

#[test]
fn copies_are_known_after_one_of_them_was_released() {
    let folder = tempfile::tempdir().expect("a folder");
    let raw = stream(0..600);
    let path = file_of(&folder, &raw);
    release_f0_file(&path, epsilon(1.0), NoiseRule::Tight, false).expect("released");
    let files = named([AnySketch::from(raw), read_sketch(&path).expect("a sketch")]);
    assert_eq!(check_compatible(&files).expect_err("a copy").kind(), ErrorKind::Incompatible);
}

#[test]
fn private_sketches_merge_and_keep_their_releases() {
    // Each of coins of its own.
    for (raw, other) in raws().into_iter().zip(raws()) {
        let mode = raw.mode();
        let release = |raw: RawF0Sketch, level| raw.release(epsilon(level)).expect("noise");
        let files = named([release(raw, 1.0), release(other, 2.0)]);
        let merged = merge(&files, MergeForm::default()).expect("alike");
        let json = Description::of(&merged).to_json();
        assert_eq!((&json["epsilon"], &json["epsilon_total"]), (&2.0.into(), &3.0.into()));
        assert_eq!((&json["sketches"], &json["unit"]), (&2.into(), &"one item".into()));
        let contrast: f64 = match mode {
            ModeKind::Set => 0.5_f64.tanh() * 1_f64.tanh(),
            ModeKind::Presampled => (1.0 - (-1_f64).exp()) * (1.0 - (-2_f64).exp()),
        };
        assert!((json["contrast"].as_f64().expect("a number") - contrast).abs() < 1e-9, "{json}");
        let again = check_mergeable(&[("m".to_owned(), merged), files[0].clone()]).expect_err("twice");
        assert_eq!(again.kind(), ErrorKind::Incompatible);
        assert!(again.message().starts_with("m and a"), "{again}");
    }
}

#[test]
fn what_does_not_fit_is_refused_by_the_names_of_both() {
    let one = |raw: RawF0Sketch| raw.release(epsilon(1.0)).expect("noise");
    let terms = |max: f64| F0Terms::weighted(shape(), MaxWeight::new(max).expect("in range"));
    let base = one(set(0..10));
    let pairs: [(ReleasedF0Sketch, &str); 4] = [
        (one(stream(0..10)), "--mode"),
        (one(raw_with(F0Terms::unit(shape()), 2, 0..10)), "--key-file"),
        (one(raw_with(F0Terms::unit(F0Shape::new(12, 128).expect("a shape")), 1, 0..10)), "--cells"),
        (one(raw_with(terms(1.0), 1, 0..10)), "--max-weight"),
    ];
    for (other, hint) in pairs {
        let error = check_compatible(&named([base.clone(), other])).expect_err("does not fit");
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.message().contains('a') && error.message().contains('b'), "{error}");
        assert!(error.to_json()["hint"].as_str().is_some_and(|told| told.contains(hint)), "{error:?}");
    }
    let weights = named([one(raw_with(terms(1.0), 1, 0..10)), one(raw_with(terms(2.0), 1, 0..10))]);
    assert_eq!(check_compatible(&weights).expect_err("other units").kind(), ErrorKind::Incompatible);
    let mixed = named([AnySketch::from(set(0..10)), AnySketch::from(base)]);
    assert_eq!(merge(&mixed, MergeForm::default()).expect_err("raw and private").kind(), ErrorKind::Incompatible);
}

#[test]
fn a_file_of_another_kind_or_state_is_not_released() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = file_of(&folder, &set(0..10));
    let level = dpsketch::FrequencyLevel::Pure(epsilon(1.0));
    let relation = dpsketch::dp_noise::Neighbouring::AddRemove;
    let error = release_frequency_file(&path, level, relation, false).expect_err("no frequencies");
    assert_eq!((error.kind(), released(&path)), (ErrorKind::Refused, 0));
    let private = set(0..10).release(epsilon(1.0)).expect("noise");
    let path = folder.path().join("p.dps");
    let output = OutputFile::create(&path, Readers::Anyone).expect("a writable folder");
    output.commit(&private.to_bytes()).expect("a writable folder");
    for error in [
        release_f0_file(&path, epsilon(1.0), NoiseRule::Tight, true).expect_err("released"),
        release_raw_file(&path, epsilon(1.0), true).expect_err("released"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.message().contains("released already"), "{error}");
    }
}

#[test]
fn descriptions_say_mode_shape_and_weights_and_nothing_of_the_data() {
    let terms = F0Terms::weighted(shape(), MaxWeight::new(50.0).expect("in range"));
    let json = Description::of(&raw_with(terms, 1, 0..10).into()).to_json();
    assert_eq!((&json["kind"], &json["state"], &json["mode"]), (&"f0".into(), &"raw".into(), &"set".into()));
    assert_eq!((&json["levels"], &json["cells_per_level"], &json["cells"]), (&12.into(), &256.into(), &3072.into()));
    assert_eq!((&json["max_weight"], &json["times_released"]), (&50.0.into(), &0.into()));
    assert!(json["epsilon"].is_null() && json["contrast"].is_null());
    let many = Description::of(&set(0..9_999).into()).to_json();
    assert_eq!(many, Description::of(&set(0..1).into()).to_json());
    assert!(many["max_weight"].is_null());
}
