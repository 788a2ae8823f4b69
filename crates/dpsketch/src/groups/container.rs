use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use cardinality_estimators::Confidence;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sfm_pcsa::ReleaseId;
use sketch_hash::Item;

use super::checksum::{GroupCheck, GroupChecksum};
use super::date::date_text;
use super::error::GroupError;
use crate::answer::Answer;
use crate::any::AnySketch;
use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::ledger::release_id;
use crate::study::Study;
use crate::text_file::{self, Layout};
use crate::union_answer::estimate;

/// The name of the column with the sketches.
pub(super) const SKETCH_COLUMN: &str = "sketch";

const GROUPS: &str = "dpsketch.groups";
const STUDY: &str = "dpsketch.study";
const LAYOUT: Layout = Layout { format: "dpsketch groups", version: 2, max: 1 << 16 };

/// What a table of released sketches says about itself, in two entries of its metadata: `dpsketch.groups` (which column
/// holds the groups, whether they come from a list, the name of the release, a checksum of the groups in their rows) and `dpsketch.study` (a [`Study`]: shape,
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
    checksum: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupsV2 {
    format: String,
    version: u64,
    column: String,
    /// Whether the groups come from a public list.
    listed: bool,
    /// 32 hexadecimal digits.
    release: String,
    /// 16 hexadecimal digits.
    checksum: String,
}

impl GroupContainer {
    /// Describes a table with these groups in its rows.
    pub(super) fn new<'a>(
        study: Study,
        column: &str,
        listed: bool,
        release: ReleaseId,
        mut groups: impl Iterator<Item = Item<'a>>,
    ) -> Result<Self, GroupError> {
        let mut checksum = GroupChecksum::new(column, listed, release);
        groups.try_for_each(|group| checksum.add(Some(group)))?;
        Ok(Self { study, column: column.to_owned(), listed, release, checksum: checksum.finish() })
    }

    /// The entries of the metadata.
    #[must_use]
    pub fn to_metadata(&self) -> [(String, String); 2] {
        let groups = GroupsV2 {
            format: LAYOUT.format.to_owned(),
            version: LAYOUT.version,
            column: self.column.clone(),
            listed: self.listed,
            release: self.release.to_string(),
            checksum: format!("{:016x}", self.checksum),
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
        let groups: GroupsV2 =
            text_file::parse(found(GROUPS)?.as_bytes(), &LAYOUT).map_err(|error| fail(format!("{GROUPS}: {error}")))?;
        let study = Study::parse(found(STUDY)?.as_bytes()).map_err(|error| fail(format!("{STUDY}: {error}")))?;
        let release = release_id(&groups.release).ok_or_else(|| fail("release is no name".to_owned()))?;
        let digits = groups.checksum.len() == 16 && groups.checksum.bytes().all(|byte| byte.is_ascii_hexdigit());
        let checksum = digits.then(|| u64::from_str_radix(&groups.checksum, 16).ok()).flatten();
        let checksum = checksum.ok_or_else(|| fail("checksum has not 16 hexadecimal digits".to_owned()))?;
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        if names != [groups.column.as_str(), SKETCH_COLUMN] {
            return Err(fail(format!("its columns are not {:?} and {SKETCH_COLUMN:?}", groups.column)).into());
        }
        if schema.field(1).data_type() != &DataType::Binary {
            return Err(fail(format!("its column {SKETCH_COLUMN:?} is not binary")).into());
        }
        Ok(Self { study, column: groups.column, listed: groups.listed, release, checksum })
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

    /// A check of the groups of the table, which have no other: each sketch has its own checksum, but none of its name.
    ///
    /// # Examples
    /// ```
    /// # use dpsketch::{GroupedBuilder, PrivacyUnit, TextRules, parse_epsilon};
    /// # use sfm_pcsa::PcsaShape;
    /// # use sketch_hash::{AnyHash, Item};
    /// # let mut builder = GroupedBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
    /// # builder.push_row(Some(Item::from("a")), None, [Some(Item::from(1_u32))])?;
    /// # let (sketches, _) = builder.finish()?;
    /// # let mut released = sketches.release("publisher", parse_epsilon("1")?, PrivacyUnit::Item)?;
    /// # let container = released.container().clone();
    /// # let batch = released.next().ok_or("one batch")??;
    /// let mut check = container.check_groups();
    /// check.add(batch.column(0))?; // of every batch
    /// check.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn check_groups(&self) -> GroupCheck {
        GroupCheck::of(self, self.checksum)
    }

    /// Estimates every group of a batch, in its order; `None` where the sketch is null.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] when a sketch is damaged or not made as the container says. The number of its row in the batch is
    /// named, not its group.
    pub fn estimates(&self, batch: &RecordBatch, confidence: Confidence) -> Result<Vec<Option<Answer>>, Error> {
        let sketches = self.sketches(batch)?;
        let answer = |sketch: AnySketch| estimate(&[(String::new(), sketch)], confidence);
        sketches.into_iter().map(|sketch| sketch.map(answer).transpose()).collect()
    }

    /// Decodes every sketch of a batch, and checks that it was made as the container says. A null, which a later program may
    /// have put there, is no sketch, and never the one of an empty set.
    ///
    /// # Errors
    /// As [`estimates`](Self::estimates).
    pub fn sketches(&self, batch: &RecordBatch) -> Result<Vec<Option<AnySketch>>, Error> {
        let column = batch.column_by_name(SKETCH_COLUMN).and_then(|column| column.as_binary_opt::<i32>());
        let column = column.ok_or_else(|| GroupError::Container { reason: "no column of sketches".to_owned() })?;
        let read = |(row, bytes): (usize, Option<&[u8]>)| {
            let Some(bytes) = bytes else { return Ok(None) };
            let sketch = AnySketch::from_bytes(bytes);
            let sketch = sketch.and_then(|sketch| match self.study.check_sketch(&sketch) {
                Ok(()) if sketch.is_raw() => Err(Error::new(ErrorKind::Refused, "it is raw")),
                Ok(()) => Ok(Some(sketch)),
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
