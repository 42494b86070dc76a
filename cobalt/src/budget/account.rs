//! What items pay, as they pay it.

use std::fmt;
use std::sync::Arc;

use cobalt_core::store::Payer;

use super::Budget;

/// An item in progress that counts for a budget, until it is dropped.
#[derive(Debug, Default)]
pub struct ItemBudget(Option<Arc<BudgetedItem>>);

#[derive(Debug)]
struct BudgetedItem {
    budget: Arc<Budget>,
    item: usize,
}

impl ItemBudget {
    pub(super) fn new(budget: Arc<Budget>, item: usize) -> Self {
        Self(Some(Arc::new(BudgetedItem { budget, item })))
    }

    /// An account for one of its trials, which calls a function with each payment: who paid, and the known cost in USD.
    pub fn account(&self, note: impl Fn(Payer, f64) + Send + Sync + 'static) -> Account {
        let item = self.0.as_ref().map(Arc::downgrade);
        Account(Some(Arc::new(move |payer, Charge { charged, known }| {
            if let Some(BudgetedItem { budget, item }) =
                item.as_ref().and_then(std::sync::Weak::upgrade).as_deref()
            {
                budget.pay_for_item(*item, charged);
            }
            if known > 0.0 {
                note(payer, known);
            }
        })))
    }

    /// Ends the item, which cost this amount in USD, including what was replayed.
    pub fn finish(self, cost: f64) {
        if let Some(BudgetedItem { budget, item }) = self.0.as_deref() {
            budget.end_item(*item, Some(cost));
        }
    }
}

impl Drop for BudgetedItem {
    fn drop(&mut self) {
        self.budget.end_item(self.item, None);
    }
}

/// What was paid for a response, in USD.
#[derive(Clone, Copy, Debug, Default)]
pub struct Charge {
    /// What counts for the budget.
    pub charged: f64,
    /// The known cost; 0 if it is unknown.
    pub known: f64,
}

type Note = dyn Fn(Payer, Charge) + Send + Sync;

/// Notes the payments of a trial.
#[derive(Clone, Default)]
pub struct Account(Option<Arc<Note>>);

impl Account {
    pub fn pay(&self, payer: Payer, charge: Charge) {
        if let Some(note) = &self.0 {
            note(payer, charge);
        }
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account")
    }
}
