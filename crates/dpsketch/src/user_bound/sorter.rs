//! Sorting what users contribute in bounded memory.

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

/// The least memory that sorts anything worth it.
pub(super) const MIN_MEMORY: usize = 1 << 16;
/// The least memory that merging gives to one sorted run, bookkeeping included.
const RUN_MEMORY: usize = 2048;
/// Bookkeeping of one run while merging: its place in the heap and in the list.
const RUN_OVERHEAD: usize = 256;
/// Records encoded in one go.
const BATCH: usize = 1024;

/// What is sorted: by user first, then by item.
pub(crate) trait Record: DefaultIsZeroes + Ord {
    /// Bytes of a record in the file; in memory it has no more.
    const BYTES: usize;

    /// Writes `BYTES` bytes.
    fn write(self, bytes: &mut [u8]);

    fn read(bytes: &[u8]) -> Self;

    /// Takes in the next record in order if it is about the same thing.
    fn join(&mut self, next: &Self) -> bool;
}

/// A user and one of the user's items.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub(super) user: UserHash,
    pub(super) item: u64,
}

impl DefaultIsZeroes for Pair {}

impl Record for Pair {
    const BYTES: usize = 24;

    fn write(self, bytes: &mut [u8]) {
        write_words(bytes, &[self.user[0], self.user[1], self.item]);
    }

    fn read(bytes: &[u8]) -> Self {
        let [first, second, item] = read_words(bytes);
        Self { user: [first, second], item }
    }

    fn join(&mut self, next: &Self) -> bool {
        self == next
    }
}

/// Words in little-endian order.
pub(crate) fn write_words(bytes: &mut [u8], words: &[u64]) {
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
}

/// As many words as asked for; zeros where bytes are missing.
pub(crate) fn read_words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    words
}

/// Collects records and gives them back sorted, those about one thing as one. What does not fit in memory goes to a [`SpillFile`] as sorted
/// runs, which are merged at the end, and before when there are more of them than the memory can merge.
pub(crate) struct Sorter<R: Record> {
    memory: usize,
    folder: PathBuf,
    /// Room for as many records as the memory holds, from the start.
    buffer: Zeroizing<Vec<R>>,
    spilled: Option<Spilled>,
}

/// Sorted runs, one after another.
struct Spilled {
    file: SpillFile,
    /// Where each run ends.
    ends: Vec<u64>,
}

impl<R: Record> Sorter<R> {
    pub(crate) fn new(memory: usize, folder: PathBuf) -> Result<Self, UserBoundError> {
        if memory < MIN_MEMORY {
            return Err(UserBoundError::Memory { expected: MIN_MEMORY, found: memory });
        }
        let mut sorter = Self { memory, folder, buffer: Zeroizing::default(), spilled: None };
        sorter.reserve()?;
        Ok(sorter)
    }

    fn capacity(&self) -> usize {
        self.memory / R::BYTES
    }

    fn reserve(&mut self) -> Result<(), UserBoundError> {
        let capacity = self.capacity();
        self.buffer.try_reserve_exact(capacity).map_err(|_| UserBoundError::NoMemory { requested: self.memory })
    }

    pub(crate) fn push(&mut self, record: R) -> Result<(), Error> {
        if self.buffer.len() == self.capacity() {
            self.sort();
            // Rows that repeat each other may never need the disk.
            if self.buffer.len() > self.capacity() / 2 {
                self.spill().map_err(|error| self.on_disk(error))?;
                self.reserve()?;
            }
        }
        self.buffer.push(record);
        Ok(())
    }

    /// Visits all records in rising order.
    pub(crate) fn finish(mut self, mut visit: impl FnMut(R)) -> Result<(), Error> {
        self.sort();
        if self.spilled.is_none() {
            self.buffer.iter().copied().for_each(visit);
            return Ok(());
        }
        self.finish_on_disk(|record| {
            visit(record);
            Ok(())
        })
        .map_err(|error| self.on_disk(error))
    }

    fn finish_on_disk(&mut self, visit: impl FnMut(R) -> io::Result<()>) -> io::Result<()> {
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
        self.buffer.dedup_by(|next, first| first.join(next));
    }

