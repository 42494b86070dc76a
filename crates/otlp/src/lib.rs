//! Reads spans from the requests of OpenTelemetry's exporters, in protobuf or JSON.
//!
//! JSON is read leniently, unlike by the types for protobuf: collectors leave out empty lists, and write numbers as texts.
//!
//! Source: <https://opentelemetry.io/docs/specs/otlp/>.

mod messages;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use messages::add_messages;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::common::v1::{AnyValue as OptionalValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Number, Value};

use cobalt_core::item::Item;
use cobalt_core::trace::ReportedSpan;

/// The code of a status that is an error.
const ERROR: i64 = 2;

/// A span of an export.
#[derive(Clone, Debug)]
pub struct ExportedSpan {
    /// The id of its trace.
    pub trace_id: u128,
    /// When it started, in nanoseconds since 1970.
    pub start_nanos: u64,
    /// When it ended, in nanoseconds since 1970.
    pub end_nanos: u64,
    /// The attributes of what reported it, such as `service.name`.
    pub resource: Arc<Item>,
    /// The span. Its start is unset: see [`after`](Self::after).
    pub span: ReportedSpan,
}

/// What an export contains.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// Spans with valid ids.
    pub spans: Vec<ExportedSpan>,
    /// The number of spans without.
    pub invalid: usize,
}

/// Why an export cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It is not JSON.
    #[error("expected an OTLP export as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is not protobuf.
    #[error("expected an OTLP export as protobuf: {0}")]
    Protobuf(#[from] prost::DecodeError),
    /// It is something else.
    #[error("expected an OTLP export of spans, an object with `resourceSpans`")]
    NotSpans,
}

impl ExportedSpan {
    /// The span, in milliseconds after a time in nanoseconds since 1970.
    #[must_use]
    pub fn after(self, nanos: u64) -> ReportedSpan {
        #[expect(clippy::cast_precision_loss, reason = "the difference of two times is small")]
        let start_ms = match self.start_nanos.checked_sub(nanos) {
            Some(later) => later as f64 / 1e6,
            None => -((nanos - self.start_nanos) as f64) / 1e6,
        };
        ReportedSpan { start_ms, ..self.span }
    }
}

impl Export {
    /// Reads a request in protobuf.
    ///
    /// # Errors
    ///
    /// It is something else.
    pub fn from_protobuf(bytes: &[u8]) -> Result<Self, ExportError> {
        let mut export = Self::default();
        for exporter in ExportTraceServiceRequest::decode(bytes)?.resource_spans {
            let resource = Arc::new(exporter.resource.map(|it| fields(it.attributes)).unwrap_or_default());
            let spans = exporter.scope_spans.into_iter().flat_map(|scope| scope.spans);
            spans.for_each(|span| export.add(RawSpan::from(span), &resource));
        }
        Ok(export)
    }

    /// Reads a request in JSON. A request of metrics or logs is [`NotSpans`](ExportError::NotSpans).
    ///
    /// # Errors
    ///
    /// It is something else.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ExportError> {
        let request: Value = serde_json::from_slice(bytes)?;
        let Some(exporters) = request["resourceSpans"].as_array() else { return Err(ExportError::NotSpans) };
        let mut export = Self::default();
        for exporter in exporters {
            let resource = Arc::new(json_fields(&exporter["resource"]["attributes"]));
            let spans = list(&exporter["scopeSpans"]).iter().flat_map(|scope| list(&scope["spans"]));
            spans.for_each(|span| export.add(RawSpan::of(span), &resource));
        }
        Ok(export)
    }

    fn add(&mut self, span: RawSpan, resource: &Arc<Item>) {
        match span.exported(Arc::clone(resource)) {
            Some(span) => self.spans.push(span),
            None => self.invalid += 1,
        }
    }
}

/// A span in either encoding.
struct RawSpan {
    /// An id that is not valid is 0.
    trace_id: u128,
    id: u64,
    parent: u64,
    name: String,
    start_nanos: u64,
    end_nanos: u64,
    fields: Item,
    /// The names of events and their fields.
    events: Vec<(String, Item)>,
    status: i64,
    message: String,
}

impl From<Span> for RawSpan {
    fn from(span: Span) -> Self {
        let status = span.status.unwrap_or_default();
        let id = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_be_bytes);
        Self {
            trace_id: span.trace_id.as_slice().try_into().map_or(0, u128::from_be_bytes),
            id: id(&span.span_id),
            parent: id(&span.parent_span_id),
            name: span.name,
            start_nanos: span.start_time_unix_nano,
            end_nanos: span.end_time_unix_nano,
            fields: fields(span.attributes),
            events: span.events.into_iter().map(|event| (event.name, fields(event.attributes))).collect(),
            status: status.code.into(),
            message: status.message,
        }
    }
}

