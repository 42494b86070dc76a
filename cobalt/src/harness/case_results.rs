//! The results of test cases, which the cases wait for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use cobalt_core::report::ItemResult;
use cobalt_core::report::ranking::Ranking;
use cobalt_core::reporters::{Style, Warning, escape_control, render_summary};
use libtest_mimic::{Completion, Conclusion, Failed, Trial};

use super::args::{Args, print_text};
use super::cases::CaseTarget;
use super::exit_guard;
use super::schedule::{Case, CaseSource, ScheduledCases};
use super::warnings::{Explanation, ItemExplainer};
use crate::error::Error;
use crate::session::{InterruptedRun, Interrupter, Listener, RunEnd};

/// The result of a case.
#[derive(Clone, Debug)]
pub enum Verdict {
    Passed,
    /// Failed, with the reason.
    Failed(Arc<str>),
    /// The run was interrupted before.
    NotRun,
}

impl Verdict {
    fn of(passed: bool, why: impl FnOnce() -> String) -> Self {
        if passed { Self::Passed } else { Self::Failed(why().into()) }
    }

    /// The verdict on several runs together.
    fn of_all(verdicts: impl Iterator<Item = Self>) -> Self {
        let verdicts: Vec<_> = verdicts.collect();
        let failures: Vec<_> = verdicts
            .iter()
            .filter_map(|verdict| match verdict {
                Self::Failed(why) => Some(&**why),
                _ => None,
            })
            .collect();
        match failures.is_empty() {
            false => Self::Failed(failures.join("\n\n").into()),
            true if verdicts.iter().any(|verdict| matches!(verdict, Self::NotRun)) => Self::NotRun,
            true => Self::Passed,
        }
    }
}

/// The maximum number of failures that the single case of an experiment prints.
const MAX_LISTED_FAILURES: usize = 20;

/// The maximum number of items of an experiment whose failures are explained by their cases.
const MAX_EXPLAINED_FAILURES: usize = 10_000;
/// The reason of all other failures.
const UNEXPLAINED: &str = "the first failures are explained; `cargo cobalt show` explains this one";

/// The results of items, in a byte each.
#[derive(Default)]
struct ItemVerdicts {
    states: Vec<ItemState>,
    /// Why the first of those that failed did.
    reasons: BTreeMap<usize, Arc<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemState {
    Unknown,
    Passed,
    Failed,
}

impl ItemVerdicts {
    fn new(items: usize) -> Self {
        Self { states: vec![ItemState::Unknown; items], reasons: BTreeMap::new() }
    }

    fn get(&self, index: usize) -> Option<Verdict> {
        match self.states[index] {
            ItemState::Unknown => None,
            ItemState::Passed => Some(Verdict::Passed),
            ItemState::Failed => {
                let reason = self.reasons.get(&index).map_or_else(|| UNEXPLAINED.into(), Arc::clone);
                Some(Verdict::Failed(reason))
            }
        }
    }

    /// Whether the reason of another failure is kept.
    fn takes_reasons(&self) -> bool {
        self.reasons.len() < MAX_EXPLAINED_FAILURES
    }

    fn set(&mut self, index: usize, failure: Option<Option<String>>) {
        self.states[index] = if failure.is_some() { ItemState::Failed } else { ItemState::Passed };
        self.reasons.extend(failure.flatten().map(|why| (index, why.into())));
    }

