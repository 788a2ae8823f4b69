//! The raw cells of a PCSA sketch: few of them as a list, many as a table.

use core::fmt;

use zeroize::{Zeroize, Zeroizing};

use crate::params::PcsaShape;
use crate::shape::BitmapShape;
use crate::store::Store;
use crate::table::Table;

/// Cells that lie in place, without an allocation.
const IN_PLACE: usize = 3;

/// The raw cells of one PCSA sketch without its hash, in as little memory as their number allows.
///
/// For programs that keep one sketch for each of very many groups: shape and hash are the same for all of them, so the
/// hash stays outside and the shape is two bytes. Up to three cells take the 16 bytes of the value itself, more a sorted
/// list of 4 bytes each that grows by doubling, and from where a table of all buckets is no larger, that table.
/// [`PcsaSketch`](crate::PcsaSketch) keeps the same state, so nothing depends on which of the three it is.
///
/// # Privacy
/// As sensitive as the data: see [`PcsaSketch`](crate::PcsaSketch). `Debug` shows the shape only, and cells are wiped when
/// the value is dropped or moves to a larger list. Memory and time of building tell how many cells there are, so they are
/// as sensitive as a count of items: keep them from whoever sees only the releases.
///
/// # Examples
/// ```
/// use sfm_pcsa::{PcsaCells, PcsaShape, PcsaSketch};
/// use sfm_pcsa::sketch_hash::{DefaultHash, Item};
///
/// let hash = DefaultHash::default();
/// let mut group = PcsaCells::new(PcsaShape::DEFAULT);
/// for user in [7_u64, 8, 9, 7] {
///     group.insert_hash(Item::from(user).hash64(&hash));
/// }
/// assert_eq!((size_of_val(&group), group.heap_bytes()), (16, 0));
///
/// let sketch = PcsaSketch::from_cells(group, hash);
/// let mut direct = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
/// direct.update_u64_batch(&[7, 8, 9]);
/// assert_eq!(sketch, direct);
/// ```
#[derive(Clone)]
pub struct PcsaCells {
    state: State,
}

/// Cells are numbered as the bits of a file: `level · buckets + bucket`.
#[derive(Clone)]
enum State {
    /// The first `len` of `cells`, rising.
    Few { shape: PcsaShape, len: u8, cells: [u32; IN_PLACE] },
    /// Rising.
    #[expect(clippy::box_collection, reason = "a thin pointer keeps the value at 16 bytes")]
    List { shape: PcsaShape, cells: Box<Vec<u32>> },
    /// Every bucket.
    Dense { shape: PcsaShape, table: Box<Table> },
}

impl Drop for PcsaCells {
    fn drop(&mut self) {
        match &mut self.state {
            State::Few { cells, .. } => cells.zeroize(),
            State::List { cells, .. } => cells.zeroize(),
            // Wipes itself.
            State::Dense { .. } => (),
        }
    }
}

impl fmt::Debug for PcsaCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PcsaCells").field("shape", &self.shape()).finish_non_exhaustive()
    }
}

/// Equal when shapes and cells are, however they are held.
impl PartialEq for PcsaCells {
    fn eq(&self, other: &Self) -> bool {
        if self.shape() != other.shape() {
            return false;
        }
        match (&self.state, &other.state) {
            (State::Dense { table: a, .. }, State::Dense { table: b, .. }) => a == b,
            (State::Dense { .. }, _) | (_, State::Dense { .. }) => {
                Zeroizing::new(self.to_bits()) == Zeroizing::new(other.to_bits())
            }
            _ => self.listed() == other.listed(),
        }
    }
}

impl PcsaCells {
    /// The cells of the empty set.
    #[must_use]
    pub const fn new(shape: PcsaShape) -> Self {
        Self { state: State::Few { shape, len: 0, cells: [0; IN_PLACE] } }
    }

    /// Buckets and levels.
    #[must_use]
    pub const fn shape(&self) -> PcsaShape {
        match self.state {
            State::Few { shape, .. } | State::List { shape, .. } | State::Dense { shape, .. } => shape,
        }
    }

