//! `/api/runs/ID/items/KEY/media`: an image or a recording that an item names by its path in the project.
//!
//! The paths come from datasets and agents, which nobody has checked. Therefore the file must be in the project's folder after
//! following links, and its first bytes must be those of an image or a recording. It is served with a policy under which it cannot run
//! anything, and never with the type that its name suggests.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, IF_RANGE, RANGE,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cobalt_core::report::ItemResult;
use http_range_header::{RangeUnsatisfiableError, parse_range_header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;
use url::Url;

use super::respond::{PathParams, StrictQuery, run_blocking};
use crate::serve::error::ApiError;
use crate::serve::store::{Store, open_regular};

/// A file of an item.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MediaQuery {
    /// The path exactly as a text of the item's input, output or metadata has it.
    pub path: String,
}

/// The maximum size of a file in bytes.
const MAX_SIZE: u64 = 50 << 20;
/// The number of bytes by which a type is recognized.
const HEAD: u64 = 8 << 10;
/// The recognized types, with those that browsers know.
const TYPES: [(&str, &str); 11] = [
    ("image/png", "image/png"),
    ("image/jpeg", "image/jpeg"),
    ("image/gif", "image/gif"),
    ("image/webp", "image/webp"),
    ("image/avif", "image/avif"),
    ("audio/x-wav", "audio/wav"),
    ("audio/mpeg", "audio/mpeg"),
    ("audio/ogg", "audio/ogg"),
    ("audio/opus", "audio/ogg"),
    ("audio/x-flac", "audio/flac"),
    ("audio/m4a", "audio/mp4"),
];
/// Even as a page of its own, the file loads and runs nothing.
const MEDIA_CSP: &str = "default-src 'none'; sandbox";

pub async fn media(
    State(store): State<Arc<Store>>,
    PathParams((id, key)): PathParams<(String, String)>,
    StrictQuery(query): StrictQuery<MediaQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Media { file, size, media_type } =
        run_blocking(store, move |store| find_media(store, &id, &key, &query.path)).await?;
    let part = match requested_part(&headers, size) {
        Ok(part) => part,
        Err(error) => return Ok(([(CONTENT_RANGE, format!("bytes */{size}"))], error).into_response()),
    };
    let (start, length) =
        part.as_ref().map_or((0, size), |part| (*part.start(), part.end() - part.start() + 1));
    let headers = [
        (CONTENT_TYPE, media_type.to_owned()),
        (CONTENT_LENGTH, length.to_string()),
        (ACCEPT_RANGES, "bytes".to_owned()),
        (CONTENT_DISPOSITION, "inline".to_owned()),
        (CONTENT_SECURITY_POLICY, MEDIA_CSP.to_owned()),
        (CACHE_CONTROL, "no-cache".to_owned()),
    ];
    let mut file = tokio::fs::File::from_std(file);
    file.seek(SeekFrom::Start(start)).await.map_err(unreadable)?;
    let body = Body::from_stream(ReaderStream::new(file.take(length)));
    Ok(match part {
        Some(part) => {
            let range = [(CONTENT_RANGE, format!("bytes {}-{}/{size}", part.start(), part.end()))];
            (StatusCode::PARTIAL_CONTENT, range, headers, body).into_response()
        }
        None => (headers, body).into_response(),
    })
}

/// The part of a file that a client requests; `None` for the whole file. Browsers request parts to seek in a recording;
/// some play none without them.
fn requested_part(headers: &HeaderMap, size: u64) -> Result<Option<RangeInclusive<u64>>, ApiError> {
    let range = headers.get(RANGE).and_then(|range| range.to_str().ok());
    // There is no version of the file that a client could refer to.
    let Some(range) = range.filter(|_| !headers.contains_key(IF_RANGE)) else { return Ok(None) };
    match parse_range_header(range).and_then(|ranges| ranges.validate(size)) {
        Ok(ranges) => Ok(<[_; 1]>::try_from(ranges).ok().map(|[part]| part)),
        Err(RangeUnsatisfiableError::Unsatisfiable) => {
            let message = format!("the file has only {size} bytes");
            Err(ApiError::new(StatusCode::RANGE_NOT_SATISFIABLE, message))
        }
        Err(_) => Ok(None),
    }
}

fn unreadable(_: std::io::Error) -> ApiError {
    ApiError::not_found("the file cannot be read")
}

/// An opened file.
#[derive(Debug)]
struct Media {
    file: File,
    size: u64,
    media_type: &'static str,
}

fn find_media(store: &Store, id: &str, key: &str, path: &str) -> Result<Media, ApiError> {
    let (item, source) = store.with_run(id, |run| {
        let at = run.items.iter().position(|item| *item.key == *key);
        let at = at.ok_or_else(|| ApiError::not_found(format!("run {id} has no item “{key}”")))?;
        let source = run.head.declared_at.as_ref().map(|place| place.file.clone());
        Ok((run.reader()?.item(at)?, source))
    })?;
    if !names_path(&item, path) {
        return Err(ApiError::not_found("the item does not name this file"));
    }
    let file = store.project_file(&local_path(path), source.as_deref()).and_then(|path| open_regular(&path));
    let file = file.ok_or_else(|| {
        ApiError::not_found("file not found in the project's folder; only files of the project are shown")
    })?;
    read_media(file)
}

