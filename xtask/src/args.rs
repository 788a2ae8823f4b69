//! The driver's own small reading of a command line: flags and operands.

use crate::failure::Failure;

/// What stands behind the command's name, taken piece by piece.
#[derive(Debug)]
pub(crate) struct Args(Vec<String>);

impl Args {
    pub(crate) fn new(arguments: impl Iterator<Item = String>) -> Self {
        Self(arguments.collect())
    }

    /// Whether `--help` or `-h` stands anywhere before a bare `--`.
    pub(crate) fn asks_for_help(&self) -> bool {
        self.0.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--help" || argument == "-h")
    }

    /// Takes every occurrence of a flag and says whether there was one.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|argument| argument != name);
        self.0.len() != before
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes what is left as operands; an option among them is unknown.
    pub(crate) fn operands(self) -> Result<Vec<String>, Failure> {
        match self.0.iter().find(|argument| argument.starts_with('-')) {
            Some(option) => Err(Failure::Usage(format!("unknown option `{option}`"))),
            None => Ok(self.0),
        }
    }

    /// Ends a command that takes no operands.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.operands()?.first() {
            Some(operand) => Err(Failure::Usage(format!("unexpected argument `{operand}`"))),
            None => Ok(()),
        }
    }

    /// All arguments as they were given, for a program that reads them itself.
    pub(crate) fn into_all(self) -> Vec<String> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Args {
        Args::new(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_flag_is_found_and_taken() {
        let mut given = args("--quick");
        assert!(given.flag("--quick"));
        assert!(!given.flag("--quick"));
        assert!(given.finish().is_ok());
    }

    #[test]
    fn what_is_left_over_is_named() {
        let message = args("--fast").finish().expect_err("unknown option").to_string();
        assert!(message.contains("--fast"), "{message}");
        let message = args("stray").finish().expect_err("no operands").to_string();
        assert!(message.contains("stray"), "{message}");
    }

    #[test]
    fn help_behind_a_bare_double_dash_belongs_to_the_other_program() {
        assert!(args("a --help").asks_for_help());
        assert!(!args("-- --help").asks_for_help());
    }
}
