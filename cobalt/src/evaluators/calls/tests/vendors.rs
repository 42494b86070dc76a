//! The same conversation in the format of each vendor and framework: two calls, among other entries.

use cobalt_core::item::Output;
use serde_json::{Value, json};

use crate::evaluators::EvalContext;
use crate::{Item, ToolCall, ToolCalls};

/// Checks a conversation with two calls: one with a result, and one that failed or, if the format does not mark failures, has a
/// result as well.
#[track_caller]
fn check(vendor: &str, conversation: Value, rain: Value, second: Result<Value, &str>) {
    let calls = ToolCall::read(&conversation).unwrap_or_else(|error| panic!("{vendor}: {error}"));
    let names: Vec<_> = calls.iter().map(|call| (&*call.name, call.arguments.clone())).collect();
    let arguments = |city: &str| Some(json!({ "city": city }));
    assert_eq!(names, [("get_weather", arguments("York")), ("book", arguments("Leeds"))], "{vendor}");
    assert_eq!((&calls[0].result, &calls[0].error), (&Some(rain), &None), "{vendor}");
    let (result, error) = match second {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    assert_eq!((&calls[1].result, calls[1].error.as_deref()), (&result, error), "{vendor}");
}

#[test]
fn gemini() {
    let conversation = |call: &str, response: &str, thought: &str| {
        json!({ "contents": [
            { "role": "user", "parts": [{ "text": "Weather in York?" }, { "inlineData": { "mimeType": "image/png", "data": "…" } }] },
            { "role": "model", "parts": [
                { "text": "I look.", "thought": true, (thought): "…" },
                { call: { "id": "c1", "name": "get_weather", "args": { "city": "York" } }, (thought): "…" },
                { call: { "name": "book", "args": { "city": "Leeds" } } },
            ] },
            { "role": "user", "parts": [
                { response: { "name": "book", "response": { "error": "no seats" } } },
                { response: { "id": "c1", "name": "get_weather", "response": { "output": "rain" } } },
            ] },
            { "role": "model", "parts": [{ "text": "It rains.", "functionCall": null }] },
        ] })
    };
    let rain = || json!({ "output": "rain" });
    let camel = conversation("functionCall", "functionResponse", "thoughtSignature");
    check("Gemini", camel.clone(), rain(), Err("no seats"));
    check("Gemini, its list alone", camel["contents"].clone(), rain(), Err("no seats"));
    let snake = conversation("function_call", "function_response", "thought_signature");
    check("Gemini in Python", snake, rain(), Err("no seats"));
    let candidate = json!({ "candidates": [{ "content": { "role": "model", "parts": [
        { "executableCode": { "language": "PYTHON", "code": "1 + 1" } },
        { "codeExecutionResult": { "outcome": "OUTCOME_FAILED", "output": "no such name" } },
        { "toolCall": { "id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": { "queries": ["York"] } } },
        { "toolResponse": { "id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "response": { "hits": 2 } } },
    ] }, "finishReason": "STOP" }], "usageMetadata": { "toolUsePromptTokenCount": 3 } });
    let calls = ToolCall::read(&candidate).unwrap();
    assert_eq!((&*calls[0].name, calls[0].error.as_deref()), ("code_execution", Some("no such name")));
    let search = ("GOOGLE_SEARCH_WEB", Some(json!({ "hits": 2 })));
    assert_eq!((&*calls[1].name, calls[1].result.clone()), search);
}

#[test]
fn adk() {
    let messages = json!([
        { "role": "user", "parts": [{ "text": "Weather?" }, { "mime_type": "image/png", "data": [1, 2] }, { "mime_type": "image/png", "file_uri": "https://example.com/a.png" }] },
        { "role": "model", "parts": [
            { "thinking": "…", "signature": "…" },
            { "name": "get_weather", "args": { "city": "York" }, "id": "c1" },
            { "name": "book", "args": { "city": "Leeds" }, "id": "c2", "thought_signature": "…" },
        ] },
        { "role": "function", "parts": [{ "functionResponse": { "name": "get_weather", "response": "rain" }, "id": "c1" }] },
        { "role": "function", "parts": [{ "functionResponse": { "name": "book", "response": { "error": "no seats" } }, "id": "c2" }] },
        { "role": "model", "parts": [{ "resource": { "uri": "file:///a.md", "text": "…" } }] },
    ]);
    check("adk", messages.clone(), json!("rain"), Err("no seats"));
    let event = |message: &Value| json!({ "id": "e", "author": "traveller", "content": message, "partial": false, "actions": { "state_delta": {} } });
    let events: Vec<_> = messages.as_array().unwrap().iter().map(event).collect();
    check("adk's events", json!(events), json!("rain"), Err("no seats"));
    let server = json!([{ "role": "model", "parts": [
        { "server_tool_call": { "toolCallId": "s1", "toolName": "google_search", "args": { "query": "York" } } },
        { "server_tool_response": { "toolCallId": "s1", "output": { "results": [] } } },
    ] }]);
    let calls = ToolCall::read(&server).unwrap();
    assert_eq!((&*calls[0].name, &calls[0].result), ("google_search", &Some(json!({ "results": [] }))));
}

#[test]
fn rig() {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let messages = json!([
        { "role": "system", "content": "You help travellers." },
        { "role": "user", "content": [{ "type": "text", "text": "Weather?" }, { "type": "image", "data": { "type": "url", "value": "https://example.com/a.png" } }] },
        { "role": "assistant", "origin": { "api": "open_ai_responses", "model": "gpt" }, "stop": "tool_use", "content": [
            { "type": "reasoning", "text": "…", "native": { "item": { "type": "reasoning" }, "fingerprint": "…" } },
            { "type": "toolcall", "id": { "provider": "c1" }, "function": { "name": "get_weather", "arguments": { "city": "York" } },
              "native": { "item": { "type": "function_call", "name": "get_weather" }, "fingerprint": "…" } },
            { "type": "toolcall", "id": { "local": "7" }, "function": { "name": "book", "arguments": { "city": "Leeds" } } },
        ] },
        { "role": "user", "content": [
            { "type": "toolresult", "call": { "provider": "c1" }, "name": "get_weather", "content": text("rain") },
            { "type": "toolresult", "call": { "local": "7" }, "name": "book", "content": text("no seats"), "is_error": true },
        ] },
        { "role": "assistant", "content": text("It rains.") },
    ]);
    check("rig", messages, text("rain"), Err("no seats"));
    let older = json!([
        { "role": "assistant", "id": null, "content": [
            { "text": "I look." },
            { "id": "fc_1", "call_id": "c1", "function": { "name": "get_weather", "arguments": { "city": "York" } } },
            { "id": "fc_2", "call_id": null, "function": { "name": "book", "arguments": { "city": "Leeds" } } },
        ] },
        { "role": "user", "content": [
            { "type": "toolresult", "id": "fc_1", "call_id": "c1", "content": text("rain") },
            { "type": "toolresult", "id": "fc_2", "content": text("full") },
        ] },
    ]);
    check("rig, older versions", older, text("rain"), Ok(text("full")));
    let own = json!([{ "role": "assistant", "content": [
        { "type": "opaque", "item": { "type": "web_search_call", "id": "ws", "action": { "query": "York" } }, "replay": true },
        { "type": "opaque", "item": { "type": "compaction", "encrypted_content": "…" }, "replay": true },
        { "type": "toolcall", "id": { "provider": "c1" }, "function": { "name": "book", "arguments": {}, "invalid_arguments": "{\"city\": \"Yo" } },
    ] }]);
    let calls = ToolCall::read(&own).unwrap();
    assert_eq!([&*calls[0].name, &*calls[1].name], ["web_search", "book"]);
    assert_eq!(calls[1].arguments, Some(json!("{\"city\": \"Yo")));
    assert!(calls[1].arguments_error.is_some());
}

#[test]
fn genai() {
    let call = |id: &str, name: &str, city: &str| json!({ "call_id": id, "fn_name": name, "fn_arguments": { "city": city } });
    let (york, leeds) = (call("c1", "get_weather", "York"), call("c2", "book", "Leeds"));
    let answers = [
        json!({ "call_id": "c1", "content": "rain" }),
        json!({ "call_id": "c2", "fn_name": "book", "content": "full" }),
    ];
    let request = json!({ "system": "You help travellers.", "messages": [
        { "role": "User", "content": [{ "Text": "Weather?" }, { "Binary": { "content_type": "image/png", "source": { "Url": "https://example.com/a.png" } } }] },
        { "role": "Assistant", "content": [{ "ThoughtSignature": "…" }, { "ReasoningContent": "…" }, { "ToolCall": york }, { "ToolCall": leeds }] },
        { "role": "Tool", "content": [{ "ToolResponse": answers[0] }, { "ToolResponse": answers[1] }] },
        { "role": "Assistant", "content": [{ "Custom": { "model_iden": null, "data": { "type": "reasoning", "summary": [] } } }] },
    ] });
    check("genai", request, json!("rain"), Ok(json!("full")));
    let older = json!([
        { "role": "User", "content": { "Text": "Weather?" } },
        { "role": "Assistant", "content": { "ToolCalls": [york, leeds] } },
        { "role": "Tool", "content": { "ToolResponses": answers } },
        { "role": "User", "content": { "Parts": [{ "Text": "And?" }] } },
    ]);
    check("genai, older versions", older, json!("rain"), Ok(json!("full")));
    let alone = ToolCall::read(&json!([york])).unwrap();
    assert_eq!((&*alone[0].name, &alone[0].arguments), ("get_weather", &Some(json!({ "city": "York" }))));
}

#[test]
fn opentelemetry() {
    let messages = json!([
        { "role": "system", "parts": [{ "type": "text", "content": "You help travellers." }] },
        { "role": "user", "parts": [{ "type": "blob", "modality": "image", "mime_type": "image/png", "content": "…" }, { "type": "uri", "modality": "image", "uri": "https://example.com/a.png" }] },
        { "role": "assistant", "parts": [
            { "type": "reasoning", "content": "…" },
            { "type": "tool_call", "id": "c1", "name": "get_weather", "arguments": { "city": "York" } },
            { "type": "tool_call", "id": null, "name": "book", "arguments": "{\"city\": \"Leeds\"}" },
        ], "finish_reason": "tool_call" },
        { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "c1", "response": "rain" }] },
        { "role": "user", "parts": [{ "type": "tool_call_response", "name": "book", "result": "full" }] },
    ]);
    check("OpenTelemetry", messages, json!("rain"), Ok(json!("full")));
    let server = json!([{ "role": "assistant", "parts": [
        { "type": "server_tool_call", "id": "s1", "name": "web_search", "server_tool_call": { "type": "web_search", "query": "York" } },
        { "type": "server_tool_call_response", "id": "s1", "server_tool_call_response": { "type": "web_search", "hits": 2 } },
    ] }]);
    let calls = ToolCall::read(&server).unwrap();
    assert_eq!((&*calls[0].name, calls[0].result.is_some()), ("web_search", true));
}

#[test]
fn vercel() {
    let call = |id: &str, name: &str, city: &str, key: &str| json!({ "type": "tool-call", "toolCallId": id, "toolName": name, (key): { "city": city } });
    let result = |id: &str, name: &str, output: Value| json!({ "type": "tool-result", "toolCallId": id, "toolName": name, "output": output });
    let model = json!([
        { "role": "user", "content": [{ "type": "text", "text": "Weather?" }, { "type": "file", "data": "…", "mediaType": "image/png" }] },
        { "role": "assistant", "content": [
            { "type": "reasoning", "text": "…", "providerOptions": { "openai": {} } },
            call("c1", "get_weather", "York", "input"), call("c2", "book", "Leeds", "args"),
        ] },
        { "role": "tool", "content": [
            result("c1", "get_weather", json!({ "type": "text", "value": "rain" })),
            result("c2", "book", json!({ "type": "error-text", "value": "no seats" })),
        ] },
        { "role": "assistant", "content": [{ "type": "tool-approval-request", "approvalId": "a", "toolCallId": "c3" }] },
    ]);
    check("Vercel's model messages", model, json!("rain"), Err("no seats"));
    let thrown = json!({ "type": "tool-error", "toolCallId": "c2", "toolName": "book", "input": {}, "error": "no seats" });
    let content = json!([
        call("c1", "get_weather", "York", "input"),
        call("c2", "book", "Leeds", "input"),
        result("c1", "get_weather", json!("rain")),
        thrown
    ]);
    check("Vercel's result", content, json!("rain"), Err("no seats"));
    let ui = json!([{ "id": "m", "role": "assistant", "metadata": { "toolUse": [1] }, "parts": [
        { "type": "step-start" },
        { "type": "tool-get_weather", "toolCallId": "c1", "state": "output-available", "input": { "city": "York" }, "output": "rain" },
        { "type": "dynamic-tool", "toolName": "book", "toolCallId": "c2", "state": "output-error", "input": { "city": "Leeds" }, "errorText": "no seats" },
        { "type": "data-chart", "data": { "points": [1, 2] } },
        { "type": "source-url", "sourceId": "s", "url": "https://example.com" },
        { "type": "text", "text": "It rains.", "state": "done" },
    ] }]);
    check("Vercel's UI messages", ui, json!("rain"), Err("no seats"));
    let refused = json!([{ "role": "assistant", "parts": [
        { "type": "tool-book", "toolCallId": "c1", "state": "output-denied", "input": {}, "approval": { "id": "a", "approved": false, "reason": "too late" } },
    ] }]);
    assert_eq!(ToolCall::read(&refused).unwrap()[0].error.as_deref(), Some("denied: too late"));
}

#[test]
fn a_call_that_a_message_holds_twice_is_one_call() {
    let invocation = |id: &str, name: &str, city: &str, result: &str| json!({ "state": "result", "toolCallId": id, "toolName": name, "args": { "city": city }, "result": result });
    let all = [invocation("c1", "get_weather", "York", "rain"), invocation("c2", "book", "Leeds", "full")];
    let parts = all.clone().map(|call| json!({ "type": "tool-invocation", "toolInvocation": call }));
    let messages =
        json!([{ "role": "assistant", "content": "It rains.", "toolInvocations": all, "parts": parts }]);
    check("Vercel's UI messages, older versions", messages, json!("rain"), Ok(json!("full")));
    let call = json!({ "role": "assistant", "tool_calls": [{ "id": "c", "function": { "name": "book", "arguments": "{}" } }] });
    assert_eq!(ToolCall::read(&json!([call, call])).unwrap().len(), 2, "in two messages");
}

#[test]
fn bedrock() {
    let messages = json!([
        { "role": "user", "content": [{ "text": "Weather?" }, { "image": { "format": "png", "source": { "bytes": "…" } } }, { "cachePoint": { "type": "default" } }] },
        { "role": "assistant", "content": [
            { "reasoningContent": { "reasoningText": { "text": "…", "signature": "…" } } },
            { "toolUse": { "toolUseId": "c1", "name": "get_weather", "input": { "city": "York" } } },
            { "toolUse": { "toolUseId": "c2", "name": "book", "input": { "city": "Leeds" } } },
        ] },
        { "role": "user", "content": [
            { "toolResult": { "toolUseId": "c1", "content": [{ "text": "rain" }], "status": "success" } },
            { "toolResult": { "toolUseId": "c2", "content": [{ "text": "no seats" }], "status": "error" } },
        ] },
    ]);
    check("Bedrock", messages.clone(), json!([{ "text": "rain" }]), Err("no seats"));
    let answer = json!({ "output": { "message": messages[1] }, "stopReason": "tool_use" });
    assert_eq!(ToolCall::read(&answer).unwrap().len(), 2);
}

#[test]
fn ollama() {
    let messages = json!([
        { "role": "assistant", "content": "", "thinking": "…", "tool_calls": [
            { "function": { "name": "get_weather", "arguments": { "city": "York" } } },
            { "function": { "name": "book", "arguments": { "city": "Leeds" } } },
        ] },
        { "role": "tool", "tool_name": "get_weather", "content": "rain" },
        { "role": "tool", "tool_name": "book", "content": "full" },
    ]);
    check("Ollama", messages, json!("rain"), Ok(json!("full")));
}

/// The error of an evaluator for this value as `messages` or `contents` in the metadata.
fn judged(evaluator: &ToolCalls, place: &str, messages: Value) -> Result<f64, String> {
    let cx = EvalContext::new(Item::new(), Output::new("It rains.").metadata(place, messages));
    evaluator.score(&cx).map(|score| score.value()).map_err(|error| error.to_string())
}

#[test]
fn a_call_without_a_type_is_not_overlooked() {
    let messages = json!([{ "role": "model", "parts": [{ "name": "get_weather", "args": { "city": "York" }, "id": "c1" }] }]);
    for place in ["messages", "contents"] {
        let judged = |evaluator: ToolCalls| judged(&evaluator, place, messages.clone());
        assert_eq!(judged(ToolCalls::not_called("none", "get_weather")), Ok(0.0), "{place}");
        assert_eq!(judged(ToolCalls::at_most("few", 0)), Ok(0.0), "{place}");
        assert_eq!(judged(ToolCalls::called("some", "get_weather")), Ok(1.0), "{place}");
    }
}

#[test]
fn what_may_be_a_call_is_an_error_that_shows_it() {
    let invented = json!({ "after": [1], "n": 2, "payload": { "city": "York" }, "target": "get_weather", "type": "invoke" });
    let error = judged(
        &ToolCalls::at_most("few", 0),
        "messages",
        json!([{ "role": "user", "content": "Hi" }, { "role": "assistant", "content": [invented] }]),
    );
    let error = error.unwrap_err();
    let (piece, expected) = error.split_once("; expected a call as ").unwrap();
    assert_eq!(
        piece,
        "the agent's `metadata.messages[1].content[0]` may be a tool call in an unknown format, `{\"after\": […], \"n\": …, \
         \"payload\": {…}, \"target\": \"…\", \"type\": \"invoke\"}`"
    );
    assert!(expected.starts_with("`{\"name\": …, \"arguments\": …}`"), "{expected}");
}

#[test]
fn no_shape_that_may_hold_a_call_is_skipped() {
    let block = |block: Value| json!([{ "role": "assistant", "content": [block] }]);
    for (messages, place) in [
        (block(json!({ "action": "get_weather", "action_input": "York" })), "content[0]"),
        (block(json!({ "name": "get_weather" })), "content[0]"),
        (block(json!({ "type": "text_and_calls", "text": "Hi", "items": [] })), "content[0]"),
        (block(json!({ "type": "data-agent", "data": { "toolCalls": [{ "id": 1 }] } })), "content[0]"),
        (
            block(json!({ "type": "opaque", "item": { "type": "hosted_step", "of": "x" }, "replay": true })),
            "content[0].item",
        ),
        (
            block(json!({ "Custom": { "data": { "type": "hosted_step", "of": "x" } } })),
            "content[0].Custom.data",
        ),
        (block(json!([{ "name": "get_weather", "args": {} }])), "content[0]"),
        (json!([{ "role": "assistant", "content": { "invoke": "get_weather" } }]), "content"),
        (
            json!([{ "role": "assistant", "content": "", "additional_kwargs": { "tool_calls": [{ "id": "1" }] } }]),
            "additional_kwargs",
        ),
        (
            json!([{ "role": "assistant", "content": "", "steps": [{ "name": "get_weather", "args": {} }] }]),
            "steps",
        ),
        (
            json!([{ "content": { "parts": [{ "text": "Hi" }] }, "tool_calls": [{ "function": { "name": "t" } }] }]),
            "tool_calls",
        ),
        (
            json!([{ "content": { "parts": [{ "text": "Hi" }] }, "steps": [{ "name": "t", "args": {} }] }]),
            "steps",
        ),
        (
            json!([{ "role": "model", "content": { "parts": [{ "text": "Hi" }], "functionCall": { "name": "t" } } }]),
            "content.functionCall",
        ),
        (
            json!([{ "role": "assistant", "content": { "ToolCalls": [], "Parts": [{ "ToolCall": { "fn_name": "t" } }] } }]),
            "content.Parts",
        ),
    ] {
        let error = ToolCall::read(&messages).unwrap_err().to_string();
        let expected = format!("`calls[0].{place}` may be a tool call in an unknown format, `");
        assert!(error.starts_with(&expected), "{place}: {error}");
    }
}

#[test]
fn a_call_that_has_the_fields_of_a_message_is_not_skipped() {
    for call in [
        json!({ "role": "assistant", "name": "t", "args": { "city": "York" } }),
        json!({ "role": "assistant", "type": "tool_use", "id": "1", "name": "t", "input": {} }),
        json!({ "role": "assistant", "type": "web_search_call", "id": "1" }),
        json!({ "content": { "parts": [{ "text": "Hi" }] }, "name": "t", "args": {} }),
    ] {
        let error = ToolCall::read(&json!([call])).unwrap_err().to_string();
        assert!(error.starts_with("`calls[0]` may be a tool call in an unknown format"), "{call}: {error}");
    }
    let named = json!({ "role": "user", "name": "Ann", "content": "Hi", "type": "message" });
    assert_eq!(ToolCall::read(&json!([named])).unwrap(), []);
}

#[test]
fn contents_that_are_no_messages_are_no_place_of_calls() {
    let cx =
        EvalContext::new(Item::new(), Output::new(json!({ "contents": ["a page"], "steps": ["search"] })));
    assert_eq!(cx.tool_calls().unwrap()[0].name, "search");
}

#[test]
fn what_stands_beside_the_list_of_a_whole_answer_is_not_overlooked() {
    let delete = json!({ "name": "delete_file", "args": {} });
    let text = json!({ "role": "model", "parts": [{ "text": "done" }] });
    let history = json!([{ "role": "model", "parts": [{ "functionCall": delete }] }]);
    let call = json!({ "name": "delete_file", "arguments": {} });
    for (whole, place) in [
        (
            json!({ "candidates": [{ "content": text }], "automaticFunctionCallingHistory": history }),
            "automatic",
        ),
        (json!({ "candidates": [{ "content": text, "calls": history }] }), "candidates[0].calls"),
        (json!({ "messages": [{ "role": "user", "content": "hi" }], "toolCalls": [call] }), "toolCalls"),
        (
            json!({ "choices": [{ "message": { "role": "assistant", "content": "hi" }, "tool_calls": [call] }] }),
            "tool_calls",
        ),
        (json!({ "object": "response", "output": [], "steps": [call] }), "steps"),
        (json!({ "output": { "message": text }, "steps": [call] }), "steps"),
    ] {
        let error = ToolCall::read(&whole).unwrap_err().to_string();
        assert!(
            error.contains(place) && error.contains("may be a tool call in an unknown format"),
            "{error}"
        );
    }
}

#[test]
fn whole_answers_are_read_with_all_that_the_apis_put_beside_their_messages() {
    let tool = json!({
        "type": "function", "name": "get_weather", "description": "…", "strict": true,
        "parameters": { "type": "object", "properties": { "name": { "type": "string" }, "input": { "type": "string" } } },
    });
    for whole in [
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt", "service_tier": "default",
            "system_fingerprint": "fp", "choices": [{
                "index": 0, "finish_reason": "stop", "logprobs": { "content": [{ "token": "a", "logprob": -0.1, "top_logprobs": [] }] },
                "message": { "role": "assistant", "content": "hi", "refusal": null, "annotations": [] },
            }],
            "usage": { "prompt_tokens": 1, "prompt_tokens_details": { "cached_tokens": 0 }, "server_tool_use": { "requests": 1 } },
        }),
        json!({
            "id": "resp_1", "object": "response", "status": "completed", "error": null, "incomplete_details": null,
            "instructions": "Be brief.", "max_tool_calls": 3, "parallel_tool_calls": true, "tool_choice": { "type": "function", "name": "get_weather" },
            "tools": [tool], "text": { "format": { "type": "json_schema", "name": "answer", "schema": tool["parameters"] } },
            "reasoning": { "effort": null, "summary": null }, "prompt": { "id": "p", "variables": { "city": "York" } },
            "output": [{ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "hi", "annotations": [] }] }],
            "usage": { "input_tokens": 1 }, "metadata": { "tool_use": "none" },
        }),
        json!({
            "candidates": [{
                "content": { "role": "model", "parts": [{ "text": "hi" }] }, "finishReason": "STOP", "index": 0, "avgLogprobs": -0.1,
                "safetyRatings": [{ "category": "HARM", "probability": "LOW" }], "citationMetadata": { "citationSources": [{ "uri": "u" }] },
                "groundingMetadata": { "webSearchQueries": ["York"], "groundingChunks": [{ "web": { "uri": "u", "title": "t" } }] },
                "urlContextMetadata": { "urlMetadata": [{ "retrievedUrl": "u" }] }, "logprobsResult": { "chosenCandidates": [{ "token": "a" }] },
            }],
            "promptFeedback": { "safetyRatings": [] }, "modelVersion": "gemini", "responseId": "r", "createTime": "t",
            "usageMetadata": { "toolUsePromptTokenCount": 3, "toolUsePromptTokensDetails": [{ "modality": "TEXT", "tokenCount": 3 }] },
            "automaticFunctionCallingHistory": [],
        }),
        json!({
            "output": { "message": { "role": "assistant", "content": [{ "text": "hi" }] } }, "stopReason": "end_turn",
            "usage": { "inputTokens": 1 }, "metrics": { "latencyMs": 5 }, "performanceConfig": { "latency": "standard" },
            "trace": { "guardrail": { "modelOutput": ["hi"], "outputAssessments": { "g": [{ "topicPolicy": { "topics": [{ "name": "t", "type": "DENY", "action": "NONE" }] } }] } } },
        }),
        json!({ "messages": [{ "role": "assistant", "content": "hi" }], "structured_response": { "city": "York" }, "remaining_steps": 3 }),
    ] {
        assert_eq!(ToolCall::read(&whole), Ok(Vec::new()), "{whole}");
    }
}
