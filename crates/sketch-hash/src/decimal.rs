//! Decimals reduced to one form for each value.

/// A decimal number in its only form: an integer that fits, or a number without trailing zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduced {
    /// The value is this integer.
    Integer(i128),
    /// The value is `unscaled · 10^−scale`, `unscaled` no multiple of ten. A fraction (`scale > 0`), or an integer
    /// beyond 128 bits (`scale < 0`).
    Scaled { unscaled: i128, scale: i16 },
}

/// Reduces `unscaled · 10^−scale`. At most 38 divisions or 128 multiplications.
pub(crate) fn reduce(mut unscaled: i128, scale: i8) -> Reduced {
    let mut scale = i16::from(scale);
    if unscaled == 0 {
        return Reduced::Integer(0);
    }
    while unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    if scale > 0 {
        return Reduced::Scaled { unscaled, scale };
    }
    let mut integer = unscaled;
    for _ in scale..0 {
        match integer.checked_mul(10) {
            Some(product) => integer = product,
            None => return Reduced::Scaled { unscaled, scale },
        }
    }
    Reduced::Integer(integer)
}
