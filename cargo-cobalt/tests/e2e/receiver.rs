//! A local server that records requests and gives scripted answers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::Value;

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The method and the path.
    pub(crate) line: String,
    /// By lower-case name.
    pub(crate) headers: BTreeMap<String, String>,
    /// As text, with replacements if it is none.
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

impl Received {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A scripted answer.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// This status, with additional header lines.
    Status(u16, &'static str),
    /// This JSON text.
    Json(String),
    /// No answer while the server runs.
    Never,
}

/// The server; stops when dropped.
pub(crate) struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Gives these answers, one per request; the last one is repeated.
    pub(crate) fn start(answers: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (received, stopped) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (notes, is_over, answers) = (Arc::clone(&received), Arc::clone(&stopped), answers.to_vec());
        let thread = thread::spawn(move || {
            let mut unanswered = Vec::new();
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let mut stream = stream.unwrap();
                if speaks_tls(&stream) {
                    let _ = stream.write_all(b"HTTP/1.1 400 No TLS here\r\n\r\n");
                    continue;
                }
                let Some(request) = read(&stream) else { continue };
                let mut notes = notes.lock().unwrap();
                let answer = answers.get(notes.len()).or(answers.last()).cloned();
                notes.push(request);
                match answer {
                    Some(Reply::Status(status, head)) => {
                        let end = "content-length: 0\r\nconnection: close\r\n\r\n";
                        let _ = write!(stream, "HTTP/1.1 {status} Scripted\r\n{head}{end}");
                    }
                    Some(Reply::Json(text)) => {
                        let head =
                            "HTTP/1.1 200 Scripted\r\ncontent-type: application/json\r\nconnection: close";
                        let _ = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len());
                    }
                    _ => unanswered.push(stream),
                }
            }
        });
        Self { address, received, stopped, thread: Some(thread) }
    }

    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Whether the data starts like a TLS handshake.
fn speaks_tls(stream: &TcpStream) -> bool {
    let mut first = [0];
    stream.peek(&mut first).is_ok_and(|read| read == 1) && first == [0x16]
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut lines = BufReader::new(stream);
    let line = line(&mut lines)?;
    let mut headers = BTreeMap::new();
    while let Some((name, value)) = self::line(&mut lines)?.split_once(": ") {
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(Some(0), |length| length.parse().ok())?;
    let mut bytes = vec![0; length];
    lines.read_exact(&mut bytes).ok()?;
    Some(Received { line, headers, body: String::from_utf8_lossy(&bytes).into_owned(), bytes })
}

fn line(lines: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).ok()?;
    Some(String::from_utf8(line).ok()?.trim_end().to_owned())
}
