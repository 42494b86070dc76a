//! The index with changing folders, damaged databases, and files of another tool.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cobalt_core::store::read_report;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A folder with a store, independent of the environment.
struct Store {
    folder: TempDir,
}

impl Store {
    fn new() -> Self {
        let store = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(store.results()).unwrap();
        store
    }

    fn with_a_hundred() -> Self {
        let store = Self::new();
        for run in 0..100 {
            store.write(&format!("{run}.json"), &text(&format!("run-{run:03}"), 5));
        }
        store
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("history.db")
    }

    fn write(&self, file: &str, content: &str) {
        fs::write(self.results().join(file), content).unwrap();
    }

    fn index(&self) -> Index {
        Index::open_at(&self.results(), &self.database()).unwrap()
    }

    /// Everything in an up-to-date index.
    fn found(&self) -> RunMatches {
        self.index().query(&all()).unwrap().0
    }

    /// The ids in the database, without an update.
    fn database_ids(&self) -> Vec<String> {
        let kept = Connection::open(self.database()).unwrap();
        let mut query = kept.prepare("SELECT id FROM runs").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// The ids in an up-to-date index, newest first, and the names of the skipped files.
    fn ids(&self) -> (Vec<String>, Vec<String>) {
        ids(&mut self.index())
    }
}

fn ids(index: &mut Index) -> (Vec<String>, Vec<String>) {
    let (found, skipped) = index.query(&all()).unwrap();
    assert_eq!((found.known, found.matching), (found.runs.len(), found.runs.len()));
    let ids = found.runs.into_iter().map(|run| run.id).collect();
    (ids, skipped.into_iter().map(|skipped| skipped.file).collect())
}

fn all() -> RunFilter {
    RunFilter { limit: 1000, ..RunFilter::ALL }
}

fn the(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn result(id: &str, day: u32) -> Value {
    json!({
        "schema": 1, "id": id, "name": "desk", "timestamp": format!("2026-02-{day:02}T10:00:00.000Z"),
        "tags": ["smoke"],
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"] },
        "summary": {
            "totalItems": 4, "totalDurationMs": 20, "avgLatencyMs": 1.5, "totalTokens": 90, "estimatedCost": 0.25,
            "failedItems": 0, "evalErrors": 0, "scores": { "exact": { "avg": 0.75, "min": 0, "max": 1 } },
        },
        "passed": true, "git": { "commit": "abc", "dirty": true },
        "dataset": { "source": "qa.json", "items": 4, "hash": "d" },
        "items": [],
    })
}

fn with(mut result: Value, pointer: &str, value: Value) -> String {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    result.pointer_mut(parent).unwrap()[field] = value;
    result.to_string()
}

fn text(id: &str, day: u32) -> String {
    result(id, day).to_string()
}

/// The file's row in the index, if it has one.
fn row(content: &str) -> Option<IndexedRun> {
    let store = Store::new();
    store.write("a.json", content);
    store.found().runs.pop()
}

#[test]
fn a_run_is_a_row_with_its_figures() {
    let mut file = result("aaa", 5);
    file["summary"]["metrics"] = json!({ "retrieved": { "avg": 6.5, "count": 4 } });
    file["summary"]["runMetrics"] = json!({ "f1": { "value": 0.5 }, "retrieved": { "value": 9 } });
    let run = row(&file.to_string()).unwrap();
    let scores = [("exact".to_owned(), 0.75)].into();
    let expected = IndexedRun {
        id: "aaa".to_owned(),
        name: "desk".to_owned(),
        experiment: "desk".to_owned(),
        variant: None,
        variant_group: None,
        run_name: None,
        rescored_from: None,
        timestamp: "2026-02-05T10:00:00.000Z".to_owned(),
        tags: the(&["smoke"]),
        scores,
        metrics: [("f1", 0.5), ("retrieved", 6.5), ("retrieved (run)", 9.0)]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        cost: Some(0.25),
        total_items: 4,
        status: RunStatus::Passed,
        duration_ms: 20,
        avg_latency_ms: 1.5,
        total_tokens: Some(90),
        judge_cost: None,
        user_cost: None,
        passed_items: 0,
        low_items: 0,
        failed_items: 0,
        eval_errors: 0,
        git_commit: Some("abc".to_owned()),
        git_dirty: Some(true),
        dataset_hash: Some("d".to_owned()),
        dataset_items: Some(4),
        git_branch: None,
        partial: false,
        shard: None,
        shard_group: None,
        replayed_items: 0,
        redacted: false,
        file: "a.json".to_owned(),
    };
    assert_eq!(run, expected);
    let replayed = with(result("aaa", 5), "/summary/traffic", json!({ "replayedItems": 3, "liveItems": 1 }));
    assert_eq!(row(&replayed).unwrap(), IndexedRun { replayed_items: 3, metrics: [].into(), ..expected });
}

#[test]
fn a_variant_and_the_origin_of_outputs_are_columns_and_the_experiment_selects_all_variants() {
    let store = Store::new();
    store.write("a.json", &text("aaa", 5));
    let variant = |name: &str| json!({ "experiment": "desk", "name": name, "group": "ffff00001111" });
    let mut mini = result("bbb", 6);
    (mini["name"], mini["variant"]) = (json!("desk::mini"), variant("mini"));
    mini["rescored"] =
        json!({ "run": "eeee00001111", "timestamp": "2026-02-01T10:00:00.000Z", "evaluators": ["exact"] });
    store.write("b.json", &mini.to_string());
    let found = |experiment: &str| {
        let filter = RunFilter { experiment: Some(experiment.parse().unwrap()), ..all() };
        store.index().query(&filter).unwrap().0.runs
    };
    let runs = found("desk");
    assert_eq!((&*runs[0].name, &*runs[0].experiment), ("desk::mini", "desk"));
    assert_eq!(runs[0].variant.as_deref(), Some("mini"));
    assert_eq!(runs[0].variant_group.as_deref(), Some("ffff00001111"));
    assert_eq!(runs[0].rescored_from.as_deref(), Some("eeee00001111"));
    assert_eq!((&*runs[1].name, &*runs[1].experiment, &runs[1].variant), ("desk", "desk", &None));
    assert_eq!(found("desk::mini").len(), 1);
    assert_eq!(found("mini").len(), 0);
}

#[test]
fn the_status_tells_errors_from_low_scores() {
    let status = |pointer: &str, value: Value| row(&with(result("aaa", 5), pointer, value)).unwrap().status;
    assert_eq!(status("/passed", json!(true)), RunStatus::Passed);
    assert_eq!(status("/passed", json!(false)), RunStatus::Failed);
    assert_eq!(status("/summary/failedItems", json!(1)), RunStatus::Error);
    assert_eq!(status("/summary/evalErrors", json!(1)), RunStatus::Error);
}

#[test]
fn a_partial_run_of_a_gated_experiment_is_not_evaluated_and_older_files_are_counted_by_their_items() {
    let item = |index: usize, score: f64| {
        json!({ "index": index, "key": "", "input": {}, "status": "ok", "passed": true, "latencyMs": 1,
            "output": { "output": "" }, "evaluations": { "exact": { "score": score } } })
    };
    let mut older = result("aaa", 5);
    older["config"]["thresholds"] = json!(["exact.avg>=0.1"]);
    older["partial"] = json!(true);
    older["items"] = json!([item(0, 0.0), item(1, 0.4), item(2, 0.5), item(3, 1.0)]);
    older["summary"]["passedItems"] = json!(4);
    let store = Store::new();
    store.write("a.json", &older.to_string());
    let (runs, _) = store.index().all_runs().unwrap();
    let run = &runs.partial[0];
    assert_eq!((run.status, run.passed_items, run.low_items), (RunStatus::NotEvaluated, 2, 2));
    older["verdict"] = json!("notEvaluated");
    (older["summary"]["passedItems"], older["summary"]["lowItems"]) = (json!(1), json!(3));
    store.write("a.json", &older.to_string());
    let (runs, _) = store.index().all_runs().unwrap();
    assert_eq!(
        (runs.partial[0].passed_items, runs.partial[0].low_items),
        (1, 3),
        "its summary has the counts"
    );
}

#[test]
fn the_status_of_a_file_without_our_fields_is_worked_out() {
    let foreign = |items: Value, ci: Value| {
        let content = json!({
            "id": "aaa", "name": "desk", "timestamp": "2026-02-05T10:00:00.000Z", "ciStatus": ci,
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": [] },
            "summary": { "totalItems": 1, "scores": { "e": { "avg": null } } }, "items": items,
        });
        let run = row(&content.to_string()).unwrap();
        (run.status, run.failed_items, run.eval_errors)
    };
    let missed = || json!({ "passed": false, "violations": [], "summary": "" });
    let scored = |score: Value| json!({ "e": { "score": score } });
    assert_eq!(foreign(json!([{ "evaluations": scored(json!(0)) }]), Value::Null), (RunStatus::Passed, 0, 0));
    assert_eq!(foreign(json!([{}]), missed()), (RunStatus::Failed, 0, 0));
    assert_eq!(foreign(json!([{ "error": "no" }, {}]), missed()), (RunStatus::Error, 1, 0));
    let later_run = json!([{ "runs": [{}, { "error": "no" }] }]);
    assert_eq!(foreign(later_run, Value::Null), (RunStatus::Error, 1, 0));
    let not_a_number = json!([{ "evaluations": scored(Value::Null) }]);
    assert_eq!(foreign(not_a_number, Value::Null), (RunStatus::Error, 0, 1));
}

#[test]
fn files_of_the_original_are_indexed_as_the_library_reads_them() {
    let shared = std::env::var_os("COBALT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let peer = shared.join("peer/results");
    if !peer.exists() {
        eprintln!("skipped: no files of the original in `{}`", peer.display());
        return;
    }
    let store = Store::new();
    for entry in fs::read_dir(peer).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), store.results().join(entry.file_name())).unwrap();
    }
    let (found, skipped) = store.index().query(&all()).unwrap();
    assert_eq!(skipped, []);
    assert_eq!(found.runs.len(), 2);
    for run in found.runs {
        let report = read_report(&store.results().join(&run.file)).unwrap();
        assert_eq!((&run.id, &run.name, &run.tags), (&report.id, &report.name, &report.tags));
        assert_eq!(run.scores.len(), report.summary.scores.len());
        let failed = report.items.iter().filter(|item| item.is_in_error()).count();
        assert_eq!(usize::try_from(run.failed_items).unwrap(), failed);
        assert_eq!(run.status, RunStatus::Error, "both have an item that failed");
    }
}

