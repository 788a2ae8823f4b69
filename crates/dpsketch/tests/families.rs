//! Every family of sketches through the kit: read, merge, estimate, release.

use dpsketch::sfm_pcsa::{
    BitmapShape, BloomShape, LegionsShape, LinearShape, MergeForm, PcsaShape, PrivateBitmap, RawBitmap,
};
use dpsketch::sketch_hash::AnyHash;
use dpsketch::{
    AnyShape, AnySketch, Description, ErrorKind, OutputFile, Readers, RecordedSketch, check_compatible, estimate,
    estimate_formula, merge, parse_confidence, parse_epsilon, read_sketch, release_raw_file, to_presto,
};

fn raw<S: BitmapShape>(shape: S, items: core::ops::Range<u64>) -> RecordedSketch<S> {
    let mut sketch = RawBitmap::new(shape, AnyHash::default());
    sketch.update_u64_batch(&items.collect::<Vec<_>>());
    RecordedSketch::try_from(&sketch).expect("a sketch")
}

fn count(sketches: &[(String, AnySketch)]) -> f64 {
    let answer = estimate(sketches, parse_confidence("0.95").expect("in range")).expect("one family");
    answer.estimate().value().expect("an estimate")
}

/// Two sketches of 3,000 items each, 1,000 of them common, through everything.
fn all_of<S: BitmapShape>(kind: &str, shape: S)
where
    AnySketch: From<RecordedSketch<S>> + From<PrivateBitmap<S>>,
{
    let folder = tempfile::tempdir().expect("a folder");
    let raws = [raw(shape, 0..3_000), raw(shape, 2_000..5_000)];
    let named = |sketches: [AnySketch; 2]| -> Vec<(String, AnySketch)> {
        sketches.into_iter().zip(["a", "b"]).map(|(sketch, name)| (name.to_owned(), sketch)).collect()
    };
    let files = named(raws.clone().map(AnySketch::from));
    for (_, file) in &files {
        assert_eq!((file.kind(), file.is_raw(), file.shape()), (kind, true, AnyShape::Bitmap(shape.into())));
        assert_eq!(AnySketch::from_bytes(&file.to_bytes()).expect("its own bytes"), *file);
    }
    // Without noise, sketches of this size err by less than 2 %; five of them.
    let near = |found: f64, exact: f64, share: f64| assert!((found / exact - 1.0).abs() < share, "{kind}: {found}");
    near(count(&files), 5_000.0, 0.1);
    let union = merge(&files, MergeForm::Extremal).expect("alike");
    assert_eq!(union, AnySketch::from(raw(shape, 0..5_000)));

    let path = folder.path().join("a.raw.dps");
    OutputFile::create(&path, Readers::OwnerOnly)
        .and_then(|file| file.commit(&files[0].1.to_bytes()))
        .expect("written");
    let epsilon = parse_epsilon("8").expect("in range");
    let first = release_raw_file(&path, epsilon, false).expect("the first release");
    assert_eq!(release_raw_file(&path, epsilon, false).expect_err("the second").kind(), ErrorKind::Refused);
    assert_eq!(Description::of(&read_sketch(&path).expect("a sketch")).to_json()["times_released"], 1);
    let second = raws[1].clone().release(epsilon).expect("noise");
    let released = named([first, second.into()]);
    for (_, file) in &released {
        assert_eq!((file.kind(), file.is_raw(), file.leaves().len()), (kind, false, 1));
        assert_eq!(AnySketch::from_bytes(&file.to_bytes()).expect("its own bytes"), *file);
    }
    near(count(&released), 5_000.0, 0.2);
    let merged = merge(&released, MergeForm::Extremal).expect("alike");
    assert_eq!(merged.leaves().len(), 2);
    near(count(&[("m".to_owned(), merged.clone())]), 5_000.0, 0.2);
    let only = estimate_formula(&released, "a & !b", parse_confidence("0.95").expect("in range")).expect("alike");
    near(only.estimate().value().expect("an estimate"), 2_000.0, 0.5);
    assert_eq!(only.to_json()["kind"], kind);

    let json = Description::of(&merged).to_json();
    assert_eq!((&json["kind"], &json["epsilon"], &json["epsilon_total"]), (&kind.into(), &8.0.into(), &16.0.into()));
    let mixed = named([files[0].1.clone(), released[1].1.clone()]);
    assert_eq!(check_compatible(&mixed).expect_err("raw and private").kind(), ErrorKind::Incompatible);
}

#[test]
fn sfm_goes_through_everything() {
    all_of("sfm", PcsaShape::DEFAULT);
}

#[test]
fn linear_counting_goes_through_everything() {
    all_of("linear", LinearShape::new(20_000).expect("a shape"));
}

#[test]
fn bloom_filters_go_through_everything() {
    all_of("bloom", BloomShape::new(40_000, 2).expect("a shape"));
}

#[test]
fn liquid_legions_go_through_everything() {
    all_of("legions", LegionsShape::new(20_000, 8.0).expect("a shape"));
}

#[test]
fn kinds_do_not_mix_and_presto_has_one_only() {
    let linear = AnySketch::from(raw(LinearShape::new(1_000).expect("a shape"), 0..10));
    let bloom = AnySketch::from(raw(BloomShape::new(1_000, 1).expect("a shape"), 0..10));
    let error = check_compatible(&[("l".to_owned(), linear.clone()), ("b".to_owned(), bloom)]).expect_err("two kinds");
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert_eq!(to_presto(&linear).expect_err("no such kind").kind(), ErrorKind::Incompatible);
}
