//! The events of a stream, and the secrets in them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::redact::{find_secrets, redact};

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEvent {
    /// Milliseconds since the request was sent.
    pub at: u64,
    /// The exact text, including the line breaks at its end.
    pub text: String,
}

/// How a stream is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Server-sent events, which end with an empty line.
    Events,
    /// Lines of JSON.
    Lines,
}

impl StreamKind {
    /// The kind of a response; `None` if it is no stream.
    #[must_use]
    pub fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match &*kind {
            "text/event-stream" => Some(Self::Events),
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines"
            | "application/jsonlines" => Some(Self::Lines),
            _ => None,
        }
    }
}

/// Splits a stream while it arrives.
#[derive(Debug)]
pub struct StreamSplitter {
    kind: StreamKind,
    /// The beginning of the next event.
    open: Vec<u8>,
}

impl StreamSplitter {
    /// For a stream of this kind.
    #[must_use]
    pub fn new(kind: StreamKind) -> Self {
        Self { kind, open: Vec::new() }
    }

    /// Adds a part, and calls `complete` with each event that it completes.
    pub fn push(&mut self, part: &[u8], mut complete: impl FnMut(&[u8])) {
        // The end of an event may begin in the part before.
        let mut searched = self.open.len().saturating_sub(3);
        self.open.extend_from_slice(part);
        let mut start = 0;
        while let Some(end) = self.end_of_event(searched) {
            complete(&self.open[start..end]);
            (start, searched) = (end, end);
        }
        self.open.drain(..start);
    }

    /// What is left at the end of the stream.
    #[must_use]
    pub fn rest(self) -> Vec<u8> {
        self.open
    }

    /// The end of the first event that ends after `from`.
    fn end_of_event(&self, from: usize) -> Option<usize> {
        let text = &self.open[from..];
        match self.kind {
            StreamKind::Lines => memchr::memchr(b'\n', text).map(|at| from + at + 1),
            // An empty line: only `\n` or `\r\n` is between two line breaks.
            StreamKind::Events => memchr::memchr_iter(b'\n', text).find_map(|at| match &text[at + 1..] {
                [b'\n', ..] => Some(from + at + 2),
                [b'\r', b'\n', ..] => Some(from + at + 3),
                _ => None,
            }),
        }
    }
}

/// Splits a stream into its events. `None` if it is not text.
#[must_use]
pub fn split_events(pieces: &[(u64, &[u8])], kind: StreamKind) -> Option<Vec<StreamEvent>> {
    let mut splitter = StreamSplitter::new(kind);
    let mut events: Vec<(u64, Vec<u8>)> = Vec::new();
    for (at, piece) in pieces {
        splitter.push(piece, |event| events.push((*at, event.to_vec())));
    }
    let rest = Some(splitter.rest()).filter(|rest| !rest.is_empty());
    events.extend(rest.map(|rest| (pieces.last().map_or(0, |(at, _)| *at), rest)));
    events
        .into_iter()
        .map(|(at, text)| Some(StreamEvent { at, text: String::from_utf8(text).ok()? }))
        .collect()
}

/// The data of an event: that of a server-sent event, or the whole line of another stream.
#[must_use]
pub fn event_data(event: &str) -> String {
    let lines: Vec<_> = event.lines().filter_map(data_of_line).collect();
    let is_event = || ["event:", "id:", "retry:", ":"].iter().any(|field| event.starts_with(field));
    if lines.is_empty() && !is_event() { event.trim().to_owned() } else { lines.join("\n") }
}

fn data_of_line(line: &str) -> Option<&str> {
    let data = line.strip_prefix("data:")?;
    Some(data.strip_prefix(' ').unwrap_or(data))
}

