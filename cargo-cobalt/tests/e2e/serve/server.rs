//! The server as a process, with an HTTP client over plain TCP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{COBALT, program};

/// Timeout for things that should happen immediately.
const PATIENCE: Duration = Duration::from_secs(20);

/// `cargo cobalt serve` in a folder; stops when dropped.
pub(super) struct Server {
    pub(super) child: Child,
    /// The host and port of the printed URL.
    pub(super) host: String,
    /// Its output so far.
    said: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts it on a free local port.
    pub(super) fn at(folder: &Path) -> Self {
        Self::by(command(folder, &["--port", "0"]))
    }

    /// Starts a command that runs a server.
    pub(super) fn by(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *heard.lock().unwrap() += &(line + "\n");
            }
        });
        let mut server = Self { child, host: String::new(), said, reader: Some(reader) };
        server.host = server.hear(|said| {
            let (_, address) = said.split_once("dashboard: http://")?;
            let (address, _) = address.split_once("; press Ctrl-C to stop\n")?;
            Some(address.split(['/', ' ']).next().unwrap().to_owned())
        });
        server
    }

    /// Waits until its output matches.
    pub(super) fn hear<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = find(&self.said.lock().unwrap()) {
                return found;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && begin.elapsed() < PATIENCE,
                "{ended:?}: {}",
                self.said.lock().unwrap()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(super) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    pub(super) fn port(&self) -> &str {
        self.host.rsplit_once(':').unwrap().1
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.host)
    }

    /// Opens a connection and sends these bytes.
    pub(super) fn connect(&self, bytes: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&*self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        stream
    }

    /// Sends a request with only these head lines.
    pub(super) fn ask(&self, lines: &[&str]) -> ServerResponse {
        let mut stream = self.connect(&format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n")));
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        ServerResponse::read(&bytes)
    }

    /// Requests a path with additional headers; HTTP/1.0, as its responses are not chunked.
    pub(super) fn get(&self, path: &str, further: &[&str]) -> ServerResponse {
        let (line, host) = (format!("GET {path} HTTP/1.0"), format!("Host: {}", self.host));
        self.ask(&[&[&*line, &*host], further].concat())
    }

    /// The write token in the printed link.
    pub(super) fn token(&self) -> String {
        let said = self.said();
        let (_, token) = said.split_once("/#token=").unwrap_or_else(|| panic!("no token: {said}"));
        token.split(' ').next().unwrap().to_owned()
    }

    /// Sends a JSON body as the page does.
    pub(super) fn send(&self, method: &str, path: &str, body: &Value) -> ServerResponse {
        let (origin, token) =
            (format!("Origin: {}", self.url()), format!("X-Cobalt-Token: {}", self.token()));
        let further = [&*origin, &token, "Content-Type: application/json", "Sec-Fetch-Site: same-origin"];
        self.send_with(method, path, &further, &body.to_string())
    }

    /// Sends a body with these headers.
    pub(super) fn send_with(&self, method: &str, path: &str, further: &[&str], body: &str) -> ServerResponse {
        let (line, host) = (format!("{method} {path} HTTP/1.0"), format!("Host: {}", self.host));
        let length = format!("Content-Length: {}", body.len());
        let head = [&[&*line, &host, &length], further].concat().join("\r\n");
        let mut stream = self.connect(&format!("{head}\r\n\r\n"));
        // The server may close the connection before it has read a body that it rejects.
        let _ = stream.write_all(body.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        ServerResponse::read(&bytes)
    }

    /// The JSON response; the status must be 200.
    #[track_caller]
    pub(super) fn json(&self, path: &str) -> Value {
        let answer = self.get(path, &[]);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        serde_json::from_str(&answer.body).unwrap()
    }

    /// The error message; the status must be this.
    #[track_caller]
    pub(super) fn refusal(&self, path: &str, status: u16) -> String {
        let answer = self.get(path, &[]);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert_eq!(answer.header("content-type"), "application/json", "{path}");
        answer.error()
    }

    /// Presses Ctrl-C and waits until the server exits.
    #[cfg(unix)]
    pub(super) fn interrupt(&mut self) -> ExitStatus {
        self.signal(nix::sys::signal::Signal::SIGINT)
    }

    #[cfg(unix)]
    pub(super) fn signal(&mut self, signal: nix::sys::signal::Signal) -> ExitStatus {
        let id = nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap());
        nix::sys::signal::kill(id, signal).unwrap();
        let status = self.child.wait().unwrap();
        // Wait for the last lines of output, too.
        let _ = self.reader.take().map(JoinHandle::join);
        status
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.reader.take().map(JoinHandle::join);
    }
}

/// `cargo cobalt serve` with these arguments, without opening a browser.
pub(super) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program(COBALT, folder);
    command.args(["cobalt", "serve", "--no-open"]).args(arguments).stdin(Stdio::null());
    command
}

/// A response.
#[derive(Debug)]
pub(super) struct ServerResponse {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl ServerResponse {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// The value of a header; empty if it is missing.
    pub(super) fn header(&self, name: &str) -> &str {
        let pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .next()
            .unwrap_or_default()
    }

    /// The JSON body; the status must be 200.
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The error message from the JSON body.
    pub(super) fn error(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"));
        body["error"].as_str().unwrap().to_owned()
    }
}
