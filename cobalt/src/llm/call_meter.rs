//! The usage of one evaluation.

use std::sync::Arc;

use cobalt_core::prices::JudgeMeter;
use cobalt_core::store::Payer;

use super::JudgeUsage;
use crate::budget::Account;
use crate::recording::ExecutionTraffic;

/// The usage of one evaluation, and where its answers are recorded.
#[derive(Debug, Default)]
pub struct CallMeter {
    usage: JudgeMeter,
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model is called without the feature"))]
    pub recording: Option<Arc<ExecutionTraffic>>,
    /// Who pays for the calls, and where that is noted.
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model is called without the feature"))]
    pub payer: Option<(Payer, Account)>,
}

impl CallMeter {
    /// No usage yet; answers are recorded with a trial, if there is one.
    pub fn new(recording: Option<Arc<ExecutionTraffic>>) -> Self {
        Self { recording, ..Self::default() }
    }

    /// Sets who pays for the calls, and where that is noted.
    pub fn paid_by(self, payer: Payer, account: Account) -> Self {
        Self { payer: Some((payer, account)), ..self }
    }

    /// Adds usage.
    #[cfg(feature = "judge")]
    pub fn add(&self, add: impl FnOnce(&mut JudgeUsage)) {
        self.usage.add(add);
    }

    /// The usage so far; `None` if no model was called.
    pub fn usage(&self) -> Option<JudgeUsage> {
        self.usage.usage()
    }
}
