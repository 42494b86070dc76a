//! What the fixture programs share: agents and evaluators that do what their items say, and a log of the agents' calls.
//!
//! An item's `act` says what the agent does (see [`Act`]), its `grade` what the evaluators do (see [`grade`]), and the
//! environment sets the experiment up. The log is the file named by `E2E_LOG`: a line for each call as it starts, ends
//! or is cancelled.

use std::collections::BTreeMap;
use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use cobalt::{Context, IntoOutput as _, Item, Json, ModelCall, Output, Record, ToolCall};
use serde_json::{Value, json};

/// The text of an environment variable, or else a default.
#[must_use]
pub fn text(variable: &str, default: &str) -> String {
    env::var(variable).unwrap_or_else(|_| default.to_owned())
}

/// The number in an environment variable, or else a default.
///
/// # Panics
///
/// It is set to something else.
#[must_use]
pub fn number(variable: &str, default: usize) -> usize {
    env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Whether an environment variable is set.
#[must_use]
pub fn flag(variable: &str) -> bool {
    env::var_os(variable).is_some()
}

/// The milliseconds in an environment variable, or else a default.
#[must_use]
pub fn milliseconds(variable: &str, default: usize) -> Duration {
    Duration::from_millis(number(variable, default) as u64)
}

/// A call of the agent, which writes its start and its end to the log.
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

/// Appends a line to the log, in one write, as several processes may do so.
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

/// What an item's `act` asks of the agent.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// No `act`: gives the field `says`, or else `answer`, after `wait_ms` milliseconds.
    Answer,
    /// `fail`: gives an error.
    Fail,
    /// `fail-if-broken`: gives an error where `E2E_BROKEN` is set.
    FailIfBroken,
    /// `hang-if-broken`: never ends where `E2E_BROKEN` is set; can be cancelled.
    HangIfBroken,
    /// `wrong-if-broken`: gives another answer where `E2E_BROKEN` is set.
    WrongIfBroken,
    /// `panic`.
    Panic,
    /// `hang`: never ends; an async agent can be cancelled.
    Hang,
    /// `block`: never ends and cannot be cancelled, async or not.
    Block,
    /// `nan`, `odd-keys`, `huge`, `control`, `deep`, `deeper`, `abyss`: gives an output that is hard to keep.
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

/// An async agent that does what its item says.
///
/// # Errors
///
/// The item says so.
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

/// A plain agent that does what its item says.
///
/// # Errors
///
/// The item says so.
pub fn act_plainly(cx: &Context) -> Result<Output, String> {
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

/// Records what the item's `record` lists: calls of models (`model`, `in`, `out`, `cost`) and tools (`tool`), messages, notes.
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

/// A list in a list, and so on.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!("bottom"), |inner, _| Value::Array(vec![inner]))
}

/// What an item's `grade` asks of an evaluator: a number is the score, `nan`, `fail` and `panic` are what they say.
/// Without one, the score is 1.
///
/// # Errors
///
/// The item says so.
///
/// # Panics
///
/// The item says so.
pub fn grade(item: &Item) -> Result<f64, String> {
    match item.get("grade") {
        None => Ok(1.0),
        Some(Value::String(odd)) if odd == "nan" => Ok(f64::NAN),
        Some(Value::String(odd)) if odd == "panic" => panic!("the evaluator broke"),
        Some(Value::String(odd)) => Err(format!("the evaluator said {odd}")),
        Some(score) => Ok(score.as_f64().unwrap_or(0.0)),
    }
}

/// [`grade`] as an async evaluator does it; `hang` never ends.
///
/// # Errors
///
/// The item says so.
pub async fn grade_later(item: &Item) -> Result<f64, String> {
    if item.get("grade").is_some_and(|grade| grade == "hang") {
        std::future::pending::<()>().await;
    }
    tokio::task::yield_now().await;
    grade(item)
}

/// [`grade`] as a plain evaluator does it; `hang` never ends.
///
/// # Errors
///
/// The item says so.
pub fn grade_plainly(item: &Item) -> Result<f64, String> {
    if item.get("grade").is_some_and(|grade| grade == "hang") {
        block();
    }
    grade(item)
}
