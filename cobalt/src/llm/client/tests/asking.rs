//! The plain case: a question, its request, its answer.

use serde_json::json;

use super::*;
use crate::llm::prices::Tokens;
use crate::llm::test_server::Answer;

#[tokio::test]
async fn a_question_is_answered() {
    let server = TestServer::script([Answer::chat(r#"{"score": 1}"#)]);
    let reply = ask(&client(), &openai(&server)).await.unwrap();
    assert_eq!(reply, Reply { text: r#"{"score": 1}"#.to_owned(), tokens: Tokens::new(40, 10) });
    assert_eq!(server.asked()[0].path, "/v1/chat/completions");
}

#[tokio::test]
async fn embeddings_come_in_the_order_of_the_texts() {
    let rows = json!([{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.5]}]);
    let usage = json!({"prompt_tokens": 8, "total_tokens": 8});
    let server = TestServer::script([Answer::json(200, &json!({"data": rows, "usage": usage}))]);
    let embedded = client().embed(&openai(&server), &["a", "b"]).await.unwrap();
    assert_eq!(embedded.vectors, [[1.0, 0.5], [0.0, 1.0]]);
    assert_eq!(embedded.tokens, Tokens::new(8, 0));
}
