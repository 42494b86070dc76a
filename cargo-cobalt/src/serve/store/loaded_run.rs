//! Runs in memory: the fields of each item that lists, overviews and comparisons need, and its byte range in the file.
//!
//! A [`LoadedRun`] is built item by item with [`RunBuilder`], from a result file or from the lines of a journal. An item's outputs,
//! reasons and metadata are read again from the file on demand.

use std::collections::BTreeMap;
use std::ops::Range;

use cobalt_core::item::Item;
use cobalt_core::prices::PriceTable;
use cobalt_core::report::{
    ItemNames, ItemResult, MeasuredItem, Measurements, Report, RunConfig, ScoredEvaluation, Status,
    Timestamp, TrialMeasurements,
};
use cobalt_core::reporters::expected_field;
use cobalt_core::store::ReportReader;
use cobalt_core::wording::truncate;
use serde_json::{Map, Value};

use super::run_file::{RunFile, RunFileError};

/// The number of characters of a text in lists.
const PREVIEW_LEN: usize = 200;
/// Fields in which datasets have the agent's input, in order of preference.
const INPUT_FIELDS: [&str; 7] = ["input", "question", "prompt", "query", "text", "message", "messages"];
/// The field that identifies an item: lists have a separate column for it.
const ID_FIELD: &str = "id";

/// A run without the fields that stay in its file.
#[derive(Debug)]
pub struct LoadedRun {
    /// The report without its items.
    pub head: Report,
    /// The run's measurements without those of the items.
    measured: Measurements,
    /// In dataset order.
    pub items: Vec<LoadedItem>,
    /// The file with the complete items.
    pub file: RunFile,
}

impl LoadedRun {
    /// The index of an evaluator in the run.
    pub fn evaluator_index(&self, name: &str) -> Option<usize> {
        self.head.config.evaluators.iter().position(|known| known == name)
    }

    /// The measurements for comparisons; much larger than the run itself.
    pub fn measurements(&self) -> Measurements {
        let evaluators = &self.head.config.evaluators;
        let items = self.items.iter().map(|item| item.measured(evaluators));
        Measurements { items: items.collect(), ..self.measured.clone() }
    }

    /// The evaluators that scored an item below their pass marks.
    pub fn below_pass_mark<'a>(&'a self, item: &'a LoadedItem) -> impl Iterator<Item = &'a str> {
        let evaluators = self.head.config.evaluators().enumerate();
        evaluators.filter(|(at, (_, mark))| item.scores.is_below(*at, *mark)).map(|(_, (name, _))| name)
    }

    /// The evaluators that do not apply to an item.
    pub fn not_applicable<'a>(&'a self, item: &'a LoadedItem) -> impl Iterator<Item = &'a str> {
        let evaluators = self.head.config.evaluators.iter().enumerate();
        evaluators.filter(|(at, _)| item.scores.is_not_applicable(*at)).map(|(_, name)| &**name)
    }

    /// The approximate memory use in bytes.
    pub fn size(&self) -> usize {
        /// A report without its items.
        const HEAD: usize = 16 << 10;
        HEAD + self.items.iter().map(LoadedItem::size).sum::<usize>()
    }
}

/// The fields of an item that lists and comparisons need.
#[derive(Debug)]
pub struct LoadedItem {
    /// The item's key.
    pub key: Box<str>,
    /// The item's test-case name, if it differs from the key.
    pub name: Option<Box<str>>,
    /// The item's index in the dataset.
    pub index: usize,
    pub passed: bool,
    pub status: Status,
    /// The number of trials.
    pub runs: usize,
    /// The retried attempts of all trials.
    pub retried: usize,
    /// The start of the input, the output and the error.
    pub input: Box<str>,
    pub output: Option<Box<str>>,
    pub error: Option<Box<str>>,
    pub latency_ms: f64,
    pub tokens: Option<u64>,
    pub cost: Option<f64>,
    pub scores: ItemScores,
    /// The trials in which the agent or an evaluator failed.
    pub failed: Box<[usize]>,
    /// A hash of the whole item.
    pub content: Box<str>,
    cluster: Option<Box<str>>,
    /// The latency and usage of each trial, if there are several.
    trials: Box<[TrialMeasurements]>,
    /// The values of each metric that the agent recorded.
    metrics: BTreeMap<String, Vec<f64>>,
    /// What judges said that compare the output with another answer.
    compared: BTreeMap<String, Vec<[f64; 2]>>,
    /// Whether its latency is not that of an agent and its models.
    has_replayed_latency: bool,
    /// The model traffic of all trials, if it passed through the gateway. Boxed: most runs have none.
    pub traffic: Option<Box<LoadedTraffic>>,
    /// The byte range of its JSON in the file.
    pub place: Range<u64>,
}

