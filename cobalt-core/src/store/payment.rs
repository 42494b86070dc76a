//! Payments in the journal: what requests and agents cost, also of items that do not finish.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Who pays for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Payer {
    /// The agent.
    Agent,
    /// A judge, or another model that an evaluator calls.
    Judge,
    /// A simulated user.
    User,
}

/// What was paid for a trial, noted as soon as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// The item's index.
    pub index: usize,
    /// The number of the trial, from 0.
    pub run: usize,
    /// Who paid.
    pub by: Payer,
    /// The known cost in USD.
    pub usd: f64,
}

/// The payments of a run, in USD.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payments(HashMap<usize, f64>);

impl Payments {
    /// Adds a payment.
    pub fn add(&mut self, payment: Payment) {
        *self.0.entry(payment.index).or_default() += payment.usd;
    }

    /// All payments.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.0.values().sum()
    }

    /// The payments for items that are not finished.
    #[must_use]
    pub fn unfinished(&self, is_finished: impl Fn(usize) -> bool) -> f64 {
        self.0.iter().filter(|(index, _)| !is_finished(**index)).map(|(_, usd)| usd).sum()
    }
}
