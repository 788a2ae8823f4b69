//! Comparing what was computed with what a golden file wants.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// Fields of an expectation that are remarks.
const REMARKS: &[&str] =
    &["name", "note", "notes", "formula", "true_n", "computed", "generator", "multiplicities_indicative"];

/// How close numbers must be: `|got − want| ≤ atol + rtol·|want|`, element by element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// In proportion to the wanted number.
    pub relative: f64,
    /// Whatever the wanted number.
    pub absolute: f64,
}

/// A value computed by the product, with the rule by which it is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Got {
    /// A number within the case's tolerance.
    Number(f64),
    /// A number with an absolute tolerance of its own, in the place of the case's.
    Within(f64, f64),
    /// A number with tolerances of its own, in the place of the case's.
    Near {
        /// The number.
        value: f64,
        /// In proportion to the wanted number.
        relative: f64,
        /// Whatever the wanted number.
        absolute: f64,
    },
    /// An integer that must be equal.
    Integer(u64),
    /// A word that must be equal.
    Text(String),
    /// A truth value that must be equal.
    Truth(bool),
    /// The numerator `Q` of a rounded-up probability over `2^64`. The file gives the least allowed one as decimal text;
    /// accepted is `least ≤ Q ≤ least + ⌊least/2^40⌋ + 2`, and for least 0 only 0.
    Numerator(u64),
    /// What the product refuses to give: `null` in the file.
    Absent,
    /// Values in order.
    List(Vec<Got>),
    /// Values by name.
    Fields(Vec<(String, Got)>),
}

impl Got {
    /// Named values.
    #[must_use]
    pub fn fields<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::Fields(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A word.
    pub fn text(word: impl Into<String>) -> Self {
        Self::Text(word.into())
    }

    /// Numbers in order.
    pub fn numbers(values: impl IntoIterator<Item = f64>) -> Self {
        Self::List(values.into_iter().map(Self::Number).collect())
    }

    /// Integers in order.
    pub fn integers(values: impl IntoIterator<Item = u64>) -> Self {
        Self::List(values.into_iter().map(Self::Integer).collect())
    }
}

impl Got {
    /// The same with absolute tolerances of their own for the named fields.
    #[must_use]
    pub fn with_absolute(self, tolerances: &BTreeMap<String, f64>) -> Self {
        match self {
            Self::Fields(fields) => Self::Fields(
                fields
                    .into_iter()
                    .map(|(name, value)| match tolerances.get(&name) {
                        Some(&absolute) => (name, value.within(absolute)),
                        None => (name, value),
                    })
                    .collect(),
            ),
            other => other,
        }
    }

    /// The same with this absolute tolerance for every number in it.
    fn within(self, absolute: f64) -> Self {
        match self {
            Self::Number(value) | Self::Within(value, _) => Self::Within(value, absolute),
            Self::List(values) => Self::List(values.into_iter().map(|value| value.within(absolute)).collect()),
            Self::Fields(fields) => {
                Self::Fields(fields.into_iter().map(|(name, value)| (name, value.within(absolute))).collect())
            }
            other => other,
        }
    }
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) | Self::Within(value, _) | Self::Near { value, .. } => write!(f, "{value:?}"),
            Self::Integer(value) | Self::Numerator(value) => write!(f, "{value}"),
            Self::Text(word) => write!(f, "{word:?}"),
            Self::Truth(value) => write!(f, "{value}"),
            Self::Absent => f.write_str("none"),
            Self::List(values) => write!(f, "a list of {}", values.len()),
            Self::Fields(fields) => write!(f, "an object of {} fields", fields.len()),
        }
    }
}

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where it stands in the expectation, as `symmetric.p` or `evaluations[2].ll`.
    pub field: String,
    /// What was computed.
    pub got: String,
    /// What the file wants.
    pub want: String,
}

/// Every field of `want` that `got` misses.
#[must_use]
pub fn compare(want: &Value, got: &Got, tolerance: Tolerance) -> Vec<Mismatch> {
    let mut found = Vec::new();
    visit("", want, got, tolerance, &mut found);
    found
}

fn visit(path: &str, want: &Value, got: &Got, tolerance: Tolerance, found: &mut Vec<Mismatch>) {
    match (want, got) {
        (Value::Object(fields), Got::Fields(values)) => {
            for (name, want) in fields.iter().filter(|(name, _)| !REMARKS.contains(&name.as_str())) {
                let field = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match values.iter().find(|(known, _)| known == name) {
                    Some((_, got)) => visit(&field, want, got, tolerance, found),
                    None => found.push(Mismatch { field, got: "not computed".to_owned(), want: shorten(want) }),
                }
            }
        }
        (Value::Array(wanted), Got::List(values)) if wanted.len() == values.len() => {
            for (index, (want, got)) in wanted.iter().zip(values).enumerate() {
                visit(&format!("{path}[{index}]"), want, got, tolerance, found);
            }
        }
        _ if agrees(want, got, tolerance) => {}
        _ => found.push(Mismatch { field: path.to_owned(), got: got.to_string(), want: shorten(want) }),
    }
}

