//! Raw files: released once, counted before noise, safe against damage.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use dpsketch::sfm_pcsa::{MAX_RELEASES, MergeForm, PcsaShape};
use dpsketch::sketch_hash::AnyHash;
use dpsketch::{
    AnySketch, DistinctBuilder, ErrorKind, OutputFile, RawSketch, Readers, TextRules, check_compatible,
    check_mergeable, estimate, merge, parse_confidence, parse_epsilon, read_sketch, release_raw_file,
    release_raw_file_paid,
};
use tempfile::TempDir;

fn raw_of(texts: &[&str]) -> RawSketch {
    let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
    builder.push_texts(texts.iter().copied());
    RawSketch::try_from(builder).expect("a sketch")
}

fn raw_file(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("a.raw.dps");
    let output = OutputFile::create(&path, Readers::OwnerOnly).expect("a writable folder");
    output.commit(raw_of(&["ann", "bob"]).to_sensitive_bytes().as_ref()).expect("a writable folder");
    path
}

fn released(path: &Path) -> u32 {
    match read_sketch(path).expect("a sketch") {
        AnySketch::SfmRaw(raw) => raw.releases(),
        other => panic!("{other:?} is not raw"),
    }
}

#[test]
fn a_release_is_counted_and_a_second_one_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = raw_file(&folder);
    let epsilon = parse_epsilon("1").expect("in range");
    let first = release_raw_file(&path, epsilon, false).expect("the first release");
    assert_eq!(released(&path), 1);
    assert_eq!(release_raw_file(&path, epsilon, false).unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(released(&path), 1);
    let second = release_raw_file(&path, epsilon, true).expect("asked for");
    assert_eq!(released(&path), 2);
    assert_ne!(first.leaves()[0].id(), second.leaves()[0].id());
    assert_ne!(first.to_bytes(), second.to_bytes());
}

#[test]
fn of_many_threads_one_is_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = raw_file(&folder);
    let epsilon = parse_epsilon("1").expect("in range");
    let results: Vec<_> = thread::scope(|scope| {
        let release = || scope.spawn(|| release_raw_file(&path, epsilon, false).map_err(|error| error.kind()));
        let threads: Vec<_> = (0..16).map(|_| release()).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(results.iter().filter_map(|result| result.as_ref().err()).all(|kind| *kind == ErrorKind::Refused));
    assert_eq!(released(&path), 1);
}

#[test]
fn many_releases_at_the_same_time_are_all_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = raw_file(&folder);
    let epsilon = parse_epsilon("1").expect("in range");
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| release_raw_file(&path, epsilon, true).expect("asked for"));
        }
    });
    assert_eq!(released(&path), 16);
}

#[test]
fn a_damaged_raw_file_is_not_released_and_not_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = raw_file(&folder);
    let whole = fs::read(&path).expect("readable");
    let epsilon = parse_epsilon("1").expect("in range");
    for at in [0, 5, 40, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, &bytes).expect("writable");
        assert_eq!(release_raw_file(&path, epsilon, false).unwrap_err().kind(), ErrorKind::Damaged, "{at}");
        assert_eq!(fs::read(&path).expect("readable"), bytes);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1, "no temporary file is left");
}

#[test]
fn any_sketch_round_trips_and_refuses_damage() {
    let raw = raw_of(&["ann"]);
    let private = raw.clone().release(parse_epsilon("1").expect("in range")).expect("entropy");
    for sketch in [AnySketch::from(raw), AnySketch::from(private)] {
        let bytes = sketch.to_bytes();
        assert_eq!(AnySketch::from_bytes(&bytes).expect("its own bytes"), sketch);
        for length in [0, 3, 31, 32, bytes.len() - 1] {
            assert_eq!(AnySketch::from_bytes(&bytes[..length]).unwrap_err().kind(), ErrorKind::Damaged);
        }
    }
}

#[test]
fn nothing_of_the_data_is_in_debug_output() {
    let text = format!("{:?}", AnySketch::from(raw_of(&["ann"])));
    assert!(!text.contains("ann") && !text.contains("table") && !text.contains("words"), "{text}");
}

#[test]
fn a_private_sketch_never_merges_with_itself_and_merging_changes_no_input() {
    let epsilon = parse_epsilon("1").expect("in range");
    let named = |name: &str, texts: &[&str]| {
        let private = raw_of(texts).release(epsilon).expect("entropy");
        (name.to_owned(), AnySketch::from(private))
    };
    let (a, b) = (named("a", &["x"]), named("b", &["y"]));
    let twice = [a.clone(), a.clone()];
    for error in [
        merge(&twice, MergeForm::Extremal).unwrap_err(),
        estimate(&twice, parse_confidence("0.95").expect("in range")).unwrap_err(),
        check_compatible(&twice).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.message().contains("a and a"), "{error}");
    }
    let before = [a.1.to_bytes(), b.1.to_bytes()];
    let pair = [a, b];
    merge(&pair, MergeForm::Extremal).expect("two releases");
    assert_eq!([pair[0].1.to_bytes(), pair[1].1.to_bytes()], before);
}

