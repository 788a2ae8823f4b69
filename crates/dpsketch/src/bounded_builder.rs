use sfm_pcsa::{PcsaShape, PcsaSketch};
use sketch_hash::{AnyHash, Item};
use zeroize::Zeroizing;

use crate::builder::{RowCounts, clean};
use crate::error::Error;
use crate::raw::RawSketch;
use crate::row_hasher::RowHasher;
use crate::text::TextRules;
use crate::user_bound::{UserBound, UserCounts};

/// Builds a raw distinct-count sketch of what a [`UserBound`] keeps, so that a release can protect users.
///
/// Rows have a user beside the values that make the item. The text rules apply to users, too, so that two spellings of one
/// user do not get two shares. A row without a user is left out: nothing bounds how many of them belong to one person.
///
/// # Privacy
/// What is built holds at most `M` items of each user and says so, in its file, too: it is released for users with that
/// `M`, ε-differentially private for adding or removing one user with all rows. It merges with no other raw sketch, for a
/// user in both could exceed the bound. Row counts are exact and not private.
///
/// # Examples
/// ```
/// use dp_noise::Epsilon;
/// use dpsketch::{BoundedBuilder, MaxItems, TextRules, UserBound};
/// use sfm_pcsa::PcsaShape;
/// use sketch_hash::{AnyHash, HashKey, Item};
///
/// let bound = UserBound::sorted(MaxItems::new(2)?, HashKey::DEFAULT);
/// let mut builder = BoundedBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default(), bound);
/// for (user, page) in [("ann", 1_u32), ("ann", 2), ("ann", 3), ("bob", 1)] {
///     builder.push_row(Some(Item::from(user)), [Some(Item::from(page))])?;
/// }
/// let (raw, users) = builder.finish()?;
/// assert_eq!((users.users, users.kept), (2, 3));
/// let private = raw.release(Epsilon::new(1.0)?)?;
/// assert_eq!(private.units()[0].to_string(), "one user with at most 2 items");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BoundedBuilder {
    sketch: PcsaSketch<AnyHash>,
    rows: RowHasher,
    bound: UserBound,
    counts: RowCounts,
    /// The cleaned user; used again from row to row.
    user: Zeroizing<String>,
}

/// Shape, hash and unit only: what was counted, and how much, is raw.
impl core::fmt::Debug for BoundedBuilder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BoundedBuilder")
            .field("shape", &self.sketch.shape())
            .field("hash", &self.sketch.hash_id())
            .field("unit", &self.sketch.unit())
            .finish_non_exhaustive()
    }
}

impl BoundedBuilder {
    /// An empty sketch to be filled by what `bound` keeps.
    #[must_use]
    pub fn new(shape: PcsaShape, hash: AnyHash, rules: TextRules, bound: UserBound) -> Self {
        let sketch = PcsaSketch::new(shape, hash.clone()).with_unit(bound.unit().into());
        let rows = RowHasher::new(hash, rules);
        Self { sketch, rows, bound, counts: RowCounts::default(), user: Zeroizing::new(String::new()) }
    }

    /// Rows seen so far; those without a user count as missing a value.
    #[must_use]
    pub fn counts(&self) -> RowCounts {
        self.counts
    }

    /// Takes one row.
    ///
    /// # Errors
    /// As [`UserBound::push`].
    pub fn push_row<'a>(
        &mut self,
        user: Option<Item<'_>>,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        self.counts.rows += 1;
        let user = user.and_then(|user| clean(self.rows.rules(), user, &mut self.user));
        if let (Some(user), Some(item)) = (user, self.rows.hash(values)) {
            return self.bound.push(user, item, |items| self.sketch.update_hashes(items));
        }
        self.counts.nulls += 1;
        self.bound.skip_rows(1);
        Ok(())
    }

    /// The raw sketch, and what the bound came to.
    ///
    /// # Errors
    /// As [`UserBound::finish`].
    pub fn finish(mut self) -> Result<(RawSketch, UserCounts), Error> {
        let users = self.bound.finish(|items| self.sketch.update_hashes(items))?;
        Ok((RawSketch::try_from(&self.sketch)?, users))
    }
}
