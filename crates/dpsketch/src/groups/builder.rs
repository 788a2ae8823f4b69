use std::sync::Arc;

use arrow_schema::DataType;
use sfm_pcsa::diagnostics::placement;
use sfm_pcsa::{PcsaCells, PcsaShape};
use sketch_hash::{AnyHash, Item, KeyedHash};
use zeroize::Zeroizing;

use super::error::GroupError;
use super::keys::GroupKeys;
use super::release::GroupedSketches;
use crate::builder::clean;
use crate::error::{Error, ErrorKind};
use crate::row_hasher::RowHasher;
use crate::text::TextRules;
use crate::user_bound::{UserBound, UserCounts};

/// How many rows a [`GroupedBuilder`] has seen. The data owner's business only: these numbers are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// All rows.
    pub rows: u64,
    /// Rows left out because a value, the group or the user was missing.
    pub nulls: u64,
    /// Rows left out because their group is not in the list.
    pub unlisted: u64,
}

/// Builds one raw distinct-count sketch for each group of the data.
///
/// A group costs 16 bytes, its value and a few bytes of bookkeeping as long as it has few items; its sketch becomes a table
/// of all buckets only when it has that many. Several builders can work on parts of the data
/// ([`absorb`](Self::absorb)), and the result does not depend on who did what.
///
/// With a [list](Self::with_list) the groups are those of the list, in its order: groups without any row get a sketch of
/// the empty set, rows of other groups are left out and counted. Without one they are those of the data, in the order of
/// their values, and **which groups exist is not protected**.
///
/// Values of groups are text, integers, booleans or dates. The text rules apply to items (and users); of a group's text
/// only the white space around it is dropped, by `trim`, as in the list, and the text for missing values is a missing group.
///
/// # Privacy
/// Raw: as sensitive as the data. An item in `g` groups is in `g` sketches, whose releases add up to `g · ε`. With a
/// [bound](Self::for_users) on users one ε covers all groups.
///
/// # Examples
/// ```
/// use dpsketch::{GroupedBuilder, TextRules};
/// use sfm_pcsa::PcsaShape;
/// use sketch_hash::{AnyHash, Item};
///
/// let list = ["news".to_owned(), "sports".to_owned()];
/// let mut builder = GroupedBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default()).with_list(list);
/// for (publisher, user) in [("news", 1_u32), ("news", 2), ("blog", 1)] {
///     builder.push_row(Some(Item::from(publisher)), None, [Some(Item::from(user))])?;
/// }
/// assert_eq!((builder.counts().rows, builder.counts().unlisted), (3, 1));
/// let (sketches, _) = builder.finish()?;
/// assert_eq!(sketches.len(), 2); // nobody was seen at sports, and that is not told
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub struct GroupedBuilder {
    shape: PcsaShape,
    rows: RowHasher,
    group_rules: TextRules,
    keys: GroupKeys,
    cells: Vec<PcsaCells>,
    list: Option<List>,
    bound: Option<UserBound>,
    counts: GroupCounts,
    /// Cleaned text of group and user; used again from row to row.
    buffers: [Zeroizing<String>; 2],
}

/// Shape, hash and whether there is a list or a bound: groups and counts are raw.
impl core::fmt::Debug for GroupedBuilder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("GroupedBuilder")
            .field("shape", &self.shape)
            .field("hash", &self.rows.hash_function().id())
            .field("listed", &self.list.is_some())
            .field("bounded", &self.bound.is_some())
            .finish_non_exhaustive()
    }
}

/// The groups that were fixed.
struct List {
    lines: Arc<[String]>,
    /// Whether they have their numbers, which needs the type of the group column.
    read: bool,
}

/// What became of a row.
enum Taken {
    Yes,
    Missing,
    Unlisted,
}

impl List {
    /// Gives every line its number, which is its place, so that numbers never depend on the data.
    fn read(&mut self, keys: &mut GroupKeys, rules: &TextRules) -> Result<(), GroupError> {
        if self.read {
            return Ok(());
        }
        for (line, text) in (1..).zip(self.lines.iter()) {
            let text = if rules.trim { text.trim() } else { text };
            if !keys.number_of_text(text)?.1 {
                return Err(GroupError::Repeated { line });
            }
        }
        self.read = true;
        Ok(())
    }
}

