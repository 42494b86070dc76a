//! Journals that grow, are truncated, deleted and recreated, and the events about them.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const RUN: &str = "0123456789ab";

/// A folder with journals and results.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for sub in ["runs", "results"] {
            fs::create_dir(folder.0.path().join(sub)).unwrap();
        }
        folder
    }

    fn live(&self) -> LiveUpdates {
        LiveUpdates::with_folders(&self.0.path().join("runs"), &self.0.path().join("results"))
    }

    fn journal(&self) -> PathBuf {
        self.0.path().join("runs").join(format!("{RUN}.jsonl"))
    }

    /// Appends to the journal.
    fn add(&self, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.journal()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn result(&self) -> PathBuf {
        self.0.path().join("results").join(format!("2026-02-05T14-30-00_desk_{RUN}.json"))
    }
}

fn header(changes: Value) -> String {
    let mut header = json!({
        "journal": 1, "id": RUN, "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": ["smoke"],
        "config": { "runs": 2, "concurrency": 1, "timeout": 1000, "evaluators": ["right", "judge"], "passMarks": [0.5, 0.5] },
        "dataset": { "source": "inline", "items": 9, "hash": "d" }, "definition": "f",
    });
    header.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    format!("{header}\n")
}

/// A line of an item with two trials.
fn entry(index: usize, passed: bool, scores: [Option<f64>; 2]) -> String {
    let right = |score: Option<f64>| match score {
        Some(score) => json!({ "score": score }),
        None => json!({ "error": "no score" }),
    };
    let run = |score: Option<f64>| {
        json!({ "output": { "output": "a" }, "latencyMs": 1, "status": "ok",
            "evaluations": { "right": right(score), "judge": { "score": 1.0 } } })
    };
    let item = json!({
        "index": index, "key": format!("item-{index}"), "status": "ok", "passed": passed, "latencyMs": 1, "input": {},
        "output": { "output": "a" }, "evaluations": {}, "runs": scores.map(run),
    });
    format!("{}\n", json!({ "at": index * 10, "item": item }))
}

fn passed_entry(index: usize) -> String {
    entry(index, true, [Some(1.0), Some(1.0)])
}

fn finished(live: &LiveUpdates) -> Vec<usize> {
    live.runs().iter().map(|run| run.finished_items).collect()
}

/// The events that a listener has received.
fn received(listener: &mut Receiver<ServerEvent>) -> Vec<ServerEvent> {
    std::iter::from_fn(|| listener.try_recv().ok()).collect()
}

#[test]
fn a_run_is_counted_as_its_journal_tells() {
    let folder = Folder::new();
    folder.add(&(header(json!({ "selection": [0, 3, 4, 5] })) + &passed_entry(3)));
    folder.add(&(entry(4, false, [Some(0.0), Some(0.5)]) + &entry(5, false, [None, Some(1.0)])));
    let mut runs = folder.live().runs();
    let expected = LiveRun {
        id: RUN.to_owned(),
        name: "desk".to_owned(),
        variant: None,
        timestamp: "2026-02-05T14:30:00.000Z".to_owned(),
        tags: vec!["smoke".to_owned()],
        state: LiveRunState::Interrupted,
        partial: true,
        total_items: 4,
        finished_items: 3,
        passed_items: 1,
        error_items: 1,
        avg_scores: [("right".to_owned(), 0.7), ("judge".to_owned(), 1.0)].into(),
        elapsed_ms: 50,
    };
    assert_eq!(runs.pop(), Some(expected));
    assert_eq!(runs, []);
}

#[test]
fn a_line_that_is_being_written_counts_when_it_is_whole() {
    let folder = Folder::new();
    let live = folder.live();
    let (header, first, second) = (header(json!({})), passed_entry(0), passed_entry(1));
    folder.add(&header[..30]);
    assert_eq!(finished(&live), [0; 0]);
    folder.add(&header[30..]);
    folder.add(&first[..first.len() - 1]);
    assert_eq!(finished(&live), [0]);
    folder.add("\n");
    folder.add(&second[..20]);
    assert_eq!(finished(&live), [1]);
    folder.add(&second[20..]);
    folder.add("no JSON\n");
    assert_eq!(finished(&live), [2], "the item of a damaged line will be run again");
}