#[test]
fn error_parts_add_up_to_the_standard_error() {
    let epsilon = parse_epsilon("2").expect("in range");
    let texts: Vec<String> = (0..40_000).map(|number| number.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let named = |name: &str, texts: &[&str]| {
        let private = raw_of(texts).release(epsilon).expect("entropy");
        (name.to_owned(), AnySketch::from(private))
    };
    let pair = [named("a", &texts[..20_000]), named("b", &texts[20_000..])];
    let merged = ("m".to_owned(), merge(&pair, MergeForm::Extremal).expect("two releases"));
    // From both at once the union may be known better than any part.
    assert_eq!(estimate(&pair, parse_confidence("0.95").expect("in range")).expect("fits").error_parts(), None);
    for (sketches, merges) in [(&pair[..1], false), (&[merged][..], true)] {
        let answer = estimate(sketches, parse_confidence("0.95").expect("in range")).expect("fits");
        let parts = answer.error_parts().expect("an error");
        let error = answer.estimate().std_error().expect("an error");
        let whole = (parts.hash.powi(2) + parts.noise.powi(2) + parts.merge.powi(2)).sqrt();
        // Exact by definition, but for rounding.
        assert!((whole / error - 1.0).abs() < 1e-9, "{parts:?} {error}");
        assert!(parts.hash > 0.0 && parts.noise > 0.0);
        assert_eq!(parts.merge > 0.01 * error, merges, "{parts:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_cannot_count_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let epsilon = parse_epsilon("1").expect("in range");
    let pipe = folder.path().join("pipe.raw.dps");
    // Nobody writes to it: opening it would wait for ever.
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for path in [pipe.as_path(), Path::new("/dev/null")] {
        let error = release_raw_file(path, epsilon, true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.message().contains("not a regular file"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_raw_file_with_a_second_name_is_refused_and_a_link_is_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = raw_file(&folder);
    let epsilon = parse_epsilon("1").expect("in range");
    let (hard, soft) = (folder.path().join("hard.raw.dps"), folder.path().join("soft.raw.dps"));
    fs::hard_link(&path, &hard).expect("a link");
    let error = release_raw_file(&path, epsilon, false).unwrap_err();
    assert_eq!((error.kind(), released(&path)), (ErrorKind::Refused, 0), "{error}");
    fs::remove_file(&hard).expect("to be there");
    std::os::unix::fs::symlink(&path, &soft).expect("a link");
    release_raw_file(&soft, epsilon, false).expect("the first release");
    assert_eq!(released(&path), 1);
    assert_eq!(release_raw_file(&path, epsilon, false).unwrap_err().kind(), ErrorKind::Refused);
}

#[test]
fn a_raw_file_bounded_for_users_is_released_for_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.raw.dps");
    let unit = dpsketch::sfm_pcsa::Unit::user(3).expect("at least one item");
    let sketch = dpsketch::sfm_pcsa::PcsaSketch::new(PcsaShape::DEFAULT, AnyHash::default()).with_unit(unit);
    let raw = RawSketch::try_from(&sketch).expect("a sketch");
    assert!(raw.clone().merge(&raw_of(&["ann"])).is_err());
    let output = OutputFile::create(&path, Readers::OwnerOnly).expect("a writable folder");
    output.commit(raw.to_sensitive_bytes().as_ref()).expect("a writable folder");
    let private = release_raw_file(&path, parse_epsilon("1").expect("in range"), false).expect("the first release");
    assert_eq!(private.units(), [unit]);
}

#[test]
fn an_epsilon_too_small_for_a_user_is_refused_before_it_is_paid_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.raw.dps");
    let unit = dpsketch::sfm_pcsa::Unit::user(1 << 20).expect("at least one item");
    let sketch = dpsketch::sfm_pcsa::PcsaSketch::new(PcsaShape::DEFAULT, AnyHash::default()).with_unit(unit);
    let raw = RawSketch::try_from(&sketch).expect("a sketch");
    let output = OutputFile::create(&path, Readers::OwnerOnly).expect("a writable folder");
    output.commit(raw.to_sensitive_bytes().as_ref()).expect("a writable folder");
    let epsilon = parse_epsilon("1e-6").expect("in range");
    let error = release_raw_file_paid(&path, epsilon, false, |_| panic!("nothing is to be paid")).unwrap_err();
    assert_eq!((error.kind(), released(&path)), (ErrorKind::Parameter, 0), "{error}");
}

#[test]
fn more_releases_than_one_sketch_records_do_not_merge() {
    let shape = PcsaShape::new(2, 1).expect("a shape");
    let empty = || DistinctBuilder::new(shape, AnyHash::default(), TextRules::default());
    let raw = RawSketch::try_from(empty()).expect("a sketch");
    let epsilon = parse_epsilon("1").expect("in range");
    let release = |number: usize| (number.to_string(), raw.clone().release(epsilon).expect("randomness").into());
    let mut files: Vec<(String, AnySketch)> = (0..=MAX_RELEASES).map(release).collect();
    let error = check_mergeable(&files).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.message().contains("65537") && error.message().contains("65536"), "{error}");
    assert!(check_compatible(&files).is_ok(), "they can still be estimated together");
    files.pop();
    assert!(check_mergeable(&files).is_ok());
}

#[test]
fn debug_of_builders_shows_no_row_and_no_count() {
    let (secret, hash) = ("secret 4711", AnyHash::default);
    let rules = || TextRules { lowercase: true, ..TextRules::default() };
    let mut distinct = DistinctBuilder::new(PcsaShape::DEFAULT, hash(), rules());
    distinct.push_texts(["SECRET 4711", "Secret 4711"]);
    let bound = dpsketch::UserBound::sorted(
        dpsketch::MaxItems::new(2).expect("in range"),
        dpsketch::sketch_hash::HashKey::DEFAULT,
    );
    let mut bounded = dpsketch::BoundedBuilder::new(PcsaShape::DEFAULT, hash(), rules(), bound);
    let item = dpsketch::sketch_hash::Item::Text("SECRET 4711");
    bounded.push_row(Some(item), [Some(item)]).expect("sorted");
    for shown in [format!("{distinct:?}"), format!("{bounded:?}")] {
        assert!(!shown.contains(secret) && !shown.contains("rows") && !shown.contains("counts"), "{shown}");
        assert!(shown.contains("PcsaShape"), "{shown}");
    }
}
