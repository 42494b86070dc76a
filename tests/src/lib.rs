//! Shared code of the fixture programs: agents and evaluators controlled by their items, and a log of agent calls.
//!
//! An item's `act` controls the agent (see [`Act`]), its `grade` the evaluators (see [`grade`]), and environment variables the
//! experiment. The log is the file `E2E_LOG`, with a line for each call that starts, ends or is cancelled.

use std::collections::BTreeMap;
use std::env;
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use cobalt::{Context, IntoOutput as _, Item, Json, ModelCall, Output, Record, ToolCall};
use serde_json::{Value, json};

/// The value of an environment variable, or a default.
#[must_use]
pub fn text(variable: &str, default: &str) -> String {
    env::var(variable).unwrap_or_else(|_| default.to_owned())
}

/// The number in an environment variable, or a default.
///
/// # Panics
///
/// The variable is not a number.
#[must_use]
pub fn number(variable: &str, default: usize) -> usize {
    env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Whether an environment variable is set.
#[must_use]
pub fn flag(variable: &str) -> bool {
    env::var_os(variable).is_some()
}

/// The milliseconds in an environment variable, or a default.
#[must_use]
pub fn milliseconds(variable: &str, default: usize) -> Duration {
    Duration::from_millis(number(variable, default) as u64)
}

/// A call of the agent; logs its start and end.
#[derive(Debug)]
pub struct Call {
    place: String,
    end: &'static str,
}

impl Call {
    /// Logs `start <key> <run>`.
    #[must_use]
    pub fn start(cx: &Context) -> Self {
        let place = format!("{} {}", cx.key(), cx.run_index());
        log(&format!("start {place}"));
        Self { place, end: "cancelled" }
    }

    fn finish(&mut self) {
        self.end = "end";
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let end = if std::thread::panicking() { "panicked" } else { self.end };
        log(&format!("{end} {}", self.place));
    }
}

/// Appends a line to the log in one write, as several processes use it.
///
/// # Panics
///
/// The log cannot be written.
pub fn log(line: &str) {
    if let Some(path) = env::var_os("E2E_LOG") {
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("the log opens");
        file.write_all(format!("{line}\n").as_bytes()).expect("the log is written");
    }
}

/// The behaviour that an item's `act` requests.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// No `act`: returns the field `says`, or else `answer`, after `wait_ms` milliseconds.
    Answer,
    /// `fail`: returns an error.
    Fail,
    /// `fail-if-broken`: returns an error if `E2E_BROKEN` is set.
    FailIfBroken,
    /// `hang-if-broken`: hangs if `E2E_BROKEN` is set; can be cancelled.
    HangIfBroken,
    /// `wrong-if-broken`: returns a wrong answer if `E2E_BROKEN` is set.
    WrongIfBroken,
    /// `panic`.
    Panic,
    /// `hang`: hangs; an async agent can be cancelled.
    Hang,
    /// `block`: blocks the thread; cannot be cancelled.
    Block,
    /// `nan`, `odd-keys`, `huge`, `control`, `deep`, `deeper`, `abyss`: returns an output that is hard to save.
    Odd,
}

impl Act {
    fn of(item: &Item) -> Self {
        match item.get("act").and_then(Value::as_str) {
            None => Self::Answer,
            Some("fail") => Self::Fail,
            Some("fail-if-broken") => Self::FailIfBroken,
            Some("hang-if-broken") => Self::HangIfBroken,
            Some("wrong-if-broken") => Self::WrongIfBroken,
            Some("panic") => Self::Panic,
            Some("hang") => Self::Hang,
            Some("block") => Self::Block,
            Some(_) => Self::Odd,
        }
    }
}

