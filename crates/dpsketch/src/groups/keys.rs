//! The values of a group column: numbered as they come, written out as a column of their own type.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, StringArray};
use arrow_schema::DataType;
use hashbrown::HashTable;
use sketch_hash::Item;

use super::date::date;
use super::error::GroupError;
use super::key_type::{code_of_integer, natural_type, plain};

/// The distinct values of a group column.
///
/// Text lies in one buffer and everything else in one list, so that a group costs little more than its value.
#[derive(Debug)]
pub(super) struct GroupKeys {
    data_type: Option<DataType>,
    values: Values,
    numbers: HashTable<u32>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct Values {
    text: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
    codes: Vec<i64>,
}

/// One value, to be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key<'a> {
    Text(&'a [u8]),
    /// The number, the truth value or the day. Unsigned numbers are shifted so that their order stays.
    Code(i64),
}

impl GroupKeys {
    pub(super) fn new() -> Self {
        Self { data_type: None, values: Values::default(), numbers: HashTable::new(), hasher: RandomState::new() }
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The type of the column; text where nothing has been said or seen.
    pub(super) fn data_type(&self) -> DataType {
        self.data_type.clone().unwrap_or(DataType::Utf8)
    }

    /// Settles the type, or checks it against the one that was settled before. Text of every layout is text.
    pub(super) fn expect(&mut self, data_type: &DataType) -> Result<(), GroupError> {
        let plain = plain(data_type).ok_or_else(|| GroupError::KeyType { found: data_type.to_string() })?;
        match &self.data_type {
            Some(expected) if *expected != plain => {
                Err(GroupError::TwoTypes { expected: expected.to_string(), found: plain.to_string() })
            }
            Some(_) => Ok(()),
            None => {
                self.data_type = Some(plain);
                Ok(())
            }
        }
    }

    /// Settles the type from a value.
    pub(super) fn expect_of(&mut self, item: Item<'_>) -> Result<(), GroupError> {
        if self.data_type.is_none() {
            self.expect(&natural_type(item)?)?;
        }
        Ok(())
    }

    /// The number of a value, if it has one.
    pub(super) fn find(&self, item: Item<'_>) -> Result<Option<u32>, GroupError> {
        let key = self.key(item)?;
        Ok(self.numbers.find(self.hasher.hash_one(key), |number| self.values.get(*number) == key).copied())
    }

    /// The number of a value, a new one if it has none yet; whether it is new.
    pub(super) fn number(&mut self, item: Item<'_>) -> Result<(u32, bool), GroupError> {
        let key = self.key(item)?;
        let hash = self.hasher.hash_one(key);
        let next = u32::try_from(self.values.len()).map_err(|_| GroupError::TooMany)?;
        let values = &self.values;
        if let Some(number) = self.numbers.find(hash, |number| values.get(*number) == key) {
            return Ok((*number, false));
        }
        let (values, hasher) = (&self.values, &self.hasher);
        self.numbers.insert_unique(hash, next, |number| hasher.hash_one(values.get(*number)));
        self.values.push(key);
        Ok((next, true))
    }

    /// The number of a line of text read as a value of the column's type.
    pub(super) fn number_of_text(&mut self, text: &str) -> Result<(u32, bool), GroupError> {
        let data_type = self.data_type();
        let unreadable = || GroupError::Listed { expected: data_type.to_string() };
        match &data_type {
            DataType::Utf8 => self.number(Item::Text(text)),
            DataType::Boolean => self.number(Item::Boolean(text.parse().map_err(|_| unreadable())?)),
            DataType::Date32 => self.number(Item::Date(date(text).ok_or_else(unreadable)?)),
            _ => {
                let number = text.parse().map_err(|_| unreadable())?;
                self.number(Item::Integer(number)).map_err(|_| unreadable())
            }
        }
    }

    /// Takes over the values of another set of keys: the number that each of them has here.
    pub(super) fn absorb(&mut self, other: &Self) -> Result<Vec<u32>, GroupError> {
        if let Some(data_type) = &other.data_type {
            self.expect(data_type)?;
        }
        let numbers = 0..u32::try_from(other.len()).unwrap_or(u32::MAX);
        numbers.map(|number| self.number(other.item(number)).map(|(number, _)| number)).collect()
    }

    /// All numbers in the order of their values.
    pub(super) fn sorted(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..u32::try_from(self.len()).unwrap_or(u32::MAX)).collect();
        numbers.sort_unstable_by_key(|number| self.values.get(*number));
        numbers
    }

    /// The values with these numbers as a column.
    pub(super) fn column(&self, numbers: &[u32]) -> ArrayRef {
        let codes = || numbers.iter().map(|number| self.code(*number));
        match self.data_type() {
            DataType::Boolean => Arc::new(codes().map(|code| Some(code != 0)).collect::<BooleanArray>()),
            DataType::Int8 => primitive::<Int8Type>(codes()),
            DataType::Int16 => primitive::<Int16Type>(codes()),
            DataType::Int32 => primitive::<Int32Type>(codes()),
            DataType::Int64 => primitive::<Int64Type>(codes()),
            DataType::UInt8 => primitive::<UInt8Type>(codes()),
            DataType::UInt16 => primitive::<UInt16Type>(codes()),
            DataType::UInt32 => primitive::<UInt32Type>(codes()),
            DataType::UInt64 => primitive::<UInt64Type>(codes()),
            DataType::Date32 => primitive::<Date32Type>(codes()),
            _ => Arc::new(numbers.iter().map(|number| self.text(*number)).collect::<StringArray>()),
        }
    }

