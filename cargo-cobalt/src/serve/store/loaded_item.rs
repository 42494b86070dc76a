//! An item of a loaded run: what lists and comparisons need of it. There may be a million of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use cobalt_core::item::{content_number, make_unique};
use cobalt_core::prices::PriceTable;
use cobalt_core::report::{
    ItemResult, ItemScores, MeasuredItem, RunConfig, Status, Timestamp, TrialMeasurements,
};
use cobalt_core::store::{ItemRow, RowName, RowRest, RowTraffic};

use super::item_texts::ItemTexts;

/// The fields of an item that lists and comparisons need.
#[derive(Debug)]
pub struct LoadedItem {
    /// The item's key.
    pub key: Box<str>,
    /// The item's index in the dataset.
    pub index: usize,
    pub latency_ms: f64,
    /// [`NO_TOKENS`] if unknown.
    tokens: u64,
    /// NaN if unknown.
    cost: f64,
    /// A hash of the whole item.
    pub content: u64,
    pub scores: ItemScores,
    /// The starts of its texts; absent if the run is in parts.
    texts: Option<Box<PlacedTexts>>,
    /// What few items have.
    rest: Option<Box<ItemRest>>,
    pub passed: bool,
    pub status: Status,
    name: NameKind,
}

/// The tokens of an item that reports none.
const NO_TOKENS: u64 = u64::MAX;

/// The test-case name of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    Key,
    Index,
    /// In [`ItemRest::name`].
    Other,
}

/// The starts of an item's texts, and the byte range of its JSON in the file.
#[derive(Debug)]
struct PlacedTexts {
    starts: ItemTexts,
    place: Range<u64>,
}

/// What few items have.
#[derive(Debug, Default)]
struct ItemRest {
    name: Option<Box<str>>,
    failed: Box<[usize]>,
    cluster: Option<Box<str>>,
    retried: usize,
    trials: Box<[TrialMeasurements]>,
    metrics: BTreeMap<String, Vec<f64>>,
    compared: BTreeMap<String, Vec<[f64; 2]>>,
    has_replayed_latency: bool,
    traffic: Option<LoadedTraffic>,
}

impl From<RowRest> for ItemRest {
    fn from(rest: RowRest) -> Self {
        let asked = rest.asked;
        Self {
            name: None,
            failed: rest.failed.into(),
            cluster: rest.cluster.map(Into::into),
            retried: rest.retried,
            trials: rest.trials.into(),
            metrics: rest.metrics,
            compared: rest.compared,
            has_replayed_latency: rest.has_replayed_latency,
            traffic: rest.traffic.map(|traffic| LoadedTraffic::new(traffic, &asked)),
        }
    }
}

/// The overhead of an allocation.
const OVERHEAD: usize = 16;

impl LoadedItem {
    /// Extracts the fields of an item. Its key and name are set once all items are known.
    pub fn of(item: &ItemResult, place: Range<u64>, config: &RunConfig, prices: &PriceTable) -> Self {
        let texts = PlacedTexts { starts: ItemTexts::of(item), place };
        let row = ItemRow::of(item, config, false, prices);
        Self { texts: Some(Box::new(texts)), ..Self::of_row(row) }
    }

    /// From the columns of a run in parts.
    pub fn of_row(row: ItemRow) -> Self {
        let mut rest = row.rest.map(|rest| Box::new(ItemRest::from(*rest)));
        let name = match row.name {
            RowName::Key => NameKind::Key,
            RowName::Index => NameKind::Index,
            RowName::Other(name) => {
                rest.get_or_insert_default().name = Some(name);
                NameKind::Other
            }
        };
        Self {
            key: row.key.into(),
            index: row.index,
            latency_ms: row.latency_ms,
            tokens: row.tokens.unwrap_or(NO_TOKENS),
            cost: row.cost.unwrap_or(f64::NAN),
            content: content_number(&row.content),
            scores: row.scores,
            texts: None,
            rest,
            passed: row.passed,
            status: row.status,
            name,
        }
    }

