//! Privacy of vectors, unsigned tables and stacks from their released laws, by enumeration of neighbouring data; nothing is
//! sampled. All cells of a release are looked at together, those of all levels of a stack, too.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod parts;
mod renyi;
mod support;

use countsketch_dp::{
    BudgetSplit, ContributionBound, DenseVector, Leaf, NoiseLaw, PrefixLayout, PrefixStack, UnsignedSketch,
    UserContribution,
};
use dp_noise::{Neighbouring, Variance};
use parts::Parts;
use renyi::renyi;
use sketch_hash::DefaultHash;
use support::{RAW_CELLS, entry, noise, rho, shape};

type Records = Vec<(u64, i64)>;

/// What is released, with the cells before noise and the law of the noise in each.
trait Baseline: Clone {
    fn empty(bound: ContributionBound) -> Self;
    /// Adds one unit: a record, or all records of a user.
    fn add(&mut self, records: &[(u64, i64)]);
    fn cells(&self) -> Vec<i64>;
    /// The variances of all cells in a release at this level.
    fn laws(self, relation: Neighbouring, level: f64) -> Vec<Variance>;
}

fn law(leaves: &[Leaf]) -> Variance {
    match leaves[0].law() {
        NoiseLaw::Gaussian { variance } => variance,
        other => panic!("{other:?}"),
    }
}

/// The largest level, at which noise is 0 but for a probability of e^−300 or so.
const NO_NOISE: f64 = 65_536.0;

impl Baseline for DenseVector {
    fn empty(bound: ContributionBound) -> Self {
        Self::new(8, bound).unwrap()
    }

    fn add(&mut self, records: &[(u64, i64)]) {
        match records {
            &[(index, weight)] if !self.bound().is_user() => self.update(index, weight).unwrap(),
            _ => self.add_user(records).unwrap(),
        }
    }

    fn cells(&self) -> Vec<i64> {
        self.clone().release(rho(NO_NOISE), &mut noise(1)).unwrap().cells().to_vec()
    }

    fn laws(self, relation: Neighbouring, level: f64) -> Vec<Variance> {
        let release = self.release_with(relation, rho(level), &mut noise(1)).unwrap();
        vec![law(release.leaves()); release.cells().len()]
    }
}

impl Baseline for UnsignedSketch {
    fn empty(bound: ContributionBound) -> Self {
        Self::new(shape(3, 2), DefaultHash::default(), bound).unwrap()
    }

    fn add(&mut self, records: &[(u64, i64)]) {
        match records {
            &[(item, weight)] if !self.bound().is_user() => self.update_u64(item, weight).unwrap(),
            _ => {
                let mut user = UserContribution::new(DefaultHash::default());
                for &(item, weight) in records {
                    user.add_u64(item, weight);
                }
                self.add_user(user).unwrap();
            }
        }
    }

    fn cells(&self) -> Vec<i64> {
        self.clone().release(rho(NO_NOISE), &mut noise(1)).unwrap().all_cells().to_vec()
    }

    fn laws(self, relation: Neighbouring, level: f64) -> Vec<Variance> {
        let release = self.release_with(relation, rho(level), &mut noise(1)).unwrap();
        vec![law(release.leaves()); release.all_cells().len()]
    }
}

/// Two levels: one cell for each of two prefixes, and a sketch of the eight keys in three rows of two.
impl Baseline for PrefixStack {
    fn empty(bound: ContributionBound) -> Self {
        let layout = PrefixLayout::with_lengths(vec![1, 3], shape(3, 2)).unwrap();
        assert!(layout.is_plain(0) && !layout.is_plain(1));
        Self::new(layout, DefaultHash::default(), bound).unwrap()
    }

    fn add(&mut self, records: &[(u64, i64)]) {
        match records {
            &[(key, weight)] if !self.bound().is_user() => self.update(key, weight).unwrap(),
            _ => self.add_user(records).unwrap(),
        }
    }

