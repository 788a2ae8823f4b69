//! Texts that name items of one or several columns.

use core::fmt;
use core::str::FromStr;

use sketch_hash::Item;

use crate::error::{Error, ErrorKind};
use crate::row_hasher::RowHasher;

/// The type of a column that items were built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldType {
    /// Text, as every field of a CSV file is.
    Text,
    /// A whole number, as in an integer column of Parquet or Arrow. The number 42 and the text `42` are different items.
    Integer,
}

impl FieldType {
    /// `text` or `integer`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a text names an item that was built from one or several columns.
///
/// An item of one column is named by its value as it is. An item of several columns is named by a record of a CSV file, in
/// the order of the columns: `EWR,B6`, with a field that has a comma or a quote in it in double quotes.
///
/// # Examples
/// ```
/// use dpsketch::{FieldType, ItemFields};
///
/// let fields: ItemFields = "text,integer".parse()?;
/// assert_eq!(fields.types(), [FieldType::Text, FieldType::Integer]);
/// assert_eq!(fields.to_string(), "text,integer");
/// assert!("text,date".parse::<ItemFields>().is_err());
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ItemFields(Vec<FieldType>);

impl Default for ItemFields {
    /// One text.
    fn default() -> Self {
        Self(vec![FieldType::Text])
    }
}

impl ItemFields {
    /// The most columns of an item.
    pub const MAX: usize = 256;

    /// Items of one column of whole numbers.
    #[must_use]
    pub fn integers() -> Self {
        Self(vec![FieldType::Integer])
    }

    /// Items of columns of these types.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for no column, and for more than [`Self::MAX`].
    pub fn new(types: impl Into<Vec<FieldType>>) -> Result<Self, Error> {
        let types = types.into();
        if (1..=Self::MAX).contains(&types.len()) {
            return Ok(Self(types));
        }
        Err(Error::new(ErrorKind::Parameter, format!("an item has {} columns", types.len()))
            .value(types.len().to_string())
            .allowed(format!("1 to {} columns", Self::MAX)))
    }

    /// The types, in the order of the columns.
    #[must_use]
    pub fn types(&self) -> &[FieldType] {
        &self.0
    }

    /// The hash of the item that `text` names; `None` where a value is missing.
    pub(super) fn hash(&self, rows: &mut RowHasher, text: &str) -> Result<Option<u64>, Error> {
        if let [only] = self.0[..] {
            return Ok(rows.hash([Some(value(only, text)?)]));
        }
        let fields = record(text).ok_or_else(|| self.no_record(text))?;
        if fields.len() != self.0.len() {
            return Err(self.no_record(text));
        }
        let items = self.0.iter().zip(&fields).map(|(kind, field)| value(*kind, field).map(Some));
        let items: Vec<Option<Item<'_>>> = items.collect::<Result<_, _>>()?;
        Ok(rows.hash(items))
    }

    fn no_record(&self, text: &str) -> Error {
        let fields = self.0.len();
        Error::new(ErrorKind::Parameter, format!("{text:?} is no item of {fields} columns"))
            .argument("--item")
            .value(text)
            .allowed(format!("{fields} fields separated by commas"))
            .hint("a field with a comma or a quote in it stands in double quotes, as in a CSV file")
    }
}

impl FromStr for ItemFields {
    type Err = Error;

