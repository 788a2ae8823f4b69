//! What several parties agree on before they build frequency sketches.

mod file;

use std::path::Path;

use countsketch_dp::{CountSketchShape, Granularity, Leaf, PrivacyCost, PrivateCountSketch};
use dp_noise::Neighbouring;
use sketch_hash::HashId;

use super::level::FrequencyLevel;
use super::raw::RawCountSketch;
use super::terms::{CountSketchTerms, unit_in_words};
use super::totals::relation_in_words;
use crate::error::Error;
use crate::output_file::{OutputFile, Readers};
use crate::study::{StudyDifference, StudyError, check_null};
use crate::text::TextRules;
use crate::text_file;

/// What the parties of a study of frequencies agree on, so that their sketches add up and count the same things: shape,
/// grid, bound on contributions, hash and fingerprint of its key, level and relation of the release, how text is cleaned.
///
/// The counterpart of [`Study`](crate::Study) for `countsketch`; the same kind of file, told apart by its field `kind`.
///
/// # Privacy
/// Nothing in a study may depend on private data: agree on it before anybody looks.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::dp_noise::Rho;
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
/// use dpsketch::sketch_hash::{DefaultHash, HashKey, KeyedHash};
/// use dpsketch::{CountSketchTerms, FrequencyLevel, FrequencyStudy};
///
/// let terms = CountSketchTerms::records(CountSketchShape::new(5, 4096)?, Granularity::ONE, 1)?;
/// let hash = DefaultHash::new(HashKey::DEFAULT).id();
/// let study = FrequencyStudy::new(terms, hash, FrequencyLevel::Rho(Rho::new(0.5)?));
/// assert_eq!(FrequencyStudy::parse(study.to_text().as_bytes())?, study);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyStudy {
    terms: CountSketchTerms,
    hash: HashId,
    level: FrequencyLevel,
    relation: Neighbouring,
    text: TextRules,
}

impl FrequencyStudy {
    /// A study in which one unit is added or removed, and text stays as it is.
    #[must_use]
    pub fn new(terms: CountSketchTerms, hash: HashId, level: FrequencyLevel) -> Self {
        Self { terms, hash, level, relation: Neighbouring::AddRemove, text: TextRules::default() }
    }

    /// Sets which data sets are neighbours.
    #[must_use]
    pub fn with_relation(self, relation: Neighbouring) -> Self {
        Self { relation, ..self }
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
    /// [`StudyError::File`] when it is damaged, of another kind or version, or has an unknown, missing or invalid field.
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

    /// Every way in which what is known of a build differs from the study; what is `None` agrees.
    ///
    /// # Errors
    /// [`StudyError::Differs`] with every difference.
    pub fn check(
        &self,
        terms: Option<CountSketchTerms>,
        hash: Option<HashId>,
        level: Option<FrequencyLevel>,
        relation: Option<Neighbouring>,
    ) -> Result<(), StudyError> {
        let mut differences = Vec::new();
        if let Some(terms) = terms {
            self.compare_frame(&mut differences, terms.shape(), terms.granularity());
            compare(&mut differences, "unit", &self.terms.unit(), &terms.unit());
        }
        if let Some(hash) = hash {
            compare(&mut differences, "hash", &self.hash, &hash);
        }
        if let Some(level) = level {
            compare(&mut differences, "level", &self.level, &level);
        }
        if let Some(relation) = relation {
            self.compare_relation(&mut differences, relation);
        }
        told(differences)
    }

    /// Checks that a raw sketch was made as this study says. It has no level yet.
    ///
    /// # Errors
    /// [`StudyError::Differs`] with every difference.
    pub fn check_raw(&self, raw: &RawCountSketch) -> Result<(), StudyError> {
        self.check(Some(raw.terms()), Some(raw.hash_id()), None, None)
    }

    /// Checks that a private sketch was made as this study says: shape, grid, hash and key, and of every release in it
    /// level, relation and whom it protects. How text was cleaned is not known from a sketch.
    ///
    /// # Errors
    /// [`StudyError::Differs`] with every difference.
    pub fn check_private(&self, sketch: &PrivateCountSketch) -> Result<(), StudyError> {
        let mut differences = Vec::new();
        self.compare_frame(&mut differences, sketch.shape(), sketch.granularity());
        compare(&mut differences, "hash", &self.hash, &sketch.hash_id());
        for guarantee in sketch.leaves().iter().filter_map(Leaf::guarantee) {
            let unit = unit_in_words(guarantee.bound(), sketch.granularity());
            compare(&mut differences, "unit", &self.terms.unit(), &unit);
            self.compare_relation(&mut differences, guarantee.relation());
            if !self.allows(guarantee.cost()) {
                compare(&mut differences, "level", &self.level.to_string(), &cost_in_words(guarantee.cost()));
            }
        }
        told(differences)
    }

    /// Whether a release of this cost is one at the level of the study.
    fn allows(&self, cost: PrivacyCost) -> bool {
        let exposure = countsketch_dp::Exposure::new(self.terms.shape(), self.terms.bound(), 1, self.relation);
        self.level.price(exposure).is_ok_and(|priced| priced.cost() == cost)
    }

    fn compare_frame(&self, into: &mut Vec<StudyDifference>, shape: CountSketchShape, granularity: Granularity) {
        compare(into, "shape", &self.terms.shape(), &shape);
        compare(into, "granularity", &self.terms.granularity(), &granularity);
    }

    fn compare_relation(&self, into: &mut Vec<StudyDifference>, relation: Neighbouring) {
        compare(into, "relation", &relation_in_words(self.relation), &relation_in_words(relation));
    }

    /// Shape, grid and bound.
    #[must_use]
    pub const fn terms(&self) -> CountSketchTerms {
        self.terms
    }

    /// Hash function and fingerprint of its key.
    #[must_use]
    pub const fn hash(&self) -> HashId {
        self.hash
    }

    /// The level of every party's release.
    #[must_use]
    pub const fn level(&self) -> FrequencyLevel {
        self.level
    }

    /// Which data sets are neighbours.
    #[must_use]
    pub const fn relation(&self) -> Neighbouring {
        self.relation
    }

    /// How text is cleaned before it is hashed.
    #[must_use]
    pub const fn text(&self) -> &TextRules {
        &self.text
    }
}

/// Notes a difference, each once.
fn compare<T: PartialEq + ToString>(into: &mut Vec<StudyDifference>, field: &'static str, expected: &T, found: &T) {
    if expected != found {
        let difference = StudyDifference { field, expected: expected.to_string(), found: found.to_string() };
        if !into.contains(&difference) {
            into.push(difference);
        }
    }
}

fn told(differences: Vec<StudyDifference>) -> Result<(), StudyError> {
    if differences.is_empty() { Ok(()) } else { Err(StudyError::Differs { differences }) }
}

fn cost_in_words(cost: PrivacyCost) -> String {
    match cost {
        PrivacyCost::Rho(rho) => format!("rho {}", rho.get()),
        PrivacyCost::Epsilon(epsilon) => format!("epsilon {}", epsilon.get()),
        _ => "another cost".to_owned(),
    }
}

#[cfg(test)]
mod tests;
