//! The body of a webhook request: the results without inputs and outputs of agents, and the CI job from its environment variables.
//!
//! Sources: <https://docs.github.com/en/actions/reference/workflows-and-actions/variables>,
//! <https://docs.gitlab.com/ci/variables/predefined_variables/>.

use std::collections::BTreeMap;

use cobalt_core::report::comparison::{Difference, ThresholdStatus};
use cobalt_core::report::{GitState, ItemResult, Report, RunVerdict, Timestamp};
use serde::Serialize;

use crate::compare::regressions;
use crate::results::{FinishedExperiment, NamedItem, Results};

/// The schema version of the body: fields can be added, never renamed.
const SCHEMA: u32 = 1;
/// The event name.
pub const EVENT: &str = "run.finished";
/// Maximum number of items listed below pass mark, in error, and diverged from their recording.
const MOST_NAMED: usize = 8;

/// The body of a request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Body<'a> {
    schema: u32,
    event: &'static str,
    /// Unique per body; the same for retries.
    pub delivery: String,
    pub timestamp: Timestamp,
    /// The verdicts as a sentence for people.
    text: String,
    passed: bool,
    verdict: RunVerdict,
    experiments: Vec<Experiment<'a>>,
    broken: Vec<&'a str>,
    cut_off: Vec<InterruptedRun<'a>>,
    ignored: Vec<&'a str>,
    skipped: Vec<&'a str>,
    still_failed: Vec<&'a str>,
    /// The number of other errors; their texts are not sent, as they can contain anything.
    errors: usize,
    git: Option<&'a GitState>,
    ci: Option<&'a CiJob>,
}

/// The result of an experiment.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Experiment<'a> {
    report: Report,
    regressed: bool,
    regressions: Vec<&'a Difference>,
    /// Whether the items are available, on which the following lists are based.
    items_known: bool,
    low_items: usize,
    low: Vec<LowItem>,
    items_in_error: usize,
    failed: Vec<String>,
    /// The first items that diverged from their recording; the report's summary has their number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diverged: Vec<String>,
}

/// An item with scores below their pass marks.
#[derive(Debug, Serialize)]
struct LowItem {
    item: String,
    scores: BTreeMap<String, f64>,
}

/// An interrupted run.
#[derive(Debug, Serialize)]
struct InterruptedRun<'a> {
    name: &'a str,
    id: &'a str,
}

impl<'a> Body<'a> {
    pub fn of(results: &'a Results, ci: Option<&'a CiJob>) -> Self {
        let names = |list: &'a [(String, String)]| list.iter().map(|(name, _)| &**name).collect();
        let reports = || results.experiments.iter().map(|finished| &finished.report);
        Self {
            schema: SCHEMA,
            event: EVENT,
            delivery: format!("{:032x}", fastrand::u128(..)),
            timestamp: Timestamp::now(),
            text: text(results),
            passed: results.verdict() == RunVerdict::Passed,
            verdict: results.verdict(),
            experiments: results.experiments.iter().map(Experiment::of).collect(),
            broken: results.broken.iter().map(|broken| &*broken.name).collect(),
            cut_off: results
                .interrupted
                .iter()
                .map(|run| InterruptedRun { name: &run.name, id: &run.id })
                .collect(),
            ignored: names(&results.ignored),
            skipped: names(&results.skipped),
            still_failed: names(&results.still_failed),
            errors: results.errors.len(),
            git: reports().find_map(|report| report.git.as_ref()),
            ci,
        }
    }
}

impl<'a> Experiment<'a> {
    fn of(finished: &'a FinishedExperiment) -> Self {
        let FinishedExperiment { report, items, .. } = finished;
        let named = |is_wanted: fn(&ItemResult) -> bool| {
            let wanted = items.shown().iter().filter(move |named| is_wanted(&named.item));
            wanted.take(MOST_NAMED).map(|named| named.case.clone()).collect()
        };
        let mut low: Vec<_> = items.shown().iter().filter_map(|named| low_item(report, named)).collect();
        let lowest = |low: &LowItem| low.scores.values().copied().fold(f64::INFINITY, f64::min);
        low.sort_by(|one, other| lowest(one).total_cmp(&lowest(other)));
        low.truncate(MOST_NAMED);
        Self {
            report: report.clone(),
            regressed: has_regressed(report),
            regressions: regressions_of(report).collect(),
            items_known: finished.without_items.is_none(),
            low_items: report.summary.low_items,
            low,
            items_in_error: report.summary.items_in_error(),
            failed: named(ItemResult::is_in_error),
            diverged: named(has_diverged),
        }
    }
}

