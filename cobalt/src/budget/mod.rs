//! The budget of agents, judges and simulated users in one invocation.
//!
//! A request reserves its estimated cost before it is sent, and is charged its cost when it is answered. Requests that may not fit wait
//! for others to be charged. The first request to a model is sent alone: nothing is known of its cost yet. So is the first item of an
//! experiment; further items start only if the rest can pay for them. An unknown cost counts as the reserved amount, and a model without
//! a price costs as much as the most expensive one.

mod account;
mod ledger;
mod quote;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cobalt_core::reporters::format_cost_precise as format_cost;
use tokio::sync::Notify;

pub use account::{Account, Charge, ItemBudget};
pub use ledger::{Totals, shared_ledger};
#[cfg(feature = "judge")]
pub use quote::PricedRequest;
pub use quote::Quote;
#[cfg(feature = "record")]
pub use quote::known_cost;

/// The part of the budget by which costs that vary a little may exceed it.
const TOLERANCE: f64 = 0.01;
/// How often the ledger is read while a request waits for other processes.
const POLL: Duration = Duration::from_millis(100);
/// How long a request waits while nothing changes: other processes may have ended, or the agent waits for this request.
const STALE: Duration = Duration::from_secs(300);
/// Amounts below are rounding errors of sums, in USD.
const MIN_AMOUNT: f64 = 1e-9;

/// The budget of this process, if it has one.
static BUDGET: OnceLock<Arc<Budget>> = OnceLock::new();

/// A budget.
#[derive(Debug)]
struct Budget {
    /// In USD.
    max: f64,
    state: Mutex<State>,
    /// The number of requests that were refused.
    refusals: AtomicUsize,
    /// The file in which the processes of a call add up what they spend.
    ledger: Option<PathBuf>,
    /// Notified when a request is charged or an item ends.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// By all processes of the call, as far as this process knows.
    totals: Totals,
    /// The requests of this process in flight.
    in_flight: usize,
    /// The highest charge for a request, by provider and model.
    seen: HashMap<(String, Option<String>), f64>,
    /// The providers with a request in flight to a model without a charge so far.
    probed: HashSet<String>,
    /// The items in progress, by their numbers.
    items: HashMap<usize, RunningItem>,
    next_item: usize,
    /// The highest cost of an item, by experiment.
    item_costs: HashMap<usize, f64>,
    /// The cost of requests that belong to no known trial, in USD. The agents report it, too.
    unattributed: f64,
    /// What was refused first although the budget is not spent.
    refused: Option<Refused>,
    /// Why the ledger cannot be used.
    problem: Option<String>,
}

#[derive(Debug)]
struct RunningItem {
    experiment: usize,
    /// What it has paid so far, in USD.
    paid: f64,
    /// Whether it is replayed.
    is_recorded: bool,
}

/// A request or an item that the rest of the budget cannot pay for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Refused {
    what: &'static str,
    /// In USD.
    estimate: f64,
}

/// Whether something may start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Decision {
    /// With this amount set aside, in USD.
    Start(f64),
    /// Until something is charged or ends.
    Wait,
    #[default]
    Refuse,
}

/// Limits what this process spends, together with others that have the same ledger. The first limit of a process holds.
pub fn limit(max: f64, ledger: Option<PathBuf>) {
    ledger.iter().for_each(|ledger| ledger::prepare(ledger));
    BUDGET.get_or_init(|| Budget::new(max, ledger));
}

/// Reserves the estimated cost of a request; waits while it may not fit.
///
/// # Errors
///
/// The rest of the budget cannot pay for it.
#[cfg(feature = "judge")]
pub async fn reserve(request: &PricedRequest<'_>) -> Result<Reservation, String> {
    match BUDGET.get() {
        Some(budget) => budget.reserve(request.quote()).await,
        None => Ok(Reservation::default()),
    }
}

/// Whether there is a budget.
#[cfg(feature = "judge")]
pub fn is_limited() -> bool {
    BUDGET.get().is_some()
}

/// Notes the cost of a request that belongs to no known trial: its agent reports it, too.
#[cfg(feature = "record")]
pub fn note_unattributed(usd: f64) {
    if let Some(budget) = BUDGET.get() {
        budget.lock().unattributed += usd;
    }
}

