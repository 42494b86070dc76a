//! A local server with a dataset that counts requests.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

/// Long enough for another process to send a request, too.
const PAUSE: Duration = Duration::from_millis(100);

/// State shared by the server and the test.
#[derive(Default)]
struct State {
    /// The required `Authorization` header, if any.
    authorization: Option<&'static str>,
    /// The delay of each response.
    takes: Duration,
    /// The items as lines; `None` makes the server fail.
    text: Mutex<Option<String>>,
    asked: AtomicUsize,
    stops: AtomicBool,
}

/// The server; it stops when this is dropped.
pub(crate) struct Source {
    address: SocketAddr,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Source {
    pub(crate) fn of(items: impl IntoIterator<Item = Value>) -> Self {
        Self::start(items, State { takes: PAUSE, ..State::default() })
    }

    /// A server that requires authorization.
    pub(crate) fn locked(items: impl IntoIterator<Item = Value>, authorization: &'static str) -> Self {
        Self::start(items, State { authorization: Some(authorization), ..State::default() })
    }

    /// A server that is slow enough for a progress message.
    pub(crate) fn slow(items: impl IntoIterator<Item = Value>) -> Self {
        Self::start(items, State { takes: Duration::from_millis(1500), ..State::default() })
    }

    fn start(items: impl IntoIterator<Item = Value>, state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port is known");
        let state = Arc::new(state);
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.stops.load(Ordering::SeqCst) {
                    return;
                }
                // The client may disconnect.
                let _ = answer(&stream, &shared);
            }
        });
        let source = Self { address, state, thread: Some(thread) };
        source.has(items);
        source
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/support.jsonl", self.address)
    }

    /// Replaces the items.
    pub(crate) fn has(&self, items: impl IntoIterator<Item = Value>) {
        let text = items.into_iter().map(|item| format!("{item}\n")).collect();
        *self.state.text.lock().unwrap() = Some(text);
    }

    /// Makes all requests fail.
    pub(crate) fn breaks(&self) {
        *self.state.text.lock().unwrap() = None;
    }

    /// Number of requests received.
    pub(crate) fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.state.stops.store(true, Ordering::SeqCst);
        // Unblock `accept`.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(mut stream: &TcpStream, state: &State) -> std::io::Result<()> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let head: Vec<_> = lines.collect();
    if head.is_empty() {
        return Ok(());
    }
    state.asked.fetch_add(1, Ordering::SeqCst);
    std::thread::sleep(state.takes);
    let is = |wanted: &str| {
        let headers = head.iter().filter_map(|line| line.split_once(": "));
        headers.into_iter().any(|(name, value)| name.eq_ignore_ascii_case("authorization") && value == wanted)
    };
    let text = state.text.lock().unwrap().clone();
    let (status, body) = match &text {
        _ if !state.authorization.is_none_or(is) => ("401 Unauthorized", ""),
        Some(text) => ("200 OK", &**text),
        None => ("503 Service Unavailable", ""),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/jsonl\r\netag: \"{}\"\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len(),
        body.len()
    )
}
