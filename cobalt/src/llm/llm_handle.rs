//! The handle that an evaluation uses to call models.

use std::sync::Arc;

use super::{JudgeMeter, JudgeUsage, Models};

/// Access to the models, with the usage of one evaluation.
#[derive(Clone, Debug)]
pub(crate) struct LlmHandle {
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model is called without the feature"))]
    pub(crate) models: Arc<Models>,
    pub(crate) meter: Arc<JudgeMeter>,
}

impl LlmHandle {
    /// A handle without usage.
    pub(crate) fn new(models: Arc<Models>) -> Self {
        Self { models, meter: Arc::default() }
    }

    /// The usage so far.
    pub(crate) fn usage(&self) -> Option<JudgeUsage> {
        self.meter.usage()
    }
}
