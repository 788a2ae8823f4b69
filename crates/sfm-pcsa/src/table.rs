//! The raw cells: the set of levels seen, one word a bucket.

use zeroize::Zeroize;

use crate::params::PcsaShape;
use crate::transpose::{bucket_major_narrow, bucket_major_wide, level_major_narrow, level_major_wide, low_half};

/// One word of levels a bucket, in the narrowest type that holds them. Wiped when dropped; never grows.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Table {
    /// Up to 32 levels.
    Narrow(Vec<u32>),
    /// More levels.
    Wide(Vec<u64>),
}

impl Drop for Table {
    fn drop(&mut self) {
        match self {
            Self::Narrow(cells) => cells.zeroize(),
            Self::Wide(cells) => cells.zeroize(),
        }
    }
}

impl Table {
    pub(crate) fn new(shape: PcsaShape) -> Self {
        let buckets = shape.buckets() as usize;
        if shape.levels() <= 32 { Self::Narrow(vec![0; buckets]) } else { Self::Wide(vec![0; buckets]) }
    }

    /// Bytes of the cells of a shape.
    pub(crate) const fn bytes(shape: PcsaShape) -> usize {
        (shape.buckets() as usize) * if shape.levels() <= 32 { size_of::<u32>() } else { size_of::<u64>() }
    }

    /// Bytes allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Narrow(cells) => size_of_val(cells.as_slice()),
            Self::Wide(cells) => size_of_val(cells.as_slice()),
        }
    }

    /// Sets the cells of hashed items.
    ///
    /// The bucket is the top bits, the level the number of trailing zeros; the bit put in at the last level caps it, so
    /// that there is no branch. It also stops the count before the bits of the bucket.
    #[inline]
    pub(crate) fn insert(&mut self, hashes: &[u64], shape: PcsaShape) {
        let shift = 64 - u32::from(shape.index_bits());
        let last = 1_u64 << (shape.levels() - 1);
        let buckets = shape.buckets() as usize;
        match self {
            Self::Narrow(cells) => {
                let cells = &mut cells[..buckets];
                for &hash in hashes {
                    let levels = hash | last;
                    cells[index(hash >> shift)] |= low_half(levels & levels.wrapping_neg());
                }
            }
            Self::Wide(cells) => {
                let cells = &mut cells[..buckets];
                for &hash in hashes {
                    let levels = hash | last;
                    cells[index(hash >> shift)] |= levels & levels.wrapping_neg();
                }
            }
        }
    }

    /// OR of two tables of one shape.
    pub(crate) fn or_assign(&mut self, other: &Self) {
        match (self, other) {
            (Self::Narrow(cells), Self::Narrow(more)) => cells.iter_mut().zip(more).for_each(|(a, b)| *a |= b),
            (Self::Wide(cells), Self::Wide(more)) => cells.iter_mut().zip(more).for_each(|(a, b)| *a |= b),
            // Tables of one shape have one width.
            _ => debug_assert!(false, "tables of different shapes"),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Narrow(cells) => cells.iter().all(|&levels| levels == 0),
            Self::Wide(cells) => cells.iter().all(|&levels| levels == 0),
        }
    }

    /// The levels of every bucket.
    pub(crate) fn columns(&self) -> impl Iterator<Item = u64> {
        let (narrow, wide): (&[u32], &[u64]) = match self {
            Self::Narrow(cells) => (cells, &[]),
            Self::Wide(cells) => (&[], cells),
        };
        narrow.iter().map(|&levels| u64::from(levels)).chain(wide.iter().copied())
    }

    /// ORs the levels of a bucket in.
    pub(crate) fn or_column(&mut self, bucket: usize, levels: u64) {
        match self {
            Self::Narrow(cells) => cells[bucket] |= low_half(levels),
            Self::Wide(cells) => cells[bucket] |= levels,
        }
    }

    /// The same cells for fewer buckets or levels: buckets join with their neighbours, because the bucket is a prefix of
    /// the hash, and all levels from the new last one on become that one.
    pub(crate) fn fold(&self, from: PcsaShape, to: PcsaShape) -> Self {
        let mut folded = Self::new(to);
        let drop_bits = from.index_bits() - to.index_bits();
        let last = to.levels() - 1;
        let kept = (1_u64 << last) - 1;
        for (bucket, levels) in self.columns().enumerate() {
            let capped = (levels & kept) | u64::from(levels >> last != 0) << last;
            folded.or_column(bucket >> drop_bits, capped);
        }
        folded
    }

    /// Level-major bits: cell (bucket, level) is bit `level · buckets + bucket`.
    pub(crate) fn to_level_major(&self, shape: PcsaShape) -> Vec<u64> {
        match self {
            Self::Narrow(cells) => level_major_narrow(cells, shape),
            Self::Wide(cells) => level_major_wide(cells, shape),
        }
    }

    /// From level-major bits of `shape.words()` words.
    pub(crate) fn from_level_major(bits: &[u64], shape: PcsaShape) -> Self {
        let mut table = Self::new(shape);
        match &mut table {
            Self::Narrow(cells) => bucket_major_narrow(bits, shape, cells),
            Self::Wide(cells) => bucket_major_wide(bits, shape, cells),
        }
        table
    }
}

/// The number of a bucket, below 2²⁰.
#[expect(clippy::cast_possible_truncation, reason = "a bucket has 20 bits at most")]
#[inline]
const fn index(bucket: u64) -> usize {
    bucket as usize
}