/// Adds the cost that an agent reports for a trial, in USD, of which `counted` was added request by request. Returns what was added.
pub fn spend_reported(usd: f64, counted: f64) -> f64 {
    match BUDGET.get() {
        Some(budget) => budget.spend_reported(usd, counted),
        None => (usd - counted).max(0.0),
    }
}

/// Starts an item of an experiment; waits while the rest of the budget may not pay for it. `is_recorded`: whether it is replayed, which
/// costs nothing. `None` if the rest cannot pay for it.
pub async fn start_item(experiment: usize, is_recorded: bool) -> Option<ItemBudget> {
    match BUDGET.get() {
        Some(budget) => budget.start_item(experiment, is_recorded).await,
        None => Some(ItemBudget::default()),
    }
}

/// Why no further request is sent or item started; `None` if the budget is not used up, or there is none.
pub fn refusal() -> Option<String> {
    BUDGET.get()?.refusal()
}

/// The number of requests that were refused.
pub fn refused_requests() -> usize {
    BUDGET.get().map_or(0, |budget| budget.refusals.load(Ordering::SeqCst))
}

/// An amount that is set aside for a request in flight. Dropping it charges the whole amount: the request may have been sent.
#[derive(Debug, Default)]
pub struct Reservation(Option<Reserved>);

#[derive(Debug)]
struct Reserved {
    budget: Arc<Budget>,
    quote: Quote,
    /// In USD.
    amount: f64,
    /// Whether it is the first request to its model.
    is_probe: bool,
}

impl Reservation {
    /// Charges the cost of the response, in USD; the reserved amount if it is unknown. Returns the charge.
    pub fn settle(mut self, usd: Option<f64>) -> f64 {
        let reserved = self.0.take();
        reserved.map_or_else(|| usd.unwrap_or(0.0), |reserved| reserved.settle(usd))
    }

    /// Whether it belongs to a budget.
    pub fn is_held(&self) -> bool {
        self.0.is_some()
    }

    /// Gives the amount back: the request was not sent, or not answered.
    pub fn release(self) {
        self.settle(Some(0.0));
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(reserved) = self.0.take() {
            reserved.settle(None);
        }
    }
}

impl Reserved {
    fn settle(self, usd: Option<f64>) -> f64 {
        let Self { budget, quote, amount, is_probe } = self;
        let charge = usd.unwrap_or(amount);
        let mut state = budget.lock();
        state.in_flight -= 1;
        if is_probe {
            state.probed.remove(&quote.provider);
        }
        // An error costs nothing, and says nothing of the next request.
        let is_news = if quote.is_free { charge > 0.0 } else { usd != Some(0.0) };
        if is_news {
            let seen = state.seen.entry((quote.provider, quote.model)).or_default();
            *seen = seen.max(charge);
        }
        budget.change(&mut state, charge, |totals| {
            totals.spent += charge;
            totals.reserved = (totals.reserved - amount).max(0.0);
        });
        drop(state);
        budget.changed.notify_waiters();
        charge
    }
}