#[test]
fn files_that_come_change_and_go_are_followed() {
    let store = Store::new();
    store.write("a.json", &text("aaa", 5));
    store.write("b.json", &text("bbb", 6));
    assert_eq!(store.ids().0, the(&["bbb", "aaa"]));
    store.write("c.json", &text("ccc", 7));
    store.write("a.json", &text("another", 5));
    fs::remove_file(store.results().join("b.json")).unwrap();
    assert_eq!(store.ids().0, the(&["ccc", "another"]));
    fs::remove_dir_all(store.results()).unwrap();
    assert_eq!(store.ids().0, the(&[]));
}

#[test]
fn a_file_that_is_known_is_not_read_again() {
    let store = Store::new();
    let good = text("aaa", 5);
    let broken = good.replacen('{', "[", 1);
    for (file, content, other) in [
        ("whole.json", &good, &broken),
        ("partial.json", &with(result("bbb", 5), "/partial", json!(true)), &text("bbb", 5)),
        ("none.json", &broken, &text("ccc", 5)),
    ] {
        store.write(file, content);
        let path = store.results().join(file);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let before = store.ids();
        // Different content with the same size and time, which would change the result.
        store.write(file, &format!("{other:<0$}", content.len()));
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert_eq!(store.ids(), before, "{file}");
    }
}