    fn key<'a>(&self, item: Item<'a>) -> Result<Key<'a>, GroupError> {
        let data_type = self.data_type();
        let wrong = || GroupError::TwoTypes {
            expected: data_type.to_string(),
            found: natural_type(item).map_or_else(|_| "another type".to_owned(), |found| found.to_string()),
        };
        match (item, &data_type) {
            (Item::Text(text), DataType::Utf8) => Ok(Key::Text(text.as_bytes())),
            (Item::Boolean(value), DataType::Boolean) => Ok(Key::Code(i64::from(value))),
            (Item::Date(days), DataType::Date32) => {
                i32::try_from(days).map(|days| Key::Code(i64::from(days))).map_err(|_| wrong())
            }
            (Item::Integer(value), integer) if integer.is_integer() => {
                code_of_integer(value, integer).map(Key::Code).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }

    /// The value with this number.
    pub(super) fn item(&self, number: u32) -> Item<'_> {
        match self.data_type() {
            DataType::Utf8 => Item::Text(self.text(number).unwrap_or_default()),
            DataType::Boolean => Item::Boolean(self.code(number) != 0),
            DataType::Date32 => Item::Date(i64::try_from(self.code(number)).unwrap_or_default()),
            _ => Item::Integer(self.code(number)),
        }
    }

    fn text(&self, number: u32) -> Option<&str> {
        match self.values.get(number) {
            Key::Text(bytes) => std::str::from_utf8(bytes).ok(),
            Key::Code(_) => None,
        }
    }

    /// The number, truth value or day itself.
    fn code(&self, number: u32) -> i128 {
        let Key::Code(code) = self.values.get(number) else { return 0 };
        let shift = if self.data_type() == DataType::UInt64 { i128::from(i64::MIN) } else { 0 };
        i128::from(code) - shift
    }
}

impl Values {
    fn len(&self) -> usize {
        self.ends.len().max(self.codes.len())
    }

    fn get(&self, number: u32) -> Key<'_> {
        let index = number as usize;
        if self.ends.is_empty() {
            return Key::Code(self.codes[index]);
        }
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Key::Text(&self.text[start..self.ends[index]])
    }

    fn push(&mut self, key: Key<'_>) {
        match key {
            Key::Text(text) => {
                self.text.extend_from_slice(text);
                self.ends.push(self.text.len());
            }
            Key::Code(code) => self.codes.push(code),
        }
    }
}

fn primitive<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(codes: impl Iterator<Item = i128>) -> ArrayRef {
    // Checked when the value came.
    let values = codes.map(|code| T::Native::try_from(code).unwrap_or_default());
    Arc::new(PrimitiveArray::<T>::from_iter_values(values))
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;

    use super::*;

    #[test]
    fn values_keep_their_number_order_and_type() {
        let mut keys = GroupKeys::new();
        keys.expect(&DataType::UInt64).unwrap();
        for value in [7, u64::MAX, 0, 7] {
            keys.number(Item::from(value)).unwrap();
        }
        assert_eq!(keys.len(), 3);
        let column = keys.column(&keys.sorted());
        assert_eq!(column.as_ref(), &arrow_array::UInt64Array::from(vec![0, 7, u64::MAX]) as &dyn Array);
        assert_eq!(keys.find(Item::Integer(7)).unwrap(), Some(0));
        assert!(keys.number(Item::Integer(-1)).is_err());
        assert!(keys.number(Item::Text("7")).is_err());
    }

    #[test]
    fn text_of_every_layout_is_text_and_sorts_by_its_bytes() {
        let mut keys = GroupKeys::new();
        for text in ["b", "", "é", "a", "b"] {
            keys.expect_of(Item::Text(text)).unwrap();
            keys.number(Item::Text(text)).unwrap();
        }
        keys.expect(&DataType::LargeUtf8).unwrap();
        assert!(keys.expect(&DataType::Int32).is_err());
        let column = keys.column(&keys.sorted());
        assert_eq!(column.as_ref(), &StringArray::from(vec!["", "a", "b", "é"]) as &dyn Array);
    }

    #[test]
    fn absorbed_values_get_numbers_here() {
        let (mut keys, mut other) = (GroupKeys::new(), GroupKeys::new());
        for (keys, texts) in [(&mut keys, ["a", "b"]), (&mut other, ["c", "b"])] {
            for text in texts {
                keys.number(Item::Text(text)).unwrap();
            }
        }
        assert_eq!(keys.absorb(&other).unwrap(), [2, 1]);
        assert_eq!(keys.len(), 3);
    }

    #[test]
    fn lines_are_read_by_type() {
        for (data_type, text, bad) in [
            (DataType::Int16, "-7", "40000"),
            (DataType::Boolean, "true", "1"),
            (DataType::Date32, "2024-02-29", "2023-02-29"),
            (DataType::UInt8, "255", "256"),
        ] {
            let mut keys = GroupKeys::new();
            keys.expect(&data_type).unwrap();
            assert_eq!(keys.number_of_text(text), Ok((0, true)));
            assert!(matches!(keys.number_of_text(bad), Err(GroupError::Listed { .. })), "{bad}");
        }
    }
}
