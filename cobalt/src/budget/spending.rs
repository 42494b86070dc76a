//! What is spent of a budget and what is in progress, and why it is exhausted.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cobalt_core::reporters::format_cost_precise as format_cost;
use tokio::sync::Notify;

use super::ledger::{self, Totals};
use super::quote::Quote;

/// The part of the budget by which costs that vary a little may exceed it.
const TOLERANCE: f64 = 0.01;

/// A budget.
#[derive(Debug)]
pub struct Budget {
    /// In USD.
    pub max: f64,
    state: Mutex<State>,
    /// The number of requests that were refused.
    pub refusals: AtomicUsize,
    /// The file in which the processes of a call add up what they spend.
    ledger: Option<PathBuf>,
    /// Notified when a request is charged or an item ends.
    pub changed: Notify,
}

#[derive(Debug, Default)]
pub struct State {
    /// By all processes of the call, as far as this process knows.
    pub totals: Totals,
    /// The requests of this process in flight.
    pub in_flight: usize,
    /// The highest charge for a request, by provider and model.
    pub highest: HashMap<(String, Option<String>), f64>,
    /// The providers with a request in flight to a model without a charge so far.
    pub probed: HashSet<String>,
    /// The items in progress, by their numbers.
    pub items: HashMap<usize, RunningItem>,
    pub next_item: usize,
    /// The highest cost of an item, by experiment.
    pub item_costs: HashMap<usize, f64>,
    /// The number of items that failed before they paid anything, by experiment.
    pub free_failures: HashMap<usize, usize>,
    /// What was refused first although the budget is not spent.
    pub refused: Option<Refused>,
    /// Why the ledger cannot be used.
    problem: Option<String>,
}

#[derive(Debug)]
pub struct RunningItem {
    pub experiment: usize,
    /// What it has paid so far, in USD.
    pub paid: f64,
    /// Whether it is replayed.
    pub is_recorded: bool,
}

/// A request, trial or item that the rest of the budget cannot pay for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    pub what: &'static str,
    /// In USD.
    pub estimate: f64,
}

/// Whether something may start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Decision {
    /// With this amount set aside, in USD.
    Start(f64),
    /// Until something is charged or ends.
    Wait,
    #[default]
    Refuse,
}

impl State {
    /// The highest charge for a request to the same model, in USD.
    pub fn highest_charge(&self, quote: &Quote) -> Option<f64> {
        self.highest.get(&(quote.provider.clone(), quote.model.clone())).copied()
    }
}

impl Budget {
    pub fn new(max: f64, ledger: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Self {
            max,
            state: Mutex::default(),
            refusals: AtomicUsize::new(0),
            ledger,
            changed: Notify::new(),
        })
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the totals of all processes. `spent` counts also if the ledger cannot be written: it is unknown then what the other
    /// processes spend, so nothing more is.
    pub fn change<T: Default>(
        &self,
        state: &mut State,
        spent: f64,
        change: impl FnOnce(&mut Totals) -> T,
    ) -> T {
        let Some(ledger) = self.ledger.as_deref().filter(|_| state.problem.is_none()) else {
            return change(&mut state.totals);
        };
        match ledger::update(ledger, change) {
            Ok((totals, result)) => {
                state.totals = totals;
                result
            }
            Err(error) => {
                state.totals.spent += spent;
                state.problem = Some(format!(
                    "cannot add up the spending of all processes in `{}`: {error}; make the file writable or delete it, and resume \
                     the run",
                    ledger.display()
                ));
                T::default()
            }
        }
    }

    /// Whether an amount fits, apart from the tolerance.
    pub fn fits(&self, usd: f64) -> bool {
        usd <= self.max * (1.0 + TOLERANCE)
    }

    /// Adds what was paid past the gateway, in USD.
    pub fn spend(&self, usd: f64) {
        self.change(&mut self.lock(), usd, |totals| totals.spent += usd);
    }

    /// Whether nothing more may be paid for.
    pub fn is_exhausted(&self, state: &State) -> bool {
        state.totals.spent >= self.max || state.refused.is_some() || state.problem.is_some()
    }

    /// Why no further request is sent or item started.
    pub fn refusal(&self) -> Option<String> {
        let mut state = self.lock();
        self.read_totals(&mut state);
        self.is_exhausted(&state).then(|| self.message(&state))
    }

    /// The totals of all processes; another one may have spent the rest.
    pub fn read_totals(&self, state: &mut State) -> Totals {
        self.change(state, 0.0, |totals| *totals)
    }

    pub fn message(&self, state: &State) -> String {
        let max = format_cost(self.max);
        if let Some(problem) = &state.problem {
            return format!("the budget of {max} cannot be enforced: {problem}");
        }
        let spent = format_cost(state.totals.spent);
        let next = match state.refused {
            Some(Refused { what, estimate }) if state.totals.spent < self.max => {
                format!(", and the next {what} may cost {}", format_cost(estimate))
            }
            _ => String::new(),
        };
        format!("budget of {max} exhausted: {spent} spent{next}; no further requests are sent")
    }
}
