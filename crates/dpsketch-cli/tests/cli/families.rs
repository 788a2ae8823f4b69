//! Sketches of all families, made by other programs, through the verbs.

use dpsketch::sfm_pcsa::{BitmapShape, BloomShape, LegionsShape, LinearShape, RawBitmap};
use dpsketch::sketch_hash::AnyHash;

use crate::support::Folder;

fn write<S: BitmapShape>(folder: &Folder, name: &str, shape: S, items: core::ops::Range<u64>) {
    let mut raw = RawBitmap::new(shape, AnyHash::default());
    raw.update_u64_batch(&items.collect::<Vec<_>>());
    folder.write(name, &*raw.to_sensitive_bytes());
}

fn goes_through<S: BitmapShape>(kind: &str, shape: S) {
    let folder = Folder::new();
    write(&folder, "a.raw.dps", shape, 0..3_000);
    write(&folder, "b.raw.dps", shape, 2_000..5_000);
    for file in ["a", "b"] {
        folder.ok(&["release", &format!("{file}.raw.dps"), "--epsilon", "8", "--out", &format!("{file}.dps")]);
    }
    folder.fails(4, &["release", "a.raw.dps", "--epsilon", "8", "--out", "c.dps"]);
    folder.ok(&["merge", "a.dps", "b.dps", "--out", "m.dps"]);
    folder.ok(&["merge", "a.raw.dps", "b.raw.dps", "--out", "m.raw.dps"]);
    for files in [&["a.dps", "b.dps"][..], &["m.dps"], &["a.raw.dps", "b.raw.dps"], &["m.raw.dps"]] {
        folder.ok(&[&["verify"], files].concat());
        let json = folder.ok(&[&["estimate", "--json"], files].concat()).json();
        assert_eq!(json["kind"], kind);
        let found = json["estimate"].as_f64().expect("an estimate");
        assert!((found / 5_000.0 - 1.0).abs() < 0.2, "{kind} {files:?}: {found}");
        let facts = folder.ok(&["inspect", files[0], "--json"]).json();
        assert_eq!((&facts[0]["kind"], facts[0]["cells"].is_number()), (&kind.into(), true), "{facts}");
    }
    let sfm = folder.private("sfm", 0, 10, "1");
    folder.fails(6, &["verify", "a.dps", &sfm]);
    folder.fails(3, &["merge", "a.dps", &sfm, "--out", "x.dps"]);
    folder.fails(3, &["convert", "a.dps", "--to", "presto", "--out", "x.presto"]);
}

#[test]
fn linear_counting_goes_through_the_verbs() {
    goes_through("linear", LinearShape::new(20_000).expect("a shape"));
}

#[test]
fn bloom_filters_go_through_the_verbs() {
    goes_through("bloom", BloomShape::new(40_000, 2).expect("a shape"));
}

#[test]
fn liquid_legions_go_through_the_verbs() {
    goes_through("legions", LegionsShape::new(20_000, 8.0).expect("a shape"));
}
