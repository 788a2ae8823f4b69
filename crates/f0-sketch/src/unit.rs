//! Whose data one unit of privacy is.

use core::fmt;
use core::num::NonZeroU32;

/// What a release protects at its ε: one distinct item, or everything that one user contributed.
///
/// # Privacy
/// Data sets are neighbours when one unit more or less makes the difference. For a user, whoever builds the sketch must
/// have bounded what it takes from each: the number here is a statement about the input, which no later step can check.
///
/// # Examples
/// ```
/// use f0_sketch::Unit;
/// let unit = Unit::user(5).ok_or("at least one item")?;
/// assert_eq!(unit.to_string(), "one user with at most 5 items");
/// assert_eq!(unit.max_items(), 5);
/// assert_eq!(Unit::Item.max_items(), 1);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// One distinct item; repetitions are free.
    #[default]
    Item,
    /// One user, with at most so many distinct items.
    User {
        /// The bound that was enforced while the sketch was built.
        max_items: NonZeroU32,
    },
}

impl Unit {
    /// A user with at most `max_items` distinct items; `None` for 0.
    #[must_use]
    pub const fn user(max_items: u32) -> Option<Self> {
        match NonZeroU32::new(max_items) {
            Some(max_items) => Some(Self::User { max_items }),
            None => None,
        }
    }

    /// How many distinct items one unit may add.
    #[must_use]
    pub const fn max_items(self) -> u32 {
        match self {
            Self::Item => 1,
            Self::User { max_items } => max_items.get(),
        }
    }

    /// As files state it: 0 for an item, else the items of a user.
    pub(crate) const fn to_code(self) -> u32 {
        match self {
            Self::Item => 0,
            Self::User { max_items } => max_items.get(),
        }
    }

    pub(crate) const fn from_code(code: u32) -> Self {
        match Self::user(code) {
            Some(user) => user,
            None => Self::Item,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item => f.write_str("one item"),
            Self::User { max_items } if max_items.get() == 1 => f.write_str("one user with at most 1 item"),
            Self::User { max_items } => write!(f, "one user with at most {max_items} items"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_units_are_one_to_one() {
        for code in [0, 1, 2, u32::MAX] {
            assert_eq!(Unit::from_code(code).to_code(), code);
        }
        assert_eq!(Unit::user(0), None);
        assert_ne!(Unit::Item, Unit::from_code(1), "a user with one item is not an item");
    }
}
