//! What a summary function gets of each trial.

use std::borrow::Cow;

use cobalt_core::item::{Item, Output};
use cobalt_core::report::{Execution, ItemResult};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::dataset::{DecodeError, decode};

/// A trial with an output: its item, output and scores. Trials in which the agent failed are left out.
///
/// Items and outputs are those of the report: secrets in them are redacted.
#[derive(Clone, Copy, Debug)]
pub struct SummaryItem<'a> {
    result: &'a ItemResult,
    run: &'a Execution,
    run_index: usize,
    output: &'a Output,
    text: &'a str,
}

impl<'a> SummaryItem<'a> {
    /// The trials of an item that have an output, each with its text as in `texts`.
    pub(crate) fn of(result: &'a ItemResult, texts: &'a [Cow<'a, str>]) -> impl Iterator<Item = Self> {
        let trials = result.runs.iter().enumerate();
        let with_output = trials.filter_map(|(run_index, run)| Some((run_index, run, run.output.as_ref()?)));
        with_output.zip(texts).map(move |((run_index, run, output), text)| Self {
            result,
            run,
            run_index,
            output,
            text,
        })
    }

    /// The texts of an item's outputs.
    pub(crate) fn texts(result: &ItemResult) -> Vec<Cow<'_, str>> {
        result.runs.iter().filter_map(|run| Some(run.output.as_ref()?.text())).collect()
    }

    /// The item, as in the dataset.
    #[must_use]
    pub fn item(&self) -> &'a Item {
        &self.result.input
    }

    /// Deserializes the item to a type of your own.
    ///
    /// # Errors
    ///
    /// Names the path of the field that does not match `T`.
    pub fn item_as<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode(&self.result.input)
    }

    /// The item's key: its `id`, or a hash of its input.
    #[must_use]
    pub fn key(&self) -> &'a str {
        &self.result.key
    }

    /// The trial's number, from 0.
    #[must_use]
    pub fn run_index(&self) -> usize {
        self.run_index
    }

    /// The agent's output.
    #[must_use]
    pub fn output(&self) -> &'a Value {
        self.output.value()
    }

    /// The output as text: a string unchanged, anything else as compact JSON.
    #[must_use]
    pub fn output_text(&self) -> &'a str {
        self.text
    }

    /// The metadata of the output.
    #[must_use]
    pub fn metadata(&self) -> &'a Item {
        self.output.all_metadata()
    }

    /// An evaluator's score of the output; `None` if it gave none.
    #[must_use]
    pub fn score(&self, evaluator: &str) -> Option<f64> {
        self.run.evaluations.get(evaluator)?.score
    }

    /// The value of a [metric](crate::Context::metric) that the agent recorded.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.run.metrics.get(name).map(|metric| metric.value)
    }
}
