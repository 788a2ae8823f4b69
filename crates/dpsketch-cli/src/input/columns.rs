//! Which columns of a file are wanted.

use dpsketch::{Error, ErrorKind};

/// Positions of the `wanted` columns among `names`; the only column if none is named.
pub(crate) fn positions(file: &str, names: &[String], wanted: &[String]) -> Result<Vec<usize>, Error> {
    match (wanted, names) {
        ([], [_]) => Ok(vec![0]),
        ([], _) => {
            Err(Error::new(ErrorKind::Column, format!("{file} has {} columns: which one is counted?", names.len()))
                .argument("--column")
                .allowed(listed(names))
                .hint("name one, or several separated by commas to count their combinations"))
        }
        _ => wanted.iter().map(|name| position(file, names, name)).collect(),
    }
}

fn position(file: &str, names: &[String], wanted: &str) -> Result<usize, Error> {
    let mut found = names.iter().enumerate().filter(|(_, name)| *name == wanted).map(|(position, _)| position);
    match (found.next(), found.next()) {
        (Some(position), None) => Ok(position),
        (Some(_), Some(_)) => Err(missing(file, names, wanted, "more than one column")),
        (None, _) => Err(missing(file, names, wanted, "no column")),
    }
}

/// The error for a column that is not there, or not only once.
pub(crate) fn missing(file: &str, names: &[String], wanted: &str, how_many: &str) -> Error {
    let folded = wanted.trim().to_lowercase();
    let near = names.iter().find(|name| name.trim().to_lowercase() == folded && *name != wanted);
    let error = Error::new(ErrorKind::Column, format!("{file} has {how_many} named {wanted:?}"))
        .argument("--column")
        .value(wanted)
        .allowed(listed(names));
    match near {
        Some(near) => error.hint(format!("did you mean {near:?}? Names are compared letter by letter")),
        None => error.hint("names are compared letter by letter; without a header columns are numbered from 1"),
    }
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 30;
    let shown = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "none: the file has no columns".to_owned(),
        length if length > SHOWN => format!("{shown} and {} more", length - SHOWN),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_only_column_needs_no_name() {
        assert_eq!(positions("f", &names(&["a"]), &[]).unwrap(), [0]);
        let error = positions("f", &names(&["a", "b"]), &[]).unwrap_err();
        assert_eq!(error.to_json()["allowed"], r#""a", "b""#);
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        assert_eq!(positions("f", &names(&["a", "b", "c"]), &names(&["c", "a"])).unwrap(), [2, 0]);
    }

    #[test]
    fn a_missing_or_double_column_is_named() {
        let error = positions("f", &names(&["User", "b", "b"]), &names(&["user"])).unwrap_err();
        assert_eq!(error.to_json()["value"], "user");
        assert!(error.to_text().contains("did you mean \"User\""));
        let error = positions("f", &names(&["a", "b", "b"]), &names(&["b"])).unwrap_err();
        assert!(error.to_text().contains("more than one"));
    }
}
