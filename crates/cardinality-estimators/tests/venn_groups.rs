//! The fit of groups of sketches: what it must agree with, laws for all counts, and simulated groups.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "support/random.rs"]
mod random;

use cardinality_estimators::tally::{TallyClass, TallyCounts};
use cardinality_estimators::venn::{self, GroupCounts, VennFit, fit_groups};
use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, Estimate, ParamError, PatternCounts, Status, diagnostics,
};
use proptest::prelude::*;
use random::Random;

const LEVELS: u8 = 20;
const BUCKET_BITS: u32 = 10;

fn response(epsilon: f64) -> BitChannel {
    BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).unwrap()
}

/// A table of the levels hit in every bucket by so many items.
fn place(random: &mut Random, items: u64) -> Vec<u64> {
    let mut table = vec![0_u64; 1 << BUCKET_BITS];
    for _ in 0..items {
        let hash = random.bits() | (1 << (LEVELS - 1));
        table[usize::try_from(hash >> (64 - BUCKET_BITS)).unwrap()] |= hash & hash.wrapping_neg();
    }
    table
}

fn join(tables: &[&[u64]]) -> Vec<u64> {
    (0..1 << BUCKET_BITS).map(|bucket| tables.iter().fold(0, |word, table| word | table[bucket])).collect()
}

/// The noisy bits of every sketch: `[sketch][level][bucket]`.
fn observe(random: &mut Random, tables: &[Vec<u64>], channels: &[BitChannel]) -> Vec<Vec<Vec<bool>>> {
    let bit =
        |random: &mut Random, on: bool, channel: &BitChannel| random.chance(if on { channel.p() } else { channel.q() });
    let level = |random: &mut Random, table: &Vec<u64>, channel: &BitChannel, level: u8| {
        table.iter().map(|word| bit(random, (word >> level) & 1 == 1, channel)).collect()
    };
    let sketch =
        |(table, channel): (&Vec<u64>, &BitChannel)| (0..LEVELS).map(|l| level(random, table, channel, l)).collect();
    tables.iter().zip(channels).map(sketch).collect()
}

fn layout() -> CellLayout {
    CellLayout::pcsa(1 << BUCKET_BITS, LEVELS).unwrap()
}

/// Combinations of tallies: `classes[i]` is the class that sketch `i` is in, of so many sketches each.
fn combinations(bits: &[Vec<Vec<bool>>], classes: &[usize], sizes: &[usize]) -> Vec<Vec<u64>> {
    let states: usize = sizes.iter().map(|size| size + 1).product();
    let place = |class: usize| -> usize { sizes[..class].iter().map(|size| size + 1).product() };
    let level = |level: usize| {
        let mut counts = vec![0; states];
        for bucket in 0..1 << BUCKET_BITS {
            let ones = bits.iter().zip(classes).filter(|(bits, _)| bits[level][bucket]);
            counts[ones.map(|(_, &class)| place(class)).sum::<usize>()] += 1;
        }
        counts
    };
    (0..usize::from(LEVELS)).map(level).collect()
}

fn class(channel: BitChannel, sketches: usize) -> TallyClass {
    TallyClass { channel, sketches }
}

fn close(x: f64, y: f64, relative: f64, absolute: f64) {
    assert!((x - y).abs() <= absolute + relative * y.abs(), "{x} against {y}");
}

#[test]
fn groups_of_one_sketch_are_sketches() {
    let mut random = Random::new(1);
    for channels in [vec![response(2.0); 2], vec![response(1.0), response(3.0), response(2.0)]] {
        let common = place(&mut random, 4000);
        let tables: Vec<Vec<u64>> = channels.iter().map(|_| join(&[&place(&mut random, 3000), &common])).collect();
        let bits = observe(&mut random, &tables, &channels);
        let sizes = vec![1; channels.len()];
        let counts = combinations(&bits, &(0..channels.len()).collect::<Vec<_>>(), &sizes);
        let patterns = venn::fit(&PatternCounts::new(&layout(), &channels, counts.clone()).unwrap()).unwrap();
        let groups: Vec<_> = channels.iter().map(|&channel| vec![class(channel, 1)]).collect();
        let grouped = fit_groups(&GroupCounts::new(&layout(), &groups, counts).unwrap()).unwrap();
        assert_eq!(grouped.status(), Status::Ok);
        close(grouped.log_likelihood().unwrap(), patterns.log_likelihood().unwrap(), 0.0, 1e-5);
        let total: f64 = patterns.regions().unwrap().iter().sum();
        for (x, y) in grouped.regions().unwrap().iter().zip(patterns.regions().unwrap()) {
            close(*x, *y, 0.0, 1e-4 * total);
        }
        for (x, y) in grouped.information().unwrap().iter().zip(patterns.information().unwrap()) {
            let largest = patterns.information().unwrap().iter().copied().fold(0.0, f64::max);
            close(*x, *y, 1e-3, 1e-4 * largest);
        }
    }
}

