//! Arrow columns as items and weights.

use arrow_array::ArrayRef;
use sketch_hash::{Item, hash64_integers, hash64_unsigned};

use super::builder::FrequencyBuilder;
use super::users::UserFrequencyBuilder;
use crate::builder::clean;
use crate::column::{Column, Dictionary, Values};
use crate::error::{Error, ErrorKind};
use crate::ingest_arrow::columns;

/// Rows hashed in one go.
const BATCH: usize = 256;

impl FrequencyBuilder {
    /// Counts the rows of Arrow columns, which together make the items, each with the weight in a column of its own, or 1.
    ///
    /// Weights are integers, decimals, floating-point numbers or text.
    ///
    /// # Errors
    /// [`ErrorKind::Column`] for a column of a type that cannot be counted or weighed, and for columns of different length;
    /// nothing is counted then. Otherwise as [`push_weighted_row`](Self::push_weighted_row).
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Float64Array, StringArray};
    /// use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
    /// use dpsketch::sketch_hash::AnyHash;
    /// use dpsketch::{CountSketchTerms, FrequencyBuilder, TextRules};
    ///
    /// let items: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]));
    /// let weights: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.25, 1.0]));
    /// let terms = CountSketchTerms::records(CountSketchShape::new(3, 64)?, Granularity::new(2)?, 8)?;
    /// let mut builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?;
    /// builder.push_arrays(&[items], Some(&weights))?;
    /// assert_eq!((builder.counts().rows, builder.counts().nulls), (3, 1));
    /// # Ok::<(), dpsketch::Error>(())
    /// ```
    pub fn push_arrays(&mut self, items: &[ArrayRef], weights: Option<&ArrayRef>) -> Result<(), Error> {
        let items = columns(items)?;
        let rows = items.first().map_or(0, Column::len);
        let weights = weights.map(|array| weight_column(array, rows)).transpose()?;
        match (items.as_slice(), &weights) {
            ([column], None) => self.push_column(column),
            ([column], Some(weights)) if matches!(column.values(), Values::Dictionary(_)) => {
                let hashes = self.hashes(column);
                (0..rows).try_for_each(|row| self.push_weighted(hashes(row), weights.item(row)))
            }
            (columns, weights) => (0..rows).try_for_each(|row| {
                let values = columns.iter().map(|column| column.item(row));
                match weights {
                    None => self.push_row(values),
                    Some(weights) => self.push_weighted_row(values, weights.item(row)),
                }
            }),
        }
    }

    fn push_column(&mut self, column: &Column<'_>) -> Result<(), Error> {
        let plain_text = self.rules().is_identity() && column.has_no_nulls();
        match column.values() {
            Values::Utf8(array) if plain_text => self.push_slices(array.iter().flatten().map(str::as_bytes)),
            Values::LargeUtf8(array) if plain_text => self.push_slices(array.iter().flatten().map(str::as_bytes)),
            Values::Utf8View(array) if plain_text => self.push_slices(array.iter().flatten().map(str::as_bytes)),
            Values::Int64(array) if column.has_no_nulls() => array.values().chunks(BATCH).try_for_each(|values| {
                let mut hashes = vec![0; values.len()];
                hash64_integers(self.hash(), values, &mut hashes);
                self.push_hashes(&hashes)
            }),
            Values::UInt64(array) if column.has_no_nulls() => array.values().chunks(BATCH).try_for_each(|values| {
                let mut hashes = vec![0; values.len()];
                hash64_unsigned(self.hash(), values, &mut hashes);
                self.push_hashes(&hashes)
            }),
            _ => {
                let hashes = self.hashes(column);
                (0..column.len()).try_for_each(|row| match hashes(row) {
                    Some(hash) => self.push_hashes(&[hash]),
                    None => self.push_nulls(1),
                })
            }
        }
    }

    /// The hashes of the items of a column by their rows; every value of a dictionary is hashed once.
    fn hashes<'c>(&self, column: &'c Column<'_>) -> impl Fn(usize) -> Option<u64> + use<'c> {
        let (hash, rules) = (self.hash().clone(), self.rules().clone());
        let hash_of = move |item: Option<Item<'_>>| {
            let mut buffer = zeroize::Zeroizing::new(String::new());
            Some(clean(&rules, item?, &mut buffer)?.hash64(&hash))
        };
        let by_value: Option<(&Dictionary<'_>, Vec<Option<u64>>)> = match column.values() {
            Values::Dictionary(dictionary) => {
                let values = &dictionary.values;
                Some((dictionary, (0..values.len()).map(|position| hash_of(values.item(position))).collect()))
            }
            _ => None,
        };
        move |row| match &by_value {
            _ if column.is_null(row) => None,
            Some((dictionary, hashes)) => hashes.get(dictionary.keys[row]).copied().flatten(),
            None => hash_of(column.item(row)),
        }
    }
}

