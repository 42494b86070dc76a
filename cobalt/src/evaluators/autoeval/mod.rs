//! `Autoeval`: the evaluators of autoevals.

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

use super::context::Remap;
use super::judge_support::inputs::Sources;
use super::judge_support::prompt::Prompt;
use super::{AutoevalKind, CheckError, EvalContext, Evaluation, Evaluator, Setup};
use classify::Choice;
use options::Options;
pub(crate) use table::AutoevalOptions;

/// Scores with one of the evaluators of autoevals; each kind has a constructor.
///
/// A kind has inputs: `output` is the agent's output, `expected` the item's `expectedOutput` (else its `expected`), and `input`,
/// `context`, `criteria`, `instructions`, `language` and `schema` are the item's fields of these names.
/// [`field`](Self::field) maps an input to another path, [`value`](Self::value) sets it for all items. A `context` may be a text
/// or a list of texts.
///
/// If an item lacks a required input, the evaluation is an error, never a score. An input that no item has is an error before the
/// run, and so is a setting that the kind does not support.
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

/// What to evaluate.
#[derive(Clone, Debug)]
enum Task {
    Kind(AutoevalKind),
    /// A custom classifier with a prompt and labels.
    Classifier {
        prompt: Prompt,
        choices: Vec<Choice>,
    },
}

impl Task {
    /// Its name in messages.
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

    /// Model calls have their own time limits.
    fn time_limit(&self, timeout: Duration) -> Option<Duration> {
        (!self.asks_models()).then_some(timeout)
    }
}
