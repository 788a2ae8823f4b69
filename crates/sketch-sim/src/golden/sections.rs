//! Files whose cases stand in named sections, with arguments and wanted values side by side.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::compare::Tolerance;
use super::schema::Case;

/// How the cases of one section are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    /// Its name, which is the kind of its cases.
    pub(super) name: &'static str,
    /// The lists that hold its cases; none where the section is one case itself.
    pub(super) lists: &'static [&'static str],
    /// The fields of a case that are arguments. All others are wanted values.
    pub(super) inputs: &'static [&'static str],
}

impl Section {
    /// A section whose cases stand in the list `cases`.
    pub(super) const fn new(name: &'static str, inputs: &'static [&'static str]) -> Self {
        Self { name, lists: &["cases"], inputs }
    }
}

/// Fields of a section beside its lists.
const OF_SECTION: [&str; 3] = ["formula", "rtol", "atol"];

/// The cases of all sections. A section that is not known, and a field of a section that is not known, are errors; so is
/// an absolute tolerance for a field that no case has.
pub(super) fn section_cases(file: &Value, known: &[Section]) -> Result<Vec<Case>, String> {
    let sections = file["sections"].as_object().ok_or("no object `sections`")?;
    let mut cases = Vec::new();
    for (name, content) in sections {
        let section = known.iter().find(|section| section.name == name);
        let section = section.ok_or_else(|| format!("unknown section `{name}`"))?;
        let content = content.as_object().ok_or_else(|| format!("section `{name}` is no object"))?;
        cases.extend(of_section(*section, content).map_err(|reason| format!("section `{name}`: {reason}"))?);
    }
    Ok(cases)
}

fn of_section(section: Section, content: &Map<String, Value>) -> Result<Vec<Case>, String> {
    let relative = content.get("rtol").and_then(Value::as_f64).ok_or("no number `rtol`")?;
    let absolute = tolerances(content)?;
    let case = |id: String, fields: Map<String, Value>| {
        let (input, expect) = fields.into_iter().partition(|(field, _)| section.inputs.contains(&field.as_str()));
        Case {
            id,
            kind: section.name.to_owned(),
            input: Value::Object(input),
            expect: without_long_digits(Value::Object(expect)),
            tolerance: Tolerance { relative, absolute: 0.0 },
            field_absolute: absolute.clone(),
        }
    };
    let rest = content.iter().filter(|(field, _)| !OF_SECTION.contains(&field.as_str()));
    if section.lists.is_empty() {
        let fields = rest.map(|(field, value)| (field.clone(), value.clone())).collect();
        return Ok(vec![case(section.name.to_owned(), fields)]);
    }
    let mut cases = Vec::new();
    for (list, entries) in rest {
        if !section.lists.contains(&list.as_str()) {
            return Err(format!("unknown field `{list}`"));
        }
        for (index, entry) in entries.as_array().ok_or_else(|| format!("`{list}` is no list"))?.iter().enumerate() {
            let fields = entry.as_object().ok_or_else(|| format!("{list}[{index}] is no object"))?;
            cases.push(case(format!("{}.{list}[{index}]", section.name), fields.clone()));
        }
    }
    match absolute.keys().find(|field| !cases.iter().any(|case| case.expect.get(field).is_some())) {
        Some(field) => Err(format!("`atol` of `{field}`, which no case has")),
        None => Ok(cases),
    }
}

fn tolerances(content: &Map<String, Value>) -> Result<BTreeMap<String, f64>, String> {
    let Some(given) = content.get("atol") else { return Ok(BTreeMap::new()) };
    let given = given.as_object().ok_or("`atol` is no object")?;
    let number = |value: &Value| value.as_f64().ok_or_else(|| format!("`atol` of {value}"));
    given.iter().map(|(field, value)| Ok((field.clone(), number(value)?))).collect()
}

/// The value without fields `X_hp` that stand beside a field `X`: the same number with more digits than an `f64` has.
fn without_long_digits(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let plain: Vec<String> = fields.keys().cloned().collect();
            let repeats = |field: &str| field.strip_suffix("_hp").is_some_and(|name| plain.iter().any(|x| x == name));
            let kept = fields.into_iter().filter(|(field, _)| !repeats(field));
            Value::Object(kept.map(|(field, value)| (field, without_long_digits(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(without_long_digits).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KNOWN: [Section; 2] = [Section::new("line", &["x"]), Section { name: "constant", lists: &[], inputs: &[] }];

    fn cases(sections: &Value) -> Result<Vec<Case>, String> {
        section_cases(&json!({ "sections": sections }), &KNOWN)
    }

    #[test]
    fn arguments_and_wanted_values_are_told_apart() {
        let file = json!({ "line": { "formula": "y = x", "rtol": 1e-9, "atol": { "y": 0.5 },
                                     "cases": [{ "x": 1, "y": 1.0, "y_hp": "1.000", "z_hp": "2" }] } });
        let found = cases(&file).unwrap();
        assert_eq!(found[0].id, "line.cases[0]");
        assert_eq!(found[0].input, json!({ "x": 1 }));
        // Long digits stay where no plain number says the same.
        assert_eq!(found[0].expect, json!({ "y": 1.0, "z_hp": "2" }));
        assert_eq!(found[0].tolerance, Tolerance { relative: 1e-9, absolute: 0.0 });
        assert!((found[0].field_absolute["y"] - 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_section_may_be_one_value() {
        let found = cases(&json!({ "constant": { "formula": "7/2", "rtol": 0.0, "value": 3.5 } })).unwrap();
        assert_eq!((found.len(), &found[0].expect), (1, &json!({ "value": 3.5 })));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (file, word) in [
            (json!({ "curve": { "rtol": 0.0, "cases": [] } }), "unknown section `curve`"),
            (json!({ "line": { "rtol": 0.0, "more": [] } }), "unknown field `more`"),
            (json!({ "line": { "cases": [] } }), "rtol"),
            (json!({ "line": { "rtol": 0.0, "atol": { "w": 1.0 }, "cases": [{ "y": 1 }] } }), "`w`"),
            (json!({ "line": { "rtol": 0.0, "cases": [5] } }), "cases[0]"),
        ] {
            let reason = cases(&file).unwrap_err();
            assert!(reason.contains(word), "{reason}");
        }
        assert!(section_cases(&json!({}), &KNOWN).is_err());
    }
}
