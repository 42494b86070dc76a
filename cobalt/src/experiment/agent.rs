//! The agent under test in its supported forms, and the context of one execution.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cobalt_core::error_chain::{BoxError, causes, format_with_causes};
use cobalt_core::item::{Item, Output};
use cobalt_core::report::builders::{Metric, MetricNumber};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::conversation::ConversationRun;
use super::into_output::IntoOutput;
use super::record::{Record, Recorder};
use super::variants::ResolvedVariant;
use crate::dataset::{Dataset, DecodeError, decode, decode_value};
use crate::recording::{ExecutionTraffic, within_sync};
use crate::thread_pool;
use crate::tools::{Async, ExecutionTools, Faults, Plain, Tool, ToolFunction};
use crate::trace::{ExecutionSpan, SpanCollector};
use crate::workspace::WorkspaceDir;

/// Why an agent returned no output: its own error, a panic, or an item that does not match its parameter type.
///
/// Agents may return any error. With this one, an agent says that a failure is transient, for example because a model is overloaded.
/// Such an item is run again, up to [`retries`](crate::Experiment::retries) times:
///
/// ```
/// use cobalt::{AgentError, Item};
///
/// # #[derive(Debug)]
/// # struct ModelError { status: u16 }
/// # impl std::fmt::Display for ModelError {
/// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "status {}", self.status) }
/// # }
/// # impl std::error::Error for ModelError {}
/// # async fn ask(_: &Item) -> Result<String, ModelError> { Err(ModelError { status: 503 }) }
/// async fn agent(item: Item) -> Result<String, cobalt::BoxError> {
///     let answer = ask(&item).await.map_err(|error| match error.status {
///         429 | 503 | 529 => AgentError::transient(error),
///         _ => AgentError::new(error),
///     })?;
///     Ok(answer)
/// }
/// ```
///
/// An error is transient if it, or one of its causes, is a transient `AgentError`. It is found through all wrappers that pass on their
/// causes with [`source`](Error::source): `anyhow::Error` with or without context, [`BoxError`], and your own error types, including
/// those that forward everything (`#[error(transparent)]` of thiserror). It is not found if a wrapper keeps only the text, as
/// `error.to_string()` does, or in an error type that only implements `Display`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    message: String,
    #[source]
    transient: Option<TransientMark>,
    is_timeout: bool,
}

/// Marks an error as transient. It is a cause of the error rather than a field, because wrappers such as `anyhow::Error` hide the type
/// of the error that they contain, but not its causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Self::TEXT)]
struct TransientMark;

impl TransientMark {
    const TEXT: &str = "a transient failure";
}

impl AgentError {
    /// An error that is not retried: text, or an error, whose causes become part of the message.
    ///
    /// If the error is already transient, see [`AgentError`], it remains so.
    #[must_use]
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self::from_dyn(&*error.into())
    }

    /// An error that is likely to be gone soon, so the item may be retried: text, or an error, whose causes become part of the message.
    #[must_use]
    pub fn transient(error: impl Into<BoxError>) -> Self {
        Self { transient: Some(TransientMark), ..Self::new(error) }
    }

    /// A turn took too long.
    pub(crate) fn timed_out(message: String) -> Self {
        Self { is_timeout: true, ..Self::new(message) }
    }

    /// Whether a turn took too long.
    pub(crate) fn is_timeout(&self) -> bool {
        self.is_timeout
    }

    /// Whether the agent said that the failure is transient.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.transient.is_some()
    }

    /// The error of an agent, with its causes in the message.
    pub(crate) fn from_dyn(error: &(dyn Error + 'static)) -> Self {
        if let Some(own) = error.downcast_ref::<Self>() {
            return own.clone();
        }
        let transient = causes(error).find_map(|cause| cause.downcast_ref::<TransientMark>()).copied();
        let mut message = format_with_causes(error);
        if transient.is_some()
            && let Some(without_mark) = message.strip_suffix(&format!(": {}", TransientMark::TEXT))
        {
            message.truncate(without_mark.len());
        }
        Self { message, transient, is_timeout: false }
    }
}

