//! Where test cases wait for what becomes of them.

use std::fmt::Write as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::explain;
use crate::experiment::Definition;
use crate::report::ItemResult;
use crate::session::{Ending, Interrupter, Listener, Outcome};

/// What became of a case: passed, or failed with the reason.
pub(super) type Verdict = Result<(), Arc<str>>;

/// The most failures that the single case of an experiment tells in full.
const MOST_TOLD: usize = 20;

/// The cases of all experiments that run.
pub(super) struct Board {
    experiments: Vec<Slots>,
}

/// The cases of one experiment.
struct Slots {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What became of each item, by its index in the data set.
    items: Vec<Option<Verdict>>,
    /// What became of each threshold; there once the experiment has ended.
    thresholds: Vec<Verdict>,
    /// Set when nothing more will happen; why, if that was too early.
    ended: Option<Verdict>,
    outcome: Option<Outcome>,
}

impl Board {
    /// A board for experiments with so many items each.
    pub(super) fn new(items: impl Iterator<Item = usize>) -> Self {
        let slots = |items| Slots {
            state: Mutex::new(State { items: vec![None; items], ..State::default() }),
            changed: Condvar::new(),
        };
        Self { experiments: items.map(slots).collect() }
    }

    /// Waits for an item.
    pub(super) fn item(&self, experiment: usize, index: usize) -> Verdict {
        let slots = &self.experiments[experiment];
        let mut state = slots.lock();
        loop {
            if let Some(verdict) = &state.items[index] {
                return verdict.clone();
            }
            if let Some(ended) = &state.ended {
                return Err(ended.clone().err().unwrap_or_else(|| "not run".into()));
            }
            state = slots.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for a threshold.
    pub(super) fn threshold(&self, experiment: usize, index: usize) -> Verdict {
        let state = self.experiments[experiment].wait_for_end();
        match (&state.ended, state.thresholds.get(index)) {
            (Some(Err(reason)), _) => Err(Arc::clone(reason)),
            (_, Some(verdict)) => verdict.clone(),
            _ => Err("not judged".into()),
        }
    }

    /// Waits for all items and thresholds of an experiment.
    pub(super) fn whole(&self, experiment: usize) -> Verdict {
        let state = self.experiments[experiment].wait_for_end();
        if let Some(Err(reason)) = &state.ended {
            return Err(Arc::clone(reason));
        }
        let items = state.items.iter().flatten();
        let failures: Vec<_> = items.chain(&state.thresholds).filter_map(|verdict| verdict.as_ref().err()).collect();
        if failures.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for failure in failures.iter().take(MOST_TOLD) {
            let _ = writeln!(text, "{failure}\n");
        }
        if failures.len() > MOST_TOLD {
            let _ = writeln!(text, "… and {} more", failures.len() - MOST_TOLD);
        }
        Err(text.into())
    }

    /// What the experiments came to, as far as they have ended and it was not taken before.
    pub(super) fn take_outcome(&self, experiment: usize) -> Option<Outcome> {
        self.experiments[experiment].lock().outcome.take()
    }
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_end(&self) -> MutexGuard<'_, State> {
        let state = self.lock();
        self.changed.wait_while(state, |state| state.ended.is_none()).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts what the session tells on the board.
pub(super) struct Writer {
    pub(super) board: Arc<Board>,
    pub(super) definitions: Vec<Arc<Definition>>,
}

impl Listener for Writer {
    fn item(&mut self, experiment: usize, item: &ItemResult) {
        let verdict = if item.passed {
            Ok(())
        } else {
            Err(explain::item(item, &self.definitions[experiment]).into())
        };
        let slots = &self.board.experiments[experiment];
        slots.lock().items[item.index] = Some(verdict);
        slots.changed.notify_all();
    }

    fn ended(&mut self, experiment: usize, ending: Ending) {
        let slots = &self.board.experiments[experiment];
        let mut state = slots.lock();
        match ending {
            Ending::Finished(mut outcome) => {
                let judged = outcome.thresholds.iter().map(|threshold| {
                    if threshold.passed { Ok(()) } else { Err(explain::threshold(threshold).into()) }
                });
                state.thresholds = judged.collect();
                // The items' verdicts are on the board: many outputs need not be held until the last experiment ends.
                outcome.report.items = Vec::new();
                state.outcome = Some(*outcome);
                state.ended = Some(Ok(()));
            }
            Ending::Interrupted { id, .. } => {
                state.ended = Some(Err(format!("not run: the run was interrupted; COBALT_RESUME={id} does the rest").into()));
            }
        }
        slots.changed.notify_all();
    }
}
