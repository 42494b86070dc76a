//! Earlier attempts at a run: what a commit's gates say must not hang on how often its job was started again.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use crate::config::Config;
use crate::report::{Report, RunConfig, SCHEMA};
use crate::store::{ResultFileName, read_report, result_files};

/// A report as it stands with the results of earlier attempts: each item has their executions as further runs.
///
/// `None` where there are none: pooling is not in force, or no run fits. One does that was begun not long before, of the
/// same commit without changes, on the same items, by the same evaluators, in which nothing ended in an error (what a
/// broken connection left out says nothing of the agent), and that is not the baseline itself.
pub(super) fn pooled(report: &Report, baseline: Option<&str>, config: &Config) -> Option<Report> {
    let mut attempts = attempts(report, config.pools_reruns_for()?, config);
    attempts.retain(|attempt| Some(&*attempt.id) != baseline);
    if attempts.is_empty() {
        return None;
    }
    let mut pooled = Report { items: report.items.clone(), ..report.without_items() };
    let places: HashMap<_, _> = (0..).zip(&report.items).map(|(place, item)| (&*item.key, place)).collect();
    for attempt in attempts {
        pooled.config.runs += attempt.config.runs;
        pooled.pooled.push(attempt.id);
        for item in attempt.items {
            let place: usize = places[&*item.key];
            pooled.items[place].runs.extend(item.runs);
        }
    }
    Some(pooled)
}

/// The attempts that fit, from the first to the last.
fn attempts(report: &Report, within: Duration, config: &Config) -> Vec<Report> {
    let is_clean = report.git.as_ref().is_some_and(|git| !git.dirty);
    let keys: HashSet<_> = report.items.iter().map(|item| &*item.key).collect();
    if report.partial || !is_clean || keys.len() < report.items.len() {
        return Vec::new();
    }
    // A folder that cannot be read has no attempts in it.
    let files = result_files(config.layout(), &report.name).unwrap_or_default();
    let paths = files.into_iter().map(|(_, path)| path);
    let mut found: Vec<_> = paths
        .filter(|path| is_recent(path, report, within))
        .filter_map(|path| read_report(&path).ok())
        .filter(|attempt| fits(attempt, report))
        .filter(|attempt| attempt.items.iter().all(|item| keys.contains(&*item.key)))
        .collect();
    found.sort_by(|a, b| (a.timestamp, &a.id).cmp(&(b.timestamp, &b.id)));
    found.dedup_by(|a, b| a.id == b.id);
    found
}

/// Whether a file has the name of another run's that began not long before.
fn is_recent(path: &Path, report: &Report, within: Duration) -> bool {
    let name = path.file_name().and_then(|name| ResultFileName::parse(name.to_str()?));
    let Some((name, begun)) = name.and_then(|name| Some((name, name.time()?))) else { return false };
    let age = report.timestamp.time().duration_since(begun.time());
    name.id != report.id && age.is_ok_and(|age| age <= within)
}

fn fits(attempt: &Report, report: &Report) -> bool {
    let evaluators = |RunConfig { evaluators, pass_marks, evaluator_hashes, .. }: &RunConfig| {
        (evaluators.clone(), pass_marks.clone(), evaluator_hashes.clone())
    };
    let hash = |report: &Report| report.dataset.as_ref().map(|dataset| dataset.hash.clone());
    let is_same_source = match (&attempt.sources, &report.sources) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    };
    attempt.schema == SCHEMA
        && attempt.name == report.name
        && !attempt.partial
        && attempt.git == report.git
        && is_same_source
        && hash(attempt) == hash(report)
        && evaluators(&attempt.config) == evaluators(&report.config)
        && attempt.items.len() == report.items.len()
        && attempt.items.iter().all(|item| item.runs.len() == attempt.config.runs && !item.is_in_error())
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::store::write_report;

    /// A run of two items, so many minutes after the first.
    pub(in crate::session) fn run(id: &str, minute: u32, change: impl FnOnce(&mut Value)) -> Report {
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

    /// The ids of the runs that count with the last one, and how many runs of each item that makes.
    fn found(
        attempts: &[Report],
        settings: &str,
        ci: bool,
        now: &Report,
    ) -> Option<(Vec<String>, Vec<usize>)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cobalt.toml"), settings).unwrap();
        let variable = |name: &str| (ci && name == "COBALT_CI").then(|| "1".into());
        let config = Config::load(folder.path(), variable).unwrap();
        attempts.iter().for_each(|attempt| drop(write_report(config.layout(), attempt).unwrap()));
        let pooled = pooled(now, Some("ba5e"), &config)?;
        assert_eq!(pooled.config.runs, pooled.items[0].runs.len());
        Some((pooled.pooled, pooled.items.iter().map(|item| item.runs.len()).collect()))
    }

    #[test]
    fn earlier_runs_of_the_commit_count_in_ci_as_further_runs_of_the_items() {
        let attempts =
            [run("bbb", 20, |_| {}), run("aaa", 10, |_| {}), run("ba5e", 5, |_| {}), run("ccc", 40, |_| {})];
        let now = run("ddd", 30, |run| run["items"].as_array_mut().unwrap().reverse());
        let expected = Some((vec!["aaa".to_owned(), "bbb".to_owned()], vec![3, 3]));
        assert_eq!(found(&attempts, "", true, &now), expected, "those before it, but not the baseline");
        assert_eq!(found(&attempts, "", false, &now), None, "not beside CI");
        let only = Some((vec!["bbb".to_owned()], vec![2, 2]));
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
