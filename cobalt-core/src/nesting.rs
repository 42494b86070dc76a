//! How deep JSON is nested. What is too deep can be made and written, but not read again.

use serde_json::Value;

/// The most levels of lists and objects in an item's field, an agent's output or what an evaluator keeps. The reader of
/// JSON stops at 128, and a result file adds a few levels of its own.
pub const DEEPEST: usize = 100;

/// Whether a value has more levels than can be kept. Takes no more of the stack for a deep value than for a flat one.
pub fn is_too_deep(value: &Value) -> bool {
    if !has_levels(value) {
        return false;
    }
    let mut level: Vec<&Value> = vec![value];
    for _ in 0..=DEEPEST {
        level = level.into_iter().filter(|value| has_levels(value)).flat_map(inside).collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

/// What to say where something, `what`, has more levels.
pub fn too_deep(what: &str) -> String {
    format!(
        "{what} is nested more than {DEEPEST} levels deep, which no result file can hold; make it flatter, or return the \
         deep part as text"
    )
}

fn has_levels(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

fn inside(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(values) => Box::new(values.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Drops a value level by level: by itself it would do so by recursion, and could overflow the stack.
pub fn dismantle(value: Value) {
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
        assert!(!is_too_deep(&nested(DEEPEST)));
        assert!(is_too_deep(&nested(DEEPEST + 1)));
        assert!(is_too_deep(&json!(["flat", { "beside": nested(DEEPEST) }])));
    }

    #[test]
    fn no_depth_overflows_the_stack() {
        let abyss = (0..500_000).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert!(is_too_deep(&abyss));
        dismantle(abyss);
    }
}
