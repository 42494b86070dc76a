//! Earlier attempts at a run: the scores of runs of the same commit count as further trials.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use cobalt_core::redact::redacted_document;
use cobalt_core::report::{FurtherTrials, ItemScores, Report, RunConfig, SCHEMA};
use cobalt_core::store::{PartsReader, ReportReader, ResultFileName, result_files};
use cobalt_core::timestamp::Timestamp;

use crate::config::Config;

/// The keys of the items of a run, in dataset order.
#[derive(Clone, Debug, Default)]
pub struct KeyDigest {
    items: usize,
    hasher: DefaultHasher,
}

impl KeyDigest {
    /// Adds the key of the next item.
    pub fn add(&mut self, key: &str) {
        self.items += 1;
        key.hash(&mut self.hasher);
    }

    fn is_same_as(&self, other: &Self) -> bool {
        self.items == other.items && self.hasher.finish() == other.hasher.finish()
    }
}

/// The earlier attempts that count, oldest first.
#[derive(Debug, Default)]
pub struct Attempts {
    /// The IDs of the runs.
    pub ids: Vec<String>,
    /// The trials of each.
    pub trials: Vec<FurtherTrials>,
}

impl Attempts {
    /// Finds the attempts that match a run with these keys. There are none if pooling is not active.
    ///
    /// A run matches if it started recently, has the same commit without uncommitted changes, the same items and evaluators and no
    /// errors (results lost to a broken connection say nothing about the agent), and is not the baseline itself.
    pub fn find(report: &Report, keys: &KeyDigest, baseline: Option<&str>, config: &Config) -> Self {
        let is_clean = report.git.as_ref().is_some_and(|git| !git.dirty);
        let Some(within) = config.pool_reruns_window() else { return Self::default() };
        if report.partial || report.rescored.is_some() || !is_clean {
            return Self::default();
        }
        // An unreadable directory counts as empty.
        let files = result_files(config.layout(), &report.name).unwrap_or_default();
        let paths = files.into_iter().map(|(_, path)| path).filter(|path| is_recent(path, report, within));
        let mut found: Vec<_> = paths.filter_map(|path| Attempt::read(&path, report, keys)).collect();
        found.retain(|attempt| Some(&*attempt.id) != baseline);
        found.sort_by(|a, b| (a.timestamp, &a.id).cmp(&(b.timestamp, &b.id)));
        found.dedup_by(|a, b| a.id == b.id);
        let (ids, trials) = found.into_iter().map(|attempt| (attempt.id, attempt.trials)).unzip();
        Self { ids, trials }
    }
}

/// An earlier attempt.
struct Attempt {
    id: String,
    timestamp: Timestamp,
    trials: FurtherTrials,
}

impl Attempt {
    /// Reads the file of a run, if it is one that counts: first its head, then of each item only the key and the scores. An unreadable
    /// file is none.
    fn read(path: &Path, report: &Report, keys: &KeyDigest) -> Option<Self> {
        let bytes = redacted_document(std::fs::read(path).ok()?);
        let reader = ReportReader::of(&bytes).ok().filter(|reader| is_poolable(reader.head(), report))?;
        let RunConfig { runs, evaluators, .. } = reader.head().config.clone();
        let (id, timestamp) = (reader.head().id.clone(), reader.head().timestamp);
        let mut items = AttemptItems::new(runs);
        match reader.parts().cloned() {
            None => {
                reader
                    .read(|_, item| {
                        items.add(&item.key, item.is_in_error(), ItemScores::of(&item, &evaluators))
                    })
                    .ok()?;
            }
            Some(parts) if parts.items == keys.items => {
                for row in PartsReader::open(path, parts).ok()?.rows() {
                    let row = row.ok()?;
                    let is_in_error = row.rest.is_some_and(|rest| !rest.failed.is_empty());
                    items.add(&row.key, is_in_error, row.scores);
                    if !items.count {
                        return None;
                    }
                }
            }
            Some(_) => return None,
        }
        let counts = items.count && items.keys.is_same_as(keys);
        counts.then_some(Self { id, timestamp, trials: FurtherTrials { trials: runs, scores: items.scores } })
    }
}

/// The items of an attempt.
struct AttemptItems {
    /// The number of trials that each must have.
    runs: usize,
    keys: KeyDigest,
    scores: Vec<ItemScores>,
    /// Whether all of them count so far.
    count: bool,
}

impl AttemptItems {
    fn new(runs: usize) -> Self {
        Self { runs, keys: KeyDigest::default(), scores: Vec::new(), count: true }
    }

    /// Adds the next item in dataset order.
    fn add(&mut self, key: &str, is_in_error: bool, scores: ItemScores) {
        self.count &= !is_in_error && scores.trials() == self.runs;
        self.keys.add(key);
        self.scores.push(scores);
    }
}

/// Whether the file name is that of another run that started recently before.
fn is_recent(path: &Path, report: &Report, within: Duration) -> bool {
    let name = path.file_name().and_then(|name| ResultFileName::parse(name.to_str()?));
    let Some((name, begun)) = name.and_then(|name| Some((name, name.time()?))) else { return false };
    let age = report.timestamp.time().duration_since(begun.time());
    name.id != report.id && age.is_ok_and(|age| age <= within)
}

