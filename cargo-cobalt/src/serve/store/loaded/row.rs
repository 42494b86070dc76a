//! An item as lists have it.

use crate::serve::api::{ItemRow, ItemState};
use cobalt::report::Status;

use super::{LoadedItem, LoadedRun};

impl LoadedRun {
    pub(in crate::serve) fn row(&self, item: &LoadedItem) -> ItemRow {
        let config = &self.head.config;
        let names = || (0..).zip(&config.evaluators);
        let missing = names().filter(|(at, _)| item.scores.is_missing(*at));
        let scores = names().filter_map(|(at, name)| Some((name.clone(), item.scores.mean(at)?)));
        ItemRow {
            key: item.key.to_string(),
            index: item.index,
            name: item.name().to_owned(),
            passed: item.passed,
            status: item.status,
            runs: item.runs,
            low: self.low(item).map(str::to_owned).collect(),
            eval_errors: missing.map(|(_, name)| name.clone()).collect(),
            input: item.input.to_string(),
            output: item.output.as_ref().map(ToString::to_string),
            error: item.error.as_ref().map(ToString::to_string),
            latency_ms: item.latency_ms,
            tokens: item.tokens,
            cost: item.cost,
            scores: scores.collect(),
        }
    }

    /// The evaluators that scored an item below their marks.
    pub(in crate::serve) fn low<'a>(&'a self, item: &'a LoadedItem) -> impl Iterator<Item = &'a str> {
        let evaluators = self.head.config.evaluators().enumerate();
        evaluators.filter(|(at, (_, mark))| item.scores.is_low(*at, *mark)).map(|(_, (name, _))| name)
    }

    pub(in crate::serve) fn is_in(&self, item: &LoadedItem, state: ItemState) -> bool {
        match state {
            ItemState::Passed => item.passed,
            ItemState::Failing => !item.passed,
            ItemState::Low => self.low(item).next().is_some(),
            ItemState::Error => item.status == Status::Error,
            ItemState::Timeout => item.status == Status::Timeout,
            ItemState::EvalError => {
                (0..self.head.config.evaluators.len()).any(|at| item.scores.is_missing(at))
            }
        }
    }
}
