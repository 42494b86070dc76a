//! The state of an invocation: each event is folded into it once; everything that displays the invocation reads it.

use std::collections::BTreeMap;

use cobalt_core::report::SourceLocation;
use cobalt_core::report::ranking::Ranking;
use cobalt_core::reporters::{Event, ExperimentFinished, ExperimentStarted, ItemFinished, Warning};

use super::{BrokenExperiment, FinishedExperiment, InterruptedRun, Results};

/// The state of an invocation. Test binaries run one after another, each with its own experiment numbers.
#[derive(Debug, Default)]
pub struct RunState {
    /// Whether a binary has started: the build is done.
    pub has_begun: bool,
    /// Whether the current binary has sent `hello`.
    pub has_greeted: bool,
    /// The started experiments of the current binary, by number.
    experiments: BTreeMap<usize, ExperimentProgress>,
    /// The finished experiments; sorted in source order when their binary exits.
    pub finished: Vec<ExperimentFinished>,
    /// How variants compare, in order of events.
    pub rankings: Vec<Ranking>,
    /// How many of the finished experiments belong to earlier binaries.
    finished_before: usize,
    /// The experiments without a result, in order of events.
    pub without_result: Vec<WithoutResult>,
    /// The experiments that could not be run, or did not finish before their binary exited.
    pub unfinished: Vec<String>,
    /// Experiments that earlier results still fail, each with the reason.
    pub still_failed: Vec<(String, String)>,
    /// Other errors.
    pub problems: Vec<Problem>,
    /// Warnings without duplicates: several binaries can send the same.
    pub warnings: Vec<Warning>,
    /// The IDs of started runs, and of the runs whose outputs they score.
    started: Vec<String>,
    /// Runs that a binary did not resume, with the reason.
    not_resumed: BTreeMap<String, String>,
    /// Number of selected experiments, including broken ones.
    pub selected: usize,
    /// Number of finished items of all experiments.
    pub items_done: usize,
    /// Number of items of all started experiments.
    pub items: usize,
}

/// A started experiment.
#[derive(Debug)]
pub struct ExperimentProgress {
    pub started: ExperimentStarted,
    /// Number of finished items.
    pub done: usize,
    /// Number of finished items that fail on their own.
    pub failed: usize,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    Finished,
    Interrupted,
}

/// An experiment without a result.
#[derive(Debug)]
pub struct WithoutResult {
    /// The experiment's name.
    pub name: String,
    /// Where the experiment is declared, if known.
    pub declared_at: Option<SourceLocation>,
    pub why: MissingResult,
}

/// Why an experiment has no result.
#[derive(Debug, PartialEq, Eq)]
pub enum MissingResult {
    /// Its dataset or declaration is invalid.
    Broken { error: String },
    /// A required variable is not set.
    Ignored { variable: String },
    /// It had no item to run.
    NothingToRun { why: String },
    /// It was interrupted; `kept`: any item is saved, so the run can be resumed.
    Interrupted { id: String, kept: bool },
    /// Its process exited before all items were finished.
    Crashed { id: String, done: usize, items: usize },
}

/// An error that is not an experiment's result.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// A binary could not be run, or a run not be resumed.
    Invocation(String),
    /// An experiment was stopped because its items could not be saved.
    Interrupted(String),
    /// The results of a finished experiment could not be saved.
    Unsaved { experiment: String, error: String },
}

impl Problem {
    /// The error, and what to do.
    pub fn text(&self) -> &str {
        match self {
            Self::Invocation(error) | Self::Interrupted(error) | Self::Unsaved { error, .. } => error,
        }
    }
}

impl RunState {
    /// Folds in an event. Returns whether it is new: several binaries can send the same warning or error.
    pub fn apply(&mut self, event: &Event) -> bool {
        match event {
            Event::Hello { .. } => self.on_hello(),
            Event::TestOutput { experiments } => self.selected += experiments,
            Event::ExperimentStarted(started) => self.on_started(started),
            Event::ItemFinished(item) => self.item_finished(item),
            Event::ExperimentFinished(finished) => self.experiment_finished(finished),
            Event::VariantsCompared(ranking) => self.rankings.push((**ranking).clone()),
            Event::ExperimentInterrupted { name, id, kept, paid, error } => {
                // Earlier versions do not report how many items are saved.
                let is_saved = *kept != Some(0) || paid.is_some();
                self.on_interrupted(name, id, is_saved, error.as_ref());
            }
            Event::ExperimentBroken { name, error, declared_at } => {
                self.unfinished.push(name.clone());
                let why = MissingResult::Broken { error: error.clone() };
                self.on_not_started(name, why, declared_at.clone());
            }
            Event::ExperimentIgnored { name, variable } => {
                self.on_not_started(name, MissingResult::Ignored { variable: variable.clone() }, None);
            }
            Event::ExperimentSkipped { name, why } => {
                self.on_not_started(name, MissingResult::NothingToRun { why: why.clone() }, None);
            }
            Event::ExperimentStillFailed { name, why } => {
                self.still_failed.push((name.clone(), why.clone()));
            }
            Event::NotResumed { id, error } => drop(self.not_resumed.insert(id.clone(), error.clone())),
            Event::Failed { error } => {
                self.selected += 1;
                let is_new = self.problems.iter().all(|problem| problem.text() != error);
                if is_new {
                    self.fail(error.clone());
                }
                return is_new;
            }
            Event::Warning(warning) => {
                let is_new = !self.warnings.contains(warning);
                self.warnings.extend(is_new.then(|| warning.clone()));
                return is_new;
            }
            _ => {}
        }
        true
    }

