//! The law of a cell when no set is special.
//!
//! If the items of `m` sets are spread over all choices of `m` sets alike, cells of rate `2ρ` are unions of two independent
//! cells of rate `ρ`, and only the numbers of sketches that hold them count: of sketches `A` and a random choice `R` of `m`,
//!
//! ```text
//! J_m[c, a] = P(|A ∪ R| = c : |A| = a),      π(2ρ) = Σ_m π(m)·J_m π,      dπ/dN_m = ρ·(J_m π − π)
//! ```
//!
//! `R` is drawn one sketch at a time, each new to the union with probability `(k − c)/(k − i)` after `i` draws, so all of
//! `J_0 π, …, J_k π` take `k²` steps and only sums of positive terms.

use crate::number::to_f64;

/// Numbers below this are 0.
const NEGLIGIBLE: f64 = 1e-280;
/// Rates this close to the same, or to twice as much, are.
const SAME: f64 = 1e-9;

/// The laws of `k` exchangeable sketches at several rates.
#[derive(Clone, Debug)]
pub(crate) struct Semigroup {
    sketches: usize,
    /// Rates per item, falling.
    rates: Vec<f64>,
}

impl Semigroup {
    pub(crate) fn new(sketches: usize, rates: Vec<f64>) -> Self {
        Self { sketches, rates }
    }

    /// `π` of every rate, for `sizes[m − 1]` items in exactly `m` sets.
    pub(crate) fn laws(&self, sizes: &[f64]) -> Vec<Vec<f64>> {
        let mut laws: Vec<Vec<f64>> = Vec::with_capacity(self.rates.len());
        let mut before: Option<f64> = None;
        for &rate in self.rates.iter().rev() {
            let law = match (laws.last(), before) {
                (Some(last), Some(slower)) if (rate / slower - 1.0).abs() < SAME => last.clone(),
                (Some(last), Some(slower)) if (rate / slower - 2.0).abs() < SAME => self.doubled(last),
                _ => self.law(rate, sizes),
            };
            before = Some(rate);
            laws.push(law);
        }
        laws.reverse();
        laws
    }

    /// `π` of one rate: a short series at a rate that leaves half an item a cell, then doubled.
    fn law(&self, rate: f64, sizes: &[f64]) -> Vec<f64> {
        let total: f64 = sizes.iter().sum();
        let mut law = vec![0.0; self.sketches + 1];
        let mut items = rate * total;
        if !(items > 0.0 && items.is_finite()) {
            law[0] = 1.0;
            return law;
        }
        let mut doublings = 0;
        while items > 0.5 {
            items *= 0.5;
            doublings += 1;
        }
        // Σ_r Poisson(r; items)·J^r e_0 with J = Σ (N_m/n)·J_m.
        let mut term = vec![0.0; self.sketches + 1];
        term[0] = (-items).exp();
        law[0] = term[0];
        for r in 1..=24 {
            let mut next = vec![0.0; self.sketches + 1];
            self.unite(&term, |m, united| {
                let share = if m == 0 { 0.0 } else { sizes.get(m - 1).map_or(0.0, |size| size / total) };
                if share > 0.0 {
                    next.iter_mut().zip(united).for_each(|(to, from)| *to += share * from);
                }
            });
            let factor = items / f64::from(r);
            for (sum, (to, from)) in law.iter_mut().zip(term.iter_mut().zip(&next)) {
                *to = factor * from;
                *sum += *to;
            }
        }
        for _ in 0..doublings {
            law = self.doubled(&law);
        }
        law
    }

    fn doubled(&self, law: &[f64]) -> Vec<f64> {
        let mut twice = vec![0.0; law.len()];
        self.unite(law, |m, united| {
            let weight = law[m];
            if weight > NEGLIGIBLE {
                twice.iter_mut().zip(united).for_each(|(to, from)| *to += weight * from);
            }
        });
        // Rounding must not grow over forty doublings.
        let unit = twice.iter().sum::<f64>().recip();
        for entry in &mut twice {
            *entry = if *entry > NEGLIGIBLE { *entry * unit } else { 0.0 };
        }
        twice
    }

