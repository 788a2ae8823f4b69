//! A small reading of `--name value` command lines.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The options and operands of one verb.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    values: BTreeMap<String, String>,
    flags: Vec<String>,
    operands: Vec<String>,
}

/// What is wrong with a command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// An option that the verb does not have.
    #[error("unknown option `{name}`")]
    Unknown {
        /// The option as written.
        name: String,
    },
    /// An option given twice.
    #[error("`{name}` is given twice")]
    Repeated {
        /// The option.
        name: String,
    },
    /// An option that must be given and is not, or that lacks its value.
    #[error("`{name}` needs a value")]
    Missing {
        /// The option.
        name: String,
    },
    /// A value outside what the option accepts.
    #[error("`{name} {value}` is not accepted: expected {expected}")]
    Value {
        /// The option.
        name: String,
        /// The value as written.
        value: String,
        /// What is accepted.
        expected: String,
    },
}

impl Options {
    /// Reads `arguments`: `with_value` names the options that take one (`--name value` or `--name=value`), `flags`
    /// those that take none. Everything else that does not start with `-` is an operand.
    ///
    /// # Errors
    /// [`OptionError::Unknown`], [`OptionError::Repeated`], [`OptionError::Missing`].
    ///
    /// # Examples
    /// ```
    /// use sketch_sim::Options;
    /// let words = ["--n", "1000", "--json", "file"].map(str::to_owned);
    /// let options = Options::parse(words, &["--n"], &["--json"])?;
    /// assert_eq!(options.number::<u64>("--n", "a count")?, Some(1000));
    /// assert!(options.flag("--json"));
    /// assert_eq!(options.operands(), ["file"]);
    /// # Ok::<(), sketch_sim::OptionError>(())
    /// ```
    pub fn parse(
        arguments: impl IntoIterator<Item = String>,
        with_value: &[&str],
        flags: &[&str],
    ) -> Result<Self, OptionError> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with('-') {
                options.operands.push(argument);
                continue;
            }
            let (name, joined) = match argument.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            if flags.contains(&name.as_str()) && joined.is_none() {
                options.flags.push(name);
            } else if with_value.contains(&name.as_str()) {
                let value = joined.or_else(|| arguments.next());
                let value = value.ok_or_else(|| OptionError::Missing { name: name.clone() })?;
                if options.values.insert(name.clone(), value).is_some() {
                    return Err(OptionError::Repeated { name });
                }
            } else {
                return Err(OptionError::Unknown { name });
            }
        }
        Ok(options)
    }

    /// Whether the flag was given.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    /// The value of an option as text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The value of an option as a number; `expected` says in words what is accepted.
    ///
    /// # Errors
    /// [`OptionError::Value`] when the text is no such number.
    pub fn number<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, OptionError> {
        self.text(name).map(|value| value.parse().map_err(|_| Self::refuse(name, value, expected))).transpose()
    }

    /// As [`number`](Self::number), for an option that must be given.
    ///
    /// # Errors
    /// [`OptionError::Missing`] as well.
    pub fn required<T: FromStr>(&self, name: &str, expected: &str) -> Result<T, OptionError> {
        self.number(name, expected)?.ok_or_else(|| OptionError::Missing { name: name.to_owned() })
    }

    /// What is not an option.
    #[must_use]
    pub fn operands(&self) -> &[String] {
        &self.operands
    }

    /// The error for a value outside what an option accepts.
    #[must_use]
    pub fn refuse(name: &str, value: &str, expected: &str) -> OptionError {
        OptionError::Value { name: name.to_owned(), value: value.to_owned(), expected: expected.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, OptionError> {
        Options::parse(text.split_whitespace().map(str::to_owned), &["--n", "--merge"], &["--json"])
    }

    #[test]
    fn a_value_may_follow_a_space_or_an_equals_sign() {
        assert_eq!(parse("--n 5").unwrap().text("--n"), Some("5"));
        assert_eq!(parse("--n=5").unwrap().text("--n"), Some("5"));
    }

    #[test]
    fn unknown_repeated_and_missing_are_refused() {
        assert!(matches!(parse("--m 5"), Err(OptionError::Unknown { .. })));
        assert!(matches!(parse("--n 5 --n 6"), Err(OptionError::Repeated { .. })));
        assert!(matches!(parse("--n"), Err(OptionError::Missing { .. })));
        assert!(matches!(parse("--json=1"), Err(OptionError::Unknown { .. })));
        assert!(matches!(parse("").unwrap().required::<u64>("--n", "a count"), Err(OptionError::Missing { .. })));
    }

    #[test]
    fn a_value_of_another_type_names_option_value_and_range() {
        let error = parse("--n five").unwrap().number::<u64>("--n", "a count").unwrap_err();
        assert_eq!(error.to_string(), "`--n five` is not accepted: expected a count");
    }
}
