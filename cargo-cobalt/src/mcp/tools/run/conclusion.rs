//! The conclusion of a run: experiments without a result, errors, and the verdict in a sentence.

use cobalt_core::report::{RunVerdict, SourceLocation};
use cobalt_core::reporters::ExperimentFinished;
use cobalt_core::wording::{count, truncate};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mcp::plain_errors::simplify;
use crate::mcp::stderr;
use crate::results::{MissingResult, Problem, RunState};

/// The longest name, in characters.
pub const LONGEST: usize = 200;

/// An experiment without a result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotRun {
    /// The experiment's name.
    pub name: String,
    pub state: NotRunReason,
    /// What is wrong, and what to do.
    pub reason: String,
    /// The run ID, if the run can be resumed: `cobalt_results` reads its finished items, `cobalt_run` with `resume` runs the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Where the experiment is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<SourceLocation>,
}

/// Why an experiment has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NotRunReason {
    /// Its dataset or declaration has an error.
    Broken,
    /// A required environment variable is not set.
    Ignored,
    /// It had no items to run.
    NothingToRun,
    /// It was interrupted before all items finished; finished items are saved.
    #[serde(rename = "cutOff")]
    Interrupted,
}

impl NotRun {
    fn of(name: &str, why: &MissingResult, declared_at: Option<&SourceLocation>) -> Self {
        let (state, reason, run_id) = match why {
            MissingResult::Broken { error } => (NotRunReason::Broken, error.clone(), None),
            MissingResult::Ignored { variable } => {
                let reason = format!("the environment variable {variable} is unset or empty");
                (NotRunReason::Ignored, reason, None)
            }
            MissingResult::NothingToRun { why } => (NotRunReason::NothingToRun, why.clone(), None),
            // Only if finished items are saved can its run be resumed.
            MissingResult::Interrupted { id, kept: true } => {
                (NotRunReason::Interrupted, "finished items are saved".to_owned(), Some(id.clone()))
            }
            MissingResult::Interrupted { kept: false, .. } => {
                (NotRunReason::Interrupted, "no item was finished; run it again".to_owned(), None)
            }
            MissingResult::Crashed { id, done, items } => {
                let reason = format!("{done} of {items} items finished and saved");
                (NotRunReason::Interrupted, reason, Some(id.clone()))
            }
        };
        let (name, reason) = (truncate(name, LONGEST).into_owned(), stderr::excerpt(&simplify(&reason)));
        Self { name, state, reason, run_id, declared_at: declared_at.cloned() }
    }
}

/// The experiments without a result, in the order of their events.
pub fn not_run(state: &RunState) -> Vec<NotRun> {
    let all = state.without_result.iter();
    all.map(|it| NotRun::of(&it.name, &it.why, it.declared_at.as_ref())).collect()
}

