//! The nesting depth of JSON. A value that is too deep can be written, but not read back.

use serde_json::Value;

/// The maximum depth of lists and objects in an item's field, an agent's output or an evaluation's metadata. The JSON parser
/// stops at 128, and a result file adds a few levels.
pub const MAX_DEPTH: usize = 100;

/// Whether a value is nested too deeply to be stored. Does not recurse.
pub fn is_too_deep(value: &Value) -> bool {
    if !is_container(value) {
        return false;
    }
    let mut level: Vec<&Value> = vec![value];
    for _ in 0..=MAX_DEPTH {
        level = level.into_iter().filter(|value| is_container(value)).flat_map(children).collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

/// The error message if `what` is nested too deeply.
pub fn too_deep_message(what: &str) -> String {
    format!(
        "{what} is nested more than {MAX_DEPTH} levels deep, the limit of result files; flatten it, or return the deep part \
         as text"
    )
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(values) => Box::new(values.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Drops a value level by level: the default recursive drop could overflow the stack.
pub fn drop_iteratively(value: Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(values) => left.extend(values),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        let wrap = |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "inner": inner }) };
        (0..levels).fold(json!("bottom"), wrap)
    }

    #[test]
    fn lists_and_objects_count_as_levels() {
        assert!(!is_too_deep(&json!("flat")));
        assert!(!is_too_deep(&nested(MAX_DEPTH)));
        assert!(is_too_deep(&nested(MAX_DEPTH + 1)));
        assert!(is_too_deep(&json!(["flat", { "beside": nested(MAX_DEPTH) }])));
    }

    #[test]
    fn no_depth_overflows_the_stack() {
        let abyss = (0..500_000).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert!(is_too_deep(&abyss));
        drop_iteratively(abyss);
    }
}
