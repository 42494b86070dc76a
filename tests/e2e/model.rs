//! A local model server that approves every output, and plays users who always continue.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use serde_json::json;

/// Tokens per response: input, cached input, output.
pub(crate) const TOKENS: (u64, u64, u64) = (40_000, 20_000, 10);

/// The model's server; it stops when this is dropped.
pub(crate) struct Model {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    pub(crate) fn start() -> Self {
        Self::failing(|_| None)
    }

    /// A server that fails the first attempt at every fourth question, in turn with 429, a server error, or a truncated response:
    /// one in five calls, counting retries.
    pub(crate) fn failing_one_in_five() -> Self {
        let mut asked = HashSet::new();
        Self::failing(move |question| {
            let number = asked.len();
            let fails = asked.insert(question.to_vec()) && number % 4 == 0;
            fails.then(|| [Failure::Busy, Failure::Broken, Failure::Cut][number / 4 % 3])
        })
    }

    fn failing(mut fails: impl FnMut(&[u8]) -> Option<Failure> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port is known");
        let (asked, stops) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (for_thread, is_over) = (Arc::clone(&asked), Arc::clone(&stops));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                // The client may disconnect.
                let _ = answer(stream, &for_thread, &mut fails);
            }
        });
        Self { address, asked, stops, thread: Some(thread) }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Number of requests received.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::SeqCst);
        // Unblock `accept`.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How a call fails.
#[derive(Clone, Copy)]
enum Failure {
    Busy,
    Broken,
    Cut,
}

/// Answers one request and closes the connection.
fn answer(
    stream: TcpStream,
    asked: &AtomicUsize,
    fails: &mut impl FnMut(&[u8]) -> Option<Failure>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut question = vec![0; length];
    reader.read_exact(&mut question)?;
    asked.fetch_add(1, Ordering::SeqCst);
    let failure = fails(&question);
    let (input, cached, output) = TOKENS;
    let verdict = json!({
        "chainOfThought": "It is said.", "reason": "it says so", "verdict": true,
        "message": "Go on.", "status": "continue", "mistakes": [],
    });
    let body = json!({
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": verdict.to_string()},
            "finish_reason": "stop",
        }],
        "usage": {
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    });
    let body = body.to_string();
    let (status, sent) = match failure {
        None => ("200 OK", body.len()),
        Some(Failure::Busy) => ("429 Too Many Requests\r\nretry-after-ms: 5", 0),
        Some(Failure::Broken) => ("500 Internal Server Error", 0),
        Some(Failure::Cut) => ("200 OK", body.len() / 2),
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
    let length = if sent == 0 { 0 } else { body.len() };
    write!(reader.get_mut(), "{head}content-length: {length}\r\n\r\n{}", &body[..sent])
}
