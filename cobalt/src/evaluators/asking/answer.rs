//! Reads the answers of judges; what does not fit is said in words that the judge is told.

use serde_json::{Map, Value};

use cobalt_core::wording::cut;

/// A field of an answer.
pub fn field<'v>(answer: &'v Map<String, Value>, name: &str) -> Result<&'v Value, String> {
    answer.get(name).ok_or_else(|| format!("the field `{name}` is missing"))
}

/// A field that is text.
pub fn text<'v>(answer: &'v Map<String, Value>, name: &str) -> Result<&'v str, String> {
    field(answer, name)?.as_str().ok_or_else(|| format!("`{name}` is not text"))
}

/// A field that is a list.
pub fn list<'v>(answer: &'v Map<String, Value>, name: &str) -> Result<&'v [Value], String> {
    field(answer, name)?.as_array().map(Vec::as_slice).ok_or_else(|| format!("`{name}` is not a list"))
}

/// A field that is a list of texts.
pub fn texts(answer: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let texts = list(answer, name)?.iter().map(|text| text.as_str().map(str::to_owned));
    texts.collect::<Option<_>>().ok_or_else(|| format!("`{name}` holds something that is not text"))
}

/// A field that is a list of objects.
pub fn objects<'v>(
    answer: &'v Map<String, Value>,
    name: &str,
) -> Result<Vec<&'v Map<String, Value>>, String> {
    let objects = list(answer, name)?.iter().map(Value::as_object);
    objects.collect::<Option<_>>().ok_or_else(|| format!("`{name}` holds something that is not an object"))
}

/// A field that says yes or no: 1 or 0, or a boolean. Anything between is neither.
pub fn flag(answer: &Map<String, Value>, name: &str) -> Result<bool, String> {
    let value = field(answer, name)?;
    match (value.as_bool(), value.as_f64()) {
        (Some(flag), _) => Ok(flag),
        (_, Some(1.0)) => Ok(true),
        (_, Some(0.0)) => Ok(false),
        _ => Err(format!("`{name}` is {value}; it must be 0 or 1")),
    }
}

/// The reasoning, as far as there is any: text, or a list of texts, one below the other.
pub fn reasons(answer: &Map<String, Value>, name: &str) -> Option<String> {
    match answer.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(texts) => {
            let texts: Vec<_> = texts.iter().filter_map(Value::as_str).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// A value as a message shows it.
pub fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    cut(&value.to_string(), LONGEST).into_owned()
}