    /// Sets its test-case name.
    pub fn set_name(&mut self, name: String) {
        self.name = match () {
            () if *name == *self.key => NameKind::Key,
            () if name == format!("{:04}", self.index) => NameKind::Index,
            () => NameKind::Other,
        };
        if self.name == NameKind::Other {
            self.rest.get_or_insert_default().name = Some(name.into());
        }
    }

    /// The item's test-case name.
    pub fn name(&self) -> Cow<'_, str> {
        match self.name {
            NameKind::Key => Cow::Borrowed(&self.key),
            NameKind::Index => Cow::Owned(format!("{:04}", self.index)),
            NameKind::Other => {
                let name = self.rest.as_ref().and_then(|rest| rest.name.as_deref());
                Cow::Borrowed(name.unwrap_or(&self.key))
            }
        }
    }

    /// The number of trials.
    pub fn trials(&self) -> usize {
        self.scores.trials()
    }

    /// The retried attempts of all trials.
    pub fn retried(&self) -> usize {
        self.rest.as_ref().map_or(0, |rest| rest.retried)
    }

    /// The agent's tokens over all trials, if reported.
    pub fn tokens(&self) -> Option<u64> {
        Some(self.tokens).filter(|tokens| *tokens != NO_TOKENS)
    }

    /// The agent cost over all trials, if known.
    pub fn cost(&self) -> Option<f64> {
        Some(self.cost).filter(|cost| !cost.is_nan())
    }

    /// The trials in which the agent or an evaluator failed.
    pub fn failed(&self) -> &[usize] {
        self.rest.as_ref().map_or(&[], |rest| &rest.failed)
    }

    /// The model traffic of all trials, if it passed through the gateway.
    pub fn traffic(&self) -> Option<&LoadedTraffic> {
        self.rest.as_ref()?.traffic.as_ref()
    }

    /// The mean over the trials of a metric that the agent recorded.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let values = self.rest.as_ref()?.metrics.get(name).filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The starts of its texts; absent if the run is in parts.
    pub fn texts(&self) -> Option<&ItemTexts> {
        self.texts.as_ref().map(|texts| &texts.starts)
    }

    /// The byte range of its JSON in the file; absent if the run is in parts.
    pub fn place(&self) -> Option<&Range<u64>> {
        self.texts.as_ref().map(|texts| &texts.place)
    }

    /// Its measurements for comparisons.
    pub fn measured(&self, evaluators: &[String]) -> MeasuredItem {
        let rest = self.rest.as_deref();
        MeasuredItem {
            key: self.key.to_string(),
            content: format!("{:016x}", self.content),
            cluster: rest.and_then(|rest| rest.cluster.as_ref().map(ToString::to_string)),
            failed: self.failed().to_vec(),
            latency_ms: self.latency_ms,
            tokens: self.tokens(),
            cost: self.cost(),
            asked: self.traffic().map_or_else(Vec::new, LoadedTraffic::asked),
            replayed: rest.is_some_and(|rest| rest.has_replayed_latency),
            retried: self.retried(),
            scores: self.scores.by_name(evaluators),
            compared: rest.map_or_else(BTreeMap::new, |rest| rest.compared.clone()),
            metrics: rest.map_or_else(BTreeMap::new, |rest| rest.metrics.clone()),
            trials: rest.map_or_else(Vec::new, |rest| rest.trials.to_vec()),
        }
    }

    pub fn size(&self) -> usize {
        let texts = self.texts.as_ref().map_or(0, |texts| size_of_val(&**texts) + texts.starts.size());
        size_of::<Self>()
            + self.key.len()
            + self.scores.size()
            + 2 * OVERHEAD
            + texts
            + self.rest.as_ref().map_or(0, |rest| rest.size())
    }
}

