//! The body of a request or response, as it is stored.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::stream::{StreamEvent, StreamKind, redact_across, redact_events, split_events};
use crate::hash::sha256;
use crate::redact::{redact, redact_texts};

/// Texts of this length, in bytes, or longer are stored once, by their hash: images, long contexts.
const BLOB_BYTES: usize = 4096;
/// Streams of this length, in bytes, or longer are stored as a whole, without their events.
const MAX_STREAM_BYTES: usize = 1 << 20;
/// The field of an object that stands for a long text.
const BLOB: &str = "$blob";

/// A body. Its form follows from the content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Body {
    /// JSON. The keys of a request are sorted; those of a response have the order in which the model wrote them.
    Json(Value),
    /// Other text.
    Text(String),
    /// The events or lines of a stream.
    Events(Vec<StreamEvent>),
    /// Binary data.
    Base64(String),
    /// The SHA-256 of data that is in a file of its own.
    Blob(String),
}

/// Stores a long text, and returns its hash.
type StoreBlob<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<String>;
/// Reads a stored text by its hash.
pub type ReadBlob<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

impl Body {
    /// A body in the form in which requests are compared: redacted, with sorted keys, and with hashes instead of long texts. Nothing is
    /// stored.
    #[must_use]
    pub fn of_request(bytes: &[u8]) -> Option<Self> {
        let mut hash_only = |data: &[u8]| Ok(sha256(data));
        Self::of(bytes, &mut hash_only).ok().flatten()
    }

    /// The body of a request with its long texts, to compare it with [`Self::restored`].
    #[must_use]
    pub fn of_request_in_full(bytes: &[u8]) -> Option<Self> {
        match serde_json::from_slice::<Value>(bytes) {
            Ok(mut value) => {
                redact_texts(&mut value);
                value.sort_all_objects();
                Some(Self::Json(value))
            }
            Err(_) => Self::of_request(bytes),
        }
    }

    /// The body of a request as it is stored, with sorted keys; `None` if it is empty. Keys and credentials are redacted.
    ///
    /// # Errors
    ///
    /// A long text cannot be stored.
    pub fn of(bytes: &[u8], store: StoreBlob<'_>) -> io::Result<Option<Self>> {
        let mut body = Self::of_response(bytes, store)?;
        if let Some(Self::Json(value)) = &mut body {
            value.sort_all_objects();
        }
        Ok(body)
    }

