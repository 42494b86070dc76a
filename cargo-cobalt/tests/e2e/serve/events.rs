//! A client for the server-sent event stream.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;

use serde_json::Value;

use super::server::Server;

/// An open event stream.
pub(super) struct Events(BufReader<TcpStream>);

impl Events {
    /// Connects to the event stream.
    pub(super) fn of(server: &Server) -> Self {
        // HTTP/1.0 responses end with the connection and are not chunked.
        let stream = server.connect(&format!(
            "GET /api/events HTTP/1.0\r\nHost: {}\r\nAccept-Encoding: gzip, br\r\n\r\n",
            server.host
        ));
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        let head = head.to_lowercase();
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        assert!(!head.contains("content-encoding"), "a compressed stream would be buffered: {head}");
        Self(reader)
    }

    /// The next event; `None` when the server has closed the stream.
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

    /// The events up to and including the first one that matches.
    #[track_caller]
    pub(super) fn until(&mut self, is: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut happened = Vec::new();
        loop {
            let next = self.next().unwrap_or_else(|| panic!("the stream ended after {happened:?}"));
            happened.push(next);
            if is(&happened[happened.len() - 1]) {
                return happened;
            }
        }
    }
}
