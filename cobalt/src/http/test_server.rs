//! An HTTP server on localhost with scripted responses, for tests.
//!
//! It runs on its own thread, so it responds regardless of the test's runtime, and stops on drop.

use std::collections::BTreeMap;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    /// With the query, if there is one.
    pub(crate) path: String,
    /// With lower-case names.
    pub(crate) headers: BTreeMap<String, String>,
    /// `null` if it is not JSON.
    pub(crate) body: Value,
    pub(crate) at: Instant,
}

/// A scripted response.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedResponse {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    delay: Duration,
    /// Closes the connection after this number of bytes of the body.
    cut: Option<usize>,
    /// Whether the body is chunked, without a content length.
    chunked: bool,
    /// The chunk size in bytes.
    piece: usize,
    /// The pause between chunks.
    pause: Duration,
    never: bool,
}

impl ScriptedResponse {
    pub(crate) fn text(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            delay: Duration::ZERO,
            cut: None,
            chunked: false,
            piece: 64 * 1024,
            pause: Duration::ZERO,
            never: false,
        }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, body.to_string()).header("content-type", "application/json")
    }

    /// Accepts the request and never responds.
    pub(crate) fn never() -> Self {
        Self { never: true, ..Self::text(200, "") }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(crate) fn cut_after(self, bytes: usize) -> Self {
        Self { cut: Some(bytes), ..self }
    }

    pub(crate) fn in_pieces(self) -> Self {
        Self { chunked: true, ..self }
    }

    /// In chunks of this size, with a pause between them.
    pub(crate) fn every(self, pause: Duration, piece: usize) -> Self {
        Self { pause, piece, ..self.in_pieces() }
    }
}

/// The requests so far.
#[derive(Debug, Default)]
struct Seen {
    asked: Mutex<Vec<ReceivedRequest>>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
}

/// The server; it stops on drop.
#[derive(Debug)]
pub(crate) struct TestServer {
    address: SocketAddr,
    seen: Arc<Seen>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    /// Responds to each request with the result of a function.
    pub(crate) fn start(
        answer: impl Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static,
    ) -> Self {
        let (seen, (stop, stopped), (tell, told)) =
            (Arc::new(Seen::default()), oneshot::channel(), mpsc::channel());
        let for_thread = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                tokio::select! {
                    _ = stopped => {}
                    () = serve(listener, Arc::new(answer), for_thread) => {}
                }
            });
        });
        let address = told.recv().unwrap();
        Self { address, seen, stop: Some(stop), thread: Some(thread) }
    }

    /// Responds with these in order; the last one repeats.
    pub(crate) fn script(answers: impl Into<Vec<ScriptedResponse>>) -> Self {
        let (answers, next) = (answers.into(), AtomicUsize::new(0));
        Self::start(move |_| answers[next.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1)].clone())
    }

    /// The URL of a path, which starts with `/` or is empty.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, in order.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.seen.asked.lock().unwrap().clone()
    }

    /// The maximum number of concurrent requests.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.seen.most_in_flight.load(Ordering::Relaxed)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // If the thread panicked, it has already ended.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

async fn serve<F>(listener: TcpListener, answer: Arc<F>, seen: Arc<Seen>)
where
    F: Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static,
{
    while let Ok((stream, _)) = listener.accept().await {
        let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
        // Otherwise the body may be delayed until the client acknowledges the head.
        stream.set_nodelay(true).unwrap();
        tokio::spawn(async move {
            let mut stream = BufReader::new(stream);
            while let Some(asked) = read(&mut stream).await {
                seen.asked.lock().unwrap().push(asked.clone());
                let in_flight = seen.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
                seen.most_in_flight.fetch_max(in_flight, Ordering::Relaxed);
                let answer = answer(&asked);
                tokio::time::sleep(answer.delay).await;
                seen.in_flight.fetch_sub(1, Ordering::Relaxed);
                if write(&mut stream, &answer).await.is_err() || answer.cut.is_some() {
                    return;
                }
            }
        });
    }
}

/// The next request of a connection; `None` if there is none.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let request = line(stream).await?;
    let mut words = request.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    while let Some((name, value)) = line(stream).await?.split_once(':') {
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(ReceivedRequest { method, path, headers, body, at: Instant::now() })
}

async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    Some(line.trim_end().to_owned())
}

async fn write(stream: &mut BufReader<TcpStream>, answer: &ScriptedResponse) -> std::io::Result<()> {
    if answer.never {
        return pending().await;
    }
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &match answer.chunked {
        _ if answer.headers.iter().any(|(name, _)| name == "content-length") => "\r\n".to_owned(),
        true => "transfer-encoding: chunked\r\n\r\n".to_owned(),
        false => format!("content-length: {}\r\n\r\n", answer.body.len()),
    };
    stream.write_all(head.as_bytes()).await?;
    let body = &answer.body[..answer.cut.unwrap_or(usize::MAX).min(answer.body.len())];
    if answer.chunked {
        for (index, piece) in body.chunks(answer.piece).enumerate() {
            if index > 0 {
                tokio::time::sleep(answer.pause).await;
            }
            stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
            stream.write_all(piece).await?;
            stream.write_all(b"\r\n").await?;
        }
        if answer.cut.is_none() {
            stream.write_all(b"0\r\n\r\n").await?;
        }
    } else {
        stream.write_all(body).await?;
    }
    stream.flush().await
}