/// Whether a conversation of an item diverged from its recording.
fn has_diverged(item: &ItemResult) -> bool {
    item.runs.iter().any(|run| run.traffic.as_ref().is_some_and(|traffic| traffic.diverged.is_some()))
}

/// Evaluators and the error rate, if they are significantly worse than in the baseline.
fn regressions_of(report: &Report) -> impl Iterator<Item = &Difference> {
    report.baseline.as_deref().into_iter().flat_map(regressions)
}

/// Whether the run is significantly worse than its baseline, or misses a baseline threshold.
pub fn has_regressed(report: &Report) -> bool {
    let missed = |threshold: &cobalt_core::report::ThresholdOutcome| {
        threshold.against_baseline && threshold.finding == ThresholdStatus::Missed
    };
    regressions_of(report).next().is_some() || report.thresholds().iter().any(missed)
}

/// An item below a pass mark, without an error.
fn low_item(report: &Report, NamedItem { case, item, .. }: &NamedItem) -> Option<LowItem> {
    let scores = report.config.scores_below_pass_mark(item).map(|(name, score)| (name.to_owned(), score));
    let scores: BTreeMap<_, _> = scores.filter(|_| !item.is_in_error()).collect();
    (!scores.is_empty()).then(|| LowItem { item: case.clone(), scores })
}

/// Which experiments failed, and which passed.
fn text(results: &Results) -> String {
    let of = |wanted: RunVerdict| {
        results.with_verdict(move |verdict| verdict == wanted).map(|finished| &*finished.report.name)
    };
    let broken = results.broken.iter().map(|broken| &*broken.name);
    let still_failed: Vec<_> = results.still_failed.iter().map(|(name, _)| &**name).collect();
    let failed = of(RunVerdict::Failed).filter(|name| !still_failed.contains(name)).chain(broken);
    let mut parts = vec![
        ("FAILED", failed.collect::<Vec<_>>()),
        ("still FAILED because of earlier results", still_failed.clone()),
        ("interrupted", results.interrupted.iter().map(|run| &*run.name).collect()),
        ("passed", of(RunVerdict::Passed).collect()),
        ("not evaluated", of(RunVerdict::NotEvaluated).collect()),
        ("skipped", results.skipped.iter().map(|(name, _)| &**name).collect()),
        ("ignored", results.ignored.iter().map(|(name, _)| &**name).collect()),
    ];
    parts.retain(|(_, names)| !names.is_empty());
    let mut parts: Vec<_> =
        parts.into_iter().map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
    if !results.errors.is_empty() {
        parts.push(format!("other errors: {}", results.errors.len()));
    }
    parts.join("; ")
}

/// A job of a CI server.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CiJob {
    provider: &'static str,
    /// The page of the job.
    url: Option<String>,
    repository: Option<String>,
    /// The branch or the tag.
    branch: Option<String>,
    /// The number of the pull request or merge request.
    pull_request: Option<String>,
}

