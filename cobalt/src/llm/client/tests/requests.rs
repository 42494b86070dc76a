//! The requests in the format of each vendor's API.

use std::sync::Arc;

use cobalt_core::prices::Tokens;
use serde_json::json;

use super::*;
use crate::llm::Moderation;
use crate::llm::test_server::{ReceivedRequest, ScriptedResponse};

/// The only request of a question.
async fn asked(provider: Provider, model: &str) -> ReceivedRequest {
    let content = json!([{"type": "text", "text": "{}"}]);
    let answer = json!({"choices": [{"message": {"content": "{}"}}], "content": content});
    let server = TestServer::script([ScriptedResponse::json(200, &answer)]);
    ask(&client(), &target(&server, provider, model)).await.unwrap();
    server.requests().remove(0)
}

fn header<'a>(asked: &'a ReceivedRequest, name: &str) -> Option<&'a str> {
    asked.headers.get(name).map(String::as_str)
}

/// <https://platform.openai.com/docs/api-reference/chat/create> and
/// <https://platform.openai.com/docs/guides/structured-outputs>.
#[tokio::test]
async fn openai_is_asked_for_a_chat_completion_with_a_json_schema() {
    let asked = asked(Provider::OpenAi, "gpt-4o-mini").await;
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(header(&asked, "authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(header(&asked, "content-type"), Some("application/json"));
    let form = json!({"name": "verdict", "schema": schema().schema, "strict": true});
    let expected = json!({
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "system", "content": "Be a judge."},
            {"role": "user", "content": "Is it good?"},
        ],
        "temperature": 0.0,
        "response_format": {"type": "json_schema", "json_schema": form},
    });
    assert_eq!(asked.body, expected);
}

/// <https://platform.openai.com/docs/guides/function-calling#additional-configurations> (forced function).
#[tokio::test]
async fn a_tool_is_forced_where_the_schema_is_refused() {
    let server = TestServer::script([
        ScriptedResponse::error(400, "unknown field response_format"),
        ScriptedResponse::chat("{}"),
    ]);
    ask(&client(), &openai(&server)).await.unwrap();
    let body = &server.requests()[1].body;
    assert_eq!(body["tools"][0]["type"], "function");
    assert_eq!(body["tools"][0]["function"]["name"], "verdict");
    assert_eq!(body["tools"][0]["function"]["parameters"], schema().schema);
    assert_eq!(body["tool_choice"], json!({"type": "function", "function": {"name": "verdict"}}));
    assert_eq!(body.get("response_format"), None);
}

/// <https://ai.google.dev/gemini-api/docs/openai>.
#[tokio::test]
async fn gemini_is_asked_as_openai_is() {
    let asked = asked(Provider::Gemini, "gemini-2.5-flash").await;
    assert_eq!(asked.path, "/v1beta/openai/chat/completions");
    assert_eq!(header(&asked, "authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(asked.body["response_format"]["type"], "json_schema");
}

/// <https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle>: the v1 API takes the key as `api-key`.
#[tokio::test]
async fn azure_is_asked_as_openai_is_with_the_key_in_a_header_of_its_own() {
    let asked = asked(Provider::Azure, "our-deployment").await;
    assert_eq!(asked.path, "/openai/v1/chat/completions");
    assert_eq!(header(&asked, "api-key"), Some(KEY));
    assert_eq!(header(&asked, "authorization"), None);
    assert_eq!(asked.body["model"], "our-deployment");
}

/// <https://platform.claude.com/docs/en/api/messages/create> and
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>, which rejects numeric bounds.
#[tokio::test]
async fn anthropic_is_asked_for_a_message_with_a_json_schema() {
    let asked = asked(Provider::Anthropic, "claude-haiku-4-5").await;
    assert_eq!(asked.path, "/v1/messages");
    assert_eq!(header(&asked, "x-api-key"), Some(KEY));
    assert_eq!(header(&asked, "anthropic-version"), Some("2023-06-01"));
    assert_eq!(header(&asked, "authorization"), None);
    let form = json!({
        "type": "object",
        "properties": {"score": {"type": "number"}},
        "required": ["score"],
        "additionalProperties": false,
    });
    let expected = json!({
        "model": "claude-haiku-4-5",
        "max_tokens": 16_384,
        "system": "Be a judge.",
        "messages": [{"role": "user", "content": "Is it good?"}],
        "temperature": 0.0,
        "output_config": {"format": {"type": "json_schema", "schema": form}},
    });
    assert_eq!(asked.body, expected);
}

/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools#forcing-tool-use>.
#[tokio::test]
async fn a_tool_of_anthropic_is_forced_where_the_schema_is_refused() {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "verdict", "input": {"score": 1}});
    let refusal = ScriptedResponse::error(400, "output_config.format: Extra inputs are not permitted");
    let server = TestServer::script([refusal, ScriptedResponse::json(200, &json!({"content": [call]}))]);
    let reply =
        ask(&client(), &target(&server, Provider::Anthropic, "claude-3-5-haiku-latest")).await.unwrap();
    assert_eq!(reply.text, r#"{"score":1}"#);
    let body = &server.requests()[1].body;
    assert_eq!(body["tools"][0]["name"], "verdict");
    assert_eq!(body["tools"][0]["input_schema"], schema().schema);
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "verdict"}));
    assert_eq!(body.get("output_config"), None);
}

