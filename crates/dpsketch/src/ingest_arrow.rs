use arrow_array::ArrayRef;
use sketch_hash::{AnyHash, Item, hash64_integers, hash64_unsigned};

use crate::builder::{DistinctBuilder, clean};
use crate::column::{Column, Dictionary, Values};
use crate::error::{Error, ErrorKind};

/// Rows hashed in one go.
const BATCH: usize = 256;

/// Hands the rows of an Arrow batch to `visit` as items, one for each column, where a null is `None`.
///
/// # Errors
/// As [`DistinctBuilder::push_arrays`], and whatever `visit` fails with.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, StringArray};
/// use sketch_hash::Item;
///
/// let users: ArrayRef = Arc::new(StringArray::from(vec!["ann", "bob"]));
/// let pages: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
/// let mut rows = Vec::new();
/// dpsketch::visit_rows(&[users, pages], |row| {
///     rows.push((row[0].is_some(), row[1] == Some(Item::Integer(7))));
///     Ok(())
/// })?;
/// assert_eq!(rows, [(true, true), (true, false)]);
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn visit_rows(
    arrays: &[ArrayRef],
    mut visit: impl FnMut(&[Option<Item<'_>>]) -> Result<(), Error>,
) -> Result<(), Error> {
    let columns = columns(arrays)?;
    let mut row = Vec::with_capacity(columns.len());
    for index in 0..columns.first().map_or(0, Column::len) {
        row.clear();
        row.extend(columns.iter().map(|column| column.item(index)));
        visit(&row)?;
    }
    Ok(())
}

/// Columns of one length, of which there is at least one.
pub(crate) fn columns(arrays: &[ArrayRef]) -> Result<Vec<Column<'_>>, Error> {
    let columns = arrays.iter().map(|array| Column::new(array.as_ref())).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = columns.first() else {
        return Err(Error::new(ErrorKind::Column, "no column to count").hint("name at least one column"));
    };
    match columns.iter().find(|other| other.len() != first.len()) {
        None => Ok(columns),
        Some(other) => Err(Error::new(
            ErrorKind::Column,
            format!("columns of different length: expected {} rows, found {}", first.len(), other.len()),
        )),
    }
}

impl DistinctBuilder {
    /// Counts the rows of an Arrow batch: each value of one column, or each row of several columns as one item.
    ///
    /// Values are hashed by type, never by how they would be printed: an `Int16` 7 and a `UInt64` 7 are one item, the text
    /// "7" is another. A null is counted as missing; a row of several columns is missing when any of its values is.
    ///
    /// # Errors
    /// [`ErrorKind::Column`] when there is no column, the columns differ in length, or one has a type that
    /// [`is_hashable`](crate::is_hashable) refuses.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Int64Array};
    /// use dpsketch::{DistinctBuilder, TextRules};
    /// use sfm_pcsa::PcsaShape;
    /// use sketch_hash::AnyHash;
    ///
    /// let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, Some(7)]));
    /// let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
    /// builder.push_arrays(&[column])?;
    /// assert_eq!((builder.counts().rows, builder.counts().nulls), (3, 1));
    /// # Ok::<(), dpsketch::Error>(())
    /// ```
    pub fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
        let columns = columns(arrays)?;
        match columns.as_slice() {
            [column] => self.push_column(column),
            columns => {
                for row in 0..columns.first().map_or(0, Column::len) {
                    self.push_row(columns.iter().map(|column| column.item(row)));
                }
            }
        }
        Ok(())
    }

    fn push_column(&mut self, column: &Column<'_>) {
        let plain_text = self.rules().is_identity() && column.has_no_nulls();
        match column.values() {
            Values::Utf8(array) if plain_text => self.push_slices(array.iter().flatten().map(str::as_bytes)),
            Values::LargeUtf8(array) if plain_text => self.push_slices(array.iter().flatten().map(str::as_bytes)),
            Values::Utf8View(array) if plain_text => self.push_slices(array.iter().flatten().map(str::as_bytes)),
            Values::Int64(array) if column.has_no_nulls() => self.push_batches(array.values(), hash64_integers),
            Values::UInt64(array) if column.has_no_nulls() => self.push_batches(array.values(), hash64_unsigned),
            Values::Dictionary(dictionary) => self.push_dictionary(column, dictionary),
            _ => self.push_items(column),
        }
    }

    /// Hashes many words at once.
    fn push_batches<T>(&mut self, values: &[T], hash: impl Fn(&AnyHash, &[T], &mut [u64])) {
        let mut hashes = [0; BATCH];
        for values in values.chunks(BATCH) {
            let hashes = &mut hashes[..values.len()];
            hash(self.hash(), values, hashes);
            self.push_hashes(hashes);
        }
    }

    fn push_items(&mut self, column: &Column<'_>) {
        let mut hashes = [0; BATCH];
        let mut buffer = String::new();
        for start in (0..column.len()).step_by(BATCH) {
            let mut filled = 0;
            for row in start..column.len().min(start + BATCH) {
                if let Some(item) = column.item(row).and_then(|item| clean(self.rules(), item, &mut buffer)) {
                    hashes[filled] = item.hash64(self.hash());
                    filled += 1;
                } else {
                    self.push_nulls(1);
                }
            }
            self.push_hashes(&hashes[..filled]);
        }
    }

    /// Hashes every value of the dictionary that some row uses once: repeats change nothing.
    fn push_dictionary(&mut self, column: &Column<'_>, dictionary: &Dictionary<'_>) {
        let mut rows_of = vec![0_u64; dictionary.values.len()];
        let mut nulls = 0;
        for row in 0..column.len() {
            if column.is_null(row) {
                nulls += 1;
            } else {
                rows_of[dictionary.keys[row]] += 1;
            }
        }
        self.push_nulls(nulls);
        let mut buffer = String::new();
        for (position, rows) in rows_of.into_iter().enumerate().filter(|(_, rows)| *rows > 0) {
            match dictionary.values.item(position).and_then(|item| clean(self.rules(), item, &mut buffer)) {
                Some(item) => self.push_hash_of_rows(item.hash64(self.hash()), rows),
                None => self.push_nulls(rows),
            }
        }
    }
}
