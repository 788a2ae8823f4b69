//! The checksum of a table's groups: which ones there are, in which order.

use arrow_array::Array;
use sfm_pcsa::ReleaseId;
use sketch_hash::Item;
use sketch_wire::Checksum;

use super::container::GroupContainer;
use super::error::GroupError;
use crate::column::Column;
use crate::error::Error;

/// CRC-64/XZ over what the metadata say of the groups, and over every group in its row.
///
/// First the name of the column, a byte that is 1 where the groups come from a list, and the 16 bytes of the release's
/// name; then for each row a byte for the type of the group, and its value: 0 and nothing for null, 1 and the text, 2 and a
/// byte for true or false, 3 and an integer, 4 and the days of a date. Texts stand after their length in 8 bytes, integers
/// have 16 bytes and days 8, all little endian.
pub(super) struct GroupChecksum(Checksum);

impl GroupChecksum {
    pub(super) fn new(column: &str, listed: bool, release: ReleaseId) -> Self {
        let mut checksum = Self(Checksum::new());
        checksum.text(column);
        checksum.0.update(&[u8::from(listed)]);
        checksum.0.update(&release.to_bytes());
        checksum
    }

    /// Takes the group of the next row.
    pub(super) fn add(&mut self, group: Option<Item<'_>>) -> Result<(), GroupError> {
        let tag = |number: u8| [number];
        match group {
            None => self.0.update(&tag(0)),
            Some(Item::Text(text)) => {
                self.0.update(&tag(1));
                self.text(text);
            }
            Some(Item::Boolean(value)) => self.0.update(&[2, u8::from(value)]),
            Some(Item::Integer(value)) => {
                self.0.update(&tag(3));
                self.0.update(&value.to_le_bytes());
            }
            Some(Item::Date(days)) => {
                self.0.update(&tag(4));
                self.0.update(&days.to_le_bytes());
            }
            Some(_) => return Err(GroupError::KeyType { found: "a number with a fraction, or bytes".to_owned() }),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> u64 {
        self.0.finish()
    }

    fn text(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }
}

/// Checks that the groups of a table are those that were released, each in its row.
///
/// # Examples
/// See [`GroupContainer::check_groups`].
pub struct GroupCheck {
    checksum: GroupChecksum,
    expected: u64,
}

impl GroupCheck {
    pub(super) fn of(container: &GroupContainer, expected: u64) -> Self {
        let checksum = GroupChecksum::new(container.column(), container.is_listed(), container.release());
        Self { checksum, expected }
    }

    /// Takes the groups of the next rows.
    ///
    /// # Errors
    /// [`ErrorKind::Column`](crate::ErrorKind::Column) for a type that names no groups.
    pub fn add(&mut self, groups: &dyn Array) -> Result<(), Error> {
        let column = Column::new(groups)?;
        Ok((0..column.len()).try_for_each(|row| self.checksum.add(column.item(row)))?)
    }

    /// Says whether the groups were all there, and no others.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged), with [`GroupError::Checksum`] as source.
    pub fn finish(self) -> Result<(), Error> {
        let (expected, found) = (self.expected, self.checksum.finish());
        if expected == found { Ok(()) } else { Err(GroupError::Checksum { expected, found }.into()) }
    }
}

/// No group.
impl core::fmt::Debug for GroupCheck {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("GroupCheck").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(column: &str, listed: bool, release: u8, groups: &[Option<Item<'_>>]) -> u64 {
        let mut checksum = GroupChecksum::new(column, listed, ReleaseId::from_bytes([release; 16]));
        groups.iter().try_for_each(|group| checksum.add(*group)).unwrap();
        checksum.finish()
    }

    #[test]
    fn the_layout_is_as_written_down() {
        // The CRC bit by bit over the bytes put together by hand, in Python.
        let groups = [
            None,
            Some(Item::Text("né")),
            Some(Item::Boolean(true)),
            Some(Item::Integer(-2)),
            Some(Item::Date(20_088)),
        ];
        assert_eq!(of("g", true, 7, &groups), 0x1a25_bf36_7638_8a8f);
    }

    #[test]
    fn every_change_of_a_group_or_its_place_is_seen() {
        let (a, b) = (Some(Item::Text("a")), Some(Item::Text("b")));
        let all = [
            of("g", false, 0, &[]),
            of("g", false, 0, &[a, b]),
            of("g", false, 0, &[b, a]),
            of("g", false, 0, &[a]),
            of("g", false, 0, &[a, b, None]),
            of("g", false, 0, &[Some(Item::Text("ab"))]),
            of("g", true, 0, &[a, b]),
            of("g", false, 1, &[a, b]),
            of("ga", false, 0, &[b]),
            of("g", false, 0, &[Some(Item::Integer(1))]),
            of("g", false, 0, &[Some(Item::Date(1))]),
            of("g", false, 0, &[Some(Item::Boolean(true))]),
        ];
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    }
}
