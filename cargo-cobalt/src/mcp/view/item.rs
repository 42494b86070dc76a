//! The query for a run's items, and an item as in the result file, cut to a byte budget.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;

use cobalt_core::report::comparison::ItemChange;
use cobalt_core::report::{ItemOutcome, ItemResult, Report, RunConfig};
use cobalt_core::store::{PartsIndex, ReportFile, StoreError};
use cobalt_core::wording;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::overview::LONGEST_NAME;
use super::traces;
use super::transcripts;
use super::truncate::{self, divide, size, size_up_to};
use crate::error::Error;
use crate::sized_cache::SizedCache;

/// An evaluation with less room is left out.
const MIN_EVALUATION: usize = 200;
/// A trial with less room is left out.
const MIN_TRIAL: usize = 500;
/// The field of an item that lists what was left out.
const LEFT_OUT: &str = "leftOut";

type Fields = Map<String, Value>;

/// An item of a list, with its unique key, in at most `room` bytes, which must be 1,000 or more. The requested evaluator is kept;
/// traces are outlined, transcripts are texts, and patches are left out.
pub fn listed_item(item: &ItemResult, key: &str, evaluator: Option<&str>, room: usize) -> Fields {
    let mut whole = whole_item(item, key);
    remove_patches(&mut whole);
    traces::outline(&mut whole, item, traces::IN_LIST);
    transcripts::shorten(&mut whole, item, transcripts::IN_LIST);
    fit(whole, item, key, evaluator, room)
}

/// The item, with its unique key, in at most `room` bytes, which must be 1,000 or more. Traces are outlined if they do not fit, and
/// then transcripts become texts.
pub fn item(item: &ItemResult, key: &str, room: usize) -> Fields {
    let mut whole = whole_item(item, key);
    if size_up_to(&whole, room) > room {
        traces::outline(&mut whole, item, room / 4);
    }
    if size_up_to(&whole, room) > room {
        transcripts::shorten(&mut whole, item, room / 2);
    }
    fit(whole, item, key, None, room)
}

fn whole_item(item: &ItemResult, key: &str) -> Fields {
    let Ok(Value::Object(mut whole)) = serde_json::to_value(item) else { return Fields::new() };
    whole.insert("key".to_owned(), key.into());
    remove_asked(&mut whole);
    whole
}

fn fit(whole: Fields, item: &ItemResult, key: &str, evaluator: Option<&str>, room: usize) -> Fields {
    if size_up_to(&whole, room) <= room {
        return whole;
    }
    let mut left_out = Vec::new();
    let mut cut = cut_fields(whole, evaluator, room, &mut left_out);
    if !left_out.is_empty() {
        cut.insert(LEFT_OUT.to_owned(), left_out.into());
    }
    if size(&cut) <= room { cut } else { identity_only(item, key) }
}

/// An item of two runs in at most `room` bytes, which must be 2,000 or more.
pub fn change(change: &ItemChange, room: usize) -> Fields {
    let Ok(Value::Object(whole)) = serde_json::to_value(change) else { return Fields::new() };
    if size_up_to(&whole, room) <= room {
        return whole;
    }
    let evaluator = change.scores.first().map(|score| &*score.evaluator);
    cut_fields(whole, evaluator, room, &mut Vec::new())
}

/// Removes the patches; the changed files stay.
fn remove_patches(item: &mut Fields) {
    let of_trials = item.get_mut("runs").and_then(Value::as_array_mut).into_iter().flatten();
    of_trials.filter_map(Value::as_object_mut).for_each(remove_patches);
    if let Some(Value::Object(workspace)) = item.get_mut("workspace") {
        workspace.shift_remove("patch");
    }
}

/// Removes the hashes of what was sent to models, which only a comparison can use.
fn remove_asked(item: &mut Fields) {
    let of_trials = item.get_mut("runs").and_then(Value::as_array_mut).into_iter().flatten();
    of_trials.filter_map(Value::as_object_mut).for_each(remove_asked);
    if let Some(Value::Object(traffic)) = item.get_mut("traffic") {
        traffic.shift_remove("asked");
    }
}

