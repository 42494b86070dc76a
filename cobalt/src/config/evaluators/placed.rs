//! An evaluator that knows where it stands in the file, so that what it objects to can be found.

use std::sync::Arc;
use std::time::Duration;

use crate::config::error::Place;
use crate::evaluators::{CheckError, EvalContext, Evaluation, Evaluator, Setup, Unfit};

#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) evaluator: Arc<dyn Evaluator>,
    pub(super) place: Place,
}

impl Evaluator for Placed {
    fn name(&self) -> &str {
        self.evaluator.name()
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        self.evaluator.evaluate(cx)
    }

    fn pass_mark(&self) -> f64 {
        self.evaluator.pass_mark()
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.evaluator.check(setup).map_err(|CheckError(unfit)| match unfit {
            Unfit::Problem(problem) => CheckError::new(self.place.error(&problem).to_string()),
            // Is told once for all that need the key, wherever they stand.
            Unfit::MissingKey { .. } => CheckError(unfit),
        })
    }

    fn time_limit(&self, timeout: Duration) -> Option<Duration> {
        self.evaluator.time_limit(timeout)
    }

    fn finish(&self) {
        self.evaluator.finish();
    }

    /// Without the place: a line more above it changes no score.
    fn fingerprint(&self) -> String {
        self.evaluator.fingerprint()
    }
}
