//! Runs whose results are kept in parts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use cobalt_core::report::{ItemResult, Report, RunMetrics, RunVerdict};
use cobalt_core::store::{ReportFile, read_report};
use serde_json::json;

use super::{ItemSelection, Listener, Plan, Run, RunEnd, Session};
use crate::config::Config;
use crate::experiment::Prepared;
use crate::{Context, Dataset, ExactMatch, Experiment, Item, SummaryItem, item};

const ITEMS: usize = 60;

/// The items of one of three clusters, of which every seventh gets a wrong answer, and every eleventh fails.
fn experiment() -> Experiment {
    let items =
        (0..ITEMS).map(|n| item! { "id": format!("item {n}"), "n": n, "cluster": n % 3, "answer": "a" });
    Experiment::new("desk", Dataset::from_items(items))
        .evaluator(ExactMatch::new("exact", "answer"))
        .threshold("exact.pass_rate >= 0.5".parse().unwrap())
        .group_by("cluster")
        .concurrency(8)
}

async fn answer(item: Item, context: Context) -> Result<&'static str, String> {
    let n = item["n"].as_u64().unwrap_or_default();
    context.metric("n", n as f64);
    match n {
        n if n % 11 == 10 => Err(format!("no answer to `messages[{n}]`")),
        n if n % 7 == 6 => Ok("b"),
        _ => Ok("a"),
    }
}

struct Observer {
    items: Sender<usize>,
    end: Sender<RunEnd>,
}

impl Listener for Observer {
    fn item(&mut self, _: usize, item: &ItemResult) {
        // The test may have seen enough.
        let _ = self.items.send(item.index);
    }

    fn on_end(&mut self, _: usize, end: RunEnd) {
        self.end.send(end).unwrap();
    }
}

fn config(folder: &Path) -> Config {
    std::fs::write(folder.join("cobalt.toml"), "[storage]\nparts-from = 50\n").unwrap();
    Config::load(folder, |_| None).unwrap()
}

fn plan(prepared: Prepared, config: &Config) -> Plan {
    let mut plan = Plan::new(prepared, None, config).unwrap();
    plan.find_baseline(config).unwrap();
    plan
}

/// Runs until the end, or until this many items are finished; returns their indexes, too.
fn run(run: Run, config: &Config, until: usize) -> (RunEnd, Vec<usize>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ((items, finished), (end, ended)) = (channel(), channel());
    let session = Session::start(vec![run], config.clone(), Observer { items, end }, runtime.handle());
    let mut indexes: Vec<_> = finished.iter().take(until).collect();
    if indexes.len() < ITEMS {
        session.interrupter().interrupt();
    }
    session.wait();
    indexes.extend(finished.try_iter());
    (ended.recv().unwrap(), indexes)
}

fn path_of(end: RunEnd) -> std::path::PathBuf {
    let RunEnd::Finished(outcome) = end else { panic!("{end:?}") };
    assert!(outcome.unsaved.is_none() && outcome.report.items.is_empty(), "{:?}", outcome.unsaved);
    outcome.path.unwrap()
}

/// Checks that a report in parts has all items, and the statistics of a report with its items in memory.
fn assert_whole(path: &Path, config: &Config) -> Report {
    assert!(ReportFile::open(path).unwrap().parts().is_some());
    let report = read_report(path).unwrap();
    assert!(report.items.iter().map(|item| item.index).eq(0..ITEMS));
    let evaluators: Vec<_> = report.config.evaluators().collect();
    let all = RunMetrics::gather_by(&report.items, &evaluators, &report.config.group_by, config.prices());
    let duration = std::time::Duration::from_millis(report.summary.total_duration_ms);
    assert_eq!(json!(report.summary), json!(all.summary(duration)));
    report
}