impl ItemRest {
    fn size(&self) -> usize {
        let texts = self.name.iter().chain(&self.cluster);
        size_of::<Self>()
            + texts.map(|text| text.len() + OVERHEAD).sum::<usize>()
            + size_of_val(&*self.failed)
            + size_of_val(&*self.trials)
            + self.metrics.iter().map(size_of_entry).sum::<usize>()
            + self.compared.iter().map(size_of_entry).sum::<usize>()
            + self.traffic.as_ref().map_or(0, |traffic| traffic.asked.len() + OVERHEAD)
    }
}

/// The approximate memory use of values with their name in bytes.
fn size_of_entry<T>((name, values): (&String, &Vec<T>)) -> usize {
    /// The overhead of an entry and its allocations.
    const OVERHEAD: usize = 80;
    name.len() + size_of_val(&**values) + OVERHEAD
}

/// The model traffic of an item over all of its trials.
#[derive(Debug)]
pub struct LoadedTraffic {
    /// Requests answered from the recording.
    pub replayed: usize,
    /// Requests sent to a provider.
    pub live: usize,
    /// When the oldest replayed part was recorded.
    pub recorded_at: Option<Timestamp>,
    /// Whether the conversation of a trial diverged from its recording.
    pub has_diverged: bool,
    /// The hashes of the messages of the first trial, separated by spaces: one allocation instead of one for each.
    asked: Box<str>,
}

impl LoadedTraffic {
    fn new(traffic: RowTraffic, asked: &[String]) -> Self {
        let RowTraffic { replayed, live, recorded_at, has_diverged } = traffic;
        Self { replayed, live, recorded_at, has_diverged, asked: asked.join(" ").into() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.split_ascii_whitespace().map(str::to_owned).collect()
    }
}

/// Makes the names of items unique. Most runs have names that are keys or indexes, which are unique.
pub fn make_names_unique(items: &mut [LoadedItem]) {
    if items.iter().all(|item| item.name == NameKind::Key)
        || items.iter().all(|item| item.name == NameKind::Index)
    {
        return;
    }
    let names = make_unique(items.iter().map(|item| item.name().into_owned()).collect());
    for (item, name) in items.iter_mut().zip(names) {
        item.set_name(name);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_was_sent_to_models_is_kept_for_comparisons_in_one_text() {
        let run = |traffic: Value| json!({ "output": { "output": "a" }, "status": "ok", "latencyMs": 1.0, "evaluations": {}, "traffic": traffic });
        let runs = [
            run(
                json!({ "replayed": 2, "recordedAt": "2026-01-21T09:00:00.000Z", "asked": ["0123456789", "abcdef0123"] }),
            ),
            run(
                json!({ "replayed": 1, "live": 3, "recordedAt": "2026-01-20T09:00:00.000Z", "diverged": "`messages[0]`" }),
            ),
        ];
        let item = |runs: &[Value]| -> ItemResult {
            let item =
                json!({ "index": 0, "key": "a", "input": {}, "output": { "output": "a" }, "runs": runs });
            serde_json::from_value(item).unwrap()
        };
        let (config, prices) = (RunConfig::default(), PriceTable::default());
        let load = |runs: &[Value]| LoadedItem::of(&item(runs), 0..0, &config, &prices);
        let loaded = load(&runs);
        let traffic = loaded.traffic().unwrap();
        assert_eq!((traffic.replayed, traffic.live, traffic.has_diverged), (3, 3, true));
        assert_eq!(traffic.recorded_at.unwrap().to_string(), "2026-01-20T09:00:00.000Z");
        let measured = MeasuredItem::of(&item(&runs), "a".to_owned(), &[], &prices);
        assert_eq!(measured.asked, ["0123456789", "abcdef0123"], "of the first trial");
        assert_eq!(loaded.measured(&[]), measured);
        assert!(load(&[run(Value::Null)]).traffic().is_none());
    }
}
