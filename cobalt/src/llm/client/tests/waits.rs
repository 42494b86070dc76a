//! How long a server may have us wait.

use super::*;
use crate::llm::test_server::Answer;

/// The time between the first two requests, where the first is answered by this.
async fn wait_after(answer: Answer) -> Duration {
    let server = TestServer::script([answer, Answer::chat("{}")]);
    ask(&client(), &openai(&server)).await.unwrap();
    let asked = server.asked();
    asked[1].at - asked[0].at
}

#[tokio::test]
async fn the_wait_that_a_server_asks_for_is_kept() {
    for (name, value) in [("retry-after-ms", "150"), ("retry-after", "0.15")] {
        let wait = wait_after(Answer::error(429, "slow down").header(name, value)).await;
        assert!(wait >= Duration::from_millis(150), "{name}: {wait:?}");
    }
}

#[tokio::test]
async fn without_a_wait_asked_for_it_is_the_usual_one() {
    let wait = wait_after(Answer::error(429, "slow down")).await;
    assert!(wait < Duration::from_millis(100), "{wait:?}");
}

#[tokio::test]
async fn too_long_a_wait_is_told_instead() {
    let server = TestServer::script([Answer::error(429, "slow down").header("retry-after", "3600")]);
    let error = ask(&client(), &openai(&server)).await.unwrap_err().to_string();
    assert!(error.ends_with("slow down; the server asks to wait 1h, try again after that"), "{error}");
    assert_eq!(server.asked().len(), 1);
}