    /// Moves the sorted buffer to the end of the file, and makes one run of all when these are as many as can be merged.
    fn spill(&mut self) -> io::Result<()> {
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled { file: SpillFile::create(&self.folder)?, ends: Vec::new() }),
        };
        let mut writer = RunWriter::new(&mut spilled.file);
        self.buffer.iter().try_for_each(|record| writer.write(*record))?;
        self.buffer.clear();
        spilled.ends.push(writer.finish()?);
        if spilled.ends.len() < self.memory / RUN_MEMORY {
            return Ok(());
        }
        // Merging takes the memory of the buffer.
        self.buffer = Zeroizing::default();
        let mut file = SpillFile::create(&self.folder)?;
        let mut writer = RunWriter::new(&mut file);
        spilled.merge(self.memory, |record: R| writer.write(record))?;
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
    fn merge<R: Record>(&mut self, memory: usize, mut visit: impl FnMut(R) -> io::Result<()>) -> io::Result<()> {
        let block = (memory / self.ends.len().max(1)).saturating_sub(RUN_OVERHEAD) / R::BYTES * R::BYTES;
        let mut runs = Vec::with_capacity(self.ends.len());
        let mut heap = BinaryHeap::with_capacity(self.ends.len());
        let mut start = 0;
        for (index, end) in self.ends.iter().copied().enumerate() {
            let mut run = Run { bytes: Zeroizing::default(), read: 0, next: start, end };
            if let Some(record) = run.next::<R>(&mut self.file, block)? {
                heap.push(Reverse((record, index)));
            }
            runs.push(run);
            start = end;
        }
        let mut last: Option<R> = None;
        while let Some(mut top) = heap.peek_mut() {
            let Reverse((record, index)) = *top;
            match runs[index].next(&mut self.file, block)? {
                Some(next) => *top = Reverse((next, index)),
                None => drop(PeekMut::pop(top)),
            }
            if last.as_mut().is_some_and(|last| last.join(&record)) {
                continue;
            }
            if let Some(whole) = last.replace(record) {
                visit(whole)?;
            }
        }
        last.map_or(Ok(()), visit)
    }
}

/// Writes records to the end of a file, many at a time.
struct RunWriter<'a> {
    file: &'a mut SpillFile,
    bytes: Zeroizing<Vec<u8>>,
}

impl<'a> RunWriter<'a> {
    fn new(file: &'a mut SpillFile) -> Self {
        Self { file, bytes: Zeroizing::new(Vec::new()) }
    }

    fn write<R: Record>(&mut self, record: R) -> io::Result<()> {
        if self.bytes.len() >= BATCH * R::BYTES {
            self.file.append(&self.bytes)?;
            self.bytes.clear();
        }
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(BATCH * R::BYTES);
        }
        let start = self.bytes.len();
        self.bytes.resize(start + R::BYTES, 0);
        record.write(&mut self.bytes[start..]);
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
    fn next<R: Record>(&mut self, file: &mut SpillFile, block: usize) -> io::Result<Option<R>> {
        if self.read == self.bytes.len() {
            let left = usize::try_from(self.end - self.next).map_or(block, |left| left.min(block));
            self.bytes.resize(left, 0);
            file.read(self.next, &mut self.bytes)?;
            self.next += left as u64;
            self.read = 0;
        }
        let record = self.bytes.get(self.read..self.read + R::BYTES).map(R::read);
        self.read += if record.is_some() { R::BYTES } else { 0 };
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_visited_once_in_order_however_often_it_came() {
        // 2,000 pairs fill more than half of the least memory, so that every round is a run of its own.
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(MIN_MEMORY, folder.path().to_owned()).unwrap();
        let pairs: Vec<Pair> = (0..2_000).map(|item| Pair { user: [item / 3, !item], item }).collect();
        for _ in 0..70 {
            for pair in pairs.iter().rev() {
                sorter.push(*pair).unwrap();
            }
        }
        let spilled = sorter.spilled.as_ref().unwrap();
        assert!(spilled.file.len() < 40 * 2_000 * Pair::BYTES as u64, "merging on the way drops what is repeated");
        let mut visited = Vec::new();
        sorter.finish(|pair| visited.push(pair)).unwrap();
        let mut expected = pairs;
        expected.sort_unstable();
        assert!(visited == expected);
    }
}