    /// `J_m π` for `m = 0 ..= k`, in turn.
    pub(crate) fn unite(&self, law: &[f64], mut visit: impl FnMut(usize, &[f64])) {
        let k = self.sketches;
        let mut united = law.to_vec();
        visit(0, &united);
        for drawn in 0..k {
            let left = to_f64((k - drawn) as u64).recip();
            for c in (drawn + 1..=k).rev() {
                // Of k − drawn sketches not yet drawn, c − drawn are in the union already.
                let stay = to_f64((c - drawn) as u64) * left;
                let new = to_f64((k - c + 1) as u64) * left;
                let value = united[c] * stay + united[c - 1] * new;
                united[c] = if value > NEGLIGIBLE { value } else { 0.0 };
            }
            united[drawn] = 0.0;
            visit(drawn + 1, &united);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All subsets as bit masks: the law of a cell by inclusion and exclusion over regions of equal size.
    fn by_regions(k: usize, sizes: &[f64], rate: f64) -> Vec<f64> {
        let all = 1_usize << k;
        let choose = |m: u32| to_f64((0..all).filter(|s| s.count_ones() == m).count() as u64);
        let region = |s: usize| sizes[s.count_ones() as usize - 1] / choose(s.count_ones());
        // P(no item in any set of T), then exactly the sets outside of T hold it.
        let mut law: Vec<f64> = (0..all)
            .map(|held| {
                let empty = (all - 1) ^ held;
                let items: f64 = (1..all).filter(|s| s & empty != 0).map(region).sum();
                (-rate * items).exp()
            })
            .collect();
        for bit in (0..k).map(|i| 1 << i) {
            for s in (0..all).filter(|s| s & bit != 0) {
                law[s] -= law[s ^ bit];
            }
        }
        let mut by_number = vec![0.0; k + 1];
        (0..all).for_each(|s| by_number[s.count_ones() as usize] += law[s]);
        by_number
    }

    #[test]
    fn laws_are_those_of_independent_regions() {
        for (k, sizes) in
            [(1, vec![40.0]), (2, vec![30.0, 7.0]), (4, vec![10.0, 0.0, 25.0, 3.0]), (3, vec![0.0, 0.0, 9.0])]
        {
            let rates = vec![0.8, 0.1, 0.05, 0.025, 0.0125, 0.0125, 0.001];
            let laws = Semigroup::new(k, rates.clone()).laws(&sizes);
            for (law, rate) in laws.iter().zip(rates) {
                let want = by_regions(k, &sizes, rate);
                for (got, want) in law.iter().zip(&want) {
                    assert!((got - want).abs() < 1e-12, "{law:?} {want:?}");
                }
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_law() {
        let semigroup = Semigroup::new(4, vec![0.02]);
        let sizes = [20.0, 5.0, 1.0, 8.0];
        let law = &semigroup.laws(&sizes)[0];
        let mut slopes = Vec::new();
        semigroup.unite(law, |_, united| {
            slopes.push(united.iter().zip(law).map(|(new, old)| 0.02 * (new - old)).collect::<Vec<f64>>());
        });
        for m in 1..=4 {
            let moved = |by: f64| {
                let mut sizes = sizes;
                sizes[m - 1] += by;
                semigroup.laws(&sizes)[0].clone()
            };
            for ((up, down), slope) in moved(1e-3).iter().zip(&moved(-1e-3)).zip(&slopes[m]) {
                assert!(((up - down) / 2e-3 - slope).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn many_sketches_and_items_stay_laws() {
        let rates: Vec<f64> = (1..30).map(|j| 0.5_f64.powi(j)).collect();
        for sizes in [vec![1e6; 200], vec![0.0; 200], [vec![0.0; 199], vec![1e300]].concat()] {
            for law in Semigroup::new(200, rates.clone()).laws(&sizes) {
                assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-9 && law.iter().all(|x| *x >= 0.0));
            }
        }
    }
}
