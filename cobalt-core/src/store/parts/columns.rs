//! Columns: of each item, what lists, statistics and comparisons need, without its texts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::item::{case_name, case_name_in_partial_run, natural_key};
use crate::prices::PriceTable;
use crate::report::{
    ItemOutcome, ItemResult, ItemScores, MeasuredItem, RunConfig, Status, TrialMeasurements,
};
use crate::serde_skip::is_zero;
use crate::timestamp::Timestamp;

/// An item without its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemRow {
    /// The item's index in the dataset, from 0.
    pub index: usize,
    /// The item's key.
    pub key: String,
    /// The item's name in test cases, which may not be unique.
    pub name: RowName,
    /// Whether the item is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// The worst status of the trials.
    pub status: Status,
    /// The agent's mean latency in milliseconds.
    pub latency_ms: f64,
    /// The agent's tokens over all trials; absent if not reported.
    pub tokens: Option<u64>,
    /// The agent cost over all trials in USD, at the prices with which the columns were written; absent if unknown.
    pub cost: Option<f64>,
    /// A hash of the whole item.
    pub content: String,
    /// The scores.
    pub scores: ItemScores,
    /// What few items have.
    pub rest: Option<Box<RowRest>>,
}

/// The name of an item in test cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowName {
    /// Its key.
    Key,
    /// Its index, as four digits.
    Index,
    /// Another one.
    Other(Box<str>),
}

/// What few items have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RowRest {
    /// The name in test cases, if it is neither the key nor the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Box<str>>,
    /// The trials in which the agent or an evaluator failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<usize>,
    /// The item's field `cluster`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// How many attempts were retried.
    #[serde(skip_serializing_if = "is_zero")]
    pub retried: usize,
    /// The latency and usage of each trial, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<TrialMeasurements>,
    /// The values of each metric that the agent recorded.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Vec<f64>>,
    /// What judges said that compare the output with another answer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub compared: BTreeMap<String, Vec<[f64; 2]>>,
    /// Whether its latency is that of a recording, at least in part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_replayed_latency: bool,
    /// A hash of each message that the agent sent to a model in the first trial.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// The model traffic of all trials, if it passed through the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<RowTraffic>,
}

/// The model traffic of an item over all of its trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RowTraffic {
    /// Requests answered from the recording.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed: usize,
    /// Requests sent to a provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub live: usize,
    /// When the oldest replayed part was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
    /// Whether the conversation of a trial diverged from its recording.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_diverged: bool,
}

impl RowTraffic {
    /// `None` if no trial has traffic.
    #[must_use]
    pub fn of(item: &ItemResult) -> Option<Self> {
        let trials = || item.runs.iter().filter_map(|run| run.traffic.as_deref());
        trials().next()?;
        Some(Self {
            replayed: trials().map(|trial| trial.replayed).sum(),
            live: trials().map(|trial| trial.live).sum(),
            recorded_at: trials().filter_map(|trial| trial.recorded_at).min(),
            has_diverged: trials().any(|trial| trial.diverged.is_some()),
        })
    }
}

impl ItemRow {
    /// Of an item of a run with these settings.
    #[must_use]
    pub fn of(item: &ItemResult, config: &RunConfig, is_partial: bool, prices: &PriceTable) -> Self {
        let key = if item.key.is_empty() { natural_key(&item.input) } else { item.key.clone() };
        let name = match is_partial {
            true => case_name_in_partial_run(item.index, &item.input, &item.key),
            false => case_name(item.index, &item.input),
        };
        let name = match name {
            name if name == key => RowName::Key,
            name if name == index_name(item.index) => RowName::Index,
            other => RowName::Other(other.into()),
        };
        let measured = MeasuredItem::of(item, String::new(), &config.evaluators, prices);
        let rest = RowRest {
            name: None,
            failed: measured.failed,
            cluster: measured.cluster,
            retried: measured.retried,
            trials: measured.trials,
            metrics: measured.metrics,
            compared: measured.compared,
            has_replayed_latency: measured.replayed,
            asked: measured.asked,
            traffic: RowTraffic::of(item),
        };
        Self {
            index: item.index,
            key,
            name,
            passed: config.passes(item),
            status: item.status(),
            latency_ms: measured.latency_ms,
            tokens: measured.tokens,
            cost: measured.cost,
            content: measured.content,
            scores: ItemScores::of(item, &config.evaluators),
            rest: (rest != RowRest::default()).then(|| Box::new(rest)),
        }
    }

