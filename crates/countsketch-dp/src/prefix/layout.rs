//! Which prefixes a stack counts, and how.

use crate::error::ParamError;
use crate::shape::CountSketchShape;

/// The levels of a prefix stack: keys of n bits, and for rising prefix lengths a plain vector or a sketch.
///
/// A level whose `2^length` prefixes are no more than the `k·b` cells of a sketch is a **plain vector**: no collisions, and
/// less noise. Few levels mean little noise, as the budget is shared among them; long steps mean many children to look
/// at, `2^step` for each prefix that survives.
///
/// # Examples
/// ```
/// use countsketch_dp::{CountSketchShape, PrefixLayout};
/// // 5 · 4096 cells hold all prefixes of 14 bits; from there on 6 bits a level.
/// let layout = PrefixLayout::new(32, 6, CountSketchShape::new(5, 4096)?)?;
/// assert_eq!(layout.lengths(), [14, 20, 26, 32]);
/// assert!(layout.is_plain(0) && !layout.is_plain(1));
/// # Ok::<(), countsketch_dp::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixLayout {
    lengths: Vec<u8>,
    shape: CountSketchShape,
}

impl PrefixLayout {
    /// The longest step between levels, and the longest prefix of a first level, in bits.
    pub const MAX_STEP: u8 = 16;

    /// Keys of `key_bits` bits: the first level is the longest plain one (16 bits at most), and each further level is `step`
    /// bits longer, the last one less if need be. Sketched levels have the given shape.
    ///
    /// # Errors
    /// [`ParamError::Prefixes`] unless `key_bits` lies in 1 ..= 64 and `step` in 1 ..= 16; [`ParamError::Cells`] for more
    /// than 2²⁶ cells in all.
    pub fn new(key_bits: u8, step: u8, shape: CountSketchShape) -> Result<Self, ParamError> {
        let fitting = u8::try_from(shape.cells().ilog2()).unwrap_or(u8::MAX);
        let first = fitting.clamp(1, Self::MAX_STEP).min(key_bits);
        if !(1..=Self::MAX_STEP).contains(&step) {
            return Err(ParamError::Prefixes { max_step: Self::MAX_STEP, key_bits, before: first, found: step });
        }
        let mut lengths = vec![first];
        let mut length = first;
        while length < key_bits {
            length = length.saturating_add(step).min(key_bits);
            lengths.push(length);
        }
        Self::with_lengths(lengths, shape)
    }

    /// Levels of these prefix lengths; the last one is the number of bits of a key.
    ///
    /// # Errors
    /// [`ParamError::Prefixes`] unless lengths rise by 1 ..= 16 up to 64 at most; [`ParamError::Cells`] for more than 2²⁶
    /// cells in all.
    pub fn with_lengths(lengths: Vec<u8>, shape: CountSketchShape) -> Result<Self, ParamError> {
        let key_bits = lengths.last().copied().unwrap_or(0);
        let mut before = 0;
        for &found in &lengths {
            if found <= before || found - before > Self::MAX_STEP || found > 64 {
                return Err(ParamError::Prefixes { max_step: Self::MAX_STEP, key_bits, before, found });
            }
            before = found;
        }
        if lengths.is_empty() {
            return Err(ParamError::Prefixes { max_step: Self::MAX_STEP, key_bits, before, found: 0 });
        }
        let layout = Self { lengths, shape };
        let cells =
            (0..layout.levels()).map(|level| layout.level_shape(level).map_or(0, CountSketchShape::cells)).sum();
        if cells > CountSketchShape::MAX_CELLS {
            return Err(ParamError::Cells { max: CountSketchShape::MAX_CELLS, found: cells });
        }
        Ok(layout)
    }

    /// The bits of a key.
    #[must_use]
    pub fn key_bits(&self) -> u8 {
        self.lengths.last().copied().unwrap_or(0)
    }

    /// The prefix length of every level.
    #[must_use]
    pub fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// The number of levels.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.lengths.len()
    }

    /// The shape of sketched levels.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.shape
    }

    /// Whether a level is a plain vector: `2^length ≤ k·b`.
    #[must_use]
    pub fn is_plain(&self, level: usize) -> bool {
        self.plain_len(level).is_some()
    }

    /// The length of the vector of a plain level.
    pub(super) fn plain_len(&self, level: usize) -> Option<u32> {
        let len = 1_u32.checked_shl(u32::from(*self.lengths.get(level)?))?;
        let fits =
            len <= CountSketchShape::MAX_WIDTH && usize::try_from(len).is_ok_and(|len| len <= self.shape.cells());
        fits.then_some(len)
    }

    /// One row for a plain level.
    pub(super) fn level_shape(&self, level: usize) -> Result<CountSketchShape, ParamError> {
        self.plain_len(level).map_or(Ok(self.shape), |len| CountSketchShape::new(1, len))
    }

    /// The prefix of a key at a level; `None` for more bits than keys have.
    pub(super) fn prefix(&self, level: usize, key: u64) -> Option<u64> {
        let (bits, length) = (self.key_bits(), self.lengths.get(level)?);
        let fits = key.checked_shr(u32::from(bits)).is_none_or(|rest| rest == 0);
        fits.then(|| key >> (bits - length))
    }

    /// The first number that is no key.
    pub(super) fn end(&self) -> u128 {
        1 << self.key_bits()
    }

    /// By how many bits a level is longer than the one before.
    pub(super) fn step(&self, level: usize) -> u8 {
        let before = level.checked_sub(1).and_then(|before| self.lengths.get(before)).copied().unwrap_or(0);
        self.lengths.get(level).map_or(0, |length| length - before)
    }
}
