//! GitHub annotations of an invocation: most severe first, limited to the number that GitHub shows.

use std::path::{Path, PathBuf};

use cobalt_core::report::comparison::ThresholdStatus;
use cobalt_core::report::{Report, RunVerdict, SourceLocation};
use cobalt_core::reporters::{Style, Warning, escape_control, explain, format_pass_marks, verdict_reasons};
use cobalt_core::wording::{count, truncate};

use super::workflow_commands::{Annotation, Level};
use crate::formats::{NotableItems, Severity};
use crate::results::{BrokenExperiment, FinishedExperiment, InterruptedRun, Results};

/// GitHub shows this many annotations per level and step, and silently drops others.
const SHOWN: usize = 10;
/// Maximum length of a message, in characters.
const LONGEST: usize = 2000;
/// Maximum length of a title, in characters.
const LONGEST_TITLE: usize = 200;

/// Root folders of source paths.
#[derive(Debug)]
pub struct SourceRoots {
    /// The root of the cargo workspace; compiler paths are relative to it.
    pub workspace: PathBuf,
    /// The root of the repository; GitHub paths are relative to it.
    pub repository: Option<PathBuf>,
}

impl SourceRoots {
    /// A place with a path for GitHub.
    fn resolve(&self, place: &SourceLocation) -> (String, u32) {
        let path = self.workspace.join(&place.file);
        // Links can give a folder several paths.
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let seen_from = self.repository.as_ref().unwrap_or(&self.workspace);
        let path =
            canonical(&path).strip_prefix(canonical(seen_from)).map_or_else(|_| path.clone(), Path::to_owned);
        (path.to_string_lossy().replace('\\', "/"), place.line)
    }
}

/// The annotations, limited per level; if there are more, the last one says how many.
pub fn annotations(results: &Results, places: &SourceRoots) -> Vec<Annotation> {
    let mut all = invocation_annotations(results, places);
    for finished in &results.experiments {
        all.extend(experiment_annotations(finished, places));
    }
    // Within a level, experiments come before their items.
    all.sort_by_key(|(rank, annotation)| (annotation.level, *rank));
    let levels = [Level::Error, Level::Warning, Level::Notice];
    levels
        .into_iter()
        .flat_map(|level| limit(level, all.iter().filter(|(_, it)| it.level == level)))
        .collect()
}

/// The subject of an annotation, most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Call,
    Experiment,
    Summary,
    Threshold,
    Item(Severity),
}

type Ranked = (Subject, Annotation);

fn limit<'a>(level: Level, those: impl Iterator<Item = &'a Ranked>) -> Vec<Annotation> {
    let mut those: Vec<_> = those.map(|(_, annotation)| annotation.clone()).collect();
    if those.len() > SHOWN {
        let left = those.len() - (SHOWN - 1);
        those.truncate(SHOWN - 1);
        let noun = match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Notice => "notice",
        };
        let message =
            format!("and {}; see the summary or the log for all", count(left, &format!("more {noun}")));
        those.push(Annotation { level, title: "cobalt".to_owned(), message, place: None });
    }
    those
}

fn annotation(level: Level, title: &str, message: &str, place: Option<(String, u32)>) -> Annotation {
    let message = escape_control(&truncate(message, LONGEST)).into_owned();
    Annotation { level, title: escape_control(&truncate(title, LONGEST_TITLE)).into_owned(), message, place }
}

/// Annotations of experiments that did not finish, of errors, and of warnings.
fn invocation_annotations(results: &Results, places: &SourceRoots) -> Vec<Ranked> {
    let errors =
        results.errors.iter().map(|error| (Subject::Call, annotation(Level::Error, "cobalt", error, None)));
    let broken = results.broken.iter().map(|BrokenExperiment { name, error, declared_at }| {
        let place = declared_at.as_ref().map(|place| places.resolve(place));
        (Subject::Experiment, annotation(Level::Error, &format!("{name} could not be run"), error, place))
    });
    let cut_off = results.interrupted.iter().map(|run| {
        let InterruptedRun { name, declared_at, .. } = run;
        let place = declared_at.as_ref().map(|place| places.resolve(place));
        let message = run.resume_advice(|command| format!("`{command}`"));
        (Subject::Experiment, annotation(Level::Error, &format!("{name} was interrupted"), &message, place))
    });
    let warnings = results.warnings.iter().map(|Warning { experiment, message, declared_at }| {
        let place = declared_at.as_ref().map(|place| places.resolve(place));
        let title = experiment.as_deref().unwrap_or("cobalt");
        (Subject::Call, annotation(Level::Warning, title, message, place))
    });
    let still_failed = results.still_failed.iter().map(|(name, why)| {
        let title = format!("{name} still fails because of earlier results");
        (Subject::Experiment, annotation(Level::Error, &title, why, None))
    });
    errors.chain(broken).chain(cut_off).chain(still_failed).chain(warnings).collect()
}

