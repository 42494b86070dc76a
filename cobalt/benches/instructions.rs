//! Work whose instructions `.ci/instructions` counts: no clock, so the counts are nearly the same on every run.
//!
//! `-- <case> <rounds>` repeats a case. The script runs each case with few and with more rounds: the difference is the cost of a round,
//! without the start of the process and the preparation. `-- record` writes the recordings for `replay` to `BENCH_FOLDER`.
//!
//! | case | a round |
//! |---|---|
//! | `engine` | a run of 500 trivial items that is not saved |
//! | `journal` | 500 items added to a journal, each written at once |
//! | `result` | a result file of 500 items, written and read |
//! | `parts` | the same in parts |
//! | `replay` | a run of 500 items, each with a model request that is answered from its recording |
//! | `redaction` | 500 texts of 1 kB and 500 items, searched for secrets |
//! | `statistics` | the summary of 500 items, and their comparison with themselves |

mod model_server;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cobalt::{Context, Dataset, Experiment, FnEvaluator, Item, Provider};
use cobalt_core::prices::PriceTable;
use cobalt_core::redact::{redacted, redacted_item};
use cobalt_core::report::comparison::compare;
use cobalt_core::report::{Measurements, Report, RunMetrics};
use cobalt_core::store::{JournalHeader, JournalWriter, Layout, PartsWriter, read_report, write_report};
use serde_json::json;

/// The number of items in each round.
const ITEMS: usize = 500;
/// The folder for files, which the script removes.
const FOLDER: &str = "BENCH_FOLDER";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => eprintln!("`.ci/instructions` counts the instructions of this benchmark"),
        ["record"] => record(),
        [case, rounds] => run(case, rounds.parse().expect("a number of rounds")),
        _ => {
            eprintln!("usage: instructions record | <case> <rounds>");
            exit(2);
        }
    }
}

fn run(case: &str, rounds: usize) {
    match case {
        "engine" => {
            let dataset = Dataset::from_items((0..ITEMS).map(item));
            repeat(rounds, || {
                let experiment = Experiment::new("engine", dataset.clone()).evaluator(same()).concurrency(50);
                block_on(async {
                    let report = experiment.save(false).run(answer).await.expect("a report");
                    assert_eq!(report.summary.passed_items, ITEMS);
                });
            });
        }
        "journal" => {
            let report = report();
            let header: JournalHeader = serde_json::from_value(json!({
                "journal": 1, "id": "0123456789ab", "name": "bench", "timestamp": "2026-02-05T14:30:00.000Z", "tags": [],
                "config": report.config, "dataset": { "source": "inline", "items": ITEMS, "hash": "0" },
                "definition": "0", "checksums": true,
            }))
            .expect("a header");
            repeat(rounds, || {
                let mut journal = JournalWriter::create(&layout(), &header).expect("a journal");
                for item in &report.items {
                    journal.push(Duration::from_secs(1), item).expect("an item");
                    journal.flush().expect("a line");
                }
                journal.remove().expect("a removed journal");
            });
        }
        "result" => stored(rounds, |report| write_report(&layout(), report).expect("a result file")),
        "parts" => stored(rounds, |report| {
            PartsWriter::write_report(&layout(), report, &PriceTable::default()).expect("a result in parts")
        }),
        "replay" => {
            repeat(rounds, || {
                let items = (0..ITEMS).map(item);
                let experiment = Experiment::new("replay", Dataset::from_items(items))
                    .evaluator(FnEvaluator::new("any", |_| true))
                    .concurrency(8)
                    .record(folder().join("recordings"))
                    .save(false);
                block_on(async {
                    let report = experiment.run(ask).await.expect("a report");
                    assert!(report.passed, "{:?}", report.items[0].error());
                });
            });
        }
        "redaction" => {
            let text =
                "The key of the basic idea is simple: an agent answers, and a judge scores what it said. ";
            let text = text.repeat(1024 / text.len() + 1);
            let items: Vec<_> = (0..ITEMS).map(|index| Arc::new(item(index))).collect();
            repeat(rounds, || {
                for item in &items {
                    black_box(redacted(black_box(&text)));
                    black_box(redacted_item(item));
                }
            });
        }
        "statistics" => {
            let (report, prices) = (report(), PriceTable::default());
            let evaluators: Vec<_> = report.config.evaluators().collect();
            repeat(rounds, || {
                let mut metrics = RunMetrics::new(&evaluators, &[], &[], &prices);
                report.items.iter().for_each(|item| metrics.add(item));
                black_box(metrics.summary(Duration::from_secs(1)));
                let measured = Measurements::from_report(&report, &prices);
                black_box(compare(&measured, &[&measured]));
            });
        }
        _ => panic!("no case `{case}`"),
    }
}

fn repeat(rounds: usize, work: impl Fn()) {
    (0..rounds).for_each(|_| work());
}

/// Writes a result and reads it.
fn stored(rounds: usize, write: impl Fn(&Report) -> PathBuf) {
    let report = report();
    repeat(rounds, || {
        let read = read_report(&write(&report)).expect("a report");
        assert_eq!(read.items.len(), ITEMS);
    });
}

fn item(index: usize) -> Item {
    cobalt::item! { "input": format!("question {index}"), "expectedOutput": format!("answer {index}") }
}

async fn answer(item: Item) -> String {
    item["expectedOutput"].as_str().unwrap_or_default().to_owned()
}

fn same() -> FnEvaluator {
    FnEvaluator::new("same", |cx| cx.item().get("expectedOutput") == Some(cx.output()))
}

/// Sends one request to a model.
async fn ask(context: Context) -> String {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder().no_proxy().build().expect("a client")
    });
    let messages = json!([{ "role": "user", "content": context.item()["input"] }]);
    let body = json!({ "model": "gpt-4o-mini", "messages": messages }).to_string();
    let url = format!("{}/chat/completions", context.base_url(Provider::OpenAi));
    client.post(url).body(body).send().await.expect("a response").text().await.expect("a text")
}

/// Runs `replay` once in another process, with a server whose responses are recorded.
fn record() {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command
        .args(["replay", "1"])
        .env("COBALT_RECORD", "record")
        .env("OPENAI_BASE_URL", model_server::start());
    assert!(command.status().expect("a process").success(), "the recording failed");
}

/// A report of items with a score each.
fn report() -> Report {
    let items = (0..ITEMS).map(|index| {
        let output = format!("answer {index}");
        json!({
            "index": index, "key": format!("{index:016x}"), "status": "ok", "passed": true, "latencyMs": index as f64 / 7.0,
            "input": item(index), "output": { "output": output }, "evaluations": { "same": { "score": (index % 5) as f64 / 4.0 } },
        })
    });
    serde_json::from_value(json!({
        "schema": 1, "id": "0123456789ab", "name": "bench", "timestamp": "2026-02-05T14:30:00.000Z", "summary": {}, "passed": true,
        "config": { "runs": 1, "concurrency": 50, "timeout": 1000, "evaluators": ["same"], "passMarks": [0.5] },
        "items": items.collect::<Vec<_>>(),
    }))
    .expect("a report")
}

fn folder() -> PathBuf {
    std::env::var_os(FOLDER).expect(FOLDER).into()
}

fn layout() -> Layout {
    let root = folder();
    let part = |name: &str| Path::join(&root, name);
    Layout::new(root.clone(), part("results"), part("history.db"), part("cache"))
}

/// On one thread: the order of its work then depends on no other.
fn block_on(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work);
}
