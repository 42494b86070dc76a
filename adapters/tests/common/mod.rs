//! A model server that checks the attribution of each request, and a thousand items that ask it.

pub mod reply;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub const ITEMS: usize = 250;
const CONCURRENCY: usize = 32;

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
    let item = reply::item_of(&body);
    let outcome = match headers.get(HEADER) {
        Some(value) if value == item => 0,
        Some(_) => 1,
        None => 2,
    };
    server.counters[outcome].fetch_add(1, Relaxed);
    // The items overtake each other.
    tokio::time::sleep(Duration::from_millis(item.len() as u64 + item.parse::<u64>().unwrap() * 7 % 5)).await;
    reply::reply(item, &format!("done {item}"), &serde_json::from_str(&body).unwrap())
}
