//! Another view of an execution, for an evaluator that is to see something else than it is given.

use std::fmt;
use std::sync::Arc;

use super::EvalContext;

/// A function from what the engine shows to what an evaluator sees.
#[derive(Clone)]
pub(super) struct Remap {
    function: Arc<dyn Fn(&EvalContext) -> EvalContext + Send + Sync>,
    type_name: &'static str,
}

impl Remap {
    pub(super) fn new<F: Fn(&EvalContext) -> EvalContext + Send + Sync + 'static>(function: F) -> Self {
        Self { function: Arc::new(function), type_name: std::any::type_name::<F>() }
    }

    /// What the evaluator sees.
    pub(super) fn apply(&self, cx: &EvalContext) -> EvalContext {
        (self.function)(cx)
    }
}

/// The function's type, which is the same in every process: fingerprints are made of it.
impl fmt::Debug for Remap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name)
    }
}