#[test]
fn an_item_that_was_run_again_counts_once_by_its_later_line() {
    let folder = Folder::new();
    let live = folder.live();
    folder.add(&(header(json!({})) + &entry(2, false, [None, None])));
    assert_eq!(live.runs()[0].error_items, 1);
    folder.add(&passed_entry(2));
    let run = &live.runs()[0];
    assert_eq!((run.finished_items, run.error_items, run.passed_items), (1, 0, 1));
    assert_eq!(run.avg_scores["right"], 1.0);
}

#[test]
fn a_journal_that_is_cut_goes_or_is_another_one_is_read_anew() {
    let folder = Folder::new();
    let live = folder.live();
    let start = header(json!({})) + &passed_entry(0);
    folder.add(&(start.clone() + &passed_entry(1)));
    assert_eq!(finished(&live), [2]);
    OpenOptions::new().write(true).open(folder.journal()).unwrap().set_len(start.len() as u64).unwrap();
    assert_eq!(finished(&live), [1], "it is shorter");
    fs::remove_file(folder.journal()).unwrap();
    assert_eq!(finished(&live), [0; 0]);
    folder.add(&header(json!({ "name": "another" })));
    assert_eq!(live.runs()[0].name, "another");
    // Like a run that is restarted with the same id: the file is longer, and entirely new.
    // Let the file system's clock advance.
    std::thread::sleep(Duration::from_millis(20));
    let new = folder.journal().with_extension("new");
    fs::write(&new, header(json!({})) + &passed_entry(3) + &passed_entry(4)).unwrap();
    if File::open(&new).unwrap().metadata().unwrap().created().is_ok() {
        fs::rename(&new, folder.journal()).unwrap();
        assert_eq!((finished(&live), &*live.runs()[0].name), (vec![2], "desk"));
    }
}

#[test]
fn files_that_are_no_journals_are_no_runs() {
    let folder = Folder::new();
    for (name, text) in [
        ("notes.jsonl", "{}\n".to_owned()),
        ("copy.jsonl", header(json!({}))),
        ("ffffffffffff.jsonl", header(json!({ "id": "ffffffffffff", "journal": 2 }))),
        ("0123456789ab.txt", header(json!({}))),
    ] {
        fs::write(folder.0.path().join("runs").join(name), text).unwrap();
    }
    fs::create_dir(folder.0.path().join("runs/folder.jsonl")).unwrap();
    assert_eq!(folder.live().runs(), []);
}

#[test]
fn a_run_goes_on_while_its_process_holds_the_lock() {
    let folder = Folder::new();
    let live = folder.live();
    folder.add(&(header(json!({})) + &passed_entry(3)));
    let writer = File::open(folder.journal()).unwrap();
    writer.lock().unwrap();
    let minute = Duration::from_secs(60);
    writer.set_modified(SystemTime::now() - minute).unwrap();
    let run = live.runs().pop().unwrap();
    assert_eq!(run.state, LiveRunState::Running);
    let elapsed = 30 + 60_000;
    assert!((elapsed..elapsed + 30_000).contains(&run.elapsed_ms), "{} since its last item", run.elapsed_ms);
    drop(writer);
    let run = live.runs().pop().unwrap();
    assert_eq!((run.state, run.elapsed_ms), (LiveRunState::Interrupted, 30));
}

#[test]
fn a_run_with_a_result_file_has_ended() {
    let folder = Folder::new();
    let live = folder.live();
    folder.add(&header(json!({})));
    assert_eq!(finished(&live), [0]);
    fs::write(folder.result(), "{}").unwrap();
    assert_eq!(finished(&live), [0; 0]);
}

