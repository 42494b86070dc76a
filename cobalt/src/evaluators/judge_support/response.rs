//! Reads fields of judges' responses. The errors are sent to the judge, which is then asked again.

use serde_json::{Map, Value};

use cobalt_core::wording::truncate;

/// Returns a required field.
pub fn field<'v>(answer: &'v Map<String, Value>, name: &str) -> Result<&'v Value, String> {
    answer.get(name).ok_or_else(|| format!("the field `{name}` is missing"))
}

/// Returns a text field.
pub fn text<'v>(answer: &'v Map<String, Value>, name: &str) -> Result<&'v str, String> {
    field(answer, name)?.as_str().ok_or_else(|| format!("`{name}` is not text"))
}

/// Returns a list field.
pub fn list<'v>(answer: &'v Map<String, Value>, name: &str) -> Result<&'v [Value], String> {
    field(answer, name)?.as_array().map(Vec::as_slice).ok_or_else(|| format!("`{name}` is not a list"))
}

/// Returns a field with a list of texts.
pub fn texts(answer: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let texts = list(answer, name)?.iter().map(|text| text.as_str().map(str::to_owned));
    texts.collect::<Option<_>>().ok_or_else(|| format!("`{name}` holds something that is not text"))
}

/// Returns a field with a list of objects.
pub fn objects<'v>(
    answer: &'v Map<String, Value>,
    name: &str,
) -> Result<Vec<&'v Map<String, Value>>, String> {
    let objects = list(answer, name)?.iter().map(Value::as_object);
    objects.collect::<Option<_>>().ok_or_else(|| format!("`{name}` holds something that is not an object"))
}

/// Returns a yes/no field: 1 or 0, or a boolean. Anything in between is an error.
pub fn flag(answer: &Map<String, Value>, name: &str) -> Result<bool, String> {
    let value = field(answer, name)?;
    match (value.as_bool(), value.as_f64()) {
        (Some(flag), _) => Ok(flag),
        (_, Some(1.0)) => Ok(true),
        (_, Some(0.0)) => Ok(false),
        _ => Err(format!("`{name}` is {value}; it must be 0 or 1")),
    }
}

/// Returns the reasoning, if any: text, or a list of texts joined by line breaks.
pub fn optional_reasons(answer: &Map<String, Value>, name: &str) -> Option<String> {
    match answer.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(texts) => {
            let texts: Vec<_> = texts.iter().filter_map(Value::as_str).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// Formats a value for a message.
pub fn truncated_json(value: &Value) -> String {
    const LONGEST: usize = 40;
    truncate(&value.to_string(), LONGEST).into_owned()
}