#[tokio::test]
async fn a_query_of_the_base_url_stays_behind_the_path_and_is_in_no_error() {
    let server = TestServer::script([ScriptedResponse::error(403, "no")]);
    let base_url = server.url("/v1/?api-version=1&code=hidden");
    let error = ask(&client(), &Target { base_url, ..openai(&server) }).await.unwrap_err().to_string();
    assert_eq!(server.requests()[0].path, "/v1/chat/completions?api-version=1&code=hidden");
    assert!(error.contains("/v1/chat/completions: ") && !error.contains("hidden"), "{error}");
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = TestServer::script([ScriptedResponse::chat("{}")]);
    ask(&client(), &Target { api_key: None, ..openai(&server) }).await.unwrap();
    assert_eq!(header(&server.requests()[0], "authorization"), None);
}

/// <https://platform.openai.com/docs/api-reference/embeddings/create>.
#[tokio::test]
async fn openai_embeds_as_numbers() {
    let server = TestServer::script([ScriptedResponse::embeddings(&[vec![1.0], vec![2.0]])]);
    let target = target(&server, Provider::OpenAi, "text-embedding-3-small");
    client().embed(&target, &["a", "b"]).await.unwrap();
    let asked = &server.requests()[0];
    assert_eq!(asked.path, "/v1/embeddings");
    let expected =
        json!({"model": "text-embedding-3-small", "input": ["a", "b"], "encoding_format": "float"});
    assert_eq!(asked.body, expected);
}

