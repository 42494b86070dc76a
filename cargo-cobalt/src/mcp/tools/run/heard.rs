//! What a run tells while it goes on.

use std::collections::BTreeMap;

use cobalt::report::{RunVerdict, SourcePlace, Status};
use cobalt::reporters::{Event, ExperimentFinished, ExperimentStarted, ItemFinished};
use cobalt::wording::{count, cut, decimal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mcp::plain::plain;

/// The longest text told of an error while the run goes on, in characters.
const LONGEST_ERROR: usize = 120;

/// How many running experiments are named.
const MOST_AT_WORK: usize = 3;

/// What is known of a run.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Whether the build is over, and a binary has started.
    has_begun: bool,
    /// The experiments of the binary at hand that have started and not ended, with how many of their items are done.
    running: BTreeMap<usize, (ExperimentStarted, usize)>,
    /// How many items are done, of all experiments.
    pub(super) done: usize,
    /// How many items there are, as far as it is known.
    total: usize,
    pub(super) finished: Vec<ExperimentFinished>,
    pub(super) not_run: Vec<NotRun>,
    /// Experiments that earlier results fail, which nothing of this run replaces, each with the reason.
    pub(super) still_failed: Vec<(String, String)>,
    pub(super) errors: Vec<String>,
    /// Each once: several binaries may say the same.
    pub(super) warnings: Vec<String>,
}

/// An experiment that has no result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NotRun {
    /// The experiment's name.
    pub(super) name: String,
    pub(super) state: WhyNotRun,
    /// What is wrong, and what to do.
    pub(super) reason: String,
    /// The id of the run, if it was started and can be resumed: `cobalt_results` reads its finished items, and `resume` of
    /// `cobalt_run` runs the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_id: Option<String>,
    /// Where the experiment is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) declared_at: Option<SourcePlace>,
}

impl NotRun {
    pub(super) fn is_cut_off(&self) -> bool {
        self.state == WhyNotRun::CutOff
    }
}

/// Why an experiment has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum WhyNotRun {
    /// Its data or its declaration is at fault.
    Broken,
    /// A variable that it asks for is not set.
    Ignored,
    /// It had no item to run.
    NothingToRun,
    /// It ended before all items were done; those that are finished are kept.
    CutOff,
}

impl Heard {
    /// How many items there are, as far as it is known.
    pub(super) fn total(&self) -> Option<usize> {
        (self.total > 0).then_some(self.total)
    }

    /// Takes a line of the command in. The answer is what is told of an item that is done.
    pub(super) fn line(&mut self, line: &str) -> Option<String> {
        match serde_json::from_str(line).ok()? {
            // Another binary, whose experiments have numbers of their own.
            Event::Hello { .. } => {
                self.has_begun = true;
                self.cut_off();
            }
            Event::ExperimentStarted(started) => {
                self.total += started.items;
                self.running.insert(started.experiment, (started, 0));
            }
            Event::ItemFinished(item) => return self.item(&item),
            Event::ExperimentFinished(finished) => {
                self.running.remove(&finished.experiment);
                self.errors.extend(
                    finished.unsaved.iter().map(|error| {
                        format!("the results of `{}` are not kept: {error}", finished.report.name)
                    }),
                );
                self.finished.push(*finished);
            }
            Event::ExperimentBroken { name, error, declared_at } => {
                self.add(name, WhyNotRun::Broken, error, None, declared_at);
            }
            Event::ExperimentIgnored { name, variable } => {
                let reason = format!("the environment variable {variable} is not set, or empty");
                self.add(name, WhyNotRun::Ignored, reason, None, None);
            }
            Event::ExperimentSkipped { name, why } => {
                self.add(name, WhyNotRun::NothingToRun, why, None, None);
            }
            Event::ExperimentInterrupted { name, id, kept, error } => {
                self.interrupted(name, id, kept != Some(0), error);
            }
            Event::ExperimentStillFailed { name, why } => self.still_failed.push((name, why)),
            Event::Failed { error } => add_new(&mut self.errors, plain(&error)),
            Event::Warning(warning) => add_new(&mut self.warnings, warning.to_string()),
            _ => {}
        }
        None
    }

    /// What runs at the moment, once the build is over.
    pub(super) fn at_work(&self) -> Option<String> {
        let done = |(started, done): &(ExperimentStarted, usize)| {
            format!("{}: {done} of {} done", started.name, count(started.items, "item"))
        };
        let mut running: Vec<_> = self.running.values().take(MOST_AT_WORK).map(done).collect();
        if self.running.len() > MOST_AT_WORK {
            running.push(format!("{} more", self.running.len() - MOST_AT_WORK));
        }
        match (self.has_begun, running.is_empty()) {
            (false, _) => None,
            (true, true) => Some("running the experiments".to_owned()),
            (true, false) => Some(running.join("; ")),
        }
    }

