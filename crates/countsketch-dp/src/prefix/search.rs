//! From short prefixes to heavy keys.

use cardinality_estimators::{Confidence, Estimate};
use sketch_hash::KeyedHash;

use crate::baseline::TotalWeight;
use crate::prefix::PrivatePrefixStack;
use crate::prefix::consistent::{Node, adjust};
use crate::prefix::level::LevelReader;
use crate::query::BLOCK;
use crate::query_error::QueryError;
use crate::theory::positive;

/// The most prefixes that a level may look at.
const MAX_VISITED: u64 = 1 << 26;

/// What to search a stack for.
///
/// # Examples
/// See [`PrivatePrefixStack`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PrefixSearch {
    /// Keys of at least this frequency are to be found, in units of weight.
    pub threshold: f64,
    /// The total weight, which limits how many such keys there can be; read off a plain level by default.
    pub total: Option<TotalWeight>,
    /// How many times `total/threshold` prefixes a level may keep; 4 by default.
    pub frontier_factor: f64,
    /// With which probability a key at the threshold is found, and with which all the intervals hold; 95 % by default.
    pub confidence: Confidence,
    /// Whether to make the levels agree by weighted least squares.
    pub consistent: bool,
}

impl PrefixSearch {
    /// A search for keys of at least this frequency.
    #[must_use]
    pub const fn above(threshold: f64) -> Self {
        Self { threshold, total: None, frontier_factor: 4.0, confidence: Confidence::P95, consistent: false }
    }

    /// With a total that is public or was released apart.
    #[must_use]
    pub const fn total(self, total: TotalWeight) -> Self {
        Self { total: Some(total), ..self }
    }

    /// With room for so many times `total/threshold` prefixes.
    #[must_use]
    pub const fn frontier_factor(self, frontier_factor: f64) -> Self {
        Self { frontier_factor, ..self }
    }

    /// With another confidence.
    #[must_use]
    pub const fn confidence(self, confidence: Confidence) -> Self {
        Self { confidence, ..self }
    }

    /// With frequencies that add up over the levels, beside the ones read off the last level.
    #[must_use]
    pub const fn consistent(self) -> Self {
        Self { consistent: true, ..self }
    }
}

/// A key that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefixHit {
    /// The key.
    pub key: u64,
    /// Its frequency as the last level has it, with an interval that holds at once for all keys looked at there.
    pub estimate: Estimate,
    /// Its frequency after weighted least squares over all levels, if asked for: closer where the levels above have less
    /// noise for it.
    pub consistent: Option<f64>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct PrefixHits {
    /// Keys, largest estimate first.
    pub found: Vec<PrefixHit>,
    /// A bound on the probability that a given key at or above the threshold is missing, for weights that are not negative:
    /// the sum over the levels. `None` when a level had more prefixes above its threshold than the search may keep.
    pub miss_probability: Option<f64>,
    /// How many prefixes a level was allowed to keep.
    pub frontier: u64,
    /// How many prefixes were looked at, over all levels.
    pub visited: u64,
}

impl<H: KeyedHash> PrivatePrefixStack<H> {
    /// Finds the keys of at least a frequency.
    ///
    /// From the shortest prefixes on, those with an estimate of at least `threshold − g` survive and are expanded, where `g`
    /// is the half-width that the level's error exceeds with probability at most `(1 − confidence)/levels`. A key at the
    /// threshold has prefixes at the threshold, so it is missed with probability at most `1 − confidence` over all levels.
    /// Keys below the threshold may be found, too: look at the intervals.
    ///
    /// A level keeps at most `frontier_factor·total/threshold` prefixes, those with the largest estimates. The limit is
    /// a function of public or released numbers only.
    ///
    /// # Privacy
    /// Post-processing: nothing is spent.
    ///
    /// # Errors
    /// [`QueryError::NoTotal`] when no total is given and there is no plain level, [`QueryError::Frontier`] when the
    /// threshold is so low that too many prefixes would be looked at, [`QueryError::Domain`] for a threshold or factor that
    /// is not finite and above 0.
    pub fn search(&self, search: &PrefixSearch) -> Result<PrefixHits, QueryError> {
        let frontier = self.frontier(search)?;
        let mut state = State { frontier, truncated: false, visited: 0, tree: Vec::new() };
        let first = self.layout().lengths().first().copied().unwrap_or(0);
        let mut candidates: Vec<u64> = (0..1 << first).collect();
        let mut kept = Vec::new();
        let levels = self.private_levels();
        let answers = u64::try_from(levels.len()).unwrap_or(u64::MAX);
        for (index, level) in levels.iter().enumerate() {
            let reader = level.reader(search.confidence, answers)?;
            if index > 0 {
                candidates = expand(&kept, self.layout().step(index));
            }
            kept = state.survivors(self.hash(), &reader, &candidates, search);
        }
        let found = self.answers(search, &state, &kept, candidates.len())?;
        let miss_probability = (!state.truncated).then_some(1.0 - search.confidence.get());
        Ok(PrefixHits { found, miss_probability, frontier: count_of(frontier), visited: state.visited })
    }

