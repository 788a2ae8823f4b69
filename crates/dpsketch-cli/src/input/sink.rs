//! Where rows go.

use arrow_array::ArrayRef;
use dpsketch::sketch_hash::Item;
use dpsketch::{DistinctBuilder, Error, SampleBuilder};

/// Takes the rows of the inputs, each with one value for every wanted column.
///
/// Every thread fills a sink of its own; put together they do not depend on who did what.
pub(crate) trait RowSink: Send {
    /// Rows of one text each.
    fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error>;

    /// One row.
    fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error>;

    /// The rows of a batch, one array for each column.
    fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error>;

    /// Takes over everything another sink has seen.
    fn absorb(&mut self, other: Self) -> Result<(), Error>;
}

/// Builders that take any row, and fail on none but arrays of a type that they cannot read.
macro_rules! sink_of_rows {
    ($($builder:ty),+ $(,)?) => {
        $(
            impl RowSink for $builder {
                fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
                    Self::push_texts(self, texts);
                    Ok(())
                }

                fn push_row<'a>(
                    &mut self,
                    values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
                ) -> Result<(), Error> {
                    Self::push_row(self, values);
                    Ok(())
                }

                fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
                    Self::push_arrays(self, arrays).map_err(|error| error.argument_or("--column"))
                }

                fn absorb(&mut self, other: Self) -> Result<(), Error> {
                    Self::absorb(self, &other)
                }
            }
        )+
    };
}

sink_of_rows!(DistinctBuilder, SampleBuilder);
