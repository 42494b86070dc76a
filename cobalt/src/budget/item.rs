//! The items that a budget pays for.

use crate::log;
use std::pin::pin;
use std::sync::Arc;

use cobalt_core::store::Payer;

use super::account::{Account, Charge};
use super::spending::{Budget, Decision, Refused, RunningItem, State};

/// After this many items of an experiment that failed before they paid anything, further ones start at once.
const MAX_FREE_FAILURES: usize = 3;

/// An item in progress that counts for a budget, until it is dropped.
#[derive(Debug, Default)]
pub struct ItemBudget(Option<Arc<BudgetedItem>>);

#[derive(Debug)]
struct BudgetedItem {
    budget: Arc<Budget>,
    item: usize,
}

impl ItemBudget {
    /// An account for one of its trials, which calls a function with each payment: who paid, and the known cost in USD.
    pub fn account(&self, note: impl Fn(Payer, f64) + Send + Sync + 'static) -> Account {
        let item = self.0.as_ref().map(Arc::downgrade);
        Account::new(move |payer, Charge { charged, known }| {
            if let Some(item) = item.as_ref().and_then(std::sync::Weak::upgrade) {
                item.budget.pay_for_item(item.item, charged);
            }
            if known > 0.0 {
                note(payer, known);
            }
        })
    }

    /// Ends the item, which cost this amount in USD, including what was replayed.
    pub fn finish(self, cost: f64, has_failed: bool) {
        if let Some(BudgetedItem { budget, item }) = self.0.as_deref() {
            budget.end_item(*item, Some(ItemCost { usd: cost, has_failed }));
        }
    }
}

impl Drop for BudgetedItem {
    fn drop(&mut self) {
        self.budget.end_item(self.item, None);
    }
}

/// What a finished item cost.
#[derive(Clone, Copy, Debug)]
struct ItemCost {
    usd: f64,
    has_failed: bool,
}

impl Budget {
    /// Starts an item; waits while the rest of the budget may not pay for it. `None` if the rest cannot pay for it.
    pub async fn start_item(self: &Arc<Self>, experiment: usize, is_recorded: bool) -> Option<ItemBudget> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            match self.try_start_item(experiment, is_recorded) {
                Ok(item) => {
                    return Some(ItemBudget(Some(Arc::new(BudgetedItem { budget: Arc::clone(self), item }))));
                }
                Err(Decision::Wait) => {
                    log::debug!("waits to start an item until it is known what others cost");
                    changed.await;
                }
                Err(_) => return None,
            }
        }
    }

    /// The number of an item that may start.
    pub fn try_start_item(&self, experiment: usize, is_recorded: bool) -> Result<usize, Decision> {
        let mut state = self.lock();
        self.read_totals(&mut state);
        let estimate = state.item_cost(experiment);
        let decision = self.decide_item(&state, experiment, is_recorded);
        match decision {
            Decision::Start(_) => {
                let item = state.next_item;
                state.next_item += 1;
                state.items.insert(item, RunningItem { experiment, paid: 0.0, is_recorded });
                Ok(item)
            }
            Decision::Refuse => {
                log::warn!(
                    estimate = estimate,
                    spent = state.totals.spent,
                    budget = self.max,
                    "starts no further item; the budget does not cover it"
                );
                state.refused.get_or_insert(Refused { what: "item", estimate });
                Err(decision)
            }
            Decision::Wait => Err(decision),
        }
    }

    fn decide_item(&self, state: &State, experiment: usize, is_recorded: bool) -> Decision {
        if self.is_exhausted(state) {
            return Decision::Refuse;
        }
        if is_recorded {
            return Decision::Start(0.0);
        }
        let is_known = |experiment: &usize| state.item_costs.contains_key(experiment);
        let paying = || state.items.values().filter(|item| !item.is_recorded);
        if !is_known(&experiment) && paying().any(|item| !is_known(&item.experiment)) {
            return Decision::Wait;
        }
        let due: f64 = paying().map(|item| (state.item_cost(item.experiment) - item.paid).max(0.0)).sum();
        let cost = state.item_cost(experiment);
        if self.fits(state.totals.spent + due + cost) {
            Decision::Start(cost)
        } else if !state.items.is_empty() {
            Decision::Wait
        } else if is_known(&experiment) {
            Decision::Refuse
        } else {
            // It probably costs less than those of other experiments.
            Decision::Start(cost)
        }
    }

    fn pay_for_item(&self, item: usize, usd: f64) {
        if let Some(item) = self.lock().items.get_mut(&item) {
            item.paid += usd;
        }
    }

    /// Ends an item, which cost this amount if it is finished.
    fn end_item(&self, item: usize, cost: Option<ItemCost>) {
        let mut state = self.lock();
        if let Some(RunningItem { experiment, paid, .. }) = state.items.remove(&item)
            && let Some(ItemCost { usd, has_failed }) = cost
        {
            let cost = usd.max(paid);
            // What failed before it paid says nothing of the next item, unless several do; their requests are still counted.
            let is_free_failure = has_failed && cost == 0.0;
            let failures = state.free_failures.entry(experiment).or_default();
            *failures += usize::from(is_free_failure);
            if !is_free_failure || *failures >= MAX_FREE_FAILURES {
                let highest = state.item_costs.entry(experiment).or_default();
                *highest = highest.max(cost);
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Whether the rest may pay for another trial of an item in progress, which probably costs this amount in USD.
    pub fn pays_for_trial(&self, estimate: f64) -> bool {
        let mut state = self.lock();
        let spent = self.read_totals(&mut state).spent;
        if self.is_exhausted(&state) {
            return false;
        }
        let pays = self.fits(spent + estimate);
        if !pays {
            state.refused = Some(Refused { what: "trial", estimate });
        }
        pays
    }
}

impl State {
    /// The highest cost of an item, in USD: of an experiment, or of all if nothing is known of it.
    fn item_cost(&self, experiment: usize) -> f64 {
        let of_all = || self.item_costs.values().copied().fold(0.0, f64::max);
        self.item_costs.get(&experiment).copied().unwrap_or_else(of_all)
    }
}
