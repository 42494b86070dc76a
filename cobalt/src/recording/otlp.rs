//! The endpoint of the gateway to which OpenTelemetry's exporters send.

use std::io::Read as _;

use bytes::Bytes;
use cobalt_otlp::{Export, ExportError};
use flate2::read::GzDecoder;
use http_body_util::{BodyExt as _, Limited};
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};

use super::reply::{self, Reply};
use crate::trace::receive_exports;

/// The maximum size of a request, before and after decompression.
const MAX_BYTES: usize = 64 << 20;
const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json";

/// Answers an export to a path below the endpoint. Metrics and logs are accepted, so their exporters report no errors, and ignored.
pub async fn answer(path: &str, headers: &HeaderMap, body: Incoming) -> Reply {
    let path = path.trim_matches('/');
    if !matches!(path, "v1/traces" | "v1/metrics" | "v1/logs") {
        let message =
            format!("there is no `{path}` at this endpoint for OpenTelemetry; send spans to `v1/traces`");
        return reply::error(404, "not_found", &message);
    }
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    let Some(content_type) = [PROTOBUF, JSON].into_iter().find(|it| it.eq_ignore_ascii_case(content_type))
    else {
        let message = format!(
            "expected the content type {PROTOBUF} or {JSON}; set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
        );
        return reply::error(415, "unsupported_media_type", &message);
    };
    let Ok(body) = Limited::new(body, MAX_BYTES).collect().await else {
        return reply::error(
            413,
            "too_large",
            &format!("the request is incomplete, or larger than {MAX_BYTES} bytes"),
        );
    };
    if path == "v1/traces" {
        let bytes = match decompressed(body.to_bytes(), header(CONTENT_ENCODING)) {
            Ok(bytes) => bytes,
            Err(problem) => return reply::error(400, "bad_request", &problem),
        };
        match decode(&bytes, content_type) {
            Ok(export) => receive_exports(export.spans),
            Err(error) => return reply::error(400, "bad_request", &error.to_string()),
        }
    }
    // A response without a partial success is an empty message.
    let mut response = Response::new(reply::whole(if content_type == JSON { "{}" } else { "" }));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn decode(bytes: &[u8], content_type: &str) -> Result<Export, ExportError> {
    if content_type == JSON { Export::from_json(bytes) } else { Export::from_protobuf(bytes) }
}

fn decompressed(body: Bytes, encoding: &str) -> Result<Bytes, String> {
    match encoding {
        "" | "identity" => Ok(body),
        "gzip" => {
            let mut bytes = Vec::new();
            let mut decoder = GzDecoder::new(&*body).take(MAX_BYTES as u64 + 1);
            decoder.read_to_end(&mut bytes).map_err(|error| format!("expected a body in gzip: {error}"))?;
            match bytes.len() > MAX_BYTES {
                true => Err(format!("the request is larger than {MAX_BYTES} bytes")),
                false => Ok(bytes.into()),
            }
        }
        other => Err(format!("expected the content encoding gzip or none, found `{other}`")),
    }
}
