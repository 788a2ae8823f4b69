//! Numbers, tables and lines for people and programs.

use dpsketch::{Error, ErrorKind};
use serde_json::Value;

/// A number for people: whole with separators from 100 on, else a few digits.
pub(crate) fn number(value: f64) -> String {
    if value.abs() < 100.0 {
        let text = format!("{value:.2}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    grouped(&format!("{value:.0}"))
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = String::from(sign);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A whole number in groups of three.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// "1 thing", "2 things".
pub(crate) fn counted(value: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(value), if value == 1 { "" } else { "s" })
}

/// A share in percent, with a digit behind the point where it matters.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A loss to four digits behind the point, and never less than it is.
pub(crate) fn rounded_up(loss: f64) -> f64 {
    let rounded = (loss * 1e4).ceil() / 1e4;
    if rounded.is_finite() { rounded } else { loss }
}

/// Names and values in two columns, one pair a line.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines(pairs.iter().map(|(name, value)| format!("{name:width$}  {value}")))
}

/// Rows of cells in columns that are as wide as they have to be; those that are named stand at the right.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]], right: &[usize]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let cell = |(column, (text, width)): (usize, (&String, &usize))| {
        if right.contains(&column) { format!("{text:>width$}") } else { format!("{text:width$}") }
    };
    let line = |row: &[String; N]| row.iter().zip(&widths).enumerate().map(cell).collect::<Vec<_>>().join("  ");
    rows.iter().map(|row| line(row).trim_end().to_owned()).collect()
}

/// One object a line.
pub(crate) fn json_lines(rows: &[Value]) -> String {
    lines(rows.iter().map(Value::to_string))
}

/// Lines put together, each with its end.
pub(crate) fn lines(lines: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// A header line and a line for each object; null is an empty field, lists and objects are written as JSON.
pub(crate) fn csv_table(rows: &[Value]) -> Result<String, Error> {
    let failed = |_| Error::new(ErrorKind::Internal, "the table cannot be written");
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().filter_map(Value::as_object).flat_map(|row| row.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    writer.write_record(&names).map_err(failed)?;
    for row in rows {
        writer.write_record(names.iter().map(|name| field(row.get(*name)))).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|_| Error::new(ErrorKind::Internal, "the table cannot be written"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One field of a table.
pub(crate) fn field(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_short_when_small_and_grouped_when_large() {
        for (value, text) in [
            (0.0, "0"),
            (2.505, "2.5"),
            (7.256, "7.26"),
            (10.0, "10"),
            (99.5, "99.5"),
            (100.4, "100"),
            (1234.5, "1,234"),
            (123_456.0, "123,456"),
            (-1_234_567.0, "-1,234,567"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "1", "x"], ["bé", "10", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows, &[1]), ["a    1  x", "bé  10"]);
    }

    #[test]
    fn losses_are_rounded_up() {
        for (loss, told) in [(5.009_600_792_415_971, 5.0097), (2.5, 2.5), (f64::MAX, f64::MAX)] {
            assert_eq!(rounded_up(loss).to_bits(), f64::to_bits(told));
        }
    }

    #[test]
    fn a_table_has_the_columns_of_all_rows_and_empty_fields_for_null() {
        let table = csv_table(&[json!({"a": 1, "b": null}), json!({"a": "x,y", "c": [1]})]).unwrap();
        assert_eq!(table, "a,b,c\n1,,\n\"x,y\",,[1]\n");
    }
}