fn agrees(want: &Value, got: &Got, tolerance: Tolerance) -> bool {
    let Tolerance { relative, absolute } = tolerance;
    match got {
        Got::Number(got) => want.as_f64().is_some_and(|want| near(*got, want, relative, absolute)),
        Got::Within(got, own) => want.as_f64().is_some_and(|want| near(*got, want, relative, *own)),
        Got::Near { value, relative, absolute } => {
            want.as_f64().is_some_and(|want| near(*value, want, *relative, *absolute))
        }
        Got::Integer(got) => want.as_u64().or_else(|| want.as_f64().and_then(crate::number::whole)) == Some(*got),
        Got::Text(got) => want.as_str() == Some(got),
        Got::Truth(got) => want.as_bool() == Some(*got),
        Got::Absent => want.is_null(),
        Got::Numerator(got) => least(want).is_some_and(|least| numerator_allowed(*got, least)),
        Got::List(_) | Got::Fields(_) => false,
    }
}

/// NaN is near nothing, and an infinity only to itself.
fn near(got: f64, want: f64, relative: f64, absolute: f64) -> bool {
    #[expect(clippy::float_cmp, reason = "equal numbers are near whatever the tolerance, infinities included")]
    let same = got == want;
    same || (got - want).abs() <= absolute + relative * want.abs()
}

fn least(want: &Value) -> Option<u64> {
    want.as_str().and_then(|text| text.parse().ok()).or_else(|| want.as_u64())
}

fn numerator_allowed(got: u64, least: u64) -> bool {
    let slack = if least == 0 { 0 } else { (least >> 40) + 2 };
    got >= least && got - least <= slack
}

fn shorten(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 120 { text } else { text.chars().take(117).collect::<String>() + "..." }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LOOSE: Tolerance = Tolerance { relative: 1e-3, absolute: 0.0 };
    const EXACT: Tolerance = Tolerance { relative: 0.0, absolute: 0.0 };

    fn fields(want: &Value, got: &Got) -> Vec<String> {
        compare(want, got, LOOSE).into_iter().map(|mismatch| mismatch.field).collect()
    }

    #[test]
    fn numbers_are_compared_within_their_tolerance() {
        let got = Got::fields([("near", Got::Number(1.0005)), ("far", Got::Number(1.002))]);
        assert_eq!(fields(&json!({ "near": 1.0, "far": 1.0 }), &got), ["far"]);
    }

    #[test]
    fn nan_never_passes() {
        assert_eq!(fields(&json!({ "x": 1.0 }), &Got::fields([("x", Got::Number(f64::NAN))])), ["x"]);
    }

    #[test]
    fn zero_without_a_tolerance_asks_for_exactly_zero() {
        let got = |value| Got::fields([("x", Got::Number(value))]);
        assert!(compare(&json!({ "x": 0 }), &got(-0.0), EXACT).is_empty());
        assert_eq!(compare(&json!({ "x": 0 }), &got(1e-300), EXACT).len(), 1);
    }

    #[test]
    fn a_tolerance_of_its_own_replaces_that_of_the_case() {
        assert!(compare(&json!([0.0]), &Got::List(vec![Got::Within(1e-9, 1e-8)]), EXACT).is_empty());
        assert_eq!(compare(&json!([0.0]), &Got::List(vec![Got::Within(1e-7, 1e-8)]), EXACT).len(), 1);
    }

    #[test]
    fn both_tolerances_of_its_own_replace_those_of_the_case() {
        let near = |value| Got::Near { value, relative: 0.1, absolute: 0.5 };
        assert!(compare(&json!([10.0]), &Got::List(vec![near(11.4)]), EXACT).is_empty());
        assert_eq!(compare(&json!([10.0, 10.0]), &Got::List(vec![near(11.6), near(f64::NAN)]), LOOSE).len(), 2);
    }

    #[test]
    fn integers_may_be_written_as_floats_and_must_be_equal() {
        assert!(compare(&json!([5.0, 5]), &Got::integers([5, 5]), LOOSE).is_empty());
        assert_eq!(fields(&json!([10_000]), &Got::integers([10_001])), ["[0]"]);
    }

    #[test]
    fn a_list_of_another_length_and_a_field_that_was_not_computed_fail() {
        assert_eq!(fields(&json!({ "a": [1, 2] }), &Got::fields([("a", Got::numbers([1.0]))])), ["a"]);
        assert_eq!(fields(&json!({ "a": { "b": 1 } }), &Got::fields([("a", Got::fields([]))])), ["a.b"]);
    }

    #[test]
    fn remarks_are_not_compared() {
        assert!(fields(&json!({ "note": "any", "true_n": 4 }), &Got::fields([])).is_empty());
    }

    #[test]
    fn a_numerator_may_exceed_the_least_one_by_its_slack_only() {
        let least = 1_u64 << 50;
        assert!(numerator_allowed(least, least));
        assert!(numerator_allowed(least + (1 << 10) + 2, least));
        assert!(!numerator_allowed(least + (1 << 10) + 3, least));
        assert!(!numerator_allowed(least - 1, least));
        assert!(numerator_allowed(0, 0) && !numerator_allowed(1, 0));
    }
}
