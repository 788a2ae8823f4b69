//! What would state less than was paid, or hide that nobody is protected.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod support;

use countsketch_dp::{
    ContributionBound, CountSketch, DecodeError, Exposure, LineageError, LocalCountMean, LocalReport, LocalShape,
    MergeError, PrivateCountSketch, ReleaseError, TotalWeight, UnsignedSketch,
};
use dp_noise::{Delta, Epsilon, Neighbouring, NoiseSource, Permit};
use sketch_hash::{DefaultHash, KeyedHash};
use sketch_testkit::reseal;
use support::{entry, noise, raw, released, rho, shape};

/// A file whose only release claims to be noise on top: everything from the code of its relation on is zero.
#[test]
fn a_file_without_any_guarantee_is_refused() {
    let release = 32 + 23;
    let mut bytes = released(raw(shape(3, 4), entry(2), [(1, 2)]), 0.25, 1).to_bytes();
    assert!(PrivateCountSketch::from_bytes_allowing_insecure_noise(&bytes).is_ok());
    bytes[release + 57..release + 99].fill(0);
    reseal(&mut bytes);
    let read = PrivateCountSketch::from_bytes_allowing_insecure_noise(&bytes);
    assert!(matches!(read, Err(DecodeError::Lineage(LineageError::NoGuarantee { found: 1 }))), "{read:?}");
}

/// A raw file of so many parts, by its layout: parts are 44 bytes behind the header.
fn users(parts: u32) -> CountSketch<DefaultHash> {
    let raw = CountSketch::new(shape(3, 4), DefaultHash::default(), ContributionBound::user_total(1).unwrap());
    let mut bytes = raw.to_sensitive_bytes().to_vec();
    bytes[32 + 44..32 + 48].copy_from_slice(&parts.to_le_bytes());
    reseal(&mut bytes);
    CountSketch::from_sensitive_bytes(&bytes, DefaultHash::default()).unwrap()
}

#[test]
fn parts_beyond_their_range_are_refused_and_nothing_is_changed() {
    let mut one = users(u32::MAX - 1);
    one.merge(&users(1)).unwrap();
    assert_eq!(one.parts(), u32::MAX);
    for merged in [one.merge(&users(1)), one.clone().subtract(&users(7))] {
        assert!(matches!(merged, Err(MergeError::Overflow)));
    }
    assert_eq!(one, {
        let mut same = users(u32::MAX - 1);
        same.merge(&users(1)).unwrap();
        same
    });
}

/// A record in two parts moves two cells of a row, in general: the exact law of one cell a row is not its law.
#[test]
fn the_exact_law_is_for_records_in_one_part() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let exposure = |parts| Exposure::new(shape(5, 64), entry(1), parts, Neighbouring::AddRemove);
    assert!(exposure(1).gaussian_exact(epsilon, delta).is_ok());
    for parts in [0, 2, 3, u32::MAX] {
        assert!(matches!(exposure(parts).gaussian_exact(epsilon, delta), Err(ReleaseError::NotExact { .. })));
    }
    // Through zCDP the sensitivity counts the parts: twice the norm, four times the variance.
    let variance = |parts| exposure(parts).gaussian_for(epsilon, delta).unwrap().variance().to_f64();
    assert!((variance(2) / variance(1) - 4.0).abs() < 1e-9);
}

/// One row and a released total: β/3 for the noise of the cell, β/3 for the total, β/3 for the collisions.
#[test]
fn a_released_total_takes_its_share_of_what_may_be_missed() {
    let raw = UnsignedSketch::new(shape(1, 64), DefaultHash::default(), entry(1)).unwrap();
    let private = raw.release(rho(0.000_05), &mut noise(1)).unwrap(); // σ = 100
    let reach = |total: TotalWeight| {
        let answer = private.count_min(1, total, countsketch_dp::cardinality_estimators::Confidence::P95).unwrap();
        answer.upper().unwrap() - answer.value().unwrap()
    };
    // Normal quantiles of 1 − 0.05/2 and 1 − 0.05/3, 1.95996 and 2.12805, in whole grid units.
    let [public, released] = [TotalWeight::public(0.0).unwrap(), TotalWeight::released(0.0, 1.0).unwrap()].map(reach);
    assert!((public - 196.0).abs() < 1e-9 && (released - 213.0).abs() < 1e-9, "{public} {released}");
}

#[test]
fn a_server_says_when_a_report_protected_nobody() {
    let epsilon = Epsilon::new(2.0).unwrap();
    let shape = LocalShape::new(shape(3, 32), DefaultHash::default().id(), epsilon).unwrap();
    let mut generator = noise(1);
    assert!(generator.is_insecure());
    let report = shape.report(9, Permit::standalone(epsilon), &mut generator).unwrap();
    let sent =
        |insecure| LocalReport::from_parts(shape.shape(), report.row(), report.words().to_vec(), insecure).unwrap();
    let mut good = LocalCountMean::new(shape.clone());
    good.add(&sent(false)).unwrap();
    assert!(!good.insecure_noise());
    let mut bad = LocalCountMean::new(shape.clone());
    bad.add(&sent(report.insecure_noise())).unwrap();
    bad.add(&sent(false)).unwrap();
    assert!(bad.insecure_noise());
    good.merge(&bad).unwrap();
    assert!(good.insecure_noise());
}