impl LoadedItem {
    /// Extracts the fields of an item. Its key and name are set once all items are known.
    pub fn of(item: &ItemResult, place: Range<u64>, config: &RunConfig, prices: &PriceTable) -> Self {
        let measured = MeasuredItem::of(item, String::new(), &config.evaluators, prices);
        Self {
            key: Box::default(),
            name: None,
            index: item.index,
            passed: config.passes(item),
            status: item.status(),
            runs: item.runs.len(),
            retried: item.retried_attempts(),
            input: input_preview(&item.input),
            output: item.first_trial().output.as_ref().map(|output| preview(&output.text())),
            error: item.first_error().map(|error| preview(&error)),
            latency_ms: measured.latency_ms,
            tokens: measured.tokens,
            cost: measured.cost,
            scores: ItemScores::of(item, &config.evaluators),
            failed: measured.failed.into(),
            content: measured.content.into(),
            cluster: measured.cluster.map(Into::into),
            trials: measured.trials.into(),
            metrics: measured.metrics,
            has_replayed_latency: measured.replayed,
            compared: measured.compared,
            traffic: LoadedTraffic::of(item, &measured.asked).map(Box::new),
            place,
        }
    }

    /// The item's test-case name.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.key)
    }

    /// The mean over the trials of a metric that the agent recorded.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let values = self.metrics.get(name).filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }

    fn measured(&self, evaluators: &[String]) -> MeasuredItem {
        let scores = (0..).zip(evaluators).map(|(at, name)| (name.clone(), self.scores.given(at).collect()));
        MeasuredItem {
            key: self.key.to_string(),
            content: self.content.to_string(),
            cluster: self.cluster.as_ref().map(ToString::to_string),
            failed: self.failed.to_vec(),
            latency_ms: self.latency_ms,
            tokens: self.tokens,
            cost: self.cost,
            asked: self.traffic.as_ref().map_or_else(Vec::new, |traffic| traffic.asked()),
            replayed: self.has_replayed_latency,
            retried: self.retried,
            scores: scores.filter(|(_, scores): &(_, Vec<f64>)| !scores.is_empty()).collect(),
            compared: self.compared.clone(),
            metrics: self.metrics.clone(),
            trials: self.trials.to_vec(),
        }
    }

    pub fn size(&self) -> usize {
        /// The overhead of an allocation.
        const OVERHEAD: usize = 16;
        let texts = [&self.key, &self.input, &self.content].into_iter();
        let texts = texts.chain(&self.name).chain(&self.output).chain(&self.error).chain(&self.cluster);
        size_of::<Self>()
            + texts.map(|text| text.len() + OVERHEAD).sum::<usize>()
            + self.scores.size()
            + size_of_val(&*self.failed)
            + size_of_val(&*self.trials)
            + self.metrics.iter().map(size_of_entry).sum::<usize>()
            + self.compared.iter().map(size_of_entry).sum::<usize>()
            + self.traffic.as_ref().map_or(0, |traffic| traffic.size() + 2 * OVERHEAD)
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
    /// `None` if no trial has traffic.
    fn of(item: &ItemResult, asked: &[String]) -> Option<Self> {
        let trials = || item.runs.iter().filter_map(|run| run.traffic.as_deref());
        trials().next()?;
        Some(Self {
            replayed: trials().map(|trial| trial.replayed).sum(),
            live: trials().map(|trial| trial.live).sum(),
            recorded_at: trials().filter_map(|trial| trial.recorded_at).min(),
            has_diverged: trials().any(|trial| trial.diverged.is_some()),
            asked: asked.join(" ").into(),
        })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.split_ascii_whitespace().map(str::to_owned).collect()
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.asked.len()
    }
}

