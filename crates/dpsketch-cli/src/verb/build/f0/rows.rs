//! Rows with an item, perhaps a weight, and perhaps an operation.

use std::error::Error as _;
use std::sync::Arc;

use arrow_array::ArrayRef;
use dpsketch::sketch_hash::Item;
use dpsketch::{Error, F0Builder, F0Error, Operation};

use super::super::rows::Roles;
use crate::input::RowSink;

/// Rows that make a set, or a stream.
pub(super) struct F0Rows {
    pub(super) builder: F0Builder,
    pub(super) roles: Arc<Roles>,
    /// Whether other threads read other parts of the data, so that rows are counted within a part.
    pub(super) in_parts: bool,
}

impl F0Rows {
    fn told(&self, done: Result<(), Error>) -> Result<(), Error> {
        done.map_err(|error| if self.in_parts { without_row(error) } else { error })
    }
}

/// The same error without the number of the row, which is that in a part of the data.
fn without_row(error: Error) -> Error {
    let Some(source) = error.source().and_then(|source| source.downcast_ref::<F0Error>()).cloned() else {
        return error;
    };
    let (argument, message, allowed) = match source {
        F0Error::NotAWeight { .. } => ("--weight", "a row has a weight that is not a number of at least 0", None),
        F0Error::NotAnOperation { .. } => {
            ("--op-column", "a row has an operation that is not known", Some(Operation::ALLOWED))
        }
        _ => return error,
    };
    let told = Error::new(error.kind(), message)
        .argument(argument)
        .hint("clean the column; say --threads 1 to learn which row it is")
        .caused_by(source);
    allowed.map_or(told.clone(), |allowed| told.allowed(allowed))
}

impl RowSink for F0Rows {
    fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        let done = self.builder.push_texts(texts);
        self.told(done)
    }

    fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        let roles = &self.roles;
        let done = if roles.has_weight() || roles.has_operation() {
            let row: Vec<_> = values.into_iter().collect();
            self.builder.push_row_with(roles.items(&row), roles.weight(&row), roles.operation(&row))
        } else {
            self.builder.push_row(values)
        };
        self.told(done)
    }

    fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
        let roles = &self.roles;
        let (items, weights, operations) =
            (roles.item_arrays(arrays), roles.weight_array(arrays), roles.operation_array(arrays));
        let done = self.builder.push_arrays(&items, weights, operations);
        self.told(done).map_err(|error| error.argument_or("--column"))
    }

    fn absorb(&mut self, other: Self) -> Result<(), Error> {
        let done = self.builder.absorb(other.builder);
        self.told(done)
    }
}
