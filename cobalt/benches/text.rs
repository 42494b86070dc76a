//! The cost of ten text metrics over 10,000 items, compared with the Python reference libraries.
//!
//! `cargo bench -p cobalt-evals --bench text` prints a table. If `COBALT_BENCH_PYTHON` names a Python with rouge-score, sacrebleu and jiwer,
//! `text.py` computes the same metrics for the same texts, and the table ends with the ratio of CPU times and the differences of the
//! scores. Times differ between machines: compare only times of the same run.
//!
//! | case | description |
//! |---|---|
//! | `functions` | the functions of `cobalt::metrics`, one after the other |
//! | `experiment` | an experiment with ten evaluators and an agent that returns a text of its item, files written |
//! | `python` | the reference libraries |
//! | `computing` | the same without Python's start and imports |
//!
//! Each case runs in its own process, which reads the texts from a file and writes the scores to another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use cobalt::metrics::{rouge_l, rouge_n, squad_exact_match, token_f1, wer};
use cobalt::{
    Bleu, ChrF, Contains, Dataset, Experiment, Item, Rouge, SquadExactMatch, TokenF1, Wer, metrics,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The number of items.
const ITEMS: usize = 10_000;
/// Runs per case; the median is printed.
const ROUNDS: usize = 3;
/// The metrics, in the order of the scores.
const METRICS: [&str; 10] =
    ["rouge-1", "rouge-2", "rouge-l", "bleu", "chrf", "chrf++", "wer", "token-f1", "squad-em", "contains"];

/// The scores of an item for all metrics.
type Scores = [f64; METRICS.len()];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => table(),
        ["functions", texts, scores] => write(scores, &functions(texts)),
        ["experiment", texts, scores] => write(scores, &experiment(texts)),
        _ => panic!("usage: text [functions|experiment <texts> <scores>]"),
    }
}

fn functions(texts: &str) -> Vec<Scores> {
    let (bleu, chrf, chrf_plus_plus) =
        (metrics::Bleu::default(), metrics::ChrF::default(), metrics::ChrF::plus_plus());
    let score = |item: &Value| {
        let [output, reference, word] =
            ["output", "reference", "word"].map(|field| item[field].as_str().expect("a text"));
        [
            rouge_n(output, reference, 1, true).f1,
            rouge_n(output, reference, 2, true).f1,
            rouge_l(output, reference, true).f1,
            bleu.score(output, &[reference]).score,
            chrf.score(output, &[reference]).score,
            chrf_plus_plus.score(output, &[reference]).score,
            (1.0 - wer(output, reference)).max(0.0),
            token_f1(output, reference).f1,
            f64::from(u8::from(squad_exact_match(output, reference))),
            f64::from(u8::from(output.contains(word))),
        ]
    };
    read::<Value>(texts).iter().map(score).collect()
}

