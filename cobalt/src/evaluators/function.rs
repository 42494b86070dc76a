//! `FnEvaluator`: scores with a user function.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::{DEFAULT_PASS_MARK, EvalContext, EvalError, Evaluation, Evaluator, IntoScore};
use crate::evaluators::context::Remap;
use crate::thread_pool;

type ScoreFn = Arc<dyn Fn(EvalContext) -> Evaluation<'static> + Send + Sync>;

/// Scores with a function, async or not, whose return type implements [`IntoScore`].
///
/// A plain function runs on its own thread, so it may block.
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
    needs_live_agent: Option<String>,
    fingerprint: String,
}

impl FnEvaluator {
    /// Creates an evaluator from a plain function.
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
                let call = thread_pool::run(move || function(&cx).into_score());
                Box::pin(async move { call.await.map_err(|error| EvalError::new(error.to_string()))? })
            }),
        )
    }

    /// Creates an evaluator from an async function.
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
            needs_live_agent: None,
            fingerprint: fingerprint.to_owned(),
        }
    }

    /// Changes the context that the function sees, for example its output or item.
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

    /// Sets the minimum score for an output to pass. Default: 0.5.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }

    /// Declares that the function reads something that only exists right after the agent has run, so that it cannot score the stored
    /// outputs of an earlier run. `why` ends a sentence that begins with the evaluator's name.
    ///
    /// ```
    /// use cobalt::FnEvaluator;
    ///
    /// let compiles = FnEvaluator::new("compiles", |_| std::path::Path::new("out/main.rs").exists())
    ///     .needs_live_agent("reads the folder that the agent changed");
    /// ```
    #[must_use]
    pub fn needs_live_agent(mut self, why: impl Into<String>) -> Self {
        self.needs_live_agent = Some(why.into());
        self
    }

    /// Uses a hash of the function's source as the fingerprint.
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
        Box::pin(async move { (self.function)(Remap::apply(self.remap.as_ref(), cx)).await })
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }

    fn needs_live_agent(&self) -> Option<&str> {
        self.needs_live_agent.as_deref()
    }
}

/// The registration by `#[cobalt::evaluator]`.
#[derive(Debug)]
pub struct EvaluatorDefinition {
    /// The name in configuration files.
    pub name: &'static str,
    /// The function's crate and module path.
    pub module: &'static str,
    /// The file of the attribute, as rustc names it.
    pub file: &'static str,
    /// The line of the attribute.
    pub line: u32,
    /// Builds the evaluator.
    pub make: fn() -> FnEvaluator,
}

inventory::collect!(EvaluatorDefinition);
