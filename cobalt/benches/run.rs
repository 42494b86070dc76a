//! Whole-process benchmarks: each case runs this binary as a new process, and measures its CPU time and peak memory.
//!
//! `cargo bench -p cobalt-evals --bench run` prints a table; `-- <case> <items>` runs one case in this process, for a profiler. Times differ
//! between machines: compare only times of the same run.
//!
//! | case | description |
//! |---|---|
//! | `trivial` | items of two short fields, an agent that returns one of them, one evaluator, files written, no harness |
//! | `layer` | the same with the layer for spans, which sees none |
//! | `spans` | the same with 20 spans an item: an agent that calls models and tools |
//! | `harness` | `trivial` as test cases |
//! | `mimic` | as many libtest-mimic trials that do nothing: the cost of a bare test binary |
//! | `waits` | items that wait 10 ms, 50 in parallel |
//! | `tokio` | the same waits in a bare tokio loop |
//! | `jsonl` | items of 1 kB from a JSONL file; the agent returns their text, files written |

use std::process::{Command, exit};
use std::time::{Duration, Instant};

use cobalt::{Agent, Dataset, Experiment, FnEvaluator, Item};
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

const CASES: [(&str, &[usize]); 8] = [
    ("mimic", &[10_000]),
    ("harness", &[1_000, 10_000, 100_000]),
    ("trivial", &[1_000, 10_000, 100_000]),
    ("layer", &[10_000]),
    ("spans", &[10_000]),
    ("tokio", &[1_000]),
    ("waits", &[1_000]),
    ("jsonl", &[10_000, 100_000]),
];
/// Runs per case; the median is printed.
const ROUNDS: usize = 7;

fn main() {
    if std::env::var_os("BENCH_HARNESS").is_some() {
        cobalt::main();
    }
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [] => table(),
        [case, items] => run(case, items.parse().expect("a number of items")),
        _ => {
            eprintln!("usage: run [<case> <items>]");
            exit(2);
        }
    }
}

fn trivial(items: usize) -> Dataset {
    Dataset::from_items((0..items).map(|n| {
        cobalt::item! { "input": format!("question {n}"), "expectedOutput": format!("answer {n}") }
    }))
}

async fn answer(item: Item) -> String {
    item["expectedOutput"].as_str().unwrap_or_default().to_owned()
}

fn same() -> FnEvaluator {
    FnEvaluator::new("same", |cx| cx.item().get("expectedOutput") == Some(cx.output()))
}

/// The same answer after ten turns: a model call and a tool call in each, with the fields that rig records.
async fn answer_with_spans(item: Item) -> String {
    for _ in 0..10 {
        let chat = info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.agent.name = "bench",
            gen_ai.provider.name = Empty,
            gen_ai.request.model = Empty,
            gen_ai.response.id = Empty,
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
        );
        async {
            let span = Span::current();
            span.record("gen_ai.provider.name", "openai");
            span.record("gen_ai.request.model", "gpt-5.4-mini");
            span.record("gen_ai.response.id", "chatcmpl-1");
            span.record("gen_ai.response.model", "gpt-5.4-mini-2026-03-01");
            span.record("gen_ai.usage.input_tokens", 331);
            span.record("gen_ai.usage.output_tokens", 8);
            span.record("gen_ai.usage.cache_read.input_tokens", 82);
        }
        .instrument(chat)
        .await;
        let tool = info_span!(
            "execute_tool",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.type = "function",
            gen_ai.tool.name = Empty,
            gen_ai.tool.call.id = Empty,
            gen_ai.tool.call.arguments = Empty,
            gen_ai.tool.call.result = Empty,
            gen_ai.tool.call.outcome = Empty,
        );
        async {
            let span = Span::current();
            span.record("gen_ai.tool.name", "get_weather");
            span.record("gen_ai.tool.call.id", "call_2_0");
            span.record("gen_ai.tool.call.arguments", r#"{"city":"York"}"#);
            span.record("gen_ai.tool.call.result", "18 °C in York");
            span.record("gen_ai.tool.call.outcome", "success");
        }
        .instrument(tool)
        .await;
    }
    answer(item).await
}

/// Items of the harness's experiment.
fn harness_items() -> usize {
    std::env::var("BENCH_ITEMS").ok().and_then(|items| items.parse().ok()).unwrap_or(1)
}

