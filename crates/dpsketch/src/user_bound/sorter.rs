//! Sorting pairs of user and item in bounded memory.

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::path::PathBuf;

use zeroize::{DefaultIsZeroes, Zeroizing};

use super::UserBoundError;
use super::selection::UserHash;
use super::spill::SpillFile;
use crate::error::Error;

/// Bytes of one pair, in memory and in the file.
const PAIR: usize = 24;
/// The least memory that merging gives to one sorted run, bookkeeping included.
const RUN_MEMORY: usize = 2048;
/// Bookkeeping of one run while merging: its place in the heap and in the list.
const RUN_OVERHEAD: usize = 256;
/// Pairs encoded in one go.
const BATCH: usize = 1024;

/// A user and one of the user's items.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub(super) user: UserHash,
    pub(super) item: u64,
}

impl DefaultIsZeroes for Pair {}

impl Pair {
    fn to_bytes(self) -> [u8; PAIR] {
        let mut bytes = [0; PAIR];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip([self.user[0], self.user[1], self.item]) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut words = [0_u64; 3];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        Self { user: [words[0], words[1]], item: words[2] }
    }
}

/// Collects pairs and gives them back sorted, each once. What does not fit in memory goes to a [`SpillFile`] as sorted
/// runs, which are merged at the end, and before when there are more of them than the memory can merge.
pub(super) struct PairSorter {
    memory: usize,
    folder: PathBuf,
    /// Room for as many pairs as the memory holds, from the start.
    buffer: Zeroizing<Vec<Pair>>,
    spilled: Option<Spilled>,
}

/// Sorted runs, one after another.
struct Spilled {
    file: SpillFile,
    /// Where each run ends.
    ends: Vec<u64>,
}

impl PairSorter {
    /// The least memory that sorts anything worth it.
    pub(super) const MIN_MEMORY: usize = 1 << 16;

    pub(super) fn new(memory: usize, folder: PathBuf) -> Result<Self, UserBoundError> {
        if memory < Self::MIN_MEMORY {
            return Err(UserBoundError::Memory { expected: Self::MIN_MEMORY, found: memory });
        }
        let mut sorter = Self { memory, folder, buffer: Zeroizing::default(), spilled: None };
        sorter.reserve()?;
        Ok(sorter)
    }

    fn capacity(&self) -> usize {
        self.memory / PAIR
    }

    fn reserve(&mut self) -> Result<(), UserBoundError> {
        let capacity = self.capacity();
        self.buffer.try_reserve_exact(capacity).map_err(|_| UserBoundError::NoMemory { requested: self.memory })
    }

    pub(super) fn push(&mut self, pair: Pair) -> Result<(), Error> {
        if self.buffer.len() == self.capacity() {
            self.sort();
            // Rows that repeat pairs may never need the disk.
            if self.buffer.len() > self.capacity() / 2 {
                self.spill().map_err(|error| self.on_disk(error))?;
                self.reserve()?;
            }
        }
        self.buffer.push(pair);
        Ok(())
    }

    /// Visits all pairs in rising order.
    pub(super) fn finish(mut self, mut visit: impl FnMut(Pair)) -> Result<(), Error> {
        self.sort();
        if self.spilled.is_none() {
            self.buffer.iter().copied().for_each(visit);
            return Ok(());
        }
        self.finish_on_disk(|pair| {
            visit(pair);
            Ok(())
        })
        .map_err(|error| self.on_disk(error))
    }

    fn finish_on_disk(&mut self, visit: impl FnMut(Pair) -> io::Result<()>) -> io::Result<()> {
        self.spill()?;
        self.buffer = Zeroizing::default();
        match &mut self.spilled {
            Some(spilled) => {
                spilled.merge(self.memory, visit)?;
                spilled.file.wipe()
            }
            None => Ok(()),
        }
    }

    fn sort(&mut self) {
        self.buffer.sort_unstable();
        self.buffer.dedup();
    }

