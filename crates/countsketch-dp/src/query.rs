//! Point queries: what to ask for, and the reader that answers without intervals.

use multiversion::multiversion;

use crate::combiner::{Combiner, integer};
use crate::combiner_network::{LANES, Lane, SelectionNetwork};
use crate::private::PrivateCountSketch;
use crate::row_hash::{RowHash, bucket_of};

/// Items answered together.
pub(crate) const BLOCK: usize = 1024;

/// Above this many rows selecting is faster than the network.
const MAX_NETWORK_ROWS: u8 = 63;

/// Answers point queries of one sketch: frequencies without intervals, as fast as it goes.
///
/// Items are named by their 64-bit hashes, as [`KeyedHash`](sketch_hash::KeyedHash) gives them with the key of the
/// sketch. Making a reader scans the cells once; after that a batch costs a few nanoseconds a row and item. For answers
/// with intervals see [`Frequencies`](crate::Frequencies).
///
/// # Privacy
/// Post-processing of a release: nothing is spent.
#[derive(Clone, Debug)]
pub struct PointReader<'a> {
    sketch: &'a PrivateCountSketch,
    combiner: Combiner,
    network: Option<SelectionNetwork>,
    /// The cells in 32 bits, where all of them fit.
    narrow: Option<Box<[i32]>>,
}

impl PrivateCountSketch {
    /// A reader of frequencies.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
    /// use countsketch_dp::sketch_hash::{DefaultHash, Item, KeyedHash};
    /// use countsketch_dp::{Combiner, ContributionBound, CountSketch, CountSketchShape};
    /// let hash = DefaultHash::default();
    /// let mut raw = CountSketch::new(CountSketchShape::new(5, 256)?, hash.clone(), ContributionBound::UNIT_ENTRY);
    /// raw.update_u64_batch(&[7; 1000])?;
    /// let private = raw.release(Permit::standalone(Rho::new(0.5)?), &mut NoiseRng::from_os()?)?;
    /// // Noise of standard deviation √5 in a row: the median is within 20 of the truth but once in 10^16 times.
    /// let value = private.points(Combiner::Median).value(Item::from(7_u64).hash64(&hash));
    /// assert!((value - 1000.0).abs() < 20.0);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn points(&self, combiner: Combiner) -> PointReader<'_> {
        PointReader::new(self, combiner)
    }
}

impl<'a> PointReader<'a> {
    pub(crate) fn new(sketch: &'a PrivateCountSketch, combiner: Combiner) -> Self {
        let rows = sketch.shape().rows();
        let left_out = u8::try_from(combiner.left_out(usize::from(rows))).unwrap_or(0);
        let uses_network = combiner != Combiner::Mean && rows <= MAX_NETWORK_ROWS;
        let network = uses_network.then(|| SelectionNetwork::new(rows, left_out, rows - 1 - left_out));
        let cells = (0..usize::from(rows)).flat_map(|row| sketch.cells(row));
        let fits = |cell: &i64| i32::try_from(*cell).ok().filter(|&narrow| narrow != i32::MIN);
        let narrow = cells.map(fits).collect();
        Self { sketch, combiner, network, narrow }
    }

