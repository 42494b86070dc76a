//! A model server that checks the attribution of each request, and a thousand items that ask it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub const ITEMS: usize = 1_000;
const CONCURRENCY: usize = 32;
/// The turns in which the server asks for a tool.
pub const TOOL_TURNS: usize = 3;
/// The requests of an item whose agent calls tools.
pub const TURNS: usize = TOOL_TURNS + 1;

const HEADER: &str = "x-cobalt-execution";

tokio::task_local! {
    static ITEM: usize;
}

/// Stands in for `cobalt::recording::current_header`.
pub fn header_of_task() -> Option<(&'static str, String)> {
    ITEM.try_with(|item| (HEADER, item.to_string())).ok()
}

/// A prompt that names the item.
pub fn prompt(item: usize) -> String {
    format!("item {item}: count")
}

/// Runs all items, each in its own task, and waits for them.
pub async fn for_each_item<F: Future<Output = ()> + Send + 'static>(ask: impl Fn(usize) -> F) {
    let permits = Arc::new(Semaphore::new(CONCURRENCY));
    let mut tasks = JoinSet::new();
    for item in 0..ITEMS {
        let (permits, ask) = (Arc::clone(&permits), ask(item));
        tasks.spawn(async move {
            let _permit = permits.acquire().await.unwrap();
            ITEM.scope(item, ask).await;
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
}

/// Requests by their attribution.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub right: usize,
    pub swapped: usize,
    pub missing: usize,
}

impl Counts {
    pub fn all_right(requests: usize) -> Self {
        Self { right: requests, ..Self::default() }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Server {
    counters: Arc<[AtomicUsize; 3]>,
    /// The base URL, with its `/v1`.
    pub url: String,
}

impl Server {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = Self { counters: Arc::default(), url };
        let app = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        server
    }

    /// The counts since the last call.
    pub fn take_counts(&self) -> Counts {
        let [right, swapped, missing] = [0, 1, 2].map(|n| self.counters[n].swap(0, Relaxed));
        Counts { right, swapped, missing }
    }
}

async fn answer(State(server): State<Server>, headers: HeaderMap, body: String) -> Response {
    let (_, after) = body.split_once("item ").expect("a prompt names its item");
    let (item, _) = after.split_once(':').unwrap();
    let outcome = match headers.get(HEADER) {
        Some(value) if value == item => 0,
        Some(_) => 1,
        None => 2,
    };
    server.counters[outcome].fetch_add(1, Relaxed);
    // The items overtake each other.
    tokio::time::sleep(Duration::from_millis(item.len() as u64 + item.parse::<u64>().unwrap() * 7 % 5)).await;
    reply(item, &serde_json::from_str(&body).unwrap())
}

/// A chat completion: a call of the tool `count`, or the end.
fn reply(item: &str, request: &Value) -> Response {
    let results = request["messages"]
        .as_array()
        .map_or(0, |messages| messages.iter().filter(|message| message["role"] == "tool").count());
    let with_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let (mut message, finish) = if with_tools && results < TOOL_TURNS {
        let arguments = json!({ "item": item.parse::<usize>().unwrap() }).to_string();
        let call = json!({
            "index": 0, "id": format!("call-{results}"), "type": "function",
            "function": { "name": "count", "arguments": arguments },
        });
        (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
    } else {
        (json!({ "role": "assistant", "content": format!("done {item}") }), "stop")
    };
    let base = json!({ "id": "1", "created": 1, "model": "m", "object": "chat.completion" });
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
    let (kind, body) = if request["stream"] == true {
        let chunk = |choices: Value, usage: Value| {
            let mut chunk = base.clone();
            chunk["object"] = "chat.completion.chunk".into();
            chunk["choices"] = choices;
            chunk["usage"] = usage;
            format!("data: {chunk}\n\n")
        };
        let delta = json!([{ "index": 0, "delta": message, "finish_reason": null }]);
        let end = json!([{ "index": 0, "delta": {}, "finish_reason": finish }]);
        let chunks = [chunk(delta, Value::Null), chunk(end, Value::Null), chunk(json!([]), usage)];
        ("text/event-stream", format!("{}data: [DONE]\n\n", chunks.concat()))
    } else {
        if let Some(call) = message.get_mut("tool_calls").and_then(|calls| calls[0].as_object_mut()) {
            call.remove("index");
        }
        let mut body = base;
        body["choices"] = json!([{ "index": 0, "message": message, "finish_reason": finish }]);
        body["usage"] = usage;
        ("application/json", body.to_string())
    };
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}
