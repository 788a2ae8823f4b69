//! Golden JSON files: cases, and their comparison with computed values.

use std::{fmt, fs, path::Path};

use serde_json::Value;

/// How close a number must be: `|got − want| ≤ absolute + relative · |want|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The part that does not depend on the value.
    pub absolute: f64,
    /// The part in proportion to the expected value.
    pub relative: f64,
}

impl Tolerance {
    /// Equality.
    pub const EXACT: Self = Self { absolute: 0.0, relative: 0.0 };
}

/// One case of a golden file.
#[derive(Clone, Debug, PartialEq)]
pub struct GoldenCase {
    /// Its name in the file.
    pub id: String,
    /// What is computed.
    pub kind: String,
    /// The arguments.
    pub input: Value,
    /// The values wanted.
    pub expect: Value,
    /// How close they must be.
    pub tolerance: Tolerance,
}

/// A golden file.
///
/// A case is an object `{id, kind, input, expect, rtol, atol}`; `expected`, `tol_rel` and `tol_abs` are understood too,
/// and a missing tolerance is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct GoldenFile {
    /// The cases, in the order of the file.
    pub cases: Vec<GoldenCase>,
}

impl GoldenFile {
    /// Reads a file.
    ///
    /// # Errors
    /// A sentence naming the file, and the case, when it cannot be read, is not JSON, lacks `cases` or a field of a
    /// case, or states another `count` than it has cases.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, String> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// # Examples
    /// ```
    /// use sketch_testkit::GoldenFile;
    ///
    /// let text = r#"{"cases": [{"id": "a", "kind": "half", "input": {"x": 3}, "expect": {"y": 1.5}, "rtol": 1e-12}]}"#;
    /// let file = GoldenFile::parse(text)?;
    /// let case = &file.cases[0];
    /// let got = serde_json::json!({"y": case.input["x"].as_f64().ok_or("x")? / 2.0});
    /// assert!(case.check(&got).is_empty());
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let cases = root["cases"].as_array().ok_or("no list `cases`")?;
        if let Some(count) = root["count"].as_u64()
            && count != cases.len() as u64
        {
            return Err(format!("expected {count} cases, found {}", cases.len()));
        }
        let cases = cases.iter().enumerate().map(|(index, case)| {
            GoldenCase::from_value(case).map_err(|missing| format!("case {index}: no field `{missing}`"))
        });
        Ok(Self { cases: cases.collect::<Result<_, _>>()? })
    }

    /// The cases of one kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a GoldenCase> {
        self.cases.iter().filter(move |case| case.kind == kind)
    }
}

impl GoldenCase {
    fn from_value(case: &Value) -> Result<Self, &'static str> {
        let text = |field: &'static str| case[field].as_str().map(str::to_owned).ok_or(field);
        let either = |field: &'static str, other: &str| case.get(field).or_else(|| case.get(other));
        let tolerance = |field, other| either(field, other).and_then(Value::as_f64).unwrap_or(0.0);
        Ok(Self {
            id: text("id")?,
            kind: text("kind")?,
            input: case.get("input").ok_or("input")?.clone(),
            expect: either("expect", "expected").ok_or("expect")?.clone(),
            tolerance: Tolerance { absolute: tolerance("atol", "tol_abs"), relative: tolerance("rtol", "tol_rel") },
        })
    }

    /// Every field of the case that `got` misses.
    #[must_use]
    pub fn check(&self, got: &Value) -> Vec<Mismatch> {
        compare(&self.expect, got, self.tolerance)
    }

    /// Asserts that `got` has every field of the case.
    ///
    /// # Panics
    /// With a line for each field that differs.
    #[track_caller]
    pub fn assert(&self, got: &Value) {
        let failures: Vec<String> = self.check(got).iter().map(|miss| format!("{} {miss}", self.id)).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Where: names and indices joined with dots.
    pub field: String,
    /// The expected value.
    pub want: Value,
    /// The computed value; `None` when there is none.
    pub got: Option<Value>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.field.is_empty() { "value" } else { &self.field };
        match &self.got {
            Some(got) => write!(f, "{field}: got {got}, want {}", self.want),
            None => write!(f, "{field}: got nothing, want {}", self.want),
        }
    }
}

/// True when `|got − want| ≤ absolute + relative · |want|`. NaN is never close; an infinity only to itself.
///
/// # Examples
/// ```
/// use sketch_testkit::{Tolerance, close};
///
/// let tolerance = Tolerance { absolute: 0.0, relative: 1e-9 };
/// assert!(close(1.0 + 1e-10, 1.0, tolerance));
/// assert!(!close(f64::NAN, 1.0, tolerance));
/// assert!(close(-0.0, 0.0, Tolerance::EXACT));
/// ```
#[must_use]
pub fn close(got: f64, want: f64, tolerance: Tolerance) -> bool {
    if got.is_infinite() || want.is_infinite() {
        return got.is_infinite() && want.is_infinite() && got.is_sign_positive() == want.is_sign_positive();
    }
    (got - want).abs() <= tolerance.absolute + tolerance.relative * want.abs()
}

/// A JSON number, or the words `inf` and `-inf`.
#[must_use]
pub fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("inf") => Some(f64::INFINITY),
        Some("-inf") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => value.as_f64(),
    }
}

/// Every place where `got` differs from `want`: numbers by [`close`], lists element by element, objects by the fields
/// of `want`, all else by equality. A NaN that was put into JSON is null, and so never equals a number.
#[must_use]
pub fn compare(want: &Value, got: &Value, tolerance: Tolerance) -> Vec<Mismatch> {
    let mut found = Vec::new();
    descend(want, Some(got), tolerance, String::new(), &mut found);
    found
}

fn descend(want: &Value, got: Option<&Value>, tolerance: Tolerance, field: String, found: &mut Vec<Mismatch>) {
    let inner = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
    match (want, got) {
        (Value::Object(wants), Some(Value::Object(gots))) => {
            for (name, want) in wants {
                descend(want, gots.get(name), tolerance, inner(name), found);
            }
            return;
        }
        (Value::Array(wants), Some(Value::Array(gots))) if wants.len() == gots.len() => {
            for (index, (want, got)) in wants.iter().zip(gots).enumerate() {
                descend(want, Some(got), tolerance, inner(&index.to_string()), found);
            }
            return;
        }
        (Value::Number(want), Some(Value::Number(got))) if numbers_agree(want, got, tolerance) => return,
        (Value::String(want), Some(Value::String(got))) if want == got => return,
        (Value::Bool(want), Some(Value::Bool(got))) if want == got => return,
        (Value::Null, Some(Value::Null)) => return,
        _ => {}
    }
    found.push(Mismatch { field, want: want.clone(), got: got.cloned() });
}

/// Integers that a double cannot hold are compared as integers when equality is asked for.
fn numbers_agree(want: &serde_json::Number, got: &serde_json::Number, tolerance: Tolerance) -> bool {
    if tolerance == Tolerance::EXACT
        && let (Some(want), Some(got)) = (want.as_u64(), got.as_u64())
    {
        return want == got;
    }
    matches!((want.as_f64(), got.as_f64()), (Some(want), Some(got)) if close(got, want, tolerance))
}