    /// The sketch that is read.
    #[must_use]
    pub const fn sketch(&self) -> &'a PrivateCountSketch {
        self.sketch
    }

    /// How rows are combined.
    #[must_use]
    pub const fn combiner(&self) -> Combiner {
        self.combiner
    }

    /// The row estimates of one item in grid units, `s_i · C[i][h_i]`.
    pub(crate) fn rows_of(&self, key: u64) -> RowValues {
        let mut values = RowValues { values: [0; 255], rows: usize::from(self.sketch.shape().rows()) };
        for (row, value) in values.as_mut().iter_mut().enumerate() {
            let (bucket, sign) = self.sketch.bucket_and_sign(row, key);
            *value = sign * self.sketch.cells(row)[bucket];
        }
        values
    }

    /// The estimated frequency of one item, in units of weight.
    #[must_use]
    pub fn value(&self, key: u64) -> f64 {
        self.combiner.combine(self.rows_of(key).as_mut()) * self.sketch.granularity().step()
    }

    /// The estimated frequencies of many items.
    ///
    /// # Panics
    /// If `keys` and `values` differ in length.
    pub fn values(&self, keys: &[u64], values: &mut [f64]) {
        assert_eq!(keys.len(), values.len(), "one value for each key");
        match &self.narrow {
            Some(cells) => self.batch(|row| &cells[self.sketch.shape().row_range(row)], keys, values),
            None => self.batch(|row| self.sketch.cells(row), keys, values),
        }
    }

    fn batch<'c, T: Lane + 'c>(&self, cells: impl Fn(usize) -> &'c [T], keys: &[u64], values: &mut [f64]) {
        let rows = usize::from(self.sketch.shape().rows());
        let step = self.sketch.granularity().step();
        // Group by group of lanes, row by row inside a group.
        let mut table = vec![[T::default(); LANES]; rows * keys.len().min(BLOCK).div_ceil(LANES)];
        for (keys, values) in keys.chunks(BLOCK).zip(values.chunks_mut(BLOCK)) {
            self.gather(&cells, keys, &mut table);
            for (group, values) in table.chunks_mut(rows).zip(values.chunks_mut(LANES)) {
                self.combine_group(group, values);
                for value in values {
                    *value *= step;
                }
            }
        }
    }

    /// Row by row, so that one row at a time is in the nearest cache.
    fn gather<'c, T: Lane + 'c>(&self, cells: &impl Fn(usize) -> &'c [T], keys: &[u64], table: &mut [[T; LANES]]) {
        let (rows, width) = (usize::from(self.sketch.shape().rows()), u64::from(self.sketch.shape().width()));
        for row in 0..rows {
            let (hash, cells) = (self.sketch.rows().row(row), cells(row));
            for (keys, lanes) in keys.chunks(LANES).zip(table.iter_mut().skip(row).step_by(rows)) {
                gather_row(hash, cells, width, keys, lanes);
            }
        }
    }

    fn combine_group<T: Lane>(&self, group: &mut [[T; LANES]], values: &mut [f64]) {
        let left_out = self.combiner.left_out(group.len());
        match &self.network {
            Some(network) => network.run(group),
            None if left_out == 0 => {}
            None => return self.select_columns(group, values),
        }
        let kept = &group[left_out..group.len() - left_out];
        match kept {
            [middle] => values.iter_mut().zip(middle).for_each(|(value, lane)| *value = integer(lane.widen())),
            _ => values.iter_mut().zip(T::means(kept)).for_each(|(value, mean)| *value = mean),
        }
    }

    fn select_columns<T: Lane>(&self, group: &[[T; LANES]], values: &mut [f64]) {
        let mut column = RowValues { values: [0; 255], rows: group.len() };
        for (lane, value) in values.iter_mut().enumerate() {
            for (slot, row) in column.as_mut().iter_mut().zip(group) {
                *slot = row[lane].widen();
            }
            *value = self.combiner.combine(column.as_mut());
        }
    }
}

/// One row's signed cells of up to [`LANES`] items: all places first, by vector instructions, then the cells.
fn gather_row<T: Lane>(hash: RowHash, cells: &[T], width: u64, keys: &[u64], lanes: &mut [T; LANES]) {
    let mut padded = [0; LANES];
    padded[..keys.len()].copy_from_slice(keys);
    for (lane, place) in lanes.iter_mut().zip(places(hash, width, &padded)) {
        let bucket = usize::try_from(place >> 1).unwrap_or(usize::MAX);
        *lane = cells[bucket].signed(u64::from(place));
    }
}

/// Buckets times two, plus the bit of the sign. A bucket is below 2²⁴.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn places(row: RowHash, width: u64, keys: &[u64; LANES]) -> [u32; LANES] {
    let mut places = [0; LANES];
    for (place, &key) in places.iter_mut().zip(keys) {
        let hash = row.hash(key);
        *place = bucket_of(hash, width) << 1 | sign_bit(hash);
    }
    places
}

/// The lowest bit.
#[expect(clippy::inline_always, reason = "compiled once for each instruction set")]
#[inline(always)]
const fn sign_bit(hash: u64) -> u32 {
    (hash & 1) as u32
}

/// The row estimates of an item, on the stack.
pub(crate) struct RowValues {
    values: [i64; 255],
    rows: usize,
}

impl RowValues {
    pub(crate) fn as_mut(&mut self) -> &mut [i64] {
        &mut self.values[..self.rows]
    }
}
