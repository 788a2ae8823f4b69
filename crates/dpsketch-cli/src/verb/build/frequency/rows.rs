//! Rows with an item, perhaps a weight, and perhaps a user.

use std::error::Error as _;
use std::sync::Arc;

use arrow_array::ArrayRef;
use dpsketch::sketch_hash::Item;
use dpsketch::{Error, FrequencyBuilder, FrequencyError, UserFrequencyBuilder};

use super::super::rows::Roles;
use crate::input::RowSink;

/// Rows of which each is a unit of privacy.
pub(super) struct FrequencyRows {
    pub(super) builder: FrequencyBuilder,
    pub(super) roles: Arc<Roles>,
    /// Whether other threads read other parts of the data, so that rows are counted within a part.
    pub(super) in_parts: bool,
}

/// Rows with a user each.
pub(super) struct UserFrequencyRows {
    pub(super) builder: UserFrequencyBuilder,
    pub(super) roles: Arc<Roles>,
}

impl FrequencyRows {
    fn told(&self, done: Result<(), Error>) -> Result<(), Error> {
        done.map_err(|error| told(error, self.in_parts))
    }
}

/// The same error with the flags that help. In a part of the data the number of the row says nothing, and is left out.
pub(super) fn told(error: Error, in_part: bool) -> Error {
    let Some(source) = error.source().and_then(|source| source.downcast_ref::<FrequencyError>()).cloned() else {
        return error;
    };
    let (argument, message, hint) = match &source {
        FrequencyError::NotANumber { .. } => (
            "--weight",
            "a row has a weight that is not a number of at most 63 bits on the grid".to_owned(),
            "clean the column, or name the text that stands for a missing value with --null",
        ),
        FrequencyError::TooHeavy { max, .. } => (
            "--max-weight",
            format!("a row weighs more than the declared maximum of {max}"),
            "declare a larger --max-weight, which needs more noise, or say --clip-weights",
        ),
        _ => return error,
    };
    let told = if in_part {
        Error::new(error.kind(), message).hint(format!("{hint}; say --threads 1 to learn which row it is"))
    } else {
        error.hint(hint)
    };
    let told = match &source {
        FrequencyError::TooHeavy { max, .. } => told.allowed(format!("absolute weights of at most {max}")),
        _ => told,
    };
    told.argument(argument).caused_by(source)
}

impl RowSink for FrequencyRows {
    fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        let done = self.builder.push_texts(texts);
        self.told(done)
    }

    fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        let done = if self.roles.has_weight() {
            let row: Vec<_> = values.into_iter().collect();
            self.builder.push_weighted_row(self.roles.items(&row), self.roles.weight(&row))
        } else {
            self.builder.push_row(values)
        };
        self.told(done)
    }

    fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
        let done = self.builder.push_arrays(&self.roles.item_arrays(arrays), self.roles.weight_array(arrays));
        self.told(done).map_err(|error| error.argument_or("--column"))
    }

    fn absorb(&mut self, other: Self) -> Result<(), Error> {
        let done = self.builder.absorb(other.builder);
        self.told(done)
    }
}

impl RowSink for UserFrequencyRows {
    fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        texts.into_iter().try_for_each(|text| self.push_row([Some(Item::Text(text))]))
    }

    fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        let Self { builder, roles } = self;
        let row: Vec<_> = values.into_iter().collect();
        if roles.has_weight() {
            builder.push_weighted_row(roles.user(&row), roles.items(&row), roles.weight(&row))
        } else {
            builder.push_row(roles.user(&row), roles.items(&row))
        }
    }

    fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
        let Self { builder, roles } = self;
        let Some(users) = roles.user_array(arrays) else { return Ok(()) };
        builder
            .push_arrays(users, &roles.item_arrays(arrays), roles.weight_array(arrays))
            .map_err(|error| error.argument_or("--column"))
    }

    fn absorb(&mut self, _other: Self) -> Result<(), Error> {
        Err(Error::new(dpsketch::ErrorKind::Internal, "the rows of users have to come through one bound"))
    }
}
