//! Kinds `hash` and `placement`: from values to cells.

use sfm_pcsa::diagnostics::{self, murmur3_x64_128};
use sketch_hash::{Item, PrestoHash};

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};

pub(super) fn hash(input: Input<'_>) -> Result<Got, CaseError> {
    let shape = Shape::read(input)?;
    let rows: Vec<Got> =
        input.list("values")?.iter().map(|value| row(&shape, Input::new(value))).collect::<Result<_, _>>()?;
    Ok(Got::fields([("rows", Got::List(rows))]))
}

fn row(shape: &Shape, input: Input<'_>) -> Result<Got, CaseError> {
    let value = TypedValue::read(input)?;
    let (xxh64, murmur3) = (value.item().hash64(&PrestoHash), murmur3_x64_128(&value.bytes(), 0));
    Ok(Got::fields([
        ("type", Got::text(input.text("type")?)),
        ("value", value.as_given()),
        ("xxh64", hex(xxh64)),
        ("xxh64_bucket_level", shape.place(xxh64)),
        ("murmur3_64", hex(murmur3)),
        ("murmur3_bucket_level", shape.place(murmur3)),
    ]))
}

pub(super) fn placement(input: Input<'_>) -> Result<Got, CaseError> {
    let shape = Shape::read(input)?;
    let places = input.list("hashes")?.iter().map(|hash| {
        let digits = hash.as_str().and_then(|text| u64::from_str_radix(text, 16).ok());
        digits.map(|hash| shape.place(hash)).ok_or_else(|| missing("hashes", "a list of hexadecimal words"))
    });
    Ok(Got::fields([("bucket_level", Got::List(places.collect::<Result<_, _>>()?))]))
}

fn hex(word: u64) -> Got {
    Got::Text(format!("{word:016x}"))
}

/// How a hash is cut into bucket and level.
struct Shape {
    index_bits: u8,
    levels: u8,
}

impl Shape {
    fn read(input: Input<'_>) -> Result<Self, CaseError> {
        let index_bits = input.integer("index_bits")?;
        if index_bits > 32 {
            return Err(missing("index_bits", "at most 32"));
        }
        Ok(Self { index_bits, levels: input.integer("P")? })
    }

    fn place(&self, hash: u64) -> Got {
        let (bucket, level) = diagnostics::placement(hash, self.index_bits, self.levels);
        Got::integers([u64::from(bucket), u64::from(level)])
    }
}

/// A value of one of the schema's types.
enum TypedValue<'a> {
    Integer { value: i64, given: &'a str },
    Double(f64),
    Text(&'a str),
}

impl<'a> TypedValue<'a> {
    fn read(input: Input<'a>) -> Result<Self, CaseError> {
        match input.text("type")? {
            "bigint" => {
                let given = input.text("value")?;
                let value = given.parse().map_err(|_| missing("value", "a decimal 64-bit integer"))?;
                Ok(Self::Integer { value, given })
            }
            "double" => Ok(Self::Double(input.number("value")?)),
            "varchar" => Ok(Self::Text(input.text("value")?)),
            _ => Err(missing("type", "bigint, double or varchar")),
        }
    }

    fn item(&self) -> Item<'_> {
        match self {
            Self::Integer { value, .. } => Item::from(*value),
            Self::Double(value) => Item::Float(*value),
            Self::Text(text) => Item::Text(text),
        }
    }

    /// The bytes that Java's class-level methods hash.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Integer { value, .. } => value.to_le_bytes().to_vec(),
            Self::Double(value) => value.to_bits().to_le_bytes().to_vec(),
            Self::Text(text) => text.as_bytes().to_vec(),
        }
    }

    fn as_given(&self) -> Got {
        match self {
            Self::Integer { given, .. } => Got::text(*given),
            Self::Double(value) => Got::Number(*value),
            Self::Text(text) => Got::text(*text),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_value_of_an_unknown_type_is_refused() {
        let json: Value = json!({ "type": "decimal", "value": "1" });
        assert!(TypedValue::read(Input::new(&json)).is_err());
    }

    #[test]
    fn an_integer_beyond_64_bits_is_refused() {
        let json: Value = json!({ "type": "bigint", "value": "9223372036854775808" });
        assert!(TypedValue::read(Input::new(&json)).is_err());
    }
}