impl GroupedBuilder {
    /// A builder without groups.
    #[must_use]
    pub fn new(shape: PcsaShape, hash: AnyHash, rules: TextRules) -> Self {
        let group_rules = TextRules { lowercase: false, ..rules.clone() };
        Self {
            shape,
            rows: RowHasher::new(hash, rules),
            group_rules,
            keys: GroupKeys::new(),
            cells: Vec::new(),
            list: None,
            bound: None,
            counts: GroupCounts::default(),
            buffers: Default::default(),
        }
    }

    /// Fixes the groups. The list must not depend on private data.
    #[must_use]
    pub fn with_list(self, list: impl Into<Arc<[String]>>) -> Self {
        Self { list: Some(List { lines: list.into(), read: false }), ..self }
    }

    /// Bounds what a user contributes to all groups together: at most `M` pairs of group and item. (Of two items that fall
    /// on the same cell of a group one stands for both.)
    ///
    /// # Errors
    /// [`GroupError::NoList`] without a list: a group that is there because of one user gives that user away.
    pub fn for_users(self, bound: UserBound) -> Result<Self, GroupError> {
        if self.list.is_none() {
            return Err(GroupError::NoList);
        }
        Ok(Self { bound: Some(bound), ..self })
    }

    /// Rows seen so far.
    #[must_use]
    pub fn counts(&self) -> GroupCounts {
        self.counts
    }

    /// Says the type of the group column, which rows alone do not tell in full.
    ///
    /// # Errors
    /// [`GroupError::KeyType`] for types that name no groups, [`GroupError::TwoTypes`] when another type was there before.
    pub fn expect_group_type(&mut self, data_type: &DataType) -> Result<(), GroupError> {
        self.keys.expect(data_type)
    }