/// Files of another time than now, as if nothing had been written lately.
fn settle(store: &Store) {
    let folder = fs::File::open(store.results()).unwrap();
    let time = folder.metadata().unwrap().modified().unwrap() - Duration::from_secs(60);
    folder.set_modified(time).unwrap();
}

#[cfg(unix)]
#[test]
fn a_large_store_is_listed_again_only_if_its_folder_has_changed() {
    let store = Store::new();
    for run in 0..2_000 {
        store.write(&format!("{run}.json"), &text(&format!("run-{run:04}"), 5));
    }
    store.write("notes.json", "no result");
    store.write("copy.json", &text("run-0007", 5));
    settle(&store);
    let mut index = store.index();
    let (ChangedRuns { all: first, state }, skipped) = index.all_runs_since(None).unwrap();
    assert_eq!((first.unwrap().whole.len(), skipped.len()), (2_000, 2));
    // Nothing has changed, so nothing is read, not even a file that somebody has overwritten in place.
    store.write("5.json", &text("run-0005", 9));
    let (ChangedRuns { all: changed, state: again }, skipped) = store.index().all_runs_since(state).unwrap();
    assert!(changed.is_none() && skipped.len() == 2 && again == state);
    let (found, _) = store.index().query(&RunFilter { limit: 3, ..all() }).unwrap();
    assert_eq!((found.runs.len(), found.known), (3, 2_000));
    // A new file is noticed, and then also the other one.
    store.write("new.json", &text("run-new", 8));
    settle(&store);
    let (ChangedRuns { all, state: later }, _) = store.index().all_runs_since(state).unwrap();
    let whole = all.unwrap().whole;
    assert_eq!((whole.len(), &*whole[0].id, &*whole[1].id), (2_001, "run-0005", "run-new"));
    assert_ne!(later, state);
    fs::remove_file(store.results().join("new.json")).unwrap();
    assert_eq!(store.found().known, 2_000, "just now");
    settle(&store);
    assert_eq!((store.found().known, store.found().known), (2_000, 2_000));
}