    /// Its name in test cases, which may not be unique.
    #[must_use]
    pub fn case_name(&self) -> Cow<'_, str> {
        match &self.name {
            RowName::Key => (&*self.key).into(),
            RowName::Index => index_name(self.index).into(),
            RowName::Other(name) => (&**name).into(),
        }
    }

    /// Whether any trial or any evaluator failed.
    #[must_use]
    pub fn is_in_error(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| !rest.failed.is_empty())
    }

    /// The result without what only comparisons need.
    #[must_use]
    pub fn into_outcome(self) -> ItemOutcome {
        ItemOutcome {
            is_in_error: self.is_in_error(),
            key: self.key,
            index: self.index,
            latency_ms: self.latency_ms,
            passed: self.passed,
            scores: self.scores,
        }
    }

    /// The measurements for comparisons, by these evaluators.
    #[must_use]
    pub fn measured(self, evaluators: &[String]) -> MeasuredItem {
        let rest = self.rest.map_or_else(RowRest::default, |rest| *rest);
        MeasuredItem {
            key: self.key,
            content: self.content,
            cluster: rest.cluster,
            failed: rest.failed,
            latency_ms: self.latency_ms,
            tokens: self.tokens,
            cost: self.cost,
            asked: rest.asked,
            replayed: rest.has_replayed_latency,
            retried: rest.retried,
            scores: self.scores.by_name(evaluators),
            compared: rest.compared,
            metrics: rest.metrics,
            trials: rest.trials,
        }
    }
}

/// The name of an item without an ID.
pub fn index_name(index: usize) -> String {
    format!("{index:04}")
}

/// The columns of consecutive items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ColumnBlock {
    index: Vec<usize>,
    key: Vec<String>,
    /// A letter for each item: `k` if its name in test cases is its key, `i` if it is its index, `o` if it is in `rest`.
    name: String,
    /// A letter for each item: `p` if it passed, `f` if it did not, `e` for an error, `t` for a timeout.
    state: String,
    /// Empty if every item has one trial.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trials: Vec<u32>,
    latency_ms: Vec<f64>,
    #[serde(skip_serializing_if = "all_absent")]
    tokens: Vec<Option<u64>>,
    #[serde(skip_serializing_if = "all_absent")]
    cost: Vec<Option<f64>>,
    content: Vec<String>,
    /// Of each evaluator, a value for each trial of each item.
    scores: Vec<Vec<f64>>,
    /// By the position in the block.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    rest: BTreeMap<usize, Box<RowRest>>,
}

fn all_absent<T>(values: &[Option<T>]) -> bool {
    values.iter().all(Option::is_none)
}

impl ColumnBlock {
    pub fn items(&self) -> usize {
        self.index.len()
    }

    pub fn add(&mut self, row: ItemRow, evaluators: usize) {
        let position = self.items();
        let ItemRow { index, key, name, passed, status, latency_ms, tokens, cost, content, scores, mut rest } =
            row;
        self.index.push(index);
        self.key.push(key);
        self.name.push(match name {
            RowName::Key => 'k',
            RowName::Index => 'i',
            RowName::Other(name) => {
                rest.get_or_insert_default().name = Some(name);
                'o'
            }
        });
        self.state.push(match (status, passed) {
            (Status::Ok, true) => 'p',
            (Status::Ok, false) => 'f',
            (Status::Error, _) => 'e',
            (Status::Timeout, _) => 't',
        });
        // As `ItemScores` has it.
        let trials = u32::try_from(scores.trials()).unwrap_or(u32::MAX);
        if trials != 1 && self.trials.is_empty() {
            self.trials = vec![1; position];
        }
        if trials != 1 || !self.trials.is_empty() {
            self.trials.push(trials);
        }
        self.latency_ms.push(latency_ms);
        self.tokens.push(tokens);
        self.cost.push(cost);
        self.content.push(content);
        self.scores.resize_with(evaluators, Vec::new);
        for (at, column) in self.scores.iter_mut().enumerate() {
            column.extend(scores.values(at));
        }
        self.rest.extend(rest.map(|rest| (position, rest)));
    }

