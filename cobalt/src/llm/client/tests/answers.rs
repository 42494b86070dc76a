//! Responses, valid and invalid.

use cobalt_core::prices::Tokens;
use serde_json::{Value, json};

use super::*;
use crate::llm::test_server::ScriptedResponse;

const VERDICT: &str = r#"{"score": 1}"#;

/// The result of OpenAI's response with this choice.
async fn of_choice(choice: Value) -> Result<Reply, ClientError> {
    let usage = json!({"prompt_tokens": 40, "completion_tokens": 10});
    let answer = json!({"choices": [choice], "usage": usage});
    ask(&client(), &openai(&TestServer::script([ScriptedResponse::json(200, &answer)]))).await
}

/// The result of Anthropic's response.
async fn of_message(answer: Value) -> Result<Reply, ClientError> {
    let server = TestServer::script([ScriptedResponse::json(200, &answer)]);
    ask(&client(), &target(&server, Provider::Anthropic, "claude-haiku-4-5")).await
}

/// The problem with a response, and the tokens it used nevertheless.
fn malformed(reply: Result<Reply, ClientError>) -> (String, Tokens) {
    match reply {
        Err(ClientError::Malformed { problem, tokens }) => (problem, tokens),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_text_is_the_answer() {
    let server = TestServer::script([ScriptedResponse::chat(VERDICT)]);
    let reply = ask(&client(), &openai(&server)).await.unwrap();
    assert_eq!(reply, Reply { text: VERDICT.to_owned(), tokens: Tokens::new(40, 10) });
}

#[tokio::test]
async fn the_texts_of_a_list_are_the_answer() {
    let parts = json!([{"type": "text", "text": "{\"score\""}, {"type": "text", "text": ": 1}"}]);
    let reply = of_choice(json!({"message": {"content": parts}})).await.unwrap();
    assert_eq!(reply.text, VERDICT);
}

#[tokio::test]
async fn the_arguments_of_the_first_call_of_the_tool_are_the_answer() {
    let call = |arguments| json!({"function": {"name": "verdict", "arguments": arguments}});
    let calls = json!([call(json!(VERDICT)), call(json!("{}"))]);
    let reply = of_choice(json!({"message": {"content": null, "tool_calls": calls}})).await.unwrap();
    assert_eq!(reply.text, VERDICT);
    let calls = json!([call(json!({"score": 1}))]);
    let reply = of_choice(json!({"message": {"tool_calls": calls}})).await.unwrap();
    assert_eq!(reply.text, r#"{"score":1}"#);
}

#[tokio::test]
async fn a_call_of_another_tool_is_no_answer() {
    let calls = json!([{"function": {"name": "search", "arguments": VERDICT}}]);
    let (problem, tokens) = malformed(of_choice(json!({"message": {"tool_calls": calls}})).await);
    assert!(
        problem.ends_with("the model called the tool `search`, but was asked to call `verdict`"),
        "{problem}"
    );
    assert_eq!(tokens, Tokens::new(40, 10));
    let block = json!({"type": "tool_use", "name": "search", "input": {}});
    let (problem, _) = malformed(of_message(json!({"content": [block]})).await);
    assert!(
        problem.ends_with("the model called the tool `search`, but was asked to call `verdict`"),
        "{problem}"
    );
}

#[tokio::test]
async fn an_answer_of_no_use_says_why() {
    let text = |content: &str| json!({"role": "assistant", "content": content});
    let cases = [
        (json!({"message": text("{\"sc"), "finish_reason": "length"}), "was truncated by the token limit"),
        (json!({"message": text(""), "finish_reason": "content_filter"}), "was blocked by a content filter"),
        (json!({"message": {"content": null, "refusal": "I will not."}}), "refused to answer: I will not."),
        (json!({"message": text(" \n")}), "contains neither text nor a tool call"),
        (json!({"message": {"content": null}}), "contains neither text nor a tool call"),
    ];
    for (choice, expected) in cases {
        let (problem, tokens) = malformed(of_choice(choice).await);
        assert!(problem.ends_with(expected), "{problem}");
        assert_eq!(tokens, Tokens::new(40, 10), "{expected}");
    }
}

#[tokio::test]
async fn a_message_of_no_use_says_why() {
    let text = json!([{"type": "text", "text": "{\"sc"}]);
    let cases = [
        (json!({"content": text, "stop_reason": "max_tokens"}), "was truncated by the token limit"),
        (json!({"content": text, "stop_reason": "refusal"}), "the model refused to answer"),
        (json!({"content": [], "stop_reason": "end_turn"}), "contains neither text nor a tool call"),
        (json!({"type": "message"}), "has no list of contents"),
    ];
    for (answer, expected) in cases {
        let (problem, _) = malformed(of_message(answer).await);
        assert!(problem.ends_with(expected), "{problem}");
    }
}

#[tokio::test]
async fn what_is_thought_before_the_text_is_left_out() {
    let content = json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": VERDICT}]);
    assert_eq!(of_message(json!({"content": content})).await.unwrap().text, VERDICT);
}

#[tokio::test]
async fn an_answer_that_is_no_json_names_who_sent_it() {
    let server = TestServer::script([ScriptedResponse::text(200, "<html>Welcome</html>")]);
    let (problem, tokens) = malformed(ask(&client(), &openai(&server)).await);
    let whom =
        format!("openai `gpt-4o-mini` at {}: ", server.url("/v1/chat/completions").replace("http://", ""));
    assert!(problem.starts_with(&format!("{whom}the response contains no valid JSON")), "{problem}");
    assert_eq!(tokens, Tokens::default());
}

#[tokio::test]
async fn an_empty_list_of_choices_is_no_answer() {
    let usage = json!({"prompt_tokens": 40, "completion_tokens": 0});
    let server = TestServer::script([ScriptedResponse::json(200, &json!({"choices": [], "usage": usage}))]);
    let (problem, tokens) = malformed(ask(&client(), &openai(&server)).await);
    assert!(problem.ends_with("the response contains no choice"), "{problem}");
    assert_eq!(tokens, Tokens::new(40, 0));
}

#[tokio::test]
async fn an_error_that_comes_as_an_answer_is_told() {
    let server = TestServer::script([ScriptedResponse::error(200, "the upstream is gone")]);
    let (problem, _) = malformed(ask(&client(), &openai(&server)).await);
    assert!(problem.ends_with("the response is an error: the upstream is gone"), "{problem}");
}

#[tokio::test]
async fn tokens_read_from_the_cache_are_among_those_of_the_input() {
    let expected = Tokens { input: 2_060, output: 10, cached_input: 2_000 };
    // As in <https://platform.openai.com/docs/guides/prompt-caching>: part of `prompt_tokens`.
    let usage = json!({
        "prompt_tokens": 2_060, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 2_000},
    });
    let answer = json!({"choices": [{"message": {"content": VERDICT}}], "usage": usage});
    let server = TestServer::script([ScriptedResponse::json(200, &answer)]);
    assert_eq!(ask(&client(), &openai(&server)).await.unwrap().tokens, expected);
    // As in <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>: in addition to `input_tokens`.
    let usage = json!({
        "input_tokens": 40, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 2_000, "output_tokens": 10,
    });
    let content = json!([{"type": "text", "text": VERDICT}]);
    assert_eq!(of_message(json!({"content": content, "usage": usage})).await.unwrap().tokens, expected);
}

#[tokio::test]
async fn an_answer_that_does_not_say_what_it_used_used_nothing() {
    let answer = json!({"choices": [{"message": {"content": VERDICT}}]});
    let server = TestServer::script([ScriptedResponse::json(200, &answer)]);
    assert_eq!(ask(&client(), &openai(&server)).await.unwrap().tokens, Tokens::default());
}

#[tokio::test]
async fn a_compressed_answer_is_read() {
    // `{"choices":[{"message":{"content":"{}"}}]}`, gzipped.
    let body = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 74, 206, 200, 207, 76, 78, 45, 86, 178, 138, 174, 86, 202,
        77, 45, 46, 78, 76, 79, 85, 178, 170, 86, 74, 206, 207, 43, 73, 205, 43, 81, 178, 82, 170, 174, 85,
        170, 173, 141, 173, 5, 0, 21, 199, 67, 154, 42, 0, 0, 0,
    ];
    let server = TestServer::script([ScriptedResponse::text(200, body).header("content-encoding", "gzip")]);
    assert_eq!(ask(&client(), &openai(&server)).await.unwrap().text, "{}");
    assert_eq!(server.requests()[0].headers["accept-encoding"], "gzip");
}

#[tokio::test]
async fn an_answer_of_fifty_megabytes_is_not_read() {
    let body = vec![b' '; 50_000_000];
    // Reading it can be slow on a busy machine.
    let client = client_of(&ModelSettings { timeout: Duration::from_secs(30), ..settings() });
    for answer in [ScriptedResponse::text(200, body.clone()), ScriptedResponse::text(200, body).in_pieces()] {
        let server = TestServer::script([answer]);
        let error = ask(&client, &openai(&server)).await.unwrap_err().to_string();
        assert!(error.ends_with("the response exceeds 16 MiB"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn embeddings_come_in_the_order_of_the_texts() {
    let rows = json!([{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.5]}]);
    let usage = json!({"prompt_tokens": 8, "total_tokens": 8});
    let server = TestServer::script([ScriptedResponse::json(200, &json!({"data": rows, "usage": usage}))]);
    let embedded = client().embed(&openai(&server), &["a", "b"]).await.unwrap();
    assert_eq!(embedded.vectors, [[1.0, 0.5], [0.0, 1.0]]);
    assert_eq!(embedded.tokens, Tokens::new(8, 0));
}

#[tokio::test]
async fn what_is_said_of_a_long_answer_is_short() {
    let server = TestServer::script([ScriptedResponse::json(200, &json!({"data": "x".repeat(100_000)}))]);
    let error = client().embed(&openai(&server), &["a"]).await.unwrap_err().to_string();
    assert!(
        error.contains("the response contains no valid embeddings") && error.len() < 1_000,
        "{}",
        error.len()
    );
}

#[tokio::test]
async fn embeddings_that_do_not_fit_the_texts_are_no_answer() {
    let cases = [
        (vec![vec![1.0]], "the response contains 1 embeddings for 2 texts"),
        (
            vec![vec![1.0], vec![1.0, 2.0]],
            "the response contains embeddings that are empty or differ in length",
        ),
        (vec![vec![], vec![]], "the response contains embeddings that are empty or differ in length"),
    ];
    for (vectors, expected) in cases {
        let server = TestServer::script([ScriptedResponse::embeddings(&vectors)]);
        match client().embed(&openai(&server), &["a", "b"]).await {
            Err(ClientError::Malformed { problem, tokens }) => {
                assert!(problem.ends_with(expected), "{problem}");
                assert_eq!(tokens, Tokens::new(8, 0));
            }
            other => panic!("{other:?}"),
        }
    }
}