    /// The same for a response, whose keys keep their order.
    ///
    /// # Errors
    ///
    /// A long text cannot be stored.
    pub fn of_response(bytes: &[u8], store: StoreBlob<'_>) -> io::Result<Option<Self>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        if let Ok(mut value) = serde_json::from_slice::<Value>(bytes) {
            // Gemini's stream may be a list.
            if let Value::Array(list) = &mut value {
                redact_across(list);
            }
            redact_texts(&mut value);
            extract_blobs(&mut value, store)?;
            return Ok(Some(Self::Json(value)));
        }
        Ok(Some(match std::str::from_utf8(bytes) {
            Ok(text) => {
                let mut text = text.to_owned();
                redact(&mut text);
                if text.len() >= BLOB_BYTES { Self::Blob(store(text.as_bytes())?) } else { Self::Text(text) }
            }
            Err(_) if bytes.len() >= BLOB_BYTES => Self::Blob(store(bytes)?),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }))
    }

    /// The body of a stream, as it is stored. `pieces` are its parts, with the milliseconds at which they arrived.
    ///
    /// # Errors
    ///
    /// A long text cannot be stored.
    pub fn of_stream(
        pieces: &[(u64, &[u8])],
        kind: StreamKind,
        store: StoreBlob<'_>,
    ) -> io::Result<Option<Self>> {
        match split_events(pieces, kind) {
            Some(mut events) => {
                redact_events(&mut events);
                let length: usize = events.iter().map(|event| event.text.len()).sum();
                if length >= MAX_STREAM_BYTES {
                    let whole: String = events.into_iter().map(|event| event.text).collect();
                    return Ok(Some(Self::Blob(store(whole.as_bytes())?)));
                }
                Ok((!events.is_empty()).then_some(Self::Events(events)))
            }
            // It is not text.
            None => Self::of_response(
                &pieces.iter().flat_map(|(_, piece)| *piece).copied().collect::<Vec<u8>>(),
                store,
            ),
        }
    }

    /// The bytes to send.
    ///
    /// # Errors
    ///
    /// A long text cannot be read, or the stored data is damaged.
    pub fn bytes(&self, read: ReadBlob<'_>) -> io::Result<Vec<u8>> {
        match self {
            Self::Json(value) => {
                let mut value = value.clone();
                restore_blobs(&mut value, read)?;
                Ok(serde_json::to_vec(&value)?)
            }
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Events(events) => Ok(events.iter().flat_map(|event| event.text.bytes()).collect()),
            Self::Base64(text) => {
                STANDARD.decode(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
            }
            Self::Blob(hash) => read(hash),
        }
    }

    /// The body with its long texts.
    ///
    /// # Errors
    ///
    /// A long text cannot be read.
    pub fn restored(&self, read: ReadBlob<'_>) -> io::Result<Self> {
        match self {
            Self::Json(value) => {
                let mut value = value.clone();
                restore_blobs(&mut value, read)?;
                Ok(Self::Json(value))
            }
            body => Ok(body.clone()),
        }
    }

    /// The JSON value, if it is one.
    #[must_use]
    pub fn json(&self) -> Option<&Value> {
        match self {
            Self::Json(value) => Some(value),
            _ => None,
        }
    }

    /// Whether it has long texts.
    #[must_use]
    pub fn has_blob(&self) -> bool {
        let mut has_one = false;
        self.for_each_blob(&mut |_| has_one = true);
        has_one
    }

    /// Calls `found` with the hash of each long text.
    pub fn for_each_blob(&self, found: &mut impl FnMut(&str)) {
        match self {
            Self::Json(value) => for_each_blob(value, found),
            Self::Blob(hash) => found(hash),
            _ => {}
        }
    }
}

fn extract_blobs(value: &mut Value, store: StoreBlob<'_>) -> io::Result<()> {
    match value {
        Value::String(text) if text.len() >= BLOB_BYTES => *value = json!({ BLOB: store(text.as_bytes())? }),
        Value::Array(list) => list.iter_mut().try_for_each(|value| extract_blobs(value, store))?,
        Value::Object(fields) => fields.values_mut().try_for_each(|value| extract_blobs(value, store))?,
        _ => {}
    }
    Ok(())
}

fn restore_blobs(value: &mut Value, read: ReadBlob<'_>) -> io::Result<()> {
    match value {
        Value::Array(list) => list.iter_mut().try_for_each(|value| restore_blobs(value, read))?,
        Value::Object(fields) => match blob_hash(fields) {
            Some(hash) => {
                let text = String::from_utf8(read(hash)?);
                *value = text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?.into();
            }
            None => fields.values_mut().try_for_each(|value| restore_blobs(value, read))?,
        },
        _ => {}
    }
    Ok(())
}

fn for_each_blob(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| for_each_blob(value, found)),
        Value::Object(fields) => match blob_hash(fields) {
            Some(hash) => found(hash),
            None => fields.values().for_each(|value| for_each_blob(value, found)),
        },
        _ => {}
    }
}

/// The hash in an object that stands for a long text.
pub fn blob_hash(fields: &Map<String, Value>) -> Option<&str> {
    let hash = fields.get(BLOB)?.as_str()?;
    (fields.len() == 1 && is_hash(hash)).then_some(hash)
}

