//! Memory that may hold raw data: wiped when it is given back, also while it grows.

use core::fmt;
use core::ops::Deref;
use std::io::{self, Read};

use zeroize::{Zeroize, Zeroizing};

/// The bytes of a sketch file, which may be raw. Wiped when dropped; `Debug` shows their number only.
///
/// # Examples
/// ```
/// use dpsketch::{AnySketch, DistinctBuilder, RawSketch, TextRules};
/// use dpsketch::sfm_pcsa::PcsaShape;
/// use dpsketch::sketch_hash::AnyHash;
///
/// let shape = PcsaShape::new(64, 8)?;
/// let raw = RawSketch::try_from(DistinctBuilder::new(shape, AnyHash::default(), TextRules::default()))?;
/// let bytes = AnySketch::from(raw).to_bytes();
/// assert_eq!(format!("{bytes:?}"), "SketchBytes(123 bytes)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SketchBytes(Zeroizing<Vec<u8>>);

impl SketchBytes {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A copy of bytes that are wiped by somebody else.
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        Self::new(bytes.to_vec())
    }
}

impl Deref for SketchBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for SketchBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SketchBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SketchBytes({} bytes)", self.0.len())
    }
}

/// Adds a value to a list that wipes what it leaves behind.
pub(crate) fn push<T: Zeroize + Copy>(list: &mut Zeroizing<Vec<T>>, value: T) {
    make_room(list);
    list.push(value);
}

/// Moves a full list to twice the room. A list that grows by itself would leave its old memory as it was.
fn make_room<T: Zeroize + Copy>(list: &mut Zeroizing<Vec<T>>) {
    const LEAST: usize = 16;
    if list.len() == list.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity((2 * list.capacity()).max(LEAST)));
        larger.extend_from_slice(list);
        *list = larger;
    }
}

/// Reads to the end, or until there are more than `limit` bytes.
pub(crate) fn read(mut reader: impl Read, limit: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    loop {
        make_room(&mut bytes);
        let room = (bytes.capacity() - bytes.len()) as u64;
        // No more than there is room for, so that the list does not grow by itself.
        let read = (&mut reader).take(room).read_to_end(&mut bytes)?;
        if (read as u64) < room || bytes.len() as u64 > limit {
            return Ok(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read_up_to_the_limit() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for length in [0, 1, 15, 16, 17, 32, 100_000, text.len()] {
            assert_eq!(*read(&text[..length], 1 << 30).unwrap(), text[..length]);
        }
        let read = read(text.as_slice(), 1000).unwrap();
        assert!(read.len() > 1000 && read.len() < 4096);
    }

    #[test]
    fn a_list_keeps_its_values_as_it_grows() {
        let mut list = Zeroizing::new(Vec::new());
        (0..1000_u64).for_each(|value| push(&mut list, value));
        assert!(list.iter().copied().eq(0..1000));
    }
}