    /// Adds an error that no event reports.
    pub fn fail(&mut self, error: String) {
        self.problems.push(Problem::Invocation(error));
    }

    /// The current binary has exited; its running experiments were interrupted. A binary without events has printed its help.
    pub fn binary_ended(&mut self) {
        self.selected += usize::from(!self.has_greeted);
        self.has_greeted = false;
        self.finished[self.finished_before..].sort_by_key(|finished| finished.experiment);
        self.finished_before = self.finished.len();
        for ExperimentProgress { started, done, phase, .. } in
            std::mem::take(&mut self.experiments).into_values()
        {
            let ExperimentStarted { name, id, items, declared_at, .. } = started;
            if phase != Phase::Finished {
                self.unfinished.push(name.clone());
            }
            if phase == Phase::Running {
                let why = MissingResult::Crashed { id, done, items };
                self.without_result.push(WithoutResult { name, declared_at, why });
            }
        }
    }

    /// A started experiment of the current binary.
    pub fn experiment(&self, number: usize) -> Option<&ExperimentProgress> {
        self.experiments.get(&number)
    }

    /// The running experiments of the current binary.
    pub fn running(&self) -> impl Iterator<Item = &ExperimentProgress> {
        self.experiments.values().filter(|experiment| experiment.phase == Phase::Running)
    }

    /// Removes and returns the errors of runs that no binary resumed.
    pub fn take_not_resumed(&mut self) -> Vec<String> {
        let left = std::mem::take(&mut self.not_resumed).into_iter();
        left.filter(|(id, _)| !self.started.contains(id)).map(|(_, why)| why).collect()
    }

    /// Whether a binary could not resume a requested run.
    pub fn has_not_resumed(&self) -> bool {
        !self.not_resumed.is_empty()
    }

    /// Whether earlier results still fail an experiment.
    pub fn is_still_failed(&self, name: &str) -> bool {
        self.still_failed.iter().any(|(failed, _)| failed == name)
    }

    /// Number of experiments without a result for a matching reason.
    pub fn count(&self, is: impl Fn(&MissingResult) -> bool) -> usize {
        self.without_result.iter().filter(|experiment| is(&experiment.why)).count()
    }

    /// The results of the invocation, with the finished experiments.
    pub fn into_results(self, experiments: Vec<FinishedExperiment>) -> Results {
        let Self { without_result, still_failed, problems, warnings, rankings, .. } = self;
        let errors = problems.iter().map(|problem| problem.text().to_owned()).collect();
        let mut results =
            Results { experiments, rankings, still_failed, errors, warnings, ..Results::default() };
        for WithoutResult { name, declared_at, why } in without_result {
            match why {
                MissingResult::Broken { error } => {
                    results.broken.push(BrokenExperiment { name, error, declared_at })
                }
                MissingResult::Ignored { variable } => results.ignored.push((name, variable)),
                MissingResult::NothingToRun { why } => results.skipped.push((name, why)),
                // Reporters show no location for these runs.
                MissingResult::Interrupted { id, kept } => {
                    results.interrupted.push(InterruptedRun {
                        name,
                        id,
                        has_saved_items: kept,
                        declared_at: None,
                    });
                }
                MissingResult::Crashed { id, .. } => {
                    results.interrupted.push(InterruptedRun { name, id, has_saved_items: true, declared_at });
                }
            }
        }
        results
    }

    fn on_hello(&mut self) {
        // In a sequence of events of several binaries, only `hello` separates them.
        if self.has_greeted {
            self.binary_ended();
        }
        (self.has_begun, self.has_greeted) = (true, true);
    }

