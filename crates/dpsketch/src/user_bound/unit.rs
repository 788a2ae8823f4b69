use core::fmt;
use core::num::NonZeroU32;

use dp_noise::{Epsilon, ParameterError};
use sfm_pcsa::Unit;

use super::UserBoundError;

/// The most distinct items that one user may contribute.
///
/// # Examples
/// ```
/// use dpsketch::MaxItems;
///
/// assert_eq!(MaxItems::new(5)?.get(), 5);
/// assert!(MaxItems::new(0).is_err());
/// # Ok::<(), dpsketch::UserBoundError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaxItems(NonZeroU32);

impl MaxItems {
    /// The largest bound, 2²⁰.
    pub const MAX: u32 = 1 << 20;

    /// # Errors
    /// [`UserBoundError::MaxItems`] unless `value` lies in 1 ..= [`Self::MAX`].
    pub fn new(value: u32) -> Result<Self, UserBoundError> {
        NonZeroU32::new(value)
            .filter(|value| value.get() <= Self::MAX)
            .map(Self)
            .ok_or(UserBoundError::MaxItems { found: value })
    }

    /// The bound.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

/// Who or what a release protects: what one data set may have and its neighbour lack.
///
/// # Examples
/// ```
/// use dp_noise::Epsilon;
/// use dpsketch::{MaxItems, PrivacyUnit};
///
/// let unit = PrivacyUnit::User { max_items: MaxItems::new(4)? };
/// assert_eq!(unit.to_string(), "one user with at most 4 items");
/// assert_eq!(unit.item_epsilon(Epsilon::new(1.0)?)?.get(), 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PrivacyUnit {
    /// One distinct item. If items are people, that is one person.
    #[default]
    Item,
    /// One user with all items that the bound leaves: [`UserBound`](crate::UserBound).
    User {
        /// How many these are at most.
        max_items: MaxItems,
    },
}

impl PrivacyUnit {
    /// From the number that a sketch records: 0 where an item is the unit, else the most items of a user.
    ///
    /// # Errors
    /// [`UserBoundError::MaxItems`] when the number is above [`MaxItems::MAX`].
    pub fn from_max_items(max_items: u32) -> Result<Self, UserBoundError> {
        match max_items {
            0 => Ok(Self::Item),
            _ => MaxItems::new(max_items).map(|max_items| Self::User { max_items }),
        }
    }

    /// The number that a sketch records; see [`from_max_items`](Self::from_max_items).
    #[must_use]
    pub const fn max_items(self) -> u32 {
        match self {
            Self::Item => 0,
            Self::User { max_items } => max_items.get(),
        }
    }

    /// The level at which every item has to be released so that the unit is protected at `epsilon`: `epsilon / M` for a
    /// user with at most `M` items (group privacy \[DR14\]), rounded down.
    ///
    /// # Errors
    /// [`ParameterError`] when that is below the least accepted ε.
    pub fn item_epsilon(self, epsilon: Epsilon) -> Result<Epsilon, ParameterError> {
        match self {
            Self::Item => Ok(epsilon),
            Self::User { max_items } => epsilon.divide(max_items.get()),
        }
    }
}

impl From<PrivacyUnit> for Unit {
    fn from(unit: PrivacyUnit) -> Self {
        match unit {
            PrivacyUnit::Item => Self::Item,
            PrivacyUnit::User { max_items } => Self::User { max_items: max_items.0 },
        }
    }
}

impl fmt::Display for PrivacyUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item => f.write_str("one item"),
            Self::User { .. } => Unit::from(*self).fmt(f),
        }
    }
}
