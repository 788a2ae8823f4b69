//! The study file: what several parties have to agree on before they build sketches.

mod error;
mod facts;
mod file;
mod shape;

use std::path::Path;

use dp_noise::Epsilon;
pub use error::StudyError;
pub use facts::{StudyDifference, StudyFacts};
pub(crate) use file::{read_hash, read_unit};
use sfm_pcsa::SketchShape;
pub use shape::StudyShape;
use sketch_hash::HashId;

use crate::any::AnySketch;
use crate::any_shape::AnyShape;
use crate::error::Error;
use crate::output_file::{OutputFile, Readers};
use crate::text::TextRules;
use crate::text_file;
use crate::user_bound::PrivacyUnit;

/// The longest text that may stand for a missing value, in bytes.
const MAX_NULL_LEN: usize = 255;

/// What the parties of a study agree on, so that their sketches merge and count the same things: kind and shape, hash and
/// fingerprint of its key, ε and whom it protects, how text is cleaned.
///
/// The file is text (JSON) made to be read and passed around. It holds the key's fingerprint only, never the key, which
/// travels in a key file of its own. Fields that are unknown, missing or repeated are refused: a misspelt setting does not
/// silently become a default.
///
/// Types are not part of it: a number in one party's file and its digits as text in another's are different items
/// whatever the study says.
///
/// # Privacy
/// Nothing in a study may depend on private data: agree on it before anybody looks.
///
/// # Examples
/// ```
/// use dp_noise::Epsilon;
/// use dpsketch::{Study, StudyFacts, TextRules};
/// use sfm_pcsa::PcsaShape;
/// use sketch_hash::{DefaultHash, HashKey, KeyedHash};
///
/// let hash = DefaultHash::new(HashKey::DEFAULT).id();
/// let study = Study::new(PcsaShape::DEFAULT.into(), hash, Epsilon::new(1.0)?)
///     .with_text(TextRules { trim: true, lowercase: true, null: Some("NA".to_owned()) })?;
/// assert_eq!(Study::parse(study.to_text().as_bytes())?, study);
///
/// let sketch = StudyFacts { epsilon: Some(Epsilon::new(2.0)?), hash: Some(hash), ..StudyFacts::default() };
/// let error = study.check(&sketch).unwrap_err();
/// assert_eq!(error.to_string(), "not made as the study says: epsilon: expected 1, found 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    shape: StudyShape,
    hash: HashId,
    epsilon: Epsilon,
    unit: PrivacyUnit,
    text: TextRules,
}

impl Study {
    /// A study in which an item is the unit of privacy and text stays as it is.
    #[must_use]
    pub fn new(shape: StudyShape, hash: HashId, epsilon: Epsilon) -> Self {
        Self { shape, hash, epsilon, unit: PrivacyUnit::default(), text: TextRules::default() }
    }

    /// Sets whom ε protects.
    ///
    /// # Errors
    /// [`StudyError::ItemEpsilon`] when the ε that is left for a single item is below the least accepted one.
    pub fn with_unit(self, unit: PrivacyUnit) -> Result<Self, StudyError> {
        unit.item_epsilon(self.epsilon).map_err(StudyError::ItemEpsilon)?;
        Ok(Self { unit, ..self })
    }

    /// Sets how text is cleaned before it is hashed.
    ///
    /// # Errors
    /// [`StudyError::NullText`] when the text for missing values is longer than 255 bytes.
    pub fn with_text(self, text: TextRules) -> Result<Self, StudyError> {
        check_null(&text)?;
        Ok(Self { text, ..self })
    }

    /// Reads the text of a study file.
    ///
    /// # Errors
    /// [`StudyError::File`] when it is damaged, of another version, or has an unknown, missing or invalid field;
    /// otherwise as [`with_unit`](Self::with_unit) and [`with_text`](Self::with_text).
    pub fn parse(text: &[u8]) -> Result<Self, StudyError> {
        file::read(text)
    }

    /// The text of a study file. Equal studies have equal texts.
    #[must_use]
    pub fn to_text(&self) -> String {
        file::write(self)
    }

    /// Reads a study file.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`](crate::ErrorKind::Unreadable) when it cannot be read, and as [`parse`](Self::parse).
    pub fn load(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let (_, text) = text_file::read(path, &file::LAYOUT).map_err(|error| Error::reading(&name, error))?;
        Self::parse(&text).map_err(|error| Error::from(error).prefixed(&name).value(&name))
    }

    /// Writes a new study file.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) when there is a file of that name: others may have it already;
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when it cannot be written.
    pub fn save_new(&self, path: &Path) -> Result<(), Error> {
        OutputFile::create_new(path, Readers::Anyone)?.commit(self.to_text().as_bytes())
    }

    /// Checks that something was made as this study says. What is not known about it agrees.
    ///
    /// # Errors
    /// [`StudyError::Differs`] with every difference.
    pub fn check(&self, found: &StudyFacts) -> Result<(), StudyError> {
        let differences = facts::differences(self, found);
        if differences.is_empty() { Ok(()) } else { Err(StudyError::Differs { differences }) }
    }

    /// Checks that a sketch was made as this study says: kind, shape, hash and key, and of every release in it ε and whom
    /// that protects.
    ///
    /// A raw sketch has no ε yet. How text was cleaned is not known from a sketch.
    ///
    /// # Errors
    /// [`StudyError::Differs`] with every difference.
    pub fn check_sketch(&self, sketch: &AnySketch) -> Result<(), StudyError> {
        let epsilon = sketch.releases().iter().map(|leaf| leaf.epsilon()).find(|found| *found != self.epsilon);
        let hash = Some(sketch.hash_id());
        let shape = match sketch.shape() {
            AnyShape::Bitmap(SketchShape::Pcsa(shape)) => Some(shape.into()),
            _ => None,
        };
        let mut differences = facts::differences(self, &StudyFacts { shape, hash, epsilon, ..StudyFacts::default() });
        if shape.is_none() {
            let (expected, found) = (self.shape.to_string(), format!("{} {}", sketch.kind(), sketch.shape()));
            differences.insert(0, StudyDifference { field: "shape", expected, found });
        }
        if let Some(found) = sketch.units().into_iter().find(|found| *found != self.unit.into()) {
            let (expected, found) = (self.unit.to_string(), found.to_string());
            differences.push(StudyDifference { field: "unit", expected, found });
        }
        if differences.is_empty() { Ok(()) } else { Err(StudyError::Differs { differences }) }
    }

    /// Kind and shape of the sketches.
    #[must_use]
    pub fn shape(&self) -> StudyShape {
        self.shape
    }

    /// Hash function and fingerprint of its key.
    #[must_use]
    pub fn hash(&self) -> HashId {
        self.hash
    }

    /// ε of every party's release.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// Who or what that ε protects.
    #[must_use]
    pub fn unit(&self) -> PrivacyUnit {
        self.unit
    }

    /// How text is cleaned before it is hashed.
    #[must_use]
    pub fn text(&self) -> &TextRules {
        &self.text
    }
}

/// Checks the text that stands for a missing value.
pub(crate) fn check_null(rules: &TextRules) -> Result<(), StudyError> {
    let found = rules.null.as_ref().map_or(0, String::len);
    if found > MAX_NULL_LEN { Err(StudyError::NullText { max: MAX_NULL_LEN, found }) } else { Ok(()) }
}
