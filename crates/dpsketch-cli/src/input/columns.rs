//! Which columns of a file are wanted.

use dpsketch::{Error, ErrorKind};

/// The columns that a file has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    names: &'a [String],
    source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The file states them apart from its data.
    Schema,
    /// The first record, which is data where a header is missing, and so is never shown.
    FirstRecord,
    /// Their numbers.
    Numbers,
}

impl<'a> Names<'a> {
    pub(crate) fn of_schema(names: &'a [String]) -> Self {
        Self { names, source: Source::Schema }
    }

    pub(crate) fn of_first_record(names: &'a [String]) -> Self {
        Self { names, source: Source::FirstRecord }
    }

    pub(crate) fn numbers(names: &'a [String]) -> Self {
        Self { names, source: Source::Numbers }
    }

    /// Which names would do.
    fn allowed(self) -> String {
        const SHOWN: usize = 30;
        let count = self.names.len();
        match self.source {
            _ if count == 0 => "none: the file has no columns".to_owned(),
            Source::FirstRecord => format!("one of the {count} names in the first line"),
            Source::Numbers => format!("1 to {count}"),
            Source::Schema => {
                let shown = self.names.iter().take(SHOWN).map(|name| format!("{name:?}"));
                let shown = shown.collect::<Vec<_>>().join(", ");
                if count > SHOWN { format!("{shown} and {} more", count - SHOWN) } else { shown }
            }
        }
    }

    /// What to do about a name that is not there.
    fn hint(self, wanted: &str) -> String {
        const COMPARED: &str = "names are compared letter by letter";
        let folded = wanted.trim().to_lowercase();
        let near = self.names.iter().find(|name| name.trim().to_lowercase() == folded && *name != wanted);
        match (self.source, near) {
            (Source::Schema, Some(near)) => format!("did you mean {near:?}? Names are compared letter by letter"),
            (Source::Schema, None) => COMPARED.to_owned(),
            (Source::FirstRecord, Some(_)) => {
                format!("a column has that name but for upper and lower case or white space: {COMPARED}")
            }
            (Source::FirstRecord, None) => format!("{COMPARED}; say --no-header if the first line is data"),
            (Source::Numbers, _) => "without a header columns are numbered from 1".to_owned(),
        }
    }
}

/// Positions of the `wanted` columns among `names`; the only column if none is named.
pub(crate) fn positions(file: &str, names: Names<'_>, wanted: &[String]) -> Result<Vec<usize>, Error> {
    match (wanted, names.names) {
        ([], [_]) => Ok(vec![0]),
        ([], all) => {
            Err(Error::new(ErrorKind::Column, format!("{file} has {} columns: which one is counted?", all.len()))
                .argument("--column")
                .allowed(names.allowed())
                .hint("name one, or several separated by commas to count their combinations"))
        }
        _ => wanted.iter().map(|name| position(file, names, name)).collect(),
    }
}

fn position(file: &str, names: Names<'_>, wanted: &str) -> Result<usize, Error> {
    let mut found = names.names.iter().enumerate().filter(|(_, name)| *name == wanted).map(|(position, _)| position);
    match (found.next(), found.next()) {
        (Some(position), None) => Ok(position),
        (Some(_), Some(_)) => Err(missing(file, names, wanted, "more than one column")),
        (None, _) => Err(missing(file, names, wanted, "no column")),
    }
}

/// The error for a column that is not there, or not only once.
pub(crate) fn missing(file: &str, names: Names<'_>, wanted: &str, how_many: &str) -> Error {
    Error::new(ErrorKind::Column, format!("{file} has {how_many} named {wanted:?}"))
        .argument("--column")
        .value(wanted)
        .allowed(names.allowed())
        .hint(names.hint(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_only_column_needs_no_name() {
        let (one, two) = (names(&["a"]), names(&["a", "b"]));
        assert_eq!(positions("f", Names::of_schema(&one), &[]).unwrap(), [0]);
        let error = positions("f", Names::of_schema(&two), &[]).unwrap_err();
        assert_eq!(error.to_json()["allowed"], r#""a", "b""#);
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        let all = names(&["a", "b", "c"]);
        assert_eq!(positions("f", Names::of_first_record(&all), &names(&["c", "a"])).unwrap(), [2, 0]);
    }

    #[test]
    fn a_missing_or_double_column_is_named() {
        let all = names(&["User", "b", "b"]);
        let error = positions("f", Names::of_schema(&all), &names(&["user"])).unwrap_err();
        assert_eq!(error.to_json()["value"], "user");
        assert!(error.to_text().contains("did you mean \"User\""));
        let error = positions("f", Names::of_schema(&all), &names(&["b"])).unwrap_err();
        assert!(error.to_text().contains("more than one"));
    }

    #[test]
    fn a_first_record_may_be_data_and_is_never_shown() {
        let record = names(&["Secret", "secret 2"]);
        for wanted in [&[][..], &["nope"], &["secret"]] {
            let error = positions("f", Names::of_first_record(&record), &names(wanted)).unwrap_err();
            let shown = error.to_text() + &error.to_json().to_string();
            assert!(!shown.contains("Secret") && !shown.contains("secret 2"), "{shown}");
            assert!(shown.contains("2 names"), "{shown}");
        }
    }
}
