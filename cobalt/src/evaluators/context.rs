//! The input of evaluators: one output with its item, and for checks before the run the dataset and the models.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cobalt_core::item::{Item, Output};
use cobalt_core::report::Transcript;
use cobalt_core::report::WorkspaceChanges;
use cobalt_core::trace::Trace;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::EvalError;
use crate::dataset::{Dataset, DecodeError, decode};
use crate::llm::{LlmHandle, Models};
use crate::settings::DEFAULT_TIMEOUT;
use crate::workspace::WorkspaceDir;

/// One output with its item. Cheap to clone.
///
/// The engine creates it; to call an evaluator directly, create one with [`EvalContext::new`].
#[derive(Clone, Debug)]
pub struct EvalContext {
    inner: Arc<Inner>,
    trace: Arc<Trace>,
    /// Whether requests may be the agent's that could not be attributed, so the trace may lack them.
    has_incomplete_trace: bool,
    transcript: Option<Arc<Transcript>>,
    /// The handle for calling models.
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model is called without the feature"))]
    llm: Option<LlmHandle>,
    /// Creates a handle on demand if none is set.
    #[cfg(feature = "judge")]
    default_llm: Option<fn() -> Result<LlmHandle, EvalError>>,
    /// The experiment's time limit for evaluators.
    timeout: Option<Duration>,
    /// What the agent changed in its workspace.
    workspace: Option<Arc<WorkspaceChanges>>,
    /// The folder as the agent left it.
    #[cfg_attr(not(feature = "workspace"), expect(dead_code, reason = "there is none without the feature"))]
    dir: Option<Arc<WorkspaceDir>>,
}

#[derive(Debug)]
struct Inner {
    item: Arc<Item>,
    key: Arc<str>,
    index: usize,
    run_index: usize,
    output: Arc<Output>,
    text: OnceLock<String>,
}

impl EvalContext {
    /// Creates the context for the output of one trial of an item.
    pub(crate) fn for_trial(
        item: Arc<Item>,
        key: Arc<str>,
        index: usize,
        run_index: usize,
        output: Arc<Output>,
    ) -> Self {
        let inner = Inner { item, key, index, run_index, output, text: OnceLock::new() };
        Self {
            inner: Arc::new(inner),
            trace: Arc::default(),
            has_incomplete_trace: false,
            transcript: None,
            llm: None,
            #[cfg(feature = "judge")]
            default_llm: None,
            timeout: None,
            workspace: None,
            dir: None,
        }
    }

    /// Sets what the agent changed, and the folder that it left; there is none for a stored output.
    pub(crate) fn in_workspace(
        self,
        workspace: Option<Arc<WorkspaceChanges>>,
        dir: Option<WorkspaceDir>,
    ) -> Self {
        Self { workspace, dir: dir.map(Arc::new), ..self }
    }

    /// The folder of the execution with its settings.
    #[cfg(feature = "workspace")]
    pub(crate) fn workspace_dir(&self) -> Option<&WorkspaceDir> {
        self.dir.as_deref()
    }

    /// Sets whether the trace may lack requests that could not be attributed.
    pub(crate) fn with_incomplete_trace(self, has_incomplete_trace: bool) -> Self {
        Self { has_incomplete_trace, ..self }
    }

    /// The trace, for what depends on all that the agent did.
    ///
    /// # Errors
    ///
    /// Requests that may be the agent's could not be attributed.
    pub(crate) fn whole_trace(&self) -> Result<&Trace, EvalError> {
        if self.has_incomplete_trace {
            return Err(EvalError::new(
                "what the agent did is not known: requests that may be its own could not be attributed to an item; give each item an address \
                 of its own with `Context::base_url`, or run one experiment at a time with `concurrency = 1`",
            ));
        }
        Ok(&self.trace)
    }

    /// Sets the handle for calling models.
    pub(crate) fn with_llm(&self, asking: LlmHandle) -> Self {
        Self { llm: Some(asking), ..self.clone() }
    }

