//! Linear counting, Bloom filters and Liquid Legions: errors, predictions and coverage.

use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, LevelCounts, bloom_count, estimate, legions_probability,
    linear_counting_private, predicted_rse,
};

use crate::Tally;
use crate::support::{Random, response};

/// How many of `cells` cells read one after `darts` darts at equally likely ones.
fn throw(random: &mut Random, cells: u32, darts: u32, channel: BitChannel) -> u64 {
    let mut hit = vec![false; usize::try_from(cells).unwrap()];
    for _ in 0..darts {
        hit[usize::try_from(((random.bits() >> 32) * u64::from(cells)) >> 32).unwrap()] = true;
    }
    let seen = |hit: bool| random.chance(if hit { channel.p() } else { channel.q() });
    hit.into_iter().map(seen).map(u64::from).sum()
}

#[test]
fn linear_counting_errs_as_predicted_and_covers() {
    // Loads from a hundredth to three items a cell: under the noise, in the middle, and where cells run out.
    let settings = [(1.0, 10), (1.0, 100), (1.0, 1500), (2.0, 300), (4.0, 2500), (36.0, 100), (36.0, 3000)];
    for (seed, (epsilon, n)) in (200..).zip(settings) {
        let mut random = Random::new(seed);
        let (mut tally, channel) = (Tally::default(), response(epsilon));
        for _ in 0..3000 {
            let ones = throw(&mut random, 1024, n, channel);
            tally.add(f64::from(n), &linear_counting_private(1024, ones, channel, Confidence::P95).unwrap());
        }
        let predicted = predicted_rse(&CellLayout::linear(1024).unwrap(), channel, f64::from(n));
        if predicted < 0.12 {
            tally.assert_error(predicted, 0.03);
        }
        tally.assert_coverage(0.94, 0.985);
    }
}

#[test]
fn intervals_of_a_nearly_full_sketch_cover() {
    // Five items a cell: 0.7 % of the cells are empty, and many answers have no upper end.
    for (seed, epsilon) in (210..).zip([1.0, 4.0]) {
        let mut random = Random::new(seed);
        let (mut tally, channel) = (Tally::default(), response(epsilon));
        for _ in 0..2000 {
            let ones = throw(&mut random, 512, 2560, channel);
            tally.add(2560.0, &linear_counting_private(512, ones, channel, Confidence::P95).unwrap());
        }
        tally.assert_coverage(0.94, 0.97);
    }
}

#[test]
fn bloom_filters_err_as_predicted_and_cover() {
    let settings = [(2, 2.0, 500), (2, 40.0, 900), (3, 3.0, 200), (4, 8.0, 60), (8, 16.0, 250)];
    for (seed, (hashes, epsilon, n)) in (220..).zip(settings) {
        let mut random = Random::new(seed);
        let (mut tally, channel) = (Tally::default(), response(epsilon / f64::from(hashes)));
        for _ in 0..3000 {
            let ones = throw(&mut random, 2048, n * hashes, channel);
            tally.add(f64::from(n), &bloom_count(2048, hashes, ones, channel, Confidence::P95).unwrap());
        }
        let predicted = predicted_rse(&CellLayout::bloom(2048, hashes).unwrap(), channel, f64::from(n));
        assert!(predicted < 0.12, "{predicted}");
        tally.assert_error(predicted, 0.03);
        tally.assert_coverage(0.94, 0.97);
    }
}

/// The counts of `n` items in a Liquid Legions sketch, every item placed by its cumulative probability.
fn legions(random: &mut Random, layout: &CellLayout, cumulative: &[f64], n: u32, channel: BitChannel) -> LevelCounts {
    let mut hit = vec![false; cumulative.len()];
    for _ in 0..n {
        let at = random.unit();
        hit[cumulative.partition_point(|&below| below <= at).min(cumulative.len() - 1)] = true;
    }
    let seen = |hit: &bool| random.chance(if *hit { channel.p() } else { channel.q() });
    let bits: Vec<u64> = hit.iter().map(seen).map(u64::from).collect();
    let range = |cells: std::ops::Range<u64>| {
        bits[usize::try_from(cells.start).unwrap()..usize::try_from(cells.end).unwrap()].iter().sum()
    };
    layout.counts_by_range(range, channel).unwrap()
}

#[test]
fn legions_err_as_predicted_and_cover() {
    let (cells, decay) = (3000, 10.0);
    let layout = CellLayout::legions(cells, decay).unwrap();
    let mut sum = 0.0;
    let mut add = |cell| {
        sum += legions_probability(cells, decay, cell).unwrap();
        sum
    };
    let cumulative: Vec<f64> = (0..cells).map(&mut add).collect();
    for (seed, (epsilon, n)) in (230..).zip([(2.0, 500), (2.0, 8000), (4.0, 2000), (36.0, 100), (36.0, 4000)]) {
        let mut random = Random::new(seed);
        let (mut tally, channel) = (Tally::default(), response(epsilon));
        for _ in 0..1000 {
            let counts = legions(&mut random, &layout, &cumulative, n, channel);
            tally.add(f64::from(n), &estimate(&counts, Confidence::P95));
        }
        let predicted = predicted_rse(&layout, channel, f64::from(n));
        assert!(predicted < 0.12, "{predicted}");
        tally.assert_error(predicted, 0.03);
        tally.assert_coverage(0.94, 0.98);
    }
}