impl RawSpan {
    fn of(span: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let hex = |name: &str, digits: usize| span[name].as_str().filter(|text| text.len() == digits);
        let id = |name| hex(name, 16).and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0);
        let nanos = |name: &str| number(&span[name]).and_then(|number| number.as_u64()).unwrap_or(0);
        let event = |event: &Value| (text(&event["name"]), json_fields(&event["attributes"]));
        let code = &span["status"]["code"];
        let is_error = code.as_str() == Some("STATUS_CODE_ERROR");
        Self {
            trace_id: hex("traceId", 32).and_then(|text| u128::from_str_radix(text, 16).ok()).unwrap_or(0),
            id: id("spanId"),
            parent: id("parentSpanId"),
            name: text(&span["name"]),
            start_nanos: nanos("startTimeUnixNano"),
            end_nanos: nanos("endTimeUnixNano"),
            fields: json_fields(&span["attributes"]),
            events: list(&span["events"]).iter().map(event).collect(),
            status: if is_error { ERROR } else { code.as_i64().unwrap_or(0) },
            message: text(&span["status"]["message"]),
        }
    }

    /// `None` if it has no ids.
    fn exported(self, resource: Arc<Item>) -> Option<ExportedSpan> {
        if self.trace_id == 0 || self.id == 0 {
            return None;
        }
        let Self { trace_id, id, parent, name, start_nanos, end_nanos, mut fields, events, status, message } =
            self;
        let mut error = None;
        for (name, event) in &events {
            // An exception that was handled is not an error of the span.
            let escaped = event
                .get("exception.escaped")
                .is_some_and(|it| matches!(it.as_str(), Some("true")) || *it == true);
            if name == "exception" && (status == ERROR || escaped) {
                let text =
                    |field: &str| event.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
                error = text("exception.message").or_else(|| text("exception.type")).map(str::to_owned);
            }
        }
        if status == ERROR {
            fields.insert("otel.status_code".to_owned(), "ERROR".into());
            error = Some(message).filter(|message| !message.is_empty()).or(error);
        }
        add_messages(&mut fields, events);
        #[expect(clippy::cast_precision_loss, reason = "spans are shorter than 2^53 ns")]
        let duration_ms = end_nanos.saturating_sub(start_nanos) as f64 / 1e6;
        let parent = Some(parent).filter(|parent| *parent != 0);
        let span = ReportedSpan { id, parent, name, duration_ms, fields, error, ..ReportedSpan::default() };
        Some(ExportedSpan { trace_id, start_nanos, end_nanos, resource, span })
    }
}

fn fields(attributes: Vec<KeyValue>) -> Item {
    attributes.into_iter().map(|it| (it.key, any_value(it.value))).collect()
}