    fn on_started(&mut self, started: &ExperimentStarted) {
        self.selected += 1;
        self.items += started.items;
        self.started.push(started.id.clone());
        self.started.extend(started.scores.clone());
        let experiment =
            ExperimentProgress { started: started.clone(), done: 0, failed: 0, phase: Phase::Running };
        self.experiments.insert(started.experiment, experiment);
    }

    fn item_finished(&mut self, item: &ItemFinished) {
        self.items_done += 1;
        if let Some(experiment) = self.experiments.get_mut(&item.experiment) {
            experiment.done += 1;
            experiment.failed += usize::from(item.fails());
        }
    }

    fn experiment_finished(&mut self, finished: &ExperimentFinished) {
        if let Some(experiment) = self.experiments.get_mut(&finished.experiment) {
            experiment.phase = Phase::Finished;
        }
        if let Some(error) = finished.unsaved.clone() {
            let experiment = finished.report.name.clone();
            self.problems.push(Problem::Unsaved { experiment, error });
        }
        self.finished.push(finished.clone());
    }

    fn on_interrupted(&mut self, name: &str, id: &str, kept: bool, error: Option<&String>) {
        let experiment = self.experiments.values_mut().find(|experiment| experiment.started.id == id);
        let declared_at = experiment.and_then(|experiment| {
            experiment.phase = Phase::Interrupted;
            experiment.started.declared_at.clone()
        });
        self.problems.extend(error.cloned().map(Problem::Interrupted));
        let why = MissingResult::Interrupted { id: id.to_owned(), kept };
        self.without_result.push(WithoutResult { name: name.to_owned(), declared_at, why });
    }

    fn on_not_started(&mut self, name: &str, why: MissingResult, declared_at: Option<SourceLocation>) {
        self.selected += 1;
        self.without_result.push(WithoutResult { name: name.to_owned(), declared_at, why });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(event: Value) -> Event {
        serde_json::from_value(event).unwrap()
    }

    /// The state after these events of one binary.
    fn after(events: impl IntoIterator<Item = Value>) -> RunState {
        let mut state = RunState::default();
        for told in events {
            state.apply(&event(told));
        }
        state
    }

    fn hello() -> Value {
        json!({ "event": "hello", "protocol": "2", "version": "0.1.0" })
    }

    fn started(experiment: usize, name: &str) -> Value {
        json!({ "event": "experiment-started", "experiment": experiment, "id": format!("id-of-{name}"), "name": name,
            "tags": [], "declaredAt": { "file": "tests/evals.rs", "line": 7 }, "items": 2, "done": 0, "runs": 1,
            "evaluators": [], "concurrency": 1, "timeoutMs": 1000, "partial": false })
    }

    fn item(experiment: usize, index: usize, passed: bool) -> Value {
        json!({ "event": "item-finished", "experiment": experiment, "index": index, "item": "a", "status": "ok",
            "passed": passed, "latencyMs": 1.0, "scores": {} })
    }

    fn finished(experiment: usize, name: &str, unsaved: Option<&str>) -> Value {
        json!({ "event": "experiment-finished", "experiment": experiment, "low": [], "lowItems": 0, "failed": [],
            "itemsInError": 0, "unsaved": unsaved, "report": { "schema": 1, "id": format!("id-of-{name}"), "name": name,
                "timestamp": "2026-02-05T14:30:00.000Z", "summary": {}, "passed": true,
                "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": [], "passMarks": [] } } })
    }

    fn interrupted(name: &str, kept: Value, error: Value) -> Value {
        json!({ "event": "experiment-interrupted", "name": name, "id": format!("id-of-{name}"), "kept": kept,
            "error": error })
    }

    fn names(finished: &[ExperimentFinished]) -> Vec<&str> {
        finished.iter().map(|finished| &*finished.report.name).collect()
    }

    #[test]
    fn items_are_counted_by_experiment_and_for_the_whole_call() {
        let events = [started(0, "desk"), started(1, "sums"), item(0, 0, true), item(0, 1, false)];
        let state = after(events.into_iter().chain([item(1, 0, true), item(7, 0, true)]));
        let counts = |number| state.experiment(number).map(|it| (it.done, it.failed, it.started.items));
        assert_eq!(
            [counts(0), counts(1), counts(7)],
            [Some((2, 1, 2)), Some((1, 0, 2)), None],
            "an item of no experiment counts for the call alone"
        );
        assert_eq!((state.items_done, state.items), (4, 4));
        assert_eq!(state.running().count(), 2);
    }