    fn failed(&self) -> usize {
        self.states.iter().filter(|state| **state == ItemState::Failed).count()
    }
}

/// The results of the cases of all experiments.
pub struct CaseResults {
    experiments: Vec<ExperimentResults>,
    /// How variants compare.
    rankings: Mutex<Vec<Ranking>>,
    /// Set when the process is about to exit: no result is reported after that.
    closed: AtomicBool,
}

/// The results of the cases of one experiment.
struct ExperimentResults {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The result of each item, by its index in the dataset.
    items: ItemVerdicts,
    /// The result of each threshold; empty until the experiment has ended.
    thresholds: Vec<Verdict>,
    /// The result of each summary function; empty until the experiment has ended.
    summaries: Vec<Verdict>,
    /// Set when no more results will come.
    ended: bool,
    /// Its summary, or how it was interrupted.
    summary: Option<Result<FinalSummary, InterruptedRun>>,
}

impl CaseResults {
    /// For experiments with these numbers of items.
    pub fn new(items: impl Iterator<Item = usize>) -> Self {
        let slots = |items| ExperimentResults {
            state: Mutex::new(State { items: ItemVerdicts::new(items), ..State::default() }),
            changed: Condvar::new(),
        };
        Self {
            experiments: items.map(slots).collect(),
            rankings: Mutex::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// Waits for an item.
    pub fn item(&self, experiment: usize, index: usize) -> Verdict {
        let slots = &self.experiments[experiment];
        let waiting = |state: &mut State| state.items.get(index).is_none() && !state.ended;
        let state = slots.changed.wait_while(slots.lock(), waiting).unwrap_or_else(PoisonError::into_inner);
        let verdict = state.items.get(index).unwrap_or(Verdict::NotRun);
        drop(state);
        self.park_if_closed(verdict)
    }

    /// Waits for a threshold.
    pub fn wait_for_threshold(&self, experiment: usize, index: usize) -> Verdict {
        let state = self.experiments[experiment].wait_for_end();
        let verdict = state.thresholds.get(index).cloned().unwrap_or(Verdict::NotRun);
        drop(state);
        self.park_if_closed(verdict)
    }

    /// Waits for a summary function.
    pub fn wait_for_summary(&self, experiment: usize, index: usize) -> Verdict {
        let state = self.experiments[experiment].wait_for_end();
        let verdict = state.summaries.get(index).cloned().unwrap_or(Verdict::NotRun);
        drop(state);
        self.park_if_closed(verdict)
    }

    /// Waits for all items, summary functions and thresholds of an experiment.
    pub fn wait_for_experiment(&self, experiment: usize) -> Verdict {
        let state = self.experiments[experiment].wait_for_end();
        if !matches!(state.summary, Some(Ok(_))) {
            drop(state);
            return self.park_if_closed(Verdict::NotRun);
        }
        let others: Vec<_> = state
            .summaries
            .iter()
            .chain(&state.thresholds)
            .filter_map(|verdict| match verdict {
                Verdict::Failed(why) => Some(why),
                _ => None,
            })
            .collect();
        let failed = state.items.failed() + others.len();
        Verdict::of(failed == 0, || {
            let failures = state.items.reasons.values().chain(others).take(MAX_LISTED_FAILURES);
            let mut text: String = failures.map(|why| format!("{why}\n\n")).collect();
            if failed > MAX_LISTED_FAILURES {
                text += &format!("… and {} more", failed - MAX_LISTED_FAILURES);
            }
            text
        })
    }

    /// Stops reporting results.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// The verdict to report. A case that was not run because the process exits has none, and waits for that exit.
    fn park_if_closed(&self, verdict: Verdict) -> Verdict {
        while matches!(verdict, Verdict::NotRun) && self.closed.load(Ordering::Acquire) {
            thread::park();
        }
        verdict
    }

    /// Waits until every experiment has ended.
    pub fn wait_for_all(&self) {
        self.experiments.iter().for_each(|slots| drop(slots.wait_for_end()));
    }

    /// How variants compare.
    pub fn take_rankings(&self) -> Vec<Ranking> {
        std::mem::take(&mut *self.rankings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The summary of each experiment, or how it was interrupted.
    pub fn take_summaries(&self) -> impl Iterator<Item = Result<FinalSummary, InterruptedRun>> {
        self.experiments.iter().filter_map(|slots| slots.lock().summary.take())
    }
}

/// What to print about an experiment after its cases.
pub struct FinalSummary {
    pub(super) text: String,
    /// Models that used tokens and have no price.
    pub(super) unpriced_models: Vec<String>,
    /// A warning about the report.
    pub(super) warnings: Vec<Warning>,
    /// Why its results were not saved.
    pub(super) unsaved: Option<Error>,
}

impl ExperimentResults {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_end(&self) -> MutexGuard<'_, State> {
        let state = self.lock();
        self.changed.wait_while(state, |state| !state.ended).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the results of the session to the board.
pub struct ResultWriter {
    pub(super) board: Arc<CaseResults>,
    pub(super) experiments: Vec<ItemExplainer>,
    /// The workspace root, to which displayed paths are relative.
    pub(super) workspace: PathBuf,
    pub(super) paint: Style,
}

impl Drop for ResultWriter {
    /// Ends all waits: no more results will come.
    fn drop(&mut self) {
        for slots in &self.board.experiments {
            slots.lock().ended = true;
            slots.changed.notify_all();
        }
    }
}

impl Listener for ResultWriter {
    fn item(&mut self, experiment: usize, item: &ItemResult) {
        let shown = &mut self.experiments[experiment];
        let slots = &self.board.experiments[experiment];
        let failure = shown.config.fails(item).then(|| {
            let explains = slots.lock().items.takes_reasons();
            explains.then(|| match shown.explain(item) {
                Explanation::Full(why) | Explanation::Repeated(why) => why,
            })
        });
        slots.lock().items.set(item.index, failure);
    }

    fn on_batch_end(&mut self) {
        for slots in &self.board.experiments {
            slots.changed.notify_all();
        }
    }

    fn on_end(&mut self, experiment: usize, ending: RunEnd) {
        let slots = &self.board.experiments[experiment];
        let mut state = slots.lock();
        match ending {
            RunEnd::Finished(outcome) => {
                let judged = outcome.report.thresholds().iter();
                state.thresholds = judged
                    .map(|threshold| {
                        Verdict::of(threshold.passed, || escape_control(&threshold.message).into_owned())
                    })
                    .collect();
                let ItemExplainer { config, .. } = &self.experiments[experiment];
                let errors = &outcome.report.summary.summary_errors;
                let summary = |name: &String| match errors.get(name) {
                    None => Verdict::Passed,
                    Some(why) => Verdict::Failed(escape_control(why).into()),
                };
                state.summaries = config.summaries.iter().map(summary).collect();
                let finished = outcome.finished_event(experiment);
                let text = render_summary(&finished, &self.workspace, self.paint);
                let unpriced_models = finished.report.summary.unpriced_models;
                let warnings = outcome.warnings();
                state.summary =
                    Some(Ok(FinalSummary { text, unpriced_models, warnings, unsaved: outcome.unsaved }));
            }
            RunEnd::Interrupted(interrupted) => state.summary = Some(Err(interrupted)),
        }
        state.ended = true;
        exit_guard::mark_run_ended(experiment);
        slots.changed.notify_all();
    }

    fn on_variants_compared(&mut self, ranking: Ranking) {
        self.board.rankings.lock().unwrap_or_else(PoisonError::into_inner).push(ranking);
    }
}

/// Turns cases into libtest trials that wait for their results.
#[derive(Clone)]
pub struct TrialRunner(Arc<TrialState>);

/// What all trials share, so that each needs little memory.
struct TrialState {
    board: Arc<CaseResults>,
    /// Interrupts the session after the first failure, if requested.
    stop: Option<Interrupter>,
    failed: AtomicBool,
}

impl TrialRunner {
    /// `stop` is interrupted by the first failure.
    pub fn new(board: Arc<CaseResults>, stop: Option<Interrupter>) -> Self {
        Self(Arc::new(TrialState { board, stop, failed: AtomicBool::new(false) }))
    }

    pub fn run(&self, cases: Vec<ScheduledCases>, args: &Args) -> Conclusion {
        let selected = |case: Case| {
            let is_selected = case.is_selected(args);
            self.trial(case).with_ignored_flag(is_selected)
        };
        let mut trials: Vec<_> =
            cases.into_iter().flat_map(ScheduledCases::into_cases).map(selected).collect();
        if let Some(seed) = args.shuffle {
            print_text(args, &format!("shuffle seed: {seed}"));
            fastrand::Rng::with_seed(seed).shuffle(&mut trials);
        }
        libtest_mimic::run(&args.to_mimic(), trials)
    }

    fn trial(&self, case: Case) -> Trial {
        let this = self.clone();
        match case.source {
            // Most cases, by far.
            CaseSource::Target(experiment, CaseTarget::Item(index)) => {
                Trial::ignorable_test(case.name, move || {
                    this.complete(|board| Ok(board.item(experiment, index)))
                })
            }
            source => {
                Trial::ignorable_test(case.name, move || this.complete(|board| verdict_of(board, source)))
            }
        }
    }

    /// Waits for the verdict of a case, or says why there is none.
    fn complete(
        &self,
        verdict: impl FnOnce(&CaseResults) -> Result<Verdict, String>,
    ) -> Result<Completion, Failed> {
        let TrialState { board, stop, failed } = &*self.0;
        if stop.is_some() && failed.load(Ordering::Acquire) {
            return Ok(Completion::ignored_with("not run after the first failure"));
        }
        match verdict(board) {
            Ok(Verdict::Passed) => Ok(Completion::Completed),
            Ok(Verdict::NotRun) => Ok(Completion::ignored_with("not run")),
            Ok(Verdict::Failed(why)) => {
                failed.store(true, Ordering::Release);
                if let Some(session) = stop {
                    session.interrupt();
                }
                Err(Failed::from(why))
            }
            Err(why) => Ok(Completion::ignored_with(why)),
        }
    }
}

/// Waits for the verdict of a case; an error says why it is ignored.
fn verdict_of(board: &CaseResults, source: CaseSource) -> Result<Verdict, String> {
    Ok(match source {
        CaseSource::Target(experiment, CaseTarget::Item(index)) => board.item(experiment, index),
        CaseSource::Target(experiment, CaseTarget::Threshold(index)) => {
            board.wait_for_threshold(experiment, index)
        }
        CaseSource::Target(experiment, CaseTarget::Summary(index)) => {
            board.wait_for_summary(experiment, index)
        }
        CaseSource::Target(experiment, CaseTarget::Experiment) => board.wait_for_experiment(experiment),
        CaseSource::All(experiments) => {
            Verdict::of_all(experiments.iter().map(|experiment| board.wait_for_experiment(*experiment)))
        }
        // It may quote a server's response.
        CaseSource::Failure { why, .. } => Verdict::Failed(escape_control(&why).into()),
        CaseSource::Ignored { variable, .. } => return Err(format!("{variable} is not set")),
        CaseSource::Unselected => Verdict::NotRun,
    })
}