    fn frontier(&self, search: &PrefixSearch) -> Result<usize, QueryError> {
        let threshold = positive("threshold", search.threshold)?;
        let factor = positive("frontier factor", search.frontier_factor)?;
        let total = search.total.or_else(|| self.total()).ok_or(QueryError::NoTotal)?;
        let most = total.value() + search.confidence.z() * total.variance().sqrt();
        let expected = (factor * (most / threshold).max(1.0)).ceil();
        let step = (1..self.layout().levels()).map(|level| self.layout().step(level)).max().unwrap_or(0);
        let max = MAX_VISITED >> step;
        if expected > float(max) {
            return Err(QueryError::Frontier { max, found: expected });
        }
        // The whole number itself, bit by bit.
        let add_bit = |size: u64, bit: u32| if float(size | 1 << bit) <= expected { size | 1 << bit } else { size };
        let size = (0..=max.ilog2()).rev().fold(0, add_bit);
        usize::try_from(size).map_err(|_| QueryError::Frontier { max, found: expected })
    }

    fn answers(
        &self,
        search: &PrefixSearch,
        state: &State,
        kept: &[(f64, u64)],
        looked_at: usize,
    ) -> Result<Vec<PrefixHit>, QueryError> {
        let Some(last) = self.private_levels().last() else { return Ok(Vec::new()) };
        let reader = last.reader(search.confidence, count_of(looked_at).max(1))?;
        let adjusted = search.consistent.then(|| adjust(&state.tree, self.layout()));
        let mut found = Vec::with_capacity(kept.len());
        for &(value, key) in kept {
            let estimate = reader.answer(self.hash(), key, value)?;
            let consistent = adjusted.as_ref().and_then(|leaves| {
                leaves.binary_search_by_key(&key, |leaf| leaf.prefix).ok().map(|place| leaves[place].value)
            });
            found.push(PrefixHit { key, estimate, consistent });
        }
        found.sort_by(|a, b| by_value(b).total_cmp(&by_value(a)).then(a.key.cmp(&b.key)));
        Ok(found)
    }
}

/// What a search carries from level to level.
struct State {
    frontier: usize,
    truncated: bool,
    visited: u64,
    /// Everything that was looked at, if it is to be made consistent.
    tree: Vec<Vec<Node>>,
}

impl State {
    /// Candidates that reach the threshold of a level, by rising prefix.
    fn survivors<H: KeyedHash>(
        &mut self,
        hash: &H,
        reader: &LevelReader<'_>,
        candidates: &[u64],
        search: &PrefixSearch,
    ) -> Vec<(f64, u64)> {
        let half = reader.half_width().unwrap_or(f64::INFINITY);
        let least = search.threshold - half;
        let mut kept: Vec<(f64, u64)> = Vec::new();
        let mut nodes = Vec::new();
        let mut values = [0.0; BLOCK];
        for block in candidates.chunks(BLOCK) {
            let values = &mut values[..block.len()];
            reader.values(hash, block, values);
            kept.extend(values.iter().copied().zip(block.iter().copied()).filter(|&(value, _)| value >= least));
            if search.consistent {
                let variance = reader.variance();
                nodes.extend(values.iter().zip(block).map(|(&value, &prefix)| Node { prefix, value, variance }));
            }
            if kept.len() > 2 * self.frontier.max(BLOCK) {
                self.truncate(&mut kept);
            }
        }
        self.truncate(&mut kept);
        self.visited += count_of(candidates.len());
        if search.consistent {
            self.tree.push(nodes);
        }
        kept.sort_unstable_by_key(|&(_, prefix)| prefix);
        kept
    }

    /// The largest estimates, as many as the frontier holds; of equal ones those with the smaller prefix.
    fn truncate(&mut self, kept: &mut Vec<(f64, u64)>) {
        if kept.len() > self.frontier {
            kept.select_nth_unstable_by(self.frontier - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            kept.truncate(self.frontier);
            self.truncated = true;
        }
    }
}

/// The children of prefixes, in order.
fn expand(kept: &[(f64, u64)], step: u8) -> Vec<u64> {
    kept.iter().flat_map(|&(_, prefix)| (0..1 << step).map(move |child| prefix << step | child)).collect()
}

fn by_value(hit: &PrefixHit) -> f64 {
    hit.estimate.value().unwrap_or(f64::NEG_INFINITY)
}

fn count_of(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn float(number: u64) -> f64 {
    crate::combiner::wide(i128::from(number))
}