    #[test]
    fn experiments_end_in_the_order_of_the_source_whichever_was_faster() {
        let mut state = after([
            hello(),
            started(0, "a"),
            started(1, "b"),
            finished(1, "b", None),
            finished(0, "a", None),
        ]);
        assert_eq!(state.running().count(), 0);
        state.binary_ended();
        for it in [hello(), started(0, "d"), started(1, "c"), finished(1, "c", None), finished(0, "d", None)]
        {
            state.apply(&event(it));
        }
        state.binary_ended();
        assert_eq!(names(&state.finished), ["a", "b", "d", "c"]);
        assert_eq!((state.selected, state.unfinished.len()), (4, 0));
    }

    #[test]
    fn another_hello_cuts_off_what_the_binary_before_it_left() {
        let state = after([hello(), started(0, "desk"), item(0, 0, true), hello(), started(0, "sums")]);
        assert_eq!(state.without_result.len(), 1);
        let WithoutResult { name, declared_at, why } = &state.without_result[0];
        assert_eq!((&**name, declared_at.as_ref().unwrap().line), ("desk", 7));
        assert_eq!(*why, MissingResult::Crashed { id: "id-of-desk".to_owned(), done: 1, items: 2 });
        assert_eq!(state.unfinished, ["desk"]);
        let running: Vec<_> = state.running().map(|it| &*it.started.name).collect();
        assert_eq!(running, ["sums"]);
    }

    #[test]
    fn experiments_without_a_result_have_a_reason_and_are_named_in_the_order_of_the_source() {
        let broken = json!({ "event": "experiment-broken", "name": "broken", "error": "no data" });
        let ignored = json!({ "event": "experiment-ignored", "name": "ignored", "variable": "KEY" });
        let skipped =
            json!({ "event": "experiment-skipped", "name": "skipped", "why": "nothing has changed" });
        let mut state = after([
            hello(),
            broken,
            ignored,
            skipped,
            started(0, "none"),
            started(1, "some"),
            interrupted("some", Value::Null, json!("the disk is full")),
            interrupted("none", json!(0), json!("the disk is full")),
        ]);
        state.binary_ended();
        assert_eq!(state.unfinished, ["broken", "none", "some"]);
        assert_eq!(state.selected, 5);
        assert_eq!(state.count(|why| matches!(why, MissingResult::Ignored { .. })), 1);
        let results = state.into_results(Vec::new());
        let cut_off: Vec<_> =
            results.interrupted.iter().map(|run| (&*run.name, run.has_saved_items)).collect();
        assert_eq!(cut_off, [("some", true), ("none", false)]);
        assert_eq!((results.broken.len(), results.ignored.len(), results.skipped.len()), (1, 1, 1));
        assert_eq!(results.errors, ["the disk is full", "the disk is full"]);
    }

    #[test]
    fn warnings_and_errors_of_several_binaries_are_news_once() {
        let warning = || event(json!({ "event": "warning", "message": "a variable is unknown" }));
        let failed = || event(json!({ "event": "failed", "error": "no `cobalt.toml`" }));
        let mut state = RunState::default();
        assert_eq!([state.apply(&warning()), state.apply(&warning())], [true, false]);
        assert_eq!([state.apply(&failed()), state.apply(&failed())], [true, false]);
        assert_eq!((state.warnings.len(), state.problems.len(), state.selected), (1, 1, 2));
    }

    #[test]
    fn results_that_are_not_kept_are_a_problem_of_their_experiment() {
        let state = after([finished(0, "desk", Some("the disk is full"))]);
        let (experiment, error) = ("desk".to_owned(), "the disk is full".to_owned());
        assert_eq!(state.problems, [Problem::Unsaved { experiment, error }]);
    }

    #[test]
    fn a_run_that_one_binary_does_not_resume_may_be_another_ones() {
        let not_resumed =
            |id: &str| json!({ "event": "not-resumed", "id": id, "error": format!("{id} is unknown") });
        let mut state = after([hello(), not_resumed("id-of-desk"), not_resumed("other"), started(0, "desk")]);
        assert!(state.has_not_resumed());
        assert_eq!(state.take_not_resumed(), ["other is unknown"]);
    }

    #[test]
    fn a_run_that_one_binary_does_not_score_may_be_another_ones() {
        let not_scored =
            |id: &str| json!({ "event": "not-resumed", "id": id, "error": format!("{id} is unknown") });
        let mut scoring = started(0, "desk");
        scoring["scores"] = json!("earlier");
        let mut state = after([hello(), not_scored("earlier"), not_scored("other"), scoring]);
        assert_eq!(state.take_not_resumed(), ["other is unknown"]);
    }

    #[test]
    fn a_binary_that_sent_no_event_counts_as_selected() {
        let mut state = RunState::default();
        state.binary_ended();
        assert_eq!(state.selected, 1);
        let mut state = after([hello(), json!({ "event": "test-output", "experiments": 3 })]);
        state.binary_ended();
        assert_eq!(state.selected, 3);
    }
}
