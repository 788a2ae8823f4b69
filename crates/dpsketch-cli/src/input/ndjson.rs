//! JSON with one object a line, of which only the wanted fields are kept.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use dpsketch::sketch_hash::Item;
use dpsketch::{Error, ErrorKind};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::block::Block;
use super::columns::{self, Names};
use super::lines::{lines, text_of};
use super::sink::RowSink;

/// Which fields of the objects are wanted, and which of them were seen.
#[derive(Debug)]
pub(crate) struct JsonLayout {
    name: String,
    columns: Vec<String>,
    seen: Vec<AtomicBool>,
    any_object: AtomicBool,
}

impl JsonLayout {
    pub(crate) fn new(name: &str, wanted: &[String]) -> Result<Self, Error> {
        if wanted.is_empty() {
            return Err(Error::new(ErrorKind::Column, format!("{name} holds JSON objects: which field is counted?"))
                .argument("--column")
                .hint("name one field, or several separated by commas to count their combinations"));
        }
        Ok(Self {
            name: name.to_owned(),
            columns: wanted.to_vec(),
            seen: wanted.iter().map(|_| AtomicBool::new(false)).collect(),
            any_object: AtomicBool::new(false),
        })
    }

    /// Counts the objects of a block. Empty lines are passed over.
    pub(crate) fn ingest(&self, block: &Block, sink: &mut impl RowSink) -> Result<(), Error> {
        let text = text_of(&self.name, block)?;
        let mut found: Vec<Option<&RawValue>> = vec![None; self.columns.len()];
        let mut values: Vec<Option<Value<'_>>> = Vec::with_capacity(self.columns.len());
        for (line, number) in lines(text).zip(block.first_line..).filter(|(line, _)| !line.trim().is_empty()) {
            found.fill(None);
            let mut json = serde_json::Deserializer::from_str(line);
            let read = Object { columns: &self.columns, found: &mut found }.deserialize(&mut json);
            read.and_then(|()| json.end()).map_err(|error| self.damaged(number, &fault(&error)))?;
            values.clear();
            for raw in &found {
                let value = raw.map(|raw| Value::read(raw.get())).transpose();
                values.push(value.map_err(|what| self.damaged(number, what))?.flatten());
            }
            sink.push_row(values.iter().map(|value| value.as_ref().map(Value::item)))?;
            self.note(&found);
        }
        Ok(())
    }

    fn note(&self, found: &[Option<&RawValue>]) {
        // A plain load first: a store on every line would make the threads fight for the cache line.
        for seen in
            self.seen.iter().zip(found).filter(|(_, raw)| raw.is_some()).map(|(seen, _)| seen).chain([&self.any_object])
        {
            if !seen.load(Ordering::Relaxed) {
                seen.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Fails when there were objects, but one of the fields was in none of them.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let unseen = self.seen.iter().position(|seen| !seen.load(Ordering::Relaxed));
        match unseen {
            Some(unseen) if self.any_object.load(Ordering::Relaxed) => {
                Err(columns::missing(&self.name, Names::of_schema(&[]), &self.columns[unseen], "no field")
                    .allowed("a field of the objects"))
            }
            _ => Ok(()),
        }
    }

    fn damaged(&self, line: u64, what: &str) -> Error {
        Error::new(ErrorKind::Damaged, format!("{}: line {line}: {what}", self.name))
            .value(&self.name)
            .hint("NDJSON has one object a line; values are text, numbers, true, false or null")
    }
}

/// What is wrong with a line. The parser's own words may quote the data.
fn fault(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Syntax => "a fault in the JSON",
        Category::Eof => "the JSON ends too early",
        Category::Data | Category::Io => "another type",
    };
    format!("not a JSON object: {what} at column {}", error.column())
}

/// A JSON value that can be counted.
#[derive(Debug, PartialEq)]
enum Value<'a> {
    Text(Cow<'a, str>),
    Integer(i128),
    Float(f64),
    Boolean(bool),
}

impl<'a> Value<'a> {
    /// Reads the text of one value; `None` for null. The text was found to be valid JSON.
    fn read(raw: &'a str) -> Result<Option<Self>, &'static str> {
        Ok(match raw.as_bytes() {
            b"null" => None,
            b"true" => Some(Self::Boolean(true)),
            b"false" => Some(Self::Boolean(false)),
            [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => {
                Some(Self::Text(Cow::Borrowed(&raw[1..raw.len() - 1])))
            }
            [b'"', ..] => {
                let text = serde_json::from_str(raw).map_err(|_| "text with an escape that stands for no character")?;
                Some(Self::Text(Cow::Owned(text)))
            }
            [b'[' | b'{', ..] => return Err("the field holds a list or an object, which cannot be counted"),
            _ => Some(Self::number(raw)?),
        })
    }

    fn number(raw: &str) -> Result<Self, &'static str> {
        if raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            return raw.parse().map(Self::Integer).map_err(|_| "an integer of more than 128 bits");
        }
        let value: f64 = raw.parse().map_err(|_| "not a number")?;
        if value.is_finite() { Ok(Self::Float(value)) } else { Err("a number above the range of 64-bit floats") }
    }

    fn item(&self) -> Item<'_> {
        match self {
            Self::Text(text) => Item::Text(text),
            Self::Integer(value) => Item::Integer(*value),
            Self::Float(value) => Item::Float(*value),
            Self::Boolean(value) => Item::Boolean(*value),
        }
    }
}

/// Reads one object and keeps the text of the wanted values. Of two fields with one name the last counts.
struct Object<'a, 'de> {
    columns: &'a [String],
    found: &'a mut [Option<&'de RawValue>],
}

impl<'de> DeserializeSeed<'de> for Object<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(column) = map.next_key_seed(Key(self.columns))? {
            match column {
                Some(column) => self.found[column] = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The position of a field's name among the wanted ones.
struct Key<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|column| column == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_type() {
        for (raw, value) in [
            ("null", None),
            ("true", Some(Value::Boolean(true))),
            ("7", Some(Value::Integer(7))),
            ("-0", Some(Value::Integer(0))),
            ("170141183460469231731687303715884105727", Some(Value::Integer(i128::MAX))),
            ("1.50", Some(Value::Float(1.5))),
            ("1e2", Some(Value::Float(100.0))),
            (r#""""#, Some(Value::Text("".into()))),
            (r#""a\nb""#, Some(Value::Text("a\nb".into()))),
            (r#""\u00e9""#, Some(Value::Text("é".into()))),
        ] {
            assert_eq!(Value::read(raw), Ok(value), "{raw}");
        }
    }

    #[test]
    fn what_would_run_together_is_refused() {
        for raw in ["[1]", "{}", "1e999", "999999999999999999999999999999999999999999", r#""\ud800""#] {
            assert!(Value::read(raw).is_err(), "{raw}");
        }
    }
}