fn experiment_annotations(finished: &FinishedExperiment, places: &SourceRoots) -> Vec<Ranked> {
    let report = &finished.report;
    let place = || report.declared_at.as_ref().map(|place| places.resolve(place));
    let mut all = Vec::new();
    if let Some(reason) = &finished.without_items {
        let title = format!("the items of {} are not available", report.name);
        all.push((Subject::Experiment, annotation(Level::Error, &title, reason, place())));
    }
    for (name, error) in &report.summary.summary_errors {
        let title = format!("{}: summary function {name} failed", report.name);
        all.push((Subject::Summary, annotation(Level::Error, &title, error, place())));
    }
    for threshold in report.thresholds() {
        let (level, what) = match (threshold.finding, threshold.passed) {
            (ThresholdStatus::Met, _) => continue,
            (ThresholdStatus::Missed, _) => (Level::Error, "missed"),
            (ThresholdStatus::Inconclusive, false) => (Level::Error, "inconclusive (fails)"),
            (ThresholdStatus::Inconclusive, true) => (Level::Warning, "inconclusive"),
        };
        let title = format!("{}: {} {what}", report.name, threshold.name);
        all.push((Subject::Threshold, annotation(level, &title, &threshold.message, place())));
    }
    for item in NotableItems::of(finished).shown {
        let level = if item.severity == Severity::BelowPassMark { Level::Warning } else { Level::Error };
        let title = format!("{}::{} {}", report.name, item.name, item.severity.words());
        let message = explain(item.item, &report.name, &report.config);
        all.push((Subject::Item(item.severity), annotation(level, &title, &message, place())));
    }
    all.push((Subject::Experiment, conclusion(report, place())));
    all
}

