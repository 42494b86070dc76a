//! The server at work, and whoever asks it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends with the test.
pub(super) struct Server {
    child: Child,
    host: String,
}

impl Server {
    /// Starts it by a command that lacks the flags.
    pub(super) fn start(command: &mut Command) -> Self {
        command.args(["--port", "0", "--no-open"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| {
            let (_, address) = line.split_once("http://")?;
            Some(address.split([';', ' ', '/']).next()?.to_owned())
        });
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, host: address.unwrap() }
    }

    /// Asks with these headers, a line each; answers with the head, and what is still to be read.
    fn ask(&self, path: &str, headers: &str) -> (String, BufReader<TcpStream>) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // By HTTP/1.0, an answer ends with its connection.
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n{headers}\r\n", self.host).unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        (head, reader)
    }

    /// What is answered with the status 200.
    #[track_caller]
    pub(super) fn get(&self, path: &str) -> Value {
        let (head, mut reader) = self.ask(path, "");
        let mut body = String::new();
        reader.read_to_string(&mut body).unwrap();
        assert!(head.contains(" 200 "), "{path}: {head}{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// The status, the head in small letters and the body of an answer to a question with these headers.
    pub(super) fn answer(&self, path: &str, headers: &str) -> (u16, String, String) {
        let (head, mut reader) = self.ask(path, headers);
        let mut body = String::new();
        reader.read_to_string(&mut body).unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body)
    }

    /// Why a question is refused with this status.
    #[track_caller]
    pub(super) fn refusal(&self, path: &str, status: u16) -> String {
        let (answered, head, body) = self.answer(path, "");
        assert_eq!(answered, status, "{path}: {body}");
        assert!(head.contains("content-type: application/json"), "{path}: {head}");
        let body: Value = serde_json::from_str(&body).unwrap();
        body["error"].as_str().unwrap().to_owned()
    }

    /// Listens to what happens.
    pub(super) fn events(&self) -> Events {
        let (head, reader) = self.ask("/api/events", "Accept-Encoding: gzip, br\r\n");
        let head = head.to_lowercase();
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        assert!(!head.contains("content-encoding"), "what is compressed is held back: {head}");
        Events(reader)
    }

    /// Presses Ctrl-C, and waits until the server has ended.
    #[cfg(unix)]
    pub(super) fn stop(mut self) {
        let signal = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(signal.success());
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended, unless the test has not ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What happens, as the server tells it.
pub(super) struct Events(BufReader<TcpStream>);

impl Events {
    /// The next happening; `None` when the server has ended the stream.
    pub(super) fn next(&mut self) -> Option<Value> {
        let (mut name, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(event) = line.strip_prefix("event:") {
                name = event.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data:") {
                let happening: Value = serde_json::from_str(data).unwrap();
                assert_eq!(happening["type"], *name);
                return Some(happening);
            }
        }
    }

    /// What happens until something is so, with that.
    #[track_caller]
    pub(super) fn until(&mut self, is: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut happened = Vec::new();
        loop {
            let next = self.next().unwrap_or_else(|| panic!("the stream has ended after {happened:?}"));
            happened.push(next);
            if is(&happened[happened.len() - 1]) {
                return happened;
            }
        }
    }
}