impl CiJob {
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let get = |name: &str| variable(name).filter(|value| !value.is_empty());
        if get("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
            Some(Self::github(get))
        } else if get("GITLAB_CI").is_some_and(|value| value == "true") {
            Some(Self::gitlab(get))
        } else {
            None
        }
    }

    fn github(get: impl Fn(&str) -> Option<String>) -> Self {
        let repository = get("GITHUB_REPOSITORY");
        let url = || {
            let (server, repository) = (get("GITHUB_SERVER_URL")?, repository.as_ref()?);
            Some(format!("{server}/{repository}/actions/runs/{}", get("GITHUB_RUN_ID")?))
        };
        // For example `refs/pull/12/merge`.
        let pull_request = || {
            let reference = get("GITHUB_REF")?;
            Some(reference.strip_prefix("refs/pull/")?.split('/').next()?.to_owned())
        };
        Self {
            provider: "github-actions",
            url: url(),
            branch: get("GITHUB_HEAD_REF").or_else(|| get("GITHUB_REF_NAME")),
            pull_request: pull_request(),
            repository,
        }
    }

    fn gitlab(get: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            provider: "gitlab-ci",
            url: get("CI_JOB_URL"),
            repository: get("CI_PROJECT_PATH"),
            branch: get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME").or_else(|| get("CI_COMMIT_REF_NAME")),
            pull_request: get("CI_MERGE_REQUEST_IID"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::formats::fixtures::large_in_both_forms;

    fn told(variables: &[(&str, &str)]) -> Value {
        let get = |name: &str| {
            let found = variables.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        json!(CiJob::of(get))
    }

    #[test]
    fn a_pull_request_of_github_is_told_with_its_run() {
        let variables = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_REPOSITORY", "team/agent"),
            ("GITHUB_RUN_ID", "42"),
            ("GITHUB_REF", "refs/pull/12/merge"),
            ("GITHUB_REF_NAME", "12/merge"),
            ("GITHUB_HEAD_REF", "shorter-prompt"),
        ];
        let expected = json!({
            "provider": "github-actions",
            "url": "https://github.com/team/agent/actions/runs/42",
            "repository": "team/agent",
            "branch": "shorter-prompt",
            "pullRequest": "12",
        });
        assert_eq!(told(&variables), expected);
    }

    #[test]
    fn a_branch_of_gitlab_is_told_with_its_job() {
        let variables = [
            ("GITLAB_CI", "true"),
            ("CI_JOB_URL", "https://gitlab.com/team/agent/-/jobs/7"),
            ("CI_PROJECT_PATH", "team/agent"),
            ("CI_COMMIT_REF_NAME", "main"),
            ("CI_MERGE_REQUEST_IID", ""),
        ];
        let expected = json!({
            "provider": "gitlab-ci",
            "url": "https://gitlab.com/team/agent/-/jobs/7",
            "repository": "team/agent",
            "branch": "main",
            "pullRequest": null,
        });
        assert_eq!(told(&variables), expected);
    }

    #[test]
    fn the_counts_and_the_lowest_items_of_a_large_run_are_those_of_all_its_items() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, parts] =
            large_in_both_forms(folder.path()).map(|finished| json!(Experiment::of(&finished)));
        assert_eq!(whole, parts);
        assert_eq!((&parts["lowItems"], &parts["itemsInError"]), (&json!(1_250), &json!(250)));
        assert_eq!(parts["low"][0]["item"], "item-2495");
    }

    #[test]
    fn items_that_diverged_are_named_without_their_texts() {
        let item = |index: usize, traffic: Value| {
            json!({ "index": index, "key": format!("i{index}"), "input": { "id": format!("i{index}") }, "latencyMs": 1.0,
                "output": { "output": "x" }, "evaluations": {}, "traffic": traffic })
        };
        let diverged = json!({ "replayed": 1, "live": 1, "diverged": "`messages[1]`: recorded `a secret`" });
        let report = json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z",
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": [] },
            "summary": { "totalItems": 2, "traffic": { "replayedItems": 1, "liveItems": 1, "divergedItems": 1, "replayed": 2, "live": 1 } },
            "items": [item(0, json!({ "replayed": 1 })), item(1, diverged)],
        });
        let report = serde_json::from_value(report).unwrap();
        let results = Results::of(vec![FinishedExperiment::of_report(report, None)]);
        let body = json!(Body::of(&results, None));
        let experiment = &body["experiments"][0];
        assert_eq!(experiment["diverged"], json!(["i1"]));
        assert_eq!(experiment["report"]["summary"]["traffic"]["divergedItems"], 1);
        assert!(!body.to_string().contains("a secret"), "{body}");
    }

    #[test]
    fn elsewhere_there_is_no_job() {
        assert_eq!(told(&[("CI", "true"), ("GITHUB_ACTIONS", "false")]), Value::Null);
    }
}
