//! Arrow columns as items, weights and operations.

use arrow_array::{Array, ArrayRef};
use sketch_hash::Item;
use zeroize::Zeroizing;

use super::builder::F0Builder;
use super::members::ItemHash;
use crate::builder::clean;
use crate::column::{Column, Dictionary, Values};
use crate::error::{Error, ErrorKind};
use crate::ingest_arrow::columns;

impl F0Builder {
    /// Takes the rows of Arrow columns, which together make the items, with weights and operations in columns of their own where
    /// the builder takes them.
    ///
    /// Weights are integers, decimals, floating-point numbers or text, operations are text.
    ///
    /// # Errors
    /// [`ErrorKind::Column`] for a column of a type that cannot be hashed, weighed or read as operations, and for columns of different
    /// length; nothing is taken then. Otherwise as [`push_row_with`](Self::push_row_with).
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Int64Array, StringArray};
    /// use dpsketch::f0_sketch::F0Shape;
    /// use dpsketch::sketch_hash::AnyHash;
    /// use dpsketch::{F0Builder, F0Terms, TextRules};
    ///
    /// let items: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, Some(7)]));
    /// let operations: ArrayRef = Arc::new(StringArray::from(vec!["+", "+", "-"]));
    /// let mut builder = F0Builder::operations(F0Terms::unit(F0Shape::DEFAULT), AnyHash::default(), TextRules::default());
    /// builder.push_arrays(&[items], None, Some(&operations))?;
    /// let counts = builder.counts();
    /// assert_eq!((counts.rows, counts.nulls, counts.inserts, counts.deletes), (3, 1, 1, 1));
    /// # Ok::<(), dpsketch::Error>(())
    /// ```
    pub fn push_arrays(
        &mut self,
        items: &[ArrayRef],
        weights: Option<&ArrayRef>,
        operations: Option<&ArrayRef>,
    ) -> Result<(), Error> {
        let items = columns(items)?;
        let rows = items.first().map_or(0, Column::len);
        let weights = weights.map(|array| beside(array, rows, &WEIGHTS)).transpose()?;
        let operations = operations.map(|array| beside(array, rows, &OPERATIONS)).transpose()?;
        self.check_beside(weights.is_some(), operations.is_some())?;
        let (weights, operations) = (weights.as_ref(), operations.as_ref());
        if let [column] = items.as_slice() {
            let hashes = self.hashes(column);
            return (0..rows).try_for_each(|row| self.push(hashes(row), item(weights, row), item(operations, row)));
        }
        (0..rows).try_for_each(|row| {
            let hash = self.rows.hash128(items.iter().map(|column| column.item(row)));
            self.push(hash, item(weights, row), item(operations, row))
        })
    }

    /// The hashes of the items of a column by their rows; every value of a dictionary is hashed once.
    fn hashes<'c>(&self, column: &'c Column<'_>) -> impl Fn(usize) -> Option<ItemHash> + use<'c> {
        let (hash, rules) = (self.rows.hash_function().clone(), self.rows.rules().clone());
        let hash_of = move |item: Option<Item<'_>>| {
            let mut buffer = Zeroizing::new(String::new());
            Some(clean(&rules, item?, &mut buffer)?.hash128(&hash))
        };
        let by_value: Option<(&Dictionary<'_>, Zeroizing<Vec<Option<ItemHash>>>)> = match column.values() {
            Values::Dictionary(dictionary) => {
                let values = &dictionary.values;
                let hashes = (0..values.len()).map(|position| hash_of(values.item(position))).collect();
                Some((dictionary, Zeroizing::new(hashes)))
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

/// What a column beside the items holds.
struct Beside {
    what: &'static str,
    argument: &'static str,
    allowed: &'static str,
    fits: fn(&Values<'_>) -> bool,
}

const WEIGHTS: Beside = Beside {
    what: "weights",
    argument: "--weight",
    allowed: "integers, floats, decimals, text, and dictionaries of these",
    fits: |values| {
        !matches!(
            values,
            Values::Boolean(_)
                | Values::Binary(_)
                | Values::LargeBinary(_)
                | Values::BinaryView(_)
                | Values::FixedSizeBinary(_)
                | Values::Date32(_)
                | Values::Date64(_)
                | Values::Timestamp { .. }
        )
    },
};

const OPERATIONS: Beside = Beside {
    what: "operations",
    argument: "--op-column",
    allowed: "text, and dictionaries of it",
    fits: |values| matches!(values, Values::Utf8(_) | Values::LargeUtf8(_) | Values::Utf8View(_) | Values::AllNull),
};

/// The value in a row of a column that there may be.
fn item<'a>(column: Option<&Column<'a>>, row: usize) -> Option<Item<'a>> {
    column.and_then(|column| column.item(row))
}

/// A column with one value for each row.
fn beside<'a>(array: &'a ArrayRef, rows: usize, kind: &Beside) -> Result<Column<'a>, Error> {
    let column = Column::new(array.as_ref())?;
    if column.len() != rows {
        let told = format!("columns of different length: expected {rows} rows, found {}", column.len());
        return Err(Error::new(ErrorKind::Column, told));
    }
    let fits = match column.values() {
        Values::Dictionary(dictionary) => (kind.fits)(dictionary.values.values()),
        values => (kind.fits)(values),
    };
    if fits {
        return Ok(column);
    }
    Err(Error::new(ErrorKind::Column, format!("a column of type {} holds no {}", array.data_type(), kind.what))
        .argument(kind.argument)
        .value(array.data_type().to_string())
        .allowed(kind.allowed))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, LargeStringArray, StringArray,
        StringViewArray, UInt64Array,
    };
    use f0_sketch::{F0Shape, MaxWeight};
    use sketch_hash::AnyHash;

    use super::*;
    use crate::f0::{F0Terms, RawF0Sketch};
    use crate::text::TextRules;

    fn builder(weighted: bool) -> F0Builder {
        let shape = F0Shape::new(6, 64).unwrap();
        let terms =
            if weighted { F0Terms::weighted(shape, MaxWeight::new(4.0).unwrap()) } else { F0Terms::unit(shape) };
        F0Builder::operations(terms, AnyHash::default(), TextRules::default())
    }

    fn built(weighted: bool, items: &[ArrayRef], weights: Option<&ArrayRef>, operations: &ArrayRef) -> RawF0Sketch {
        let mut builder = builder(weighted);
        builder.push_arrays(items, weights, Some(operations)).unwrap();
        builder.finish().unwrap().0
    }

    #[test]
    fn every_layout_of_text_gives_the_sketch_of_its_rows() {
        let (texts, words) = ([Some("a"), Some("b"), None, Some("c")], ["+", "insert", "-", "add"]);
        let mut by_row = builder(false);
        for (text, word) in texts.into_iter().zip(words) {
            by_row.push_row_with([text.map(Item::from)], None, Some(Item::from(word))).unwrap();
        }
        assert_eq!(by_row.counts().nulls, 1);
        let expected = by_row.finish().unwrap().0;
        let operations: [ArrayRef; 2] = [
            Arc::new(StringArray::from(words.to_vec())),
            Arc::new(words.into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        let arrays: [ArrayRef; 4] = [
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(LargeStringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        for array in arrays {
            for operations in &operations {
                assert_eq!(built(false, std::slice::from_ref(&array), None, operations), expected);
            }
        }
    }

    #[test]
    fn weights_of_every_type_are_the_same_number() {
        let items: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..200));
        let signed: ArrayRef = Arc::new(Int64Array::from_iter_values(0..200));
        let operations: ArrayRef = Arc::new(StringArray::from(vec!["+"; 200]));
        let decimals = Decimal128Array::from(vec![125; 200]).with_precision_and_scale(10, 2).unwrap();
        let weights: [ArrayRef; 3] = [
            Arc::new(Float64Array::from(vec![1.25; 200])),
            Arc::new(StringArray::from(vec!["1.25"; 200])),
            Arc::new(decimals),
        ];
        let mut by_row = builder(true);
        for item in 0..200_u64 {
            by_row.push_row_with([Some(Item::from(item))], Some(Item::from("1.25")), Some(Item::from("+"))).unwrap();
        }
        let expected = by_row.finish().unwrap().0;
        for weights in weights {
            assert_eq!(built(true, std::slice::from_ref(&items), Some(&weights), &operations), expected);
            assert_eq!(built(true, std::slice::from_ref(&signed), Some(&weights), &operations), expected);
        }
    }

    #[test]
    fn rows_of_several_columns_are_one_item() {
        let first: ArrayRef = Arc::new(StringArray::from(vec!["ab", "a"]));
        let second: ArrayRef = Arc::new(StringArray::from(vec!["c", "bc"]));
        let operations: ArrayRef = Arc::new(StringArray::from(vec!["+", "+"]));
        let mut by_row = builder(false);
        for (a, b) in [("ab", "c"), ("a", "bc")] {
            by_row.push_row_with([Some(Item::from(a)), Some(Item::from(b))], None, Some(Item::from("+"))).unwrap();
        }
        assert_eq!(built(false, &[first, second], None, &operations), by_row.finish().unwrap().0);
    }

    #[test]
    fn columns_that_do_not_fit_are_refused_by_their_argument() {
        let items: [ArrayRef; 1] = [Arc::new(StringArray::from(vec!["a", "b"]))];
        let words: ArrayRef = Arc::new(StringArray::from(vec!["+", "+"]));
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
        let short: ArrayRef = Arc::new(StringArray::from(vec!["+"]));
        for (weights, operations, argument) in
            [(Some(&flags), &words, Some("--weight")), (None, &flags, Some("--op-column")), (None, &short, None)]
        {
            let mut builder = builder(weights.is_some());
            let error = builder.push_arrays(&items, weights, Some(operations)).unwrap_err();
            assert_eq!((error.kind(), error.to_json()["argument"].as_str()), (ErrorKind::Column, argument));
            assert_eq!(builder.counts().rows, 0, "nothing was taken");
        }
    }
}
