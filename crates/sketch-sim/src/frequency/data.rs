//! The vectors that are sketched, and the items that are asked for.

use super::settings::{Data, Settings};
use crate::number;

/// Items, their frequencies, and the updates that make them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Population {
    /// The frequency of item 0, 1, 2, …; items beyond have 0.
    frequencies: Vec<u64>,
    /// An item and a weight of at most [`records_together`] for each update.
    pub(crate) updates: Vec<(u64, i64)>,
    /// The items asked for.
    pub(crate) queries: Vec<u64>,
}

/// How many records of weight 1 one update may stand for at this ρ, a power of two.
///
/// Noise for records of weight up to `W` at `ρ·W²` is that for records of weight 1 at ρ, `σ² = k·W²/(2ρ·W²)`: so a
/// heavy item takes a few updates in place of a hundred thousand.
pub(crate) fn records_together(rho: f64) -> u64 {
    (0..20).map(|power| 1_u64 << power).rev().find(|&w| rho * number::to_f64(w * w) <= 60_000.0).unwrap_or(1)
}

impl Population {
    pub(crate) fn new(settings: &Settings) -> Self {
        let frequencies = frequencies(settings.data);
        let most = records_together(settings.rho.get());
        let updates = (0..).zip(&frequencies).flat_map(|(item, &frequency)| {
            let full = (0..frequency / most).map(move |_| most);
            full.chain(Some(frequency % most).filter(|rest| *rest > 0)).map(move |weight| (item, weight.cast_signed()))
        });
        let queries = queries(settings.data.items(), settings.queries);
        Self { updates: updates.collect(), queries, frequencies }
    }

    pub(crate) fn frequency(&self, item: u64) -> f64 {
        let at = usize::try_from(item).ok().and_then(|item| self.frequencies.get(item));
        number::to_f64(at.copied().unwrap_or(0))
    }

    /// The sum of all frequencies.
    pub(crate) fn total(&self) -> f64 {
        number::to_f64(self.frequencies.iter().sum())
    }

    /// Every frequency squared.
    pub(crate) fn squares(&self) -> Vec<f64> {
        self.frequencies.iter().map(|&frequency| number::to_f64(frequency).powi(2)).collect()
    }
}

fn frequencies(data: Data) -> Vec<u64> {
    match data {
        Data::Zipf { items, total, exponent } => {
            let weight = |rank: u32| f64::from(rank).powf(-exponent);
            let norm: f64 = (1..=items).map(weight).sum();
            (1..=items)
                .map(|rank| number::floor_clamped((number::to_f64(total) * weight(rank) / norm).round()))
                .collect()
        }
        Data::Sparse { entries, value, .. } => (0..entries).map(|_| value).collect(),
    }
}

/// Half of the queries are the first items, which are the heaviest; the others are spread evenly over the rest.
fn queries(items: u32, queries: u32) -> Vec<u64> {
    if items <= queries {
        return (0..u64::from(items)).collect();
    }
    let heavy = queries / 2;
    let (rest, light) = (u64::from(items - heavy), u64::from(queries - heavy));
    let spread = (0..light).map(|index| u64::from(heavy) + (2 * index + 1) * rest / (2 * light));
    (0..u64::from(heavy)).chain(spread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_fall_as_a_power_and_sum_up_to_about_the_total() {
        let found = frequencies(Data::Zipf { items: 1000, total: 100_000, exponent: 1.0 });
        let sum: u64 = found.iter().sum();
        assert!(sum.abs_diff(100_000) <= 500, "{sum}");
        assert!(found[0].abs_diff(2 * found[1]) <= 2 && found[0].abs_diff(10 * found[9]) <= 6);
    }

    #[test]
    fn queries_are_different_and_inside() {
        for (items, count) in [(10, 100), (100, 10), (101, 100), (1_000_000, 7)] {
            let mut found = queries(items, count);
            assert_eq!(found.len(), usize::try_from(items.min(count)).unwrap());
            found.dedup();
            assert_eq!(found.len(), usize::try_from(items.min(count)).unwrap());
            assert!(found.is_sorted() && found.iter().all(|&item| item < u64::from(items)));
        }
    }

    #[test]
    fn updates_stand_for_so_many_records_that_the_level_can_be_paid() {
        assert_eq!([1e-3, 1.0, 100.0, 60_000.0].map(records_together), [4096, 128, 16, 1]);
    }
}