/// Only what identifies an item, if nothing else fits.
fn identity_only(item: &ItemResult, key: &str) -> Fields {
    let fields = json!({
        "index": item.index, "key": truncate::text(key, LONGEST_NAME), "input": {}, "output": { "output": "" },
        "latencyMs": item.latency_ms(), "evaluations": {}, "status": item.status(), "passed": item.passed,
        LEFT_OUT: ["everything except its key and whether it passed"],
    });
    let Value::Object(fields) = fields else { return Fields::new() };
    fields
}

fn cut_fields(mut whole: Fields, evaluator: Option<&str>, room: usize, left_out: &mut Vec<String>) -> Fields {
    if let Some(Value::String(key)) = whole.get_mut("key") {
        *key = truncate::text(key, LONGEST_NAME);
    }
    // For field names, and the list of what was left out.
    let around = LONGEST_NAME + whole.keys().map(|name| size(name) + 2).sum::<usize>();
    let sizes: Vec<_> = whole.values().map(|value| size_up_to(value, room)).collect();
    let shares = divide(&sizes, room.saturating_sub(around));
    let cut = |((name, value), room): ((String, Value), usize)| {
        let value = match (&*name, value) {
            (_, value) if size_up_to(&value, room) <= room => value,
            ("input", Value::Object(input)) => truncate::object(input, room).into(),
            ("output", Value::Object(output)) => self::output(output, room).into(),
            ("evaluations", Value::Object(all)) => evaluations(all, evaluator, room, left_out).into(),
            ("runs", Value::Array(all)) => trials(all, evaluator, room, left_out).into(),
            ("base" | "other", Value::Object(side)) => cut_fields(side, evaluator, room, left_out).into(),
            ("scores", Value::Array(all)) => scores(all, room).into(),
            ("aggregated", Value::Object(all)) => aggregated(all, evaluator, room, left_out).into(),
            (_, value) => truncate::value(value, room),
        };
        (name, value)
    };
    whole.into_iter().zip(shares).map(cut).collect()
}

/// The output and its metadata, an object.
fn output(mut output: Fields, room: usize) -> Fields {
    let metadata = match output.remove("metadata") {
        Some(Value::Object(metadata)) => Some(metadata),
        _ => None,
    };
    let around = size(&json!({ "output": null, "metadata": null }));
    let value = output.remove("output").unwrap_or_default();
    let sizes = [size_up_to(&value, room), metadata.as_ref().map_or(0, |it| size_up_to(it, room))];
    let shares = divide(&sizes, room.saturating_sub(around));
    let mut cut = Fields::from_iter([("output".to_owned(), truncate::value(value, shares[0]))]);
    cut.extend(metadata.map(|it| ("metadata".to_owned(), truncate::object(it, shares[1]).into())));
    cut
}

/// The evaluations that fit: the requested one, those without a score, then the lowest.
fn evaluations(all: Fields, evaluator: Option<&str>, room: usize, left_out: &mut Vec<String>) -> Fields {
    let least = |name: &str, evaluation: &Value| {
        size(name) + size_up_to(evaluation, MIN_EVALUATION).min(MIN_EVALUATION)
    };
    let score = |evaluation: &Value| evaluation.get("score").and_then(Value::as_f64);
    let kept = keep_fitting(all, evaluator, room, score, least, "evaluations", left_out);
    let names = 2 + kept.keys().map(|name| size(name) + 2).sum::<usize>();
    let sizes: Vec<_> = kept.values().map(|evaluation| size_up_to(evaluation, room)).collect();
    let shares = divide(&sizes, room.saturating_sub(names));
    let cut = |((name, value), room)| match value {
        Value::Object(fields) => (name, evaluation(fields, room).into()),
        other => (name, other),
    };
    kept.into_iter().zip(shares).map(cut).collect()
}

