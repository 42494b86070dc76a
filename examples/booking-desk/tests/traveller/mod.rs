//! A scripted model that plays travellers, behind the API of chat completions, on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::LazyLock;
use std::thread;

use serde_json::{Value, json};

/// The base URL of the model. It runs as long as the process.
pub fn base_url() -> &'static str {
    static URL: LazyLock<String> = LazyLock::new(|| {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on this machine");
        let address = listener.local_addr().expect("it listens");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || serve(&stream));
            }
        });
        format!("http://{address}/v1")
    });
    &URL
}

/// Answers the requests of a connection.
fn serve(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end().to_lowercase();
            if let Some(number) = line.strip_prefix("content-length:") {
                length = number.trim().parse().ok()?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let request: Value = serde_json::from_slice(&body).ok()?;
        let text = answer(&request).to_string();
        let message = json!({ "role": "assistant", "content": text });
        let usage = json!({ "prompt_tokens": length / 4, "completion_tokens": text.len() / 4 });
        let response = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }], "usage": usage });
        let response = response.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            response.len()
        );
        let mut stream = stream;
        stream.write_all(format!("{head}{response}").as_bytes()).ok()?;
    }
}

/// The next message of a traveller, or the mistakes that it made: none.
fn answer(request: &Value) -> Value {
    let content = |place: usize| request["messages"][place]["content"].as_str().unwrap_or_default();
    let (system, prompt) = (content(0), content(1));
    if system.contains("Find the mistakes") {
        return json!({ "mistakes": [] });
    }
    let tagged = |name: &str| prompt.split(&format!("<{name}")).nth(1).and_then(|text| text.lines().nth(1));
    let (persona, goal) = (tagged("persona").unwrap_or_default(), tagged("goal").unwrap_or_default());
    let last = prompt.lines().rev().find_map(|line| line.strip_prefix("Agent: "));
    let (message, status) = next(persona, &Trip::of(goal), last);
    json!({ "message": message, "status": status })
}

/// The details of a goal such as `Travel from York to Leeds, on Friday, for two people.`
struct Trip<'a> {
    from: &'a str,
    to: &'a str,
    day: &'a str,
    people: &'a str,
}

impl<'a> Trip<'a> {
    fn of(goal: &'a str) -> Self {
        let mut parts = goal.trim_end_matches('.').split(", ");
        let route = parts.next().unwrap_or_default().trim_start_matches("Travel from ");
        let (from, to) = route.split_once(" to ").unwrap_or_default();
        let day = parts.next().unwrap_or_default();
        let people = parts.next().unwrap_or_default().trim_start_matches("for ");
        Self { from, to, day, people }
    }
}

fn next(persona: &str, trip: &Trip<'_>, last: Option<&str>) -> (String, &'static str) {
    let Trip { from, to, day, people } = trip;
    let is_terse = persona.contains("single words");
    let Some(last) = last else {
        let first = match persona.contains("everything") {
            true => format!("I need a train from {from} to {to}, {day}, for {people}."),
            false => "Hello, I need a train.".to_owned(),
        };
        return (first, "continue");
    };
    let short = |text: &str| {
        let last_word = |text: &str| text.split_whitespace().last().unwrap_or_default().to_owned();
        match is_terse {
            true if text == *people => text.split_whitespace().next().unwrap_or_default().to_owned(),
            true => last_word(text),
            false => format!("{text}, please."),
        }
    };
    let reply = match last {
        booked if booked.starts_with("Booked") => return ("Thank you!".to_owned(), "goal_met"),
        asked if asked.contains("want to go") => short(&format!("To {to}")),
        asked if asked.contains("do you start") => short(&format!("From {from}")),
        asked if asked.contains("which day") => short(day),
        asked if asked.contains("How many") => short(people),
        _ => return ("Never mind.".to_owned(), "gave_up"),
    };
    (reply, "continue")
}
