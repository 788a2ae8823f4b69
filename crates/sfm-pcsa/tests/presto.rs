//! Presto's bytes: what is read, what is written, and what is refused. The cases of the golden file are in `golden.rs`.

mod support;

use proptest::prelude::*;
use sfm_pcsa::cardinality_estimators::{Confidence, LastLevel, Status};
use sfm_pcsa::{
    MergeError, MergeForm, PcsaShape, PcsaSketch, PrestoDecodeError, PrestoEncodeError, PrestoHeader, SfmSketch,
    looks_like_presto,
};
use sketch_hash::{AnyHash, DefaultHash, KeyedHash, PrestoHash};
use support::{noise, permit, raw, released, shape};

/// The layout, written down once more.
fn bytes(index_bits: i32, levels: i32, flip: f64, length: i32, bitmap: &[u8]) -> Vec<u8> {
    let mut bytes = vec![7];
    bytes.extend(index_bits.to_le_bytes());
    bytes.extend(levels.to_le_bytes());
    bytes.extend(flip.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(bitmap);
    bytes
}

/// 8 buckets of 4 levels: 32 cells.
fn small(flip: f64, bitmap: &[u8]) -> Vec<u8> {
    bytes(3, 4, flip, i32::try_from(bitmap.len()).expect("few bytes"), bitmap)
}

fn presto_raw(shape: PcsaShape, items: impl IntoIterator<Item = u64>) -> PcsaSketch<PrestoHash> {
    let mut raw = PcsaSketch::new(shape, PrestoHash);
    raw.update_u64_batch(&items.into_iter().collect::<Vec<_>>());
    raw
}

fn presto_release(shape: PcsaShape, items: std::ops::Range<u64>, epsilon: f64, seed: u64) -> SfmSketch {
    presto_raw(shape, items).release(permit(epsilon), &mut noise(seed)).expect("a release")
}

#[test]
fn cells_lie_where_the_layout_says() {
    // Level 0: buckets 0 and 7; level 1: bucket 1; level 2: none; level 3: bucket 6.
    let read = SfmSketch::from_presto_bytes(&small(0.25, &[0x81, 0x02, 0x00, 0x40])).expect("a sketch");
    assert_eq!(read.ones_per_level(), [2, 1, 0, 1]);
    assert_eq!(read.shape(), shape(8, 4));
    assert_eq!((read.channel().p(), read.channel().q()), (0.75, 0.25));
    assert_eq!(read.hash_id(), PrestoHash.id());
    assert!(!read.insecure_noise());
}

#[test]
fn zero_bytes_at_the_end_make_no_difference() {
    let trimmed = small(0.25, &[0x81, 0x02]);
    let full = small(0.25, &[0x81, 0x02, 0, 0]);
    let [a, b] = [&trimmed, &full].map(|bytes| SfmSketch::from_presto_bytes(bytes).expect("a sketch"));
    assert_eq!(a, b, "with the same name, too");
    assert_eq!(b.to_presto_bytes().expect("symmetric"), trimmed);
    let [a, b] = [&small(0.0, &[0x81]), &small(0.0, &[0x81, 0, 0])]
        .map(|bytes| PcsaSketch::from_sensitive_presto_bytes(bytes, PrestoHash).expect("a sketch"));
    assert_eq!(a, b);
    assert_eq!(b.to_sensitive_presto_bytes().expect("its hash").to_vec(), small(0.0, &[0x81]));
}

#[test]
fn an_empty_bitmap_has_no_byte() {
    let empty = bytes(12, 24, 0.0, 0, &[]);
    let read = PcsaSketch::from_sensitive_presto_bytes(&empty, PrestoHash).expect("a sketch");
    assert!(read.is_empty());
    assert_eq!(read.to_sensitive_presto_bytes().expect("its hash").to_vec(), empty);
    // All zeros are possible for a private sketch, too: it is below its noise.
    let private = SfmSketch::from_presto_bytes(&bytes(12, 24, 0.25, 0, &[])).expect("a sketch");
    assert_eq!(private.estimate(Confidence::P95).status(), Status::BelowNoise);
}

#[test]
fn released_sketches_survive_the_way_there_and_back() {
    for (epsilon, shape) in [(0.5, shape(64, 8)), (1.0, PcsaShape::DEFAULT), (8.0, shape(2, 1)), (30.0, shape(4, 62))] {
        let ours = presto_release(shape, 0..500, epsilon, 1);
        let bytes = ours.to_presto_bytes_allowing_insecure_noise().expect("symmetric");
        let back = SfmSketch::from_presto_bytes(&bytes).expect("our own bytes");
        assert_eq!(back.ones_per_level(), ours.ones_per_level());
        // Written rounded down: never a smaller level, and less than one part in 2^52 away.
        let (was, is) = (ours.leaves()[0].q_numerator(), back.leaves()[0].q_numerator());
        assert!(is <= was && was - is <= was >> 52, "{was} {is}");
        assert!(back.epsilon() >= ours.leaves()[0].realised_level());
        assert!((back.epsilon() - epsilon).abs() < 1e-9 * epsilon.exp(), "{}", back.epsilon());
        assert_eq!(back.to_presto_bytes().expect("symmetric"), bytes);
        let [a, b] = [&ours, &back].map(|sketch| sketch.estimate(Confidence::P95));
        assert_eq!(a.status(), b.status());
        if let (Some(a), Some(b)) = (a.value(), b.value()) {
            assert!((a - b).abs() <= 1e-9 * a, "{a} {b}");
        }
    }
}

#[test]
fn noise_made_elsewhere_is_marked_and_the_mark_is_kept() {
    let theirs = SfmSketch::from_presto_bytes(&small(0.25, &[0x81, 0x02])).expect("a sketch");
    let ours = presto_release(shape(8, 4), 0..5, 1.0, 2);
    assert!(theirs.leaves()[0].made_elsewhere() && !ours.leaves()[0].made_elsewhere());
    assert_eq!(theirs.epsilon_if_seen_alone(), None, "nobody here knows its coins");
    assert!((theirs.epsilon() - 3f64.ln()).abs() < 1e-15);
    let merged = ours.merge(&theirs, MergeForm::Extremal, &mut noise(3)).expect("one hash and shape");
    let merged = theirs_in_both_orders(&merged, &ours);
    let read = SfmSketch::from_bytes_allowing_insecure_noise(&merged.to_bytes()).expect("its own bytes");
    assert_eq!(read, merged);
    let elsewhere: Vec<bool> = read.leaves().iter().map(sfm_pcsa::Leaf::made_elsewhere).collect();
    assert_eq!(elsewhere, [false, true, true, false]);
}

/// A second merge behind the first, with the origins the other way round.
fn theirs_in_both_orders(merged: &SfmSketch, ours: &SfmSketch) -> SfmSketch {
    let other = SfmSketch::from_presto_bytes(&small(0.25, &[0x80, 0x02])).expect("a sketch");
    let more = presto_release(ours.shape(), 5..9, 2.0, 4);
    let second = other.merge(&more, MergeForm::Extremal, &mut noise(5)).expect("one hash and shape");
    merged.merge(&second, MergeForm::Extremal, &mut noise(6)).expect("four releases")
}

#[test]
fn one_sketch_read_twice_is_one_release() {
    let [a, again] = [(); 2].map(|()| SfmSketch::from_presto_bytes(&small(0.25, &[0x81])).expect("a sketch"));
    let refused = a.merge(&again, MergeForm::Extremal, &mut noise(7));
    assert!(matches!(refused, Err(MergeError::RepeatedRelease { id }) if id == a.leaves()[0].id()));
    // Content decides: another bit, another probability or another shape is another release.
    let others = [small(0.25, &[0x82]), small(0.26, &[0x81]), bytes(3, 5, 0.25, 1, &[0x81])];
    for other in others.map(|bytes| SfmSketch::from_presto_bytes(&bytes).expect("a sketch")) {
        assert_ne!(other.leaves()[0].id(), a.leaves()[0].id());
    }
}

#[test]
fn every_field_is_checked() {
    use PrestoDecodeError as E;
    let read = |bytes: &[u8]| SfmSketch::from_presto_bytes(bytes).expect_err("damaged");
    let good = small(0.25, &[0x81, 0x02]);
    assert_eq!(read(&[]), E::Length { expected: 21, found: 0 });
    for length in 0..good.len() {
        let expected = if length < 21 { 21 } else { 23 };
        assert_eq!(read(&good[..length]), E::Length { expected, found: length });
    }
    assert_eq!(read(&[&good[..], &[0]].concat()), E::Length { expected: 23, found: 24 });
    assert_eq!(read(&[&[8], &good[1..]].concat()), E::Tag { expected: 7, found: 8 });
    for found in [i32::MIN, -1, 0, 21, 32, i32::MAX] {
        assert_eq!(read(&bytes(found, 4, 0.25, 0, &[])), E::IndexBits { max: 20, found });
    }
    for found in [i32::MIN, -1, 0, 62, 260, i32::MAX] {
        assert_eq!(read(&bytes(3, found, 0.25, 0, &[])), E::Levels { max: 61, found });
    }
    for found in [-0.1, 0.500_000_1, 1.0, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(read(&bytes(3, 4, found, 0, &[])), E::FlipProbability { found });
    }
    assert!(matches!(read(&bytes(3, 4, f64::NAN, 0, &[])), E::FlipProbability { found } if found.is_nan()));
    for found in [i32::MIN, -1, 5, i32::MAX] {
        assert_eq!(read(&bytes(3, 4, 0.25, found, &[0; 5])), E::Bitmap { max: 4, found });
    }
    assert_eq!(read(&bytes(1, 3, 0.25, 1, &[0x40])), E::ExtraBits { cells: 6 });
    assert_eq!(read(&small(0.5, &[0x81])), E::NoSignal);
    assert_eq!(read(&small(1e-200, &[0x81])), E::TooLittleNoise { found: 1e-200 });
    // The largest shape in both formats; its header alone is a sketch.
    assert!(SfmSketch::from_presto_bytes(&bytes(20, 44, 0.25, 0, &[])).is_ok());
}

#[test]
fn private_and_raw_bytes_are_not_taken_for_each_other() {
    let (private, raw) = (small(0.25, &[0x81]), small(0.0, &[0x81]));
    assert_eq!(SfmSketch::from_presto_bytes(&raw), Err(PrestoDecodeError::Raw));
    let refused = PcsaSketch::from_sensitive_presto_bytes(&private, PrestoHash);
    assert_eq!(refused.expect_err("private"), PrestoDecodeError::Private { flip_probability: 0.25 });
    let [private, raw] = [&private, &raw].map(|bytes| PrestoHeader::read(bytes).expect("a sketch"));
    assert!(private.is_private() && !raw.is_private());
    assert_eq!((private.shape(), private.flip_probability()), (shape(8, 4), 0.25));
}

#[test]
fn only_prestos_hash_goes_with_prestos_bytes() {
    let ours = released(raw(shape(8, 4), 0..5), 1.0, &mut noise(8));
    let error = ours.to_presto_bytes_allowing_insecure_noise().expect_err("another hash");
    assert!(matches!(error, PrestoEncodeError::Hash { .. }));
    let message = error.to_string();
    assert!(message.contains("xxh64-seed-0") && message.contains(&ours.hash_id().to_string()), "{message}");
    assert!(raw(shape(8, 4), 0..5).to_sensitive_presto_bytes().is_err());
    let bytes = small(0.0, &[0x81]);
    let refused = PcsaSketch::from_sensitive_presto_bytes(&bytes, DefaultHash::default()).expect_err("another hash");
    assert!(matches!(refused, PrestoDecodeError::Hash { .. }));
    assert!(PcsaSketch::from_sensitive_presto_bytes(&bytes, AnyHash::from(PrestoHash)).is_ok());
}

#[test]
fn asymmetric_noise_is_refused_until_it_is_thinned() {
    let [a, b] = [9, 10].map(|seed| presto_release(PcsaShape::DEFAULT, 0..20_000, 1.0, seed));
    let xor = presto_raw(PcsaShape::DEFAULT, 0..20_000).release_xor_family(permit(2.0), &mut noise(11));
    let mut coins = noise(12);
    let extremal = a.merge(&b, MergeForm::Extremal, &mut coins).expect("a merge");
    for sketch in [extremal, xor.expect("a release")] {
        let refused = sketch.to_presto_bytes_allowing_insecure_noise().expect_err("asymmetric");
        let PrestoEncodeError::Asymmetric { p, q } = refused else { panic!("{refused:?}") };
        assert!((p - sketch.channel().p()).abs() < 1e-15 && (q - sketch.channel().q()).abs() < 1e-15);
        assert!(refused.to_string().contains("symmetrised"));
        let thinned = sketch.symmetrised(&mut coins).expect("coins");
        let back = SfmSketch::from_presto_bytes(&thinned.to_presto_bytes_allowing_insecure_noise().expect("symmetric"));
        assert_eq!(back.expect("our own bytes").ones_per_level(), thinned.ones_per_level());
        // In its own format it says what happened to it.
        let read = SfmSketch::from_bytes_allowing_insecure_noise(&thinned.to_bytes()).expect("its own bytes");
        assert_eq!(read, thinned);
        assert_eq!(read.symmetrised(&mut coins).expect("nothing to do"), thinned);
        assert!(thinned.merge(&sketch, MergeForm::Extremal, &mut coins).is_err(), "one release twice");
    }
    let published = a.merge(&b, MergeForm::Symmetric, &mut coins).expect("a merge");
    assert!(published.to_presto_bytes_allowing_insecure_noise().is_ok());
}

#[test]
fn insecure_noise_is_not_written_where_it_cannot_be_marked() {
    let insecure = presto_release(shape(8, 4), 0..5, 1.0, 13);
    assert_eq!(insecure.to_presto_bytes(), Err(PrestoEncodeError::InsecureNoise));
}

#[test]
fn content_tells_the_formats_apart() {
    assert!(looks_like_presto(&small(0.25, &[0x81])));
    assert!(looks_like_presto(&small(0.5, &[0x81])));
    // Damaged, but meant to be one: the error says how.
    assert!(looks_like_presto(&bytes(12, 24, 0.25, 12_288, &[1, 2, 3])));
    assert!(looks_like_presto(&bytes(32, 32, 0.25, 0, &[])));
    let ours = released(raw(shape(8, 4), 0..5), 1.0, &mut noise(14));
    let others: [&[u8]; 6] =
        [&ours.to_bytes(), b"", b"\x07", b"user,country\n1,de\n2,fr\n3,it\n", &bytes(0, 24, 0.25, 0, &[]), &[7; 40]];
    for other in others {
        assert!(!looks_like_presto(other), "{other:?}");
    }
}

/// What the likelihood with a halved last level makes of the cells expected of `n` items, over `n`: the root of
/// `Σ r_j (h_j/(e^(r_j m) − 1) − (1 − h_j))`, with `h_j` the true share of ones and `r_j` the rates of the model.
fn overstated(buckets: f64, levels: i32, n: f64) -> f64 {
    let rate = |level: i32| -(-(2f64.powi(-level) / buckets)).ln_1p();
    let score = |m: f64| -> f64 {
        let term = |j: i32| {
            let hit = -(-n * rate(if j + 1 == levels { j } else { j + 1 })).exp_m1();
            rate(j + 1) * (hit / (rate(j + 1) * m).exp_m1() - (1.0 - hit))
        };
        (0..levels).map(term).sum()
    };
    let (mut low, mut high) = (n, 2.0 * n);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if score(middle) > 0.0 { low = middle } else { high = middle }
    }
    low / n
}

