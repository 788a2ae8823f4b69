//! What one unit of privacy may add to a sketch.

mod sensitivity;

use core::fmt;

use crate::ParamError;
use crate::shape::CountSketchShape;

/// Who is protected, and how much they may add: enforced while a sketch is built, written into what is released.
///
/// All numbers are in grid units ([`Granularity`](crate::Granularity)), and weights count by their absolute value: +2 on
/// one item and −2 on another are a weight of 4. With `k` rows the sketches of neighbouring data differ at most by
///
/// | bound | L1 norm `D₁` | squared L2 norm `D₂²` |
/// |---|---|---|
/// | [`entry`](Self::entry)`(w)`: one record, of weight at most w | `k w` | `k w²` |
/// | [`user_total`](Self::user_total)`(W)`: all records of a user, weights at most W together | `k W` | `k W²` |
/// | [`user_items`](Self::user_items)`(m, c)`: at most m items of weight at most c each | `k m c` | `k m² c²` |
/// | [`clipped`](Self::clipped)`(m, c, C²)`: that, and the user's own cells have a squared norm of at most `C²` | `min(k m c, √(k m C²), C²)` | `min(C², k m² c²)` |
///
/// when one unit is added or removed; replacing one by another doubles `D₁` and `D₂`. The squared norm of a user's
/// contribution is bounded by the square of its *total* weight, not by the sum of the squares: two of a user's items may
/// share a cell with equal signs. Clipping bounds what really happens, and saves a factor near `√m` of noise.
///
/// # Privacy
/// A bound for users protects the whole user only. Behind it one record more can change which items are kept.
///
/// # Examples
/// ```
/// use countsketch_dp::{ContributionBound, CountSketchShape};
/// use countsketch_dp::dp_noise::Neighbouring;
/// let shape = CountSketchShape::new(15, 4096)?;
/// let squared = |bound: ContributionBound| bound.squared_l2(shape, 1, Neighbouring::AddRemove).map(|s| s.get());
/// assert_eq!(squared(ContributionBound::entry(1)?)?, 15);
/// assert_eq!(squared(ContributionBound::user_items(100, 1)?)?, 150_000);
/// assert_eq!(squared(ContributionBound::clipped_for(shape, 100, 1)?)?, 1654); // 15 · 100 · 1.05², rounded up
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContributionBound(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Entry { max_weight: u64 },
    UserTotal { total: u64 },
    UserItems { max_items: u32, max_weight: u64 },
    Clipped { max_items: u32, max_weight: u64, squared_norm: u128 },
}

/// A bound as bytes state it: kind, items, weight, squared norm.
pub(crate) type BoundCodes = (u8, u32, u64, u128);

impl ContributionBound {
    /// One record of weight at most 1.
    pub const UNIT_ENTRY: Self = Self(Kind::Entry { max_weight: 1 });

    /// The largest weight of a record, or of a user in all.
    pub const MAX_WEIGHT: u64 = i64::MAX.unsigned_abs();

    /// The most items of a user.
    pub const MAX_ITEMS: u32 = 1 << 20;

    /// The largest `m c` of a clipped user, 2⁵⁶: every squared norm is an exact integer then.
    pub const MAX_CLIPPED_WEIGHT: u64 = 1 << 56;

    /// One record is the unit; records of weight above `max_weight` are refused.
    ///
    /// # Errors
    /// [`ParamError::Bound`] unless `max_weight` lies in 1 ..= 2⁶³ − 1.
    pub const fn entry(max_weight: u64) -> Result<Self, ParamError> {
        match check("the weight of a record", max_weight, Self::MAX_WEIGHT) {
            Ok(()) => Ok(Self(Kind::Entry { max_weight })),
            Err(error) => Err(error),
        }
    }

    /// One user is the unit, with a total weight of at most `total` over all items.
    ///
    /// # Errors
    /// [`ParamError::Bound`] unless `total` lies in 1 ..= 2⁶³ − 1.
    pub const fn user_total(total: u64) -> Result<Self, ParamError> {
        match check("the total weight of a user", total, Self::MAX_WEIGHT) {
            Ok(()) => Ok(Self(Kind::UserTotal { total })),
            Err(error) => Err(error),
        }
    }

    /// One user is the unit, with at most `max_items` items of weight at most `max_weight` each.
    ///
    /// # Errors
    /// [`ParamError::Bound`] unless `max_items` lies in 1 ..= 2²⁰ and the product in 1 ..= 2⁶³ − 1.
    pub fn user_items(max_items: u32, max_weight: u64) -> Result<Self, ParamError> {
        check_items(max_items, max_weight, Self::MAX_WEIGHT)?;
        Ok(Self(Kind::UserItems { max_items, max_weight }))
    }

    /// One user is the unit, as with [`user_items`](Self::user_items), and items are left out until the squared norm of the
    /// user's own contribution to the cells is at most `squared_norm`.
    ///
    /// # Errors
    /// [`ParamError::Bound`] unless `max_items` lies in 1 ..= 2²⁰, the product of the first two in 1 ..= 2⁵⁶, and
    /// `squared_norm` is at least 1.
    pub fn clipped(max_items: u32, max_weight: u64, squared_norm: u128) -> Result<Self, ParamError> {
        check_items(max_items, max_weight, Self::MAX_CLIPPED_WEIGHT)?;
        if squared_norm == 0 {
            return Err(ParamError::Bound { what: "the squared norm of a user", max: u64::MAX, found: 0 });
        }
        Ok(Self(Kind::Clipped { max_items, max_weight, squared_norm }))
    }