/// An evaluation. Drops the judge first, then the chain of thought if there is a reason, then the metadata.
fn evaluation(mut fields: Fields, room: usize) -> Fields {
    for name in ["judge", "chainOfThought", "metadata"] {
        if size_up_to(&fields, room) > room && (name != "chainOfThought" || fields.contains_key("reason")) {
            fields.shift_remove(name);
        }
    }
    truncate::object(fields, room)
}

fn trials(all: Vec<Value>, evaluator: Option<&str>, room: usize, left_out: &mut Vec<String>) -> Vec<Value> {
    let (most, number) = ((room / MIN_TRIAL).max(1), all.len());
    if number > most {
        left_out.push(format!("runs: {} of {number}", number - most));
    }
    let kept: Vec<_> = all.into_iter().take(most).collect();
    let shares = divide(
        &kept.iter().map(|run| size_up_to(run, room)).collect::<Vec<_>>(),
        room.saturating_sub(kept.len() + 2),
    );
    let cut = |(run, room)| match run {
        Value::Object(run) if size_up_to(&run, room) > room => {
            cut_fields(run, evaluator, room, &mut Vec::new()).into()
        }
        run => run,
    };
    kept.into_iter().zip(shares).map(cut).collect()
}

/// The first scores that changed, as many as fit.
fn scores(mut all: Vec<Value>, room: usize) -> Vec<Value> {
    for score in &mut all {
        if let Some(Value::String(name)) = score.get_mut("evaluator") {
            *name = truncate::text(name, LONGEST_NAME);
        }
    }
    truncate::keep_fitting(&mut all, room, "scores", &mut Vec::new());
    all
}

/// The statistics over all trials. They cannot be cut, so evaluators are dropped.
fn aggregated(mut all: Fields, evaluator: Option<&str>, room: usize, left_out: &mut Vec<String>) -> Fields {
    if let Some(Value::Object(figures)) = all.get_mut("evaluations") {
        let score = |figures: &Value| figures.get("mean").and_then(Value::as_f64);
        let whole = |name: &str, figures: &Value| size(name) + size(figures);
        let room = room.saturating_sub(MIN_EVALUATION);
        *figures = keep_fitting(
            std::mem::take(figures),
            evaluator,
            room,
            score,
            whole,
            "aggregated.evaluations",
            left_out,
        );
    }
    all
}

/// The fields that fit, in their order. The requested evaluator has priority, then the lowest scores; no score counts as lowest.
fn keep_fitting(
    all: Fields,
    evaluator: Option<&str>,
    room: usize,
    score: impl Fn(&Value) -> Option<f64>,
    least: impl Fn(&str, &Value) -> usize,
    what: &str,
    left_out: &mut Vec<String>,
) -> Fields {
    let number = all.len();
    let mut ranked: Vec<_> = all.into_iter().enumerate().collect();
    ranked.sort_by(|(_, (one, first)), (_, (two, second))| {
        let is_other = |name: &str| Some(name) != evaluator;
        let by_score = score(first).partial_cmp(&score(second)).unwrap_or(Ordering::Equal);
        is_other(one).cmp(&is_other(two)).then(by_score)
    });
    let mut taken = 2;
    let fits = |(_, (name, value)): &(usize, (String, Value))| {
        taken += least(name, value) + 2;
        taken <= room
    };
    let mut kept: Vec<_> = ranked.into_iter().take_while(fits).collect();
    if kept.len() < number {
        left_out.push(format!("{what}: {} of {number}", number - kept.len()));
    }
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, field)| field).collect()
}

/// A status filter for items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ItemStatus {
    /// At or above every pass mark in every trial, without an error.
    Passed,
    /// Below a pass mark, or in error.
    Failed,
    /// The agent failed or timed out, or an evaluator returned no score.
    Error,
    /// A score is below its evaluator's pass mark, whether or not that fails the item.
    Low,
}

