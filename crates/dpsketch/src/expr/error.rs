use thiserror::Error as ThisError;

use super::{MAX_DEPTH, MAX_FORMULA_BYTES, MAX_NAME_CHARS, MAX_SETS};
use crate::error::{Error, ErrorKind};
use crate::text_file::shorten;

/// Longest piece of a formula that an error repeats, in characters.
const QUOTED: usize = 24;

/// Why a text is not a formula over the named sets. Positions count characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum ExprError {
    /// The text is too long.
    #[error("a set formula has at most {MAX_FORMULA_BYTES} bytes, found {found}")]
    TooLong {
        /// Length in bytes.
        found: usize,
    },
    /// Parentheses and `!` are nested too deeply.
    #[error("parentheses and '!' are nested more than {MAX_DEPTH} deep at character {position}")]
    TooDeep {
        /// Where the limit is passed.
        position: usize,
    },
    /// Something else should stand here.
    #[error("expected {expected} at character {position}, found {found}")]
    Unexpected {
        /// Where.
        position: usize,
        /// What may stand there.
        expected: &'static str,
        /// What stands there: `the end`, or a name or sign in quotes.
        found: String,
    },
    /// A name that no set was given.
    #[error("no set is named {name:?}, at character {position}")]
    UnknownName {
        /// Where.
        position: usize,
        /// The name, shortened.
        name: String,
    },
    /// A set was given a name that cannot be written in a formula.
    #[error(
        "a set name consists of 1 to {MAX_NAME_CHARS} letters, digits, dots and underscores, found {name:?} as name {number}"
    )]
    InvalidName {
        /// The name, shortened.
        name: String,
        /// Which name of the list it is, counted from 1.
        number: usize,
    },
    /// Two sets were given the same name.
    #[error("two sets are named {name:?}")]
    RepeatedName {
        /// The name.
        name: String,
    },
    /// The value depends on too many sets at once.
    #[error("a formula may depend on at most {MAX_SETS} sets, found {found}")]
    TooManySets {
        /// How many sets it depends on.
        found: usize,
    },
}

impl ExprError {
    /// Where in the formula the trouble starts, in characters from 1; `None` if it is not at one place.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        match self {
            Self::TooDeep { position } | Self::Unexpected { position, .. } | Self::UnknownName { position, .. } => {
                Some(*position)
            }
            _ => None,
        }
    }

    /// The failure as a person sees it, with the part of the formula where the trouble starts.
    #[must_use]
    pub fn explain(self, formula: &str) -> Error {
        let rest = self.position().map(|position| formula.chars().skip(position - 1).collect::<String>());
        let error = Error::from(self).value(shorten(formula, 4 * QUOTED));
        match rest.as_deref() {
            None => error,
            Some("") => error.hint("the formula ends too early"),
            Some(rest) => error.hint(format!("the trouble starts at {:?}", shorten(rest, QUOTED))),
        }
    }
}

impl From<ExprError> for Error {
    fn from(error: ExprError) -> Self {
        Self::new(ErrorKind::Parameter, error.to_string())
            .allowed("names joined by & - ^ |, with ! before a name and parentheses, such as 'a & !(b | c)'")
            .caused_by(error)
    }
}

/// A name as errors repeat it.
pub(super) fn quoted_name(name: &str) -> String {
    shorten(name, QUOTED)
}