#[test]
fn one_group_has_the_free_law_of_a_tally() {
    let mut random = Random::new(2);
    for (epsilon, sketches) in [(1.0, 2), (2.0, 5), (3.0, 8)] {
        let common = place(&mut random, 5000);
        let tables: Vec<Vec<u64>> = (0..sketches).map(|_| join(&[&place(&mut random, 2000), &common])).collect();
        let channel = response(epsilon);
        let bits = observe(&mut random, &tables, &vec![channel; sketches]);
        let counts = combinations(&bits, &vec![0; sketches], &[sketches]);
        let group = [vec![class(channel, sketches)]];
        let fit = fit_groups(&GroupCounts::new(&layout(), &group, counts.clone()).unwrap()).unwrap();
        let tally = TallyCounts::new(&layout(), &[class(channel, sketches)], counts).unwrap();
        let n = fit.regions().unwrap()[0];
        let at = diagnostics::tally_free_law(&tally, n, 1e-9);
        close(fit.log_likelihood().unwrap(), at.log_likelihood, 0.0, 1e-5);
        for other in [0.5 * n, 0.9 * n, 0.99 * n, 0.999 * n, 1.001 * n, 1.01 * n, 1.1 * n, 2.0 * n] {
            assert!(diagnostics::tally_free_law(&tally, other, 1e-9).log_likelihood < at.log_likelihood + 1e-5);
        }
        assert!(fit.union(Confidence::P95).std_error().unwrap() < 0.2 * n);
    }
}

/// What the unions, the intersection and the regions of two groups come to in many trials.
#[derive(Default)]
struct Found {
    trials: f64,
    covered: f64,
    squares: f64,
    sum: f64,
    variance: f64,
}

impl Found {
    fn add(&mut self, answer: &Estimate, truth: f64) {
        let error = answer.value().unwrap() - truth;
        self.trials += 1.0;
        self.covered += f64::from(u8::from(answer.covers(truth)));
        self.squares += error * error;
        self.sum += error;
        self.variance += answer.std_error().unwrap().powi(2);
    }

    fn show(&self, truth: f64) -> String {
        format!(
            "rmse {:.4} bias {:+.4} stated {:.4} cover {:.1}",
            (self.squares / self.trials).sqrt() / truth,
            self.sum / self.trials / truth,
            (self.variance / self.trials).sqrt() / truth,
            100.0 * self.covered / self.trials
        )
    }
}

/// Two groups of `sketches` each; `shared` items in every sketch of both, `own` in every sketch of a group, `single` in one.
fn simulate(epsilon: f64, sketches: usize, sizes: [u64; 3], trials: u64, seed: u64) -> [Found; 3] {
    let mut random = Random::new(seed);
    let channel = response(epsilon);
    let [shared, own, single] = sizes;
    let group = own + single * sketches as u64;
    let mut found = [Found::default(), Found::default(), Found::default()];
    for _ in 0..trials {
        let both = place(&mut random, shared);
        let mut tables = Vec::new();
        for _ in 0..2 {
            let core = place(&mut random, own);
            tables.extend((0..sketches).map(|_| join(&[&place(&mut random, single), &core, &both])));
        }
        let bits = observe(&mut random, &tables, &vec![channel; 2 * sketches]);
        let classes: Vec<usize> = (0..2 * sketches).map(|sketch| sketch / sketches).collect();
        let counts = combinations(&bits, &classes, &[sketches; 2]);
        let groups = [vec![class(channel, sketches)], vec![class(channel, sketches)]];
        let fit = fit_groups(&GroupCounts::new(&layout(), &groups, counts).unwrap()).unwrap();
        assert_eq!(fit.status(), Status::Ok);
        add(&mut found, &fit, [2 * group + shared, shared, group].map(|n| f64::from(u32::try_from(n).unwrap())));
    }
    found
}

fn add(found: &mut [Found; 3], fit: &VennFit, truths: [f64; 3]) {
    let answers =
        [fit.union(Confidence::P95), fit.region(3, Confidence::P95).unwrap(), fit.region(1, Confidence::P95).unwrap()];
    for ((found, answer), truth) in found.iter_mut().zip(&answers).zip(truths) {
        found.add(answer, truth);
    }
}

#[test]
#[ignore = "minutes: the table of the book"]
fn table() {
    let trials = std::env::var("TRIALS").ok().and_then(|t| t.parse().ok()).unwrap_or(100);
    for sketches in [2, 4] {
        for epsilon in [1.0, 2.0, 4.0] {
            for (name, sizes) in [
                ("singles, no common", [0, 0, 10_000]),
                ("singles, half common", [20_000, 0, 10_000 / sketches as u64]),
                ("cores, half common", [20_000, 10_000, 0]),
                ("cores and singles", [10_000, 10_000, 10_000 / sketches as u64]),
            ] {
                let start = std::time::Instant::now();
                let found = simulate(epsilon, sketches, sizes, trials, 3);
                let truth = 2.0 * (sizes[1] as f64 + sizes[2] as f64 * sketches as f64) + sizes[0] as f64;
                println!(
                    "{sketches} {epsilon} {name} | {} | {} | {} | {:?}",
                    found[0].show(truth),
                    found[1].show(truth),
                    found[2].show(truth),
                    start.elapsed() / u32::try_from(trials).unwrap()
                );
            }
        }
    }
}