    /// Clipping that hardly ever leaves out an item: `C² = 1.05² k m c²`, rounded up; `k c²` for one item, and room for one
    /// collision, `(k m + 2) c²`, where that is more.
    ///
    /// Of users with `m` items of weight `c`, more than 99.9% keep all of them for widths of 1024 and more, at noise like that of
    /// a user with `1.05 √m` items.
    ///
    /// # Errors
    /// As for [`clipped`](Self::clipped).
    pub fn clipped_for(shape: CountSketchShape, max_items: u32, max_weight: u64) -> Result<Self, ParamError> {
        check_items(max_items, max_weight, Self::MAX_CLIPPED_WEIGHT)?;
        // At most 2^8 · 2^112, so that the products below fit.
        let typical = u128::from(shape.rows()) * u128::from(max_items) * u128::from(max_weight).pow(2);
        let squared_norm = match max_items {
            1 => typical,
            _ => (typical * 441).div_ceil(400).max(typical + 2 * u128::from(max_weight).pow(2)),
        };
        Self::clipped(max_items, max_weight, squared_norm)
    }

    /// Whether a whole user is the unit, and not one record.
    #[must_use]
    pub const fn is_user(self) -> bool {
        !matches!(self.0, Kind::Entry { .. })
    }

    /// The largest weight of one item of a unit.
    #[must_use]
    pub const fn max_weight(self) -> u64 {
        match self.0 {
            Kind::Entry { max_weight } | Kind::UserItems { max_weight, .. } | Kind::Clipped { max_weight, .. } => {
                max_weight
            }
            Kind::UserTotal { total } => total,
        }
    }

    /// The most items of a unit; `None` where only their total weight is bounded.
    #[must_use]
    pub const fn max_items(self) -> Option<u32> {
        match self.0 {
            Kind::Entry { .. } => Some(1),
            Kind::UserTotal { .. } => None,
            Kind::UserItems { max_items, .. } | Kind::Clipped { max_items, .. } => Some(max_items),
        }
    }

    /// The largest total weight of a unit.
    #[must_use]
    pub fn total_weight(self) -> u64 {
        match self.0 {
            Kind::Entry { max_weight } => max_weight,
            Kind::UserTotal { total } => total,
            Kind::UserItems { max_items, max_weight } | Kind::Clipped { max_items, max_weight, .. } => {
                u64::from(max_items) * max_weight
            }
        }
    }

    /// `C²`, if contributions are clipped in the cells.
    #[must_use]
    pub const fn squared_norm(self) -> Option<u128> {
        match self.0 {
            Kind::Clipped { squared_norm, .. } => Some(squared_norm),
            _ => None,
        }
    }

    /// The bound after all weights were multiplied by a number of this size.
    pub(crate) fn scaled(self, factor: u64) -> Result<Self, ParamError> {
        let times = |weight: u64| weight.saturating_mul(factor);
        match self.0 {
            Kind::Entry { max_weight } => Self::entry(times(max_weight)),
            Kind::UserTotal { total } => Self::user_total(times(total)),
            Kind::UserItems { max_items, max_weight } => Self::user_items(max_items, times(max_weight)),
            Kind::Clipped { max_items, max_weight, squared_norm } => {
                let square = u128::from(factor).saturating_mul(u128::from(factor));
                Self::clipped(max_items, times(max_weight), squared_norm.saturating_mul(square))
            }
        }
    }

    pub(crate) const fn to_codes(self) -> BoundCodes {
        match self.0 {
            Kind::Entry { max_weight } => (1, 1, max_weight, 0),
            Kind::UserTotal { total } => (2, 0, total, 0),
            Kind::UserItems { max_items, max_weight } => (3, max_items, max_weight, 0),
            Kind::Clipped { max_items, max_weight, squared_norm } => (4, max_items, max_weight, squared_norm),
        }
    }

    /// The bound with these codes; `None` unless they are the ones that [`to_codes`](Self::to_codes) gives.
    pub(crate) fn from_codes(codes: BoundCodes) -> Option<Self> {
        let (kind, items, weight, square) = codes;
        let bound = match kind {
            1 => Self::entry(weight),
            2 => Self::user_total(weight),
            3 => Self::user_items(items, weight),
            4 => Self::clipped(items, weight, square),
            _ => return None,
        };
        bound.ok().filter(|bound| bound.to_codes() == codes)
    }
}

impl fmt::Display for ContributionBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Entry { max_weight } => write!(f, "one record of weight at most {max_weight}"),
            Kind::UserTotal { total } => write!(f, "one user of total weight at most {total}"),
            Kind::UserItems { max_items, max_weight } => {
                write!(f, "one user with at most {max_items} items of weight at most {max_weight}")
            }
            Kind::Clipped { max_items, max_weight, squared_norm } => {
                write!(f, "one user with at most {max_items} items of weight at most {max_weight}, ")?;
                write!(f, "clipped at a squared norm of {squared_norm}")
            }
        }
    }
}

const fn check(what: &'static str, found: u64, max: u64) -> Result<(), ParamError> {
    if found == 0 || found > max { Err(ParamError::Bound { what, max, found }) } else { Ok(()) }
}

fn check_items(max_items: u32, max_weight: u64, max: u64) -> Result<(), ParamError> {
    check("the items of a user", u64::from(max_items), u64::from(ContributionBound::MAX_ITEMS))?;
    check("the weight of an item", max_weight, max)?;
    check("the total weight of a user", u64::from(max_items).saturating_mul(max_weight), max)
}

#[cfg(test)]
mod tests;
