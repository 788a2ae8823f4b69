use f0_sketch::{F0Shape, MaxWeight, Table};
use sketch_hash::{AnyHash, DefaultHash, HashKey, KeyedHash, PrestoHash};

use super::*;
use crate::f0::{F0Builder, RawF0Sketch};
use crate::user_bound::MaxItems;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn shape() -> F0Shape {
    F0Shape::new(10, 100).unwrap()
}

fn study() -> F0Study {
    F0Study::new(ModeKind::Set, F0Terms::unit(shape()), AnyHash::default().id(), epsilon(1.0)).unwrap()
}

fn raw(terms: F0Terms) -> RawF0Sketch {
    F0Builder::operations(terms, AnyHash::default(), TextRules::default()).finish().unwrap().0
}

fn fields(error: &StudyError) -> Vec<&'static str> {
    match error {
        StudyError::Differs { differences } => differences.iter().map(|difference| difference.field).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn studies_come_back_from_their_text() {
    let weighted = F0Terms::weighted(shape(), MaxWeight::new(0.1).unwrap());
    let hash = DefaultHash::new(HashKey::from_bytes([7; 16])).id();
    let rules = TextRules { trim: true, lowercase: false, null: Some("\"NA\n".to_owned()) };
    let user = PrivacyUnit::User { max_items: MaxItems::new(3).unwrap() };
    let full = F0Study::new(ModeKind::Presampled, weighted, hash, epsilon(0.3)).unwrap();
    let full = full.with_noise(NoiseRule::Paper).with_unit(user).unwrap().with_text(rules).unwrap();
    let unkeyed = F0Study::new(ModeKind::Set, F0Terms::unit(shape()), PrestoHash.id(), epsilon(256.0)).unwrap();
    for study in [study(), full, unkeyed] {
        let text = study.to_text();
        assert_eq!(F0Study::parse(text.as_bytes()).unwrap(), study);
        assert!(text.contains("\"kind\": \"f0\""), "{text}");
    }
}

#[test]
fn every_wrong_field_is_refused_by_its_name() {
    let text = study().to_text();
    for (from, to, name) in [
        ("\"set\"", "\"bag\"", "mode"),
        ("\"levels\": 10", "\"levels\": 0", "levels"),
        ("\"cells\": 100", "\"cells\": 0", "cells"),
        ("\"max_weight\": null", "\"max_weight\": \"-1\"", "max_weight"),
        ("\"epsilon\": \"1\"", "\"epsilon\": \"0\"", "epsilon"),
        ("\"tight\"", "\"loose\"", "noise"),
        ("\"item\"", "\"person\"", "unit"),
        ("\"f0\"", "\"sfm\"", "kind"),
        ("\"mode\"", "\"moda\"", "moda"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = crate::Error::from(F0Study::parse(text.replace(from, to).as_bytes()).unwrap_err());
        assert_eq!(error.kind(), crate::ErrorKind::Damaged, "{from}");
        assert!(error.message().contains(name), "{error}");
    }
}

#[test]
fn a_sketch_is_compared_in_everything_that_it_tells() {
    let private = |level: f64, noise| {
        let permit = dp_noise::Permit::standalone(epsilon(level));
        AnyF0Sketch::from(raw(F0Terms::unit(shape())).release_paid(noise, permit).unwrap())
    };
    assert_eq!(study().check_sketch(&raw(F0Terms::unit(shape())).into()), Ok(()));
    assert_eq!(study().check_sketch(&private(1.0, NoiseRule::Tight)), Ok(()));
    let of_paper = study().with_noise(NoiseRule::Paper);
    assert_eq!(of_paper.check_sketch(&private(1.0, NoiseRule::Paper)), Ok(()));
    assert_eq!(fields(&of_paper.check_sketch(&private(1.0, NoiseRule::Tight)).unwrap_err()), ["noise"]);
    assert_eq!(fields(&study().check_sketch(&private(2.0, NoiseRule::Paper)).unwrap_err()), ["epsilon", "noise"]);
    let terms = F0Terms::weighted(F0Shape::new(10, 200).unwrap(), MaxWeight::new(1.0).unwrap());
    assert_eq!(fields(&study().check_sketch(&raw(terms.clone()).into()).unwrap_err()), ["shape", "weights"]);
    let user = study().with_unit(PrivacyUnit::User { max_items: MaxItems::new(2).unwrap() }).unwrap();
    assert_eq!(fields(&user.check_sketch(&private(1.0, NoiseRule::Tight)).unwrap_err()), ["unit"]);
    let level = Some((epsilon(1.0), NoiseRule::Tight));
    let other = study().check(ModeKind::Presampled, &terms, PrestoHash.id(), level).unwrap_err();
    assert_eq!(fields(&other), ["mode", "shape", "weights", "hash"]);
}

#[test]
fn a_shape_that_is_not_regular_has_no_study() {
    let half = F0Shape::WHOLE / 2;
    let tables = [Table { share: half, cells: 16 }, Table { share: half, cells: 256 }];
    let terms = F0Terms::unit(F0Shape::with_tables(&tables).unwrap());
    let error = F0Study::new(ModeKind::Set, terms, AnyHash::default().id(), epsilon(1.0)).unwrap_err();
    assert_eq!(crate::Error::from(error).kind(), crate::ErrorKind::Parameter);
}
