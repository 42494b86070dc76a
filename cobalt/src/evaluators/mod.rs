//! What scores an output: the trait, and the evaluators that come with the library, a file or a folder each.
//!
//! An evaluator knows one output and its item, and nothing of the experiment. It gives a score or an error; whether a score
//! passes, and what an error means for the run, is not its business.

#[cfg(feature = "judge")]
mod asking;
#[cfg(feature = "judge")]
mod autoeval;
mod autoeval_kind;
mod calls;
mod choices;
mod command;
mod context;
mod exact_match;
mod function;
#[cfg(feature = "judge")]
mod g_eval;
#[cfg(feature = "judge")]
mod llm_judge;
pub mod options;
#[cfg(feature = "judge")]
mod pairwise;
mod places;
#[cfg(feature = "judge")]
#[cfg_attr(not(feature = "json-schema"), path = "without_schema.rs")]
mod schema;
mod score;
#[cfg(feature = "judge")]
mod similarity;
#[cfg(all(test, feature = "judge"))]
pub mod tests;
mod text;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::report::DEFAULT_PASS_MARK;

pub use crate::llm::CheckError;
pub(crate) use crate::llm::Unfit;
#[cfg(feature = "judge")]
pub use autoeval::Autoeval;
#[cfg(feature = "judge")]
pub(crate) use autoeval::AutoevalOptions;
#[cfg(all(feature = "schema", feature = "judge"))]
use autoeval_kind::ALIASES;
pub use autoeval_kind::{AutoevalKind, UnknownAutoevalKind};
pub use calls::{ToolCall, ToolCallError, ToolCalls};
pub(crate) use calls::{ToolCallsOptions, has_calls, has_no_calls, reports_calls};
pub(crate) use choices::Preset;
pub use choices::{Aggregate, Distance};
pub use command::CommandEvaluator;
pub(crate) use command::{CommandOptions, EndsAll};
pub use context::{EvalContext, Setup};
pub use exact_match::ExactMatch;
pub(crate) use exact_match::ExactMatchOptions;
pub use function::{EvaluatorDefinition, FnEvaluator};
#[cfg(feature = "judge")]
pub use g_eval::GEval;
#[cfg(feature = "judge")]
pub(crate) use g_eval::GEvalOptions;
#[cfg(feature = "judge")]
pub use llm_judge::LlmJudge;
#[cfg(feature = "judge")]
pub(crate) use llm_judge::LlmJudgeOptions;
#[cfg(feature = "judge")]
pub use pairwise::Pairwise;
#[cfg(feature = "judge")]
pub(crate) use pairwise::PairwiseOptions;
pub use score::{IntoScore, Score};
#[cfg(feature = "judge")]
pub use similarity::Similarity;
#[cfg(feature = "judge")]
pub(crate) use similarity::SimilarityOptions;
#[cfg(feature = "judge")]
pub use text::JsonSchema;
#[cfg(feature = "judge")]
pub(crate) use text::JsonSchemaOptions;
pub use text::{Bleu, ChrF, Contains, RegexMatch, Rouge, SquadExactMatch, TokenF1, Wer};
pub(crate) use text::{
    BleuOptions, ChrFOptions, ContainsOptions, RegexOptions, RougeOptions, SquadExactMatchOptions,
    TokenF1Options, WerOptions,
};

/// Texts of more bytes than this together are compared on a thread of their own: the comparison of two long texts takes
/// seconds.
const LARGE: usize = 4096;

/// Why an evaluator gave no score. It is never taken for a score of 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EvalError(String);

