//! Transcripts as frameworks write them: read as a whole, or refused. None loses a call in silence, and none counts one twice.

use serde_json::{Value, json};

use crate::ToolCall;

#[track_caller]
fn names(transcript: Value) -> Vec<String> {
    ToolCall::read(&transcript).unwrap().into_iter().map(|call| call.name).collect()
}

#[track_caller]
fn refused(transcript: Value) -> String {
    ToolCall::read(&transcript).unwrap_err().to_string()
}

#[test]
fn a_conversation_of_several_turns_is_read_in_order() {
    let call = |id: &str, name: &str, arguments: Value| json!({ "index": 0, "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let transcript = json!([
        { "role": "developer", "content": "You plan journeys." },
        { "role": "user", "content": [{ "type": "text", "text": "Weather?" }, { "type": "image_url", "image_url": { "url": "data:" } }] },
        { "role": "assistant", "content": null, "refusal": null, "function_call": null, "audio": null, "tool_calls": [
            call("a", "weather", json!("{\"city\":\"York\"}")), call("b", "now", json!("")), call("c", "book", json!({ "seats": 2 })),
        ] },
        { "role": "tool", "tool_call_id": "c", "content": "LY1" },
        { "role": "tool", "tool_call_id": "a", "content": "rain" },
        { "role": "assistant", "content": "Anything else?", "tool_calls": null, "annotations": [] },
        { "role": "user", "content": "And in Leeds?" },
        { "role": "assistant", "content": "", "tool_calls": [call("d", "weather", json!("{\"city\":\"Leeds\"}"))] },
    ]);
    let read = ToolCall::read(&transcript).unwrap();
    assert_eq!(
        read.iter().map(|call| (&*call.name, call.result.clone())).collect::<Vec<_>>(),
        [("weather", Some(json!("rain"))), ("now", None), ("book", Some(json!("LY1"))), ("weather", None)]
    );
    assert_eq!((&read[1].arguments, &read[2].arguments), (&None, &Some(json!({ "seats": 2 }))));
}

#[test]
fn items_of_responses_that_are_no_calls_are_known() {
    let items = json!([
        { "role": "user", "content": "Weather?" },
        { "type": "tool_search_call", "id": "ts", "call_id": null, "execution": "server", "arguments": { "query": "weather" } },
        { "type": "tool_search_output", "id": "tso", "call_id": null, "execution": "server", "tools": [] },
        { "type": "compaction", "id": "cmp", "encrypted_content": "…" },
        { "type": "mcp_approval_request", "id": "mar", "name": "roll", "arguments": "{}", "server_label": "dice" },
        { "type": "function_call", "id": "__fake_id__", "call_id": "c1", "name": "weather", "arguments": "{}" },
        { "type": "function_call", "id": "__fake_id__", "call_id": "c2", "name": "now", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c2", "output": "noon" },
        { "type": "function_call_output", "call_id": "c1", "output": [{ "type": "input_text", "text": "rain" }] },
    ]);
    assert_eq!(names(items), ["tool_search", "weather", "now"]);
}

#[test]
fn calls_of_a_vendors_tools_have_what_was_asked_of_them() {
    let arguments = |item: Value| ToolCall::read(&json!([item])).unwrap().remove(0).arguments;
    let action = json!({ "type": "search", "query": "York" });
    assert_eq!(arguments(json!({ "type": "web_search_call", "action": action })), Some(action));
    let code =
        json!({ "type": "code_interpreter_call", "container_id": "c", "code": "1 + 1", "outputs": null });
    assert_eq!(arguments(code), Some(json!({ "code": "1 + 1" })));
    let search = json!({ "type": "file_search_call", "queries": ["York"], "results": null });
    assert_eq!(arguments(search), Some(json!({ "queries": ["York"] })));
    assert_eq!(arguments(json!({ "type": "file_search_call" })), None);
}

#[test]
fn blocks_beside_calls_are_known() {
    let transcript = json!({ "id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        { "type": "thinking", "thinking": "…", "signature": "…" },
        { "type": "redacted_thinking", "data": "…" },
        { "type": "text", "text": "I look.", "citations": null },
        { "type": "server_tool_use", "id": "srv_1", "name": "code_execution", "input": { "code": "1" } },
        { "type": "code_execution_tool_result", "tool_use_id": "srv_1", "content": { "type": "code_execution_result", "return_code": 0 } },
        { "type": "container_upload", "file_id": "f" },
        { "type": "mcp_tool_use", "id": "mcp_1", "name": "roll", "server_name": "dice", "input": {} },
        { "type": "mcp_tool_result", "tool_use_id": "mcp_1", "is_error": true, "content": [{ "type": "text", "text": "no dice" }] },
        { "type": "tool_use", "id": "toolu_1", "name": "weather", "input": { "city": "York" } },
    ] });
    assert_eq!(names(transcript), ["code_execution", "roll", "weather"]);
}

#[test]
fn empty_lists_of_calls_are_none() {
    let empty = json!([{ "role": "assistant", "content": "Hello!", "toolInvocations": [], "invalid_tool_calls": [] }]);
    assert_eq!(names(empty), [""; 0]);
}

#[test]
fn a_message_without_a_role_is_no_call_of_its_sender() {
    for message in [
        json!({ "type": "tool", "name": "weather", "tool_call_id": "1", "content": "rain", "status": "success" }),
        json!({ "type": "ai", "name": "researcher", "content": "", "tool_calls": [{ "name": "weather", "args": {}, "id": "1" }] }),
        json!({ "type": "human", "content": "Weather?" }),
        json!({ "tool_calls": [{ "id": "1", "function": { "name": "weather" } }] }),
    ] {
        let error = refused(json!([message]));
        assert!(error.starts_with("`calls[0]` looks like a message, but has no `role`; expected"), "{error}");
    }
}

#[test]
fn a_result_that_names_its_tool_is_no_second_call() {
    let call =
        json!({ "type": "tool-call", "toolCallId": "1", "toolName": "weather", "input": { "city": "York" } });
    assert_eq!(names(json!([call])), ["weather"]);
    for kind in ["tool-result", "tool-error"] {
        let result =
            json!({ "type": kind, "toolCallId": "1", "toolName": "weather", "input": {}, "output": "rain" });
        assert_eq!(names(json!([call, result])), ["weather"], "{kind}");
    }
    let unknown = json!({ "type": "step-result", "toolName": "weather", "output": "rain" });
    let error = refused(json!([call, unknown]));
    assert!(error.starts_with("`calls[1]` is of the type `step-result`, which is not known"), "{error}");
}
