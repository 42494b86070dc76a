//! The formats of calls.

use serde_json::{Value, json};

use crate::ToolCall;

#[track_caller]
fn read(value: Value) -> Vec<ToolCall> {
    ToolCall::read(&value).unwrap()
}

/// The names and arguments.
#[track_caller]
fn calls(value: Value) -> Vec<(String, Option<Value>)> {
    read(value).into_iter().map(|call| (call.name, call.arguments)).collect()
}

fn york() -> (String, Option<Value>) {
    ("weather".to_owned(), Some(json!({ "city": "York" })))
}

#[test]
fn messages_of_chat_completions_have_calls_and_answers() {
    let read = read(json!([
        { "role": "user", "content": "Weather in York and Leeds?" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "a", "type": "function", "function": { "name": "weather", "arguments": "{\"city\":\"York\"}" } },
            { "id": "b", "type": "custom", "custom": { "name": "note", "input": "look at Leeds" } },
        ] },
        { "role": "tool", "tool_call_id": "b", "content": "noted" },
        { "role": "tool", "tool_call_id": "a", "content": [{ "type": "text", "text": "rain" }] },
        { "role": "assistant", "content": "It rains." },
    ]));
    assert_eq!(read.len(), 2);
    assert_eq!((read[0].name.clone(), read[0].arguments.clone()), york());
    assert_eq!(read[0].result, Some(json!([{ "type": "text", "text": "rain" }])));
    assert_eq!((&*read[1].name, read[1].arguments.clone()), ("note", Some(json!("look at Leeds"))));
    assert_eq!(read[1].result, Some(json!("noted")));
}

#[test]
fn the_older_function_call_is_answered_by_its_name() {
    let read = read(json!([
        { "role": "assistant", "function_call": { "name": "weather", "arguments": "{\"city\":\"York\"}" } },
        { "role": "function", "name": "weather", "content": "rain" },
    ]));
    assert_eq!((read[0].arguments.clone(), read[0].result.clone()), (york().1, Some(json!("rain"))));
}

#[test]
fn a_whole_chat_completion_and_its_tool_calls_alone_are_read() {
    let call = json!({ "id": "a", "function": { "name": "weather", "arguments": "{\"city\":\"York\"}" } });
    let message = json!({ "role": "assistant", "tool_calls": [call] });
    for whole in [
        json!({ "choices": [{ "message": message }] }),
        json!({ "messages": [message] }),
        json!([call]),
        call,
    ] {
        assert_eq!(calls(whole), [york()]);
    }
}

#[test]
fn items_of_responses_have_calls_and_answers() {
    let read = read(json!({ "object": "response", "output": [
        { "type": "reasoning", "summary": [] },
        { "type": "function_call", "call_id": "c", "id": "fc_1", "name": "weather", "arguments": "{\"city\":\"York\"}",
          "status": "completed" },
        { "type": "function_call_output", "call_id": "c", "output": "rain" },
        { "type": "web_search_call", "id": "ws_1", "status": "failed", "action": { "query": "York" } },
        { "type": "mcp_call", "id": "m", "name": "roll", "arguments": "{}", "output": null, "error": "no dice" },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "It rains." }] },
    ] }));
    let names: Vec<_> = read.iter().map(|call| &*call.name).collect();
    assert_eq!(names, ["weather", "web_search", "roll"]);
    assert_eq!((read[0].arguments.clone(), read[0].result.clone()), (york().1, Some(json!("rain"))));
    let errors: Vec<_> = read.iter().map(|call| call.error.as_deref()).collect();
    assert_eq!(errors, [None, Some("its status is `failed`"), Some("no dice")]);
}

#[test]
fn blocks_of_anthropics_messages_have_calls_and_answers() {
    let read = read(json!([
        { "role": "assistant", "content": [
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "id": "toolu_1", "name": "weather", "input": { "city": "York" } },
            { "type": "tool_use", "id": "toolu_2", "name": "book", "input": {} },
            { "type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": { "query": "York" } },
            { "type": "web_search_tool_result", "tool_use_id": "srv_1",
              "content": { "type": "web_search_tool_result_error", "error_code": "unavailable" } },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "toolu_1", "content": "rain" },
            { "type": "tool_result", "tool_use_id": "toolu_2", "is_error": true,
              "content": [{ "type": "text", "text": "no seats" }] },
        ] },
    ]));
    assert_eq!((read[0].name.clone(), read[0].arguments.clone()), york());
    assert_eq!((&read[0].result, &read[0].error), (&Some(json!("rain")), &None));
    assert_eq!((&read[1].result, read[1].error.as_deref()), (&None, Some("no seats")));
    assert_eq!(read[2].error.as_deref(), Some("unavailable"));
    let block = json!([{ "type": "tool_use", "id": "1", "name": "weather", "input": { "city": "York" } }]);
    assert_eq!(calls(block), [york()]);
}

