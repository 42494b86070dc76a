//! What a run tells while it goes on.

use std::collections::BTreeMap;

use cobalt::report::{SourcePlace, Status};
use cobalt::reporters::{Event, ExperimentFinished, ExperimentStarted, ItemFinished};
use cobalt::wording::{count, cut, decimal};
use schemars::JsonSchema;
use serde::Serialize;

/// The longest text told of an error while the run goes on, in characters.
const LONGEST_ERROR: usize = 120;

/// What is known of a run.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// The experiments of the binary at hand that have started and not ended, with how many of their items are done.
    running: BTreeMap<usize, (ExperimentStarted, usize)>,
    /// How many items are done, of all experiments.
    pub(super) done: usize,
    /// How many items there are, as far as it is known.
    pub(super) total: usize,
    pub(super) finished: Vec<ExperimentFinished>,
    pub(super) not_run: Vec<NotRun>,
    pub(super) errors: Vec<String>,
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
    /// The id of the run, where it began: `cobalt_results` reads what is finished of it, and `resume` of `cobalt_run` goes on
    /// with it.
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
    /// Takes a line of the command in. The answer is what is told of an item that is done.
    pub(super) fn line(&mut self, line: &str) -> Option<String> {
        match serde_json::from_str(line).ok()? {
            // Another binary, whose experiments have numbers of their own.
            Event::Hello { .. } => self.cut_off(),
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
            Event::Failed { error } if !self.errors.contains(&error) => self.errors.push(error),
            _ => {}
        }
        None
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
            && self.finished.iter().all(|finished| finished.report.passed)
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
        let passed = self.finished.iter().filter(|finished| finished.report.passed).count();
        let mut parts = Vec::new();
        let all = self.finished.len() + self.not_run.len();
        if all == 0 {
            return "no experiment was run".to_owned();
        }
        for (number, what) in [
            (passed, "passed"),
            (self.finished.len() - passed, "failed"),
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

    fn number(&self, state: WhyNotRun) -> usize {
        self.not_run.iter().filter(|not_run| not_run.state == state).count()
    }

    fn add(
        &mut self,
        name: String,
        state: WhyNotRun,
        reason: String,
        run_id: Option<String>,
        declared_at: Option<SourcePlace>,
    ) {
        self.not_run.push(NotRun { name, state, reason, run_id, declared_at });
    }

    fn item(&mut self, item: &ItemFinished) -> Option<String> {
        self.done += 1;
        let (started, done) = self.running.get_mut(&item.experiment)?;
        *done += 1;
        Some(format!("{}: {done} of {}, {}", started.name, started.items, outcome(item)))
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
    match (item.passed, low.is_empty()) {
        (true, true) => format!("{name} passed"),
        (true, false) => format!("{name} passed, low ({})", low.join(", ")),
        (false, _) => format!("{name} failed ({})", low.join(", ")),
    }
}
