//! The usage of one evaluation.

use std::sync::Arc;

use cobalt_core::prices::JudgeMeter;

use super::JudgeUsage;
use crate::recording::ExecutionTraffic;

/// The usage of one evaluation, and where its answers are recorded.
#[derive(Debug, Default)]
pub struct CallMeter {
    usage: JudgeMeter,
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model is called without the feature"))]
    pub recording: Option<Arc<ExecutionTraffic>>,
}

impl CallMeter {
    /// No usage yet; answers are recorded with a trial, if there is one.
    pub fn new(recording: Option<Arc<ExecutionTraffic>>) -> Self {
        Self { usage: JudgeMeter::default(), recording }
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
