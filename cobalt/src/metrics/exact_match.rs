//! Whether two values are the same.

use serde_json::{Number, Value};

use super::json_diff::tree_of;
use super::json_text::json_text;

/// Whether two values are the same. Two texts are compared letter by letter. Where either side is an object, a list or
/// `null`, both are compared as JSON, whatever the order of keys: text on the other side is read first. A number or a
/// boolean is compared with text by how JavaScript writes it (`5` for 5.0).
///
/// ```
/// use serde_json::json;
/// assert!(cobalt::metrics::exact_match(&json!({"a": 1}), &json!("{\"a\": 1.0}")));
/// ```
#[must_use]
pub fn exact_match(a: &Value, b: &Value) -> bool {
    same(a, b, &|a, b| a == b)
}

/// The same where it is said when two texts are the same.
pub(crate) fn same(a: &Value, b: &Value, same_text: &dyn Fn(&str, &str) -> bool) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => same_text(a, b),
        (Value::String(text), json) | (json, Value::String(text)) => {
            let read = if json.is_object() || json.is_array() { tree_of(text) } else { None };
            match read {
                Some(read) => same_json(&read, json, same_text),
                None => same_text(text, &json_text(json)),
            }
        }
        (a, b) => same_json(a, b, same_text),
    }
}

fn same_json(a: &Value, b: &Value, same_text: &dyn Fn(&str, &str) -> bool) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => same_text(a, b),
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_json(a, b, same_text))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_json(a, b, same_text)))
        }
        (a, b) => a == b,
    }
}

/// Whether two numbers have the same value. Two whole numbers are exact; as floating-point numbers, large neighbours would be
/// equal.
pub(super) fn same_number(a: &Number, b: &Number) -> bool {
    a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_compared_whatever_the_order_of_keys() {
        assert!(exact_match(&json!({"a": 1, "b": 2}), &json!("{\"b\": 2, \"a\": 1}")));
        assert!(!exact_match(&json!("{\"a\":1}"), &json!("{\"a\": 1}")));
        assert!(!exact_match(&json!([1, 2]), &json!([2, 1])));
    }

    #[test]
    fn whole_numbers_are_exact() {
        assert!(!exact_match(&json!({"n": 9_007_199_254_740_993_u64}), &json!("{\"n\":9007199254740992}")));
        assert!(exact_match(&json!(-0.0), &json!(0)));
        assert!(exact_match(&json!(5.0), &json!("5")));
    }
}
