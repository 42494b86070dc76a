//! The function under test, in each form in which it may be written, and the context of one execution.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cobalt_core::item::{Item, Output};
use serde::de::DeserializeOwned;

use super::into_output::IntoOutput;
use super::record::{Record, Recorder};
use crate::dataset::{Dataset, DecodeError, decode};
use crate::threads;

/// Why an agent gave no output: its own error, a panic, or an item that does not fit its parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AgentError(String);

impl AgentError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What an agent gave, and how long it took from when it was started.
pub type Answer = (Result<Output, AgentError>, Duration);
type AgentFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;
pub type AgentFn = Arc<dyn Fn(Context) -> AgentFuture + Send + Sync>;

/// A function that an experiment can call: async or plain, of the item, of the [`Context`], or of both.
///
/// The item is any type that serde can deserialise, or [`Item`](crate::Item). What it returns is described at
/// [`IntoOutput`]. A plain function runs on a thread of its own, so that it never holds up an async one.
///
/// `Marker` tells the forms apart and is always inferred.
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

/// An agent whose form no longer matters.
#[doc(hidden)]
#[derive(Clone)]
pub struct SharedAgent(pub(crate) AgentFn);

impl std::fmt::Debug for SharedAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedAgent")
    }
}

/// Markers of the forms.
#[doc(hidden)]
#[derive(Debug)]
pub enum Async {}
#[doc(hidden)]
#[derive(Debug)]
pub enum Plain {}

/// Implements the async and the plain form for one list of parameters.
macro_rules! agent_of {
    (($($generic:ident)?) ($($parameter:ty),*) |$context:ident| $arguments:tt) => {
        impl<F, Fut, $($generic)?> Agent<(Async, $($parameter),*)> for F
        where
            F: Fn($($parameter),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoOutput> + Send + 'static,
            $($generic: DeserializeOwned + Send + 'static)?
        {
            fn into_shared(self) -> SharedAgent {
                let agent = Arc::new(self);
                SharedAgent(Arc::new(move |$context| {
                    let agent = Arc::clone(&agent);
                    Box::pin(async move {
                        let started = Instant::now();
                        let answer = async { agent $arguments.await.into_output() }.await;
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
                SharedAgent(Arc::new(move |$context| {
                    let agent = Arc::clone(&agent);
                    let called = Instant::now();
                    let call = threads::run(move || {
                        let started = Instant::now();
                        let answer = || agent $arguments.into_output();
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

/// The agent's item as the type of its parameter.
///
/// # Errors
///
/// Names the field that does not fit.
pub fn item<T: DeserializeOwned>(context: &Context) -> Result<T, AgentError> {
    context.item_as().map_err(|error| AgentError::new(error.to_string()))
}

agent_of!(()(Context) | context | (context,));
agent_of!((T)(T) | context | (item::<T>(&context)?,));
agent_of!((T)(T, Context) | context | (item::<T>(&context)?, context));

/// The item that the agent is called for, its place in the experiment, and where the agent reports what it does.
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
}

impl Context {
    pub(crate) fn new(dataset: Dataset, index: usize, key: Arc<str>, run_index: usize) -> Self {
        let item = Arc::clone(dataset.shared(index));
        Self { item, key, index, run_index, dataset, recorder: Recorder::new() }
    }

    /// The item as it stands in the data set.
    #[must_use]
    pub fn item(&self) -> &Item {
        &self.item
    }

    pub(crate) fn shared_item(&self) -> &Arc<Item> {
        &self.item
    }

    /// The item as a type of your own.
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not fit `T`.
    pub fn item_as<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode(&self.item)
    }

    /// The item's identity: its `id`, or a hash of its input. It is `items[].key` of the result file.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn shared_key(&self) -> &Arc<str> {
        &self.key
    }

    /// The item's place in the data set, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Which of the item's runs this is, from 0; always 0 when the experiment has one run.
    #[must_use]
    pub fn run_index(&self) -> usize {
        self.run_index
    }

    /// The whole data set.
    #[must_use]
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Reports a call of a model or a tool, a message or a note at the moment it happens, so that it is kept when the agent
    /// then fails, panics or times out: tokens and cost of such an item count as those of others do.
    ///
    /// ```
    /// use cobalt::{Context, ModelCall, Record, ToolCall};
    /// use serde_json::json;
    ///
    /// async fn answer(context: Context) -> Result<String, std::io::Error> {
    ///     // After each answer of the model:
    ///     context.record(ModelCall::new("gpt-4o-mini").tokens(220, 31).cached_tokens(128));
    ///     context.record(Record::message(json!({ "role": "assistant", "content": "Let me look." })));
    ///     // After each call of a tool:
    ///     context.record(ToolCall::new("weather").arguments(json!({ "city": "York" })).result("18 °C"));
    ///     context.record(Record::note("attempt", 1));
    ///     Err(std::io::Error::other("the second request was refused"))
    /// }
    /// ```
    ///
    /// With an output, what was recorded is added to its metadata, and evaluators see it there:
    ///
    /// | recorded | becomes |
    /// |---|---|
    /// | calls of models | `metadata.usage`, an entry for each model; their sum as `metadata.tokens`; `metadata.model` if all are of one model; `metadata.cost` if all have a cost. If `metadata.usage` has another shape, the entries become `metadata.recordedUsage` |
    /// | calls of tools, and that there were none ([`Record::tool_calls`]) | `metadata.toolCalls`, which [`ToolCalls`](crate::ToolCalls) reads |
    /// | messages | `metadata.messages` |
    /// | notes | fields of `metadata` |
    ///
    /// **A field that the [`Output`](crate::Output) sets itself takes precedence over the recorded one; the two are never added
    /// up.** With its own `tokens`, the recorded usage is left out (its cost and model, too, unless it is of as many tokens), and
    /// with calls of its own, the recorded calls.
    ///
    /// Clones of the context record for the same execution, from any task or thread. What is recorded after the end of the
    /// execution, such as by a task that was left behind by a timeout, is ignored. At most 10,000 tool calls and as many messages
    /// are kept; more of them, like a cost that is none, are an error of the item.
    pub fn record(&self, record: impl Into<Record>) {
        self.recorder.record(record.into());
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}
