//! Where an item lies: one keyed hash function a row.

use std::sync::Arc;

use sketch_hash::{HashId, HashKey};

use crate::row_hash::{RowHash, place};
use crate::shape::CountSketchShape;

/// The hash functions of the rows, of items that are known by 64 hash bits.
///
/// Row `i` is a member of its own of a strongly universal family \[D96\], with 192 bits from the seed stream: from the low and
/// the high half of a hash `x`, `h = ⌊((a₀ · low + a₁ · high + c) mod 2⁶⁴) / 2³²⌋`, the bucket from the highest bits,
/// `⌊h · width / 2³²⌋`, the sign from the lowest. No row is computed from the hash of another. Everything follows from the [`HashId`] of the item hash: it is
/// taken for a 128-bit key, from which the rows are derived under a label of their own, so sketches with one `HashId` and
/// one shape agree cell by cell, and share no coins with other kinds of sketches.
///
/// # Independence
/// Two facts hold whatever the data is, as long as it does not depend on the key.
///
/// 1. *Given the 64-bit hashes of the items*, all different, the rows are independent functions, and in each the 32 bits of
///    any two items are independent and uniform. So bucket and sign of an item are independent, row estimates are
///    unbiased with variance at most `‖x‖²/width`, and the one-sided Chebyshev bound holds for the median. All that is exact for
///    widths that are powers of two; for others a bucket is off by `width/2³²` of its probability, and an estimate biased by
///    `width/2⁶⁴` of the other weights.
/// 2. *Over the item hash*, a pseudo-random function under its 128-bit key, the 64-bit hashes are independent and uniform.
///    Then the buckets and signs of **all** items in one row are independent: signs are four-wise independent, which the
///    variance of norms and inner products needs, and the error of a row is symmetric around 0.
///
/// By 1 the expectation of a row's `F₂` estimate is the same for all item hashes, so the estimates of two rows are
/// uncorrelated over both, and the variance of their mean is that of one row over `k`. The bound on the median through
/// the characteristic function takes rows for fully random, as its source does \[PT22\].
///
/// Two items with one 64-bit hash, `n²/2⁶⁵` pairs in expectation, cannot be told apart in any row.
///
/// # Examples
/// ```
/// use countsketch_dp::{CountSketchShape, RowHashes};
/// use countsketch_dp::sketch_hash::{DefaultHash, Item, KeyedHash};
/// let hash = DefaultHash::default();
/// let rows = RowHashes::new(CountSketchShape::new(3, 1000)?, hash.id());
/// let (bucket, sign) = rows.bucket_and_sign(2, Item::from("alice").hash64(&hash));
/// assert!(bucket < 1000 && sign.abs() == 1);
/// # Ok::<(), countsketch_dp::ParamError>(())
/// ```
#[derive(Clone)]
pub struct RowHashes {
    rows: Arc<[RowHash]>,
    width: u64,
}

/// The label under which the rows of this crate are derived. Part of the value contract.
const LABEL: &str = "countsketch-dp rows";

impl RowHashes {
    /// The rows of sketches of `shape` whose items are hashed by the function `hash_id`.
    #[must_use]
    pub fn new(shape: CountSketchShape, hash_id: HashId) -> Self {
        let key = rows_key(hash_id);
        let rows = (0..shape.rows()).map(|row| RowHash::new(key, u64::from(row))).collect();
        Self { rows, width: u64::from(shape.width()) }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// False: there is always a row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The bucket of an item in a row, and its sign there, +1 or −1.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    #[must_use]
    pub fn bucket_and_sign(&self, row: usize, key: u64) -> (usize, i64) {
        place(self.rows[row].hash(key), self.width)
    }

    /// The function of one row.
    pub(crate) fn row(&self, row: usize) -> RowHash {
        self.rows[row]
    }

    /// Every row's bucket and sign of an item.
    pub(crate) fn places(&self, key: u64) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.rows.iter().map(move |row| place(row.hash(key), self.width))
    }
}

impl core::fmt::Debug for RowHashes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "RowHashes({} x {})", self.rows.len(), self.width)
    }
}

/// The key that the rows are derived from: algorithm and fingerprint of the item hash, which are public.
pub(crate) fn rows_key(hash_id: HashId) -> HashKey {
    let words = [u64::from(hash_id.algorithm().to_u8()), hash_id.key().to_u64()];
    let mut bytes = [0; 16];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    HashKey::from_bytes(bytes).derive(LABEL, 0)
}
