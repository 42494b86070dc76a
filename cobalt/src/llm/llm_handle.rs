//! The handle that an evaluation uses to call models.

use std::sync::Arc;

use cobalt_core::prices::JudgeMeter;

use super::{JudgeUsage, Models};
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
    pub(crate) fn new(models: Arc<Models>, recording: Option<Arc<ExecutionTraffic>>) -> Self {
        Self { models, meter: Arc::new(CallMeter { usage: JudgeMeter::default(), recording }) }
    }

    /// The usage so far.
    pub(crate) fn usage(&self) -> Option<JudgeUsage> {
        self.meter.usage()
    }
}

/// The usage of one evaluation, and where its answers are recorded.
#[derive(Debug, Default)]
pub(crate) struct CallMeter {
    usage: JudgeMeter,
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model is called without the feature"))]
    pub(super) recording: Option<Arc<ExecutionTraffic>>,
}

impl CallMeter {
    /// Adds usage.
    #[cfg(feature = "judge")]
    pub(crate) fn add(&self, add: impl FnOnce(&mut JudgeUsage)) {
        self.usage.add(add);
    }

    /// The usage so far; `None` if no model was called.
    pub(crate) fn usage(&self) -> Option<JudgeUsage> {
        self.usage.usage()
    }
}
