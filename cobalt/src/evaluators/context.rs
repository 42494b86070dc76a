//! What an evaluator sees of one execution.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

#[cfg(feature = "judge")]
use super::EvalError;
#[cfg(feature = "judge")]
use crate::config::Config;
use crate::config::DEFAULT_TIMEOUT;
use crate::dataset::{DecodeError, Item, decode};
use crate::experiment::{Context, Output};
use crate::llm::Asking;

/// One output with the item that it answers. Cheap to clone.
///
/// The engine makes it; to call an evaluator by itself, make one with [`EvalContext::new`].
#[derive(Clone, Debug)]
pub struct EvalContext {
    inner: Arc<Inner>,
    /// The way to the models; without one, those for the configuration of this process.
    asking: Option<Asking>,
    /// How long the experiment gives an evaluator.
    timeout: Option<Duration>,
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
    /// The context of an output that stands for itself, outside of any experiment.
    ///
    /// ```
    /// # async fn example() -> Result<(), cobalt::EvalError> {
    /// use cobalt::{EvalContext, Evaluator, ExactMatch, Output};
    ///
    /// let item = cobalt::item! { "input": "2 + 2", "expectedOutput": "4" };
    /// let score = ExactMatch::new("exact", "expectedOutput")
    ///     .evaluate(&EvalContext::new(item, Output::new("4")))
    ///     .await?;
    /// assert_eq!(score.value(), 1.0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(item: Item, output: Output) -> Self {
        Self::build(Arc::new(item), "".into(), 0, 0, Arc::new(output))
    }

    pub(crate) fn of(context: &Context, output: Arc<Output>) -> Self {
        Self::build(
            Arc::clone(context.shared_item()),
            Arc::clone(context.shared_key()),
            context.index(),
            context.run_index(),
            output,
        )
    }

    fn build(item: Arc<Item>, key: Arc<str>, index: usize, run_index: usize, output: Arc<Output>) -> Self {
        let inner = Inner { item, key, index, run_index, output, text: OnceLock::new() };
        Self { inner: Arc::new(inner), asking: None, timeout: None }
    }

    /// The same execution for an evaluator that asks models this way.
    pub(crate) fn asking(&self, asking: Asking) -> Self {
        Self { asking: Some(asking), ..self.clone() }
    }

    /// The same execution in an experiment that gives each evaluator so long.
    pub(crate) fn within(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// How long an evaluator may take; outside of an experiment what is usual there.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The way to the models.
    #[cfg(feature = "judge")]
    pub(crate) fn models(&self) -> Result<Asking, EvalError> {
        if let Some(asking) = &self.asking {
            return Ok(asking.clone());
        }
        let config = Config::from_environment().map_err(|error| EvalError::new(error.to_string()))?;
        Ok(Asking::new(config.shared_models()))
    }

    /// The same execution with another item, for [`FnEvaluator::context`](super::FnEvaluator::context).
    #[must_use]
    pub fn with_item(&self, item: Item) -> Self {
        let Inner { key, index, run_index, output, .. } = &*self.inner;
        let other = Self::build(Arc::new(item), Arc::clone(key), *index, *run_index, Arc::clone(output));
        Self { asking: self.asking.clone(), timeout: self.timeout, ..other }
    }

    /// The same execution with another output, for [`FnEvaluator::context`](super::FnEvaluator::context).
    #[must_use]
    pub fn with_output(&self, output: Output) -> Self {
        let Inner { item, key, index, run_index, .. } = &*self.inner;
        let other = Self::build(Arc::clone(item), Arc::clone(key), *index, *run_index, Arc::new(output));
        Self { asking: self.asking.clone(), timeout: self.timeout, ..other }
    }

    /// The item of the data set.
    #[must_use]
    pub fn item(&self) -> &Item {
        &self.inner.item
    }

    /// The item as a type of your own.
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not fit `T`.
    pub fn item_as<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode(&self.inner.item)
    }

    /// The item's identity, as [`Context::key`]; empty outside of an experiment.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.inner.key
    }

    /// The item's place in the data set, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.inner.index
    }

    /// Which of the item's runs this is, from 0.
    #[must_use]
    pub fn run_index(&self) -> usize {
        self.inner.run_index
    }

    /// What the agent answered.
    #[must_use]
    pub fn output(&self) -> &Value {
        self.inner.output.value()
    }

    /// What the agent answered, as text: a string as it is, anything else as compact JSON.
    #[must_use]
    pub fn output_text(&self) -> &str {
        match self.inner.output.value() {
            Value::String(text) => text,
            other => self.inner.text.get_or_init(|| other.to_string()),
        }
    }

    /// What the agent answered, as a type of your own.
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not fit `T`.
    pub fn output_as<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        crate::dataset::decode_value(self.inner.output.value())
    }

    /// What the agent reported about itself: `model`, `tokens` and fields of its own.
    #[must_use]
    pub fn metadata(&self) -> &Item {
        self.inner.output.all_metadata()
    }
}
