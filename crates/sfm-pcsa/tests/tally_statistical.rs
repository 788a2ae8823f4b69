//! Tallies of real releases. Seeds are fixed; every bound is missed by a right build less than once in a million.

mod support;

use cardinality_estimators::tally::TallyMethod;
use cardinality_estimators::{Confidence, Status};
use sfm_pcsa::{Mechanism, PcsaShape, SfmSketch, SfmTally, Unit, tally_counts, tally_of};
use sketch_testkit::{assert_frequencies, two_sided_z};
use support::{noise, permit, raw, released, shape};

/// Releases at ε = 2 of eight sets of 30,000 items, half of which each shares with the next.
fn chain(shape: PcsaShape) -> Vec<SfmSketch> {
    let mut coins = noise(21);
    (0..8_u64).map(|set| released(raw(shape, set * 15_000..set * 15_000 + 30_000), 2.0, &mut coins)).collect()
}

#[test]
fn the_union_of_eight_releases_is_found_and_survives_its_bytes() {
    let releases = chain(PcsaShape::DEFAULT);
    let tally = tally_of(&releases.iter().collect::<Vec<_>>()).expect("different releases");
    let answer = tally.estimate(Confidence::P95).expect("one class of eight");
    let estimate = answer.estimate();
    assert_eq!(estimate.status(), Status::Ok);
    let (value, error) = (estimate.value().expect("a value"), estimate.std_error().expect("an error"));
    let off = (value - 135_000.0).abs() / error;
    assert!(off < two_sided_z(1e-6), "{value} is {off} standard errors of {error} off");
    assert!(error < 0.05 * value, "the free law alone has 3%");

    let read = SfmTally::from_bytes_allowing_insecure_noise(&tally.to_bytes()).expect("its own bytes");
    assert_eq!(read.estimate(Confidence::P95).expect("the same"), answer);
    let point = read.point(Confidence::P95).expect("the same");
    assert_eq!((point.estimate().value(), point.shared_weight()), (estimate.value(), answer.shared_weight()));

    let (counts, sizes) = tally_counts(&releases.iter().collect::<Vec<_>>()).expect("different releases");
    assert_eq!(counts, tally.counts().expect("one class"));
    assert_eq!(sizes, tally.sizes());
    let sizes = sizes.expect("eight sizes");
    assert_eq!(sizes.sketches(), 8);
    // The mean of eight sizes, each with a standard error of 1.6% at eps = 2.
    assert!((sizes.mean() / 30_000.0 - 1.0).abs() < two_sided_z(1e-6) * 0.017 / 8f64.sqrt());
}

#[test]
fn sets_of_very_different_sizes_are_not_taken_for_equal_ones() {
    let mut coins = noise(22);
    let sizes = [90_000, 3_000, 3_000, 3_000, 3_000_u64];
    let mut start = 0;
    let releases: Vec<SfmSketch> = sizes
        .iter()
        .map(|size| {
            start += size;
            released(raw(PcsaShape::DEFAULT, start - size..start), 2.0, &mut coins)
        })
        .collect();
    let tally = tally_of(&releases.iter().collect::<Vec<_>>()).expect("different releases");
    let answer = tally.estimate(Confidence::P95).expect("one class");
    assert_eq!(answer.method(), TallyMethod::Free);
    let (value, error) =
        (answer.estimate().value().expect("a value"), answer.estimate().std_error().expect("an error"));
    assert!((value - 102_000.0).abs() < two_sided_z(1e-6) * error, "{value} with {error}");
}

#[test]
fn two_classes_are_estimated_together_and_more_after_thinning() {
    let mut coins = noise(23);
    let mut release = |set: u64, epsilon: f64| {
        released(raw(PcsaShape::DEFAULT, set * 20_000..set * 20_000 + 40_000), epsilon, &mut coins)
    };
    let releases: Vec<SfmSketch> =
        [2.0, 4.0, 2.0, 4.0, 3.0].iter().enumerate().map(|(set, &e)| release(set as u64, e)).collect();
    let union = |tally: &SfmTally, truth: f64| {
        let estimate = tally.estimate(Confidence::P95).expect("few classes").estimate();
        let (value, error) = (estimate.value().expect("a value"), estimate.std_error().expect("an error"));
        assert!((value - truth).abs() < two_sided_z(1e-6) * error, "{value} with {error} for {truth}");
        error / value
    };
    let mut tally = tally_of(&releases[..4].iter().collect::<Vec<_>>()).expect("different releases");
    assert_eq!(tally.classes().len(), 2);
    let mixed = union(&tally, 100_000.0);
    assert!(mixed < 0.04);

    tally.add(&releases[4]).expect("another release");
    assert_eq!(tally.classes().len(), 3);
    assert!(tally.estimate(Confidence::P95).is_err(), "three classes");
    let thinned = tally.thin(&mut noise(24)).expect("entropy");
    union(&thinned, 120_000.0);
    assert_eq!(thinned.sizes(), tally.sizes(), "sizes are those of the releases as they were made");
}

/// The numbers of the cells of a tally of two releases in one class, from its bytes.
fn numbers(tally: &SfmTally) -> Vec<usize> {
    let bytes = tally.to_bytes();
    let cells = tally.shape().cells();
    let planes = &bytes[bytes.len() - 2 * cells / 8..];
    let bit = |plane: usize, cell: usize| usize::from(planes[(plane * cells + cell) / 8] >> (cell % 8) & 1);
    (0..cells).map(|cell| bit(0, cell) + 2 * bit(1, cell)).collect()
}

#[test]
fn thinned_cells_follow_the_law_of_their_channel() {
    // Empty and full sketches of 64 x 4 cells, at eps = 1 by symmetric flips and at eps = 1.5 by the xor family, which
    // meet at a channel that is neither's.
    let shape = shape(64, 4);
    let full = || {
        let mut sketch = raw(shape, []);
        (0..64_u64).for_each(|bucket| (0..4).for_each(|level| sketch.update_hash(bucket << 58 | 1 << level)));
        sketch
    };
    let mut coins = noise(25);
    for ones in [0, 1, 2] {
        let mut counts = [0_u64; 3];
        let mut channel = None;
        for _ in 0..400 {
            let [first, second] = [ones >= 1, ones == 2].map(|set| if set { full() } else { raw(shape, []) });
            let a = released(first, 1.0, &mut coins);
            let b = second.release_with(Mechanism::XorFamily, Unit::Item, permit(1.5), &mut coins).expect("a release");
            let thinned = tally_of(&[&a, &b]).expect("different releases").thin(&mut coins).expect("entropy");
            for number in numbers(&thinned) {
                counts[number] += 1;
            }
            channel = Some(thinned.classes()[0].channel);
        }
        let channel = channel.expect("at least one");
        assert!((channel.p() - 0.5514).abs() < 1e-4 && (channel.q() - 0.2028).abs() < 1e-4);
        let chance = |set: bool| if set { channel.p() } else { channel.q() };
        let (x, y) = (chance(ones >= 1), chance(ones == 2));
        assert_frequencies(&counts, &[(1.0 - x) * (1.0 - y), x * (1.0 - y) + y * (1.0 - x), x * y]);
    }
}
