//! The endpoint for OpenTelemetry's exporters, over HTTP.

use std::io::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::*;
use crate::trace::{ExecutionTrace, SpanCollector, enable_exports, traceparent};

/// A field of a message in protobuf.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(value.len()).unwrap();
    assert!(length < 128, "a longer one needs two bytes");
    [&[number << 3 | 2, length][..], value].concat()
}

/// An export of one span, in protobuf.
fn protobuf(traceparent: &str) -> Vec<u8> {
    let parts: Vec<_> = traceparent.split('-').collect();
    let trace_id = u128::from_str_radix(parts[1], 16).unwrap().to_be_bytes();
    let parent = u64::from_str_radix(parts[2], 16).unwrap().to_be_bytes();
    let span = [field(1, &trace_id), field(2, &[7; 8]), field(4, &parent), field(5, b"agent")].concat();
    field(1, &field(2, &field(2, &span)))
}

fn json(traceparent: &str) -> String {
    let parts: Vec<_> = traceparent.split('-').collect();
    let span = json!({ "traceId": parts[1], "spanId": "0000000000000007", "parentSpanId": parts[2], "name": "agent" });
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] }).to_string()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn exports_are_read_in_both_encodings_compressed_or_not() {
    enable_exports();
    let process = Scene::numbered().process(RecordMode::Off);
    let url = process.gateway.base_url_for("http://host", None).unwrap().replace("/to/http/host", "/otlp");
    let post = async |path: &str, content_type: &str, encoding: &str, body: Vec<u8>| {
        let request = process.client.post(format!("{url}/{path}")).header(CONTENT_TYPE, content_type);
        let request = if encoding.is_empty() { request } else { request.header(CONTENT_ENCODING, encoding) };
        let response = request.body(body).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    };
    let (binary, text) = ("application/x-protobuf", "application/json");
    for (content_type, encoding, answer) in [
        (binary, "", ""),
        (binary, "gzip", ""),
        (text, "", "{}"),
        ("application/json; charset=utf-8", "gzip", "{}"),
    ] {
        let collector = Arc::new(SpanCollector::new());
        let header = traceparent(&collector).unwrap();
        let body = if content_type == binary { protobuf(&header) } else { json(&header).into_bytes() };
        let body = if encoding.is_empty() { body } else { gzip(&body) };
        assert_eq!(
            post("v1/traces", content_type, encoding, body).await,
            (StatusCode::OK, answer.to_owned())
        );
        let trace = ExecutionTrace::take(&collector, Vec::new(), &PriceTable::default()).shared();
        assert_eq!(
            trace.spans().iter().map(|span| &*span.name).collect::<Vec<_>>(),
            ["agent"],
            "{content_type}"
        );
    }
    assert_eq!(post("v1/metrics", binary, "", b"anything".to_vec()).await.0, StatusCode::OK);
    for (path, content_type, encoding, status) in [
        ("v1/traces", binary, "", 400),
        ("v1/traces", text, "", 400),
        ("v1/traces", binary, "gzip", 400),
        ("v1/traces", binary, "zstd", 400),
        ("v1/traces", "application/grpc", "", 415),
        ("v2/traces", binary, "", 404),
    ] {
        let refused = post(path, content_type, encoding, b"{".to_vec()).await;
        assert_eq!(refused.0.as_u16(), status, "{path} {content_type} {encoding}: {}", refused.1);
    }
    let foreign = process.client.post(url.replace("/otlp", "0/otlp") + "/v1/traces").send().await.unwrap();
    assert!(foreign.status().is_client_error(), "the token is wrong");
}
