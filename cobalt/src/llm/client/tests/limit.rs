//! The limit of requests that are on their way at a time.

use std::sync::Arc;

use super::*;
use crate::llm::test_server::Answer;

#[tokio::test]
async fn no_more_requests_than_the_limit_are_on_their_way() {
    let server = TestServer::script([Answer::chat("{}").after(Duration::from_millis(10))]);
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
    assert_eq!((server.asked().len(), server.most_in_flight()), (12, 3));
}

#[tokio::test]
async fn a_call_that_waits_holds_up_no_other() {
    let is_slow = |body: &serde_json::Value| body["messages"][1]["content"] == "slow";
    let server = TestServer::start(move |asked| match is_slow(&asked.body) {
        true => Answer::error(429, "wait").header("retry-after-ms", "200"),
        false => Answer::chat("{}"),
    });
    let client = client_of(&ModelSettings { concurrency: 1, retries: 1, ..settings() });
    let (target, schema) = (openai(&server), schema());
    let slow = client.chat(&target, "", "slow", &schema);
    let fast = client.chat(&target, "", "fast", &schema);
    let (slow, fast) = tokio::join!(slow, fast);
    assert!(slow.is_err() && fast.is_ok());
    let order: Vec<_> = server.asked().iter().map(|asked| is_slow(&asked.body)).collect();
    assert_eq!(order, [true, false, true]);
}

/// A runtime whose tasks only go on while it waits for something.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_runtime_that_stands_still_or_has_ended_holds_up_no_other() {
    let server = TestServer::script([Answer::chat("{}")]);
    let client = client_of(&ModelSettings { retries: 0, ..settings() });
    let still = runtime();
    still.block_on(ask(&client, &openai(&server))).unwrap();
    for _ in 0..2 {
        runtime().block_on(ask(&client, &openai(&server))).unwrap();
    }
    still.block_on(ask(&client, &openai(&server))).unwrap();
}