    /// Sets the experiment's time limit for evaluators.
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// The time limit for evaluators; outside an experiment, the default.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Sets the function that creates a handle for models on demand.
    #[cfg(feature = "judge")]
    pub(crate) fn with_default_llm(self, find: fn() -> Result<LlmHandle, EvalError>) -> Self {
        Self { default_llm: Some(find), ..self }
    }

    /// The handle for calling models.
    #[cfg(feature = "judge")]
    pub(crate) fn llm(&self) -> Result<LlmHandle, EvalError> {
        match (&self.llm, self.default_llm) {
            (Some(asking), _) => Ok(asking.clone()),
            (None, Some(find)) => find(),
            (None, None) => Err(EvalError::new("no models are available here")),
        }
    }

    /// Returns a copy with another item, for [`FnEvaluator::context`](super::FnEvaluator::context).
    #[must_use]
    pub fn with_item(&self, item: Item) -> Self {
        let Inner { key, index, run_index, output, .. } = &*self.inner;
        let other = Self::for_trial(Arc::new(item), Arc::clone(key), *index, *run_index, Arc::clone(output));
        Self { inner: other.inner, ..self.clone() }
    }

    /// Returns a copy with another output, for [`FnEvaluator::context`](super::FnEvaluator::context).
    #[must_use]
    pub fn with_output(&self, output: Output) -> Self {
        let Inner { item, key, index, run_index, .. } = &*self.inner;
        let other = Self::for_trial(Arc::clone(item), Arc::clone(key), *index, *run_index, Arc::new(output));
        Self { inner: other.inner, ..self.clone() }
    }

    /// Returns a copy with another trace, for unit tests and for [`FnEvaluator::context`](super::FnEvaluator::context).
    ///
    /// ```
    /// use cobalt::trace::{Span, SpanKind, ToolSpan, Trace};
    /// use cobalt::{EvalContext, Item, Output};
    ///
    /// let tool = ToolSpan { name: "search".to_owned(), ..ToolSpan::default() };
    /// let span = Span { id: "1".to_owned(), kind: SpanKind::Tool, tool: Some(Box::new(tool)), ..Span::default() };
    /// let cx = EvalContext::new(Item::new(), Output::new("Found.")).with_trace(Trace::from_iter([span]));
    /// assert_eq!(cx.tool_calls().unwrap()[0].name, "search");
    /// ```
    #[must_use]
    pub fn with_trace(&self, trace: impl Into<Arc<Trace>>) -> Self {
        Self { trace: trace.into(), ..self.clone() }
    }

    /// Returns a copy with another conversation, for unit tests and for [`FnEvaluator::context`](super::FnEvaluator::context).
    #[must_use]
    pub fn with_transcript(&self, transcript: impl Into<Arc<Transcript>>) -> Self {
        self.clone().with_optional_transcript(Some(transcript.into()))
    }

    /// Sets the conversation, if there is one.
    pub(crate) fn with_optional_transcript(self, transcript: Option<Arc<Transcript>>) -> Self {
        Self { transcript, ..self }
    }

    /// Returns a copy with these changes to a workspace, for unit tests.
    #[must_use]
    pub fn with_workspace(&self, changes: WorkspaceChanges) -> Self {
        Self { workspace: Some(Arc::new(changes)), ..self.clone() }
    }

    /// Returns a copy with this folder as the workspace that the agent left, for unit tests.
    #[cfg(feature = "workspace")]
    #[must_use]
    pub fn with_dir(&self, folder: impl AsRef<std::path::Path>) -> Self {
        Self { dir: Some(Arc::new(WorkspaceDir::of(folder.as_ref()))), ..self.clone() }
    }

    /// The item of the dataset.
    #[must_use]
    pub fn item(&self) -> &Item {
        &self.inner.item
    }

