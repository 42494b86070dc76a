//! `cargo cobalt dataset add --from-otlp`: makes items of recorded traces.

use std::fs;

use serde_json::{Value, json};

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::snapshot::assert_printed;
use crate::store::Store;

/// A span with attributes that are texts.
fn span(trace: u128, id: u64, parent: u64, fields: &[(&str, &str)]) -> Value {
    let attribute = |(key, value): &(&str, &str)| json!({ "key": key, "value": { "stringValue": value } });
    let start = 1_770_301_800_000_000_000 + u64::try_from(trace).unwrap() * 1_000_000_000 + id;
    json!({
        "traceId": format!("{trace:032x}"), "spanId": format!("{id:016x}"),
        "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
        "name": format!("span {id}"), "kind": 1,
        "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 1000).to_string(),
        "attributes": fields.iter().map(attribute).collect::<Vec<_>>(),
    })
}

/// A line of the collector.
fn line(service: &str, spans: &[Value]) -> String {
    let resource = json!({ "attributes": [{ "key": "service.name", "value": { "stringValue": service } }] });
    let request = json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [{ "scope": {}, "spans": spans }] }] });
    format!("{request}\n")
}

fn failed(mut span: Value) -> Value {
    span["status"] = json!({ "code": 2, "message": "no index" });
    span
}

/// Six traces: of the conventions, of OpenInference with an error in a tool, of messages in events, one without an input, and one with
/// the input of the first. The spans of the first are in two lines.
fn store() -> Store {
    let store = Store::new();
    let conversation = json!([
        { "role": "system", "parts": [{ "type": "text", "content": "Be brief." }] },
        { "role": "user", "parts": [{ "type": "text", "content": "Where is my parcel?" }] },
    ])
    .to_string();
    let answer =
        json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "On its way." }] }]).to_string();
    let call = [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.input.messages", &conversation),
        ("gen_ai.output.messages", &answer),
    ];
    let mut choice = span(3, 1, 0, &[("gen_ai.operation.name", "chat")]);
    choice["events"] = json!([
        { "name": "gen_ai.user.message", "attributes": [{ "key": "content", "value": { "stringValue": "Hi" } }] },
        { "name": "gen_ai.assistant.message", "attributes": [{ "key": "content", "value": { "stringValue": "Hello." } }] },
        { "name": "gen_ai.user.message", "attributes": [{ "key": "content", "value": { "stringValue": "Bye" } }] },
        { "name": "gen_ai.choice", "attributes": [{ "key": "message", "value": { "stringValue": "{\"content\":\"Goodbye.\"}" } }] },
    ]);
    let secret = format!("sk-{}", "9f86d081884c7d659a2feaa0c55ad015");
    let asked = json!({ "question": format!("My key is {secret}") }).to_string();
    let desk = [("openinference.span.kind", "AGENT"), ("input.value", &asked), ("output.value", "Thanks.")];
    let tool = [("openinference.span.kind", "TOOL"), ("input.value", "{}"), ("output.value", "none")];
    let text = [
        line("support", &[span(1, 2, 1, &call)]),
        line("support", &[span(1, 1, 0, &[("http.route", "/ask")])]),
        line("search", &[span(2, 1, 0, &desk), failed(span(2, 2, 1, &tool))]),
        line("support", &[choice]),
        line("support", &[span(4, 1, 0, &[("http.route", "/health")])]),
        line("support", &[span(5, 1, 0, &call)]),
        "{\"resourceMetrics\":[]}\n".to_owned(),
        "{\"resourceSpans\":[{\n".to_owned(),
    ];
    fs::write(store.folder().join("traces.jsonl"), text.concat()).unwrap();
    store
}

fn add(store: &Store, arguments: &[&str], code: i32) -> ProgramOutput {
    let mut command = program(COBALT, store.folder());
    let common = ["cobalt", "dataset", "add", "items.jsonl", "--from-otlp", "traces.jsonl"];
    ProgramOutput::by(command.args(common).args(arguments), code)
}

fn items(store: &Store) -> Vec<Value> {
    let text = fs::read_to_string(store.folder().join("items.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_trace_with_an_input_becomes_an_item_once() {
    let store = store();
    assert_printed!(add(&store, &[], 0));
    let trace = |id: u8| format!("{id:032x}");
    let start = |second: u8| format!("2026-02-05T14:30:0{second}.000Z");
    let expected = [
        json!({ "input": "Where is my parcel?",
            "metadata": { "traceId": trace(1), "startedAt": start(1), "output": "On its way." } }),
        json!({ "input": { "question": "My key is [redacted:openai-key]" },
            "metadata": { "traceId": trace(2), "startedAt": start(2), "output": "Thanks." } }),
        json!({ "input": [{ "role": "user", "content": "Hi" }, { "role": "assistant", "content": "Hello." },
            { "role": "user", "content": "Bye" }],
            "metadata": { "traceId": trace(3), "startedAt": start(3), "output": "Goodbye." } }),
    ];
    assert_eq!(items(&store), expected);
    add(&store, &[], 0).stderr_has("4 with an input that the file has").stderr_has("Nothing added");
}

#[test]
fn traces_are_selected_by_attribute_and_error() {
    let store = store();
    let arguments = ["--where", "service.name=support", "--where", "http.route=/ask", "--output-as-expected"];
    let said = add(&store, &[&arguments[..], &["--set", "source=production"]].concat(), 0);
    said.stderr_has("Left out 4 traces: 4 without these attributes");
    let [item] = &items(&store)[..] else { panic!() };
    assert_eq!((&item["expectedOutput"], &item["source"]), (&json!("On its way."), &json!("production")));
    assert_eq!(item["metadata"].get("output"), None);
    add(&store, &["--errors"], 0).stderr_has("Left out 4 traces: 4 without an error");
    assert_eq!(items(&store)[1]["input"]["question"], "My key is [redacted:openai-key]");
}

#[test]
fn other_files_and_flags_are_refused() {
    let store = store();
    fs::write(store.folder().join("traces.jsonl"), "{\"input\":\"a\"}\n").unwrap();
    add(&store, &[], 3).stderr_has("traces.jsonl:1").stderr_has("the collector's `file` exporter");
    fs::remove_file(store.folder().join("traces.jsonl")).unwrap();
    add(&store, &[], 3).stderr_has("failed to read `traces.jsonl`");
    add(&store, &["--failed"], 2);
    add(&store, &["--from-run", "latest"], 2);
    let mut command = program(COBALT, store.folder());
    let run = ["cobalt", "dataset", "add", "items.jsonl", "--from-run", "latest", "--failed", "--errors"];
    ProgramOutput::by(command.args(run), 2).stderr_has("cannot be used with");
}
