//! The measurements of a run's items in columns: about 100 bytes per item, so that runs of a million items can be compared.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::lists::{Lists, NamedLists, Texts};
use super::measurements::{MeasuredItem, TrialMeasurements};
use crate::item::content_number;

/// The separator of the hashes of messages, which are hexadecimal digits with a prefix.
const SEPARATOR: &str = " ";

/// The measurements of the items of a run, in dataset order.
///
/// They are built from [`MeasuredItem`]s, which are also their form in baseline files.
#[derive(Clone, Debug, Default)]
pub struct MeasuredItems {
    keys: Texts,
    contents: Vec<u64>,
    /// None or one for each item.
    clusters: Lists<Box<str>>,
    failed: Lists<usize>,
    /// Of all trials.
    usage: Vec<PackedUsage>,
    trials: Lists<PackedUsage>,
    /// The hashes of each item, separated by spaces.
    asked: Texts,
    replayed: Vec<bool>,
    /// None or one for each item.
    retried: Lists<usize>,
    scores: NamedLists<f64>,
    compared: NamedLists<[f64; 2]>,
    metrics: NamedLists<f64>,
}

/// The latency and usage of an item or a trial.
#[derive(Clone, Copy, Debug)]
struct PackedUsage {
    latency_ms: f64,
    /// [`PackedUsage::NO_TOKENS`] if not reported.
    tokens: u64,
    /// NaN if unknown.
    cost: f64,
}

impl PackedUsage {
    const NO_TOKENS: u64 = u64::MAX;

    fn new(latency_ms: f64, tokens: Option<u64>, cost: Option<f64>) -> Self {
        Self { latency_ms, tokens: tokens.unwrap_or(Self::NO_TOKENS), cost: cost.unwrap_or(f64::NAN) }
    }

    fn unpack(self) -> TrialMeasurements {
        TrialMeasurements {
            latency_ms: self.latency_ms,
            tokens: Some(self.tokens).filter(|tokens| *tokens != Self::NO_TOKENS),
            cost: Some(self.cost).filter(|cost| !cost.is_nan()),
        }
    }
}

/// The measurements of one item.
#[derive(Clone, Copy)]
pub struct MeasuredItemRef<'a> {
    items: &'a MeasuredItems,
    at: usize,
}

impl MeasuredItems {
    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contents.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.contents.is_empty()
    }

    /// The item at this position.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<MeasuredItemRef<'_>> {
        (at < self.len()).then_some(MeasuredItemRef { items: self, at })
    }

    /// The items in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = MeasuredItemRef<'_>> + Clone {
        (0..self.len()).map(|at| MeasuredItemRef { items: self, at })
    }

    /// Whether an evaluator scored some item.
    #[must_use]
    pub fn has_scores(&self, evaluator: &str) -> bool {
        self.scores.has(evaluator)
    }

    /// Whether a judge compared the output of some item with another answer.
    #[must_use]
    pub fn has_compared(&self, evaluator: &str) -> bool {
        self.compared.has(evaluator)
    }

    /// Whether the agent recorded a metric of some item.
    #[must_use]
    pub fn has_metric(&self, name: &str) -> bool {
        self.metrics.has(name)
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: MeasuredItem) {
        let at = self.len();
        self.keys.push(&item.key);
        self.contents.push(content_number(&item.content));
        self.clusters.push(item.cluster.map(Into::into));
        self.failed.push(item.failed);
        self.usage.push(PackedUsage::new(item.latency_ms, item.tokens, item.cost));
        let trials = item.trials.iter();
        self.trials.push(trials.map(|trial| PackedUsage::new(trial.latency_ms, trial.tokens, trial.cost)));
        self.asked.push(&item.asked.join(SEPARATOR));
        self.replayed.push(item.replayed);
        self.retried.push((item.retried > 0).then_some(item.retried));
        self.scores.push(at, item.scores);
        self.compared.push(at, item.compared);
        self.metrics.push(at, item.metrics);
    }
}

impl<'a> MeasuredItemRef<'a> {
    /// Its position among the items.
    #[must_use]
    pub fn position(self) -> usize {
        self.at
    }