#[test]
fn a_partial_run_is_left_out_without_a_warning() {
    let store = Store::new();
    store.write("a.json", &with(result("aaa", 5), "/partial", json!(true)));
    assert_eq!(store.ids(), (the(&[]), the(&[])));
    assert_eq!(store.found().partial, 1);
}

#[test]
fn partial_runs_are_told_beside_the_whole_ones_where_they_are_asked_for() {
    let store = Store::new();
    let partial = |id, day| with(result(id, day), "/partial", json!(true));
    store.write("a.json", &text("aaa", 5));
    store.write("b.json", &partial("bbb", 6));
    store.write("c.json", &partial("ccc", 7));
    store.write("copy.json", &partial("bbb", 6));
    store.write("of-a-whole-one.json", &partial("aaa", 8));
    let all = || {
        let (all, skipped) = store.index().all_runs().unwrap();
        let ids = |runs: &[IndexedRun]| runs.iter().map(|run| run.id.clone()).collect::<Vec<_>>();
        assert_eq!(skipped, []);
        (ids(&all.whole), ids(&all.partial), all.partial)
    };
    let (whole, partial_ids, runs) = all();
    assert_eq!((whole, partial_ids), (the(&["aaa"]), the(&["ccc", "bbb"])));
    let expected = IndexedRun { id: "bbb".to_owned(), partial: true, ..row(&text("bbb", 6)).unwrap() };
    assert_eq!(
        runs[1],
        IndexedRun { file: "b.json".to_owned(), ..expected },
        "with all fields, of the first file"
    );
    store.write("c.json", &text("ccc", 7));
    fs::remove_file(store.results().join("b.json")).unwrap();
    fs::remove_file(store.results().join("copy.json")).unwrap();
    let (whole, partial_ids, _) = all();
    assert_eq!((whole, partial_ids), (the(&["ccc", "aaa"]), the(&[])));
}

#[test]
fn an_index_of_the_first_version_is_made_anew_and_no_earlier_version_takes_it_for_a_strange_one() {
    let store = Store::new();
    store.write("a.json", &with(result("aaa", 5), "/partial", json!(true)));
    let first = "CREATE TABLE runs (id TEXT PRIMARY KEY, file TEXT);
        CREATE TABLE files (name TEXT PRIMARY KEY, size INTEGER, modified INTEGER, run_id TEXT, problem TEXT);
        PRAGMA user_version = 1;";
    Connection::open(store.database()).unwrap().execute_batch(first).unwrap();
    assert_eq!(store.index().all_runs().unwrap().0.partial.len(), 1);
    let kept = Connection::open(store.database()).unwrap();
    let mut query =
        kept.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let tables: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(tables, ["files", "runs"], "with other tables, older versions would treat it as foreign");
}

