//! The budget of agents, judges and simulated users in one invocation.
//!
//! A request reserves its estimated cost before it is sent, and is charged its cost when it is answered. Requests that may not fit wait
//! for others to be charged. The first request to a model is sent alone: nothing is known of its cost yet. So is the first item of an
//! experiment; further items start only if the rest can pay for them. An unknown cost counts as the reserved amount, and a model without
//! a price costs as much as the most expensive one.

mod account;
mod item;
mod ledger;
mod quote;
mod reservation;
mod spending;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

pub use account::{Account, Charge};
pub use item::ItemBudget;
pub use ledger::shared_ledger;
#[cfg(feature = "judge")]
pub use quote::PricedRequest;
#[cfg(feature = "record")]
pub use quote::known_cost;
#[cfg(feature = "judge")]
pub use reservation::Reservation;
use spending::Budget;

/// The budget of this process, if it has one.
static BUDGET: OnceLock<Arc<Budget>> = OnceLock::new();

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

/// Adds what was paid for requests that were not counted one by one, in USD.
pub fn spend(usd: f64) {
    if let Some(budget) = BUDGET.get().filter(|_| usd > 0.0) {
        budget.spend(usd);
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

/// Whether the rest of the budget may pay for another trial of an item in progress, whose last one cost this amount in USD past the
/// gateway; true if it cost nothing there, as requests that pass through it are refused one by one.
pub fn pays_for_trial(estimate: f64) -> bool {
    BUDGET.get().filter(|_| estimate > 0.0).is_none_or(|budget| budget.pays_for_trial(estimate))
}

/// Why no further request is sent or item started; `None` if the budget is not used up, or there is none.
pub fn refusal() -> Option<String> {
    BUDGET.get()?.refusal()
}

/// The number of requests that were refused.
pub fn refused_requests() -> usize {
    BUDGET.get().map_or(0, |budget| budget.refusals.load(Ordering::SeqCst))
}