/// The result of an agent, and its duration from the start of the call.
pub type AgentResult = (Result<Output, AgentError>, Duration);
type AgentFuture = Pin<Box<dyn Future<Output = AgentResult> + Send>>;
pub type AgentFn = Arc<dyn Fn(Context) -> AgentFuture + Send + Sync>;

/// A function that an experiment can call: async or plain, taking the item, the [`Context`], or both.
///
/// The item is any type that serde can deserialise, or [`Item`](crate::Item). For the return type, see [`IntoOutput`]. A plain function
/// runs on its own thread, so it never blocks an async one.
///
/// `Marker` distinguishes the forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot be an experiment's agent",
    label = "not an agent",
    note = "an agent is an async or plain function of `(item)`, `(Context)` or `(item, Context)`, where the item is `cobalt::Item` or implements `Deserialize`",
    note = "it returns `String`, `serde_json::Value`, `cobalt::Output`, `cobalt::Json(..)` or a `Result` of one of these, whose error is text or any error that is `Send` and `Sync`"
)]
pub trait Agent<Marker>: Send + Sync + 'static {
    #[doc(hidden)]
    fn into_shared(self) -> SharedAgent;
}

/// A type-erased agent.
#[doc(hidden)]
#[derive(Clone)]
pub struct SharedAgent {
    pub call: AgentFn,
    /// Whether it is called once per turn of a conversation.
    pub takes_turns: bool,
}

impl SharedAgent {
    /// An agent that is called once per execution.
    fn new(call: AgentFn) -> Self {
        Self { call, takes_turns: false }
    }
}

impl std::fmt::Debug for SharedAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedAgent")
    }
}