    fn cells(&self) -> Vec<i64> {
        let parts = Parts::of(&self.to_sensitive_bytes());
        let words = parts.levels.iter().flat_map(|(_, file)| file[RAW_CELLS..].chunks_exact(8));
        words.map(|word| i64::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn laws(self, relation: Neighbouring, level: f64) -> Vec<Variance> {
        let split = BudgetSplit::Weights(vec![1, 3]);
        let release = self.release_with(relation, &split, rho(level), &mut noise(1)).unwrap();
        let cells = |level, count| core::iter::repeat_n(law(release.leaves(level)), count);
        cells(0, 2).chain(cells(1, 6)).collect()
    }
}

/// Units of all kinds, more than the bound allows of users among them.
fn units(bound: ContributionBound) -> Vec<Records> {
    let weights = |max: i64| -max..=max;
    if !bound.is_user() {
        let max = i64::try_from(bound.max_weight()).unwrap();
        return (0..8).flat_map(|item| weights(max).map(move |weight| vec![(item, weight)])).collect();
    }
    let pairs = (0..8).flat_map(|first| (0..8).map(move |second| (first, second)));
    let with_weights = |(first, second)| {
        [(1, 1), (1, -1), (2, 2), (-3, 1), (9, 9), (-9, 0)]
            .map(|(a, b)| vec![(first, a), (second, b), (first ^ 1, 1), (first, 1)])
    };
    pairs.flat_map(with_weights).collect()
}

fn differences<B: Baseline>(bound: ContributionBound, relation: Neighbouring) -> Vec<Vec<i64>> {
    let background = || {
        let mut baseline = B::empty(bound);
        for record in [(0, 1), (5, 1), (5, -1)] {
            baseline.add(&[record]);
        }
        baseline
    };
    let without = background().cells();
    let with: Vec<Vec<i64>> = units(bound)
        .iter()
        .map(|unit| {
            let mut baseline = background();
            baseline.add(unit);
            baseline.cells()
        })
        .collect();
    let difference = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b).cast_signed()).collect();
    let mut all: Vec<Vec<i64>> = match relation {
        Neighbouring::AddRemove => with.iter().map(|cells| difference(cells, &without)).collect(),
        Neighbouring::Substitute => {
            with.iter().flat_map(|a| with.iter().map(move |b| difference(a, b)).collect::<Vec<_>>()).collect()
        }
    };
    all.sort();
    all.dedup();
    all
}

/// The largest Rényi divergence of order α between releases of neighbours, over α.
fn worst<B: Baseline>(bound: ContributionBound, relation: Neighbouring, level: f64, alpha: f64) -> f64 {
    let laws = B::empty(bound).laws(relation, level);
    let mut kinds = laws.clone();
    kinds.dedup();
    let differences = differences::<B>(bound, relation);
    let largest = differences.iter().flatten().max().copied().unwrap();
    let tables: Vec<Vec<f64>> =
        kinds.iter().map(|&law| (0..=largest).map(|shift| renyi(law, shift, alpha)).collect()).collect();
    let of_cell = |(&shift, law): (&i64, &Variance)| {
        let kind = kinds.iter().position(|kind| kind == law).unwrap();
        tables[kind][usize::try_from(shift).unwrap()]
    };
    let divergence = |v: &Vec<i64>| v.iter().zip(&laws).map(of_cell).sum::<f64>() / alpha;
    differences.iter().map(divergence).fold(0.0, f64::max)
}

fn check<B: Baseline>(name: &str) {
    const RHO: f64 = 0.5;
    let bounds = [
        entry(1),
        entry(2),
        ContributionBound::user_total(3).unwrap(),
        ContributionBound::user_items(2, 2).unwrap(),
        ContributionBound::user_items(1, 5).unwrap(),
    ];
    for bound in bounds {
        for relation in [Neighbouring::AddRemove, Neighbouring::Substitute] {
            for alpha in [1.0001, 2.0, 64.0] {
                let found = worst::<B>(bound, relation, RHO, alpha);
                assert!(found <= RHO * (1.0 + 1e-6), "{name}, {bound}, {relation:?}: {found} at {alpha}");
                // And no noise is wasted: some neighbours come close, but where signs or cells would have to agree more
                // often than eight keys allow.
                assert!(found > 0.3 * RHO, "{name}, {bound}, {relation:?}: {found} at {alpha}");
            }
        }
    }
}

#[test]
fn dense_vectors_are_rho_zcdp_for_every_bound_and_relation() {
    check::<DenseVector>("dense vector");
    // One record moves one cell by one, and the bound is met.
    let one = worst::<DenseVector>(ContributionBound::UNIT_ENTRY, Neighbouring::AddRemove, 0.5, 2.0);
    assert!((one / 0.5 - 1.0).abs() < 1e-3, "{one}");
}

#[test]
fn unsigned_tables_are_rho_zcdp_for_every_bound_and_relation() {
    check::<UnsignedSketch>("unsigned table");
    let one = worst::<UnsignedSketch>(ContributionBound::UNIT_ENTRY, Neighbouring::AddRemove, 0.5, 2.0);
    assert!((one / 0.5 - 1.0).abs() < 1e-6, "{one}");
}

#[test]
fn stacks_are_rho_zcdp_over_all_levels_together() {
    check::<PrefixStack>("stack");
    let one = worst::<PrefixStack>(ContributionBound::UNIT_ENTRY, Neighbouring::AddRemove, 0.5, 2.0);
    assert!((one / 0.5 - 1.0).abs() < 1e-6, "{one}");
}