/// Builds a loaded run.
#[derive(Debug)]
pub struct RunBuilder<'a> {
    config: RunConfig,
    prices: &'a PriceTable,
    names: ItemNames,
    items: Vec<LoadedItem>,
}

impl<'a> RunBuilder<'a> {
    pub fn new(config: RunConfig, is_partial: bool, prices: &'a PriceTable) -> Self {
        Self { config, prices, names: ItemNames::new(is_partial), items: Vec::new() }
    }

    /// Adds an item with the byte range of its JSON in the file.
    pub fn add(&mut self, place: Range<u64>, item: &ItemResult) {
        self.names.add(item);
        self.items.push(LoadedItem::of(item, place, &self.config, self.prices));
    }

    /// Builds the run. `head` is the report without its items; `file` has the complete items.
    pub fn finish(self, head: Report, file: RunFile) -> LoadedRun {
        let Self { names, mut items, prices, .. } = self;
        let named = names.keys().into_iter().zip(names.case_names());
        for (item, (key, name)) in items.iter_mut().zip(named) {
            item.name = (name != key).then(|| name.into());
            item.key = key.into();
        }
        items.sort_by_key(|item| item.index);
        items.shrink_to_fit();
        LoadedRun { measured: Measurements::from_report(&head, prices), head, items, file }
    }
}

impl LoadedRun {
    /// Reads a result file.
    pub fn read(file: &RunFile, prices: &PriceTable) -> Result<Self, RunFileError> {
        let bytes = file.read()?;
        let unfit = |error: serde_json::Error| {
            file.to_error(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                format!("not a result file: {error}"),
            ))
        };
        let text = ReportReader::of(&bytes).map_err(unfit)?;
        let mut loading = RunBuilder::new(text.head().config.clone(), text.head().partial, prices);
        let add = |place: Range<usize>, item| loading.add(place.start as u64..place.end as u64, &item);
        let head = text.read(add).map_err(unfit)?;
        Ok(loading.finish(head, file.clone()))
    }
}

/// The scores of an item by all evaluators in all trials, in one allocation.
///
/// For each evaluator, the score of each trial: [`NO_SCORE`] if it failed, [`NOT_APPLICABLE`] if it does not apply to the item, and
/// [`NOT_RUN`] if it was not run.
#[derive(Debug)]
pub struct ItemScores {
    runs: usize,
    scores: Box<[f64]>,
}

const NO_SCORE: f64 = -1.0;
const NOT_RUN: f64 = -2.0;
const NOT_APPLICABLE: f64 = -3.0;

impl ItemScores {
    /// In the order of these evaluators.
    pub fn of(item: &ItemResult, evaluators: &[String]) -> Self {
        let score = |name: &String| {
            let evaluations = item.runs.iter().map(|run| run.evaluations.get(name));
            let score = |it: &ScoredEvaluation| match it.not_applicable {
                true => NOT_APPLICABLE,
                false => it.score.unwrap_or(NO_SCORE),
            };
            evaluations.map(|it| it.map_or(NOT_RUN, score)).collect::<Vec<_>>()
        };
        Self { runs: item.runs.len(), scores: evaluators.iter().flat_map(score).collect() }
    }

    fn all(&self, evaluator: usize) -> &[f64] {
        self.scores.get(evaluator * self.runs..(evaluator + 1) * self.runs).unwrap_or_default()
    }

    /// The scores of an evaluator.
    pub fn given(&self, evaluator: usize) -> impl Iterator<Item = f64> {
        self.all(evaluator).iter().copied().filter(|score| *score >= 0.0)
    }

    /// Their mean.
    pub fn mean(&self, evaluator: usize) -> Option<f64> {
        let (count, total) =
            self.given(evaluator).fold((0_u32, 0.0), |(n, total), score| (n + 1, total + score));
        (count > 0).then(|| total / f64::from(count))
    }

    /// Whether an evaluator scored any trial below a pass mark.
    pub fn is_below(&self, evaluator: usize, mark: f64) -> bool {
        self.given(evaluator).any(|score| score < mark)
    }

    /// Whether an evaluator failed in any trial.
    pub fn is_missing(&self, evaluator: usize) -> bool {
        self.all(evaluator).contains(&NO_SCORE)
    }

