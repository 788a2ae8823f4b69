//! Reading the arguments of a case.

use std::error::Error;

use serde_json::Value;

use crate::number;

/// Why a case could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// A kind that no product function computes.
    #[error("unknown kind")]
    UnknownKind,
    /// An argument that is missing or of another type.
    #[error("input `{field}` is missing or not {expected}")]
    Input {
        /// The argument.
        field: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The product refused the arguments.
    #[error("refused: {0}")]
    Refused(#[source] Box<dyn Error + Send + Sync>),
}

impl CaseError {
    /// Wraps an error of the product.
    pub fn refused(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Refused(Box::new(error))
    }
}

/// The arguments of one case.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(&'a Value);

impl<'a> Input<'a> {
    /// Arguments that stand in a JSON object.
    #[must_use]
    pub const fn new(object: &'a Value) -> Self {
        Self(object)
    }

    /// The argument as it stands.
    ///
    /// # Errors
    /// [`CaseError::Input`] when it is missing; so for the other methods when it is of another type.
    pub fn value(self, field: &str) -> Result<&'a Value, CaseError> {
        self.0.get(field).ok_or_else(|| missing(field, "there"))
    }

    /// A number.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn number(self, field: &str) -> Result<f64, CaseError> {
        self.value(field)?.as_f64().ok_or_else(|| missing(field, "a number"))
    }

    /// A number, or the word `inf`.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn number_or_infinity(self, field: &str) -> Result<f64, CaseError> {
        self.value(field).and_then(|value| finite_or_infinite(field, value))
    }

    /// Numbers, or the word `inf`, in order.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn numbers_or_infinity(self, field: &str) -> Result<Vec<f64>, CaseError> {
        self.list(field)?.iter().map(|value| finite_or_infinite(field, value)).collect()
    }

    /// A whole number, written as an integer or as a float, that fits the type.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn integer<T: TryFrom<u64>>(self, field: &str) -> Result<T, CaseError> {
        whole(self.value(field)?)
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| missing(field, "a whole number in range"))
    }

    /// Whole numbers in order.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn integers(self, field: &str) -> Result<Vec<u64>, CaseError> {
        let list = self.list(field)?;
        list.iter().map(|value| whole(value).ok_or_else(|| missing(field, "a list of whole numbers"))).collect()
    }

    /// Numbers in order.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn numbers(self, field: &str) -> Result<Vec<f64>, CaseError> {
        let list = self.list(field)?;
        list.iter().map(|value| value.as_f64().ok_or_else(|| missing(field, "a list of numbers"))).collect()
    }

    /// A word.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn text(self, field: &str) -> Result<&'a str, CaseError> {
        self.value(field)?.as_str().ok_or_else(|| missing(field, "a string"))
    }

    /// A list of anything.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn list(self, field: &str) -> Result<&'a [Value], CaseError> {
        self.value(field)?.as_array().map(Vec::as_slice).ok_or_else(|| missing(field, "a list"))
    }
}

fn finite_or_infinite(field: &str, value: &Value) -> Result<f64, CaseError> {
    match value {
        Value::String(word) if word == "inf" => Ok(f64::INFINITY),
        other => other.as_f64().ok_or_else(|| missing(field, "a number or \"inf\"")),
    }
}

fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().and_then(number::whole))
}

pub(super) fn missing(field: &str, expected: &'static str) -> CaseError {
    CaseError::Input { field: field.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_may_be_written_as_floats() {
        let json = json!({ "a": 5.0, "b": 5, "c": 5.5, "d": -1 });
        let input = Input::new(&json);
        assert_eq!(input.integer::<u8>("a").ok(), Some(5));
        assert_eq!(input.integer::<u64>("b").ok(), Some(5));
        assert!(input.integer::<u64>("c").is_err());
        assert!(input.integer::<u64>("d").is_err());
    }

    #[test]
    fn infinity_is_a_word() {
        let json = json!({ "eps": "inf", "other": "big" });
        assert_eq!(Input::new(&json).number_or_infinity("eps").ok(), Some(f64::INFINITY));
        assert!(Input::new(&json).number_or_infinity("other").is_err());
    }
}
