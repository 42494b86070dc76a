//! A scripted model server. Each conversation has an answer of its own, and so has each time it is sent.

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use tokio::sync::{Notify, oneshot};

use crate::reply;

/// The key that the server requires.
pub const KEY: &str = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";

/// The server; it stops when this is dropped.
pub struct Model {
    /// The base URL, with its `/v1`.
    pub url: String,
    script: Arc<Script>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Script {
    requests: AtomicUsize,
    /// How often each conversation was sent.
    takes: Mutex<HashMap<String, usize>>,
    /// The requests since the server started.
    arrivals: AtomicUsize,
    second_arrived: Notify,
}

impl Model {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let script = Arc::<Script>::default();
        let app = Router::new().fallback(answer).with_state(Arc::clone(&script));
        let (stop, stopped) = oneshot::channel();
        // On a thread of its own, so that nothing of it is left when it has stopped.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    served = axum::serve(listener, app) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        Self { url, script, stop: Some(stop), thread: Some(thread) }
    }

    /// The requests since the last call.
    pub fn take_requests(&self) -> usize {
        self.script.requests.swap(0, Ordering::SeqCst)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // The thread may have ended with an error, which `join` reports.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

async fn answer(State(script): State<Arc<Script>>, headers: HeaderMap, body: String) -> Response {
    script.requests.fetch_add(1, Ordering::SeqCst);
    let authorized = headers.get(header::AUTHORIZATION).is_some_and(|it| it == &format!("Bearer {KEY}"));
    if !authorized || headers.contains_key("x-cobalt-execution") {
        return (StatusCode::UNAUTHORIZED, "a request without the key, or with a header of Cobalt")
            .into_response();
    }
    // Two items are in progress when the second request arrives, so only its content or an exact way can tell whose it is.
    match script.arrivals.fetch_add(1, Ordering::SeqCst) {
        0 => script.second_arrived.notified().await,
        1 => script.second_arrived.notify_one(),
        _ => {}
    }
    let take = {
        let mut takes = script.takes.lock().unwrap();
        let take = takes.entry(body.clone()).or_default();
        *take += 1;
        *take
    };
    let item = reply::item_of(&body);
    // The items overtake each other.
    tokio::time::sleep(Duration::from_millis(item.parse::<u64>().unwrap() * 7 % 5)).await;
    let answer =
        reply::reply(item, &format!("done {item}, take {take}"), &serde_json::from_str(&body).unwrap());
    with_pauses(answer).await
}

/// The events of a stream one after another, each after a pause.
async fn with_pauses(answer: Response) -> Response {
    if answer.headers()[header::CONTENT_TYPE] != "text/event-stream" {
        return answer;
    }
    let (head, body) = answer.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let events: Vec<_> =
        std::str::from_utf8(&body).unwrap().split_inclusive("\n\n").map(str::to_owned).collect();
    let events = futures_util::stream::iter(events).then(async |event| {
        tokio::time::sleep(Duration::from_millis(2)).await;
        Ok::<_, std::convert::Infallible>(event)
    });
    Response::from_parts(head, Body::from_stream(events))
}