/// An async agent controlled by its item.
///
/// # Errors
///
/// The item requests it.
pub async fn act(cx: Context) -> Result<Output, String> {
    let mut call = Call::start(&cx);
    record(&cx);
    match Act::of(cx.item()) {
        Act::Hang => std::future::pending().await,
        Act::HangIfBroken if flag("E2E_BROKEN") => std::future::pending().await,
        Act::Answer if wait(cx.item()).is_zero() => {}
        Act::Answer => tokio::time::sleep(wait(cx.item())).await,
        _ => {}
    }
    let output = output(&cx);
    call.finish();
    output
}

/// A sync agent controlled by its item.
///
/// # Errors
///
/// The item requests it.
pub fn act_sync(cx: &Context) -> Result<Output, String> {
    let mut call = Call::start(cx);
    record(cx);
    match Act::of(cx.item()) {
        Act::Hang => block(),
        _ => std::thread::sleep(wait(cx.item())),
    }
    if cx.item().contains_key("record_late") {
        record(cx);
    }
    let output = output(cx);
    call.finish();
    output
}

/// Records the entries of the item's `record`: model calls (`model`, `in`, `out`, `cost`), tool calls (`tool`), messages, notes.
fn record(cx: &Context) {
    for entry in cx.item().get("record").and_then(Value::as_array).into_iter().flatten() {
        if let Some(model) = entry.get("model").and_then(Value::as_str) {
            let tokens = |side: &str| entry.get(side).and_then(Value::as_u64).unwrap_or(0);
            let call = ModelCall::new(model).tokens(tokens("in"), tokens("out"));
            cx.record(entry.get("cost").and_then(Value::as_f64).into_iter().fold(call, ModelCall::cost));
        } else if let Some(tool) = entry.get("tool").and_then(Value::as_str) {
            cx.record(ToolCall::new(tool).arguments(json!({ "city": "York" })).result("rain"));
        } else if let Some(message) = entry.get("message") {
            cx.record(Record::message(message.clone()));
        } else {
            cx.record(Record::note("note", entry.clone()));
        }
    }
}

fn wait(item: &Item) -> Duration {
    Duration::from_millis(item.get("wait_ms").and_then(Value::as_u64).unwrap_or(0))
}

fn block() -> ! {
    loop {
        std::thread::park();
    }
}

fn output(cx: &Context) -> Result<Output, String> {
    let item = cx.item();
    match Act::of(item) {
        Act::Fail => Err("the agent said no".to_owned()),
        Act::FailIfBroken if flag("E2E_BROKEN") => Err("the network is broken".to_owned()),
        Act::WrongIfBroken if flag("E2E_BROKEN") => Ok(Output::new("something else")),
        Act::Panic => panic!("the agent broke"),
        Act::Block => block(),
        Act::Odd => odd(item["act"].as_str().unwrap_or_default()),
        _ => {
            let answer = item.get("says").or_else(|| item.get("answer")).cloned().unwrap_or_default();
            let output = Output::new(answer);
            Ok(match item.get("tokens").and_then(Value::as_u64) {
                Some(tokens) => output.model("gpt-4o-mini").tokens(tokens, tokens / 2),
                None => output,
            })
        }
    }
}

fn odd(kind: &str) -> Result<Output, String> {
    let output = match kind {
        "nan" => Json(vec![f64::NAN, f64::INFINITY]).into_output(),
        "odd-keys" => Json(BTreeMap::from([((1, 2), "a key of two numbers")])).into_output(),
        "huge" => "word ".repeat(1 << 20).into_output(),
        "control" => "\u{0}\u{1b}[31mred\u{7f}\r\n\u{2028}\u{feff}".into_output(),
        "deep" => nested(100).into_output(),
        "deeper" => nested(200).into_output(),
        "abyss" => nested(20_000).into_output(),
        other => return Err(format!("no such act: {other}")),
    };
    output.map_err(|error| error.to_string())
}

/// Nested lists.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!("bottom"), |inner, _| Value::Array(vec![inner]))
}

/// A model's answer to a conversation, asked over plain HTTP at the address of the gateway.
///
/// # Errors
///
/// The variables of the model are not set, or it gives no answer.
pub fn ask(messages: &[Value]) -> Result<String, String> {
    ask_at(&env::var("OPENAI_BASE_URL").map_err(|error| error.to_string())?, messages)
}

