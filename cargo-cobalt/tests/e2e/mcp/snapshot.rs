//! Snapshots of server responses in `snapshots/`, with values that differ in each run masked.

use std::fmt::Write as _;

use insta::Settings;
use serde_json::{Value, json};

use super::assistant::Assistant;

/// Checks a text about prepared results: only folders are masked.
macro_rules! assert_kept {
    ($name:expr, $text:expr) => {{
        let text = $text;
        $crate::mcp::snapshot::folders().bind(|| insta::assert_snapshot!($name, text));
    }};
}
pub(super) use assert_kept;

/// Checks a text about experiments run by the test: measured values are masked as well.
macro_rules! assert_ran {
    ($name:expr, $text:expr) => {{
        let text = $crate::mcp::snapshot::numbered_ids(&$text);
        $crate::mcp::snapshot::measured().bind(|| insta::assert_snapshot!($name, text));
    }};
}
pub(super) use assert_ran;

/// The filters for folders, project names derived from them, and the date of the price list.
pub(super) fn folders() -> Settings {
    let mut settings = crate::snapshot::folders();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/mcp/snapshots"));
    settings.add_filter(r#""pricesAsOf": ".*?""#, r#""pricesAsOf": "[date]""#);
    settings
}

/// Also the filters for times, durations, digests, ports and cargo's build output.
pub(super) fn measured() -> Settings {
    let mut settings = folders();
    settings.add_filter(r#"(?s)"latency": \{.*?\}"#, r#""latency": "[durations]""#);
    settings.add_filter(r#""(\w+Ms)": [\d.]+"#, r#""$1": "[ms]""#);
    settings.add_filter(&format!(r#"(?m)^ *" *({})\b.*\n"#, crate::snapshot::CARGO_SAYS), "");
    // Latency differences are noise: neither the verdicts nor the table name them.
    settings.add_filter(r"(?m)^(\*\*.*), `latency`(.*\*\*)$", "$1$2");
    settings.add_filter(r"(?m)^(\*\*.*in )`latency`, (.*\*\*)$", "$1$2");
    settings.add_filter(r"(?m)^\*\*[a-z ]+ in `latency`; (.*\*\*)$", "**$1");
    settings.add_filter(r"(?m)^(\*\*.*); [a-z ]+ in `latency`(.*\*\*)$", "$1$2");
    settings.add_filter(r"(?m)^\| `latency` \|.*\n", "");
    settings.add_filter(r"\b[\d.,]+ (ns|µs|ms|s|min)\b", "[duration]");
    settings.add_filter(r"\b\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d([:-]\d\d)?(\.\d+)?Z?", "[time]");
    settings.add_filter(r"\b[0-9a-f]{64}\b", "[digest]");
    settings.add_filter(r"127\.0\.0\.1:\d+", "[model]");
    settings
}

/// Replaces run IDs by numbers in order of appearance. IDs made up by tests, such as `aaaaaaaaaaaa`, are kept.
pub(super) fn numbered_ids(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric();
    let is_id = |word: &str| {
        word.len() == 12
            && word.bytes().all(|letter| matches!(letter, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|letter| letter.is_ascii_digit())
    };
    let (mut numbered, mut ids, mut rest) = (String::new(), Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| is_part(letter) != is_part(first)).unwrap_or(rest.len());
        let (word, others) = rest.split_at(end);
        if is_id(word) {
            let known = ids.iter().position(|id| *id == word);
            let place = known.unwrap_or_else(|| {
                ids.push(word);
                ids.len() - 1
            });
            let _ = write!(numbered, "[run {}]", place + 1);
        } else {
            numbered.push_str(word);
        }
        rest = others;
    }
    numbered
}

/// The whole result of a tool call, even if it is an error.
#[track_caller]
pub(super) fn result(assistant: &mut Assistant, tool: &str, arguments: Value) -> Value {
    assistant.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// The text of a result.
pub(super) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// A result as text: the text content, then the structured content.
pub(super) fn answer(result: &Value) -> String {
    let error = if result["isError"] == true { " of an error" } else { "" };
    let structured = result
        .get("structuredContent")
        .map_or(String::new(), |content| format!("\n[structured content]\n{}\n", pretty(content)));
    format!("[text{error}]\n{}\n{structured}", text(result).trim_end())
}

/// The errors of a tool for these arguments, all of which it rejects.
#[track_caller]
pub(super) fn refusals(
    assistant: &mut Assistant,
    tool: &str,
    all: impl IntoIterator<Item = Value>,
) -> String {
    let refusal = |arguments: Value| {
        let result = assistant.fails(tool, arguments.clone());
        (arguments, text(&result).to_owned())
    };
    listed(all.into_iter().map(refusal))
}

/// Pairs of arguments and messages, as text.
pub(super) fn listed(said: impl IntoIterator<Item = (Value, String)>) -> String {
    said.into_iter().fold(String::new(), |mut all, (arguments, text)| {
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        let text = text.trim_end().replace('\n', "\n    ");
        let _ = write!(all, "{arguments}\n    {text}\n\n");
        all
    })
}

/// Pretty-printed JSON.
pub(super) fn pretty(json: &Value) -> String {
    serde_json::to_string_pretty(json).unwrap()
}
