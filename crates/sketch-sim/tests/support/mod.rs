//! What tests of golden files share.

use serde_json::{Value, json};

/// Another value of the same type.
pub(crate) fn wrong(value: &Value) -> Value {
    match value {
        Value::Null => json!(0.5),
        Value::Bool(truth) => json!(!truth),
        Value::Number(number) => json!(number.as_f64().map(|x| x * 1.01 + 1.0)),
        Value::String(text) => json!(format!("{text}1")),
        Value::Array(values) => {
            values.iter().enumerate().map(|(i, v)| if i == 0 { wrong(v) } else { v.clone() }).collect()
        }
        other @ Value::Object(_) => other.clone(),
    }
}
