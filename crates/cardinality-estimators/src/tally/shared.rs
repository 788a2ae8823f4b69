//! The shared law: no set is special, so `N_m` items in exactly `m` sets say all there is to say.

use super::TallyCounts;
use super::nodes::{MOST, nodes};
use super::semigroup::Semigroup;
use crate::law::{Symmetric, add_one, dot};
use crate::number::to_f64;

/// The likelihood of `N_1, …, N_k`, or of those of very many `m` that have a node.
#[derive(Clone, Debug)]
pub(crate) struct SharedLaw<'a> {
    counts: &'a TallyCounts,
    sketches: usize,
    /// `P(x | m)` at `x·(k+1) + m`: given how many sketches hold a cell, any choice of them is as likely.
    kernel: Vec<f64>,
    semigroup: Semigroup,
    /// Rates per item.
    rates: Vec<f64>,
    /// The `m` of the sizes.
    nodes: Vec<usize>,
}

/// Tallies that fewer cells are expected to show add nothing to the information worth its time.
const RARE: f64 = 1e-9;

/// Height, slopes and expected information, all of them in `ln N`.
#[derive(Clone, Debug)]
pub(crate) struct Slopes {
    pub(crate) log_likelihood: f64,
    /// `N_m·dl/dN_m`.
    pub(crate) gradient: Vec<f64>,
    /// `N_m·I_mm'·N_m'`.
    pub(crate) information: Symmetric,
}

impl<'a> SharedLaw<'a> {
    pub(crate) fn new(counts: &'a TallyCounts) -> Self {
        let sketches = counts.sketches();
        // A cell of probability ρ an item; the laws of Poisson numbers of items are a semigroup in ρ, which doubles from level
        // to level. With one group there is nothing to double: the free law's own rate.
        let rates: Vec<f64> = match counts.groups.as_slice() {
            [group] => vec![group.rate],
            groups => groups.iter().map(|group| -(-group.rate).exp_m1()).collect(),
        };
        let semigroup = Semigroup::new(sketches, rates.clone());
        Self { counts, sketches, kernel: collapsed(counts), semigroup, rates, nodes: nodes(sketches, MOST) }
    }

    /// How many sizes there are.
    pub(crate) fn parameters(&self) -> usize {
        self.nodes.len()
    }

    /// The sizes of all `m`.
    fn laws(&self, sizes: &[f64]) -> Vec<Vec<f64>> {
        if self.nodes.len() == self.sketches {
            return self.semigroup.laws(sizes);
        }
        let mut all = vec![0.0; self.sketches];
        for (node, size) in self.nodes.iter().zip(sizes) {
            all[node - 1] = *size;
        }
        self.semigroup.laws(&all)
    }

    pub(crate) const fn n_cap(&self) -> f64 {
        self.counts.n_cap
    }

    fn row(&self, x: usize) -> &[f64] {
        &self.kernel[x * (self.sketches + 1)..(x + 1) * (self.sketches + 1)]
    }

    /// `l`; `−∞` where a tally seen is impossible.
    pub(crate) fn height(&self, sizes: &[f64]) -> f64 {
        let laws = self.laws(sizes);
        let mut sum = 0.0;
        for (group, law) in self.counts.groups.iter().zip(&laws) {
            for (x, &count) in group.counts.iter().enumerate().filter(|&(_, &count)| count > 0.0) {
                sum += count * dot(self.row(x), law).ln();
            }
        }
        sum
    }

    pub(crate) fn slopes(&self, sizes: &[f64]) -> Slopes {
        let (k, number) = (self.sketches, self.nodes.len());
        let laws = self.laws(sizes);
        let mut information = Symmetric::new(number);
        let mut gradient = vec![0.0; number];
        let mut log_likelihood = 0.0;
        // Row c of `pulls`: N_m·ρ·(J_m π − π)(c) for every m.
        let mut pulls = vec![0.0; (k + 1) * number];
        let mut rows = Vec::new();
        for ((group, law), rate) in self.counts.groups.iter().zip(&laws).zip(&self.rates) {
            let full = 1.0 - law[k] < 1e-12;
            if !full {
                self.pulls(law, *rate, sizes, &mut pulls);
            }
            let mut slope = vec![0.0; k + 1];
            rows.clear();
            for (x, &count) in group.counts.iter().enumerate() {
                let row = self.row(x);
                let f = dot(row, law);
                if count > 0.0 {
                    log_likelihood += count * f.ln();
                    add_one(&mut slope, row, count / f);
                }
                if !full && group.cells * f > RARE {
                    let start = rows.len();
                    rows.resize(start + number, 0.0);
                    let scale = (group.cells / f).sqrt();
                    for (pull, entry) in pulls.chunks_exact(number).zip(row) {
                        add_one(&mut rows[start..], pull, scale * entry);
                    }
                }
            }
            if !full {
                information.add_gram(&rows);
                for (pull, slope) in pulls.chunks_exact(number).zip(&slope) {
                    add_one(&mut gradient, pull, *slope);
                }
            }
        }
        Slopes { log_likelihood, gradient, information }
    }

