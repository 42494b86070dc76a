//! One client of reqwest-middleware for all items.
#![cfg(feature = "reqwest-middleware")]

mod common;

use cobalt_clients::reqwest_middleware::Attribution;
use common::reply::{TOOL_TURNS, TURNS};
use common::{Counts, ITEMS, Server, for_each_item, header_of_task, prompt};
use reqwest_middleware::ClientBuilder;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_request_has_its_items_header() {
    let server = Server::start().await;
    let attribution = Attribution::with_source(header_of_task);
    let client = ClientBuilder::new(reqwest::Client::new()).with(attribution).build();
    for_each_item(|item| {
        let (client, url) = (client.clone(), server.url.clone());
        async move {
            let mut messages = vec![json!({ "role": "user", "content": prompt(item) })];
            for turn in 0..TURNS {
                let body = json!({ "model": "m", "messages": messages, "tools": [{}] });
                let answer: Value = client.post(&url).json(&body).send().await.unwrap().json().await.unwrap();
                let message = answer["choices"][0]["message"].clone();
                assert_eq!(message.get("tool_calls").is_some(), turn < TOOL_TURNS);
                messages.extend([message, json!({ "role": "tool", "content": "1" })]);
            }
        }
    })
    .await;
    assert_eq!(server.take_counts(), Counts::all_right(ITEMS * TURNS));
}

#[tokio::test]
async fn a_header_of_its_own_is_kept_and_nothing_is_added_outside_of_an_item() {
    let server = Server::start().await;
    let attribution = Attribution::with_source(|| Some(("x-cobalt-execution", "1".to_owned())));
    let client = ClientBuilder::new(reqwest::Client::new()).with(attribution).build();
    let body = json!({ "messages": [{ "role": "user", "content": prompt(2) }] });
    client.post(&server.url).header("x-cobalt-execution", "2").json(&body).send().await.unwrap();
    assert_eq!(server.take_counts(), Counts::all_right(1));

    let outside = ClientBuilder::new(reqwest::Client::new()).with(Attribution::new()).build();
    outside.post(&server.url).json(&body).send().await.unwrap();
    assert_eq!(server.take_counts(), Counts { missing: 1, ..Counts::default() });
}
