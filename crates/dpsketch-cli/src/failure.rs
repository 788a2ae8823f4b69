//! Errors of the command line itself, in the shape of all others.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use dpsketch::{Error, ErrorKind};

/// Whether the arguments ask for JSON, for when they cannot be understood otherwise.
pub(crate) fn wants_json(args: &[OsString]) -> bool {
    let mut args = args.iter().filter_map(|arg| arg.to_str()).take_while(|arg| *arg != "--").peekable();
    while let Some(arg) = args.next() {
        let json = match arg.strip_prefix("--format") {
            Some("") => args.peek().is_some_and(|value| is_json(value)),
            Some(value) => value.strip_prefix('=').is_some_and(is_json),
            None => arg == "--json",
        };
        if json {
            return true;
        }
    }
    false
}

fn is_json(format: &str) -> bool {
    format == "json" || format == "ndjson"
}

/// Whether clap stopped in order to show help or the version.
pub(crate) fn is_display(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ClapKind::DisplayHelp | ClapKind::DisplayVersion | ClapKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// The error as ours. One that a value's own parser made comes through as it was.
pub(crate) fn from_clap(error: &clap::Error) -> Error {
    let argument = context(error, ContextKind::InvalidArg).or_else(|| context(error, ContextKind::InvalidSubcommand));
    let argument = argument.map(|argument| argument.split_whitespace().next().unwrap_or_default().to_owned());
    if let Some(own) = error.source().and_then(|source| source.downcast_ref::<Error>()) {
        return match argument {
            Some(argument) => own.clone().argument(argument),
            None => own.clone(),
        };
    }
    let rendered = error.to_string();
    let message = rendered.lines().next().unwrap_or_default();
    let mut own = Error::new(ErrorKind::Parameter, message.strip_prefix("error: ").unwrap_or(message));
    if let Some(argument) = argument {
        own = own.argument(argument);
    }
    if let Some(value) = context(error, ContextKind::InvalidValue) {
        own = own.value(value);
    }
    if let Some(allowed) =
        context(error, ContextKind::ValidValue).or_else(|| context(error, ContextKind::ValidSubcommand))
    {
        own = own.allowed(allowed);
    }
    let tip = rendered.lines().find_map(|line| line.trim_start().strip_prefix("tip: "));
    own.hint(tip.unwrap_or("see dpsketch --help, or --help after a verb"))
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(args: &[&str]) -> bool {
        wants_json(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn json_is_found_before_the_arguments_are_understood() {
        assert!(asks(&["dpsketch", "--json", "nonsense"]));
        assert!(asks(&["dpsketch", "--format", "ndjson"]));
        assert!(asks(&["dpsketch", "estimate", "--format=json"]));
        assert!(!asks(&["dpsketch", "--format", "text", "x"]));
        assert!(!asks(&["dpsketch", "--", "--json"]));
        assert!(!asks(&["dpsketch", "--format"]));
    }
}
