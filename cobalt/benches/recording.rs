//! The cost of the gateway: an agent that asks a local server directly, the same agent while it is recorded, and replayed.
//!
//! `cargo bench -p cobalt-evals --bench recording` prints a table. Every case runs this binary as a new process. Times differ between
//! machines: compare only times of the same run.
//!
//! | case | description |
//! |---|---|
//! | `direct` | 1,000 items of three requests each, 32 in parallel, to a server that answers at once |
//! | `recorded` | the same through the gateway, which records |
//! | `replayed` | the same, answered by the gateway |
//! | `replayed, ×10` | 1,000 of 10,000 recorded items: the memory must not grow with what is recorded |

mod model_server;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use cobalt::{Context, Dataset, Experiment, FnEvaluator, Provider};
use serde_json::{Value, json};

/// Items per run.
const ITEMS: usize = 1_000;
/// Requests per item.
const REQUESTS: usize = 3;
/// Runs per case; the median is printed.
const ROUNDS: usize = 5;
/// The length of a prompt in bytes.
const PROMPT: usize = 2_000;

fn main() {
    match std::env::args().skip(1).find(|argument| argument != "--bench") {
        None => table(),
        Some(folder) => run(&folder),
    }
}

/// The latencies of all requests, in seconds.
static LATENCIES: Mutex<Vec<f64>> = Mutex::new(Vec::new());

fn client() -> &'static reqwest::Client {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder().no_proxy().build().expect("a client")
    })
}

async fn agent(context: Context) -> String {
    let url = format!("{}/chat/completions", context.base_url(Provider::OpenAi));
    let mut messages = vec![json!({ "role": "user", "content": context.item()["input"] })];
    for _ in 0..REQUESTS {
        let body = json!({ "model": "gpt-4o-mini", "messages": messages }).to_string();
        let began = Instant::now();
        let response = client().post(&url).body(body).send().await.expect("a response");
        let text = response.text().await.expect("a text");
        LATENCIES.lock().expect("no panic").push(began.elapsed().as_secs_f64());
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        messages.push(answer["choices"][0]["message"].clone());
        messages.push(json!({ "role": "user", "content": "go on" }));
    }
    messages.len().to_string()
}

fn run(folder: &str) {
    let from: usize = std::env::var("FROM").map_or(0, |from| from.parse().expect("a number"));
    let items = (from..from + ITEMS)
        .map(|n| cobalt::item! { "id": format!("item-{n}"), "input": format!("{n} {}", "x".repeat(PROMPT)) });
    let experiment = Experiment::new("recorded", Dataset::from_items(items))
        .evaluator(FnEvaluator::new("any", |_| true))
        .concurrency(32)
        .record(folder)
        .save(false);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let began = Instant::now();
    let report = runtime.block_on(experiment.run(agent)).expect("a report");
    let took = began.elapsed().as_secs_f64();
    assert!(report.passed, "{:?}", report.items[0].error());
    let mut latencies = std::mem::take(&mut *LATENCIES.lock().expect("no panic"));
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| latencies[(latencies.len() as f64 * share) as usize] * 1e3;
    println!("{took} {} {} {}", at(0.5), at(0.99), peak_memory());
}

/// The peak of the memory in MiB, where the system tells it.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

fn table() {
    println!(
        "{:<14} {:>8}  {:>12}  {:>12}  {:>10}",
        "case", "seconds", "median in ms", "p99 in ms", "peak MiB"
    );
    let url = model_server::start();
    let folder = tempfile::tempdir().expect("a folder");
    rounds("direct", || process(&url, folder.path(), "off", 0));
    rounds("recorded", || process(&url, folder.path(), "record", 0));
    rounds("replayed", || process("http://127.0.0.1:9", folder.path(), "replay", 0));
    for from in (ITEMS..10 * ITEMS).step_by(ITEMS) {
        process(&url, folder.path(), "record", from);
    }
    rounds("replayed, ×10", || process("http://127.0.0.1:9", folder.path(), "replay", 0));
}

fn rounds(case: &str, round: impl Fn() -> [f64; 4]) {
    let all: Vec<_> = (0..ROUNDS).map(|_| round()).collect();
    let median = |which: usize| {
        let mut values: Vec<_> = all.iter().map(|values| values[which]).collect();
        values.sort_by(f64::total_cmp);
        values[ROUNDS / 2]
    };
    println!("{case:<14} {:>8.3}  {:>12.3}  {:>12.3}  {:>10.1}", median(0), median(1), median(2), median(3));
}

/// Runs a case in its own process, and returns what it prints: seconds, median and p99 in ms, peak memory in MiB.
fn process(url: &str, folder: &Path, mode: &str, from: usize) -> [f64; 4] {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.arg(folder).env("COBALT_RECORD", mode).env("OPENAI_BASE_URL", url).env("FROM", from.to_string());
    let output = command.stderr(Stdio::inherit()).output().expect("a process");
    assert!(output.status.success(), "{mode}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    numbers.try_into().expect("four numbers")
}
