//! Items as keys of a fixed number of bits.

use core::fmt;

use sketch_hash::Item;

use crate::error::{Error, ErrorKind};

/// How items become the keys of a prefix stack, which are numbers of at most 64 bits.
///
/// # Examples
/// ```
/// use dpsketch::PrefixKeys;
/// use dpsketch::sketch_hash::Item;
///
/// let names = PrefixKeys::text(6)?;
/// assert_eq!(names.key(&Item::from("lucy")), Some(0x6c75_6379_0000));
/// assert_eq!(names.key(&Item::from("charlotte")), names.key(&Item::from("charlo")), "only the beginning counts");
/// assert_eq!(names.name(0x6c75_6379_0000), "lucy");
/// let ports = PrefixKeys::integers(16)?;
/// assert_eq!((ports.key(&Item::from("443")), ports.key(&Item::from("65536"))), (Some(443), None));
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixKeys(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integers { bits: u8 },
    Text { bytes: u8 },
}

impl PrefixKeys {
    /// Whole numbers from 0 to 2^bits − 1, also as text.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] unless `bits` lies in 1 ..= 64.
    pub fn integers(bits: u8) -> Result<Self, Error> {
        check("bits", bits, 64)?;
        Ok(Self(Kind::Integers { bits }))
    }

    /// The first bytes of texts and byte strings, so many of them; shorter ones are filled up with zeros. Texts that begin alike
    /// are one key.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] unless `bytes` lies in 1 ..= 8.
    pub fn text(bytes: u8) -> Result<Self, Error> {
        check("bytes", bytes, 8)?;
        Ok(Self(Kind::Text { bytes }))
    }

    /// The bits of a key.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self.0 {
            Kind::Integers { bits } => bits,
            Kind::Text { bytes } => 8 * bytes,
        }
    }

    /// The key of an item; `None` for one that has none: a number out of range, or a value of another type.
    #[must_use]
    pub fn key(self, item: &Item<'_>) -> Option<u64> {
        match (self.0, *item) {
            (Kind::Integers { .. }, Item::Integer(value)) => u64::try_from(value).ok().filter(|key| self.holds(*key)),
            (Kind::Integers { .. }, Item::Text(text)) => {
                let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                digits.then(|| text.parse().ok())?.filter(|key| self.holds(*key))
            }
            (Kind::Text { bytes }, Item::Text(text)) => Some(first_bytes(text.as_bytes(), bytes)),
            (Kind::Text { bytes }, Item::Binary(text)) => Some(first_bytes(text, bytes)),
            _ => None,
        }
    }

    fn holds(self, key: u64) -> bool {
        key.checked_shr(u32::from(self.bits())).is_none_or(|rest| rest == 0)
    }

    /// A key as people read it. Bytes that are no text are replaced.
    #[must_use]
    pub fn name(self, key: u64) -> String {
        match self.0 {
            Kind::Integers { .. } => key.to_string(),
            Kind::Text { bytes } => {
                let all = key.to_be_bytes();
                let text = &all[all.len() - usize::from(bytes)..];
                let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                String::from_utf8_lossy(&text[..end]).into_owned()
            }
        }
    }
}

impl fmt::Display for PrefixKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Integers { bits } => write!(f, "integers of {bits} bits"),
            Kind::Text { bytes } => write!(f, "the first {bytes} bytes of texts"),
        }
    }
}

/// The first byte becomes the highest, so that prefixes of keys are prefixes of texts.
fn first_bytes(text: &[u8], bytes: u8) -> u64 {
    let padded = text.iter().copied().chain(core::iter::repeat(0)).take(usize::from(bytes));
    padded.fold(0, |key, byte| key << 8 | u64::from(byte))
}

fn check(what: &str, found: u8, max: u8) -> Result<(), Error> {
    if (1..=max).contains(&found) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Parameter, format!("keys have 1 to {max} {what}, found {found}"))
        .argument("--key-bits")
        .value(found.to_string())
        .allowed(format!("1 to {max} {what}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_of_texts_and_come_back() {
        let keys = PrefixKeys::text(8).unwrap();
        let texts = ["", "a", "ab", "abc", "b", "bella", "straße", "zzzzzzzz"];
        let found: Vec<u64> = texts.iter().map(|text| keys.key(&Item::from(*text)).unwrap()).collect();
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        for (text, key) in texts.iter().zip(found) {
            assert_eq!(keys.name(key), *text);
        }
    }

    #[test]
    fn what_has_no_key_is_none() {
        let keys = PrefixKeys::integers(64).unwrap();
        assert_eq!(keys.key(&Item::Integer(i128::from(u64::MAX))), Some(u64::MAX));
        for item in [Item::Integer(-1), Item::Integer(1 << 64), Item::from("-1"), Item::from(""), Item::from("1.0")] {
            assert_eq!(keys.key(&item), None, "{item:?}");
        }
        assert_eq!(PrefixKeys::text(3).unwrap().key(&Item::Integer(5)), None);
        for bad in [PrefixKeys::integers(0), PrefixKeys::integers(65), PrefixKeys::text(0), PrefixKeys::text(9)] {
            assert_eq!(bad.unwrap_err().kind(), ErrorKind::Parameter);
        }
    }
}
