//! The handle that an evaluation uses to call models.

use std::sync::Arc;

use cobalt_core::store::Payer;

use super::call_meter::CallMeter;
use super::{JudgeUsage, Models};
use crate::budget::Account;
use crate::recording::ExecutionTraffic;

/// Access to the models, with the usage of one evaluation.
#[derive(Clone, Debug)]
pub(crate) struct LlmHandle {
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model is called without the feature"))]
    pub(crate) models: Arc<Models>,
    pub(crate) meter: Arc<CallMeter>,
}

impl LlmHandle {
    /// A handle without usage, whose answers are recorded with a trial.
    #[cfg(any(test, feature = "judge"))]
    pub(crate) fn new(models: Arc<Models>, recording: Option<Arc<ExecutionTraffic>>) -> Self {
        Self { models, meter: Arc::new(CallMeter::new(recording)) }
    }

    /// The same, whose calls are paid from an account.
    pub(crate) fn paid_by(
        payer: Payer,
        account: &Account,
        models: &Arc<Models>,
        recording: Option<Arc<ExecutionTraffic>>,
    ) -> Self {
        let meter = CallMeter::new(recording).paid_by(payer, account.clone());
        Self { models: Arc::clone(models), meter: Arc::new(meter) }
    }

    /// The usage so far.
    pub(crate) fn usage(&self) -> Option<JudgeUsage> {
        self.meter.usage()
    }
}