#[test]
fn a_large_run_has_the_statistics_of_its_items_and_leaves_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let plan = plan(experiment().bind(answer), &config);
    let started = Run::new(plan, ItemSelection::default(), config.layout()).unwrap();
    let (end, mut finished) = run(started, &config, usize::MAX);
    finished.sort_unstable();
    assert!(finished.into_iter().eq(0..ITEMS));
    let RunEnd::Finished(outcome) = &end else { panic!() };
    let event = outcome.finished_event(0);
    assert_eq!((event.low_items, event.items_in_error, event.failed[0].more), (8, 5, 4));
    assert_eq!((&*event.low[0].item, &*event.failed[0].item), ("item-6", "item-10"));
    let report = assert_whole(&path_of(end), &config);
    assert_eq!((report.verdict, report.summary.metrics["n"].count), (RunVerdict::Failed, ITEMS));
    assert_eq!(std::fs::read_dir(config.layout().journals()).unwrap().count(), 0);
}

#[test]
fn an_interrupted_large_run_is_resumed_without_running_an_item_again() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let slow = |item: Item, context: Context| async move {
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        answer(item, context).await
    };
    let started = plan(experiment().bind(slow), &config);
    let started = Run::new(started, ItemSelection::default(), config.layout()).unwrap();
    let (end, _) = run(started, &config, 20);
    let RunEnd::Interrupted(interrupted) = end else { panic!("{end:?}") };
    assert!((20..ITEMS).contains(&interrupted.kept), "{}", interrupted.kept);
    let again = plan(experiment().bind(answer), &config);
    let resumed = Run::resume(again, config.layout(), &interrupted.id).unwrap();
    assert_eq!(resumed.finished_items(), interrupted.kept);
    let (end, mut finished) = run(resumed, &config, usize::MAX);
    finished.sort_unstable();
    assert!(finished.into_iter().eq(0..ITEMS), "each item is reported once, also those of earlier processes");
    assert_whole(&path_of(end), &config);
}

#[test]
fn a_dataset_file_that_is_touched_stops_the_run_which_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let path = folder.path().join("items.jsonl");
    let line = |n: usize| format!("{{\"id\": \"item {n}\", \"n\": {n}, \"answer\": \"a\"}}\n");
    std::fs::write(&path, (0..ITEMS).map(line).collect::<String>()).unwrap();
    let experiment = || {
        Experiment::new("desk", Dataset::from_lines_on_disk(&path).unwrap())
            .evaluator(ExactMatch::new("exact", "answer"))
            .concurrency(1)
    };
    let touched = path.clone();
    let touch = move |item: Item| {
        if item["n"] == 30 {
            let file = std::fs::File::options().append(true).open(&touched).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        }
        "a"
    };
    let started = plan(experiment().bind(touch), &config);
    let started = Run::new(started, ItemSelection::default(), config.layout()).unwrap();
    let (end, finished) = run(started, &config, usize::MAX);
    let RunEnd::Interrupted(stopped) = end else { panic!("{end:?}") };
    assert_eq!((stopped.kept, finished.len()), (31, 31), "an unreadable item is no result");
    let error = stopped.error.unwrap().to_string();
    assert!(error.contains("items.jsonl: it was changed after its items were counted"), "{error}");
    assert!(error.contains("stopped with 31 of 60 items saved; fix this, then resume"), "{error}");

    let again = plan(experiment().bind(|_: Item| "a"), &config);
    let resumed = Run::resume(again, config.layout(), &stopped.id).unwrap();
    assert_whole(&path_of(run(resumed, &config, usize::MAX).0), &config);
}

#[test]
fn a_secret_that_is_registered_after_the_journal_was_written_is_in_no_result() {
    const SECRET: &str = "unkn0wn-to-the-journal";
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let experiment = || {
        let items = (0..ITEMS).map(|n| item! { "id": format!("{SECRET} {n}"), "answer": "a" });
        Experiment::new("desk", Dataset::from_items(items))
            .evaluator(ExactMatch::new("exact", "answer"))
            .concurrency(8)
    };
    let answer = async |_: Item| {
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        format!("the key is {SECRET}")
    };
    let started = plan(experiment().bind(answer), &config);
    let started = Run::new(started, ItemSelection::default(), config.layout()).unwrap();
    let RunEnd::Interrupted(interrupted) = run(started, &config, 20).0 else { panic!() };
    let journal = std::fs::read_to_string(config.layout().journal(&interrupted.id)).unwrap();
    assert!(journal.contains(SECRET));

    cobalt_core::redact::register_secret("LATER_KEY", SECRET);
    let again = plan(experiment().bind(answer), &config);
    let resumed = Run::resume(again, config.layout(), &interrupted.id).unwrap();
    assert_eq!(resumed.finished_items(), interrupted.kept, "the items are known by their redacted keys");
    let path = path_of(run(resumed, &config, usize::MAX).0);
    let parts = ReportFile::open(&path).unwrap();
    let parts = parts.parts().unwrap();
    assert!(!std::fs::read_to_string(&path).unwrap().contains(SECRET));
    for (part, entry) in parts.index().parts.iter().enumerate() {
        let part = parts.part(part).unwrap();
        let text: String = part.lines().map(|(_, line)| format!("{line}\n")).collect();
        assert!(!text.contains(SECRET) && text.contains("the key is [redacted:LATER_KEY]"));
        // Reading redacts, too, which changes the length.
        assert_eq!(text.len() as u64, entry.text, "the secret is not in the stored text");
    }
}

