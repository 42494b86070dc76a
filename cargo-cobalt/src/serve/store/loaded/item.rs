//! An item as it is kept in memory.

use std::ops::Range;

use cobalt::llm::prices::PriceTable;
use cobalt::report::{ItemResult, MeasuredItem, RunConfig, Status, TrialAmounts};

use super::preview;
use super::scores::Scores;

/// What lists and comparisons need of an item.
#[derive(Debug)]
pub(in crate::serve) struct LoadedItem {
    /// The item's identity.
    pub(in crate::serve) key: Box<str>,
    /// The item's name in test cases, where it is not its key.
    pub(super) name: Option<Box<str>>,
    /// The item's place in the data set.
    pub(in crate::serve) index: usize,
    pub(in crate::serve) passed: bool,
    pub(in crate::serve) status: Status,
    /// How often it was run.
    pub(in crate::serve) runs: usize,
    /// The beginnings of what it was, what came of it, and what went wrong.
    pub(super) input: Box<str>,
    pub(super) output: Option<Box<str>>,
    pub(super) error: Option<Box<str>>,
    pub(in crate::serve) latency_ms: f64,
    pub(in crate::serve) tokens: Option<u64>,
    pub(in crate::serve) cost: Option<f64>,
    pub(in crate::serve) scores: Scores,
    /// The runs in which the agent or an evaluator failed.
    pub(in crate::serve) failed: Box<[usize]>,
    /// A hash of the whole item.
    pub(in crate::serve) content: Box<str>,
    cluster: Option<Box<str>>,
    /// What each of several trials took and used.
    trials: Box<[TrialAmounts]>,
    /// Where its JSON lies in the file.
    pub(in crate::serve) place: Range<u64>,
}

impl LoadedItem {
    /// What is kept of an item; its names are known when all items are.
    pub(super) fn of(item: &ItemResult, place: Range<u64>, config: &RunConfig, prices: &PriceTable) -> Self {
        let measured = MeasuredItem::of(item, String::new(), &config.evaluators, prices);
        Self {
            key: Box::default(),
            name: None,
            index: item.index,
            passed: config.passes(item),
            status: item.status(),
            runs: item.runs.len(),
            input: preview::input(&item.input),
            output: item.first().output.as_ref().map(|output| preview::text(&output.text())),
            error: item.why_in_error().map(|error| preview::text(&error)),
            latency_ms: measured.latency_ms,
            tokens: measured.tokens,
            cost: measured.cost,
            scores: Scores::of(item, &config.evaluators),
            failed: measured.failed.into(),
            content: measured.content.into(),
            cluster: measured.cluster.map(Into::into),
            trials: measured.trials.into(),
            place,
        }
    }

    /// The item's name in test cases.
    pub(in crate::serve) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.key)
    }

    pub(super) fn measured(&self, evaluators: &[String]) -> MeasuredItem {
        let scores = (0..).zip(evaluators).map(|(at, name)| (name.clone(), self.scores.given(at).collect()));
        MeasuredItem {
            key: self.key.to_string(),
            content: self.content.to_string(),
            cluster: self.cluster.as_ref().map(ToString::to_string),
            failed: self.failed.to_vec(),
            latency_ms: self.latency_ms,
            tokens: self.tokens,
            cost: self.cost,
            scores: scores.filter(|(_, scores): &(_, Vec<f64>)| !scores.is_empty()).collect(),
            trials: self.trials.to_vec(),
        }
    }

    pub(super) fn size(&self) -> usize {
        /// What the system keeps beside each piece of memory.
        const OVERHEAD: usize = 16;
        let texts = [&self.key, &self.input, &self.content].into_iter();
        let texts = texts.chain(&self.name).chain(&self.output).chain(&self.error).chain(&self.cluster);
        size_of::<Self>()
            + texts.map(|text| text.len() + OVERHEAD).sum::<usize>()
            + self.scores.size()
            + size_of_val(&*self.failed)
            + size_of_val(&*self.trials)
    }
}