/// Whether this is a SHA-256, so that it can be the name of a file.
pub(super) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashMap;

    use super::*;

    const KEY: &str = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";

    #[test]
    fn long_texts_are_stored_once_and_restored() {
        let blobs = RefCell::new(HashMap::new());
        let mut store = |data: &[u8]| {
            let hash = sha256(data);
            blobs.borrow_mut().insert(hash.clone(), data.to_vec());
            Ok(hash)
        };
        let image = "x".repeat(BLOB_BYTES);
        let sent = json!({ "model": "m", "messages": [{ "image": image }, { "image": image }] });
        let body = Body::of(sent.to_string().as_bytes(), &mut store).unwrap().unwrap();
        assert_eq!(blobs.borrow().len(), 1);
        assert!(serde_json::to_string(&body).unwrap().len() < 400);
        let restored = body.bytes(&|hash| Ok(blobs.borrow()[hash].clone())).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&restored).unwrap(), sent);
        let mut hashes = 0;
        body.for_each_blob(&mut |_| hashes += 1);
        assert_eq!(hashes, 2);
        assert_eq!(Body::of_request(sent.to_string().as_bytes()).as_ref(), Some(&body));
        let restored = body.restored(&|hash| Ok(blobs.borrow()[hash].clone())).unwrap();
        assert_eq!(Body::of_request_in_full(sent.to_string().as_bytes()), Some(restored));
    }

    #[test]
    fn a_stream_is_stored_byte_for_byte_and_a_long_one_as_a_whole() {
        let mut none = |_: &[u8]| unreachable!();
        let text = b"event: a\ndata: {\"z\": 1, \"a\": 2}\n\ndata: [DONE]\n\nrest";
        let body = Body::of_stream(&[(0, text)], StreamKind::Events, &mut none).unwrap().unwrap();
        assert_eq!(body.bytes(&|_| unreachable!()).unwrap(), text);
        let (first, second) = KEY.split_at(20);
        let line = |text: &str| format!("{}\n", json!({ "message": { "content": text } }));
        let long = format!("{}{}{}", line(first), line(second), line(&" x".repeat(MAX_STREAM_BYTES)));
        let mut stored = Vec::new();
        let mut store = |data: &[u8]| {
            stored = data.to_vec();
            Ok(sha256(data))
        };
        let body = Body::of_stream(&[(0, long.as_bytes())], StreamKind::Lines, &mut store).unwrap().unwrap();
        assert!(matches!(body, Body::Blob(_)));
        let stored = String::from_utf8(stored).unwrap();
        assert!(stored.lines().count() == 3 && stored.contains("[redacted"), "{}", &stored[..200]);
        assert!(!stored.contains(&first[8..]) && !stored.contains(second), "{}", &stored[..200]);
    }

    #[test]
    fn the_fields_of_a_response_keep_their_order_and_those_of_a_request_do_not() {
        let mut none = |_: &[u8]| unreachable!();
        let text = br#"{"z":{"b":1,"a":2},"a":[{"y":1,"x":2}]}"#;
        let response = Body::of_response(text, &mut none).unwrap().unwrap();
        assert_eq!(response.bytes(&|_| unreachable!()).unwrap(), text);
        let request = Body::of(text, &mut none).unwrap().unwrap();
        assert_eq!(
            request.bytes(&|_| unreachable!()).unwrap(),
            br#"{"a":[{"x":2,"y":1}],"z":{"a":2,"b":1}}"#
        );
    }

    #[test]
    fn a_key_in_a_stream_that_is_a_list_is_redacted() {
        let part = |text: &str| json!({ "candidates": [{ "content": { "parts": [{ "text": text }] } }] });
        let (first, second) = KEY.split_at(20);
        let sent = json!([part(first), part(second)]).to_string();
        let mut none = |_: &[u8]| unreachable!();
        let body = Body::of_response(sent.as_bytes(), &mut none).unwrap().unwrap();
        let text = serde_json::to_string(&body).unwrap();
        assert!(!text.contains(&first[8..]) && !text.contains(second), "{text}");
    }

    #[test]
    fn binary_data_is_kept_exactly() {
        let mut none = |_: &[u8]| unreachable!();
        let body = Body::of(&[0, 159, 146, 150], &mut none).unwrap().unwrap();
        assert_eq!(body, Body::Base64("AJ+Slg==".to_owned()));
        assert_eq!(body.bytes(&|_| unreachable!()).unwrap(), [0, 159, 146, 150]);
    }

    #[test]
    fn keys_in_a_body_are_redacted() {
        let mut none = |_: &[u8]| unreachable!();
        let sent = json!({ "input": format!("my key is {KEY}") }).to_string();
        let body = Body::of(sent.as_bytes(), &mut none).unwrap().unwrap();
        assert!(!serde_json::to_string(&body).unwrap().contains("9fK2mQx7"), "{body:?}");
    }
}
