//! Set formulas: stated errors against simulated ones, and coverage.

use cardinality_estimators::{BitChannel, CellLayout, Confidence, PatternCounts, SetFormula, jaccard, set_estimate};

use crate::Tally;
use crate::support::{Random, place, response};

const BUCKET_BITS: u32 = 8;
const LEVELS: u8 = 14;

/// Patterns of sets made of regions of the given sizes, by mask.
fn patterns(random: &mut Random, regions: &[u64], channels: &[BitChannel]) -> PatternCounts {
    let mut tables = vec![vec![0_u64; 1 << BUCKET_BITS]; channels.len()];
    for (region, &size) in regions.iter().enumerate() {
        let items = place(random, BUCKET_BITS, LEVELS, size);
        for (_, table) in tables.iter_mut().enumerate().filter(|(sketch, _)| (region >> sketch) & 1 == 1) {
            table.iter_mut().zip(&items).for_each(|(word, more)| *word |= more);
        }
    }
    let mut counts = vec![vec![0; 1 << channels.len()]; usize::from(LEVELS)];
    for bucket in 0..1 << BUCKET_BITS {
        for (level, counts) in counts.iter_mut().enumerate() {
            let mut pattern = 0;
            for (sketch, (table, channel)) in tables.iter().zip(channels).enumerate() {
                let one = if (table[bucket] >> level) & 1 == 1 { channel.p() } else { channel.q() };
                pattern |= usize::from(random.chance(one)) << sketch;
            }
            counts[pattern] += 1;
        }
    }
    let layout = CellLayout::pcsa(1 << BUCKET_BITS, LEVELS).unwrap();
    PatternCounts::new(&layout, channels, counts).unwrap()
}

/// Simulates formulas over sets of these regions; the slack is that of the stated error against the one found.
fn check(seed: u64, regions: &[u64], channels: &[BitChannel], formulas: &[&dyn Fn(usize) -> bool], slack: f64) {
    let mut random = Random::new(seed);
    let mut tallies: Vec<(Tally, f64)> = formulas.iter().map(|_| (Tally::default(), 0.0)).collect();
    let trials = 1200;
    for _ in 0..trials {
        let patterns = patterns(&mut random, regions, channels);
        for (belongs, (tally, stated)) in formulas.iter().zip(&mut tallies) {
            let formula = SetFormula::from_membership(channels.len(), belongs).unwrap();
            let answer = set_estimate(&patterns, &formula, Confidence::P95).unwrap();
            let truth = truth(regions, belongs);
            *stated += answer.std_error().unwrap() / truth / f64::from(trials);
            tally.add(truth, &answer);
        }
    }
    for (tally, stated) in tallies {
        tally.assert_error(stated, slack);
        tally.assert_coverage(0.93, 0.97);
    }
}

fn truth(regions: &[u64], belongs: &dyn Fn(usize) -> bool) -> f64 {
    let sum: u64 = regions.iter().enumerate().filter(|(region, _)| belongs(*region)).map(|(_, size)| size).sum();
    f64::from(u32::try_from(sum).unwrap())
}

#[test]
fn formulas_of_two_sets_err_as_stated_and_cover() {
    let formulas: [&dyn Fn(usize) -> bool; 3] = [&|sets| sets == 3, &|sets| sets == 1, &|sets| sets == 1 || sets == 2];
    for (seed, epsilons) in (300..).zip([[2.0, 2.0], [5.0, 3.0], [36.0, 36.0]]) {
        check(seed, &[0, 600, 300, 900], &epsilons.map(response), &formulas, 0.05);
    }
}

#[test]
fn formulas_of_three_sets_err_as_stated_and_cover() {
    let formulas: [&dyn Fn(usize) -> bool; 3] =
        [&|sets| sets == 7, &|sets| sets & 1 == 1 && sets & 6 != 0, &|sets: usize| sets.is_power_of_two()];
    let channels = [response(3.0), response(4.0), BitChannel::new(0.5, 0.02).unwrap()];
    check(310, &[0, 500, 400, 200, 300, 200, 100, 800], &channels, &formulas, 0.06);
}

#[test]
fn an_empty_intersection_is_not_seen_as_one() {
    let mut random = Random::new(320);
    let both = SetFormula::from_membership(2, |sets| sets == 3).unwrap();
    let (mut held, mut clipped) = (0.0, 0.0);
    for _ in 0..1000 {
        let patterns = patterns(&mut random, &[0, 500, 700, 0], &[response(2.0); 2]);
        let answer = set_estimate(&patterns, &both, Confidence::P95).unwrap();
        let share = jaccard(&patterns, Confidence::P95).unwrap();
        held += f64::from(u8::from(answer.covers(0.0) && share.covers(0.0)));
        clipped += f64::from(u8::from(answer.value() == Some(0.0)));
    }
    // One-sided: an interval misses 0 only above. Half of the answers are clipped.
    assert!(held / 1000.0 > 0.95, "{held}");
    assert!((400.0..600.0).contains(&clipped), "{clipped}");
}

#[test]
fn similarity_covers() {
    for (seed, regions) in (330..).zip([[0, 600, 300, 900], [0, 50, 100, 900]]) {
        let mut random = Random::new(seed);
        let mut tally = Tally::default();
        for _ in 0..1200 {
            let patterns = patterns(&mut random, &regions, &[response(3.0), response(4.0)]);
            let truth = truth(&regions, &|sets| sets == 3) / truth(&regions, &|_| true);
            tally.add(truth, &jaccard(&patterns, Confidence::P95).unwrap());
        }
        tally.assert_coverage(0.93, 0.975);
    }
}