    /// Whether an evaluator applied in no trial.
    pub fn is_not_applicable(&self, evaluator: usize) -> bool {
        let scores = self.all(evaluator);
        !scores.is_empty() && scores.iter().all(|score| *score == NOT_APPLICABLE)
    }

    pub fn size(&self) -> usize {
        size_of_val(&*self.scores)
    }
}

/// The start of a text.
fn preview(text: &str) -> Box<str> {
    truncate(text, PREVIEW_LEN).into()
}

/// The start of the agent's input. Without a known input field, all fields except the id and the expected output:
/// `audience: customers · severity: 3`.
fn input_preview(item: &Item) -> Box<str> {
    let asked = INPUT_FIELDS.into_iter().filter_map(|name| item.get(name)).find(|value| !value.is_null());
    match asked {
        Some(Value::String(asked)) => preview(asked),
        Some(Value::Object(fields)) => self::fields_preview(fields, &[]),
        Some(Value::Array(messages)) => preview(&last_message(messages)),
        Some(other) => preview(&other.to_string()),
        None => fields_preview(item, &[Some(ID_FIELD), expected_field(item)]),
    }
}

/// The last message of a conversation; any other list as JSON.
fn last_message(messages: &[Value]) -> String {
    match messages.last().and_then(|message| message.get("content")) {
        Some(Value::String(content)) => content.clone(),
        _ => Value::from(messages).to_string(),
    }
}

/// Fields with their names, up to the maximum length.
fn fields_preview(fields: &Map<String, Value>, without: &[Option<&str>]) -> Box<str> {
    let mut line = String::new();
    for (name, value) in fields.iter().filter(|(name, _)| !without.contains(&Some(name))) {
        let (value, separator) = (plain_text(value), if line.is_empty() { "" } else { " · " });
        line.extend([separator, name, ": ", &value]);
        if line.len() > PREVIEW_LEN * char::MAX.len_utf8() {
            break;
        }
    }
    preview(&line)
}

/// A string as it is, anything else as JSON.
fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use cobalt::item;
    use serde_json::json;

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
        let traffic = loaded.traffic.as_ref().unwrap();
        assert_eq!((traffic.replayed, traffic.live, traffic.has_diverged), (3, 3, true));
        assert_eq!(traffic.recorded_at.unwrap().to_string(), "2026-01-20T09:00:00.000Z");
        let measured = MeasuredItem::of(&item(&runs), String::new(), &[], &prices);
        assert_eq!(measured.asked, ["0123456789", "abcdef0123"], "of the first trial");
        assert_eq!(loaded.measured(&[]), measured);
        assert!(load(&[run(Value::Null)]).traffic.is_none());
    }

    #[test]
    fn what_the_agent_is_asked_is_shown_without_what_lies_around_it() {
        let item = item! { "context": { "channel": "chat" }, "id": "q-1", "question": "Is it open?" };
        assert_eq!(&*input_preview(&item), "Is it open?");
        assert_eq!(&*input_preview(&item! { "input": null, "prompt": "Say so" }), "Say so");
        assert_eq!(
            &*input_preview(&item! { "input": { "city": "York", "days": 2 } }),
            "city: York · days: 2"
        );
        assert_eq!(&*input_preview(&item! { "input": 7 }), "7");
    }

    #[test]
    fn of_a_conversation_the_last_message_is_shown() {
        let messages = item! { "messages": [{ "role": "system", "content": "Be brief" }, { "role": "user", "content": "Hello" }] };
        assert_eq!(&*input_preview(&messages), "Hello");
        assert_eq!(&*input_preview(&item! { "input": ["two", 2] }), r#"["two",2]"#);
        assert_eq!(&*input_preview(&item! { "messages": [] }), "[]");
    }

    #[test]
    fn an_item_of_other_fields_is_shown_by_them_but_not_by_what_is_expected() {
        let item =
            item! { "id": "i-1", "audience": "customers", "severity": 3, "expectedOutput": "All is well" };
        assert_eq!(&*input_preview(&item), "audience: customers · severity: 3");
        assert_eq!(&*input_preview(&item! { "id": "i-1" }), "");
    }

    #[test]
    fn a_long_input_is_cut_between_characters() {
        let item = item! { "report": "é".repeat(100_000), "severity": 3 };
        assert_eq!(input_preview(&item).chars().count(), PREVIEW_LEN + 1);
    }
}