#[test]
fn a_retried_large_run_runs_only_the_items_in_error() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let first = plan(experiment().bind(answer), &config);
    let first = Run::with_id(first, ItemSelection::default(), config.layout(), "0123456789ab".to_owned());
    let path = path_of(run(first.unwrap(), &config, usize::MAX).0);
    let second = plan(experiment().bind(|_: Item| "a"), &config);
    let second = Run::retry(second, config.layout(), "0123456789ab".to_owned()).unwrap();
    assert_eq!(second.finished_items(), ITEMS - 5);
    assert_eq!(path_of(run(second, &config, usize::MAX).0), path);
    let report = assert_whole(&path, &config);
    assert_eq!((report.summary.failed_items, report.summary.low_items), (0, 8));
}

#[test]
fn a_summary_function_of_a_large_run_gets_all_items() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let number = |items: &[SummaryItem<'_>]| items.len() as f64;
    let plan = plan(experiment().summary(crate::FnSummary::new("number", number)).bind(answer), &config);
    let started = Run::new(plan, ItemSelection::default(), config.layout()).unwrap();
    let report = read_report(&path_of(run(started, &config, usize::MAX).0)).unwrap();
    assert_eq!(report.summary.run_metrics["number"].value, (ITEMS - 5) as f64);
}

/// Notes when the second experiment has ended.
struct Second {
    has_ended: Arc<AtomicBool>,
    end: Sender<RunEnd>,
}

impl Listener for Second {
    fn item(&mut self, _: usize, _: &ItemResult) {}

    fn on_end(&mut self, experiment: usize, end: RunEnd) {
        match experiment {
            0 => self.end.send(end).unwrap(),
            _ => self.has_ended.store(true, Ordering::SeqCst),
        }
    }
}

/// Waits, at most for 20 seconds.
fn is_set_in_time(flag: &AtomicBool) -> bool {
    let is_set = |_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        flag.load(Ordering::SeqCst)
    };
    (0..2_000).any(is_set)
}

#[test]
fn other_experiments_go_on_while_a_large_run_is_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let (is_evaluated, has_ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (evaluated, ended) = (Arc::clone(&is_evaluated), Arc::clone(&has_ended));
    let wait = move |_: &[SummaryItem<'_>]| {
        evaluated.store(true, Ordering::SeqCst);
        f64::from(u8::from(is_set_in_time(&ended)))
    };
    let large = plan(experiment().summary(crate::FnSummary::new("waited", wait)).bind(answer), &config);
    let small = Experiment::new("small", Dataset::from_items([item! { "answer": "a" }]))
        .evaluator(ExactMatch::new("exact", "answer"));
    let small = small.bind(move |_: Item| {
        assert!(is_set_in_time(&is_evaluated));
        "a"
    });
    let runs = [large, plan(small, &config)]
        .map(|plan| Run::new(plan, ItemSelection::default(), config.layout()).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (end, ends) = channel();
    let listener = Second { has_ended, end };
    Session::start(runs.into(), config.clone(), listener, runtime.handle()).wait();
    let report = read_report(&path_of(ends.recv().unwrap())).unwrap();
    assert_eq!(report.summary.run_metrics["waited"].value, 1.0, "the other one ended meanwhile");
}
