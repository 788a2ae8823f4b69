//! The study file of parties that build F0 sketches.

mod file;

use std::path::Path;

use dp_noise::Epsilon;
use f0_sketch::{Leaf, ModeKind, NoiseRule};
use sketch_hash::HashId;

use super::any::{AnyF0Sketch, ReleasedF0Sketch};
use super::convert::unit_of;
use super::terms::F0Terms;
use crate::error::Error;
use crate::output_file::{OutputFile, Readers};
use crate::study::{StudyDifference, StudyError, check_null};
use crate::text::TextRules;
use crate::text_file;
use crate::user_bound::PrivacyUnit;

/// What the parties of a study of kind `f0` agree on, so that their sketches can be put together and count the same things: mode,
/// shape and weights, hash and fingerprint of its key, ε, noise and whom it protects, how text is cleaned.
///
/// The file is that of a [`Study`](crate::Study), with the fields of this kind; the same rules hold.
///
/// # Privacy
/// Nothing in a study may depend on private data: agree on it before anybody looks.
///
/// # Examples
/// ```
/// use dp_noise::Epsilon;
/// use dpsketch::f0_sketch::{F0Shape, ModeKind};
/// use dpsketch::sketch_hash::{DefaultHash, HashKey, KeyedHash};
/// use dpsketch::{F0Study, F0Terms};
///
/// let hash = DefaultHash::new(HashKey::DEFAULT).id();
/// let study = F0Study::new(ModeKind::Set, F0Terms::unit(F0Shape::DEFAULT), hash, Epsilon::new(1.0)?)?;
/// assert_eq!(F0Study::parse(study.to_text().as_bytes())?, study);
///
/// let other = F0Terms::unit(F0Shape::new(24, 2048)?);
/// let error = study.check(ModeKind::Set, &other, hash, None).unwrap_err();
/// assert_eq!(error.to_string(), "not made as the study says: shape: expected 24 x 4096, found 24 x 2048");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct F0Study {
    mode: ModeKind,
    terms: F0Terms,
    hash: HashId,
    epsilon: Epsilon,
    noise: NoiseRule,
    unit: PrivacyUnit,
    text: TextRules,
}

impl F0Study {
    /// A study in which an item is the unit of privacy, noise is the least, and text stays as it is.
    ///
    /// # Errors
    /// [`StudyError::Irregular`] for a shape that is not regular, which a study has no fields for.
    pub fn new(mode: ModeKind, terms: F0Terms, hash: HashId, epsilon: Epsilon) -> Result<Self, StudyError> {
        if terms.shape().cells_per_level().is_none() {
            return Err(StudyError::Irregular { found: terms.shape().to_string() });
        }
        let (noise, unit, text) = (NoiseRule::Tight, PrivacyUnit::default(), TextRules::default());
        Ok(Self { mode, terms, hash, epsilon, noise, unit, text })
    }

    /// With another noise than the least.
    #[must_use]
    pub fn with_noise(self, noise: NoiseRule) -> Self {
        Self { noise, ..self }
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
    /// [`StudyError::File`] when it is damaged, of another kind or version, or has an unknown, missing or invalid field;
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

    /// Checks that a build is as the study says, and its level and noise, unless there is no release yet.
    ///
    /// # Errors
    /// [`StudyError::Differs`] with every difference.
    pub fn check(
        &self,
        mode: ModeKind,
        terms: &F0Terms,
        hash: HashId,
        level: Option<(Epsilon, NoiseRule)>,
    ) -> Result<(), StudyError> {
        let mut differences = Differences::default();
        self.compare_frame(&mut differences, mode, terms, hash);
        if let Some((epsilon, noise)) = level {
            differences.compare("epsilon", &self.epsilon.get(), &epsilon.get());
            differences.compare("noise", &noise_word(self.noise), &noise_word(noise));
        }
        differences.told()
    }

    /// Checks that a sketch was made as this study says: mode, shape, weights, hash and key, whom it protects, and of every release in
    /// it level and noise. A raw sketch has no level yet. How text was cleaned is not known from a sketch.
    ///
    /// # Errors
    /// [`StudyError::Differs`] with every difference.
    pub fn check_sketch(&self, sketch: &AnyF0Sketch) -> Result<(), StudyError> {
        let mut differences = Differences::default();
        let terms = F0Terms::new(sketch.f0_shape().clone(), sketch.weight_rule());
        self.compare_frame(&mut differences, sketch.mode(), &terms, sketch.hash_id());
        let expected = self.unit.to_string();
        match sketch {
            AnyF0Sketch::Raw(raw) => differences.compare("unit", &expected, &raw.unit().to_string()),
            AnyF0Sketch::Private(private) => {
                for leaf in ReleasedF0Sketch::leaves(private) {
                    differences.compare("unit", &expected, &unit_of(leaf.unit()).to_string());
                    differences.compare("epsilon", &self.epsilon.get(), &leaf.epsilon().get());
                    differences.compare("noise", &noise_word(self.noise), &noise_word(noise_of(leaf)));
                }
            }
        }
        differences.told()
    }

    fn compare_frame(&self, into: &mut Differences, mode: ModeKind, terms: &F0Terms, hash: HashId) {
        into.compare("mode", &self.mode, &mode);
        into.compare("shape", self.terms.shape(), terms.shape());
        into.compare("weights", &self.terms.rule(), &terms.rule());
        into.compare("hash", &self.hash, &hash);
    }

    /// Sets, or streams with repetitions.
    #[must_use]
    pub const fn mode(&self) -> ModeKind {
        self.mode
    }

    /// Shape and weight rule.
    #[must_use]
    pub const fn terms(&self) -> &F0Terms {
        &self.terms
    }

    /// Hash function and fingerprint of its key.
    #[must_use]
    pub const fn hash(&self) -> HashId {
        self.hash
    }

    /// ε of every party's release.
    #[must_use]
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// How the noise follows from it.
    #[must_use]
    pub const fn noise(&self) -> NoiseRule {
        self.noise
    }

    /// Who or what ε protects.
    #[must_use]
    pub const fn unit(&self) -> PrivacyUnit {
        self.unit
    }

    /// How text is cleaned before it is hashed.
    #[must_use]
    pub const fn text(&self) -> &TextRules {
        &self.text
    }
}

/// Every way in which something is not as a study says, each once.
#[derive(Default)]
struct Differences(Vec<StudyDifference>);

impl Differences {
    fn compare<T: PartialEq + ToString>(&mut self, field: &'static str, expected: &T, found: &T) {
        if expected != found {
            let difference = StudyDifference { field, expected: expected.to_string(), found: found.to_string() };
            if !self.0.contains(&difference) {
                self.0.push(difference);
            }
        }
    }

    fn told(self) -> Result<(), StudyError> {
        if self.0.is_empty() { Ok(()) } else { Err(StudyError::Differs { differences: self.0 }) }
    }
}

/// `tight` or `paper`.
pub(super) fn noise_word(noise: NoiseRule) -> &'static str {
    if noise == NoiseRule::Paper { "paper" } else { "tight" }
}

/// Which rule the flips of a release follow: those of the paper are `1/(2 + ε/k)`, rounded up by 2⁻⁶⁰ at most.
fn noise_of(leaf: &Leaf) -> NoiseRule {
    let paper = 1.0 / (2.0 + leaf.epsilon().get() / f64::from(leaf.unit().max_items()));
    if (leaf.flip_probability() / paper - 1.0).abs() < 1e-12 { NoiseRule::Paper } else { NoiseRule::Tight }
}

#[cfg(test)]
mod tests;
