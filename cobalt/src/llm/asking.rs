//! An evaluation's way to the models.

use std::sync::Arc;

use super::{JudgeUsage, Meter, Models};

/// What an evaluation asks models by, with the meter of what it has asked.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "nobody is asked without the feature"))]
    pub(crate) models: Arc<Models>,
    pub(crate) meter: Arc<Meter>,
}

impl Asking {
    /// With nothing asked yet.
    pub(crate) fn new(models: Arc<Models>) -> Self {
        Self { models, meter: Arc::default() }
    }

    /// What was asked up to now.
    pub(crate) fn usage(&self) -> Option<JudgeUsage> {
        self.meter.usage()
    }
}
