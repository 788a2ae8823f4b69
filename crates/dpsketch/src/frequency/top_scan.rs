//! The best of a stream of candidates.

use core::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};

/// The best candidates so far, the least of them on top.
pub(super) struct Scan {
    best: BinaryHeap<Reverse<Candidate>>,
    /// Hashes of those in the heap.
    held: HashSet<u64>,
    limit: usize,
    pub(super) looked_at: u64,
    overflowed: bool,
}

impl Scan {
    pub(super) fn new(limit: usize) -> Self {
        Self { best: BinaryHeap::new(), held: HashSet::new(), limit, looked_at: 0, overflowed: false }
    }

    /// Keeps a candidate if it is among the best.
    pub(super) fn offer(&mut self, text: &str, key: u64, value: f64) {
        // One that was dropped before and comes again is dropped again.
        if self.held.contains(&key) {
            return;
        }
        self.looked_at += 1;
        let full = self.best.len() >= self.limit;
        self.overflowed |= full;
        if full && self.best.peek().is_some_and(|Reverse(least)| least.is_before(value, text)) {
            return;
        }
        self.held.insert(key);
        self.best.push(Reverse(Candidate { value, text: text.to_owned(), key }));
        if full && let Some(Reverse(dropped)) = self.best.pop() {
            self.held.remove(&dropped.key);
        }
    }

    /// The best, greatest first, how many were looked at, and whether some did not fit.
    pub(super) fn into_best(self) -> (Vec<Candidate>, u64, bool) {
        let mut best: Vec<Candidate> = self.best.into_iter().map(|Reverse(candidate)| candidate).collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        (best, self.looked_at, self.overflowed)
    }
}

/// The greater one has the larger value or, of equal ones, the name that comes first.
pub(super) struct Candidate {
    value: f64,
    pub(super) text: String,
    pub(super) key: u64,
}

impl Candidate {
    /// Whether this is at least as great as one with another value and name.
    fn is_before(&self, value: f64, text: &str) -> bool {
        self.value.total_cmp(&value).then_with(|| text.cmp(&self.text)).is_ge()
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then_with(|| other.text.cmp(&self.text))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}
