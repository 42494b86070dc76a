//! Failing connections and servers, and which requests are retried.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;

use super::*;
use crate::llm::test_server::ScriptedResponse;

const FINE: &str = r#"{"score": 1}"#;

/// Whether a question is answered after this response, and the number of requests.
async fn after(answer: ScriptedResponse) -> (bool, usize) {
    let server = TestServer::script([answer, ScriptedResponse::chat(FINE)]);
    let reply = ask(&client(), &openai(&server)).await;
    (reply.is_ok(), server.requests().len())
}

#[tokio::test]
async fn what_may_pass_is_asked_again() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        assert_eq!(after(ScriptedResponse::error(status, "not now")).await, (true, 2), "{status}");
    }
}

#[tokio::test]
async fn what_will_not_pass_is_not_asked_again() {
    for status in [400, 401, 402, 403, 404, 413, 422, 501] {
        assert_eq!(after(ScriptedResponse::error(status, "no")).await, (false, 1), "{status}");
    }
}

#[tokio::test]
async fn a_used_up_quota_is_not_asked_again() {
    let quota =
        serde_json::json!({"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}});
    let server = TestServer::script([ScriptedResponse::json(429, &quota)]);
    let error = ask(&client(), &openai(&server)).await.unwrap_err().to_string();
    assert!(
        error.ends_with("You exceeded your quota; the quota is used up; check your plan and billing"),
        "{error}"
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_connection_cut_within_the_answer_is_asked_again() {
    assert_eq!(after(ScriptedResponse::chat(FINE).cut_after(20)).await, (true, 2));
    assert_eq!(after(ScriptedResponse::chat(FINE).in_pieces().cut_after(20)).await, (true, 2));
}

#[tokio::test]
async fn a_connection_that_the_server_closed_meanwhile_is_no_failure() {
    let whole = ScriptedResponse::chat(FINE).cut_after(usize::MAX);
    let server = TestServer::script([whole, ScriptedResponse::chat(FINE)]);
    let client = client();
    for _ in 0..2 {
        ask(&client, &openai(&server)).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_after_two_timeouts() {
    let server = TestServer::script([ScriptedResponse::never()]);
    let client = client_of(&ModelSettings { timeout: Duration::from_millis(50), retries: 9, ..settings() });
    let error = ask(&client, &openai(&server)).await.unwrap_err().to_string();
    assert!(error.ends_with(": no response within 50ms; tried 2 times"), "{error}");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_server_that_never_ends_its_answer_is_given_up_after_the_timeout() {
    let server = TestServer::script([ScriptedResponse::text(200, "{").header("content-length", "100")]);
    let client = client_of(&ModelSettings { timeout: Duration::from_millis(50), retries: 0, ..settings() });
    let error = ask(&client, &openai(&server)).await.unwrap_err().to_string();
    assert!(error.ends_with(": no response within 50ms"), "{error}");
}

#[tokio::test]
async fn a_refused_connection_says_where_and_how_often_it_was_tried() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = Target {
        base_url: format!("http://{address}/v1"),
        ..openai(&TestServer::script([ScriptedResponse::never()]))
    };
    let error = ask(&client(), &target).await.unwrap_err().to_string();
    let start = format!("openai `gpt-4o-mini` at {address}/v1/chat/completions: ");
    assert!(error.starts_with(&start) && error.contains("refused"), "{error}");
    assert!(error.ends_with("; tried 3 times"), "{error}");
}

#[tokio::test]
async fn an_address_that_is_none_is_not_tried_again() {
    let target = Target {
        base_url: "localhost:1/v1".to_owned(),
        ..openai(&TestServer::script([ScriptedResponse::never()]))
    };
    let error = ask(&client(), &target).await.unwrap_err().to_string();
    assert!(!error.contains("tried"), "{error}");
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_not_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Wait until the client has disconnected; otherwise it may see a broken connection first.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let target = Target { base_url, ..openai(&TestServer::script([ScriptedResponse::never()])) };
    let error = ask(&client(), &target).await.unwrap_err().to_string();
    assert!(error.contains("corrupt") && !error.contains("tried"), "{error}");
    server.join().unwrap();
}

#[tokio::test]
async fn the_last_failure_is_told_after_all_retries() {
    let server = TestServer::script([
        ScriptedResponse::error(500, "first"),
        ScriptedResponse::error(503, "overloaded"),
    ]);
    let error = ask(&client(), &openai(&server)).await.unwrap_err();
    assert!(matches!(error, ClientError::Failed(_)));
    assert!(error.to_string().ends_with(": status 503: overloaded; tried 3 times"), "{error}");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn one_call_in_five_that_fails_costs_no_answer() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server =
        TestServer::start(move |_| match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 5 {
            0 => ScriptedResponse::error(500, "again"),
            _ => ScriptedResponse::chat(FINE),
        });
    let client = client_of(&ModelSettings { retries: 8, ..settings() });
    for _ in 0..40 {
        ask(&client, &openai(&server)).await.unwrap();
    }
    assert_eq!(server.requests().len(), 50);
}

/// How a request constrains its answer.
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
    server.requests().iter().map(|asked| form(&asked.body)).collect()
}

/// A server that rejects everything except plain text, with a different message for each format.
fn strict(status: u16, of_tools: &'static str) -> TestServer {
    TestServer::start(move |asked| match form(&asked.body) {
        "schema" => ScriptedResponse::error(status, "`response_format.type`: json_schema is not supported"),
        "tool" => ScriptedResponse::error(status, of_tools),
        "json" => ScriptedResponse::error(status, "Invalid parameter: 'response_format'"),
        _ => ScriptedResponse::chat("{}"),
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
    for asked in server.requests() {
        let system = asked.body["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(system.starts_with("Be a judge."));
        let expected = matches!(form(&asked.body), "json" | "text");
        assert_eq!(system.contains(&schema().schema.to_string()), expected, "{system}");
        // <https://platform.openai.com/docs/guides/structured-outputs#json-mode>: otherwise JSON mode is rejected.
        assert_eq!(system.contains("JSON"), expected, "{system}");
    }
}

#[tokio::test]
async fn old_models_of_anthropic_answer_by_a_tool_and_new_ones_that_refuse_it_by_text() {
    let message = |text: &str| serde_json::json!({"content": [{"type": "text", "text": text}]});
    let server = TestServer::start(move |asked| match form(&asked.body) {
        "schema" => ScriptedResponse::error(400, "output_config.format: Extra inputs are not permitted"),
        "tool" => {
            ScriptedResponse::error(400, "Thinking may not be enabled when tool_choice forces tool use.")
        }
        _ => ScriptedResponse::json(200, &message("{}")),
    });
    ask(&client(), &target(&server, Provider::Anthropic, "claude-haiku-4-5")).await.unwrap();
    assert_eq!(forms(&server), ["schema", "tool", "text"]);
}

#[tokio::test]
async fn a_refused_temperature_is_left_out_from_then_on() {
    let server = TestServer::start(|asked| match asked.body.get("temperature") {
        Some(_) => ScriptedResponse::error(
            400,
            "Unsupported value: 'temperature' does not support 0 with this model.",
        ),
        None => ScriptedResponse::chat("{}"),
    });
    let client = client();
    for _ in 0..2 {
        ask(&client, &Target { model: "deployment".to_owned(), ..openai(&server) }).await.unwrap();
    }
    let sent: Vec<_> =
        server.requests().iter().map(|asked| asked.body.get("temperature").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
    assert_eq!(forms(&server), ["schema"; 3]);
}

#[tokio::test]
async fn a_temperature_that_is_set_is_sent() {
    let server = TestServer::script([ScriptedResponse::chat("{}")]);
    ask(&client(), &Target { temperature: Some(0.7), model: "gpt-5".to_owned(), ..openai(&server) })
        .await
        .unwrap();
    assert_eq!(server.requests()[0].body["temperature"], 0.7);
}

#[tokio::test]
async fn a_refused_length_is_shorter_from_then_on() {
    let server = TestServer::start(|asked| match asked.body["max_tokens"].as_u64() {
        Some(4_096) => {
            ScriptedResponse::json(200, &serde_json::json!({"content": [{"type": "text", "text": "{}"}]}))
        }
        _ => ScriptedResponse::error(
            400,
            "max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens",
        ),
    });
    let client = client();
    for _ in 0..2 {
        ask(&client, &target(&server, Provider::Anthropic, "claude-3-haiku-20240307")).await.unwrap();
    }
    assert_eq!(server.requests().len(), 3);
}