impl Budget {
    fn new(max: f64, ledger: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Self {
            max,
            state: Mutex::default(),
            refusals: AtomicUsize::new(0),
            ledger,
            changed: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the totals of all processes. `spent` counts also if the ledger cannot be written: it is unknown then what the other
    /// processes spend, so nothing more is.
    fn change<T: Default>(&self, state: &mut State, spent: f64, change: impl FnOnce(&mut Totals) -> T) -> T {
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
    fn fits(&self, usd: f64) -> bool {
        usd <= self.max * (1.0 + TOLERANCE)
    }

    async fn reserve(self: &Arc<Self>, quote: Quote) -> Result<Reservation, String> {
        if quote.is_free {
            let mut state = self.lock();
            // A proxy on this machine may have answered with a model that has a price.
            if !state.seen.contains_key(&(quote.provider.clone(), quote.model.clone())) {
                state.in_flight += 1;
                drop(state);
                let budget = Arc::clone(self);
                return Ok(Reservation(Some(Reserved { budget, quote, amount: 0.0, is_probe: false })));
            }
        }
        let mut waits = Waits::default();
        loop {
            let mut changed = pin!(self.changed.notified());
            // Before the decision, so that no change is missed.
            changed.as_mut().enable();
            let (decision, is_probe, totals) = self.try_reserve(&quote, waits.are_stale());
            match decision {
                Decision::Start(amount) => {
                    let budget = Arc::clone(self);
                    return Ok(Reservation(Some(Reserved { budget, quote, amount, is_probe })));
                }
                Decision::Refuse => {
                    self.refusals.fetch_add(1, Ordering::SeqCst);
                    return Err(self.refusal().unwrap_or_else(|| self.message(&self.lock())));
                }
                Decision::Wait => {
                    waits.note(totals);
                    // Other processes do not notify.
                    let _ = tokio::time::timeout(POLL, changed).await;
                }
            }
        }
    }

    /// Reserves the amount of a request if it may start. Also returns whether it is a probe.
    fn try_reserve(&self, quote: &Quote, is_stale: bool) -> (Decision, bool, Totals) {
        let mut state = self.lock();
        let seen = state.seen.get(&(quote.provider.clone(), quote.model.clone())).copied();
        let is_probed = state.probed.contains(&quote.provider);
        let in_flight = state.in_flight;
        let request = RequestState { estimate: quote.estimate, seen, is_probed, in_flight, is_stale };
        let decision = self.change(&mut state, 0.0, |totals| {
            let decision = self.decide_request(&request, *totals);
            if let Decision::Start(amount) = decision {
                totals.reserved += amount;
            }
            decision
        });
        match decision {
            Decision::Start(_) => {
                state.in_flight += 1;
                if seen.is_none() {
                    state.probed.insert(quote.provider.clone());
                }
            }
            Decision::Refuse => {
                let estimate = seen.unwrap_or(quote.estimate);
                state.refused.get_or_insert(Refused { what: "request", estimate });
            }
            Decision::Wait => {}
        }
        (decision, seen.is_none(), state.totals)
    }

    fn decide_request(&self, request: &RequestState, totals: Totals) -> Decision {
        let RequestState { estimate, seen, is_probed, in_flight, is_stale } = *request;
        let estimate = estimate.max(seen.unwrap_or(0.0));
        if totals.spent >= self.max {
            return Decision::Refuse;
        }
        if seen.is_none() && is_probed && !is_stale {
            return Decision::Wait;
        }
        if self.fits(totals.spent + totals.reserved + estimate) {
            return Decision::Start(estimate);
        }
        let others = in_flight > 0 || totals.reserved > MIN_AMOUNT;
        if others && !is_stale {
            return Decision::Wait;
        }
        // The estimate is the most that it may cost; it probably costs as much as those before it.
        let expected = if others { estimate } else { seen.unwrap_or(0.0) };
        if self.fits(totals.spent + totals.reserved + expected) {
            Decision::Start(estimate)
        } else {
            Decision::Refuse
        }
    }

    async fn start_item(self: &Arc<Self>, experiment: usize, is_recorded: bool) -> Option<ItemBudget> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            match self.try_start_item(experiment, is_recorded) {
                Ok(item) => return Some(ItemBudget::new(Arc::clone(self), item)),
                Err(Decision::Wait) => changed.await,
                Err(_) => return None,
            }
        }
    }

    /// The number of an item that may start.
    fn try_start_item(&self, experiment: usize, is_recorded: bool) -> Result<usize, Decision> {
        let mut state = self.lock();
        let totals = self.change(&mut state, 0.0, |totals| *totals);
        let decision = self.decide_item(&state, totals, experiment, is_recorded);
        match decision {
            Decision::Start(_) => {
                let item = state.next_item;
                state.next_item += 1;
                state.items.insert(item, RunningItem { experiment, paid: 0.0, is_recorded });
                Ok(item)
            }
            Decision::Refuse => {
                let estimate = state.item_costs.get(&experiment).copied().unwrap_or_default();
                state.refused.get_or_insert(Refused { what: "item", estimate });
                Err(decision)
            }
            Decision::Wait => Err(decision),
        }
    }

    fn decide_item(&self, state: &State, totals: Totals, experiment: usize, is_recorded: bool) -> Decision {
        if totals.spent >= self.max || state.refused.is_some() || state.problem.is_some() {
            return Decision::Refuse;
        }
        if is_recorded {
            return Decision::Start(0.0);
        }
        let paying = || state.items.values().filter(|item| !item.is_recorded);
        let Some(cost) = state.item_costs.get(&experiment).copied() else {
            let is_first = !paying().any(|item| item.experiment == experiment);
            return if is_first { Decision::Start(0.0) } else { Decision::Wait };
        };
        let rest = |item: &RunningItem| {
            let cost = state.item_costs.get(&item.experiment).copied().unwrap_or_default();
            (cost - item.paid).max(0.0)
        };
        let due: f64 = paying().map(rest).sum();
        if self.fits(totals.spent + due + cost) {
            Decision::Start(cost)
        } else if state.items.is_empty() {
            Decision::Refuse
        } else {
            Decision::Wait
        }
    }

    fn pay_for_item(&self, item: usize, usd: f64) {
        if let Some(item) = self.lock().items.get_mut(&item) {
            item.paid += usd;
        }
    }

    /// Ends an item, which cost this amount if it is finished.
    fn end_item(&self, item: usize, cost: Option<f64>) {
        let mut state = self.lock();
        if let Some(RunningItem { experiment, paid, .. }) = state.items.remove(&item)
            && let Some(cost) = cost
        {
            let highest = state.item_costs.entry(experiment).or_default();
            *highest = highest.max(cost).max(paid);
        }
        drop(state);
        self.changed.notify_waiters();
    }

    fn spend_reported(&self, usd: f64, counted: f64) -> f64 {
        let mut state = self.lock();
        let due = (usd - counted).max(0.0);
        let known = due.min(state.unattributed);
        state.unattributed -= known;
        let added = due - known;
        if added > 0.0 {
            self.change(&mut state, added, |totals| totals.spent += added);
        }
        added
    }

    fn refusal(&self) -> Option<String> {
        let mut state = self.lock();
        // Another process may have spent the rest.
        let totals = self.change(&mut state, 0.0, |totals| *totals);
        let is_used_up = totals.spent >= self.max || state.refused.is_some() || state.problem.is_some();
        is_used_up.then(|| self.message(&state))
    }

    fn message(&self, state: &State) -> String {
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

/// What a decision about a request depends on, apart from the totals.
struct RequestState {
    /// In USD.
    estimate: f64,
    /// The highest charge for a request to its model, in USD.
    seen: Option<f64>,
    /// Whether the first request to another model of its provider is in flight.
    is_probed: bool,
    /// The requests of this process in flight.
    in_flight: usize,
    /// Whether the totals have not changed for long.
    is_stale: bool,
}

/// How long a request has waited without a change.
#[derive(Debug, Default)]
struct Waits(Option<(Totals, Instant)>);

impl Waits {
    fn note(&mut self, totals: Totals) {
        if self.0.is_none_or(|(before, _)| before != totals) {
            self.0 = Some((totals, Instant::now()));
        }
    }

    fn are_stale(&self) -> bool {
        self.0.is_some_and(|(_, since)| since.elapsed() > STALE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "m";

    fn quote(estimate: f64) -> Quote {
        Quote { provider: "openai".to_owned(), model: Some(MODEL.to_owned()), estimate, is_free: false }
    }

    /// Sends requests at once, each of which costs $1 after an estimate. Returns how many were sent.
    async fn send_at_once(budget: &Arc<Budget>, requests: usize, estimate: f64) -> usize {
        let mut sent = tokio::task::JoinSet::new();
        for _ in 0..requests {
            let budget = Arc::clone(budget);
            sent.spawn(async move {
                let Ok(reservation) = budget.reserve(quote(estimate)).await else { return false };
                tokio::task::yield_now().await;
                reservation.settle(Some(1.0));
                true
            });
        }
        sent.join_all().await.into_iter().filter(|sent| *sent).count()
    }

    #[tokio::test]
    async fn concurrent_requests_stay_within_the_budget() {
        for (max, estimate, sent) in [
            (2.0, 0.0, 2),
            (2.5, 0.0, 2),
            (20.0, 0.00001, 20),
            (20.0, 1.0, 20),
            (20.0, 7.0, 20),
            (0.1, 0.0, 1),
        ] {
            let budget = Budget::new(max, None);
            assert_eq!(send_at_once(&budget, 64, estimate).await, sent, "{max} {estimate}");
            let state = budget.lock();
            assert_eq!((state.totals.spent, state.totals.reserved, state.in_flight), (sent as f64, 0.0, 0));
        }
    }

    #[tokio::test]
    async fn dropped_requests_are_charged_and_released_ones_are_not() {
        let budget = Budget::new(10.0, None);
        drop(budget.reserve(quote(3.0)).await.unwrap());
        budget.reserve(quote(3.0)).await.unwrap().release();
        assert_eq!(budget.reserve(quote(1.0)).await.unwrap().settle(None), 3.0, "as much as was seen");
        assert_eq!(budget.lock().totals, Totals { spent: 6.0, reserved: 0.0 });
    }

    #[tokio::test]
    async fn messages_name_what_does_not_fit() {
        let budget = Budget::new(1.5, None);
        budget.reserve(quote(0.0)).await.unwrap().settle(Some(1.0));
        let expected = "budget of $1.50 exhausted: $1.00 spent, and the next request may cost $1.00; no further requests are sent";
        assert_eq!(budget.refusal(), None);
        assert_eq!(budget.reserve(quote(0.0)).await.unwrap_err(), expected);
        assert_eq!(budget.refusal().as_deref(), Some(expected));
        let spent = Budget::new(1.0, None);
        spent.spend_reported(1.25, 0.0);
        let expected = "budget of $1.00 exhausted: $1.25 spent; no further requests are sent";
        assert_eq!(spent.refusal().as_deref(), Some(expected));
    }

    #[tokio::test]
    async fn items_start_only_if_the_rest_pays_for_them() {
        let budget = Budget::new(7.0, None);
        let first = budget.start_item(0, false).await.unwrap();
        assert_eq!(budget.try_start_item(0, false), Err(Decision::Wait), "nothing is known of the cost");
        let replayed = budget.start_item(0, true).await.unwrap();
        budget.spend_reported(3.0, 0.0);
        first.finish(3.0);
        let second = budget.start_item(0, false).await.unwrap();
        assert_eq!(budget.try_start_item(0, false), Err(Decision::Wait), "two would cost $9");
        budget.spend_reported(3.0, 0.0);
        second.finish(3.0);
        drop(replayed);
        assert!(budget.start_item(0, false).await.is_none());
        let message = budget.refusal().unwrap();
        assert!(message.contains("$6.00 spent, and the next item may cost $3.00"), "{message}");
    }

    #[tokio::test]
    async fn processes_share_a_ledger() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Some(dir.path().join("spent"));
        let [first, second] = [1, 2].map(|_| Budget::new(2.0, ledger.clone()));
        first.reserve(quote(0.0)).await.unwrap().settle(Some(1.0));
        let in_flight = first.reserve(quote(0.0)).await.unwrap();
        let waiting = tokio::spawn({
            let second = Arc::clone(&second);
            async move { second.reserve(quote(1.0)).await.map(|_| ()) }
        });
        tokio::time::sleep(POLL).await;
        assert!(!waiting.is_finished(), "the request of the other process may cost the rest");
        in_flight.settle(Some(1.0));
        assert!(waiting.await.unwrap().is_err());
        assert!(Budget::new(1.0, ledger.clone()).refusal().is_some());
        std::fs::write(ledger.as_ref().unwrap(), "much").unwrap();
        let refusal = Budget::new(1.0, ledger).refusal().unwrap();
        assert!(refusal.contains("spent`: `much` is not an amount in USD; "), "{refusal}");
    }

    #[test]
    fn reported_costs_are_spent_once() {
        let spent = |budget: &Budget| budget.lock().totals.spent;
        let budget = Budget::new(100.0, None);
        assert_eq!(budget.spend_reported(5.0, 3.0), 2.0);
        assert_eq!(budget.spend_reported(1.0, 2.0), 0.0);
        budget.lock().unattributed = 3.0;
        assert_eq!(budget.spend_reported(4.0, 0.0), 1.0, "3 are those of the unattributed requests");
        assert_eq!(spent(&budget), 3.0);
    }
}
