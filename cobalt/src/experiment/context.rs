//! What an agent may ask about the execution that it is called for.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::record::{Record, Recorder};
use crate::dataset::{Dataset, DecodeError, decode};
use crate::item::Item;

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
