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
/// same commit without changes, on the same items, by the same evaluators, and in which nothing ended in an error: what a
/// broken connection left out says nothing of the agent.
pub(super) fn pooled(report: &Report, config: &Config) -> Option<Report> {
    let attempts = attempts(report, config.pools_reruns_for()?, config);
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
    name.id != report.id && !within.is_zero() && age.is_ok_and(|age| age <= within)
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