/// Whether a run counts, according to its head.
fn is_poolable(attempt: &Report, report: &Report) -> bool {
    let evaluators = |RunConfig { evaluators, pass_marks, evaluator_hashes, .. }: &RunConfig| {
        (evaluators.clone(), pass_marks.clone(), evaluator_hashes.clone())
    };
    let settings = |report: &Report| report.variant.as_ref().map(|variant| variant.settings.clone());
    let hash = |report: &Report| report.dataset.as_ref().map(|dataset| dataset.hash.clone());
    let is_same_source = match (&attempt.sources, &report.sources) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    };
    attempt.schema == SCHEMA
        && attempt.name == report.name
        && settings(attempt) == settings(report)
        && !attempt.partial
        // The same outputs are no further trial.
        && attempt.rescored.is_none()
        && attempt.git == report.git
        && is_same_source
        && hash(attempt) == hash(report)
        && evaluators(&attempt.config) == evaluators(&report.config)
}

#[cfg(test)]
pub mod tests {
    use cobalt_core::prices::PriceTable;
    use cobalt_core::store::{PartsWriter, write_report};
    use serde_json::{Value, json};

    use super::*;

    /// A run of two items, this many minutes after the first.
    pub fn run(id: &str, minute: u32, change: impl FnOnce(&mut Value)) -> Report {
        let item = |index: usize| {
            json!({ "index": index, "key": index.to_string(), "input": {}, "passed": true, "output": { "output": id },
                "latencyMs": 1, "evaluations": { "e": { "score": 1 } } })
        };
        let mut report = json!({
            "schema": 1, "id": id, "name": "help desk", "timestamp": format!("2026-02-05T14:{minute:02}:00.000Z"),
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["e"], "passMarks": [0.5],
                "evaluatorHashes": ["0"] },
            "summary": {}, "passed": true, "dataset": { "source": "d", "items": 2, "hash": "0" }, "sources": "1",
            "git": { "commit": "0".repeat(40), "dirty": false }, "items": [item(0), item(1)],
        });
        change(&mut report);
        serde_json::from_value(report).unwrap()
    }

    /// The IDs of the runs that are pooled with the last one, and the number of trials of each of their items.
    fn found(
        attempts: &[Report],
        settings: &str,
        ci: bool,
        now: &Report,
    ) -> Option<(Vec<String>, Vec<Vec<usize>>)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cobalt.toml"), settings).unwrap();
        let variable = |name: &str| (ci && name == "COBALT_CI").then(|| "1".into());
        let config = Config::load(folder.path(), variable).unwrap();
        let mut keys = KeyDigest::default();
        now.items.iter().for_each(|item| keys.add(&item.key));
        let mut found = Vec::new();
        // A run in parts counts as one that is not.
        for in_parts in [false, true] {
            for attempt in attempts {
                match in_parts {
                    true => PartsWriter::write_report(config.layout(), attempt, &PriceTable::default()),
                    false => write_report(config.layout(), attempt),
                }
                .unwrap();
            }
            found.push(Attempts::find(&now.without_items(), &keys, Some("ba5e"), &config));
        }
        let [whole, in_parts] = found.try_into().unwrap();
        assert_eq!((&whole.ids, &whole.trials), (&in_parts.ids, &in_parts.trials));
        let scores = whole.trials.iter().map(|trials| trials.scores.iter().map(ItemScores::trials).collect());
        let trials: Vec<Vec<_>> = scores.collect();
        (!whole.ids.is_empty()).then_some((whole.ids, trials))
    }

    #[test]
    fn earlier_runs_of_the_commit_count_in_ci_as_further_runs_of_the_items() {
        let attempts =
            [run("bbb", 20, |_| {}), run("aaa", 10, |_| {}), run("ba5e", 5, |_| {}), run("ccc", 40, |_| {})];
        let now = run("ddd", 30, |_| {});
        let expected = Some((vec!["aaa".to_owned(), "bbb".to_owned()], vec![vec![1, 1]; 2]));
        assert_eq!(found(&attempts, "", true, &now), expected, "earlier attempts, but not the baseline");
        assert_eq!(found(&attempts, "", false, &now), None, "only in CI");
        let only = Some((vec!["bbb".to_owned()], vec![vec![1, 1]]));
        assert_eq!(found(&attempts, "[ci]\npool-reruns = \"15m\"", true, &now), only);
        assert_eq!(found(&attempts, "[ci]\npool-reruns = \"off\"", true, &now), None);
        assert_eq!(found(&[run("ddd", 10, |_| {})], "", true, &now), None, "the same run, resumed");
    }

    #[test]
    fn a_run_that_differs_or_has_an_error_does_not_count() {
        type Change = fn(&mut Value);
        let changes: [(&str, Change); 10] = [
            ("another commit", |it| it["git"]["commit"] = json!("1".repeat(40))),
            ("with changes", |it| it["git"]["dirty"] = json!(true)),
            ("no commit", |it| drop(it.as_object_mut().unwrap().remove("git"))),
            ("other sources", |it| it["sources"] = json!("2")),
            ("other data", |it| it["dataset"]["hash"] = json!("1")),
            ("other settings of an evaluator", |it| it["config"]["evaluatorHashes"] = json!(["1"])),
            ("another pass mark", |it| it["config"]["passMarks"] = json!([0.6])),
            ("of some items", |it| it["partial"] = json!(true)),
            ("another item", |it| it["items"][1]["key"] = json!("7")),
            ("an error", |it| it["items"][1]["evaluations"]["e"] = json!({ "error": "no answer" })),
        ];
        let now = run("ddd", 30, |_| {});
        assert!(found(&[run("aaa", 10, |_| {})], "", true, &now).is_some());
        for (what, change) in changes {
            assert_eq!(found(&[run("aaa", 10, change)], "", true, &now), None, "{what}");
        }
        let now = run("ddd", 30, |run| run["git"]["dirty"] = json!(true));
        assert_eq!(found(&[run("aaa", 10, |run| run["git"]["dirty"] = json!(true))], "", true, &now), None);
    }
}
