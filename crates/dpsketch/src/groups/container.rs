use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use cardinality_estimators::Confidence;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sfm_pcsa::ReleaseId;
use sketch_hash::Item;

use super::error::GroupError;
use super::keys::date_text;
use crate::answer::{Answer, estimate};
use crate::any::AnySketch;
use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::ledger::release_id;
use crate::study::Study;
use crate::text_file::{self, Layout};

/// The name of the column with the sketches.
pub(super) const SKETCH_COLUMN: &str = "sketch";

const GROUPS: &str = "dpsketch.groups";
const STUDY: &str = "dpsketch.study";
const LAYOUT: Layout = Layout { format: "dpsketch groups", version: 1, max: 1 << 16 };

/// What a table of released sketches says about itself, in two entries of its metadata: `dpsketch.groups` (which column
/// holds the groups, whether they come from a list, the name of the release) and `dpsketch.study` (a [`Study`]: shape,
/// hash and key, ε and whom it protects, how text was cleaned).
///
/// # Examples
/// See [`GroupedSketches::release`](crate::GroupedSketches::release).
#[derive(Clone, Debug, PartialEq)]
pub struct GroupContainer {
    study: Study,
    column: String,
    listed: bool,
    release: ReleaseId,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupsV1 {
    format: String,
    version: u64,
    column: String,
    /// Whether the groups come from a public list.
    listed: bool,
    /// 32 hexadecimal digits.
    release: String,
}

impl GroupContainer {
    pub(super) fn new(study: Study, column: &str, listed: bool, release: ReleaseId) -> Self {
        Self { study, column: column.to_owned(), listed, release }
    }

    /// The entries of the metadata.
    #[must_use]
    pub fn to_metadata(&self) -> [(String, String); 2] {
        let groups = GroupsV1 {
            format: LAYOUT.format.to_owned(),
            version: LAYOUT.version,
            column: self.column.clone(),
            listed: self.listed,
            release: self.release.to_string(),
        };
        // Strings, numbers and booleans under fixed names: nothing can fail.
        let groups = serde_json::to_string(&groups).unwrap_or_default();
        [(GROUPS.to_owned(), groups), (STUDY.to_owned(), self.study.to_text())]
    }

    /// Whether metadata claim to be those of a container.
    pub fn is_claimed<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
        names.any(|name| name == GROUPS)
    }

    /// Reads the metadata of a table with these columns.
    ///
    /// # Errors
    /// [`GroupError::Container`] as source when an entry or a column is missing or invalid.
    pub fn read<'a>(schema: &Schema, entry: impl Fn(&str) -> Option<&'a str>) -> Result<Self, Error> {
        let fail = |reason: String| GroupError::Container { reason };
        let found = |name: &str| entry(name).ok_or_else(|| fail(format!("no metadata entry {name}")));
        let groups: GroupsV1 =
            text_file::parse(found(GROUPS)?.as_bytes(), &LAYOUT).map_err(|error| fail(format!("{GROUPS}: {error}")))?;
        let study = Study::parse(found(STUDY)?.as_bytes()).map_err(|error| fail(format!("{STUDY}: {error}")))?;
        let release = release_id(&groups.release).ok_or_else(|| fail("release is no name".to_owned()))?;
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        if names != [groups.column.as_str(), SKETCH_COLUMN] {
            return Err(fail(format!("its columns are not {:?} and {SKETCH_COLUMN:?}", groups.column)).into());
        }
        if schema.field(1).data_type() != &DataType::Binary {
            return Err(fail(format!("its column {SKETCH_COLUMN:?} is not binary")).into());
        }
        Ok(Self { study, column: groups.column, listed: groups.listed, release })
    }

    /// Shape, hash and key, ε and whom it protects, how text was cleaned.
    #[must_use]
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// The name of the group column.
    #[must_use]
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Whether the groups come from a public list, so that their existence says nothing.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.listed
    }

    /// The name of this release of all groups, which a ledger notes.
    #[must_use]
    pub fn release(&self) -> ReleaseId {
        self.release
    }

    /// Estimates every group of a batch, in its order.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] when a sketch is damaged or not made as the container says. The number of its row in the batch is
    /// named, not its group.
    pub fn estimates(&self, batch: &RecordBatch, confidence: Confidence) -> Result<Vec<Answer>, Error> {
        let sketches = self.sketches(batch)?;
        let answer = |sketch: AnySketch| estimate(&[(String::new(), sketch)], confidence);
        sketches.into_iter().map(answer).collect()
    }

    /// Decodes every sketch of a batch, and checks that it was made as the container says.
    ///
    /// # Errors
    /// As [`estimates`](Self::estimates).
    pub fn sketches(&self, batch: &RecordBatch) -> Result<Vec<AnySketch>, Error> {
        let column = batch.column_by_name(SKETCH_COLUMN).and_then(|column| column.as_binary_opt::<i32>());
        let column = column.ok_or_else(|| GroupError::Container { reason: "no column of sketches".to_owned() })?;
        let read = |(row, bytes): (usize, Option<&[u8]>)| {
            let sketch = AnySketch::from_bytes(bytes.unwrap_or_default());
            let sketch = sketch.and_then(|sketch| match self.study.check_sketch(&sketch) {
                Ok(()) if sketch.is_raw() => Err(Error::new(ErrorKind::Refused, "it is raw")),
                Ok(()) => Ok(sketch),
                Err(error) => Err(Error::new(ErrorKind::Damaged, error.to_string()).caused_by(error)),
            });
            sketch.map_err(|error| error.prefixed(&format!("the sketch in row {} of the batch", row + 1)))
        };
        column.iter().enumerate().map(read).collect()
    }
}

/// A value of a group column as JSON: text, number, true or false; a date as text such as 2024-12-31.
///
/// # Errors
/// [`ErrorKind::Column`] for a type that names no groups.
pub fn group_value(column: &dyn Array, row: usize) -> Result<Value, Error> {
    let value = Column::new(column)?.item(row);
    Ok(match value {
        None => Value::Null,
        Some(Item::Text(text)) => json!(text),
        Some(Item::Boolean(value)) => json!(value),
        Some(Item::Date(days)) => json!(date_text(days)),
        Some(Item::Integer(value)) => match i64::try_from(value) {
            Ok(value) => json!(value),
            Err(_) => u64::try_from(value).map_or(Value::Null, |value| json!(value)),
        },
        Some(_) => return Err(GroupError::KeyType { found: column.data_type().to_string() }.into()),
    })
}