impl UserFrequencyBuilder {
    /// Takes the rows of Arrow columns: a user, values that together make the item, and a weight in a column of its own, or 1.
    ///
    /// # Errors
    /// As [`FrequencyBuilder::push_arrays`] and [`push_weighted_row`](Self::push_weighted_row).
    pub fn push_arrays(
        &mut self,
        users: &ArrayRef,
        items: &[ArrayRef],
        weights: Option<&ArrayRef>,
    ) -> Result<(), Error> {
        let items = columns(items)?;
        let rows = items.first().map_or(0, Column::len);
        let users = Column::new(users.as_ref())?;
        check_rows(users.len(), rows)?;
        let weights = weights.map(|array| weight_column(array, rows)).transpose()?;
        (0..rows).try_for_each(|row| {
            let values = items.iter().map(|column| column.item(row));
            match &weights {
                None => self.push_row(users.item(row), values),
                Some(weights) => self.push_weighted_row(users.item(row), values, weights.item(row)),
            }
        })
    }
}

/// A column of weights, one for each row.
fn weight_column(array: &ArrayRef, rows: usize) -> Result<Column<'_>, Error> {
    let column = Column::new(array.as_ref())?;
    check_rows(column.len(), rows)?;
    if is_weight(&column) {
        return Ok(column);
    }
    Err(Error::new(ErrorKind::Column, format!("a column of type {} holds no weights", array.data_type()))
        .argument("--weight")
        .value(array.data_type().to_string())
        .allowed("integers, floats, decimals, text, and dictionaries of these"))
}

fn is_weight(column: &Column<'_>) -> bool {
    match column.values() {
        Values::Boolean(_)
        | Values::Binary(_)
        | Values::LargeBinary(_)
        | Values::BinaryView(_)
        | Values::FixedSizeBinary(_)
        | Values::Date32(_)
        | Values::Date64(_)
        | Values::Timestamp { .. } => false,
        Values::Dictionary(dictionary) => is_weight(&dictionary.values),
        _ => true,
    }
}