    /// Types separated by commas.
    fn from_str(text: &str) -> Result<Self, Error> {
        let types = text.split(',').map(|name| match name {
            "text" => Ok(FieldType::Text),
            "integer" => Ok(FieldType::Integer),
            _ => Err(Error::new(ErrorKind::Parameter, format!("{name:?} is no type of a column"))
                .value(text)
                .allowed("text or integer for each column, separated by commas")),
        });
        Self::new(types.collect::<Result<Vec<_>, _>>()?)
    }
}

impl fmt::Display for ItemFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, kind) in self.0.iter().enumerate() {
            write!(f, "{}{kind}", if place == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// A text as itself, or as the whole number that it is.
fn value(kind: FieldType, text: &str) -> Result<Item<'_>, Error> {
    match kind {
        FieldType::Text => Ok(Item::Text(text)),
        FieldType::Integer => text.trim().parse().map(Item::Integer).map_err(|_| {
            Error::new(ErrorKind::Parameter, format!("{text:?} is no whole number"))
                .argument("--item")
                .value(text)
                .allowed("whole numbers of at most 128 bits")
                .hint("ask for texts where items are texts")
        }),
    }
}

/// The fields of one record of a CSV file; `None` where a quote is not closed, or text stands beside one.
fn record(text: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = text;
    loop {
        let (field, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let (field, after) = quoted_field(quoted)?;
            (field, after.strip_prefix(',').map(Some).or_else(|| after.is_empty().then_some(None))?)
        } else {
            let (field, after) = rest.split_once(',').map_or((rest, None), |(field, after)| (field, Some(after)));
            (field.to_owned(), after)
        };
        fields.push(field);
        match after {
            Some(after) => rest = after,
            None => return Some(fields),
        }
    }
}

/// What stands before the closing quote, and what after it. Two quotes stand for one.
fn quoted_field(text: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        field.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                field.push('"');
                rest = after;
            }
            None => return Some((field, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use sketch_hash::AnyHash;

    use super::*;
    use crate::text::TextRules;

    #[test]
    fn records_are_read_as_csv_has_them() {
        for (text, fields) in [
            ("a", Some(&["a"][..])),
            ("a,b", Some(&["a", "b"])),
            ("", Some(&[""])),
            (",", Some(&["", ""])),
            (r#""a,b",c"#, Some(&["a,b", "c"])),
            (r#"a,"say ""x""""#, Some(&["a", r#"say "x""#])),
            (r#""",a"#, Some(&["", "a"])),
            (r#""a"b,c"#, None),
            (r#""a,b"#, None),
        ] {
            let found = record(text);
            assert_eq!(found.as_ref().map(|found| found.iter().map(String::as_str).collect()), fields.map(Vec::from));
        }
    }

    #[test]
    fn a_record_has_the_hash_of_the_row_that_it_names() {
        let mut rows =
            RowHasher::new(AnyHash::default(), TextRules { null: Some("-".to_owned()), ..TextRules::default() });
        let fields: ItemFields = "text,integer".parse().unwrap();
        let expected = rows.hash([Some(Item::Text("x,y")), Some(Item::Integer(-7))]);
        assert_eq!(fields.hash(&mut rows, r#""x,y",-7"#).unwrap(), expected);
        assert!(expected.is_some());
        assert_ne!(ItemFields::new([FieldType::Text; 2]).unwrap().hash(&mut rows, r#""x,y",-7"#).unwrap(), expected);
        assert_eq!(fields.hash(&mut rows, "-,7").unwrap(), None, "a missing value");
        // An item of one column is no record.
        let plain = rows.hash([Some(Item::Text("a,b"))]);
        assert_eq!(ItemFields::default().hash(&mut rows, "a,b").unwrap(), plain);
        for text in ["x", "x,1,2", "x,y", "\"x,1", ""] {
            let error = fields.hash(&mut rows, text).unwrap_err();
            assert_eq!(
                (error.kind(), &error.to_json()["argument"]),
                (ErrorKind::Parameter, &"--item".into()),
                "{text}"
            );
        }
    }

    #[test]
    fn types_have_names_and_a_number() {
        for text in ["", "text,", "Text", "text;integer"] {
            assert!(text.parse::<ItemFields>().is_err(), "{text}");
        }
        assert!(ItemFields::new([]).is_err());
        assert!(ItemFields::new(vec![FieldType::Text; ItemFields::MAX + 1]).is_err());
        assert_eq!(ItemFields::integers().to_string(), "integer");
    }
}