fn any_value(value: Option<OptionalValue>) -> Value {
    match value.and_then(|value| value.value) {
        None | Some(AnyValue::StringValueStrindex(_)) => Value::Null,
        Some(AnyValue::StringValue(text)) => text.into(),
        Some(AnyValue::BoolValue(value)) => value.into(),
        Some(AnyValue::IntValue(number)) => number.into(),
        Some(AnyValue::DoubleValue(number)) => number.into(),
        Some(AnyValue::BytesValue(bytes)) => STANDARD.encode(bytes).into(),
        Some(AnyValue::ArrayValue(list)) => {
            list.values.into_iter().map(|value| any_value(Some(value))).collect()
        }
        Some(AnyValue::KvlistValue(list)) => Value::Object(fields(list.values)),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn json_fields(attributes: &Value) -> Item {
    let field = |it: &Value| Some((it["key"].as_str()?.to_owned(), json_any_value(&it["value"])));
    list(attributes).iter().filter_map(field).collect()
}

fn json_any_value(value: &Value) -> Value {
    let Some((kind, value)) = value.as_object().and_then(|value| value.iter().next()) else {
        return Value::Null;
    };
    match kind.as_str() {
        "intValue" | "doubleValue" => number(value).map_or_else(|| value.clone(), Value::Number),
        "arrayValue" => list(&value["values"]).iter().map(json_any_value).collect(),
        "kvlistValue" => Value::Object(json_fields(&value["values"])),
        _ => value.clone(),
    }
}

/// A number, which JSON has as text if it is a 64-bit integer.
fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::common::v1::{ArrayValue, KeyValueList};
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use opentelemetry_proto::tonic::trace::v1::span::Event;
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Status};
    use serde_json::json;

    use super::*;
    use cobalt_core::item::into_item;

    const TRACE: u128 = 0x5b8e_fff7_9803_8103_d269_b633_813f_c60c;
    const START: u64 = 1_544_712_660_000_000_000;

    fn attribute(key: &str, value: AnyValue) -> KeyValue {
        KeyValue {
            key: key.to_owned(),
            value: Some(OptionalValue { value: Some(value) }),
            ..KeyValue::default()
        }
    }

    fn text(text: &str) -> AnyValue {
        AnyValue::StringValue(text.to_owned())
    }

    fn in_protobuf() -> Vec<u8> {
        let values = vec![OptionalValue { value: Some(text("stop")) }];
        let attributes = vec![
            attribute("gen_ai.request.model", text("gpt-4o")),
            attribute("gen_ai.usage.input_tokens", AnyValue::IntValue(10)),
            attribute("gen_ai.response.finish_reasons", AnyValue::ArrayValue(ArrayValue { values })),
            attribute("none", AnyValue::ArrayValue(ArrayValue::default())),
            attribute(
                "map",
                AnyValue::KvlistValue(KeyValueList {
                    values: vec![attribute("a", AnyValue::DoubleValue(0.5))],
                }),
            ),
        ];
        let exception = Event {
            name: "exception".to_owned(),
            attributes: vec![attribute("exception.message", text("too many requests"))],
            ..Event::default()
        };
        let span = Span {
            trace_id: TRACE.to_be_bytes().to_vec(),
            span_id: 2_u64.to_be_bytes().to_vec(),
            parent_span_id: 1_u64.to_be_bytes().to_vec(),
            name: "chat".to_owned(),
            start_time_unix_nano: START,
            end_time_unix_nano: START + 1_500_000,
            attributes,
            events: vec![exception],
            status: Some(Status { code: 2, message: String::new() }),
            ..Span::default()
        };
        let scope_spans = vec![ScopeSpans { spans: vec![span, Span::default()], ..ScopeSpans::default() }];
        let attributes = vec![attribute("service.name", text("desk"))];
        let resource = Some(Resource { attributes, ..Resource::default() });
        let resource_spans = vec![ResourceSpans { resource, scope_spans, ..ResourceSpans::default() }];
        ExportTraceServiceRequest { resource_spans }.encode_to_vec()
    }

    fn in_json() -> Value {
        json!({ "resourceSpans": [{
            "resource": { "attributes": [{ "key": "service.name", "value": { "stringValue": "desk" } }] },
            "scopeSpans": [{ "scope": {}, "spans": [{
                "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "0000000000000002", "parentSpanId": "0000000000000001",
                "name": "chat", "kind": "SPAN_KIND_CLIENT",
                "startTimeUnixNano": START.to_string(), "endTimeUnixNano": (START + 1_500_000).to_string(),
                "attributes": [
                    { "key": "gen_ai.request.model", "value": { "stringValue": "gpt-4o" } },
                    { "key": "gen_ai.usage.input_tokens", "value": { "intValue": "10" } },
                    { "key": "gen_ai.response.finish_reasons", "value": { "arrayValue": { "values": [{ "stringValue": "stop" }] } } },
                    { "key": "none", "value": { "arrayValue": {} } },
                    { "key": "map", "value": { "kvlistValue": { "values": [{ "key": "a", "value": { "doubleValue": 0.5 } }] } } },
                ],
                "events": [{ "name": "exception", "timeUnixNano": "1",
                    "attributes": [{ "key": "exception.message", "value": { "stringValue": "too many requests" } }] }],
                "status": { "code": 2 },
            }, { "traceId": null, "spanId": "" }] }],
        }] })
    }

    #[test]
    fn both_encodings_are_read_alike() {
        let exports = [
            Export::from_protobuf(&in_protobuf()).unwrap(),
            Export::from_json(in_json().to_string().as_bytes()).unwrap(),
        ];
        for Export { spans, invalid } in exports {
            let [span] = &spans[..] else { panic!("{spans:?}") };
            assert_eq!(
                (invalid, span.trace_id, span.start_nanos, span.end_nanos),
                (1, TRACE, START, START + 1_500_000)
            );
            assert_eq!(*span.resource, into_item(json!({ "service.name": "desk" })).unwrap());
            let expected = ReportedSpan {
                id: 2,
                parent: Some(1),
                name: "chat".to_owned(),
                start_ms: 2000.0,
                duration_ms: 1.5,
                fields: into_item(json!({ "gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 10,
                    "gen_ai.response.finish_reasons": ["stop"], "none": [], "map": { "a": 0.5 },
                    "otel.status_code": "ERROR" }))
                .unwrap(),
                error: Some("too many requests".to_owned()),
                ..ReportedSpan::default()
            };
            assert_eq!(span.clone().after(START - 2_000_000_000), expected);
        }
    }

    #[test]
    fn an_exception_that_was_handled_is_no_error() {
        let mut request = in_json();
        let span = &mut request["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        span["status"] = json!({ "code": 1 });
        let read =
            |request: &Value| Export::from_json(request.to_string().as_bytes()).unwrap().spans.remove(0).span;
        assert_eq!(read(&request).error, None);
        assert!(!read(&request).read().span.failed());
    }

    #[test]
    fn what_is_no_export_of_spans_is_refused() {
        let refused = |text: &str| Export::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(refused("{").contains("as JSON"));
        assert!(
            refused("[]").contains("resourceSpans")
                && refused(r#"{"resourceMetrics":[]}"#).contains("resourceSpans")
        );
        assert!(Export::from_protobuf(b"{").is_err());
        assert!(Export::from_json(br#"{"resourceSpans":[]}"#).unwrap().spans.is_empty());
    }
}