    /// An experiment was stopped. Only if finished items are saved can its run be resumed.
    fn interrupted(&mut self, name: String, id: String, is_saved: bool, error: Option<String>) {
        let number =
            self.running.iter().find(|(_, (started, _))| started.id == id).map(|(number, _)| *number);
        let started = number.and_then(|number| self.running.remove(&number));
        let declared_at = started.and_then(|(started, _)| started.declared_at);
        if let Some(error) = error {
            add_new(&mut self.errors, error);
        }
        let (reason, run_id) = match is_saved {
            true => ("finished items are saved", Some(id)),
            false => ("no item was finished; run it again", None),
        };
        self.add(name, WhyNotRun::CutOff, reason.to_owned(), run_id, declared_at);
    }

    /// No more comes of the binary at hand: what runs there was cut off.
    pub(super) fn cut_off(&mut self) {
        for (_, (started, done)) in std::mem::take(&mut self.running) {
            let ExperimentStarted { name, id, items, declared_at, .. } = started;
            let reason = format!("it ended after {done} of {items} items, which are kept");
            self.add(name, WhyNotRun::CutOff, reason, Some(id), declared_at);
        }
    }

    /// Whether there was an experiment, and all of them ran and passed.
    pub(super) fn is_passed(&self) -> bool {
        let is_fine =
            |not_run: &NotRun| matches!(not_run.state, WhyNotRun::Ignored | WhyNotRun::NothingToRun);
        !self.finished.is_empty()
            && self.still_failed.is_empty()
            && self.with(RunVerdict::Passed) == self.finished.len()
            && self.not_run.iter().all(is_fine)
    }

    /// Whether an experiment says of itself what is wrong with it.
    pub(super) fn has_broken(&self) -> bool {
        self.not_run.iter().any(|not_run| not_run.state == WhyNotRun::Broken)
    }

    /// What became of the experiments, in a sentence; of the build, where that has errors.
    pub(super) fn verdict(&self, compile_errors: usize) -> String {
        if compile_errors > 0 {
            return format!("not built: {}", count(compile_errors, "error"));
        }
        let mut parts = Vec::new();
        let all = self.finished.len() + self.not_run.len();
        if all == 0 {
            return "no experiment was run".to_owned();
        }
        for (number, what) in [
            (self.with(RunVerdict::Passed), "passed"),
            (self.with(RunVerdict::NotEvaluated), "not evaluated"),
            (self.with(RunVerdict::Failed), "failed"),
            (self.failed_earlier(), "still failed by earlier results"),
            (self.number(WhyNotRun::Broken), "cannot be run"),
            (self.number(WhyNotRun::CutOff), "cut off"),
            (self.number(WhyNotRun::Ignored), "ignored"),
            (self.number(WhyNotRun::NothingToRun), "with nothing to run"),
        ] {
            if number > 0 {
                parts.push(format!("{number} {what}"));
            }
        }
        format!("{}: {}", count(all, "experiment"), parts.join(", "))
    }

    /// How many finished experiments have this verdict, without those that only earlier results fail.
    fn with(&self, verdict: RunVerdict) -> usize {
        let finished = self.finished.iter().filter(|finished| !self.is_failed_earlier(finished));
        finished.filter(|finished| finished.report.verdict == verdict).count()
    }

    /// How many experiments have no result for this reason, without those that only earlier results fail.
    fn number(&self, state: WhyNotRun) -> usize {
        let not_run = self.not_run.iter().filter(|not_run| !self.is_left_failed(not_run));
        not_run.filter(|not_run| not_run.state == state).count()
    }

    /// How many experiments only earlier results fail. Each of them was run in part, or had nothing to run.
    fn failed_earlier(&self) -> usize {
        let finished = self.finished.iter().filter(|finished| self.is_failed_earlier(finished));
        finished.count() + self.not_run.iter().filter(|not_run| self.is_left_failed(not_run)).count()
    }

    /// Whether this run did not fail, but earlier results still fail its experiment.
    fn is_failed_earlier(&self, finished: &ExperimentFinished) -> bool {
        finished.report.verdict != RunVerdict::Failed && self.is_still_failed(&finished.report.name)
    }

    /// Whether an experiment had nothing to run, and earlier results still fail it.
    fn is_left_failed(&self, not_run: &NotRun) -> bool {
        not_run.state == WhyNotRun::NothingToRun && self.is_still_failed(&not_run.name)
    }

    fn is_still_failed(&self, name: &str) -> bool {
        self.still_failed.iter().any(|(failed, _)| failed == name)
    }