/// A query for items; by default all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ItemQuery {
    pub status: Option<ItemStatus>,
    /// Items scored by this evaluator.
    pub evaluator: Option<String>,
    /// Items with at most this score, from that evaluator or, if none is named, from any.
    pub max_score: Option<f64>,
    /// Maximum number of items; by default as many as fit.
    #[serde(skip)]
    pub limit: Option<usize>,
}

impl ItemQuery {
    /// The positions of the matching items, worst first: those in error, then those below a pass mark by their lowest score,
    /// then the others by theirs.
    pub fn select(&self, file: &ReportFile) -> Result<Arc<Vec<usize>>, Error> {
        self.validate(file.report())?;
        let Some(parts) = file.parts() else { return Ok(Arc::new(self.ranked(file)?)) };
        let query = Self { limit: None, ..self.clone() };
        let size = |positions: &Vec<usize>| size_of_val(&**positions);
        Ok(SELECTED
            .get(&(parts.path().to_owned(), parts.index().clone(), query), size, || self.ranked(file))?)
    }

    fn ranked(&self, file: &ReportFile) -> Result<Vec<usize>, StoreError> {
        let config = &file.report().config;
        let evaluator = self.evaluator.as_ref();
        let evaluator = evaluator.and_then(|name| config.evaluators.iter().position(|known| known == name));
        let mut ranked = Vec::new();
        for (position, item) in file.outcomes().enumerate() {
            let item = item?;
            let lowest = lowest(&item, evaluator, config);
            if self.has_status(&item, config)
                && evaluator.is_none_or(|evaluator| item.scores.is_run(evaluator))
                && self.max_score.is_none_or(|most| lowest.is_some_and(|score| score <= most))
            {
                ranked.push((rank(&item, lowest), (item.index, position)));
            }
        }
        ranked.sort_unstable_by(|((one, low), first), ((two, lowest), second)| {
            one.cmp(two).then(low.total_cmp(lowest)).then(first.cmp(second))
        });
        Ok(ranked.into_iter().map(|(_, (_, position))| position).collect())
    }

    fn validate(&self, report: &Report) -> Result<(), Error> {
        let names = || report.config.evaluators.iter().map(String::as_str);
        if let Some(name) = self.evaluator.as_deref().filter(|name| names().all(|known| known != *name)) {
            let instead = match names().next() {
                Some(_) => wording::suggest_or_list(name, names()),
                None => "it has no evaluators".to_owned(),
            };
            return Err(Error::Arguments(format!(
                "run `{}` has no evaluator `{name}`; {instead}",
                report.id
            )));
        }
        if self.max_score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            return Err(Error::Arguments("invalid `maxScore`: expected a number from 0 to 1".to_owned()));
        }
        Ok(())
    }

    fn has_status(&self, item: &ItemOutcome, config: &RunConfig) -> bool {
        match self.status {
            None => true,
            Some(ItemStatus::Passed) => item.passed,
            Some(ItemStatus::Failed) => !item.passed,
            Some(ItemStatus::Error) => item.is_in_error,
            Some(ItemStatus::Low) => item.lowest_below_pass_mark(config).is_some(),
        }
    }
}

/// The selections of runs in parts, as each page needs the whole one: up to four of a million items.
static SELECTED: SizedCache<(PathBuf, PartsIndex, ItemQuery), Vec<usize>> = SizedCache::new(32 << 20);

/// The sort key: the category, then the lowest score, except for items in error.
fn rank(item: &ItemOutcome, lowest: Option<f64>) -> (u8, f64) {
    let lowest = lowest.unwrap_or(f64::INFINITY);
    match item.passed {
        _ if item.is_in_error => (0, 0.0),
        false => (1, lowest),
        true => (2, lowest),
    }
}

/// An item's lowest score, from the given evaluator or from all; each is the mean over the item's trials.
fn lowest(item: &ItemOutcome, evaluator: Option<usize>, config: &RunConfig) -> Option<f64> {
    match evaluator {
        Some(evaluator) => item.scores.mean(evaluator),
        None => (0..config.evaluators.len()).filter_map(|at| item.scores.mean(at)).reduce(f64::min),
    }
}
