use core::fmt;

use dp_noise::Epsilon;
use sketch_hash::HashId;

use super::{Study, StudyShape};
use crate::text::TextRules;
use crate::user_bound::PrivacyUnit;

/// What is known about how something was built, to be compared with a study. What is not known is `None` and agrees.
///
/// A whole [`Study`] turns into one by `From`, so that two parties' files can be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyFacts {
    /// Kind and shape of the sketch.
    pub shape: Option<StudyShape>,
    /// Hash function and fingerprint of its key.
    pub hash: Option<HashId>,
    /// ε of the release, as given.
    pub epsilon: Option<Epsilon>,
    /// Who or what that ε protects.
    pub unit: Option<PrivacyUnit>,
    /// How text was cleaned. A sketch does not tell.
    pub text: Option<TextRules>,
}

impl From<&Study> for StudyFacts {
    fn from(study: &Study) -> Self {
        Self {
            shape: Some(study.shape()),
            hash: Some(study.hash()),
            epsilon: Some(study.epsilon()),
            unit: Some(study.unit()),
            text: Some(study.text().clone()),
        }
    }
}

/// One way in which something was not made as a study says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyDifference {
    /// What differs: `shape`, `hash`, `epsilon`, `unit`, `trim`, `lowercase` or `null`; of F0 sketches also `mode`, `weights` or
    /// `noise`.
    pub field: &'static str,
    /// What the study says.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for StudyDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.field, self.expected, self.found)
    }
}

/// Every difference between what a study says and what is known.
pub(super) fn differences(study: &Study, facts: &StudyFacts) -> Vec<StudyDifference> {
    let (rules, found) = (study.text(), facts.text.as_ref());
    let null = |rules: &TextRules| rules.null.as_ref().map_or("none".to_owned(), |text| format!("{text:?}"));
    [
        compare("shape", study.shape(), facts.shape),
        compare("hash", study.hash(), facts.hash),
        compare("epsilon", study.epsilon().get(), facts.epsilon.map(Epsilon::get)),
        compare("unit", study.unit(), facts.unit),
        compare("trim", rules.trim, found.map(|found| found.trim)),
        compare("lowercase", rules.lowercase, found.map(|found| found.lowercase)),
        compare("null", null(rules), found.map(null)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[expect(clippy::needless_pass_by_value, reason = "small values, made for this call")]
fn compare<T: PartialEq + fmt::Display>(field: &'static str, expected: T, found: Option<T>) -> Option<StudyDifference> {
    let found = found.filter(|found| *found != expected)?;
    Some(StudyDifference { field, expected: expected.to_string(), found: found.to_string() })
}