    fn add(
        &mut self,
        name: String,
        state: WhyNotRun,
        reason: String,
        run_id: Option<String>,
        declared_at: Option<SourcePlace>,
    ) {
        self.not_run.push(NotRun { name, state, reason: plain(&reason), run_id, declared_at });
    }

    fn item(&mut self, item: &ItemFinished) -> Option<String> {
        self.done += 1;
        let (started, done) = self.running.get_mut(&item.experiment)?;
        *done += 1;
        Some(format!("{}: {done} of {}, {}", started.name, started.items, outcome(item)))
    }
}

/// Adds a text that is not there yet.
fn add_new(texts: &mut Vec<String>, text: String) {
    if !texts.contains(&text) {
        texts.push(text);
    }
}

/// What came of an item, in a few words.
fn outcome(item: &ItemFinished) -> String {
    let name = &item.item;
    if let Some(error) = &item.error {
        let what = if item.status == Status::Timeout { "timed out" } else { "in error" };
        return format!("{name} {what}: {}", cut(error, LONGEST_ERROR).replace('\n', " "));
    }
    let score = |evaluator: &String| {
        let score = item.scores.get(evaluator).map(|score| decimal(*score, 2));
        format!("{evaluator} {}", score.unwrap_or_default())
    };
    let low: Vec<_> = item.low.iter().map(score).collect();
    match (item.fails(), low.is_empty()) {
        (false, true) => format!("{name} passed"),
        (false, false) => format!("{name} below its pass mark ({})", low.join(", ")),
        (true, _) => format!("{name} failed ({})", low.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// All that is known after these events.
    fn after(events: &[Value]) -> Heard {
        let mut heard = Heard::default();
        for event in events {
            heard.line(&event.to_string());
        }
        heard.cut_off();
        heard
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
    fn what_runs_is_named_with_its_items_once_the_build_is_over() {
        let mut heard = Heard::default();
        let mut hear = |event: Value| {
            heard.line(&event.to_string());
            heard.at_work()
        };
        assert_eq!(hear(json!({ "event": "nothing" })), None);
        let hello = json!({ "event": "hello", "protocol": "1", "version": "0.1.0" });
        assert_eq!(hear(hello).as_deref(), Some("running the experiments"));
        assert_eq!(hear(started(0, "desk")).as_deref(), Some("desk: 0 of 2 items done"));
        for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
            hear(started(place + 1, name));
        }
        let told = hear(json!({})).unwrap();
        assert!(told.starts_with("desk: 0 of 2 items done; a: ") && told.ends_with("; 1 more"), "{told}");
    }

    #[test]
    fn a_warning_is_collected_once_and_fails_nothing() {
        let of_call = json!({ "event": "warning", "message": "a variable is unknown" });
        let of_one =
            json!({ "event": "warning", "experiment": "desk", "message": "no threshold bounds a score" });
        let events = [started(0, "desk"), of_call.clone(), of_one, finished(0, "desk", "passed"), of_call];
        let heard = after(&events);
        assert_eq!(heard.warnings, ["a variable is unknown", "desk: no threshold bounds a score"]);
        assert!(heard.is_passed() && heard.errors.is_empty());
    }

    #[test]
    fn an_interrupted_run_is_to_be_resumed_only_if_items_are_saved() {
        let interrupted = |experiment: usize, name: &str, kept: Value, error: Value| {
            json!({ "event": "experiment-interrupted", "name": name, "id": format!("{experiment:012}"), "kept": kept,
                "error": error })
        };
        let full = "failed to write `a.jsonl`: No space left on device";
        let heard = after(&[
            started(0, "none"),
            started(1, "some"),
            started(2, "unknown"),
            interrupted(0, "none", json!(0), json!(full)),
            interrupted(1, "some", json!(1), json!(full)),
            interrupted(2, "unknown", Value::Null, Value::Null),
        ]);
        let told: Vec<_> = heard
            .not_run
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
        assert!(heard.not_run.iter().all(|not_run| not_run.is_cut_off() && not_run.declared_at.is_some()));
        assert_eq!(heard.errors, [full]);
        assert_eq!(heard.verdict(0), "3 experiments: 3 cut off");
    }

    #[test]
    fn an_experiment_that_is_still_failed_is_counted_once() {
        let skipped =
            |name: &str| json!({ "event": "experiment-skipped", "name": name, "why": "nothing has changed" });
        let heard = after(&[
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
            heard.verdict(0),
            "6 experiments: 1 passed, 1 failed, 3 still failed by earlier results, 1 with nothing to run"
        );
        assert!(!heard.is_passed());
    }
}