    /// Takes one row: its group, its user, which matters to a builder [for users](Self::for_users) only, and the values
    /// that make its item.
    ///
    /// # Errors
    /// With [`GroupError`] as source when the group's value is of another type than those before or the list cannot be read
    /// as that type; as [`UserBound::push`] with bounded users.
    pub fn push_row<'a>(
        &mut self,
        group: Option<Item<'_>>,
        user: Option<Item<'_>>,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        self.counts.rows += 1;
        let item = self.rows.hash(values);
        let mut buffers = std::mem::take(&mut self.buffers);
        let [group_buffer, user_buffer] = &mut buffers;
        let group = group.and_then(|group| clean(&self.group_rules, group, group_buffer));
        let user = user.and_then(|user| clean(self.rows.rules(), user, user_buffer));
        let taken = self.take(group, user, item);
        self.buffers = buffers;
        match taken? {
            Taken::Yes => return Ok(()),
            Taken::Missing => self.counts.nulls += 1,
            Taken::Unlisted => self.counts.unlisted += 1,
        }
        if let Some(bound) = &mut self.bound {
            bound.skip_rows(1);
        }
        Ok(())
    }

    fn take(&mut self, group: Option<Item<'_>>, user: Option<Item<'_>>, item: Option<u64>) -> Result<Taken, Error> {
        let (Some(group), Some(item)) = (group, item) else { return Ok(Taken::Missing) };
        self.keys.expect_of(group)?;
        let number = match &mut self.list {
            Some(list) => {
                list.read(&mut self.keys, &self.group_rules)?;
                self.keys.find(group)?
            }
            None => Some(self.keys.number(group)?.0),
        };
        let Some(number) = number else { return Ok(Taken::Unlisted) };
        if self.cells.len() < self.keys.len() {
            self.cells.resize(self.keys.len(), PcsaCells::new(self.shape));
        }
        match (&mut self.bound, user) {
            (None, _) => self.cells[number as usize].insert_hash(item),
            (Some(_), None) => return Ok(Taken::Missing),
            (Some(bound), Some(user)) => {
                let shape = self.shape;
                bound.push(user, pair(number, item, shape), |pairs| keep(pairs, shape, &mut self.cells))?;
            }
        }
        Ok(Taken::Yes)
    }

    /// Takes over everything another builder has seen. Both must have been made alike.
    ///
    /// # Errors
    /// With [`GroupError`] as source when the types of their groups differ; [`ErrorKind::Internal`] for builders with
    /// bounded users, whose rows have to come through one bound.
    pub fn absorb(&mut self, other: &Self) -> Result<(), Error> {
        if self.bound.is_some() || other.bound.is_some() {
            return Err(Error::new(ErrorKind::Internal, "the rows of users have to come through one bound"));
        }
        if other.keys.len() > 0 {
            self.keys.expect(&other.keys.data_type())?;
            self.list.as_mut().map_or(Ok(()), |list| list.read(&mut self.keys, &self.group_rules))?;
        }
        let numbers = self.keys.absorb(&other.keys)?;
        self.cells.resize(self.keys.len(), PcsaCells::new(self.shape));
        for (number, cells) in numbers.into_iter().zip(&other.cells) {
            self.cells[number as usize].merge(cells)?;
        }
        self.counts.rows += other.counts.rows;
        self.counts.nulls += other.counts.nulls;
        self.counts.unlisted += other.counts.unlisted;
        Ok(())
    }

    /// The raw sketches of all groups, and what a bound on users came to.
    ///
    /// # Errors
    /// With [`GroupError`] as source when the list cannot be read; as [`UserBound::finish`] with bounded users.
    pub fn finish(mut self) -> Result<(GroupedSketches, Option<UserCounts>), Error> {
        self.list.as_mut().map_or(Ok(()), |list| list.read(&mut self.keys, &self.group_rules))?;
        self.cells.resize(self.keys.len(), PcsaCells::new(self.shape));
        let shape = self.shape;
        let bound = self.bound.map(|bound| bound.finish(|pairs| keep(pairs, shape, &mut self.cells))).transpose()?;
        // The order of the data would say who came first.
        let order = match self.list {
            Some(_) => (0..u32::try_from(self.cells.len()).unwrap_or(u32::MAX)).collect(),
            None => self.keys.sorted(),
        };
        let listed = self.list.is_some();
        let hash = self.rows.hash_function().clone();
        let rules = self.rows.rules().clone();
        Ok((GroupedSketches::new(shape, hash, rules, self.keys, self.cells, order, listed), bound))
    }
}

/// Group and cell of an item in one word: all that its sketch will know of it.
fn pair(group: u32, item: u64, shape: PcsaShape) -> u64 {
    let (bucket, level) = placement(item, shape.index_bits(), shape.levels());
    u64::from(group) << 32 | u64::from(level) << shape.index_bits() | u64::from(bucket)
}

/// Sets the cells of what was kept.
fn keep(pairs: &[u64], shape: PcsaShape, cells: &mut [PcsaCells]) {
    let index_bits = u32::from(shape.index_bits());
    for pair in pairs {
        let (group, cell) = (pair >> 32, pair & u64::from(u32::MAX));
        let (bucket, level) = (cell & ((1 << index_bits) - 1), cell >> index_bits);
        // Any hash with this bucket on top and this level's bit as its lowest one falls on the cell.
        let hash = bucket << (64 - index_bits) | 1 << level;
        if let Some(cells) = usize::try_from(group).ok().and_then(|group| cells.get_mut(group)) {
            cells.insert_hash(hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_names_the_group_and_the_cell_of_its_item() {
        let hash = AnyHash::default();
        for shape in [(4096, 24), (2, 1), (1 << 20, 44), (64, 58)].map(|(b, p)| PcsaShape::new(b, p).unwrap()) {
            for item in (0..2_000_u64).map(|item| Item::from(item).hash64(&hash)).chain([0, u64::MAX, 1 << 63]) {
                let mut direct = PcsaCells::new(shape);
                direct.insert_hash(item);
                let mut kept = vec![PcsaCells::new(shape); 8];
                keep(&[pair(5, item, shape)], shape, &mut kept);
                assert_eq!(kept[5], direct, "{shape} {item:x}");
                assert!(kept.iter().enumerate().all(|(group, cells)| group == 5 || cells.is_empty()));
            }
        }
    }
}
