//! Ways to have an answer in its form, tried one after another.

use serde_json::Value;

use super::*;
use crate::llm::test_server::Answer;

/// How a request has its answer brought into its form.
fn form(body: &Value) -> &'static str {
    match body {
        _ if body["response_format"]["type"] == "json_schema" || body["output_config"].is_object() => {
            "schema"
        }
        _ if body["tools"].is_array() => "tool",
        _ if body["response_format"]["type"] == "json_object" => "json",
        _ => "text",
    }
}

fn forms(server: &TestServer) -> Vec<&'static str> {
    server.asked().iter().map(|asked| form(&asked.body)).collect()
}

/// A server that refuses all but plain text, each way in its own words.
fn strict(status: u16, of_tools: &'static str) -> TestServer {
    TestServer::start(move |asked| match form(&asked.body) {
        "schema" => Answer::error(status, "`response_format.type`: json_schema is not supported"),
        "tool" => Answer::error(status, of_tools),
        "json" => Answer::error(status, "Invalid parameter: 'response_format'"),
        _ => Answer::chat("{}"),
    })
}

#[tokio::test]
async fn a_refused_way_is_followed_by_the_next_down_to_plain_text() {
    for status in [400, 404, 422, 501] {
        let server = strict(status, "gemma does not support tools");
        ask(&client(), &openai(&server)).await.unwrap();
        assert_eq!(forms(&server), ["schema", "tool", "json", "text"], "{status}");
    }
}

#[tokio::test]
async fn the_way_that_works_is_remembered_for_the_model_at_its_base_url() {
    let server = strict(400, "no tools");
    let client = client();
    ask(&client, &openai(&server)).await.unwrap();
    ask(&client, &openai(&server)).await.unwrap();
    assert_eq!(forms(&server)[3..], ["text", "text"]);
    ask(&client, &Target { model: "another".to_owned(), ..openai(&server) }).await.unwrap();
    assert_eq!(forms(&server)[5], "schema");
}

#[tokio::test]
async fn what_is_refused_for_another_reason_is_not_asked_in_another_way() {
    let server = strict(400, "the prompt is too long");
    let error = ask(&client(), &openai(&server)).await.unwrap_err().to_string();
    assert!(error.ends_with("status 400: the prompt is too long"), "{error}");
    assert_eq!(forms(&server), ["schema", "tool"]);
}

#[tokio::test]
async fn the_schema_is_in_the_instruction_where_nothing_else_tells_it() {
    let server = strict(400, "no tools");
    ask(&client(), &openai(&server)).await.unwrap();
    for asked in server.asked() {
        let system = asked.body["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(system.starts_with("Be a judge."));
        let expected = matches!(form(&asked.body), "json" | "text");
        assert_eq!(system.contains(&schema().schema.to_string()), expected, "{system}");
        // <https://platform.openai.com/docs/guides/structured-outputs#json-mode>: else JSON mode is refused.
        assert_eq!(system.contains("JSON"), expected, "{system}");
    }
}

#[tokio::test]
async fn old_models_of_anthropic_answer_by_a_tool_and_new_ones_that_refuse_it_by_text() {
    let message = |text: &str| serde_json::json!({"content": [{"type": "text", "text": text}]});
    let server = TestServer::start(move |asked| match form(&asked.body) {
        "schema" => Answer::error(400, "output_config.format: Extra inputs are not permitted"),
        "tool" => Answer::error(400, "Thinking may not be enabled when tool_choice forces tool use."),
        _ => Answer::json(200, &message("{}")),
    });
    ask(&client(), &target(&server, Provider::Anthropic, "claude-haiku-4-5")).await.unwrap();
    assert_eq!(forms(&server), ["schema", "tool", "text"]);
}

#[tokio::test]
async fn a_refused_temperature_is_left_out_from_then_on() {
    let server = TestServer::start(|asked| match asked.body.get("temperature") {
        Some(_) => Answer::error(400, "Unsupported value: 'temperature' does not support 0 with this model."),
        None => Answer::chat("{}"),
    });
    let client = client();
    for _ in 0..2 {
        ask(&client, &Target { model: "deployment".to_owned(), ..openai(&server) }).await.unwrap();
    }
    let sent: Vec<_> = server.asked().iter().map(|asked| asked.body.get("temperature").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
    assert_eq!(forms(&server), ["schema"; 3]);
}

#[tokio::test]
async fn a_temperature_that_is_set_is_sent() {
    let server = TestServer::script([Answer::chat("{}")]);
    ask(&client(), &Target { temperature: Some(0.7), model: "gpt-5".to_owned(), ..openai(&server) })
        .await
        .unwrap();
    assert_eq!(server.asked()[0].body["temperature"], 0.7);
}

#[tokio::test]
async fn a_refused_length_is_shorter_from_then_on() {
    let server = TestServer::start(|asked| match asked.body["max_tokens"].as_u64() {
        Some(4_096) => Answer::json(200, &serde_json::json!({"content": [{"type": "text", "text": "{}"}]})),
        _ => Answer::error(
            400,
            "max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens",
        ),
    });
    let client = client();
    for _ in 0..2 {
        ask(&client, &target(&server, Provider::Anthropic, "claude-3-haiku-20240307")).await.unwrap();
    }
    assert_eq!(server.asked().len(), 3);
}