/// [`ask`] at an address.
///
/// # Errors
///
/// The key is not set, or there is no answer.
pub fn ask_at(address: &str, messages: &[Value]) -> Result<String, String> {
    let key = env::var("OPENAI_API_KEY").map_err(|error| error.to_string())?;
    let (host, path) = address.trim_start_matches("http://").split_once('/').ok_or("no path")?;
    let body = json!({ "model": "gpt-4o-mini", "messages": messages }).to_string();
    let mut stream = TcpStream::connect(host).map_err(|error| error.to_string())?;
    let head =
        format!("POST /{path}/chat/completions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n");
    let rest = format!(
        "content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all((head + &rest).as_bytes()).map_err(|error| error.to_string())?;
    let mut response = String::new();
    stream.read_to_string(&mut response).map_err(|error| error.to_string())?;
    // A body in chunks has their lengths around it.
    let (from, to) =
        (response.find('{').ok_or(response.clone())?, response.rfind('}').ok_or(response.clone())?);
    let value: Value =
        serde_json::from_str(&response[from..=to]).map_err(|error| format!("{error}: {response}"))?;
    let answer = value["choices"][0]["message"]["content"].as_str();
    answer.map(str::to_owned).ok_or_else(|| value["error"]["message"].to_string())
}

/// Scores an item by its `grade`: a number is the score; `nan`, `fail` and `panic` do what they say. Without `grade`, the score is 1.
///
/// # Errors
///
/// The item requests it.
///
/// # Panics
///
/// The item requests it.
pub fn grade(item: &Item) -> Result<f64, String> {
    match item.get("grade") {
        None => Ok(1.0),
        Some(Value::String(odd)) if odd == "nan" => Ok(f64::NAN),
        Some(Value::String(odd)) if odd == "panic" => panic!("the evaluator broke"),
        Some(Value::String(odd)) => Err(format!("the evaluator said {odd}")),
        Some(score) => Ok(score.as_f64().unwrap_or(0.0)),
    }
}

/// [`grade`] for async evaluators; `hang` hangs.
///
/// # Errors
///
/// The item requests it.
pub async fn grade_async(item: &Item) -> Result<f64, String> {
    if item.get("grade").is_some_and(|grade| grade == "hang") {
        std::future::pending::<()>().await;
    }
    tokio::task::yield_now().await;
    grade(item)
}

/// [`grade`] for sync evaluators; `hang` hangs.
///
/// # Errors
///
/// The item requests it.
pub fn grade_sync(item: &Item) -> Result<f64, String> {
    if item.get("grade").is_some_and(|grade| grade == "hang") {
        block();
    }
    grade(item)
}

/// The programs in the README, the book and the page for coding assistants compile.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../cargo-cobalt/src/assistants/skills.md")]
    struct Skills;
    #[doc = include_str!("../../docs/conversations.md")]
    struct Conversations;
    #[doc = include_str!("../../docs/datasets.md")]
    struct Datasets;
    #[doc = include_str!("../../docs/evaluators.md")]
    struct Evaluators;
    #[doc = include_str!("../../docs/failing-tools.md")]
    struct FailingTools;
    #[doc = include_str!("../../docs/first-experiment.md")]
    struct FirstExperiment;
    #[doc = include_str!("../../docs/gate.md")]
    struct Gate;
    #[doc = include_str!("../../docs/judge.md")]
    struct Judge;
    #[doc = include_str!("../../docs/library.md")]
    struct Library;
    #[doc = include_str!("../../docs/real-agents.md")]
    struct RealAgents;
    #[doc = include_str!("../../docs/variants.md")]
    struct Variants;
    #[doc = include_str!("../../docs/verdicts.md")]
    struct Verdicts;
    #[doc = include_str!("../../docs/workspaces.md")]
    struct Workspaces;
}
