//! The requests in the form of each vendor's API.

use serde_json::json;

use super::*;
use crate::llm::Moderation;
use crate::llm::test_server::{Answer, Asked};
use crate::prices::Tokens;

/// The only request of a question.
async fn asked(provider: Provider, model: &str) -> Asked {
    let content = json!([{"type": "text", "text": "{}"}]);
    let answer = json!({"choices": [{"message": {"content": "{}"}}], "content": content});
    let server = TestServer::script([Answer::json(200, &answer)]);
    ask(&client(), &target(&server, provider, model)).await.unwrap();
    server.asked().remove(0)
}

fn header<'a>(asked: &'a Asked, name: &str) -> Option<&'a str> {
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
    let server =
        TestServer::script([Answer::error(400, "unknown field response_format"), Answer::chat("{}")]);
    ask(&client(), &openai(&server)).await.unwrap();
    let body = &server.asked()[1].body;
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
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>, which refuses bounds of numbers.
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
    let refusal = Answer::error(400, "output_config.format: Extra inputs are not permitted");
    let server = TestServer::script([refusal, Answer::json(200, &json!({"content": [call]}))]);
    let reply =
        ask(&client(), &target(&server, Provider::Anthropic, "claude-3-5-haiku-latest")).await.unwrap();
    assert_eq!(reply.text, r#"{"score":1}"#);
    let body = &server.asked()[1].body;
    assert_eq!(body["tools"][0]["name"], "verdict");
    assert_eq!(body["tools"][0]["input_schema"], schema().schema);
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "verdict"}));
    assert_eq!(body.get("output_config"), None);
}

#[tokio::test]
async fn a_query_of_the_base_url_stays_behind_the_path_and_is_in_no_error() {
    let server = TestServer::script([Answer::error(403, "no")]);
    let base_url = server.url("/v1/?api-version=1&code=hidden");
    let error = ask(&client(), &Target { base_url, ..openai(&server) }).await.unwrap_err().to_string();
    assert_eq!(server.asked()[0].path, "/v1/chat/completions?api-version=1&code=hidden");
    assert!(error.contains("/v1/chat/completions: ") && !error.contains("hidden"), "{error}");
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = TestServer::script([Answer::chat("{}")]);
    ask(&client(), &Target { api_key: None, ..openai(&server) }).await.unwrap();
    assert_eq!(header(&server.asked()[0], "authorization"), None);
}

/// <https://platform.openai.com/docs/api-reference/embeddings/create>.
#[tokio::test]
async fn openai_embeds_as_numbers() {
    let server = TestServer::script([Answer::embeddings(&[vec![1.0], vec![2.0]])]);
    let target = target(&server, Provider::OpenAi, "text-embedding-3-small");
    client().embed(&target, &["a", "b"]).await.unwrap();
    let asked = &server.asked()[0];
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
    let server = TestServer::script([Answer::json(200, &answer)]);
    let target = target(&server, Provider::Cohere, "embed-v4.0");
    let embedded = client().embed(&target, &["a", "b"]).await.unwrap();
    assert_eq!(embedded.vectors, [[1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(embedded.tokens, Tokens::new(2, 0));
    let asked = &server.asked()[0];
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
    let server = TestServer::script([Answer::json(200, &answer)]);
    let embedded = client().embed(&target(&server, Provider::Voyage, "voyage-4-lite"), &["a"]).await.unwrap();
    assert_eq!(embedded.tokens, Tokens::new(3, 0));
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/embeddings");
    assert_eq!(header(asked, "authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(asked.body, json!({"model": "voyage-4-lite", "input": ["a"]}));
}

/// <https://platform.openai.com/docs/api-reference/moderations/create>.
#[tokio::test]
async fn openai_moderates_a_text() {
    let scores = json!({"violence": 0.9, "illicit": null});
    let answer = json!({"id": "m", "model": "m", "results": [{"flagged": true, "category_scores": scores}]});
    let server = TestServer::script([Answer::json(200, &answer)]);
    let target = target(&server, Provider::OpenAi, "omni-moderation-latest");
    let found = client().moderate(&target, "a fight").await.unwrap();
    let category_scores = [("violence".to_owned(), 0.9)].into();
    assert_eq!(found, Moderation { flagged: true, category_scores });
    assert_eq!(server.asked()[0].path, "/v1/moderations");
    assert_eq!(server.asked()[0].body, json!({"model": "omni-moderation-latest", "input": "a fight"}));
}
