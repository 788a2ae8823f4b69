use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    PrimitiveArray, StringArray, StringViewArray,
};
use arrow_schema::{DataType, TimeUnit as ArrowUnit};
use sketch_hash::{Item, TimeUnit};

use crate::error::{Error, ErrorKind};

/// The column types that [`is_hashable`] accepts, in words.
pub const HASHABLE_TYPES: &str =
    "integers, floats, decimals, text, binary, booleans, dates, timestamps, and dictionaries of these";

/// Whether a column of this type has items: every type that the table of `sketch-hash` knows.
///
/// Lists, structs, maps, times of day, durations and intervals have none.
///
/// # Examples
/// ```
/// use arrow_schema::{DataType, TimeUnit};
///
/// assert!(dpsketch::is_hashable(&DataType::Utf8View));
/// assert!(!dpsketch::is_hashable(&DataType::Time32(TimeUnit::Second)));
/// ```
#[must_use]
pub fn is_hashable(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Dictionary(_, values) => is_hashable(values),
        T::Null
        | T::Boolean
        | T::Date32
        | T::Date64
        | T::Timestamp(..)
        | T::Utf8
        | T::LargeUtf8
        | T::Utf8View
        | T::Binary
        | T::LargeBinary
        | T::BinaryView
        | T::FixedSizeBinary(_)
        | T::Decimal32(..)
        | T::Decimal64(..)
        | T::Decimal128(..)
        | T::Decimal256(..) => true,
        other => other.is_integer() || other.is_floating(),
    }
}

/// An array whose type has been looked at once, so that its values are items without another look.
#[derive(Debug)]
pub(crate) struct Column<'a> {
    array: &'a dyn Array,
    values: Values<'a>,
}

