//! What cannot be understood is an error that names the place, and is never left out.

use serde_json::{Value, json};

use crate::ToolCall;

#[track_caller]
fn refused(value: Value) -> String {
    ToolCall::read(&value).unwrap_err().to_string()
}

#[test]
fn an_entry_that_is_no_call_is_named_with_what_was_expected() {
    let error = refused(json!(["weather", 3]));
    assert!(error.starts_with("`calls[1]` is a number; expected a call as `{\"name\": …"), "{error}");
    let error = refused(json!([{ "arguments": {}, "when": 1 }]));
    assert!(error.starts_with("`calls[0]` has no name; expected a call"), "{error}");
    assert!(error.ends_with("it has `arguments`, `when`"), "{error}");
    let error = refused(json!([{ "type": "step-result", "toolCallId": "1" }]));
    assert!(error.starts_with("`calls[0]` is of the type `step-result`, which is not known"), "{error}");
    assert!(refused(json!([" "])).starts_with("`calls[0]` is blank; expected"));
}

#[test]
fn a_field_that_is_not_as_it_should_be_is_named() {
    for (value, error) in [
        (json!([{ "tool": 3 }]), "`calls[0].tool` is a number; expected text"),
        (json!([{ "tool": "t", "calls": "u" }]), "`calls[0].calls` is text; expected a list"),
        (
            json!([{ "tool": "t", "calls": [{ "tool": "" }] }]),
            "`calls[0].calls[0].tool` is blank; expected text",
        ),
        (
            json!([{ "tool": "t", "name": "t" }]),
            "`calls[0]` has both `name` and `tool`; leave one of them out",
        ),
        (
            json!([{ "tool": "t", "args": {}, "input": {} }]),
            "`calls[0]` has both `args` and `input`; leave one of them out",
        ),
        (json!([{ "tool": "t", "success": "no" }]), "`calls[0].success` is text; expected true or false"),
        (
            json!([{ "role": "assistant", "tool_calls": [{ "function": { "arguments": "{}" } }] }]),
            "`calls[0].tool_calls[0].function.name` is missing; expected text",
        ),
        (
            json!([{ "role": "assistant", "tool_calls": {} }]),
            "`calls[0].tool_calls` is an object; expected a list",
        ),
        (json!([{ "role": "tool", "content": "rain" }]), "`calls[0].tool_call_id` is missing; expected text"),
        (
            json!([{ "type": "function_call", "arguments": "{}" }]),
            "`calls[0].name` is missing; expected text",
        ),
        (
            json!([{ "role": "assistant", "content": [{ "type": "tool_use", "id": "1" }] }]),
            "`calls[0].content[0].name` is missing; expected text",
        ),
        (
            json!([{ "role": "model", "parts": [{ "functionCall": { "name": 7, "args": {} } }] }]),
            "`calls[0].parts[0].functionCall.name` is a number; expected text",
        ),
        (
            json!([{ "role": "assistant", "parts": [{ "type": "dynamic-tool", "toolCallId": "1" }] }]),
            "`calls[0].parts[0].toolName` is missing; expected text",
        ),
        (
            json!([{ "role": "user", "parts": [{ "functionResponse": { "response": {} } }] }]),
            "`calls[0].parts[0].functionResponse` answers a call, but does not say which; expected its `id`",
        ),
        (
            json!([{ "role": "user", "parts": [{ "functionResponse": { "name": "t", "response": {} } }] }]),
            "`calls[0].parts[0].functionResponse` answers a call of `t`, which does not stand before it",
        ),
        (
            json!([{ "role": "user", "content": [{ "toolResult": { "toolUseId": "1", "content": [] } }] }]),
            "`calls[0].content[0].toolResult` answers the call `1`, which does not stand before it",
        ),
    ] {
        assert_eq!(refused(value), error);
    }
}

#[test]
fn an_answer_to_no_call_is_an_error() {
    let answer = json!({ "type": "tool_result", "tool_use_id": "1", "content": "rain" });
    assert_eq!(refused(json!([answer])), "`calls[0]` answers the call `1`, which does not stand before it");
    let call = json!({ "type": "tool_use", "id": "1", "name": "weather", "input": {} });
    assert_eq!(
        refused(json!([call, answer, answer])),
        "`calls[2]` is a second answer to the call `1`; expected one"
    );
    let older = json!([{ "role": "function", "name": "weather", "content": "rain" }]);
    assert_eq!(refused(older), "`calls[0]` answers a call of `weather`, which does not stand before it");
}

#[test]
fn what_holds_no_calls_at_all_is_an_error() {
    assert_eq!(refused(json!(null)), "`calls` is null; expected a list of calls or messages");
    assert_eq!(refused(json!("weather")), "`calls` is text; expected a list of calls or messages");
    let error = refused(json!({ "choices": [{}, {}] }));
    assert_eq!(error, "`calls.choices` has 2 answers; expected one, or the message that counts");
}

#[test]
fn calls_within_calls_without_end_are_an_error_and_no_overflow() {
    let deep = (0..60).fold(json!("t"), |inner, _| json!({ "tool": "t", "calls": [inner] }));
    let error = refused(deep);
    assert!(error.starts_with("`calls` is nested more than 100 levels deep"), "{error}");
}
