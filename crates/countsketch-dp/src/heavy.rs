//! Heavy hitters among candidates that are known.

use core::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use cardinality_estimators::Estimate;

use crate::interval::QueryOptions;
use crate::private::PrivateCountSketch;
use crate::query_estimate::{Frequencies, values_of};
use crate::theory::DomainError;

/// Which candidates are heavy hitters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum HeavyRule {
    /// The largest estimates, whatever they are.
    Top,
    /// Those whose interval lies above a frequency: with the confidence asked for, every one of them really is above.
    Above {
        /// In units of weight.
        frequency: f64,
    },
}

/// A candidate that was kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeavyHitter {
    /// Its place in the list of candidates, from 0.
    pub index: u64,
    /// Its 64-bit hash.
    pub key: u64,
    /// Its frequency, with an interval that holds for all candidates at once.
    pub estimate: Estimate,
}

/// What a scan of candidates found.
#[derive(Clone, Debug, PartialEq)]
pub struct HeavyHitters {
    /// Kept candidates, largest estimate first, equal ones in the order of the list.
    pub found: Vec<HeavyHitter>,
    /// Candidates that met the rule but did not fit into the limit.
    pub beyond_limit: u64,
    /// A bound on the probability that any candidate at or below the frequency of [`HeavyRule::Above`] was kept; `None` for
    /// [`HeavyRule::Top`], which makes no claim.
    pub false_positive_probability: Option<f64>,
}

impl PrivateCountSketch {
    /// The heavy hitters among candidates, of which at most `limit` are kept.
    ///
    /// One pass; the scan holds a block of candidates and a heap of `limit`. The intervals hold at once for all candidates
    /// at the confidence of the options (their [`simultaneous`](QueryOptions::simultaneous) is raised to the number of
    /// candidates), so they hold for those that were kept because their estimates were large.
    ///
    /// # Privacy
    /// Free post-processing, as long as the list is public: not read off the data. For unknown keys use a
    /// [`PrefixStack`](crate::PrefixStack).
    ///
    /// # Errors
    /// [`DomainError`] when there are so many candidates that no probability is left for one of them, or a number leaves
    /// the range of `f64`.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
    /// use countsketch_dp::sketch_hash::{DefaultHash, Item, KeyedHash};
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, HeavyRule, QueryOptions};
    /// let hash = DefaultHash::default();
    /// let mut raw = CountSketch::new(CountSketchShape::new(9, 1024)?, hash.clone(), ContributionBound::UNIT_ENTRY);
    /// raw.update_u64_batch(&[42; 5000])?;
    /// let private = raw.release(Permit::standalone(Rho::new(0.1)?), &mut NoiseRng::from_os()?)?;
    /// let candidates: Vec<u64> = (0..1000_u64).map(|item| Item::from(item).hash64(&hash)).collect();
    /// let rule = HeavyRule::Above { frequency: 1000.0 };
    /// let heavy = private.heavy_hitters(candidates.iter().copied(), rule, 10, QueryOptions::default())?;
    /// assert_eq!(heavy.found.iter().map(|hit| hit.index).collect::<Vec<_>>(), [42]);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn heavy_hitters<I>(
        &self,
        candidates: I,
        rule: HeavyRule,
        limit: usize,
        options: QueryOptions,
    ) -> Result<HeavyHitters, DomainError>
    where
        I: IntoIterator<Item = u64>,
        I::IntoIter: ExactSizeIterator,
    {
        let candidates = candidates.into_iter();
        let answers = options.simultaneous.max(candidates.len() as u64);
        let frequencies = self.frequencies(options.simultaneous(answers))?;
        frequencies.scan(candidates, rule, limit)
    }
}

impl Frequencies<'_> {
    fn scan(
        &self,
        candidates: impl Iterator<Item = u64>,
        rule: HeavyRule,
        limit: usize,
    ) -> Result<HeavyHitters, DomainError> {
        let mut heap: BinaryHeap<Reverse<Entry>> = BinaryHeap::new();
        let mut beyond_limit = 0;
        for (index, (key, value)) in (0_u64..).zip(values_of(self.reader(), candidates)) {
            let entry = Reverse(Entry { value, index, key });
            let full = heap.len() >= limit;
            // Most candidates are below the least of a full heap.
            if full && rule == HeavyRule::Top && heap.peek().is_none_or(|least| entry.0 < least.0) {
                beyond_limit += 1;
                continue;
            }
            if !self.meets(rule, key, value)? {
                continue;
            }
            heap.push(entry);
            if full {
                heap.pop();
                beyond_limit += 1;
            }
        }
        let mut kept: Vec<Entry> = heap.into_iter().map(|Reverse(entry)| entry).collect();
        kept.sort_unstable_by(|a, b| b.cmp(a));
        let found = kept.into_iter().map(|Entry { value, index, key }| {
            Ok(HeavyHitter { index, key, estimate: self.with_interval(key, value)? })
        });
        let false_positive_probability = match rule {
            HeavyRule::Top => None,
            HeavyRule::Above { .. } => Some(1.0 - self.options().confidence.get()),
        };
        Ok(HeavyHitters { found: found.collect::<Result<_, _>>()?, beyond_limit, false_positive_probability })
    }

    fn meets(&self, rule: HeavyRule, key: u64, value: f64) -> Result<bool, DomainError> {
        match rule {
            HeavyRule::Top => Ok(true),
            HeavyRule::Above { frequency } if value <= frequency => Ok(false),
            HeavyRule::Above { frequency } => {
                Ok(self.with_interval(key, value)?.lower().is_some_and(|lower| lower > frequency))
            }
        }
    }
}

/// A candidate in the heap; the greater one has the larger value or, of equal ones, the smaller index.
#[derive(Clone, Copy, Debug)]
struct Entry {
    value: f64,
    index: u64,
    key: u64,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}
