//! Exact draws of parity sketches, table by table.

use cardinality_estimators::parity::{ItemWeights, JointParityCounts, ParityCounts, ParityLayout, ParityModel};

use crate::random::Random;

/// A sketch to simulate.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// Shares and cells.
    pub(crate) tables: Vec<(f64, u64)>,
    pub(crate) model: ParityModel,
    pub(crate) contrast: f64,
}

impl Setting {
    pub(crate) fn regular(levels: i32, cells: u64, model: ParityModel, contrast: f64) -> Self {
        let share = |level: i32| 0.5_f64.powi(if level + 1 < levels { level + 1 } else { level });
        Self { tables: (0..levels).map(|level| (share(level), cells)).collect(), model, contrast }
    }

    pub(crate) fn layout(&self) -> ParityLayout {
        ParityLayout::new(&self.tables).unwrap()
    }

    /// The ones of a sketch of `n` items.
    pub(crate) fn ones(&self, random: &mut Random, n: u64) -> Vec<u64> {
        let flip = (1.0 - self.contrast) / 2.0;
        let items = split(random, &self.tables, n);
        let draw = |(&(_, cells), items): (&(f64, u64), u64)| {
            let odd = match self.model {
                ParityModel::Set => odd_cells(random, cells, items),
                ParityModel::Presampled => {
                    let hit = hit_cells(random, cells, items);
                    binomial(random, hit, 0.5)
                }
            };
            odd - binomial(random, odd, flip) + binomial(random, cells - odd, flip)
        };
        self.tables.iter().zip(items).map(draw).collect()
    }

    pub(crate) fn counts(&self, random: &mut Random, n: u64, weights: ItemWeights) -> ParityCounts {
        let ones = self.ones(random, n);
        ParityCounts::new(&self.layout(), self.model, weights, &ones, self.contrast).unwrap()
    }
}

/// Two sketches of one layout with `regions` items only in the first, only in the second and in both.
pub(crate) fn pair(random: &mut Random, first: &Setting, second: f64, regions: [u64; 3]) -> JointParityCounts {
    let items: Vec<Vec<u64>> = regions.iter().map(|&n| split(random, &first.tables, n)).collect();
    let flips = [(1.0 - first.contrast) / 2.0, (1.0 - second) / 2.0];
    let mut pairs = Vec::new();
    for (table, &(_, cells)) in first.tables.iter().enumerate() {
        let mut place = |n: u64| {
            let mut hits = vec![0_u32; usize::try_from(cells).unwrap()];
            (0..n).for_each(|_| hits[usize::try_from(below(random, cells)).unwrap()] += 1);
            hits
        };
        let [a, b, both] = [0, 1, 2].map(|region| place(items[region][table]));
        let mut counts = [0; 4];
        for cell in 0..a.len() {
            let mut bit = |own: u32, flip: f64| {
                let odd = match first.model {
                    ParityModel::Set => (own + both[cell]) % 2 == 1,
                    ParityModel::Presampled => own + both[cell] > 0 && random.chance(0.5),
                };
                odd ^ random.chance(flip)
            };
            let (s, t) = (bit(a[cell], flips[0]), bit(b[cell], flips[1]));
            counts[2 * usize::from(s) + usize::from(t)] += 1;
        }
        pairs.push(counts);
    }
    let contrasts = [first.contrast, second];
    JointParityCounts::new(&first.layout(), first.model, ItemWeights::Unit, &pairs, contrasts).unwrap()
}

/// The items of every table.
fn split(random: &mut Random, tables: &[(f64, u64)], n: u64) -> Vec<u64> {
    let (mut left, mut rest) = (n, 1.0);
    let share = |&(share, _): &(f64, u64)| {
        let here = if share >= rest * (1.0 - 1e-12) { left } else { binomial(random, left, share / rest) };
        left -= here;
        rest -= share;
        here
    };
    tables.iter().map(share).collect()
}

pub(crate) fn below(random: &mut Random, n: u64) -> u64 {
    ((random.bits() >> 32) * n) >> 32
}

/// Cells with an odd number of `n` items: the number moves up or down with every item. After many items a cell a cell is
/// odd with probability 1/2, and only the parity of `n` is left.
fn odd_cells(random: &mut Random, cells: u64, n: u64) -> u64 {
    let enough = 16 * cells;
    let n = if n > enough { enough + (n - enough) % 2 } else { n };
    (0..n).fold(0, |odd, _| if below(random, cells) < odd { odd - 1 } else { odd + 1 })
}

/// Cells with at least one of `n` items.
fn hit_cells(random: &mut Random, cells: u64, n: u64) -> u64 {
    (0..n.min(40 * cells)).fold(0, |hit, _| hit + u64::from(below(random, cells) >= hit))
}

/// Successes among `n` trials, 64 at a time: lanes are compared with the binary digits of `p` until all are decided.
pub(crate) fn binomial(random: &mut Random, n: u64, p: f64) -> u64 {
    let mut successes = 0;
    let mut left = n;
    while left > 0 {
        let lanes = left.min(64);
        let (mut undecided, mut success) = (u64::MAX >> (64 - lanes), 0);
        let mut rest = p;
        while undecided != 0 {
            rest *= 2.0;
            let word = random.bits();
            if rest >= 1.0 {
                rest -= 1.0;
                success |= undecided & !word;
                undecided &= word;
            } else {
                undecided &= !word;
            }
            if rest <= 0.0 {
                break;
            }
        }
        successes += u64::from(success.count_ones());
        left -= lanes;
    }
    successes
}
