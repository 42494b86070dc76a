//! What an evaluator sees before the first item is run.

use std::sync::Arc;

use crate::dataset::{Dataset, Item};
use crate::llm::Models;

/// What an evaluator is about to be used on, see [`Evaluator::check`](super::Evaluator::check).
#[derive(Debug)]
pub struct Setup {
    pub(crate) dataset: Dataset,
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "nobody is asked without the feature"))]
    pub(crate) models: Arc<Models>,
}

impl Setup {
    /// The items that outputs will be scored for.
    pub fn items(&self) -> impl Iterator<Item = &Item> + Clone {
        self.dataset.iter()
    }
}