/// Whether a text of the item's input, output or metadata is this path.
fn names_path(item: &ItemResult, path: &str) -> bool {
    let has = |value: &Value| contains_text(value, path);
    !path.is_empty()
        && (item.input.values().any(has)
            || item.runs.iter().any(|run| {
                run.output.as_ref().is_some_and(|output| has(output.value()))
                    || run.metadata().values().any(has)
            }))
}

fn contains_text(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Array(values) => values.iter().any(|value| contains_text(value, wanted)),
        Value::Object(fields) => fields.values().any(|value| contains_text(value, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The path of a `file:` URL, or the path itself.
fn local_path(path: &str) -> PathBuf {
    let url = path.starts_with("file:").then(|| Url::parse(path).ok()?.to_file_path().ok()).flatten();
    url.unwrap_or_else(|| PathBuf::from(path))
}

/// Checks the size and the type of a file.
fn read_media(mut file: File) -> Result<Media, ApiError> {
    let size = file.metadata().map_err(unreadable)?.len();
    if size > MAX_SIZE {
        let message = format!("the file is larger than {} MB, the maximum that is shown", MAX_SIZE >> 20);
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    let media_type = media_type(&head).ok_or_else(|| {
        let message = "the file is neither an image (PNG, JPEG, GIF, WebP, AVIF) nor a recording (WAV, MP3, Ogg, FLAC, M4A)";
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
    })?;
    Ok(Media { file, size, media_type })
}

/// The type of a file by its first bytes.
fn media_type(head: &[u8]) -> Option<&'static str> {
    let found = infer::get(head)?.mime_type();
    TYPES.iter().find(|(known, _)| *known == found).map(|(_, served)| *served)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_and_recordings_are_recognized_by_their_first_bytes() {
        let wav = b"RIFF\x24\0\0\0WAVEfmt ";
        for (head, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], "image/png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
            (b"GIF89a\x01\0\x01\0", "image/gif"),
            (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
            (b"\0\0\0\x18ftypavif\0\0\0\0avifmif1", "image/avif"),
            (wav, "audio/wav"),
            (b"ID3\x04\0\0\0\0\0\0", "audio/mpeg"),
            (b"OggS\0\x02\0\0\0\0\0\0\0\0", "audio/ogg"),
            (b"fLaC\0\0\0\x22", "audio/flac"),
            (b"\0\0\0\x20ftypM4A \0\0\0\0", "audio/mp4"),
        ] {
            assert_eq!(media_type(head), Some(expected));
        }
    }

    #[test]
    fn anything_that_a_browser_could_run_is_refused() {
        for head in [
            &b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>"[..],
            b"<?xml version=\"1.0\"?><svg/>",
            b"<!DOCTYPE html><script>alert(1)</script>",
            b"<html>",
            b"%PDF-1.7",
            b"alert(1)",
            b"",
            b"PK\x03\x04",
            b"SQLite format 3\0",
        ] {
            assert_eq!(media_type(head), None, "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn only_a_path_that_the_item_has_as_a_whole_is_named() {
        let item: ItemResult = serde_json::from_value(json!({
            "index": 0, "key": "k", "input": { "images": [{ "path": "a.png" }], "note": "see c.png" },
            "output": { "output": { "file": "out/b.png" }, "metadata": { "audio": "d.wav" } },
            "latencyMs": 1, "evaluations": { "tone": { "score": 1, "reason": "e.png" } }, "status": "ok",
        }))
        .unwrap();
        for path in ["a.png", "out/b.png", "d.wav"] {
            assert!(names_path(&item, path), "{path}");
        }
        for path in ["", "c.png", "e.png", "b.png", "A.png", "./a.png", "path"] {
            assert!(!names_path(&item, path), "{path}");
        }
    }

    #[test]
    fn a_large_file_is_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(MAX_SIZE + 1).unwrap();
        assert_eq!(read_media(file).unwrap_err().status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[test]
    fn one_part_of_a_file_can_be_requested() {
        let part = |headers: &[(&'static str, &'static str)]| {
            let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            requested_part(&headers.collect(), 100)
        };
        for (range, expected) in [
            ("bytes=0-", Some(0..=99)),
            ("bytes=10-19", Some(10..=19)),
            ("bytes=90-1000", Some(90..=99)),
            ("bytes=-5", Some(95..=99)),
            ("bytes=0-1,5-6", None),
            ("bytes=19-10", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(part(&[("range", range)]).unwrap(), expected, "{range}");
        }
        assert_eq!(part(&[]).unwrap(), None);
        assert_eq!(part(&[("range", "bytes=0-1"), ("if-range", "\"1\"")]).unwrap(), None);
        for range in ["bytes=100-", "bytes=18446744073709551616-"] {
            let error = part(&[("range", range)]).unwrap_err();
            assert_eq!(error.status(), StatusCode::RANGE_NOT_SATISFIABLE, "{range}");
        }
    }

    #[test]
    fn a_file_url_is_a_path() {
        assert_eq!(local_path("file:///desk/a%20b.png"), PathBuf::from("/desk/a b.png"));
        assert_eq!(local_path("a.png"), PathBuf::from("a.png"));
        assert_eq!(local_path("file://elsewhere/a.png"), PathBuf::from("file://elsewhere/a.png"));
    }
}