/// The distinct errors, except experiments that earlier results fail.
pub fn errors(state: &RunState) -> Vec<String> {
    let mut errors = Vec::new();
    for problem in &state.problems {
        let error = match problem {
            Problem::Invocation(error) => simplify(error),
            Problem::Interrupted(error) => error.clone(),
            Problem::Unsaved { experiment, error } => {
                format!("the results of `{experiment}` are not saved: {error}")
            }
        };
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    errors.iter().map(|error| stderr::excerpt(error)).collect()
}

/// The experiments that earlier results fail, in a sentence each.
pub fn still_failed(state: &RunState) -> impl Iterator<Item = String> {
    state.still_failed.iter().map(|(name, why)| {
        let (name, why) = (truncate(name, LONGEST), stderr::excerpt(why));
        format!("experiment `{name}` still fails because of earlier results: {why}")
    })
}

/// Warnings about probable mistakes.
pub fn warnings(state: &RunState) -> Vec<String> {
    state.warnings.iter().map(|warning| stderr::excerpt(&warning.to_string())).collect()
}

/// Whether at least one experiment ran, and all of them passed.
pub fn is_passed(state: &RunState) -> bool {
    let is_fine = |why: &MissingResult| {
        matches!(why, MissingResult::Ignored { .. } | MissingResult::NothingToRun { .. })
    };
    !state.finished.is_empty()
        && state.still_failed.is_empty()
        && count_with_verdict(state, RunVerdict::Passed) == state.finished.len()
        && state.without_result.iter().all(|it| is_fine(&it.why))
}

/// Whether an experiment is broken, and so reports its own error.
pub fn has_broken(state: &RunState) -> bool {
    state.count(is_broken) > 0
}

/// Whether an experiment was interrupted, or its process ended too early.
pub fn has_interrupted(state: &RunState) -> bool {
    state.count(is_interrupted) > 0
}

/// The outcome of the experiments or, if the build failed, of the build, in a sentence.
pub fn verdict(state: &RunState, compile_errors: usize) -> String {
    let not_built = (compile_errors > 0).then(|| format!("not built: {}", count(compile_errors, "error")));
    let all = state.finished.len() + state.without_result.len();
    if all == 0 {
        return not_built.unwrap_or_else(|| "no experiments were run".to_owned());
    }
    let left_failed = left_failed(state);
    let counts = [
        (count_with_verdict(state, RunVerdict::Passed), "passed"),
        (count_with_verdict(state, RunVerdict::NotEvaluated), "not evaluated"),
        (count_with_verdict(state, RunVerdict::Failed), "failed"),
        (failed_earlier(state) + left_failed, "still failing because of earlier results"),
        (state.count(is_broken), "cannot be run"),
        (state.count(is_interrupted), "interrupted"),
        (state.count(|why| matches!(why, MissingResult::Ignored { .. })), "ignored"),
        (state.count(is_nothing_to_run) - left_failed, "with nothing to run"),
    ];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<_> = counts.map(|(number, what)| format!("{number} {what}")).collect();
    let not_built = not_built.map(|errors| format!("; another test target is {errors}")).unwrap_or_default();
    format!("{}: {}{not_built}", count(all, "experiment"), parts.join(", "))
}

/// The number of finished experiments with this verdict, except those that only earlier results fail.
fn count_with_verdict(state: &RunState, verdict: RunVerdict) -> usize {
    let finished = state.finished.iter().filter(|finished| !is_failed_earlier(state, finished));
    finished.filter(|finished| finished.report.verdict == verdict).count()
}

/// The number of partly run experiments that only earlier results fail.
fn failed_earlier(state: &RunState) -> usize {
    state.finished.iter().filter(|finished| is_failed_earlier(state, finished)).count()
}

/// The number of experiments with nothing to run that only earlier results fail.
fn left_failed(state: &RunState) -> usize {
    let nothing = state.without_result.iter().filter(|it| is_nothing_to_run(&it.why));
    nothing.filter(|it| state.is_still_failed(&it.name)).count()
}

/// Whether this run did not fail, but earlier results still fail its experiment.
fn is_failed_earlier(state: &RunState, finished: &ExperimentFinished) -> bool {
    finished.report.verdict != RunVerdict::Failed && state.is_still_failed(&finished.report.name)
}

fn is_broken(why: &MissingResult) -> bool {
    matches!(why, MissingResult::Broken { .. })
}

fn is_interrupted(why: &MissingResult) -> bool {
    matches!(why, MissingResult::Interrupted { .. } | MissingResult::Crashed { .. })
}

fn is_nothing_to_run(why: &MissingResult) -> bool {
    matches!(why, MissingResult::NothingToRun { .. })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The state after these events.
    fn after(events: &[Value]) -> RunState {
        let mut state = RunState::default();
        for event in events {
            state.apply(&serde_json::from_value(event.clone()).unwrap());
        }
        state.binary_ended();
        state
    }

    fn started(experiment: usize, name: &str) -> Value {
        json!({ "event": "experiment-started", "experiment": experiment, "id": format!("{experiment:012}"), "name": name,
            "tags": [], "declaredAt": { "file": "tests/evals.rs", "line": 7 }, "items": 2, "done": 0, "runs": 1,
            "evaluators": [], "concurrency": 1, "timeoutMs": 1000, "partial": false })
    }

    fn finished(experiment: usize, name: &str, verdict: &str) -> Value {
        json!({ "event": "experiment-finished", "experiment": experiment, "low": [], "lowItems": 0, "failed": [],
            "itemsInError": 0, "report": { "schema": 1, "id": format!("{experiment:012}"), "name": name,
                "timestamp": "2026-02-05T14:30:00.000Z", "summary": {}, "verdict": verdict, "passed": verdict == "passed",
                "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": [], "passMarks": [] } } })
    }

    fn still_failed(name: &str) -> Value {
        json!({ "event": "experiment-still-failed", "name": name, "why": "1 item in error in run `0123456789ab`" })
    }

    #[test]
    fn a_warning_is_collected_once_and_fails_nothing() {
        let of_call = json!({ "event": "warning", "message": "a variable is unknown" });
        let of_one =
            json!({ "event": "warning", "experiment": "desk", "message": "no threshold bounds a score" });
        let events = [started(0, "desk"), of_call.clone(), of_one, finished(0, "desk", "passed"), of_call];
        let state = after(&events);
        assert_eq!(warnings(&state), ["a variable is unknown", "desk: no threshold bounds a score"]);
        assert!(is_passed(&state) && errors(&state).is_empty());
    }

    #[test]
    fn an_interrupted_run_can_be_resumed_only_if_items_are_saved() {
        let interrupted = |experiment: usize, name: &str, kept: Value, error: Value| {
            json!({ "event": "experiment-interrupted", "name": name, "id": format!("{experiment:012}"), "kept": kept,
                "error": error })
        };
        let full = "failed to write `a.jsonl`: No space left on device";
        let state = after(&[
            started(0, "none"),
            started(1, "some"),
            started(2, "unknown"),
            interrupted(0, "none", json!(0), json!(full)),
            interrupted(1, "some", json!(1), json!(full)),
            interrupted(2, "unknown", Value::Null, Value::Null),
        ]);
        let not_run = not_run(&state);
        let told: Vec<_> = not_run
            .iter()
            .map(|not_run| (&*not_run.name, &*not_run.reason, not_run.run_id.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("none", "no item was finished; run it again", None),
                ("some", "finished items are saved", Some("000000000001")),
                ("unknown", "finished items are saved", Some("000000000002")),
            ]
        );
        assert!(not_run.iter().all(|it| it.state == NotRunReason::Interrupted && it.declared_at.is_some()));
        assert_eq!(errors(&state), [full]);
        assert_eq!(verdict(&state, 0), "3 experiments: 3 interrupted");
    }

    #[test]
    fn a_still_failing_experiment_is_counted_once() {
        let skipped =
            |name: &str| json!({ "event": "experiment-skipped", "name": name, "why": "nothing has changed" });
        let state = after(&[
            skipped("left"),
            skipped("fine"),
            still_failed("left"),
            still_failed("part"),
            still_failed("gated"),
            still_failed("again"),
            finished(0, "part", "passed"),
            finished(1, "gated", "notEvaluated"),
            finished(2, "again", "failed"),
            finished(3, "good", "passed"),
        ]);
        assert_eq!(
            verdict(&state, 0),
            "6 experiments: 1 passed, 1 failed, 3 still failing because of earlier results, 1 with nothing to run"
        );
        assert!(!is_passed(&state));
    }
}
