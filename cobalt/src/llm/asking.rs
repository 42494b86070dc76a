//! The handle that an evaluation uses to call models.

use std::sync::Arc;

use super::{JudgeUsage, Meter, Models};

/// Access to the models, with the usage of one evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model is called without the feature"))]
    pub(crate) models: Arc<Models>,
    pub(crate) meter: Arc<Meter>,
}

impl Asking {
    /// A handle without usage.
    pub(crate) fn new(models: Arc<Models>) -> Self {
        Self { models, meter: Arc::default() }
    }

    /// The usage so far.
    pub(crate) fn usage(&self) -> Option<JudgeUsage> {
        self.meter.usage()
    }
}