    /// Moves the sorted buffer to the end of the file, and makes one run of all when these are as many as can be merged.
    fn spill(&mut self) -> io::Result<()> {
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled { file: SpillFile::create(&self.folder)?, ends: Vec::new() }),
        };
        let mut writer = RunWriter::new(&mut spilled.file);
        self.buffer.iter().try_for_each(|pair| writer.write(*pair))?;
        self.buffer.clear();
        spilled.ends.push(writer.finish()?);
        if spilled.ends.len() < self.memory / RUN_MEMORY {
            return Ok(());
        }
        // Merging takes the memory of the buffer.
        self.buffer = Zeroizing::default();
        let mut file = SpillFile::create(&self.folder)?;
        let mut writer = RunWriter::new(&mut file);
        spilled.merge(self.memory, |pair| writer.write(pair))?;
        let end = writer.finish()?;
        spilled.file.wipe()?;
        *spilled = Spilled { file, ends: vec![end] };
        Ok(())
    }

    fn on_disk(&self, error: io::Error) -> Error {
        Error::writing(&format!("a temporary file in {}", self.folder.display()), error)
    }
}

impl Spilled {
    /// Merges the runs; `memory` is divided among them.
    fn merge(&mut self, memory: usize, mut visit: impl FnMut(Pair) -> io::Result<()>) -> io::Result<()> {
        let block = (memory / self.ends.len().max(1)).saturating_sub(RUN_OVERHEAD) / PAIR * PAIR;
        let mut runs = Vec::with_capacity(self.ends.len());
        let mut heap = BinaryHeap::with_capacity(self.ends.len());
        let mut start = 0;
        for (index, end) in self.ends.iter().copied().enumerate() {
            let mut run = Run { bytes: Zeroizing::default(), read: 0, next: start, end };
            if let Some(pair) = run.next(&mut self.file, block)? {
                heap.push(Reverse((pair, index)));
            }
            runs.push(run);
            start = end;
        }
        let mut last = None;
        while let Some(mut top) = heap.peek_mut() {
            let Reverse((pair, index)) = *top;
            match runs[index].next(&mut self.file, block)? {
                Some(next) => *top = Reverse((next, index)),
                None => drop(PeekMut::pop(top)),
            }
            if last != Some(pair) {
                visit(pair)?;
                last = Some(pair);
            }
        }
        Ok(())
    }
}

/// Writes pairs to the end of a file, many at a time.
struct RunWriter<'a> {
    file: &'a mut SpillFile,
    bytes: Zeroizing<Vec<u8>>,
}

impl<'a> RunWriter<'a> {
    fn new(file: &'a mut SpillFile) -> Self {
        Self { file, bytes: Zeroizing::new(Vec::with_capacity(BATCH * PAIR)) }
    }

    fn write(&mut self, pair: Pair) -> io::Result<()> {
        if self.bytes.len() == BATCH * PAIR {
            self.file.append(&self.bytes)?;
            self.bytes.clear();
        }
        self.bytes.extend(pair.to_bytes());
        Ok(())
    }

    /// The length of the file with everything written.
    fn finish(self) -> io::Result<u64> {
        self.file.append(&self.bytes)?;
        Ok(self.file.len())
    }
}

/// One sorted run and the block of it that is in memory.
struct Run {
    bytes: Zeroizing<Vec<u8>>,
    /// Bytes of the block that are used up.
    read: usize,
    /// Where the next block starts.
    next: u64,
    end: u64,
}

impl Run {
    fn next(&mut self, file: &mut SpillFile, block: usize) -> io::Result<Option<Pair>> {
        if self.read == self.bytes.len() {
            let left = usize::try_from(self.end - self.next).map_or(block, |left| left.min(block));
            self.bytes.resize(left, 0);
            file.read(self.next, &mut self.bytes)?;
            self.next += left as u64;
            self.read = 0;
        }
        let pair = self.bytes.get(self.read..self.read + PAIR).map(Pair::from_bytes);
        self.read += if pair.is_some() { PAIR } else { 0 };
        Ok(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_visited_once_in_order_however_often_it_came() {
        // 2,000 pairs fill more than half of the least memory, so that every round is a run of its own.
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = PairSorter::new(PairSorter::MIN_MEMORY, folder.path().to_owned()).unwrap();
        let pairs: Vec<Pair> = (0..2_000).map(|item| Pair { user: [item / 3, !item], item }).collect();
        for _ in 0..70 {
            for pair in pairs.iter().rev() {
                sorter.push(*pair).unwrap();
            }
        }
        let spilled = sorter.spilled.as_ref().unwrap();
        assert!(spilled.file.len() < 40 * 2_000 * PAIR as u64, "merging on the way drops what is repeated");
        let mut visited = Vec::new();
        sorter.finish(|pair| visited.push(pair)).unwrap();
        let mut expected = pairs;
        expected.sort_unstable();
        assert!(visited == expected);
    }
}