fn channels() -> impl Strategy<Value = BitChannel> {
    let weak = (-60.0..0.0_f64).prop_map(|e| BitChannel::from_keep(0.5, 10.0_f64.powf(e)).unwrap());
    let symmetric = (0.0..0.5_f64).prop_map(|flip| BitChannel::symmetric(flip).unwrap());
    prop_oneof![Just(BitChannel::NOISELESS), weak, symmetric]
}

/// One to three groups of one or two classes of one to three sketches, and any counts.
fn counts() -> impl Strategy<Value = GroupCounts> {
    let class = (channels(), 1..=3_usize).prop_map(|(channel, sketches)| TallyClass { channel, sketches });
    let groups = prop::collection::vec(prop::collection::vec(class, 1..=2), 1..=3);
    (groups, 1..=4_usize, any::<u64>()).prop_filter_map("too many states", |(groups, levels, seed)| {
        let states: usize = groups.iter().flatten().map(|class| class.sketches + 1).product();
        if states > 48 {
            return None;
        }
        let mut random = Random::new(seed);
        let mut count = || match random.bits() % 4 {
            0 | 1 => 0,
            2 => random.bits() % 2000,
            _ => random.bits() >> (8 + random.bits() % 50),
        };
        let mut rows: Vec<Vec<u64>> = (0..levels).map(|_| (0..states).map(|_| count() >> 8).collect()).collect();
        if seed % 3 == 0 {
            // All cells alike.
            for row in &mut rows {
                row.fill(0);
                row[usize::try_from(seed >> 32).unwrap() % states] = 4096;
            }
        }
        rows[0][0] += 1;
        let cells: Vec<(u64, f64)> =
            rows.iter().zip([0.3, 1e-3, 1e-9, 1e-20]).map(|(row, rate)| (row.iter().sum(), rate)).collect();
        Some(GroupCounts::new(&CellLayout::new(&cells, 1e25).ok()?, &groups, rows).unwrap())
    })
}

fn is_consistent(answer: &Estimate) -> bool {
    let bounds = (answer.lower(), answer.upper());
    let rebuilt = Estimate::new(answer.status(), answer.value(), answer.std_error(), bounds, answer.confidence());
    rebuilt == Ok(*answer) && (answer.status() == Status::NotConverged || answer.lower().is_some())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_counts_give_consistent_answers(counts in counts()) {
        let fit = fit_groups(&counts).unwrap();
        prop_assert_eq!(fit.regions().is_some(), fit.status().has_value());
        prop_assert!(is_consistent(&fit.union(Confidence::P95)));
        prop_assert!(is_consistent(&fit.jaccard(Confidence::P95)));
        prop_assert!(is_consistent(&fit.region(1, Confidence::P95).unwrap()));
        if let Some(regions) = fit.regions() {
            prop_assert!(regions.iter().all(|n| *n >= 0.0 && n.is_finite()));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let layout = CellLayout::linear(10).unwrap();
    let one = || class(BitChannel::NOISELESS, 1);
    let new = |groups: &[Vec<TallyClass>], counts| GroupCounts::new(&layout, groups, counts).unwrap_err();
    assert_eq!(new(&[], vec![vec![10]]), ParamError::VennSets { found: 0 });
    assert_eq!(new(&vec![vec![one()]; 5], vec![vec![10]]), ParamError::VennSets { found: 5 });
    assert_eq!(new(&[vec![one()], vec![]], vec![vec![10]]), ParamError::EmptyGroup { group: 1 });
    let hollow = vec![one(), class(BitChannel::NOISELESS, 0)];
    assert_eq!(new(&[hollow], vec![vec![10]]), ParamError::EmptyGroup { group: 0 });
    let large = vec![vec![class(BitChannel::NOISELESS, 20)]; 2];
    let expected = GroupCounts::MAX_STATES;
    assert_eq!(new(&large, vec![]), ParamError::GroupStates { expected, found: 441 });
    let endless = vec![vec![class(BitChannel::NOISELESS, usize::MAX)]; 2];
    assert_eq!(new(&endless, vec![]), ParamError::GroupStates { expected, found: usize::MAX });
    assert_eq!(new(&[vec![one()]], vec![vec![10, 0, 0]]), ParamError::Counts { expected: 2, found: 3 });
    assert_eq!(new(&[vec![one()]], vec![vec![4, 5]]), ParamError::Patterns { expected: 10, found: 9 });
}