/// The event with other data.
fn with_data(event: &str, data: &str) -> String {
    let is_data = |line: &&str| line.starts_with("data:");
    let Some(first) = event.split_inclusive('\n').find(is_data) else {
        return format!("{data}{}", &event[event.trim_end().len()..]);
    };
    let start = if first.starts_with("data: ") { "data: " } else { "data:" };
    let end = &first[first.trim_end_matches(['\r', '\n']).len()..];
    // Only the last line of an incomplete event has no line break.
    let line_break = if end.is_empty() { "\n" } else { end };
    let data =
        data.split('\n').map(|line| format!("{start}{line}")).collect::<Vec<_>>().join(line_break) + end;
    let mut written = false;
    let mut text = String::with_capacity(event.len());
    for line in event.split_inclusive('\n') {
        match is_data(&line) {
            true if written => {}
            true => {
                text += &data;
                written = true;
            }
            false => text += line,
        }
    }
    text
}

/// Redacts the secrets of a stream, also those whose parts are in several events.
pub fn redact_events(events: &mut [StreamEvent]) {
    let parse = |event: &StreamEvent| {
        let data = event_data(&event.text);
        serde_json::from_str(&data).unwrap_or(Value::String(data))
    };
    let mut values: Vec<Value> = events.iter().map(parse).collect();
    for index in redact_across(&mut values) {
        let data = match &values[index] {
            Value::String(text)
                if serde_json::from_str::<Value>(&event_data(&events[index].text)).is_err() =>
            {
                text.clone()
            }
            value => value.to_string(),
        };
        events[index].text = with_data(&events[index].text, &data);
    }
    events.iter_mut().for_each(|event| redact(&mut event.text));
}

/// Redacts the secrets whose parts are at the same place of consecutive values. Returns the indices of the changed values, in order.
///
/// A model's answer arrives in parts: `{"choices":[{"index":0,"delta":{"content":"sk-pr"}}]}`. The parts of a text are at the same path
/// with the same indices of the choice, the tool call or the block.
pub fn redact_across(values: &mut [Value]) -> Vec<usize> {
    let mut texts = HashMap::<String, Vec<Part>>::new();
    for (index, value) in values.iter().enumerate() {
        let mut add = |place: String, pointer: &str, text: &str| {
            let part = Part { index, pointer: pointer.to_owned(), text: text.to_owned() };
            texts.entry(place).or_default().push(part);
        };
        add_texts(value, &mut String::new(), &mut String::new(), &mut add);
    }
    let mut changed = Vec::new();
    for parts in texts.into_values() {
        // An identifier or a model's name is the same in each value.
        if parts.iter().all(|part| part.text == parts[0].text) {
            continue;
        }
        let joined: String = parts.iter().map(|part| &*part.text).collect();
        let secrets = find_secrets(&joined);
        if secrets.is_empty() {
            continue;
        }
        let mut start = 0;
        for part in parts {
            let range = start..start + part.text.len();
            start = range.end;
            let redacted = redacted_part(&joined, &range, &secrets);
            if redacted != part.text
                && let Some(place) = values[part.index].pointer_mut(&part.pointer)
            {
                *place = redacted.into();
                changed.push(part.index);
            }
        }
    }
    changed.sort_unstable();
    changed.dedup();
    changed
}

/// A text in a value.
struct Part {
    index: usize,
    pointer: String,
    text: String,
}

/// A part of a text without the secrets of the whole text. Each has its mark in the part in which it begins.
fn redacted_part(text: &str, part: &Range<usize>, secrets: &[(Range<usize>, String)]) -> String {
    let (mut redacted, mut done) = (String::new(), part.start);
    let first = secrets.partition_point(|(secret, _)| secret.end <= part.start);
    for (secret, mark) in secrets[first..].iter().take_while(|(secret, _)| secret.start < part.end) {
        redacted += &text[done..secret.start.max(done)];
        if secret.start >= part.start {
            redacted += mark;
        }
        done = secret.end.min(part.end);
    }
    redacted + &text[done..part.end]
}