/// The overall result of an experiment.
fn conclusion(report: &Report, place: Option<(String, u32)>) -> Annotation {
    let level = if report.verdict == RunVerdict::Failed { Level::Error } else { Level::Notice };
    let mut parts = vec![count(report.summary.total_items, "item")];
    parts.extend(verdict_reasons(report));
    parts.extend(format_pass_marks(report, Style::Plain));
    let replayed = report.summary.traffic.as_ref().map_or(0, |traffic| traffic.replayed_items);
    parts.extend((replayed > 0).then(|| format!("{} replayed", count(replayed, "item"))));
    let scores = report.summary.scores.iter().map(|(name, stats)| format!("{name} {:.3}", stats.avg));
    parts.extend(scores);
    annotation(level, &format!("{} {}", report.name, report.verdict), &parts.join(", "), place)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::fixtures::large_in_both_forms;

    /// Results of one experiment with an item per score; `None` is an error.
    fn results(strict: bool, scores: &[Option<f64>]) -> Results {
        let item = |(index, score): (usize, &Option<f64>)| {
            let mut item = json!({ "index": index, "key": "", "input": {}, "latencyMs": 1.0 });
            item["passed"] = json!(score.is_some_and(|score| score >= 0.5 || !strict));
            match score {
                Some(score) => {
                    item["output"] = json!({ "output": "" });
                    item["evaluations"] = json!({ "right": { "score": score } });
                }
                None => (item["status"], item["error"]) = (json!("error"), json!("it broke")),
            }
            item
        };
        let items: Vec<_> = scores.iter().enumerate().map(item).collect();
        let passed = items.iter().all(|item| item["passed"] == true);
        let report = json!({
            "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "items": items,
            "summary": { "totalItems": items.len() }, "passed": passed,
            "declaredAt": { "file": "tests/evals.rs", "line": 7 },
            "config": {
                "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": ["right"], "passMarks": [0.5], "strict": strict,
            },
        });
        let report = serde_json::from_value(report).unwrap();
        Results::of(vec![FinishedExperiment::of_report(report, None)])
    }

    fn of(results: &Results) -> Vec<Annotation> {
        let repository = Some(PathBuf::from("/work/repository"));
        annotations(results, &SourceRoots { workspace: "/work/repository/agents".into(), repository })
    }

    fn titles(annotations: &[Annotation], level: Level) -> Vec<&str> {
        annotations.iter().filter(|it| it.level == level).map(|it| &*it.title).collect()
    }

    #[test]
    fn the_gravest_come_first_and_stand_where_the_experiment_is_declared() {
        let all = of(&results(true, &[Some(0.0), Some(1.0), None]));
        assert_eq!(titles(&all, Level::Error), ["desk failed", "desk::0002 in error", "desk::0000 failed"]);
        assert_eq!(all[0].place, Some(("agents/tests/evals.rs".to_owned(), 7)));
    }

    #[test]
    fn the_conclusion_on_a_large_run_counts_all_its_items() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, parts] =
            large_in_both_forms(folder.path()).map(|finished| conclusion(&finished.report, None).message);
        assert_eq!(whole, parts);
        assert!(parts.contains("2,500 items, 250 items in error"), "{parts}");
    }

    #[test]
    fn a_summary_function_that_failed_is_an_error_of_its_own() {
        let mut results = results(true, &[Some(0.0)]);
        let errors = [("confusion".to_owned(), "no labels".to_owned())].into();
        results.experiments[0].report.summary.summary_errors = errors;
        let all = of(&results);
        let expected = ["desk failed", "desk: summary function confusion failed", "desk::0000 failed"];
        assert_eq!(titles(&all, Level::Error), expected);
        assert_eq!(all[1].message, "no labels");
    }

    #[test]
    fn low_scores_that_fail_nothing_are_warnings() {
        let all = of(&results(false, &[Some(0.0), Some(1.0)]));
        assert_eq!(titles(&all, Level::Warning), ["desk::0000 below pass mark"]);
        assert_eq!(titles(&all, Level::Notice), ["desk passed"]);
        assert_eq!(titles(&all, Level::Error), [""; 0]);
    }

    #[test]
    fn warnings_come_before_low_scores_and_stand_where_their_experiment_is_declared() {
        let mut results = results(false, &[Some(0.0)]);
        let declared_at = Some(SourceLocation { file: "tests/evals.rs".to_owned(), line: 7 });
        results.warnings = vec![
            Warning {
                experiment: Some("desk".to_owned()),
                message: "nothing bounds a score".to_owned(),
                declared_at,
            },
            Warning::global("a variable is unknown".to_owned()),
        ];
        let all = of(&results);
        assert_eq!(titles(&all, Level::Warning), ["desk", "cobalt", "desk::0000 below pass mark"]);
        assert_eq!(all[0].place, Some(("agents/tests/evals.rs".to_owned(), 7)));
        assert_eq!(all[1].message, "a variable is unknown");
    }

    #[test]
    fn the_conclusion_says_how_many_items_were_replayed() {
        let mut results = results(true, &[Some(1.0), Some(1.0)]);
        let traffic = json!({ "replayedItems": 2, "replayed": 4 });
        results.experiments[0].report.summary.traffic = Some(serde_json::from_value(traffic).unwrap());
        assert_eq!(of(&results)[0].message, "2 items, 2 of 2 items passed, 2 items replayed");
    }

    #[test]
    fn a_run_that_was_not_evaluated_is_called_so_and_earlier_results_that_fail_are_errors() {
        let mut results = results(false, &[Some(0.0)]);
        results.experiments[0].report.verdict = RunVerdict::NotEvaluated;
        results.still_failed = vec![("other".to_owned(), "1 item in error in run `a` (x)".to_owned())];
        let all = of(&results);
        assert_eq!(titles(&all, Level::Notice), ["desk not evaluated"]);
        assert_eq!(titles(&all, Level::Error), ["other still fails because of earlier results"]);
    }

    #[test]
    fn no_more_are_given_than_github_shows_and_the_last_counts_the_others() {
        let all = of(&results(true, &[None; 12]));
        let errors = titles(&all, Level::Error);
        assert_eq!((errors.len(), errors[0], errors[9]), (10, "desk failed", "cobalt"));
        assert!(all[9].message.starts_with("and 4 more errors"), "{}", all[9].message);
        assert_eq!(of(&results(true, &[None; 9])).last().unwrap().title, "desk::0008 in error");
    }
}
