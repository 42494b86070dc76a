//! A local model server that gives every request the same response at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::json;

/// Starts the server with a thread per connection, and returns its base URL.
pub fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut stream = BufReader::new(stream);
                while read(&mut stream).is_some() {
                    if write(stream.get_mut()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

/// Reads the next request.
fn read(stream: &mut BufReader<TcpStream>) -> Option<()> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    stream.read_exact(&mut vec![0; length]).ok()
}

fn write(stream: &mut TcpStream) -> std::io::Result<()> {
    let message = json!({ "role": "assistant", "content": "Here you are: ".repeat(20) });
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": 60, "total_tokens": 460 });
    let choices = json!([{ "index": 0, "message": message, "finish_reason": "stop" }]);
    let body =
        json!({ "id": "chatcmpl-1", "model": "gpt-4o-mini", "choices": choices, "usage": usage }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
    stream.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes())
}
