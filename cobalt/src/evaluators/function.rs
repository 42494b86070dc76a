//! `FnEvaluator`: a function of your own.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::{DEFAULT_PASS_MARK, EvalContext, EvalError, Evaluation, Evaluator, IntoScore};
use crate::evaluators::context::Remap;
use crate::threads;

type ScoreFn = Arc<dyn Fn(EvalContext) -> Evaluation<'static> + Send + Sync>;

/// Scores with a function: plain or async, returning what [`IntoScore`] describes.
///
/// A plain function runs on a thread of its own, so that it may block without holding up others.
///
/// ```
/// use cobalt::{FnEvaluator, Score};
///
/// let length = FnEvaluator::new("length", |cx| {
///     let words = cx.output_text().split_whitespace().count();
///     Score::from(words <= 12).reason(format!("{words} words"))
/// });
/// ```
#[derive(Clone)]
pub struct FnEvaluator {
    name: String,
    function: ScoreFn,
    remap: Option<Remap>,
    pass_mark: f64,
    fingerprint: String,
}

impl FnEvaluator {
    /// An evaluator of a plain function.
    pub fn new<F, R>(name: impl Into<String>, function: F) -> Self
    where
        F: Fn(&EvalContext) -> R + Send + Sync + 'static,
        R: IntoScore + 'static,
    {
        let function = Arc::new(function);
        Self::build(
            name,
            std::any::type_name::<F>(),
            Arc::new(move |cx: EvalContext| {
                let function = Arc::clone(&function);
                let call = threads::run(move || function(&cx).into_score());
                Box::pin(async move { call.await.map_err(|error| EvalError::new(error.to_string()))? })
            }),
        )
    }

    /// An evaluator of an async function.
    ///
    /// ```
    /// use cobalt::FnEvaluator;
    ///
    /// let checked = FnEvaluator::new_async("checked", |cx| async move { !cx.output_text().is_empty() });
    /// ```
    pub fn new_async<F, Fut>(name: impl Into<String>, function: F) -> Self
    where
        F: Fn(EvalContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoScore> + Send + 'static,
    {
        let function = Arc::new(function);
        Self::build(
            name,
            std::any::type_name::<F>(),
            Arc::new(move |cx| {
                let function = Arc::clone(&function);
                Box::pin(async move { function(cx).await.into_score() })
            }),
        )
    }

    fn build(name: impl Into<String>, fingerprint: &str, function: ScoreFn) -> Self {
        Self {
            name: name.into(),
            function,
            remap: None,
            pass_mark: DEFAULT_PASS_MARK,
            fingerprint: fingerprint.to_owned(),
        }
    }

    /// Changes what the function sees, for example another output or item.
    ///
    /// ```
    /// use cobalt::{FnEvaluator, Output};
    ///
    /// let short_answer = FnEvaluator::new("short", |cx| cx.output_text().len() < 20)
    ///     .context(|cx| cx.with_output(Output::new(cx.output()["answer"].clone())));
    /// ```
    #[must_use]
    pub fn context(mut self, remap: impl Fn(&EvalContext) -> EvalContext + Send + Sync + 'static) -> Self {
        self.remap = Some(Remap::new(remap));
        self
    }

    /// From which score an output passes: 0.5 unless it is set.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }

    /// Ties the fingerprint to the function's source, where it is known.
    #[must_use]
    pub(crate) fn source(mut self, source_hash: u64) -> Self {
        self.fingerprint = format!("{source_hash:016x}");
        self
    }
}

impl fmt::Debug for FnEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnEvaluator")
            .field("name", &self.name)
            .field("pass_mark", &self.pass_mark)
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

impl Evaluator for FnEvaluator {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { (self.function)(Remap::seen(self.remap.as_ref(), cx)).await })
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }
}

/// What `#[cobalt::evaluator]` registers.
#[derive(Debug)]
pub struct EvaluatorDefinition {
    /// The name that a configuration file uses.
    pub name: &'static str,
    /// The crate of the function, with the modules in it.
    pub module: &'static str,
    /// The file of the attribute, as rustc names it.
    pub file: &'static str,
    /// The line of the attribute.
    pub line: u32,
    /// Makes the evaluator.
    pub make: fn() -> FnEvaluator,
}

inventory::collect!(EvaluatorDefinition);
