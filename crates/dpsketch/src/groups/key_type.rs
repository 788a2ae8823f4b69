//! The types that a group column may have.

use arrow_schema::DataType;
use sketch_hash::Item;

use super::error::GroupError;

/// The types of group columns, in words.
pub(super) const KEY_TYPES: &str = "text, integers, booleans and dates";

/// Sixty-four bits that keep the order, if the type holds the number.
pub(super) fn code_of_integer(value: i128, data_type: &DataType) -> Option<i64> {
    let range = match data_type {
        DataType::Int8 => i128::from(i8::MIN)..=i128::from(i8::MAX),
        DataType::Int16 => i128::from(i16::MIN)..=i128::from(i16::MAX),
        DataType::Int32 => i128::from(i32::MIN)..=i128::from(i32::MAX),
        DataType::UInt8 => 0..=i128::from(u8::MAX),
        DataType::UInt16 => 0..=i128::from(u16::MAX),
        DataType::UInt32 => 0..=i128::from(u32::MAX),
        DataType::UInt64 => 0..=i128::from(u64::MAX),
        _ => i128::from(i64::MIN)..=i128::from(i64::MAX),
    };
    let shift = if *data_type == DataType::UInt64 { i128::from(i64::MIN) } else { 0 };
    range.contains(&value).then(|| i64::try_from(value + shift).ok()).flatten()
}

/// The type a column of these values is written with; `None` for types that name no groups.
pub(super) fn plain(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Boolean | DataType::Date32 => data_type.clone(),
        DataType::Dictionary(_, values) => return plain(values),
        integer if integer.is_integer() => integer.clone(),
        _ => return None,
    })
}

/// The type of a value that comes without a column.
pub(super) fn natural_type(item: Item<'_>) -> Result<DataType, GroupError> {
    match item {
        Item::Text(_) => Ok(DataType::Utf8),
        Item::Integer(_) => Ok(DataType::Int64),
        Item::Boolean(_) => Ok(DataType::Boolean),
        Item::Date(_) => Ok(DataType::Date32),
        _ => Err(GroupError::KeyType { found: "a number with a fraction, or bytes".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_keep_the_order_and_the_range_of_their_type() {
        for (data_type, least, most) in [
            (DataType::Int8, i128::from(i8::MIN), i128::from(i8::MAX)),
            (DataType::UInt16, 0, i128::from(u16::MAX)),
            (DataType::Int64, i128::from(i64::MIN), i128::from(i64::MAX)),
            (DataType::UInt64, 0, i128::from(u64::MAX)),
        ] {
            let code = |value| code_of_integer(value, &data_type);
            assert!(code(least) < code(least + 1) && code(most - 1) < code(most), "{data_type}");
            assert_eq!((code(least - 1), code(most + 1)), (None, None), "{data_type}");
        }
    }

    #[test]
    fn every_layout_of_text_is_text_and_fractions_name_no_groups() {
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::LargeUtf8));
        for text in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View, dictionary] {
            assert_eq!(plain(&text), Some(DataType::Utf8));
        }
        for other in [DataType::Float64, DataType::Binary, DataType::Decimal128(9, 2)] {
            assert_eq!(plain(&other), None);
        }
        assert!(natural_type(Item::Float(1.5)).is_err());
    }
}
