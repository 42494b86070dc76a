//! Whether two requests are the same except for secrets, which may be redacted in one of them: a variable with the secret was set on one
//! machine only, or another version of Cobalt redacted it.

use serde_json::{Map, Value};

use super::body::{Body, ReadBlob, blob_hash};
use super::cassette::RecordedRequest;
use crate::redact::is_same_but_for_secrets;

impl RecordedRequest {
    /// Whether a request that was sent is this one, except for secrets that are redacted in one of them. `read` reads the long texts of
    /// this one; `ignore` are the fields that are not compared.
    #[must_use]
    pub fn is_same_but_for_secrets(&self, sent: &Self, read: ReadBlob<'_>, ignore: &[String]) -> bool {
        if self.method != sent.method || !is_same_but_for_secrets(&self.path, &sent.path) {
            return false;
        }
        match (&self.without(ignore).body, &sent.without(ignore).body) {
            (Some(recorded), Some(sent)) => recorded.is_same_but_for_secrets(sent, read),
            (recorded, sent) => recorded == sent,
        }
    }
}

impl Body {
    /// Whether a body that was sent is this one, except for secrets that are redacted in one of them.
    #[must_use]
    pub fn is_same_but_for_secrets(&self, sent: &Self, read: ReadBlob<'_>) -> bool {
        match (self, sent) {
            (Self::Json(recorded), Self::Json(sent)) => is_same_value(recorded, sent, read),
            (Self::Text(recorded), Self::Text(sent)) => is_same_but_for_secrets(recorded, sent),
            (recorded, sent) => recorded == sent,
        }
    }
}

fn is_same_value(recorded: &Value, sent: &Value, read: ReadBlob<'_>) -> bool {
    match (recorded, sent) {
        (Value::String(recorded), Value::String(sent)) => is_same_but_for_secrets(recorded, sent),
        // A numeric key is redacted as a text.
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            is_same_but_for_secrets(text, &number.to_string()) && serde_json::from_str::<Value>(text).is_err()
        }
        (Value::Array(recorded), Value::Array(sent)) => {
            recorded.len() == sent.len()
                && recorded.iter().zip(sent).all(|(recorded, sent)| is_same_value(recorded, sent, read))
        }
        (Value::Object(recorded), Value::Object(sent)) => are_same_fields(recorded, sent, read),
        (Value::Object(recorded), Value::String(sent)) => {
            let text = blob_hash(recorded).and_then(|hash| String::from_utf8(read(hash).ok()?).ok());
            text.is_some_and(|text| is_same_but_for_secrets(&text, sent))
        }
        (recorded, sent) => recorded == sent,
    }
}

fn are_same_fields(recorded: &Map<String, Value>, sent: &Map<String, Value>, read: ReadBlob<'_>) -> bool {
    let is_same = |(name, value): (&String, &Value)| match sent.get(name) {
        Some(sent) => is_same_value(value, sent, read),
        None => sent
            .iter()
            .any(|(other, sent)| is_same_but_for_secrets(name, other) && is_same_value(value, sent, read)),
    };
    recorded.len() == sent.len() && recorded.iter().all(is_same)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(path: &str, body: &Value) -> RecordedRequest {
        let body = Some(Body::Json(body.clone()));
        RecordedRequest { method: "POST".to_owned(), path: path.to_owned(), url: None, body }
    }

    #[test]
    fn requests_match_whether_or_not_a_secret_is_known() {
        let long = format!("{} order_id_2024x", "x".repeat(5000));
        let read = |_: &str| Ok(format!("{} [redacted:KEY]", "x".repeat(5000)).into_bytes());
        let blob = json!({ "$blob": "0".repeat(64) });
        let masked = request(
            "host/a/[redacted]",
            &json!({ "content": "order [redacted:KEY]", "account": "[redacted:KEY]", "[redacted:KEY]": 1, "long": blob }),
        );
        let plain = |content: &str| {
            let fields = json!({ "content": content, "account": 839_201_746_583_u64, "order_id_2024x": 1, "long": long });
            request("host/a/order_id_2024x", &fields)
        };
        assert!(masked.is_same_but_for_secrets(&plain("order order_id_2024x"), &read, &[]));
        assert!(!masked.is_same_but_for_secrets(&plain("orders order_id_2024x"), &read, &[]));
        let ignore = ["content".to_owned()];
        assert!(masked.is_same_but_for_secrets(&plain("other"), &read, &ignore));
    }
}
