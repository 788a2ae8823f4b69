//! Rows in which columns have different roles.

use std::sync::Arc;

use arrow_array::ArrayRef;
use dpsketch::sketch_hash::Item;
use dpsketch::{BoundedBuilder, Error, ErrorKind, GroupedBuilder, visit_rows};

use super::BuildArgs;
use crate::input::RowSink;

/// Which of the columns that are read is what. A column is read once, whatever its roles.
#[derive(Clone, Debug)]
pub(super) struct Roles {
    names: Vec<String>,
    items: Vec<usize>,
    user: Option<usize>,
    group: Option<usize>,
    weight: Option<usize>,
    operation: Option<usize>,
}

impl Roles {
    pub(super) fn new(args: &BuildArgs) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut place = |name: &String| {
            names.iter().position(|other| other == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            })
        };
        let items = args.data.column().iter().map(&mut place).collect();
        let user = args.users.user.as_ref().map(&mut place);
        let group = args.groups.group_by.as_ref().map(&mut place);
        let weight = args.weights.weight.as_ref().map(&mut place);
        let operation = args.f0_rows.op_column.as_ref().map(&mut place);
        Self { names, items, user, group, weight, operation }
    }

    /// The columns to read.
    pub(super) fn columns(&self, args: &BuildArgs) -> Result<Vec<String>, Error> {
        for (argument, column) in [
            ("--user", &args.users.user),
            ("--group-by", &args.groups.group_by),
            ("--weight", &args.weights.weight),
            ("--op-column", &args.f0_rows.op_column),
        ] {
            if column.as_ref().is_some_and(String::is_empty) {
                return Err(Error::new(ErrorKind::Column, "a column has an empty name").argument(argument).value(""));
            }
        }
        let others = [self.user, self.group, self.weight, self.operation];
        if self.items.is_empty() && others.iter().any(Option::is_some) {
            return Err(Error::new(ErrorKind::Column, "which column is counted?")
                .argument("--column")
                .hint("name one, or several separated by commas to count their combinations"));
        }
        Ok(self.names.clone())
    }

    /// The same error, told of the flag that named the column.
    pub(super) fn blame(&self, error: Error) -> Error {
        let told = error.to_json();
        let at_fault = |place: Option<usize>| place.is_some_and(|place| told["value"] == self.names[place]);
        match told["argument"].as_str() {
            Some("--column") if self.items.iter().any(|item| at_fault(Some(*item))) => error,
            Some("--column") if at_fault(self.user) => error.argument("--user"),
            Some("--column") if at_fault(self.group) => error.argument("--group-by"),
            Some("--column") if at_fault(self.weight) => error.argument("--weight"),
            Some("--column") if at_fault(self.operation) => error.argument("--op-column"),
            _ => error,
        }
    }

    /// Whether no column was named, so that all that is read is the item.
    pub(super) const fn is_plain(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) const fn has_weight(&self) -> bool {
        self.weight.is_some()
    }

    pub(super) const fn has_operation(&self) -> bool {
        self.operation.is_some()
    }

    pub(super) fn operation<'a>(&self, row: &[Option<Item<'a>>]) -> Option<Item<'a>> {
        Self::value(row, self.operation)
    }

    pub(super) fn operation_array<'r>(&self, arrays: &'r [ArrayRef]) -> Option<&'r ArrayRef> {
        arrays.get(self.operation?)
    }

    pub(super) fn weight<'a>(&self, row: &[Option<Item<'a>>]) -> Option<Item<'a>> {
        Self::value(row, self.weight)
    }

    pub(super) fn user<'a>(&self, row: &[Option<Item<'a>>]) -> Option<Item<'a>> {
        Self::value(row, self.user)
    }

    /// The columns of the item; all of them where none was named.
    pub(super) fn item_arrays(&self, arrays: &[ArrayRef]) -> Vec<ArrayRef> {
        if self.items.is_empty() {
            arrays.to_vec()
        } else {
            self.items.iter().map(|place| arrays[*place].clone()).collect()
        }
    }

    pub(super) fn weight_array<'r>(&self, arrays: &'r [ArrayRef]) -> Option<&'r ArrayRef> {
        arrays.get(self.weight?)
    }

    pub(super) fn user_array<'r>(&self, arrays: &'r [ArrayRef]) -> Option<&'r ArrayRef> {
        arrays.get(self.user?)
    }

    fn value<'a>(row: &[Option<Item<'a>>], place: Option<usize>) -> Option<Item<'a>> {
        row[place?]
    }

    pub(super) fn items<'a, 'r>(
        &'r self,
        row: &'r [Option<Item<'a>>],
    ) -> impl ExactSizeIterator<Item = Option<Item<'a>>> + 'r {
        self.items.iter().map(|place| row[*place])
    }
}

/// Rows with a user each.
pub(super) struct UserRows {
    pub(super) builder: BoundedBuilder,
    pub(super) roles: Arc<Roles>,
}

/// Rows with a group each, and perhaps a user.
pub(super) struct GroupRows {
    pub(super) builder: GroupedBuilder,
    pub(super) roles: Arc<Roles>,
}

impl UserRows {
    fn take(&mut self, row: &[Option<Item<'_>>]) -> Result<(), Error> {
        let Self { builder, roles } = self;
        builder.push_row(Roles::value(row, roles.user), roles.items(row))
    }
}

impl GroupRows {
    fn take(&mut self, row: &[Option<Item<'_>>]) -> Result<(), Error> {
        let Self { builder, roles } = self;
        builder.push_row(Roles::value(row, roles.group), Roles::value(row, roles.user), roles.items(row))
    }
}

impl RowSink for UserRows {
    fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        texts.into_iter().try_for_each(|text| self.take(&[Some(Item::Text(text))]))
    }

    fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        let row: Vec<_> = values.into_iter().collect();
        self.take(&row)
    }

    fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
        visit_rows(arrays, |row| self.take(row)).map_err(|error| error.argument_or("--column"))
    }

    fn absorb(&mut self, _other: Self) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Internal, "the rows of users have to come through one bound"))
    }
}

impl RowSink for GroupRows {
    fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        texts.into_iter().try_for_each(|text| self.take(&[Some(Item::Text(text))]))
    }

    fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        let row: Vec<_> = values.into_iter().collect();
        self.take(&row)
    }

    fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
        if let Some(group) = self.roles.group {
            self.builder.expect_group_type(arrays[group].data_type())?;
        }
        visit_rows(arrays, |row| self.take(row)).map_err(|error| error.argument_or("--column"))
    }

    fn absorb(&mut self, other: Self) -> Result<(), Error> {
        self.builder.absorb(&other.builder)
    }
}
