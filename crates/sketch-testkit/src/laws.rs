//! Algebraic laws as assertions. A failing one panics with both sides.

use core::fmt::Debug;

/// `a ∘ b = b ∘ a`.
///
/// # Panics
/// When the two sides differ.
///
/// # Examples
/// ```
/// sketch_testkit::assert_commutes(&0b0011_u64, &0b0101, |a, b| a | b);
/// ```
#[track_caller]
pub fn assert_commutes<T: PartialEq + Debug>(a: &T, b: &T, join: impl Fn(&T, &T) -> T) {
    assert_eq!(join(a, b), join(b, a), "does not commute: {a:?} and {b:?}");
}

/// `(a ∘ b) ∘ c = a ∘ (b ∘ c)`.
///
/// # Panics
/// When the two sides differ.
///
/// # Examples
/// ```
/// sketch_testkit::assert_associates(&1_u64, &2, &7, |a, b| a ^ b);
/// ```
#[track_caller]
pub fn assert_associates<T: PartialEq + Debug>(a: &T, b: &T, c: &T, join: impl Fn(&T, &T) -> T) {
    assert_eq!(join(&join(a, b), c), join(a, &join(b, c)), "does not associate: {a:?}, {b:?} and {c:?}");
}

/// `a ∘ a = a`.
///
/// # Panics
/// When the two sides differ.
///
/// # Examples
/// ```should_panic
/// sketch_testkit::assert_idempotent(&1_u64, |a, b| a + b);
/// ```
#[track_caller]
pub fn assert_idempotent<T: PartialEq + Debug>(a: &T, join: impl Fn(&T, &T) -> T) {
    assert_eq!(&join(a, a), a, "joined with itself it changes: {a:?}");
}

/// `a ∘ e = e ∘ a = a`.
///
/// # Panics
/// When `neutral` changes `a` on either side.
///
/// # Examples
/// ```
/// sketch_testkit::assert_neutral(&0_u64, &7, |a, b| a | b);
/// ```
#[track_caller]
pub fn assert_neutral<T: PartialEq + Debug>(neutral: &T, a: &T, join: impl Fn(&T, &T) -> T) {
    assert_eq!(&join(a, neutral), a, "not neutral on the right of {a:?}: {neutral:?}");
    assert_eq!(&join(neutral, a), a, "not neutral on the left of {a:?}: {neutral:?}");
}

/// `decode(encode(a)) = a`, and encoding that again gives the same bytes.
///
/// # Panics
/// When decoding fails, or gives another value, or other bytes.
///
/// # Examples
/// ```
/// sketch_testkit::assert_round_trips(&258_u32, |n| n.to_le_bytes().to_vec(), |bytes| {
///     bytes.try_into().map(u32::from_le_bytes)
/// });
/// ```
#[track_caller]
pub fn assert_round_trips<T: PartialEq + Debug, E: Debug>(
    value: &T,
    encode: impl Fn(&T) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<T, E>,
) {
    let bytes = encode(value);
    match decode(&bytes) {
        Ok(back) => {
            assert_eq!(&back, value, "another value came back");
            assert_eq!(encode(&back), bytes, "the value that came back has other bytes");
        }
        Err(error) => panic!("its own bytes are refused: {error:?}"),
    }
}
