//! What an evaluator sees: one execution, and before the first item the dataset and the models.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cobalt_core::item::{Item, Output};
use serde::de::DeserializeOwned;
use serde_json::Value;

#[cfg(feature = "judge")]
use super::EvalError;
use crate::dataset::{Dataset, DecodeError, decode};
use crate::llm::{Asking, Models};
use crate::settings::DEFAULT_TIMEOUT;

/// One output with the item that it answers. Cheap to clone.
///
/// The engine makes it; to call an evaluator by itself, make one with [`EvalContext::new`].
#[derive(Clone, Debug)]
pub struct EvalContext {
    inner: Arc<Inner>,
    /// The way to the models.
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "nobody is asked without the feature"))]
    asking: Option<Asking>,
    /// What finds one where none was given.
    #[cfg(feature = "judge")]
    usually_asking: Option<fn() -> Result<Asking, EvalError>>,
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
    /// The context of the output of one run of an item.
    pub(crate) fn of(
        item: Arc<Item>,
        key: Arc<str>,
        index: usize,
        run_index: usize,
        output: Arc<Output>,
    ) -> Self {
        let inner = Inner { item, key, index, run_index, output, text: OnceLock::new() };
        Self {
            inner: Arc::new(inner),
            asking: None,
            #[cfg(feature = "judge")]
            usually_asking: None,
            timeout: None,
        }
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

    /// The same execution, whose way to the models is found when it is needed.
    #[cfg(feature = "judge")]
    pub(crate) fn usually_asking(self, find: fn() -> Result<Asking, EvalError>) -> Self {
        Self { usually_asking: Some(find), ..self }
    }

    /// The way to the models.
    #[cfg(feature = "judge")]
    pub(crate) fn models(&self) -> Result<Asking, EvalError> {
        match (&self.asking, self.usually_asking) {
            (Some(asking), _) => Ok(asking.clone()),
            (None, Some(find)) => find(),
            (None, None) => Err(EvalError::new("no models can be asked here")),
        }
    }

    /// The same execution with another item, for [`FnEvaluator::context`](super::FnEvaluator::context).
    #[must_use]
    pub fn with_item(&self, item: Item) -> Self {
        let Inner { key, index, run_index, output, .. } = &*self.inner;
        let other = Self::of(Arc::new(item), Arc::clone(key), *index, *run_index, Arc::clone(output));
        Self { inner: other.inner, ..self.clone() }
    }

    /// The same execution with another output, for [`FnEvaluator::context`](super::FnEvaluator::context).
    #[must_use]
    pub fn with_output(&self, output: Output) -> Self {
        let Inner { item, key, index, run_index, .. } = &*self.inner;
        let other = Self::of(Arc::clone(item), Arc::clone(key), *index, *run_index, Arc::new(output));
        Self { inner: other.inner, ..self.clone() }
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

    /// The item's identity, as [`Context::key`](crate::Context::key); empty outside of an experiment.
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

/// A function from what the engine shows to what an evaluator sees.
#[derive(Clone)]
pub(super) struct Remap {
    function: Arc<dyn Fn(&EvalContext) -> EvalContext + Send + Sync>,
    type_name: &'static str,
}

impl Remap {
    pub(super) fn new<F: Fn(&EvalContext) -> EvalContext + Send + Sync + 'static>(function: F) -> Self {
        Self { function: Arc::new(function), type_name: std::any::type_name::<F>() }
    }

    /// What the evaluator sees: what there is to see, unless it is changed.
    pub(super) fn seen(remap: Option<&Self>, cx: &EvalContext) -> EvalContext {
        remap.map_or_else(|| cx.clone(), |remap| (remap.function)(cx))
    }
}

/// The function's type, which is the same in every process: fingerprints are made of it.
impl fmt::Debug for Remap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name)
    }
}

/// What an evaluator is about to be used on, see [`Evaluator::check`](super::Evaluator::check).
#[derive(Debug)]
pub struct Setup {
    pub(crate) dataset: Dataset,
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "nobody is asked without the feature"))]
    pub(crate) models: Arc<Models>,
}

impl Setup {
    /// The items that outputs will be scored for.
    pub fn items(&self) -> impl Iterator<Item = &Item> + Clone {
        self.dataset.iter()
    }
}