impl EvalError {
    /// An error with its reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

#[cfg(feature = "judge")]
impl From<crate::llm::AskError> for EvalError {
    fn from(error: crate::llm::AskError) -> Self {
        Self::new(error.0)
    }
}

/// A score on its way.
pub type Evaluation<'a> = Pin<Box<dyn Future<Output = Result<Score, EvalError>> + Send + 'a>>;

/// Scores outputs from 0 to 1.
///
/// Most evaluators need no type of their own: a function with [`#[cobalt::evaluator]`](macro@crate::evaluator), or a
/// closure in [`FnEvaluator`], is enough. Implement this trait for one that has settings or holds a resource.
///
/// ```
/// use cobalt::{EvalContext, Evaluation, Evaluator, Score};
///
/// #[derive(Debug)]
/// struct Polite;
///
/// impl Evaluator for Polite {
///     fn name(&self) -> &str {
///         "polite"
///     }
///
///     fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
///         Box::pin(async move { Ok(Score::from(cx.output_text().contains("please"))) })
///     }
/// }
/// ```
pub trait Evaluator: Debug + Send + Sync + 'static {
    /// The name under which scores are kept; unique within an experiment.
    fn name(&self) -> &str;

    /// Scores one output.
    ///
    /// # Errors
    ///
    /// Where no score can be given, an [`EvalError`]: it is counted beside the scores, never as one. A score that is
    /// no number from 0 to 1 is made one by the engine.
    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a>;

    /// From which score an output passes.
    fn pass_mark(&self) -> f64 {
        DEFAULT_PASS_MARK
    }

    /// Looks at what is to come before the first item is run, so that a mistake costs no run. Everything else waits for
    /// the answer: this is no place for a request.
    ///
    /// ```
    /// use cobalt::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Setup};
    ///
    /// #[derive(Debug)]
    /// struct Toxicity;
    ///
    /// impl Evaluator for Toxicity {
    ///     fn name(&self) -> &str {
    ///         "toxicity"
    ///     }
    ///
    ///     fn evaluate<'a>(&'a self, _: &'a EvalContext) -> Evaluation<'a> {
    ///         Box::pin(async { Err(EvalError::new("here the service is asked")) })
    ///     }
    ///
    ///     fn check(&self, setup: &Setup) -> Result<(), CheckError> {
    ///         if setup.items().all(|item| !item.contains_key("audience")) {
    ///             return Err(CheckError::new("no item has `audience`"));
    ///         }
    ///         match std::env::var("TOXICITY_KEY") {
    ///             Ok(key) if !key.is_empty() => Ok(()),
    ///             _ => Err(CheckError::missing_key("TOXICITY_KEY", "the toxicity service")),
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Says what would keep the evaluator from scoring, such as a field that no item has. The experiment is then not run.
    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        let _ = setup;
        Ok(())
    }

    /// How long [`evaluate`](Self::evaluate) may take, `None` for one that ends by itself in any case: the experiment's
    /// `timeout` unless it is overridden. After that time it is cancelled, and the evaluation is an error.
    fn time_limit(&self, timeout: Duration) -> Option<Duration> {
        Some(timeout)
    }

    /// Lets go of what it holds between two outputs, such as a process or a connection: no output of this run is to come.
    /// Another run may still follow. It may block for a moment, not for long; by default it does nothing.
    ///
    /// It is not called where the run is stopped before its end.
    fn finish(&self) {}

    /// Text that changes whenever the evaluator would score differently. A run is resumed only with evaluators
    /// whose text is the same. By default it is that of `Debug`: override it where that differs from process to process,
    /// as with a hash map or a function pointer, or the run could never be resumed.
    fn fingerprint(&self) -> String {
        format!("{self:?}")
    }
}

macro_rules! pointers_are_evaluators {
    ($($pointer:ident),*) => {$(
        impl<T: Evaluator + ?Sized> Evaluator for $pointer<T> {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
                (**self).evaluate(cx)
            }

            fn pass_mark(&self) -> f64 {
                (**self).pass_mark()
            }

            fn check(&self, setup: &Setup) -> Result<(), CheckError> {
                (**self).check(setup)
            }

            fn time_limit(&self, timeout: Duration) -> Option<Duration> {
                (**self).time_limit(timeout)
            }

            fn finish(&self) {
                (**self).finish();
            }

            fn fingerprint(&self) -> String {
                (**self).fingerprint()
            }
        }
    )*};
}

pointers_are_evaluators!(Arc, Box);