#[test]
fn prestos_last_level_counts_a_full_sketch_too_high() {
    let shape = shape(1024, 6);
    for (items, about) in [(1024 * 16_u64, 1.095), (1024 * 32, 1.174)] {
        let full = presto_raw(shape, 0..items);
        let [exact, theirs] = [LastLevel::Exact, LastLevel::Presto]
            .map(|level| full.estimate_with(level, Confidence::P95).value().expect("within the range"));
        assert_eq!(full.estimate(Confidence::P95).value(), Some(exact));
        let expected = overstated(1024.0, 6, exact);
        assert!((expected - about).abs() < 0.01, "{expected}");
        // Both are read from the same bits, so that hardly any chance is left in the ratio.
        assert!((theirs / exact / expected - 1.0).abs() < 0.02, "{} {expected}", theirs / exact);
        let private = full.release(permit(4.0), &mut noise(15)).expect("a release");
        assert_eq!(private.estimate_with(LastLevel::Exact, Confidence::P95), private.estimate(Confidence::P95));
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = SfmSketch::from_presto_bytes(&bytes);
        let _ = looks_like_presto(&bytes);
    }

    #[test]
    fn random_fields_never_panic_and_accepted_ones_come_back(
        index_bits in -2..24_i32, levels in -2..70_i32, flip in 0.0..0.6_f64, length in -1..40_i32,
        bitmap in prop::collection::vec(any::<u8>(), 0..40), raw: bool,
    ) {
        let flip = if raw { 0.0 } else { flip };
        let all = bytes(index_bits, levels, flip, length, &bitmap);
        let trimmed = bitmap.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let trimmed = bytes(index_bits, levels, flip, i32::try_from(trimmed).expect("few"), &bitmap[..trimmed]);
        if let Ok(read) = SfmSketch::from_presto_bytes(&all) {
            prop_assert!(looks_like_presto(&all));
            let written = read.to_presto_bytes().expect("symmetric");
            prop_assert_eq!(SfmSketch::from_presto_bytes(&written).expect("our own bytes").ones_per_level(), read.ones_per_level());
            // Below 2^-11 the probability may move by 2^-65.
            if flip > 2f64.powi(-11) {
                prop_assert_eq!(written, trimmed);
            }
        } else if let Ok(read) = PcsaSketch::from_sensitive_presto_bytes(&all, PrestoHash) {
            prop_assert_eq!(read.to_sensitive_presto_bytes().expect("its hash").to_vec(), trimmed);
        }
    }
}