/// <https://docs.cohere.com/reference/embed>.
#[tokio::test]
async fn cohere_embeds_texts_for_comparison() {
    let answer = json!({
        "id": "1",
        "embeddings": {"float": [[1.0, 0.0], [0.0, 1.0]]},
        "texts": ["a", "b"],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 2}},
    });
    let server = TestServer::script([ScriptedResponse::json(200, &answer)]);
    let target = target(&server, Provider::Cohere, "embed-v4.0");
    let embedded = client().embed(&target, &["a", "b"]).await.unwrap();
    assert_eq!(embedded.vectors, [[1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(embedded.tokens, Tokens::new(2, 0));
    let asked = &server.requests()[0];
    assert_eq!(asked.path, "/v2/embed");
    assert_eq!(header(asked, "authorization"), Some(&*format!("Bearer {KEY}")));
    let expected = json!({
        "model": "embed-v4.0", "texts": ["a", "b"], "input_type": "clustering", "embedding_types": ["float"],
    });
    assert_eq!(asked.body, expected);
}

/// <https://docs.voyageai.com/reference/embeddings-api>.
#[tokio::test]
async fn voyage_embeds_texts_and_counts_tokens_as_a_whole() {
    let rows = json!([{"object": "embedding", "embedding": [1.0], "index": 0}]);
    let answer =
        json!({"object": "list", "data": rows, "model": "voyage-4-lite", "usage": {"total_tokens": 3}});
    let server = TestServer::script([ScriptedResponse::json(200, &answer)]);
    let embedded = client().embed(&target(&server, Provider::Voyage, "voyage-4-lite"), &["a"]).await.unwrap();
    assert_eq!(embedded.tokens, Tokens::new(3, 0));
    let asked = &server.requests()[0];
    assert_eq!(asked.path, "/v1/embeddings");
    assert_eq!(header(asked, "authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(asked.body, json!({"model": "voyage-4-lite", "input": ["a"]}));
}

/// <https://platform.openai.com/docs/api-reference/moderations/create>.
#[tokio::test]
async fn openai_moderates_a_text() {
    let scores = json!({"violence": 0.9, "illicit": null});
    let answer = json!({"id": "m", "model": "m", "results": [{"flagged": true, "category_scores": scores}]});
    let server = TestServer::script([ScriptedResponse::json(200, &answer)]);
    let target = target(&server, Provider::OpenAi, "omni-moderation-latest");
    let found = client().moderate(&target, "a fight").await.unwrap();
    let category_scores = [("violence".to_owned(), 0.9)].into();
    assert_eq!(found, Moderation { flagged: true, category_scores });
    assert_eq!(server.requests()[0].path, "/v1/moderations");
    assert_eq!(server.requests()[0].body, json!({"model": "omni-moderation-latest", "input": "a fight"}));
}

#[tokio::test]
async fn no_more_requests_than_the_limit_are_on_their_way() {
    let server = TestServer::script([ScriptedResponse::chat("{}").after(Duration::from_millis(10))]);
    let client = Arc::new(client_of(&ModelSettings { concurrency: 3, ..settings() }));
    let calls: Vec<_> = (0..12)
        .map(|_| {
            let (client, target) = (Arc::clone(&client), openai(&server));
            tokio::spawn(async move { ask(&client, &target).await.unwrap() })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!((server.requests().len(), server.most_in_flight()), (12, 3));
}

#[tokio::test]
async fn a_call_that_waits_holds_up_no_other() {
    let is_slow = |body: &serde_json::Value| body["messages"][1]["content"] == "slow";
    let server = TestServer::start(move |asked| match is_slow(&asked.body) {
        true => ScriptedResponse::error(429, "wait").header("retry-after-ms", "200"),
        false => ScriptedResponse::chat("{}"),
    });
    let client = client_of(&ModelSettings { concurrency: 1, retries: 1, ..settings() });
    let (target, schema) = (openai(&server), schema());
    let slow = client.chat(&target, "", "slow", &schema);
    let fast = client.chat(&target, "", "fast", &schema);
    let (slow, fast) = tokio::join!(slow, fast);
    assert!(slow.is_err() && fast.is_ok());
    let order: Vec<_> = server.requests().iter().map(|asked| is_slow(&asked.body)).collect();
    assert_eq!(order, [true, false, true]);
}

/// A runtime whose tasks only run while it blocks on something.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_runtime_that_stands_still_or_has_ended_holds_up_no_other() {
    let server = TestServer::script([ScriptedResponse::chat("{}")]);
    let client = client_of(&ModelSettings { retries: 0, ..settings() });
    let still = runtime();
    still.block_on(ask(&client, &openai(&server))).unwrap();
    for _ in 0..2 {
        runtime().block_on(ask(&client, &openai(&server))).unwrap();
    }
    still.block_on(ask(&client, &openai(&server))).unwrap();
}

/// The time between the first two requests, if the first gets this response.
async fn wait_after(answer: ScriptedResponse) -> Duration {
    let server = TestServer::script([answer, ScriptedResponse::chat("{}")]);
    ask(&client(), &openai(&server)).await.unwrap();
    let asked = server.requests();
    asked[1].at - asked[0].at
}

#[tokio::test]
async fn the_wait_that_a_server_asks_for_is_kept() {
    for (name, value) in [("retry-after-ms", "150"), ("retry-after", "0.15")] {
        let wait = wait_after(ScriptedResponse::error(429, "slow down").header(name, value)).await;
        assert!(wait >= Duration::from_millis(150), "{name}: {wait:?}");
    }
}

#[tokio::test]
async fn without_a_wait_asked_for_it_is_the_usual_one() {
    let wait = wait_after(ScriptedResponse::error(429, "slow down")).await;
    assert!(wait < Duration::from_millis(100), "{wait:?}");
}

#[tokio::test]
async fn too_long_a_wait_is_told_instead() {
    let server =
        TestServer::script([ScriptedResponse::error(429, "slow down").header("retry-after", "3600")]);
    let error = ask(&client(), &openai(&server)).await.unwrap_err().to_string();
    assert!(error.ends_with("slow down; the server asks to wait 1h; try again after that"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let other = TestServer::script([ScriptedResponse::chat("{}")]);
    for status in [301, 302, 303, 307, 308] {
        let to = other.url("/v1/chat/completions?key=1");
        let server = TestServer::script([ScriptedResponse::text(status, "").header("location", &to)]);
        for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Azure] {
            let error = ask(&client(), &target(&server, provider, "m")).await.unwrap_err().to_string();
            let place = other.url("/v1/chat/completions").replace("http://", "");
            let end = format!("the server redirects to {place}; use that as the base URL");
            assert!(error.ends_with(&end), "{error}");
        }
    }
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn a_redirect_within_the_host_keeps_the_request() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/v1/chat/completions" => ScriptedResponse::text(308, "").header("location", "/v2/chat/completions"),
        _ => ScriptedResponse::chat("{}"),
    });
    ask(&client(), &openai(&server)).await.unwrap();
    let asked = server.requests();
    assert_eq!(asked[1].path, "/v2/chat/completions");
    assert_eq!(
        (&asked[1].body, asked[1].headers.get("authorization")),
        (&asked[0].body, asked[0].headers.get("authorization"))
    );
}

#[tokio::test]
async fn a_refused_key_is_told_without_the_key() {
    let echo = format!("Incorrect API key provided: {KEY}. (key-****test, {}...)", &KEY[..12]);
    let server = TestServer::script([ScriptedResponse::error(401, &echo)]);
    let error = ask(&client(), &openai(&server)).await.unwrap_err().to_string();
    let end = "status 401: Incorrect API key provided: [redacted]. ([redacted], [redacted]...); the key was rejected; \
    check the variable or setting that holds it";
    assert!(error.ends_with(end), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_key_is_in_no_error_of_any_kind() {
    let answers = [
        ScriptedResponse::error(500, KEY),
        ScriptedResponse::text(400, format!("<html>{KEY}</html>")),
        ScriptedResponse::json(422, &serde_json::json!([{"detail": KEY}])),
        ScriptedResponse::text(200, KEY),
        ScriptedResponse::error(200, KEY),
        ScriptedResponse::error(429, KEY).header("retry-after", "3600"),
        ScriptedResponse::error(400, &format!("{}{KEY}", "x".repeat(290))),
    ];
    for answer in answers {
        let server = TestServer::script([answer]);
        let error = ask(&client(), &openai(&server)).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(&KEY[..8]), "{error:?}");
    }
}

#[tokio::test]
async fn a_key_that_no_header_can_hold_is_told_without_the_key() {
    let server = TestServer::script([ScriptedResponse::chat("{}")]);
    let target = Target { api_key: Some(Secret(format!("{KEY}\n"))), ..openai(&server) };
    let error = ask(&client(), &target).await.unwrap_err().to_string();
    assert!(error.contains("the key contains a character that is invalid in a header"), "{error}");
    assert!(!error.contains(KEY), "{error}");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_password_in_the_base_url_is_in_no_error() {
    let server = TestServer::script([ScriptedResponse::error(403, "no")]);
    let base_url = server.url("/v1").replace("http://", "http://user:hidden@");
    let error = ask(&client(), &Target { base_url, ..openai(&server) }).await.unwrap_err().to_string();
    assert!(error.contains("status 403") && !error.contains("hidden"), "{error}");
}

#[test]
fn a_target_is_shown_without_its_key() {
    let shown = format!("{:?}", openai(&TestServer::script([ScriptedResponse::never()])));
    assert!(shown.contains("gpt-4o-mini") && !shown.contains(KEY), "{shown}");
}