#[test]
fn a_file_that_is_no_result_is_named_at_every_call_and_stops_no_other() {
    let store = Store::new();
    store.write("a.json", &text("aaa", 5));
    store.write("cut.json", &text("bbb", 6)[..200]);
    store.write("other.json", "{\n\"id\": 5}");
    store.write("notes.txt", "no JSON");
    store.write(".draft.json", "{");
    for _ in 0..2 {
        assert_eq!(store.ids(), (the(&["aaa"]), the(&["cut.json", "other.json"])));
    }
    let (_, skipped) = store.index().query(&all()).unwrap();
    let reasons: Vec<_> = skipped.into_iter().map(|skipped| skipped.reason).collect();
    assert!(reasons[1].starts_with("not a result file: invalid type: integer `5`"), "{reasons:?}");
    assert!(reasons[1].ends_with("at line 2 column 7"), "{reasons:?}");
    store.write("cut.json", &text("bbb", 6));
    assert_eq!(store.ids(), (the(&["bbb", "aaa"]), the(&["other.json"])));
}

#[test]
fn of_two_files_of_one_run_the_one_with_its_own_name_stands_for_it() {
    let store = Store::new();
    let own = "2026-02-05T10-00-00_desk_aaa.json";
    store.write("a copy.json", &text("aaa", 6));
    assert_eq!(store.ids(), (the(&["aaa"]), the(&[])));
    store.write(own, &text("aaa", 5));
    assert_eq!(store.ids(), (the(&["aaa"]), the(&["a copy.json"])));
    let shown = |store: &Store| store.found().runs.pop().unwrap().file;
    assert_eq!(shown(&store), own);
    store.write("b copy.json", &text("aaa", 7));
    assert_eq!(store.ids(), (the(&["aaa"]), the(&["a copy.json", "b copy.json"])));

    fs::remove_file(store.results().join(own)).unwrap();
    assert_eq!(store.ids(), (the(&["aaa"]), the(&["a copy.json"])), "the later one stands in");
    assert_eq!(shown(&store), "b copy.json");
    fs::remove_file(store.database()).unwrap();
    assert_eq!(store.ids(), (the(&["aaa"]), the(&["a copy.json"])), "whatever the order of reading");
}

#[test]
fn a_database_that_is_lost_or_of_no_use_is_built_anew() {
    let store = Store::new();
    store.write("a.json", &text("aaa", 5));
    let good = |store: &Store| {
        assert_eq!(store.ids(), (the(&["aaa"]), the(&[])));
        assert_eq!(store.database_ids(), the(&["aaa"]));
    };
    good(&store);
    fs::remove_file(store.database()).unwrap();
    good(&store);
    fs::write(store.database(), "this is no database, and long enough to see that it is none".repeat(40))
        .unwrap();
    good(&store);
    fs::write(store.database(), "").unwrap();
    good(&store);
    let spoil = |sql: &str| Connection::open(store.database()).unwrap().execute_batch(sql).unwrap();
    spoil("PRAGMA user_version = 99");
    good(&store);
    spoil("DROP TABLE runs; CREATE VIEW runs AS SELECT 1 AS id; PRAGMA user_version = 0");
    good(&store);
    spoil("DROP TABLE files");
    good(&store);
    spoil("UPDATE runs SET tags = 'no JSON'");
    good(&store);
    let size = fs::metadata(store.database()).unwrap().len();
    fs::File::options().write(true).open(store.database()).unwrap().set_len(size / 2).unwrap();
    good(&store);
    let mut bytes = fs::read(store.database()).unwrap();
    bytes[4096..].fill(0x55);
    fs::write(store.database(), bytes).unwrap();
    good(&store);
}

#[test]
fn where_no_file_can_be_the_index_is_in_memory() {
    let store = Store::new();
    store.write("a.json", &text("aaa", 5));
    fs::create_dir(store.database()).unwrap();
    assert_eq!(store.ids(), (the(&["aaa"]), the(&[])));
}

#[test]
fn an_index_that_another_process_keeps_to_itself_is_done_without() {
    let store = Store::new();
    store.write("a.json", &text("aaa", 5));
    store.ids();
    store.write("b.json", &text("bbb", 6));
    let other = Connection::open(store.database()).unwrap();
    let mut index = store.index();
    index.connection.busy_timeout(Duration::ZERO).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(ids(&mut index).0, the(&["bbb", "aaa"]));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.ids().0, the(&["bbb", "aaa"]));
}