#[derive(Debug)]
pub(crate) enum Values<'a> {
    AllNull,
    Boolean(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    UInt8(&'a PrimitiveArray<UInt8Type>),
    UInt16(&'a PrimitiveArray<UInt16Type>),
    UInt32(&'a PrimitiveArray<UInt32Type>),
    UInt64(&'a PrimitiveArray<UInt64Type>),
    Float16(&'a PrimitiveArray<Float16Type>),
    Float32(&'a PrimitiveArray<Float32Type>),
    Float64(&'a PrimitiveArray<Float64Type>),
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    FixedSizeBinary(&'a FixedSizeBinaryArray),
    Date32(&'a PrimitiveArray<Date32Type>),
    Date64(&'a PrimitiveArray<Date64Type>),
    Timestamp { counts: &'a [i64], unit: TimeUnit, zoned: bool },
    Decimal32(&'a PrimitiveArray<Decimal32Type>, i8),
    Decimal64(&'a PrimitiveArray<Decimal64Type>, i8),
    Decimal128(&'a PrimitiveArray<Decimal128Type>, i8),
    Decimal256(&'a PrimitiveArray<Decimal256Type>, i8),
    Dictionary(Dictionary<'a>),
}

/// A dictionary array: positions into the column of its distinct values.
#[derive(Debug)]
pub(crate) struct Dictionary<'a> {
    pub(crate) keys: Vec<usize>,
    pub(crate) values: Box<Column<'a>>,
}

impl<'a> Column<'a> {
    /// Looks at the type of `array`.
    ///
    /// # Errors
    /// [`ErrorKind::Column`] when the type has no items, or a decimal of more than 128 bits is among the values.
    pub(crate) fn new(array: &'a dyn Array) -> Result<Self, Error> {
        Ok(Self { array, values: Values::new(array)? })
    }

    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    pub(crate) fn values(&self) -> &Values<'a> {
        &self.values
    }

    /// Whether `row` has no value. A row of a dictionary may also point to a value that is null.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        matches!(self.values, Values::AllNull) || self.array.is_null(row)
    }

    /// Whether no row of this column is null.
    pub(crate) fn has_no_nulls(&self) -> bool {
        self.array.null_count() == 0 && !matches!(self.values, Values::AllNull | Values::Dictionary(_))
    }

    /// The value in `row`, or `None` where it is null.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub(crate) fn item(&self, row: usize) -> Option<Item<'a>> {
        if self.array.is_null(row) {
            return None;
        }
        Some(match &self.values {
            Values::AllNull => return None,
            Values::Dictionary(dictionary) => return dictionary.values.item(dictionary.keys[row]),
            Values::Boolean(array) => Item::Boolean(array.value(row)),
            Values::Int8(array) => Item::from(array.value(row)),
            Values::Int16(array) => Item::from(array.value(row)),
            Values::Int32(array) => Item::from(array.value(row)),
            Values::Int64(array) => Item::from(array.value(row)),
            Values::UInt8(array) => Item::from(array.value(row)),
            Values::UInt16(array) => Item::from(array.value(row)),
            Values::UInt32(array) => Item::from(array.value(row)),
            Values::UInt64(array) => Item::from(array.value(row)),
            Values::Float16(array) => Item::Float32(array.value(row).to_f32()),
            Values::Float32(array) => Item::Float32(array.value(row)),
            Values::Float64(array) => Item::Float(array.value(row)),
            Values::Utf8(array) => Item::Text(array.value(row)),
            Values::LargeUtf8(array) => Item::Text(array.value(row)),
            Values::Utf8View(array) => Item::Text(array.value(row)),
            Values::Binary(array) => Item::Binary(array.value(row)),
            Values::LargeBinary(array) => Item::Binary(array.value(row)),
            Values::BinaryView(array) => Item::Binary(array.value(row)),
            Values::FixedSizeBinary(array) => Item::Binary(array.value(row)),
            Values::Date32(array) => Item::Date(i64::from(array.value(row))),
            Values::Date64(array) => Item::date_from_millis(array.value(row)),
            Values::Timestamp { counts, unit, zoned } => Item::timestamp(counts[row], *unit, *zoned),
            Values::Decimal32(array, scale) => decimal(array.value(row), *scale),
            Values::Decimal64(array, scale) => decimal(array.value(row), *scale),
            Values::Decimal128(array, scale) => decimal(array.value(row), *scale),
            // Checked when the column was made.
            Values::Decimal256(array, scale) => decimal(array.value(row).as_i128(), *scale),
        })
    }
}

fn decimal<'a>(unscaled: impl Into<i128>, scale: i8) -> Item<'a> {
    Item::Decimal { unscaled: unscaled.into(), scale }
}

impl<'a> Values<'a> {
    fn new(array: &'a dyn Array) -> Result<Self, Error> {
        use DataType as T;
        Ok(match array.data_type() {
            T::Null => Self::AllNull,
            T::Boolean => Self::Boolean(array.as_boolean()),
            T::Int8 => Self::Int8(array.as_primitive()),
            T::Int16 => Self::Int16(array.as_primitive()),
            T::Int32 => Self::Int32(array.as_primitive()),
            T::Int64 => Self::Int64(array.as_primitive()),
            T::UInt8 => Self::UInt8(array.as_primitive()),
            T::UInt16 => Self::UInt16(array.as_primitive()),
            T::UInt32 => Self::UInt32(array.as_primitive()),
            T::UInt64 => Self::UInt64(array.as_primitive()),
            T::Float16 => Self::Float16(array.as_primitive()),
            T::Float32 => Self::Float32(array.as_primitive()),
            T::Float64 => Self::Float64(array.as_primitive()),
            T::Date32 => Self::Date32(array.as_primitive()),
            T::Date64 => Self::Date64(array.as_primitive()),
            T::Timestamp(unit, zone) => Self::timestamp(array, *unit, zone.is_some()),
            T::Decimal32(_, scale) => Self::Decimal32(array.as_primitive(), *scale),
            T::Decimal64(_, scale) => Self::Decimal64(array.as_primitive(), *scale),
            T::Decimal128(_, scale) => Self::Decimal128(array.as_primitive(), *scale),
            T::Decimal256(_, scale) => Self::Decimal256(checked_decimal256(array)?, *scale),
            T::Dictionary(_, values) if is_hashable(values) => Self::Dictionary(Dictionary::new(array)?),
            _ => return Self::bytes(array),
        })
    }

    /// Text and binary of every layout.
    fn bytes(array: &'a dyn Array) -> Result<Self, Error> {
        use DataType as T;
        Ok(match array.data_type() {
            T::Utf8 => Self::Utf8(array.as_string()),
            T::LargeUtf8 => Self::LargeUtf8(array.as_string()),
            T::Utf8View => Self::Utf8View(array.as_string_view()),
            T::Binary => Self::Binary(array.as_binary()),
            T::LargeBinary => Self::LargeBinary(array.as_binary()),
            T::BinaryView => Self::BinaryView(array.as_binary_view()),
            T::FixedSizeBinary(_) => Self::FixedSizeBinary(array.as_fixed_size_binary()),
            other => {
                return Err(Error::new(ErrorKind::Column, format!("a column of type {other} cannot be counted"))
                    .value(other.to_string())
                    .allowed(HASHABLE_TYPES));
            }
        })
    }

    fn timestamp(array: &'a dyn Array, unit: ArrowUnit, zoned: bool) -> Self {
        let (counts, unit): (&[i64], _) = match unit {
            ArrowUnit::Second => (array.as_primitive::<TimestampSecondType>().values(), TimeUnit::Second),
            ArrowUnit::Millisecond => {
                (array.as_primitive::<TimestampMillisecondType>().values(), TimeUnit::Millisecond)
            }
            ArrowUnit::Microsecond => {
                (array.as_primitive::<TimestampMicrosecondType>().values(), TimeUnit::Microsecond)
            }
            ArrowUnit::Nanosecond => (array.as_primitive::<TimestampNanosecondType>().values(), TimeUnit::Nanosecond),
        };
        Self::Timestamp { counts, unit, zoned }
    }
}

impl<'a> Dictionary<'a> {
    fn new(array: &'a dyn Array) -> Result<Self, Error> {
        let array = array.as_any_dictionary();
        // `normalized_keys` needs at least one value to point at; without one every row is null.
        let keys = if array.values().is_empty() { vec![0; array.len()] } else { array.normalized_keys() };
        Ok(Self { keys, values: Box::new(Column::new(array.values().as_ref())?) })
    }
}

/// The array, if all its values fit in 128 bits.
fn checked_decimal256(array: &dyn Array) -> Result<&PrimitiveArray<Decimal256Type>, Error> {
    let decimals = array.as_primitive::<Decimal256Type>();
    if decimals.iter().flatten().all(|value| value.to_i128().is_some()) {
        return Ok(decimals);
    }
    Err(Error::new(ErrorKind::Column, "a decimal has too many digits to be counted")
        .value(array.data_type().to_string())
        .allowed(format!(
            "decimals whose digits fit in 128 bits, which {} digits always do",
            Decimal128Type::MAX_PRECISION
        ))
        .hint("cast the column to Decimal128 or to text"))
}
