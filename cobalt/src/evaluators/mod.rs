//! The trait `Evaluator` and the built-in evaluators, each in its own file or folder.
//!
//! An evaluator sees one output and its item, not the experiment. It returns a score or an error; the engine decides whether
//! a score passes and what an error means for the run.

#[cfg(feature = "judge")]
mod autoeval;
mod autoeval_kind;
mod calls;
mod choices;
mod command;
mod context;
mod exact_match;
mod field_path;
mod function;
#[cfg(feature = "judge")]
mod g_eval;
#[cfg(feature = "judge")]
mod judge_support;
#[cfg(feature = "judge")]
mod llm_judge;
pub mod options;
#[cfg(feature = "judge")]
mod pairwise;
mod parts;
mod reasons;
#[cfg(any(feature = "judge", feature = "workspace"))]
#[cfg_attr(not(feature = "json-schema"), path = "schema_disabled.rs")]
mod schema;
mod score;
#[cfg(feature = "judge")]
mod similarity;
#[cfg(all(test, feature = "judge"))]
pub mod tests;
mod text;
mod trace_check;
mod transcript_check;
#[cfg(feature = "workspace")]
mod workspace;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::report::DEFAULT_PASS_MARK;

pub use crate::llm::CheckError;
pub(crate) use crate::llm::CheckErrorKind;
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
pub(crate) use command::CommandOptions;
pub use context::{EvalContext, Setup};
pub use exact_match::ExactMatch;
pub(crate) use exact_match::ExactMatchOptions;
pub use function::{EvaluatorDefinition, FnEvaluator};
#[cfg(feature = "judge")]
pub use g_eval::GEval;
#[cfg(feature = "judge")]
pub(crate) use g_eval::GEvalOptions;
#[cfg(feature = "judge")]
pub use judge_support::inputs::{TAGS, prompt as tagged_prompt};
#[cfg(feature = "judge")]
pub use llm_judge::LlmJudge;
#[cfg(feature = "judge")]
pub(crate) use llm_judge::LlmJudgeOptions;
#[cfg(feature = "judge")]
pub use pairwise::Pairwise;
#[cfg(feature = "judge")]
pub(crate) use pairwise::PairwiseOptions;
pub use parts::{CombineTurns, EvaluatorExt, PartEvaluator, PartOptions};
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
pub use trace_check::TraceCheck;
pub(crate) use trace_check::TraceCheckOptions;
pub use transcript_check::TranscriptCheck;
pub(crate) use transcript_check::TranscriptCheckOptions;
#[cfg(feature = "workspace")]
pub use workspace::{CommandSucceeds, Files, PatchSize, TouchedOnly};
#[cfg(feature = "workspace")]
pub use workspace::{CommandSucceedsOptions, FilesOptions, PatchSizeOptions, TouchedOnlyOptions};

/// Texts with more bytes than this in total are compared on a separate thread: comparing two long texts takes seconds.
const LARGE_TEXT_BYTES: usize = 4096;

/// Why an evaluator returned no score. Never counted as a score of 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EvalError(String);

impl EvalError {
    /// Creates an error with its reason.
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

/// A boxed future of a score.
pub type Evaluation<'a> = Pin<Box<dyn Future<Output = Result<Score, EvalError>> + Send + 'a>>;

/// Scores outputs from 0 to 1.
///
/// Usually a function with [`#[cobalt::evaluator]`](macro@crate::evaluator), or a closure in [`FnEvaluator`], is enough.
/// Implement this trait for evaluators that have settings or hold a resource.
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
    /// The name of the scores in results; unique within an experiment.
    fn name(&self) -> &str;

    /// Scores one output.
    ///
    /// # Errors
    ///
    /// Returns an [`EvalError`] if there is no score. Errors are counted separately from scores. The engine also turns a
    /// score that is not a number from 0 to 1 into an error.
    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a>;

    /// The minimum score for an output to pass.
    fn pass_mark(&self) -> f64 {
        DEFAULT_PASS_MARK
    }

    /// Validates settings and items before the first item runs. Everything else waits for it, so do not make requests
    /// here.
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
    ///         Box::pin(async { Err(EvalError::new("call the service here")) })
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
    /// Returns what would prevent the evaluator from scoring, such as a field that no item has. The experiment does not run
    /// then.
    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        let _ = setup;
        Ok(())
    }

    /// The time limit of [`evaluate`](Self::evaluate), by default the experiment's `timeout`. After that time, the call is
    /// cancelled, and the evaluation is an error. Return `None` if the evaluator enforces its own limits.
    fn time_limit(&self, timeout: Duration) -> Option<Duration> {
        Some(timeout)
    }

    /// Releases resources that are kept between outputs, such as a process or a connection. Called after the last output of
    /// a run; another run may follow. It may block briefly. By default it does nothing.
    ///
    /// It is not called if the run is interrupted.
    fn finish(&self) {}

    /// Why the evaluator cannot score stored outputs, as the end of a sentence that begins with its name, such as "reads the folder
    /// that the agent changed". [Scoring a run again](crate::rescoring) keeps its earlier scores. By default `None`: it depends only on
    /// the item, the output and the trace.
    fn needs_live_agent(&self) -> Option<&str> {
        None
    }

    /// A text that changes whenever the evaluator would score differently. A run is resumed only if the fingerprints of its
    /// evaluators are unchanged. By default it is the `Debug` output. Override it if that differs between processes, as with
    /// a hash map or a function pointer; otherwise runs can never be resumed.
    fn fingerprint(&self) -> String {
        format!("{self:?}")
    }
}

macro_rules! impl_evaluator_for_pointers {
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

            fn needs_live_agent(&self) -> Option<&str> {
                (**self).needs_live_agent()
            }

            fn fingerprint(&self) -> String {
                (**self).fingerprint()
            }
        }
    )*};
}

impl_evaluator_for_pointers!(Arc, Box);