fn experiment(texts: &str) -> Vec<Scores> {
    let experiment = Experiment::new("text", Dataset::from_jsonl(texts))
        .evaluator(Rouge::one("rouge-1", "reference").stemmer(true))
        .evaluator(Rouge::two("rouge-2", "reference").stemmer(true))
        .evaluator(Rouge::l("rouge-l", "reference").stemmer(true))
        .evaluator(Bleu::new("bleu", "reference"))
        .evaluator(ChrF::new("chrf", "reference"))
        .evaluator(ChrF::new("chrf++", "reference").word_order(2))
        .evaluator(Wer::new("wer", "reference"))
        .evaluator(TokenF1::new("token-f1", "reference"))
        .evaluator(SquadExactMatch::new("squad-em", "reference"))
        .evaluator(Contains::new("contains", "word"))
        .concurrency(50);
    let agent = |item: Item| async move { item["output"].as_str().unwrap_or_default().to_owned() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let report = runtime.block_on(experiment.run(agent)).expect("a report");
    let scores = |evaluations: &cobalt::report::Evaluations| {
        METRICS.map(|name| evaluations.get(name).and_then(|evaluation| evaluation.score).expect("a score"))
    };
    report.items.iter().map(|item| scores(&item.runs[0].evaluations)).collect()
}

/// One item per pair of texts: the output is the reference with some words changed, or by chance the same.
fn items() -> impl Iterator<Item = Value> {
    const WORDS: &str = "the a of and to in is was that harbour ferries walked repairing lantern quietly station \
        relational engines winter's caf\u{e9} M\u{fc}hle na\u{ef}ve costs $1,250.50 3.5 42% (mostly) well-known \u{2014} \
        \"closed\" U.S. e.g. happily organisation national generously electricity conditions traditional rivers";
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = fastrand::Rng::with_seed(7);
    (0..ITEMS).map(move |_| {
        let length = random.usize(10..60);
        let mut reference: Vec<String> =
            (0..length).map(|_| words[random.usize(..words.len())].to_owned()).collect();
        reference[random.usize(..length)].push('.');
        let changed = [0.0, 0.1, 0.3, 0.7][random.usize(..4)];
        let mut output = Vec::new();
        for word in &reference {
            if random.f64() >= changed {
                output.push(word.as_str());
            } else if random.bool() {
                output.push(words[random.usize(..words.len())]);
            }
        }
        let word = words[random.usize(..words.len())];
        json!({"output": output.join(" "), "reference": reference.join(" "), "word": word})
    })
}

fn table() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = folder.path().join("texts.jsonl");
    write(&texts, &items().collect::<Vec<_>>());
    let me = std::env::current_exe().expect("this binary");
    println!("{:<10} {:>8}  {:>8}", "case", "CPU s", "wall s");
    let run = |case: &str, program: &Path, first: &Path| {
        let scores = folder.path().join(case);
        let mut command = Command::new("/usr/bin/time");
        command.args(["-f", "%U %S"]).arg(program).arg(first).arg(&texts).arg(&scores);
        command.env("COBALT_DIR", folder.path().join(".cobalt"));
        let figures = median(case, command);
        (figures, read::<Scores>(&scores))
    };
    let (functions, ours) = run("functions", &me, Path::new("functions"));
    let (experiment, evaluated) = run("experiment", &me, Path::new("experiment"));
    assert_eq!(ours, evaluated, "the evaluators differ from the functions");
    let Some(python) = std::env::var_os("COBALT_BENCH_PYTHON").map(PathBuf::from) else {
        println!("COBALT_BENCH_PYTHON is not set; skipping the comparison with Python");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/text.py");
    let (python, theirs) = run("python", &python, &script);
    println!("\n{:<10} {:>12}", "python by", "CPU times");
    for (case, figures) in [("functions", functions), ("experiment", experiment)] {
        println!("{case:<10} {:>12.1}", python.computing.expect("seconds") / figures.cpu);
    }
    println!("\n{:<10} {:>12}", "metric", "differs by");
    for (index, name) in METRICS.iter().enumerate() {
        let differences = ours.iter().zip(&theirs).map(|(ours, theirs)| (ours[index] - theirs[index]).abs());
        println!("{name:<10} {:>12.1e}", differences.fold(0.0, f64::max));
    }
}

#[derive(Clone, Copy)]
struct Figures {
    cpu: f64,
    wall: f64,
    /// The CPU time printed by the case itself, if any.
    computing: Option<f64>,
}

/// Runs a case several times, measured by `time`, and prints a line.
fn median(case: &str, mut command: Command) -> Figures {
    let mut rounds: Vec<Figures> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            let output = command.output().expect("/usr/bin/time, from the package `time`");
            let wall = started.elapsed().as_secs_f64();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{case}: {errors}");
            let times: Vec<f64> = errors
                .lines()
                .last()
                .unwrap_or_default()
                .split(' ')
                .filter_map(|time| time.parse().ok())
                .collect();
            let [user, system] = times[..] else { panic!("{case}: {errors}") };
            let computing = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
            Figures { cpu: user + system, wall, computing }
        })
        .collect();
    rounds.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
    let figures = rounds[ROUNDS / 2];
    println!("{case:<10} {:>8.2}  {:>8.2}", figures.cpu, figures.wall);
    if let Some(computing) = figures.computing {
        println!("{:<10} {computing:>8.2}", "computing");
    }
    figures
}

/// The JSON values of a file, one per line.
fn read<T: DeserializeOwned>(path: impl AsRef<Path>) -> Vec<T> {
    let text = fs::read_to_string(path).expect("a file");
    text.lines().map(|line| serde_json::from_str(line).expect("a value")).collect()
}

fn write<T: Serialize>(path: impl AsRef<Path>, values: &[T]) {
    let lines = values.iter().map(|value| serde_json::to_string(value).expect("JSON") + "\n");
    fs::write(path, lines.collect::<String>()).expect("a file");
}