    /// Adds an item by its 64-bit hash.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.insert(&[hash]);
    }

    /// Adds items by their hashes.
    #[inline]
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.insert(hashes);
    }

    /// Makes these the cells of the union; `other` is not changed.
    ///
    /// # Errors
    /// [`MergeError::Shape`](crate::MergeError::Shape) for cells of another shape. That both were made with one hash is
    /// up to the caller: the cells do not know it.
    pub fn merge(&mut self, other: &Self) -> Result<(), crate::MergeError> {
        let (expected, found) = (self.shape(), other.shape());
        if expected != found {
            return Err(crate::MergeError::Shape { expected: expected.into(), found: found.into() });
        }
        self.or_assign(other);
        Ok(())
    }

    /// Whether no item was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        Store::is_empty(self)
    }

    /// Bytes allocated beside the value itself.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.state {
            State::Few { .. } => 0,
            State::List { cells, .. } => size_of::<Vec<u32>>() + cells.capacity() * size_of::<u32>(),
            State::Dense { table, .. } => size_of::<Table>() + table.heap_bytes(),
        }
    }

    /// The cells in rising order, unless they are a table.
    fn listed(&self) -> Option<&[u32]> {
        match &self.state {
            State::Few { len, cells, .. } => Some(&cells[..usize::from(*len)]),
            State::List { cells, .. } => Some(cells),
            State::Dense { .. } => None,
        }
    }

    fn insert_cell(&mut self, cell: u32) {
        let shape = self.shape();
        match &mut self.state {
            State::Few { len, cells, .. } => {
                let used = usize::from(*len);
                let at = cells[..used].partition_point(|&other| other < cell);
                if cells[..used].get(at) == Some(&cell) {
                    return;
                }
                if used < IN_PLACE {
                    cells.copy_within(at..used, at + 1);
                    cells[at] = cell;
                    *len += 1;
                } else {
                    self.grow();
                    self.insert_cell(cell);
                }
            }
            State::List { cells, .. } => match cells.binary_search(&cell) {
                Ok(_) => (),
                Err(at) if cells.len() < cells.capacity() => cells.insert(at, cell),
                Err(_) => {
                    self.grow();
                    self.insert_cell(cell);
                }
            },
            State::Dense { table, .. } => {
                let bucket = cell & (shape.buckets() - 1);
                table.or_column(bucket as usize, 1 << (cell >> shape.index_bits()));
            }
        }
    }

    /// Makes room: a list of twice the length, or the table once that is no larger. Wipes what is left behind.
    fn grow(&mut self) {
        let shape = self.shape();
        let Some(cells) = self.listed() else { return };
        let room = 2 * cells.len();
        let state = if room * size_of::<u32>() < Table::bytes(shape) {
            let mut list = Vec::with_capacity(room);
            list.extend_from_slice(cells);
            State::List { shape, cells: Box::new(list) }
        } else {
            self.tabulated()
        };
        // Dropping the old state wipes it.
        *self = Self { state };
    }

    /// The same cells as a table.
    fn tabulated(&self) -> State {
        let shape = self.shape();
        let mut dense = Self { state: State::Dense { shape, table: Box::new(Table::new(shape)) } };
        for &cell in self.listed().unwrap_or_default() {
            dense.insert_cell(cell);
        }
        core::mem::replace(&mut dense.state, State::Few { shape, len: 0, cells: [0; IN_PLACE] })
    }
}

/// The cell of a hash.
#[inline]
fn cell_of(hash: u64, shape: PcsaShape) -> u32 {
    let index_bits = u32::from(shape.index_bits());
    let level = sketch_hash::geometric_level(hash, index_bits, shape.levels());
    u32::from(level) << index_bits | sketch_hash::bucket_top_bits(hash, index_bits)
}

impl Store for PcsaCells {
    type Shape = PcsaShape;

    fn new(shape: PcsaShape) -> Self {
        Self::new(shape)
    }

    fn shape(&self) -> PcsaShape {
        self.shape()
    }

    #[inline]
    fn insert(&mut self, hashes: &[u64]) {
        let shape = self.shape();
        for (index, &hash) in hashes.iter().enumerate() {
            if let State::Dense { table, .. } = &mut self.state {
                table.insert(&hashes[index..], shape);
                return;
            }
            self.insert_cell(cell_of(hash, shape));
        }
    }

    fn or_assign(&mut self, other: &Self) {
        if let Some(cells) = other.listed() {
            for &cell in cells {
                self.insert_cell(cell);
            }
            return;
        }
        if self.listed().is_some() {
            *self = Self { state: self.tabulated() };
        }
        if let (State::Dense { table, .. }, State::Dense { table: more, .. }) = (&mut self.state, &other.state) {
            table.or_assign(more);
        }
    }

    fn is_empty(&self) -> bool {
        match &self.state {
            State::Dense { table, .. } => table.is_empty(),
            // Lists are born with cells.
            State::Few { len, .. } => *len == 0,
            State::List { .. } => false,
        }
    }

    fn fold(&self, to: PcsaShape) -> Self {
        let from = self.shape();
        if let State::Dense { table, .. } = &self.state {
            return Self { state: State::Dense { shape: to, table: Box::new(table.fold(from, to)) } };
        }
        let mut folded = Self::new(to);
        for &cell in self.listed().unwrap_or_default() {
            let bucket = (cell & (from.buckets() - 1)) >> (from.index_bits() - to.index_bits());
            let level = (cell >> from.index_bits()).min(u32::from(to.levels()) - 1);
            folded.insert_cell(level << to.index_bits() | bucket);
        }
        folded
    }

    fn to_bits(&self) -> Vec<u64> {
        let shape = self.shape();
        if let State::Dense { table, .. } = &self.state {
            return table.to_level_major(shape);
        }
        let mut bits = vec![0; BitmapShape::cells(shape).div_ceil(64)];
        for &cell in self.listed().unwrap_or_default() {
            bits[cell as usize / 64] |= 1 << (cell % 64);
        }
        bits
    }

    fn from_bits(shape: PcsaShape, bits: &[u64]) -> Self {
        let ones = gf2_linalg::popcount(bits);
        if usize::try_from(ones).map_or(true, |ones| ones * size_of::<u32>() >= Table::bytes(shape)) {
            let table = Box::new(Table::from_level_major(bits, shape));
            return Self { state: State::Dense { shape, table } };
        }
        let mut cells = Self::new(shape);
        for (base, &word) in (0_u32..).step_by(64).zip(bits) {
            let mut rest = word;
            while rest != 0 {
                cells.insert_cell(base + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        cells
    }
}