    /// The item's key; see [`MeasuredItem::key`], as for the others.
    #[must_use]
    pub fn key(self) -> &'a str {
        self.items.keys.get(self.at)
    }

    /// A number for the whole item, to detect changes.
    #[must_use]
    pub fn content(self) -> u64 {
        self.items.contents[self.at]
    }

    /// The item's cluster.
    #[must_use]
    pub fn cluster(self) -> Option<&'a str> {
        self.items.clusters.get(self.at).first().map(|name| &**name)
    }

    /// The trials in which the agent or an evaluator failed.
    #[must_use]
    pub fn failed(self) -> &'a [usize] {
        self.items.failed.get(self.at)
    }

    /// The agent's mean latency in milliseconds.
    #[must_use]
    pub fn latency_ms(self) -> f64 {
        self.items.usage[self.at].latency_ms
    }

    /// The agent's tokens over all trials.
    #[must_use]
    pub fn tokens(self) -> Option<u64> {
        self.items.usage[self.at].unpack().tokens
    }

    /// The agent cost over all trials in USD.
    #[must_use]
    pub fn cost(self) -> Option<f64> {
        self.items.usage[self.at].unpack().cost
    }

    /// A hash of each message that the agent sent to a model in the first trial.
    pub fn asked(self) -> impl Iterator<Item = &'a str> {
        self.items.asked.get(self.at).split(SEPARATOR).filter(|hash| !hash.is_empty())
    }

    /// Whether its latency is that of a recording.
    #[must_use]
    pub fn is_replayed(self) -> bool {
        self.items.replayed[self.at]
    }

    /// How many attempts were retried.
    #[must_use]
    pub fn retried(self) -> usize {
        self.items.retried.get(self.at).first().copied().unwrap_or_default()
    }

    /// An evaluator's scores; `None` without one.
    #[must_use]
    pub fn scores(self, evaluator: &str) -> Option<&'a [f64]> {
        self.items.scores.get(self.at, evaluator)
    }

    /// What a judge said that compares the output with another answer; `None` if it said nothing.
    #[must_use]
    pub fn compared(self, evaluator: &str) -> Option<&'a [[f64; 2]]> {
        self.items.compared.get(self.at, evaluator)
    }

    /// The values of a metric that the agent recorded; `None` without one.
    #[must_use]
    pub fn metric(self, name: &str) -> Option<&'a [f64]> {
        self.items.metrics.get(self.at, name)
    }

    /// The latency and usage of each trial.
    pub fn trials(self) -> impl Iterator<Item = TrialMeasurements> {
        self.items.trials.get(self.at).iter().map(|trial| trial.unpack())
    }

    /// A copy that can be changed, and added to other items.
    #[must_use]
    pub fn to_item(self) -> MeasuredItem {
        MeasuredItem {
            key: self.key().to_owned(),
            content: format!("{:016x}", self.content()),
            cluster: self.cluster().map(str::to_owned),
            failed: self.failed().to_vec(),
            latency_ms: self.latency_ms(),
            tokens: self.tokens(),
            cost: self.cost(),
            asked: self.asked().map(str::to_owned).collect(),
            replayed: self.is_replayed(),
            retried: self.retried(),
            scores: self.items.scores.to_map(self.at),
            compared: self.items.compared.to_map(self.at),
            metrics: self.items.metrics.to_map(self.at),
            trials: self.trials().collect(),
        }
    }
}

impl fmt::Debug for MeasuredItemRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_item().fmt(f)
    }
}

impl PartialEq for MeasuredItems {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|(a, b)| a.to_item() == b.to_item())
    }
}

impl FromIterator<MeasuredItem> for MeasuredItems {
    fn from_iter<T: IntoIterator<Item = MeasuredItem>>(items: T) -> Self {
        let mut all = Self::default();
        all.extend(items);
        all
    }
}

impl Extend<MeasuredItem> for MeasuredItems {
    fn extend<T: IntoIterator<Item = MeasuredItem>>(&mut self, items: T) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl Serialize for MeasuredItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(MeasuredItemRef::to_item))
    }
}

impl<'de> Deserialize<'de> for MeasuredItems {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items;

        impl<'de> Visitor<'de> for Items {
            type Value = MeasuredItems;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<MeasuredItems, A::Error> {
                let mut items = MeasuredItems::default();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(items)
            }
        }

        deserializer.deserialize_seq(Items)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_survive_their_columns_whatever_they_have() {
        let plain = json!({ "key": "a", "content": "00000000000000ff", "latencyMs": 2.5, "scores": { "tone": [0.5] } });
        let full = json!({ "key": "b", "content": "fedcba9876543210", "cluster": "c", "failed": [0, 2], "latencyMs": 1.0, "tokens": 7,
            "cost": 0.25, "asked": ["s01", "m02"], "replayed": true, "retried": 3, "scores": { "exact": [1.0, 0.0], "tone": [0.1] },
            "compared": { "better": [[1.0, 0.5]] }, "metrics": { "documents": [3.0, 4.0] },
            "trials": [{ "latencyMs": 0.5, "tokens": 3, "cost": 0.125 }, { "latencyMs": 1.5 }] });
        let bare = json!({ "key": "", "content": "0123456789abcdef", "latencyMs": 0.0, "scores": {} });
        let items = json!([plain, full, bare, plain, full]);
        let columns: MeasuredItems = serde_json::from_value(items.clone()).unwrap();
        assert_eq!(serde_json::to_value(&columns).unwrap(), items);
        let full = columns.get(1).unwrap();
        assert_eq!((full.scores("exact"), full.scores("better")), (Some(&[1.0, 0.0][..]), None));
        assert_eq!((columns.get(0).unwrap().scores("exact"), columns.get(5).is_none()), (None, true));
        assert_eq!(columns, columns.iter().map(MeasuredItemRef::to_item).collect());
    }

    #[test]
    fn a_content_that_is_no_hash_is_compared_all_the_same() {
        let item = |content: &str| json!({ "key": "a", "content": content, "latencyMs": 1.0, "scores": {} });
        let items = ["1", "1", "2", "FEDCBA9876543210", "fedcba9876543210"].map(item);
        let items: MeasuredItems = serde_json::from_value(json!(items)).unwrap();
        let contents: Vec<_> = items.iter().map(MeasuredItemRef::content).collect();
        assert_eq!(contents[0], contents[1]);
        assert!(contents[1] != contents[2] && contents[3] != contents[4]);
        let read: MeasuredItems = serde_json::from_value(json!(items)).unwrap();
        assert_eq!(read, items, "its number is kept");
    }
}
