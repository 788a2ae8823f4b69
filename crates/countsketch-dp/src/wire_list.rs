//! Lists of bodies, read without trust in the length that they state.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

/// Elements that room is made for before the first one was read. Lists grow with what is really there.
pub(crate) const UNSEEN: usize = 32;

/// A list that takes at most a small multiple of its bytes, whatever length it states.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(ListVisitor(PhantomData))
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::with_capacity(elements.size_hint().unwrap_or(0).min(UNSEEN));
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(list)
    }
}