    fn pulls(&self, law: &[f64], rate: f64, sizes: &[f64], pulls: &mut [f64]) {
        let number = self.nodes.len();
        let mut nodes = self.nodes.iter().zip(sizes).enumerate().peekable();
        self.semigroup.unite(law, |m, united| {
            if let Some((at, (_, size))) = nodes.next_if(|&(_, (&node, _))| node == m) {
                let factor = rate * size;
                for (pull, (new, old)) in pulls.chunks_exact_mut(number).zip(united.iter().zip(law)) {
                    pull[at] = factor * (new - old);
                }
            }
        });
    }
}

/// `P(x | m)` for classes together: of `m` sketches that hold a cell, `m_1` are of the first class with hypergeometric
/// probability `C(k_1, m_1)·C(k_2, m_2)/C(k, m)`.
fn collapsed(counts: &TallyCounts) -> Vec<f64> {
    let kernel = counts.kernel();
    let states = counts.states();
    if counts.classes().len() == 1 {
        return kernel;
    }
    let k = counts.sketches();
    // (held, ln of the number of choices) of every hidden state.
    let logs = log_factorials(k);
    let choose = |n: usize, m: usize| logs[n] - logs[m] - logs[n - m];
    let hidden: Vec<(usize, f64)> = (0..states)
        .map(|state| {
            let (mut rest, mut held, mut log) = (state, 0, 0.0);
            for class in counts.classes() {
                let own = rest % (class.sketches + 1);
                rest /= class.sketches + 1;
                held += own;
                log += choose(class.sketches, own);
            }
            (held, (log - choose(k, held)).exp())
        })
        .collect();
    let mut collapsed = vec![0.0; states * (k + 1)];
    for (row, target) in kernel.chunks_exact(states).zip(collapsed.chunks_exact_mut(k + 1)) {
        for (entry, &(held, share)) in row.iter().zip(&hidden) {
            target[held] += entry * share;
        }
    }
    collapsed
}

/// `ln 0!, …, ln most!`.
fn log_factorials(most: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let mut logs = vec![0.0];
    for n in 1..=most {
        sum += to_f64(n as u64).ln();
        logs.push(sum);
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::super::TallyClass;
    use super::*;
    use crate::{BitChannel, CellLayout};

    fn counts(classes: &[(f64, f64, usize)]) -> TallyCounts {
        let classes: Vec<_> = classes
            .iter()
            .map(|&(p, q, sketches)| TallyClass { channel: BitChannel::new(p, q).unwrap(), sketches })
            .collect();
        let states: usize = classes.iter().map(|class| class.sketches + 1).product();
        let histogram = |level: u64| {
            let mut counts: Vec<u64> = (0..states as u64).map(|x| 10 + (x * 7 + level * 3) % 11).collect();
            counts[0] += 512 - counts.iter().sum::<u64>();
            counts
        };
        TallyCounts::new(&CellLayout::pcsa(512, 6).unwrap(), &classes, (0..6).map(histogram).collect()).unwrap()
    }

    #[test]
    fn the_gradient_is_that_of_the_height() {
        for classes in [vec![(0.8, 0.2, 5)], vec![(0.8, 0.2, 2), (0.9, 0.3, 3)]] {
            let counts = counts(&classes);
            let law = SharedLaw::new(&counts);
            let sizes = [900.0, 100.0, 300.0, 10.0, 500.0];
            let slopes = law.slopes(&sizes);
            assert!((slopes.log_likelihood - law.height(&sizes)).abs() < 1e-9);
            for m in 0..5 {
                let moved = |by: f64| {
                    let mut sizes = sizes;
                    sizes[m] *= by;
                    law.height(&sizes)
                };
                let want = (moved(1.0 + 1e-5) - moved(1.0 - 1e-5)) / 2e-5;
                assert!((slopes.gradient[m] - want).abs() < 1e-4 * (1.0 + want.abs()));
            }
        }
    }

    #[test]
    fn classes_of_one_channel_are_one_class() {
        let (two, one) = (counts(&[(0.8, 0.2, 2), (0.8, 0.2, 3)]), counts(&[(0.8, 0.2, 5)]));
        let (two, one) = (SharedLaw::new(&two), SharedLaw::new(&one));
        for m in 0..6 {
            for x in 0..6 {
                let sum: f64 = (0..12).filter(|s| s % 3 + s / 3 == x).map(|s| two.row(s)[m]).sum();
                assert!((sum - one.row(x)[m]).abs() < 1e-14);
            }
        }
    }
}