#[cobalt::experiment(dataset = trivial(harness_items()), evaluators = [same()], concurrency = 50)]
async fn answers(item: Item) -> String {
    answer(item).await
}

fn run(case: &str, items: usize) {
    match case {
        "mimic" => {
            let trials =
                (0..items).map(|n| libtest_mimic::Trial::test(format!("trial {n}"), || Ok(()))).collect();
            libtest_mimic::run(&libtest_mimic::Arguments::default(), trials).exit();
        }
        "trivial" => run_trivial(items, answer),
        "layer" => {
            cobalt::trace::install();
            run_trivial(items, answer);
        }
        "spans" => {
            cobalt::trace::install();
            run_trivial(items, answer_with_spans);
        }
        "waits" => block_on(async {
            let experiment = Experiment::new("waits", trivial(items)).evaluator(same()).concurrency(50);
            let waits = |item: Item| async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                answer(item).await
            };
            experiment.run(waits).await.expect("a report");
        }),
        "tokio" => block_on(async move {
            let workers = (0..50).map(|_| {
                tokio::spawn(async move {
                    for _ in 0..items / 50 {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                })
            });
            for worker in workers.collect::<Vec<_>>() {
                worker.await.expect("a worker");
            }
        }),
        "jsonl" => block_on(async {
            let file = std::env::var_os("BENCH_FILE").expect("BENCH_FILE");
            let experiment =
                Experiment::new("jsonl", Dataset::from_jsonl(file)).evaluator(same()).concurrency(50);
            let echo = |item: Item| async move { item["input"].as_str().unwrap_or_default().to_owned() };
            let report = experiment.run(echo).await.expect("a report");
            assert_eq!(report.summary.total_items, items);
        }),
        _ => panic!("no case `{case}`"),
    }
}

fn run_trivial<Marker>(items: usize, agent: impl Agent<Marker>) {
    block_on(async {
        let experiment = Experiment::new("trivial", trivial(items)).evaluator(same()).concurrency(50);
        let report = experiment.run(agent).await.expect("a report");
        assert_eq!(report.summary.passed_items, items);
    });
}

fn block_on(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime").block_on(work);
}

fn table() {
    println!("{:<10} {:>8}  {:>8}  {:>8}  {:>8}", "case", "items", "CPU s", "wall s", "MiB");
    for (case, sizes) in CASES {
        for &items in sizes {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("items.jsonl");
            if case == "jsonl" {
                let text = "x".repeat(960);
                let lines =
                    (0..items).map(|n| format!("{{\"id\": \"item-{n:06}\", \"input\": \"{text}\"}}\n"));
                std::fs::write(&file, lines.collect::<String>()).expect("a file");
            }
            let mut rounds: Vec<Figures> =
                (0..ROUNDS).map(|_| measure(case, items, folder.path(), &file)).collect();
            rounds.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
            let Figures { cpu, wall, peak } = rounds[ROUNDS / 2];
            println!("{case:<10} {items:>8}  {cpu:>8.3}  {wall:>8.3}  {peak:>8.1}");
        }
    }
}

#[derive(Clone, Copy)]
struct Figures {
    cpu: f64,
    wall: f64,
    peak: f64,
}

/// Runs a case in its own process, measured by the shell's `time`.
fn measure(case: &str, items: usize, folder: &std::path::Path, file: &std::path::Path) -> Figures {
    let me = std::env::current_exe().expect("this binary");
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%U %S %M"]).arg(me);
    command
        .env("COBALT_DIR", folder.join(".cobalt"))
        .env("BENCH_ITEMS", items.to_string())
        .env("BENCH_FILE", file);
    if case == "harness" {
        command.env("BENCH_HARNESS", "1");
    } else {
        command.args([case, &items.to_string()]);
    }
    let started = Instant::now();
    let output = command.output().expect("/usr/bin/time, from the package `time`");
    let wall = started.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stderr);
    let numbers: Vec<f64> =
        text.lines().last().unwrap_or_default().split(' ').filter_map(|number| number.parse().ok()).collect();
    let [user, system, kilobytes] = numbers[..] else { panic!("{case}: {text}") };
    Figures { cpu: user + system, wall, peak: kilobytes / 1024.0 }
}