/// Implements the async and the plain form for a list of parameters.
macro_rules! impl_agent {
    (($($generic:ident)?) ($($parameter:ty),*) |$context:ident| $arguments:tt) => {
        impl<F, Fut, $($generic)?> Agent<(Async, $($parameter),*)> for F
        where
            F: Fn($($parameter),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoOutput> + Send + 'static,
            $($generic: DeserializeOwned + Send + 'static)?
        {
            fn into_shared(self) -> SharedAgent {
                let agent = Arc::new(self);
                SharedAgent::new(Arc::new(move |$context| {
                    let agent = Arc::clone(&agent);
                    Box::pin(async move {
                        let started = Instant::now();
                        let span = ExecutionSpan::new($context.spans());
                        let answer = span.run(async { agent $arguments.await.into_output() }).await;
                        (answer, started.elapsed())
                    })
                }))
            }
        }

        impl<F, R, $($generic)?> Agent<(Plain, $($parameter),*)> for F
        where
            F: Fn($($parameter),*) -> R + Send + Sync + 'static,
            R: IntoOutput + 'static,
            $($generic: DeserializeOwned + Send + 'static)?
        {
            fn into_shared(self) -> SharedAgent {
                let agent = Arc::new(self);
                SharedAgent::new(Arc::new(move |$context| {
                    let agent = Arc::clone(&agent);
                    let called = Instant::now();
                    let call = thread_pool::run(move || {
                        let started = Instant::now();
                        let context = $context.clone();
                        let answer = || agent $arguments.into_output();
                        let answer = || -> Result<Output, AgentError> { context.run_plain(answer) };
                        (answer(), started.elapsed())
                    });
                    Box::pin(async move {
                        call.await
                            .unwrap_or_else(|error| (Err(AgentError::new(error.to_string())), called.elapsed()))
                    })
                }))
            }
        }
    };
}

/// Deserializes the item to the type of the agent's parameter.
///
/// # Errors
///
/// Names the field that does not match.
pub fn item<T: DeserializeOwned>(context: &Context) -> Result<T, AgentError> {
    context.item_as().map_err(|error| AgentError::new(error.to_string()))
}

/// The settings of the variant, as the type of the agent's parameter.
///
/// # Errors
///
/// Names the field that does not match.
pub fn variant<T: DeserializeOwned>(context: &Context) -> Result<T, AgentError> {
    context
        .variant()
        .map_err(|error| AgentError::new(format!("the settings of the variant do not match: {error}")))
}

impl_agent!(()(Context) | context | (context,));
impl_agent!((T)(T) | context | (item::<T>(&context)?,));
impl_agent!((T)(T, Context) | context | (item::<T>(&context)?, context));

/// The agent's item, its position in the experiment, and a recorder for what the agent does.
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    item: Arc<Item>,
    key: Arc<str>,
    index: usize,
    run_index: usize,
    dataset: Dataset,
    recorder: Recorder,
    traffic: Option<Arc<ExecutionTraffic>>,
    variant: Option<ResolvedVariant>,
    conversation: Arc<ConversationRun>,
    /// The spans of this attempt.
    spans: Arc<SpanCollector>,
    /// The folder of this attempt.
    #[cfg_attr(not(feature = "workspace"), expect(dead_code, reason = "there is none without the feature"))]
    workspace: Option<Arc<WorkspaceDir>>,
    tools: Arc<ExecutionTools>,
}

impl Context {
    pub(crate) fn new(
        dataset: Dataset,
        item: Arc<Item>,
        index: usize,
        key: Arc<str>,
        run_index: usize,
        conversation: ConversationRun,
    ) -> Self {
        let (recorder, spans) = (Recorder::new(), Arc::new(SpanCollector::new()));
        let tools = ExecutionTools::new(Arc::default(), Arc::clone(&key), run_index, Arc::clone(&spans));
        let tools = Arc::new(tools);
        let (traffic, variant, conversation) = (None, None, Arc::new(conversation));
        Self {
            item,
            key,
            index,
            run_index,
            dataset,
            recorder,
            traffic,
            variant,
            conversation,
            spans,
            workspace: None,
            tools,
        }
    }

    /// The context of another attempt at the same trial, without records and spans.
    pub(crate) fn for_next_attempt(&self) -> Self {
        let spans = Arc::new(SpanCollector::new());
        let tools = Arc::new(self.tools.for_next_attempt(Arc::clone(&spans)));
        let conversation = Arc::new(self.conversation.again());
        Self { recorder: Recorder::new(), spans, tools, conversation, ..self.clone() }
    }

    pub(crate) fn spans(&self) -> &Arc<SpanCollector> {
        &self.spans
    }

    /// How long the traffic waited for limits of providers so far; it is not the agent's time.
    pub(crate) fn waited(&self) -> Duration {
        self.traffic.as_ref().map_or(Duration::ZERO, |traffic| traffic.waited())
    }

    /// The conversation of this attempt.
    pub(crate) fn conversation(&self) -> &Arc<ConversationRun> {
        &self.conversation
    }

    pub(crate) fn with_traffic(self, traffic: Option<Arc<ExecutionTraffic>>) -> Self {
        Self { traffic, ..self }
    }

    pub(crate) fn with_variant(self, variant: Option<ResolvedVariant>) -> Self {
        Self { variant, ..self }
    }

    pub(crate) fn with_workspace(self, workspace: Option<WorkspaceDir>) -> Self {
        Self { workspace: workspace.map(Arc::new), ..self }
    }

    /// The last step: tools with a fault plan, and with what is known so far.
    pub(crate) fn with_faults(self, plan: &Arc<Faults>) -> Self {
        let (key, spans) = (Arc::clone(&self.key), Arc::clone(&self.spans));
        let tools = ExecutionTools::new(Arc::clone(plan), key, self.run_index, spans);
        Self { tools: Arc::new(tools.with_traffic(self.traffic.clone())), ..self }
    }

    pub(crate) fn tools(&self) -> &ExecutionTools {
        &self.tools
    }

    /// Runs a plain agent, so that its thread is known to belong to this execution.
    fn run_plain<R>(&self, agent: impl FnOnce() -> R) -> R {
        let agent = || ExecutionSpan::new(&self.spans).run_plain(agent);
        match &self.traffic {
            Some(traffic) => within_sync(Arc::clone(traffic.token()), agent),
            None => agent(),
        }
    }

    /// The item, as in the dataset.
    #[must_use]
    pub fn item(&self) -> &Item {
        &self.item
    }

    pub(crate) fn shared_item(&self) -> &Arc<Item> {
        &self.item
    }

    /// Deserializes the item to a type of your own.
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not match `T`.
    pub fn item_as<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode(&self.item)
    }

    /// The item's key: its `id`, or a hash of its input. It is `items[].key` in the result file.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn shared_key(&self) -> &Arc<str> {
        &self.key
    }

    /// The item's index in the dataset, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The number of this trial of the item, from 0; always 0 if there is one trial per item.
    #[must_use]
    pub fn run_index(&self) -> usize {
        self.run_index
    }

    /// The name of the variant that runs; `None` if the experiment has no variants.
    #[must_use]
    pub fn variant_name(&self) -> Option<&str> {
        self.variant.as_ref().map(|variant| &*variant.name)
    }

    /// The settings of the variant that runs, as a type of your own.
    ///
    /// ```
    /// use cobalt::{Context, Item};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Config {
    ///     model: String,
    /// }
    ///
    /// async fn agent(item: Item, context: Context) -> Result<String, cobalt::BoxError> {
    ///     let config: Config = context.variant()?;
    ///     Ok(format!("{} answers {}", config.model, item["input"]))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not match `T`. An experiment without variants has no settings.
    pub fn variant<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_value(self.variant.as_ref().map_or(&Value::Null, |variant| &variant.settings))
    }

    /// The trace context of this execution, the W3C header `traceparent`, for agents in another process or language, or with OpenTelemetry's
    /// SDK. Spans that they start with it and export belong to the [trace](crate::trace#otlp) of the execution. `None` unless
    /// `trace.otlp` is on.
    ///
    /// ```
    /// use std::process::Command;
    ///
    /// fn agent(context: cobalt::Context) -> Result<String, std::io::Error> {
    ///     let mut agent = Command::new("python3");
    ///     agent.arg("agent.py").envs(context.traceparent().map(|header| ("TRACEPARENT", header)));
    ///     let output = agent.output()?;
    ///     Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    /// }
    /// ```
    #[cfg(feature = "otlp")]
    #[must_use]
    pub fn traceparent(&self) -> Option<String> {
        crate::trace::traceparent(&self.spans)
    }

    /// The whole dataset.
    #[must_use]
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The folder with this execution's own copy of the files of its [workspace](crate::workspaces). When the agent is done, the files
    /// are compared with the original, except ignored ones; the folder is removed after the evaluators.
    ///
    /// ```
    /// use std::fs;
    ///
    /// fn agent(context: cobalt::Context) -> Result<String, std::io::Error> {
    ///     let file = context.dir().join("src/lib.rs");
    ///     fs::write(&file, fs::read_to_string(&file)?.replace("a - b", "a + b"))?;
    ///     let tests = context.command("cargo").args(["test", "--quiet"]).output()?;
    ///     Ok(if tests.status.success() { "repaired" } else { "not repaired" }.to_owned())
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the experiment has no workspace, which fails the item.
    #[cfg(feature = "workspace")]
    #[must_use]
    pub fn dir(&self) -> &std::path::Path {
        self.expect_workspace().path()
    }

    /// The same, or `None` if the experiment has no workspace.
    #[cfg(feature = "workspace")]
    #[must_use]
    pub fn workspace_dir(&self) -> Option<&std::path::Path> {
        self.workspace.as_deref().map(WorkspaceDir::path)
    }

    /// A command that runs in [`dir`](Self::dir), in the [sandbox](crate::Workspace::sandbox) if the workspace has one.
    ///
    /// The program, and everything that it starts, ends with the agent at the latest: see [programs](crate::workspaces#programs). Its stdin is
    /// empty unless you set it.
    ///
    /// The program inherits the environment of this process, which may include keys. For a program that runs code that an agent wrote, call
    /// [`env_clear`](std::process::Command::env_clear) and set what it needs.
    ///
    /// # Panics
    ///
    /// Panics if the experiment has no workspace, which fails the item.
    #[cfg(feature = "workspace")]
    #[must_use]
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
        self.expect_workspace().command(program)
    }

    #[cfg(feature = "workspace")]
    fn expect_workspace(&self) -> &WorkspaceDir {
        let missing = "the experiment has no workspace; add `workspace = \"fixtures/{{id}}\"` to its attribute, or \
                       `.workspace(…)` to its builder";
        self.workspace.as_deref().expect(missing)
    }

    /// Records a model call, a tool call, a message or a note when it happens. Records are kept even if the agent then fails, panics or
    /// times out, so the tokens and cost of such items count, too.
    ///
    /// ```
    /// use cobalt::{Context, ModelCall, Record, ToolCall};
    /// use serde_json::json;
    ///
    /// async fn answer(context: Context) -> Result<String, std::io::Error> {
    ///     // After each model response:
    ///     context.record(ModelCall::new("gpt-4o-mini").tokens(220, 31).cached_tokens(128));
    ///     context.record(Record::message(json!({ "role": "assistant", "content": "Let me look." })));
    ///     // After each tool call:
    ///     context.record(ToolCall::new("weather").arguments(json!({ "city": "York" })).result("18 °C"));
    ///     context.record(Record::note("attempt", 1));
    ///     Err(std::io::Error::other("the second request was refused"))
    /// }
    /// ```
    ///
    /// If the agent returns an output, the records are added to its metadata, where evaluators see them:
    ///
    /// | recorded | becomes |
    /// |---|---|
    /// | model calls | `metadata.usage`, one entry per model; their sum as `metadata.tokens`; `metadata.model` if all use one model; `metadata.cost` if all have a cost. If `metadata.usage` exists with another shape, the entries become `metadata.recordedUsage` |
    /// | tool calls, or that there were none ([`Record::tool_calls`]) | `metadata.toolCalls`, which [`ToolCalls`](crate::ToolCalls) reads |
    /// | messages | `metadata.messages` |
    /// | notes | fields of `metadata` |
    /// | [metrics](Self::metric) | none: they are summed up in the report, by name |
    ///
    /// **A field that the [`Output`](crate::Output) sets itself takes precedence over the recorded one; the two are never added up.** If it
    /// sets `tokens`, the recorded usage is ignored (including its cost and model, unless the token counts are equal); if it contains
    /// calls, the recorded calls are ignored.
    ///
    /// Clones of the context record for the same execution, from any task or thread. Records made after the execution has ended, for
    /// example by a task that outlives a timeout, are ignored. At most 10,000 tool calls and 10,000 messages are kept; more of them, or an
    /// invalid cost, are an error of the item.
    pub fn record(&self, record: impl Into<Record>) {
        self.recorder.record(record.into());
    }

    /// Records a metric of this execution: a number that the run sums up, and that thresholds and comparisons can use.
    ///
    /// ```
    /// # use cobalt::{Context, Item};
    /// # fn search(_: &Item) -> Vec<String> { vec![] }
    /// async fn agent(item: Item, context: Context) -> String {
    ///     let documents = search(&item);
    ///     context.metric("retrieved", documents.len());
    ///     documents.join("\n")
    /// }
    /// ```
    ///
    /// [`Metric`] sets a unit and a direction. If a name is recorded again, the last value counts. A value that is not finite is an
    /// error of the item. What an agent recorded before it failed counts; what it recorded in an attempt that was retried does not.
    pub fn metric(&self, name: impl Into<String>, value: impl MetricNumber) {
        self.record(Metric::new(name, value));
    }

    /// Wraps a function as a tool of the agent: its calls become spans of the trace, and a fault plan can let them fail. See
    /// [`tools`](crate::tools).
    ///
    /// ```
    /// use cobalt::Context;
    /// use cobalt::tools::ToolError;
    /// use serde_json::{Value, json};
    ///
    /// async fn search(arguments: Value) -> Result<Vec<String>, std::io::Error> {
    ///     Ok(vec![format!("about {}", arguments["query"])])
    /// }
    ///
    /// async fn agent(context: Context) -> Result<String, ToolError> {
    ///     let search = context.tool("search", search);
    ///     let found = search.call(json!({ "query": "tea" })).await?;
    ///     Ok(found.to_string())
    /// }
    /// ```
    ///
    /// Several tools of one name count as one tool.
    pub fn tool<'a, M>(&self, name: impl Into<String>, real: impl ToolFunction<'a, M>) -> Tool<'a> {
        Tool::new(name.into(), real, Arc::clone(&self.tools))
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The base URL for a client of a provider's API that you build for this item: requests to it are recorded and replayed as those of
    /// this item, exactly. Without recordings, it is the provider's own base URL, or that of the environment.
    ///
    /// ```
    /// use cobalt::{Context, Provider};
    ///
    /// async fn agent(context: Context) -> String {
    ///     let base_url = context.base_url(Provider::OpenAi);
    ///     // let client = Client::with_config(OpenAIConfig::new().with_api_base(base_url));
    ///     base_url
    /// }
    /// ```
    ///
    /// For `Azure`, set `AZURE_OPENAI_ENDPOINT`; without it, the URL is empty. For a server that is not a [`Provider`](crate::Provider),
    /// use [`base_url_for`](Self::base_url_for).
    #[cfg(feature = "record")]
    #[must_use]
    pub fn base_url(&self, provider: crate::Provider) -> String {
        crate::recording::base_url(provider.name(), self.traffic.as_deref())
    }

    /// The same for any server, such as vLLM or another provider, by its base URL. It is returned unchanged without recordings.
    #[cfg(feature = "record")]
    #[must_use]
    pub fn base_url_for(&self, base_url: &str) -> String {
        crate::recording::base_url_for(base_url, self.traffic.as_deref())
    }

    /// The header that attributes a request to this item: name and value. Use it if several items share a client. `None` without
    /// recordings. [`current_header`](crate::recording::current_header) finds it by the task.
    #[cfg(feature = "record")]
    #[must_use]
    pub fn request_header(&self) -> Option<(&'static str, String)> {
        let traffic = self.traffic.as_ref()?;
        Some((crate::recording::EXECUTION_HEADER, traffic.token().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::io;

    use super::*;

    /// As `anyhow::Error` in a box: hides the type of the error, but not its causes.
    #[derive(Debug)]
    struct Opaque(AgentError);

    impl fmt::Display for Opaque {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.0.source() {
                Some(cause) if f.alternate() => write!(f, "{}: {cause}", self.0),
                _ => write!(f, "{}", self.0),
            }
        }
    }

    impl Error for Opaque {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.0.source()
        }
    }

    #[derive(Debug, thiserror::Error)]
    enum Own {
        #[error(transparent)]
        Forwarded(#[from] AgentError),
        #[error("no answer")]
        Caused(#[source] AgentError),
        #[error("no answer: {0}")]
        AsText(String),
    }

    fn busy() -> AgentError {
        AgentError::transient("the model is busy")
    }

    fn converted(error: impl Into<BoxError>) -> (String, bool) {
        let error = AgentError::new(error);
        (error.to_string(), error.is_transient())
    }

    #[test]
    fn text_and_errors_are_errors_of_an_agent_with_their_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("HTTP error")]
        struct Http(#[source] io::Error);

        let http = || Http(io::Error::other("connection refused"));
        let expected = "HTTP error: connection refused";
        assert_eq!(converted(http()), (expected.to_owned(), false));
        assert_eq!(AgentError::transient(http()).to_string(), expected);
        assert_eq!(converted("said no"), ("said no".to_owned(), false));
        assert_eq!(AgentError::new(String::from("said no")), AgentError::new("said no"));
        assert!(busy().is_transient() && busy() != AgentError::new("the model is busy"));
    }

    #[test]
    fn a_transient_error_is_found_in_any_wrapper_that_has_it_as_a_cause() {
        let plain = ("the model is busy".to_owned(), true);
        assert_eq!(converted(busy()), plain);
        assert_eq!(converted(BoxError::from(busy())), plain);
        assert_eq!(converted(Opaque(busy())), plain);
        assert_eq!(converted(Own::from(busy())), plain);
        assert_eq!(converted(io::Error::other(busy())), plain);
        assert_eq!(AgentError::transient(busy()), busy());
        assert_eq!(converted(Own::Caused(busy())), ("no answer: the model is busy".to_owned(), true));
        let text = Own::AsText(busy().to_string());
        assert_eq!(converted(text), ("no answer: the model is busy".to_owned(), false));
        assert_eq!(
            converted(Own::Caused(AgentError::new("refused"))),
            ("no answer: refused".to_owned(), false)
        );
    }

    #[test]
    fn what_an_error_says_of_itself_is_not_taken_for_the_mark() {
        let said = "it was a transient failure: a transient failure";
        assert_eq!(converted(said), (said.to_owned(), false));
        assert_eq!(AgentError::transient(said).to_string(), said);
        assert_eq!(converted(AgentError::transient(said)), (said.to_owned(), true));
    }
}