    /// Parses a block, and checks that its columns have the same length.
    pub fn parse(text: &[u8]) -> io::Result<Self> {
        let mut block: Self = serde_json::from_slice(text)?;
        let items = block.items();
        if block.tokens.is_empty() {
            block.tokens = vec![None; items];
        }
        if block.cost.is_empty() {
            block.cost = vec![None; items];
        }
        if block.trials.is_empty() {
            block.trials = vec![1; items];
        }
        let lengths = [
            block.key.len(),
            block.name.len(),
            block.state.len(),
            block.trials.len(),
            block.latency_ms.len(),
            block.tokens.len(),
            block.cost.len(),
            block.content.len(),
        ];
        // A damaged number must not make others fit.
        let trials = block.trials.iter().try_fold(0_usize, |sum, trials| sum.checked_add(*trials as usize));
        if lengths.iter().any(|length| *length != items)
            || block.scores.iter().any(|column| Some(column.len()) != trials)
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its columns differ in length"));
        }
        Ok(block)
    }

    pub fn into_rows(self) -> impl Iterator<Item = ItemRow> {
        let Self { index, key, name, state, trials, latency_ms, tokens, cost, content, scores, mut rest } =
            self;
        let (names, states) = (name.into_bytes(), state.into_bytes());
        let mut key = key.into_iter();
        let mut content = content.into_iter();
        let mut trial = 0;
        index.into_iter().enumerate().map(move |(position, index)| {
            let mut rest = rest.remove(&position);
            let number = trials[position] as usize;
            let of_item = trial..trial + number;
            trial = of_item.end;
            let values = scores.iter().flat_map(|column| &column[of_item.clone()]).copied().collect();
            let name = match names[position] {
                b'k' => RowName::Key,
                b'i' => RowName::Index,
                _ => rest.as_mut().and_then(|rest| rest.name.take()).map_or(RowName::Key, RowName::Other),
            };
            let status = match states[position] {
                b'e' => Status::Error,
                b't' => Status::Timeout,
                _ => Status::Ok,
            };
            ItemRow {
                index,
                key: key.next().unwrap_or_default(),
                name,
                passed: states[position] == b'p',
                status,
                latency_ms: latency_ms[position],
                tokens: tokens[position],
                cost: cost[position],
                content: content.next().unwrap_or_default(),
                scores: ItemScores::from_values(number, values),
                rest: rest.filter(|rest| **rest != RowRest::default()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_block_whose_columns_do_not_fit_each_other_is_refused() {
        let block = |trials: &[u64], scores: &[f64]| {
            let block = json!({
                "index": [0, 1], "key": ["a", "b"], "name": "kk", "state": "pp", "trials": trials, "latencyMs": [1, 1],
                "content": ["", ""], "scores": [scores],
            });
            ColumnBlock::parse(block.to_string().as_bytes()).map(|block| block.into_rows().count())
        };
        assert_eq!(block(&[2, 1], &[1.0, 0.5, 1.0]).unwrap(), 2);
        // Their sum is 1 with 64 bits, and with 32 bits.
        for trials in [[u64::MAX, 2], [u64::from(u32::MAX), 2]] {
            assert!(block(&trials, &[1.0]).is_err());
        }
        assert!(block(&[1], &[1.0]).is_err());
    }
}
