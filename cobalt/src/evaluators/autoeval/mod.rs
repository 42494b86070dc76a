//! `Autoeval`: the evaluators that autoevals is known for, by their names.

mod builder;
mod classify;
mod correctness;
mod evaluate;
mod options;
mod ragas;
mod table;
#[cfg(test)]
mod tests;

use std::time::Duration;

use super::asking::prompt::Prompt;
use super::asking::source::Sources;
use super::context::Remap;
use super::{AutoevalKind, CheckError, EvalContext, Evaluation, Evaluator, Setup};
use classify::Choice;
use options::Options;
pub(crate) use table::AutoevalOptions;

/// Scores with one of the evaluators that autoevals is known for; each kind has its constructor.
///
/// What a kind looks at are its inputs: `output` is what the agent answered, `expected` the item's `expectedOutput` (else
/// its `expected`), and `input`, `context`, `criteria`, `instructions`, `language` and `schema` the item's fields of these
/// names. [`field`](Self::field) takes an input from elsewhere, [`value`](Self::value) sets it once for all items. A `context`
/// may be a text or a list of texts.
///
/// An item without an input that the kind needs is an error of the evaluation, never a score; one that no item has is an
/// error at start. So is a setting that the kind does not have.
///
/// ```
/// use cobalt::Autoeval;
///
/// let close = Autoeval::levenshtein("edit-distance");
/// let grounded = Autoeval::faithfulness("grounded").field("context", "metadata.documents");
/// let polite = Autoeval::closed_qa("polite").value("criteria", "The answer is polite.").pass_mark(1.0);
/// ```
#[derive(Clone, Debug)]
pub struct Autoeval {
    name: String,
    task: Task,
    sources: Sources,
    options: Options,
    remap: Option<Remap>,
    pass_mark: f64,
}

/// What is to be done.
#[derive(Clone, Debug)]
enum Task {
    Kind(AutoevalKind),
    /// A classifier with a prompt and labels of its own.
    Classifier {
        prompt: Prompt,
        choices: Vec<Choice>,
    },
}

impl Task {
    /// What it is called in messages.
    fn name(&self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::Classifier { .. } => "classifier",
        }
    }
}

impl Evaluator for Autoeval {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(self.score(cx))
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.check_all(setup)
    }

    /// Requests to models have time limits of their own.
    fn time_limit(&self, timeout: Duration) -> Option<Duration> {
        (!self.asks_models()).then_some(timeout)
    }
}