    /// Deserializes the item.
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not match `T`.
    pub fn item_as<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode(&self.inner.item)
    }

    /// The item's key, see [`Context::key`](crate::Context::key); empty outside an experiment.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.inner.key
    }

    /// The item's position in the dataset, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.inner.index
    }

    /// The trial of the item, from 0.
    #[must_use]
    pub fn run_index(&self) -> usize {
        self.inner.run_index
    }

    /// The agent's output.
    #[must_use]
    pub fn output(&self) -> &Value {
        self.inner.output.value()
    }

    /// The agent's output as text: a string unchanged, anything else as compact JSON.
    #[must_use]
    pub fn output_text(&self) -> &str {
        match self.inner.output.value() {
            Value::String(text) => text,
            other => self.inner.text.get_or_init(|| other.to_string()),
        }
    }

    /// Deserializes the agent's output.
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not match `T`.
    pub fn output_as<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        crate::dataset::decode_value(self.inner.output.value())
    }

    /// The metadata that the agent reported: `model`, `tokens` and its own fields.
    #[must_use]
    pub fn metadata(&self) -> &Item {
        self.inner.output.all_metadata()
    }

    /// What the agent did, as [spans](crate::trace); empty if none were captured.
    ///
    /// ```
    /// use cobalt::{EvalContext, trace::Trace};
    ///
    /// fn searches(trace: &Trace) -> usize {
    ///     trace.tool_calls().filter(|(_, tool)| tool.name == "search").count()
    /// }
    ///
    /// #[cobalt::evaluator]
    /// fn searches_if_asked_to(cx: &EvalContext) -> bool {
    ///     (searches(cx.trace()) > 0) == (cx.item()["search"] == true)
    /// }
    /// ```
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The conversation; `None` if the agent does not take turns.
    ///
    /// ```
    /// #[cobalt::evaluator]
    /// fn brief(cx: &cobalt::EvalContext) -> bool {
    ///     cx.transcript().is_some_and(|transcript| transcript.turns.len() <= 4)
    /// }
    /// ```
    #[must_use]
    pub fn transcript(&self) -> Option<&Transcript> {
        self.transcript.as_deref()
    }

    /// What the agent changed in its [workspace](crate::workspaces); `None` if it had none.
    #[must_use]
    pub fn workspace(&self) -> Option<&WorkspaceChanges> {
        self.workspace.as_deref()
    }

    /// The folder of the [workspace](crate::workspaces) as the agent left it; `None` if it had none, or if stored outputs are
    /// [scored](crate::rescoring). Evaluators share it: change only a copy.
    #[cfg(feature = "workspace")]
    #[must_use]
    pub fn dir(&self) -> Option<&std::path::Path> {
        self.dir.as_deref().map(WorkspaceDir::path)
    }
}

/// A user function that changes the context before an evaluator sees it.
#[derive(Clone)]
pub(super) struct Remap {
    function: Arc<dyn Fn(&EvalContext) -> EvalContext + Send + Sync>,
    type_name: &'static str,
}

impl Remap {
    pub(super) fn new<F: Fn(&EvalContext) -> EvalContext + Send + Sync + 'static>(function: F) -> Self {
        Self { function: Arc::new(function), type_name: std::any::type_name::<F>() }
    }

    /// Applies the function, if any.
    pub(super) fn apply(remap: Option<&Self>, cx: &EvalContext) -> EvalContext {
        remap.map_or_else(|| cx.clone(), |remap| (remap.function)(cx))
    }
}

/// The function's type name. It is the same in every process, as fingerprints require.
impl fmt::Debug for Remap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name)
    }
}

/// The dataset and models of a run, for [`Evaluator::check`](super::Evaluator::check).
#[derive(Debug)]
pub struct Setup {
    pub(crate) dataset: Dataset,
    pub(crate) models: Arc<Models>,
    /// Whether the agent has a workspace, or its stored outputs are from one.
    pub(crate) has_workspace: bool,
    /// Whether only some of the dataset's items are run.
    pub(crate) is_partial: bool,
}

impl Setup {
    /// The items of the run.
    pub fn items(&self) -> impl Iterator<Item = Arc<Item>> + Clone {
        self.dataset.iter()
    }
}
