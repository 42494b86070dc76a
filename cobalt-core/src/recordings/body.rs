//! The body of a request or response, as it is stored.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::request_key::sort_keys;
use crate::hash::sha256_hex;
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
    /// JSON, with sorted keys.
    Json(Value),
    /// Other text.
    Text(String),
    /// Server-sent events.
    Events(Vec<StreamEvent>),
    /// Binary data.
    Base64(String),
    /// The SHA-256 of data that is in a file of its own.
    Blob(String),
}

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEvent {
    /// Milliseconds since the request was sent.
    pub at: u64,
    /// The exact text, including the line breaks at its end.
    pub text: String,
}

/// Stores a long text, and returns its hash.
type StoreBlob<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<String>;
/// Reads a stored text by its hash.
type ReadBlob<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

impl Body {
    /// A body in the form in which requests are compared: redacted, with sorted keys, and with hashes instead of long texts. Nothing is
    /// stored.
    #[must_use]
    pub fn of_request(bytes: &[u8]) -> Option<Self> {
        let mut hash_only = |data: &[u8]| Ok(sha256_hex(&[data]));
        Self::of(bytes, &mut hash_only).ok().flatten()
    }

    /// A body as it is stored; `None` if it is empty. Keys and credentials are redacted.
    ///
    /// # Errors
    ///
    /// A long text cannot be stored.
    pub fn of(bytes: &[u8], store: StoreBlob<'_>) -> io::Result<Option<Self>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        if let Ok(mut value) = serde_json::from_slice::<Value>(bytes) {
            redact_texts(&mut value);
            extract_blobs(&mut value, store)?;
            sort_keys(&mut value);
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
    pub fn of_stream(pieces: &[(u64, &[u8])], store: StoreBlob<'_>) -> io::Result<Option<Self>> {
        let length: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
        let whole = || pieces.iter().flat_map(|(_, piece)| piece.iter().copied()).collect::<Vec<u8>>();
        if length >= MAX_STREAM_BYTES {
            return Self::of(&whole(), store);
        }
        match split_events(pieces) {
            Some(mut events) if !events.is_empty() => {
                events.iter_mut().for_each(|event| redact(&mut event.text));
                Ok(Some(Self::Events(events)))
            }
            _ => Self::of(&whole(), store),
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

    /// The JSON value, if it is one.
    #[must_use]
    pub fn json(&self) -> Option<&Value> {
        match self {
            Self::Json(value) => Some(value),
            _ => None,
        }
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

/// Splits a stream into its events. `None` if it is not text.
#[must_use]
pub fn split_events(pieces: &[(u64, &[u8])]) -> Option<Vec<StreamEvent>> {
    let mut events = Vec::new();
    let mut open: Vec<u8> = Vec::new();
    let mut last = 0;
    for (at, piece) in pieces {
        last = *at;
        let mut from = open.len().saturating_sub(3);
        open.extend_from_slice(piece);
        while let Some(end) = end_of_event(&open[from..]).map(|end| from + end) {
            let rest = open.split_off(end);
            events.push(StreamEvent {
                at: *at,
                text: String::from_utf8(std::mem::replace(&mut open, rest)).ok()?,
            });
            from = 0;
        }
    }
    if !open.is_empty() {
        events.push(StreamEvent { at: last, text: String::from_utf8(open).ok()? });
    }
    Some(events)
}

/// The end of the first event: after an empty line.
fn end_of_event(text: &[u8]) -> Option<usize> {
    [&b"\n\n"[..], b"\r\n\r\n"]
        .into_iter()
        .filter_map(|mark| memchr::memmem::find(text, mark).map(|at| at + mark.len()))
        .min()
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
fn blob_hash(fields: &Map<String, Value>) -> Option<&str> {
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

    #[test]
    fn long_texts_are_stored_once_and_restored() {
        let blobs = RefCell::new(HashMap::new());
        let mut store = |data: &[u8]| {
            let hash = sha256_hex(&[data]);
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
        assert_eq!(Body::of_request(sent.to_string().as_bytes()), Some(body));
    }

    #[test]
    fn a_stream_is_split_at_empty_lines_wherever_its_pieces_end() {
        let text = b"event: a\ndata: 1\n\ndata: 2\r\n\r\ndata: [DONE]\n\nrest";
        for size in 1..text.len() {
            let pieces: Vec<_> =
                text.chunks(size).enumerate().map(|(at, piece)| (at as u64, piece)).collect();
            let events = split_events(&pieces).unwrap();
            let texts: Vec<_> = events.iter().map(|event| event.text.as_str()).collect();
            assert_eq!(
                texts,
                ["event: a\ndata: 1\n\n", "data: 2\r\n\r\n", "data: [DONE]\n\n", "rest"],
                "{size}"
            );
            let mut none = |_: &[u8]| unreachable!();
            let body = Body::of_stream(&pieces, &mut none).unwrap().unwrap();
            assert_eq!(body.bytes(&|_| unreachable!()).unwrap(), text);
        }
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
        let key = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";
        let sent = json!({ "input": format!("my key is {key}") }).to_string();
        let body = Body::of(sent.as_bytes(), &mut none).unwrap().unwrap();
        assert!(!serde_json::to_string(&body).unwrap().contains("9fK2mQx7"), "{body:?}");
    }
}
