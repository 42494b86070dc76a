//! Whether a value has all that another asks for.

use serde_json::Value;

use super::exact_match::same_number;

/// Whether `given` has all that `expected` asks for: of an object each field, which may be among others; of a list each
/// element, in its place and none beside them; numbers by their value, texts letter by letter. A field that is expected to be
/// `null` may be missing.
///
/// ```
/// use cobalt::metrics::json_subset;
/// use serde_json::json;
///
/// assert!(json_subset(&json!({"day": "Friday"}), &json!({"day": "Friday", "seats": 2})));
/// assert!(json_subset(&json!({"seats": 2}), &json!({"seats": 2.0})));
/// assert!(!json_subset(&json!(["York"]), &json!(["York", "Leeds"])));
/// ```
#[must_use]
pub fn json_subset(expected: &Value, given: &Value) -> bool {
    match (expected, given) {
        (Value::Object(expected), Value::Object(given)) => expected
            .iter()
            .all(|(name, expected)| json_subset(expected, given.get(name).unwrap_or(&Value::Null))),
        (Value::Array(expected), Value::Array(given)) => {
            expected.len() == given.len()
                && expected.iter().zip(given).all(|(expected, given)| json_subset(expected, given))
        }
        (Value::Number(expected), Value::Number(given)) => same_number(expected, given),
        (expected, given) => expected == given,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_looked_into_at_every_depth() {
        let given = json!({"trip": {"legs": [{"from": "Leeds", "to": "York"}], "seats": 1}});
        assert!(json_subset(&json!({}), &given));
        assert!(json_subset(&json!({"trip": {"legs": [{"to": "York"}]}}), &given));
        assert!(!json_subset(&json!({"trip": {"legs": [{"to": "Leeds"}]}}), &given));
        assert!(!json_subset(&json!({"trip": {"class": 1}}), &given));
    }

    #[test]
    fn lists_have_the_same_elements_in_the_same_places() {
        assert!(!json_subset(&json!([1, 2]), &json!([2, 1])));
        assert!(!json_subset(&json!([]), &json!([1])));
    }

    #[test]
    fn numbers_are_no_texts_and_large_neighbours_differ() {
        assert!(!json_subset(&json!({"seats": 2}), &json!({"seats": "2"})));
        assert!(!json_subset(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(!json_subset(&json!("york"), &json!("York")));
    }

    #[test]
    fn null_is_expected_of_a_field_that_is_missing_or_null() {
        assert!(json_subset(&json!({"a": null}), &json!({})));
        assert!(json_subset(&json!({"a": null}), &json!({"a": null})));
        assert!(!json_subset(&json!({"a": null}), &json!({"a": 0})));
    }
}