fn check_rows(found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    let told = format!("columns of different length: expected {expected} rows, found {found}");
    Err(Error::new(ErrorKind::Column, told))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, LargeStringArray, StringArray,
        StringViewArray, UInt64Array,
    };
    use countsketch_dp::{CountSketchShape, Granularity};
    use sketch_hash::{AnyHash, HashKey};

    use super::*;
    use crate::frequency::{Clipping, CountSketchTerms, RawCountSketch};
    use crate::text::TextRules;

    fn builder() -> FrequencyBuilder {
        let shape = CountSketchShape::new(3, 64).unwrap();
        let terms = CountSketchTerms::records(shape, Granularity::new(2).unwrap(), 400).unwrap();
        FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default()).unwrap()
    }

    fn built(items: &[ArrayRef], weights: Option<&ArrayRef>) -> RawCountSketch {
        let mut builder = builder();
        builder.push_arrays(items, weights).unwrap();
        builder.finish().unwrap()
    }

    #[test]
    fn every_layout_of_text_gives_the_same_sketch() {
        let texts = [Some("a"), Some("b"), None, Some("a")];
        let mut by_row = builder();
        for text in texts {
            by_row.push_row([text.map(Item::from)]).unwrap();
        }
        let expected = by_row.finish().unwrap();
        let arrays: [ArrayRef; 4] = [
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(LargeStringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        for array in arrays {
            assert_eq!(built(&[array], None), expected);
        }
        let no_nulls: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a"]));
        assert_eq!(built(&[no_nulls], None), expected);
    }

    #[test]
    fn integers_are_the_same_items_signed_or_not_and_with_weights_or_without() {
        let signed: ArrayRef = Arc::new(Int64Array::from((0..1000).collect::<Vec<_>>()));
        let unsigned: ArrayRef = Arc::new(UInt64Array::from((0..1000).collect::<Vec<_>>()));
        let ones: ArrayRef = Arc::new(Int64Array::from(vec![1; 1000]));
        let expected = built(std::slice::from_ref(&signed), None);
        assert_eq!(built(&[unsigned], None), expected);
        assert_eq!(built(&[signed], Some(&ones)), expected);
    }

    #[test]
    fn weights_of_every_type_are_rounded_to_the_grid() {
        let items: ArrayRef = Arc::new(["a", "b"].into_iter().collect::<DictionaryArray<Int32Type>>());
        let decimals = Decimal128Array::from(vec![125, -350]).with_precision_and_scale(10, 2).unwrap();
        let weights: [ArrayRef; 4] = [
            Arc::new(Float64Array::from(vec![1.25, -3.5])),
            Arc::new(StringArray::from(vec!["1.25", "-3.5"])),
            Arc::new(decimals),
            Arc::new(["1.25", "-3.5"].into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        let mut by_row = builder();
        for (item, weight) in [("a", "1.25"), ("b", "-3.5")] {
            by_row.push_weighted_row([Some(Item::from(item))], Some(Item::from(weight))).unwrap();
        }
        let expected = by_row.finish().unwrap();
        for weights in weights {
            assert_eq!(built(std::slice::from_ref(&items), Some(&weights)), expected);
        }
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
        let error = builder().push_arrays(std::slice::from_ref(&items), Some(&flags)).unwrap_err();
        assert_eq!((error.kind(), error.to_json()["argument"].as_str()), (ErrorKind::Column, Some("--weight")));
        let short: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        assert_eq!(builder().push_arrays(&[items], Some(&short)).unwrap_err().kind(), ErrorKind::Column);
    }

    #[test]
    fn users_of_columns_are_those_of_rows() {
        let shape = CountSketchShape::new(3, 64).unwrap();
        let terms = CountSketchTerms::users(shape, Granularity::ONE, 2, 3, Clipping::Auto).unwrap();
        let new = || UserFrequencyBuilder::sorted(terms, AnyHash::default(), TextRules::default(), HashKey::DEFAULT);
        let (users, items, weights) = (vec!["u", "u", "u", "v"], vec!["a", "b", "c", "a"], vec![1, 5, 2, -4]);
        let mut by_row = new().unwrap();
        for row in 0..4 {
            let (user, item, weight) = (users[row], items[row], weights[row]);
            by_row.push_weighted_row(Some(user.into()), [Some(item.into())], Some(Item::from(weight))).unwrap();
        }
        let mut by_column = new().unwrap();
        let users: ArrayRef = Arc::new(StringArray::from(users));
        let items: ArrayRef = Arc::new(StringArray::from(items));
        let weights: ArrayRef = Arc::new(Int64Array::from(weights));
        by_column.push_arrays(&users, &[items], Some(&weights)).unwrap();
        assert_eq!(by_column.finish().unwrap(), by_row.finish().unwrap());
    }
}