#[test]
fn nothing_is_made_where_there_are_no_results() {
    let store = Store::new();
    fs::remove_dir_all(store.results()).unwrap();
    assert_eq!(store.ids(), (the(&[]), the(&[])));
    assert!(!store.database().exists());
}

#[test]
fn many_may_build_it_at_once() {
    let store = Store::with_a_hundred();
    let spoil = |sql: &str| Connection::open(store.database()).unwrap().execute_batch(sql).unwrap();
    let spoilers: [&dyn Fn(); 4] = [
        &|| fs::write(store.database(), "spoilt").unwrap(),
        &|| spoil("PRAGMA user_version = 99"),
        &|| spoil("DROP TABLE files"),
        &|| fs::remove_file(store.database()).unwrap(),
    ];
    for spoil in spoilers {
        spoil();
        thread::scope(|scope| {
            let builds: Vec<_> = (0..8).map(|_| scope.spawn(|| store.ids())).collect();
            for build in builds {
                let (ids, skipped) = build.join().unwrap();
                assert_eq!((ids.len(), skipped.len()), (100, 0));
            }
        });
        assert_eq!(store.ids().0.len(), 100);
    }
}

#[test]
fn what_another_process_empties_is_filled_again() {
    let store = Store::new();
    store.write("a.json", &text("aaa", 5));
    let mut index = store.index();
    assert_eq!(ids(&mut index).0, the(&["aaa"]));
    let mut other = schema::open(&store.database()).unwrap();
    schema::reset(&mut other).unwrap();
    assert_eq!(ids(&mut index).0, the(&["aaa"]));
    assert_eq!(store.database_ids(), the(&["aaa"]));
}

#[test]
fn no_answer_is_short_while_another_process_empties_it_again_and_again() {
    let store = Store::with_a_hundred();
    store.ids();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut other = schema::open(&store.database()).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                // Occasionally the database is busy.
                let _ = schema::reset(&mut other);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let counts = || (0..15).map(|_| store.ids().0.len()).collect::<Vec<_>>();
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(counts)).collect();
        let counts: Vec<_> = readers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        for counts in counts {
            assert_eq!(counts.unwrap(), [100; 15]);
        }
    });
}

#[test]
fn filters_and_the_limit_narrow_the_answer() {
    let store = Store::new();
    store.write("a.json", &text("aaa", 5));
    store.write("b.json", &with(result("bbb", 6), "/name", json!("help-desk")));
    store.write("c.json", &with(result("ccc", 7), "/tags", json!(["smoke test", "%"])));
    let mut index = store.index();
    let mut found = |filter: RunFilter| {
        let (found, _) = index.query(&filter).unwrap();
        assert_eq!(found.known, 3);
        (found.runs.into_iter().map(|run| run.id).collect::<Vec<_>>(), found.matching)
    };
    assert_eq!(found(RunFilter { limit: 2, ..all() }), (the(&["ccc", "bbb"]), 3));
    assert_eq!(
        found(RunFilter { experiment: Some("desk*".parse().unwrap()), ..all() }),
        (the(&["ccc", "aaa"]), 2)
    );
    assert_eq!(found(RunFilter { tag: Some("smoke".to_owned()), ..all() }), (the(&["bbb", "aaa"]), 2));
    let since = Some("2026-02-06T10:00:00.000Z".to_owned());
    assert_eq!(found(RunFilter { since, ..all() }), (the(&["ccc", "bbb"]), 2));
}

#[test]
fn what_belongs_to_somebody_else_is_left_as_it_is() {
    let store = Store::new();
    let theirs = store.folder.path().join("theirs.db");
    Connection::open(&theirs).unwrap().execute_batch("CREATE TABLE customers (name TEXT)").unwrap();
    let notes = store.folder.path().join("notes.txt");
    fs::write(&notes, "my notes\n".repeat(100)).unwrap();
    for path in [&theirs, &notes] {
        let before = fs::read(path).unwrap();
        let error = Index::open_at(&store.results(), path).unwrap_err().to_string();
        assert!(error.contains("COBALT_HISTORY_DB"), "{error}");
        assert_eq!(fs::read(path).unwrap(), before);
    }
}

#[cfg(unix)]
#[test]
fn the_index_is_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let store = Store::new();
    store.write("a.json", &result("aaa", 5).to_string());
    store.index().all_runs().unwrap();
    let mode = fs::metadata(store.database()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
