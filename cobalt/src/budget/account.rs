//! What trials pay, as they pay it.

use std::fmt;
use std::sync::Arc;

use cobalt_core::store::Payer;

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
    pub fn new(note: impl Fn(Payer, Charge) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(note)))
    }

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
