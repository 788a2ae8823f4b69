use dp_noise::ParameterError;
use thiserror::Error as ThisError;

use super::facts::StudyDifference;
use super::file::LAYOUT;
use crate::error::{Error, ErrorKind};
use crate::text_file::TextFileError;

/// Why something is no study, or does not belong to one.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum StudyError {
    /// The text is no study.
    #[error("not a study")]
    File(#[from] TextFileError),
    /// The text for missing values is too long to be one.
    #[error("the text for missing values has at most {max} bytes, found {found}")]
    NullText {
        /// The longest one.
        max: usize,
        /// Its length.
        found: usize,
    },
    /// The level of a single item would be too small.
    #[error("the level of one item, epsilon divided by the most items of a user")]
    ItemEpsilon(#[source] ParameterError),
    /// A shape that a study has no fields for.
    #[error("a study is of regular shapes, levels of as many cells each, found {found}")]
    Irregular {
        /// The shape.
        found: String,
    },
    /// Something was made in another way than the study says.
    #[error("not made as the study says: {}", told(.differences))]
    Differs {
        /// Every difference.
        differences: Vec<StudyDifference>,
    },
}

fn told(differences: &[StudyDifference]) -> String {
    differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl From<StudyError> for Error {
    fn from(error: StudyError) -> Self {
        let told = |kind| Self::new(kind, error.to_string());
        match &error {
            StudyError::File(below) => Self::new(ErrorKind::Damaged, format!("{error}: {below}"))
                .hint(format!("name a file made by `dpsketch study new` ({} {})", LAYOUT.format, LAYOUT.version)),
            StudyError::NullText { max, .. } => told(ErrorKind::Parameter).allowed(format!("at most {max} bytes")),
            StudyError::Irregular { found } => told(ErrorKind::Parameter)
                .value(found.clone())
                .allowed("levels of as many cells each, such as 24 x 4096"),
            StudyError::ItemEpsilon(below) => Self::new(ErrorKind::Parameter, format!("{error}: {below}"))
                .value(below.value().to_string())
                .allowed(format!("at least {}", below.min()))
                .hint("lower the most items of a user, or raise epsilon"),
            StudyError::Differs { .. } => {
                told(ErrorKind::Incompatible).hint("build it again with the parameters of the study")
            }
        }
        .caused_by(error)
    }
}