#[test]
fn a_plain_call_goes_by_the_names_that_are_in_use() {
    for call in [
        json!({ "name": "weather", "arguments": { "city": "York" } }),
        json!({ "tool": "weather", "args": { "city": "York" } }),
        json!({ "tool_name": "weather", "tool_input": { "city": "York" } }),
        json!({ "toolName": "weather", "input": { "city": "York" } }),
        json!({ "name": "weather", "arguments": "{\"city\": \"York\"}" }),
        json!({ "type": "tool_call", "name": "weather", "args": { "city": "York" } }),
    ] {
        assert_eq!(calls(json!([call])), [york()], "{call}");
    }
    assert_eq!(calls(json!(["weather"])), [("weather".to_owned(), None)]);
    assert_eq!(calls(json!("[\"weather\"]")), [("weather".to_owned(), None)]);
    assert_eq!(calls(json!([])), []);
}

#[test]
fn a_plain_call_says_in_several_ways_that_it_failed() {
    for (call, error) in [
        (json!({ "tool": "t", "error": "gone" }), Some("gone")),
        (json!({ "tool": "t", "success": false, "result": "gone" }), Some("gone")),
        (json!({ "tool": "t", "is_error": true }), Some("an error")),
        (
            json!({ "tool": "t", "result": { "isError": true, "content": [] } }),
            Some("{\"isError\":true,\"content\":[]}"),
        ),
        (json!({ "tool": "t", "error": null, "success": true, "result": 1 }), None),
        (json!({ "tool": "t", "error": "" }), None),
        (json!({ "tool": "t", "error": false }), None),
    ] {
        let read = read(json!([call]));
        assert_eq!((read[0].error.as_deref(), read[0].succeeded()), (error, error.is_none()), "{call}");
    }
}

#[test]
fn a_call_goes_before_those_made_within_it() {
    let read = read(json!([
        { "tool": "plan", "calls": [
            { "tool": "search", "children": ["fetch"] },
            { "tool": "book" },
        ] },
        { "tool": "report" },
    ]));
    let read: Vec<_> = read.iter().map(|call| (&*call.name, call.depth, call.parent)).collect();
    assert_eq!(
        read,
        [
            ("plan", 0, None),
            ("search", 1, Some(0)),
            ("fetch", 2, Some(1)),
            ("book", 1, Some(0)),
            ("report", 0, None)
        ]
    );
}

#[test]
fn an_identity_that_is_used_again_is_answered_in_turn() {
    let call = |city: &str| {
        json!({ "role": "assistant", "tool_calls": [
        { "id": "call_0", "function": { "name": "weather", "arguments": { "city": city } } },
    ] })
    };
    let answer = |text: &str| json!({ "role": "tool", "tool_call_id": "call_0", "content": text });
    let read = read(json!([call("York"), answer("rain"), call("Leeds"), answer("sun")]));
    assert_eq!([&read[0].result, &read[1].result], [&Some(json!("rain")), &Some(json!("sun"))]);
}

#[test]
fn arguments_that_are_no_json_are_kept_with_the_reason() {
    let read =
        read(json!([{ "id": "1", "function": { "name": "weather", "arguments": "{\"city\": \"Yo" } }]));
    assert_eq!(read[0].arguments, Some(json!("{\"city\": \"Yo")));
    let problem = read[0].arguments_error.as_deref().unwrap();
    assert!(problem.starts_with("the arguments are not JSON: EOF while parsing"), "{problem}");
    assert!(!read[0].succeeded());
    assert_eq!(
        calls(json!([{ "function": { "name": "now", "arguments": "" } }])),
        [("now".to_owned(), None)]
    );
}

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
    assert!(error.starts_with("`calls[1]` has the unknown type `step-result`"), "{error}");
}