#[test]
fn listeners_are_told_of_runs_and_items_and_then_of_results() {
    let folder = Folder::new();
    let live = folder.live();
    folder.add(&(header(json!({})) + &passed_entry(0)));
    let (runs, mut listener) = live.subscribe().unwrap();
    assert_eq!(runs[0].finished_items, 1);
    live.poll_and_send();
    assert_eq!(received(&mut listener), [], "earlier items are not events");

    folder.add(&entry(1, false, [Some(0.0), Some(1.0)]));
    live.poll_and_send();
    let news = received(&mut listener);
    let item = ServerEvent::Item {
        run: RUN.to_owned(),
        key: "item-1".to_owned(),
        index: 1,
        passed: false,
        status: cobalt_core::report::Status::Ok,
        latency_ms: 1.0,
        scores: [("right".to_owned(), 0.5), ("judge".to_owned(), 1.0)].into(),
    };
    assert!(matches!(&news[0], ServerEvent::Live { runs } if runs[0].finished_items == 2), "{news:?}");
    assert_eq!(news[1..], [item]);

    fs::write(folder.result(), "{}").unwrap();
    fs::remove_file(folder.journal()).unwrap();
    live.poll_and_send();
    assert_eq!(received(&mut listener), [ServerEvent::Live { runs: Vec::new() }, ServerEvent::Results {}]);
    live.poll_and_send();
    assert_eq!(received(&mut listener), []);
}

#[test]
fn a_result_file_that_is_written_anew_or_removed_is_told() {
    let folder = Folder::new();
    fs::write(folder.result(), "{}").unwrap();
    let live = folder.live();
    let (_, mut listener) = live.subscribe().unwrap();
    let draft = folder.0.path().join("results/.draft.tmp");
    fs::write(&draft, "{ }").unwrap();
    live.poll_and_send();
    assert_eq!(received(&mut listener), [], "a draft is ignored");
    fs::rename(&draft, folder.result()).unwrap();
    live.poll_and_send();
    assert_eq!(received(&mut listener), [ServerEvent::Results {}]);
    fs::remove_dir_all(folder.result().parent().unwrap()).unwrap();
    live.poll_and_send();
    assert_eq!(received(&mut listener), [ServerEvent::Results {}]);
}

#[test]
fn of_many_items_at_once_some_are_told() {
    let folder = Folder::new();
    let live = folder.live();
    folder.add(&header(
        json!({ "dataset": { "source": "inline", "items": 10 * MAX_ITEM_EVENTS, "hash": "d" } }),
    ));
    let (_, mut listener) = live.subscribe().unwrap();
    folder.add(&(0..10 * MAX_ITEM_EVENTS).map(passed_entry).collect::<String>());
    live.poll_and_send();
    let news = received(&mut listener);
    assert_eq!(news.len(), 1 + MAX_ITEM_EVENTS);
    assert!(matches!(&news[0], ServerEvent::Live { runs } if runs[0].finished_items == 10 * MAX_ITEM_EVENTS));
}

#[test]
fn what_happens_while_nobody_listens_is_no_news_later() {
    let folder = Folder::new();
    let live = folder.live();
    let (_, listener) = live.subscribe().unwrap();
    drop(listener);
    folder.add(&(header(json!({})) + &passed_entry(0)));
    fs::write(folder.result().with_extension("other.json"), "{}").unwrap();
    live.runs();
    let (runs, mut listener) = live.subscribe().unwrap();
    assert_eq!(runs.len(), 1);
    live.poll_and_send();
    assert_eq!(received(&mut listener), []);
}

#[tokio::test]
async fn somebody_who_listens_is_told_soon_and_until_it_is_over() {
    let folder = Folder::new();
    let live = Arc::new(folder.live());
    let telling = tokio::spawn(Arc::clone(&live).run());
    let (_, mut listener) = live.subscribe().unwrap();
    folder.add(&header(json!({})));
    let first = tokio::time::timeout(Duration::from_secs(10), listener.recv()).await.unwrap().unwrap();
    assert!(matches!(first, ServerEvent::Live { runs } if runs.len() == 1));
    live.shut_down();
    assert!(listener.recv().await.is_err());
    tokio::time::timeout(Duration::from_secs(10), telling).await.unwrap().unwrap();
    assert!(live.subscribe().is_none());
}