/// Calls `add` with the place, the JSON pointer and the text of each string in a value.
fn add_texts(
    value: &Value,
    place: &mut String,
    pointer: &mut String,
    add: &mut impl FnMut(String, &str, &str),
) {
    let (place_length, pointer_length) = (place.len(), pointer.len());
    match value {
        Value::String(text) if !text.is_empty() => add(place.clone(), pointer, text),
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                // An index says more than the position: each choice may come alone.
                if value.get("index").is_some_and(Value::is_u64) {
                    place.push_str("/*");
                } else {
                    let _ = write!(place, "/{at}");
                }
                let _ = write!(pointer, "/{at}");
                add_texts(value, place, pointer, add);
                place.truncate(place_length);
                pointer.truncate(pointer_length);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                if (name == "index" || name.ends_with("_index")) && value.is_u64() {
                    let _ = write!(place, "#{name}={value}");
                }
            }
            let place_length = place.len();
            for (name, value) in fields {
                let _ = write!(place, "/{name}");
                let _ = write!(pointer, "/{}", name.replace('~', "~0").replace('/', "~1"));
                add_texts(value, place, pointer, add);
                place.truncate(place_length);
                pointer.truncate(pointer_length);
            }
        }
        _ => {}
    }
    place.truncate(place_length);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";

    #[test]
    fn a_stream_is_split_wherever_its_pieces_end() {
        let events = b"event: a\ndata: 1\n\ndata: 2\r\n\r\ndata: [DONE]\n\nrest";
        let lines = b"{\"a\":1}\n{\"a\":2}\r\n\nrest";
        let of_events = ["event: a\ndata: 1\n\n", "data: 2\r\n\r\n", "data: [DONE]\n\n", "rest"];
        for (text, kind, expected) in [
            (&events[..], StreamKind::Events, &of_events[..]),
            (lines, StreamKind::Lines, &["{\"a\":1}\n", "{\"a\":2}\r\n", "\n", "rest"]),
        ] {
            for size in 1..=text.len() {
                let pieces: Vec<_> =
                    text.chunks(size).enumerate().map(|(at, piece)| (at as u64, piece)).collect();
                let events = split_events(&pieces, kind).unwrap();
                let texts: Vec<_> = events.iter().map(|event| event.text.as_str()).collect();
                assert_eq!(texts, expected, "{size}");
            }
        }
    }

    #[test]
    fn the_events_of_a_piece_are_not_moved() {
        let mut splitter = StreamSplitter::new(StreamKind::Events);
        let mut end = None;
        splitter.push(b"data: 1\n\ndata: 2\n\ndata: 3\n\n", |event| {
            let place = event.as_ptr_range();
            assert!(end.is_none_or(|end| end == place.start));
            end = Some(place.end);
        });
        assert!(end.is_some());
    }

    #[test]
    fn what_was_searched_is_not_searched_again() {
        let mut splitter = StreamSplitter::new(StreamKind::Events);
        splitter.push(b"data: 0123456789", |_| panic!("no event is complete"));
        splitter.open[..2].copy_from_slice(b"\n\n");
        splitter.push(b"x", |_| panic!("the beginning was searched again"));
    }

    #[test]
    fn the_kind_of_a_stream_follows_from_its_content_type() {
        for (content_type, kind) in [
            ("text/event-stream; charset=utf-8", Some(StreamKind::Events)),
            ("application/x-ndjson", Some(StreamKind::Lines)),
            ("application/json", None),
        ] {
            assert_eq!(StreamKind::of(content_type), kind, "{content_type}");
        }
    }

    fn redacted(texts: &[String]) -> Vec<String> {
        let mut events: Vec<_> = texts.iter().map(|text| StreamEvent { at: 0, text: text.clone() }).collect();
        redact_events(&mut events);
        events.into_iter().map(|event| event.text).collect()
    }

    /// Streams `before`, the key in pieces, and `after`, and checks that only the key is replaced.
    fn check(event: impl Fn(&str) -> String, text_of: impl Fn(&str) -> Option<String>) {
        let pieces: Vec<_> =
            KEY.as_bytes().chunks(5).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
        let texts: Vec<_> = [&["It is ", "\"°"][..], &pieces, &["", "\" as", " you know"]].concat();
        let events: Vec<_> = texts.iter().map(|text| event(text)).collect();
        let redacted = redacted(&events);
        assert_eq!(redacted.len(), events.len());
        let joined: String = redacted.iter().map(|text| text_of(text).unwrap()).collect();
        assert!(joined.starts_with("It is \"°[redacted") && joined.ends_with("]\" as you know"), "{joined}");
        assert!(
            !KEY.as_bytes().windows(6).any(|part| joined.as_bytes().windows(6).any(|other| other == part)),
            "{joined}"
        );
        assert_eq!((&redacted[0], redacted.last()), (&events[0], events.last()), "others stay unchanged");
    }

    #[test]
    fn a_key_that_is_spread_over_events_is_redacted_in_every_providers_form() {
        let data =
            |text: &str| serde_json::from_str::<Value>(text.trim().strip_prefix("data: ").unwrap()).ok();
        let string = |value: &Value| value.as_str().map(str::to_owned);
        check(
            |text| {
                format!(
                    "data: {}\n\n",
                    json!({ "id": "chatcmpl-1", "choices": [{ "index": 0, "delta": { "content": text } }] })
                )
            },
            |event| string(&data(event)?["choices"][0]["delta"]["content"]),
        );
        check(
            |text| {
                format!(
                    "data: {}\r\n\r\n",
                    json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text })
                )
            },
            |event| string(&data(event)?["delta"]),
        );
        check(
            |text| {
                format!(
                    "data: {}\n\n",
                    json!({ "candidates": [{ "content": { "parts": [{ "text": text }] } }] })
                )
            },
            |event| string(&data(event)?["candidates"][0]["content"]["parts"][0]["text"]),
        );
        check(
            |text| format!("{}\n", json!({ "model": "llama", "message": { "content": text } })),
            |event| string(&serde_json::from_str::<Value>(event).ok()?["message"]["content"]),
        );
        check(
            |text| {
                let data = json!({ "type": "content_block_delta", "index": 0, "delta": { "text": text } });
                format!("event: content_block_delta\ndata: {data}\n\n")
            },
            |event| {
                let rest = event.strip_prefix("event: content_block_delta\n")?;
                assert!(rest.ends_with("}\n\n"), "{rest:?}");
                string(&data(rest)?["delta"]["text"])
            },
        );
    }

    #[test]
    fn the_texts_of_choices_that_alternate_are_joined_apart() {
        let event = |choice: usize, text: &str| {
            format!("data: {}\n\n", json!({ "choices": [{ "index": choice, "delta": { "content": text } }] }))
        };
        let pieces = KEY.as_bytes().chunks(5).map(|piece| std::str::from_utf8(piece).unwrap());
        let events: Vec<_> = pieces
            .enumerate()
            .flat_map(|(at, piece)| [event(0, piece), event(1, &format!("{at} "))])
            .collect();
        let redacted = redacted(&events);
        assert!(redacted[0].contains("[redacted"), "{redacted:?}");
        for (at, (now, then)) in redacted.iter().zip(&events).enumerate() {
            assert_eq!(now == then, at % 2 == 1, "{now}");
        }
    }

    #[test]
    fn texts_without_secrets_stay_byte_for_byte() {
        let events = [
            "event: x\ndata: {\"z\": 1,  \"a\": \"one \"}\n\n",
            ": a comment\n\n",
            "data: {\"z\": 1,  \"a\": \"two\"}\n\n",
            "data: [DONE]\n\n",
        ]
        .map(str::to_owned);
        assert_eq!(redacted(&events), events);
    }

    #[test]
    fn plain_data_of_several_lines_stays_a_valid_event() {
        let (first, second) = KEY.split_at(20);
        let redacted =
            redacted(&[format!("data: a\ndata: {first}\n\n"), format!("data: {second}\ndata: b\n\n")]);
        assert!(
            redacted[0].starts_with("data: a\ndata: [redacted") && redacted[0].ends_with("]\n\n"),
            "{redacted:?}"
        );
        assert_eq!(redacted[1], "data: \ndata: b\n\n");
    }
}
