//! What makes two requests the same: method, path and canonical body, without ignored fields.

use serde_json::Value;

use super::body::Body;
use crate::hash::sha256_hex;

/// The key of a request: a hash of its method, its path and its canonical body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey(String);

impl RequestKey {
    /// The key of a request whose body is in its stored form. `ignore` are the paths of fields that are not compared, such as
    /// `metadata.trace_id`.
    #[must_use]
    pub fn new(method: &str, path: &str, body: Option<&Body>, ignore: &[String]) -> Self {
        let body = match body {
            Some(Body::Json(value)) if !ignore.is_empty() => {
                let mut value = value.clone();
                ignore_fields(&mut value, ignore);
                value.to_string()
            }
            Some(body) => serde_json::to_string(body).unwrap_or_default(),
            None => String::new(),
        };
        Self(sha256_hex(&[method, path, &body]))
    }
}

/// Removes fields by their paths. A path continues through each element of a list.
pub fn ignore_fields(value: &mut Value, paths: &[String]) {
    for path in paths {
        ignore_field(value, path);
    }
}

fn ignore_field(value: &mut Value, path: &str) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| ignore_field(value, path)),
        Value::Object(fields) => {
            // A key may itself contain dots.
            fields.shift_remove(path);
            if let Some((first, rest)) = path.split_once('.')
                && let Some(inner) = fields.get_mut(first)
            {
                ignore_field(inner, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(body: &Value, ignore: &[&str]) -> RequestKey {
        let ignore: Vec<_> = ignore.iter().map(ToString::to_string).collect();
        RequestKey::new("POST", "openai/x", Body::of_request(body.to_string().as_bytes()).as_ref(), &ignore)
    }

    #[test]
    fn the_order_of_fields_does_not_matter_and_that_of_messages_does() {
        let one = json!({ "model": "m", "messages": [1, 2] });
        assert_eq!(key(&one, &[]), key(&json!({ "messages": [1, 2], "model": "m" }), &[]));
        assert_ne!(key(&one, &[]), key(&json!({ "messages": [2, 1], "model": "m" }), &[]));
        assert_ne!(key(&one, &[]), RequestKey::new("POST", "openai/y", Body::of_request(b"1").as_ref(), &[]));
    }

    #[test]
    fn ignored_fields_are_not_compared() {
        let body = |user: &str, trace: u64, content: &str| json!({ "user": user, "metadata": { "trace_id": trace, "kind": 1 }, "messages": [{ "id": trace, "content": content }] });
        let ignore = ["user", "metadata.trace_id", "messages.id"];
        assert_eq!(key(&body("a", 1, "x"), &ignore), key(&body("b", 2, "x"), &ignore));
        assert_ne!(key(&body("a", 1, "x"), &ignore), key(&body("a", 1, "y"), &ignore));
        assert_ne!(key(&body("a", 1, "x"), &["user"]), key(&body("a", 2, "x"), &["user"]));
    }
}
