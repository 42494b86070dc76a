//! An item in the shape that it has in a result file, cut to the room that there is.

use std::cmp::Ordering;

use cobalt::report::ItemResult;
use cobalt::report::comparison::ItemChange;
use serde_json::{Map, Value, json};

use super::cut;
use super::head::LONGEST_NAME;
use super::size::{self, shares, size, size_up_to};

/// An evaluation with less room is left out.
const LEAST_EVALUATION: usize = 200;
/// A run with less room is left out.
const LEAST_RUN: usize = 500;
/// Where an item tells what was left out of it.
const LEFT_OUT: &str = "leftOut";

type Fields = Map<String, Value>;

/// The item, under the key that it is found by, in at most so many bytes, of which there are to be a thousand at least. The evaluator that was asked for stays.
pub(super) fn item(item: &ItemResult, key: &str, evaluator: Option<&str>, room: usize) -> Fields {
    let Ok(Value::Object(mut whole)) = serde_json::to_value(item) else { return Fields::new() };
    whole.insert("key".to_owned(), key.into());
    if size_up_to(&whole, room) <= room {
        return whole;
    }
    let mut left_out = Vec::new();
    let mut cut = parts(whole, evaluator, room, &mut left_out);
    if !left_out.is_empty() {
        cut.insert(LEFT_OUT.to_owned(), left_out.into());
    }
    if size(&cut) <= room { cut } else { least(item, key) }
}

/// An item of two runs in at most so many bytes, of which there are to be two thousand at least.
pub(crate) fn change(change: &ItemChange, room: usize) -> Fields {
    let Ok(Value::Object(whole)) = serde_json::to_value(change) else { return Fields::new() };
    if size_up_to(&whole, room) <= room {
        return whole;
    }
    let evaluator = change.scores.first().map(|score| &*score.evaluator);
    parts(whole, evaluator, room, &mut Vec::new())
}

/// What identifies an item, where nothing else has room.
fn least(item: &ItemResult, key: &str) -> Fields {
    let fields = json!({
        "index": item.index, "key": cut::text(key, LONGEST_NAME), "input": {}, "output": { "output": "" },
        "latencyMs": item.latency_ms(), "evaluations": {}, "status": item.status(), "passed": item.passed,
        LEFT_OUT: ["all but what it is called and whether it passed"],
    });
    let Value::Object(fields) = fields else { return Fields::new() };
    fields
}

fn parts(mut whole: Fields, evaluator: Option<&str>, room: usize, left_out: &mut Vec<String>) -> Fields {
    if let Some(Value::String(key)) = whole.get_mut("key") {
        *key = cut::text(key, LONGEST_NAME);
    }
    // Names of fields, and what tells of what was left out.
    let around = LONGEST_NAME + whole.keys().map(|name| size(name) + 2).sum::<usize>();
    let sizes: Vec<_> = whole.values().map(|value| size_up_to(value, room)).collect();
    let shares = shares(&sizes, room.saturating_sub(around));
    let cut = |((name, value), room): ((String, Value), usize)| {
        let value = match (&*name, value) {
            (_, value) if size_up_to(&value, room) <= room => value,
            ("input", Value::Object(input)) => cut::object(input, room).into(),
            ("output", Value::Object(output)) => self::output(output, room).into(),
            ("evaluations", Value::Object(all)) => evaluations(all, evaluator, room, left_out).into(),
            ("runs", Value::Array(all)) => runs(all, evaluator, room, left_out).into(),
            ("base" | "other", Value::Object(side)) => parts(side, evaluator, room, left_out).into(),
            ("scores", Value::Array(all)) => scores(all, room).into(),
            ("aggregated", Value::Object(all)) => aggregated(all, evaluator, room, left_out).into(),
            (_, value) => cut::value(value, room),
        };
        (name, value)
    };
    whole.into_iter().zip(shares).map(cut).collect()
}

/// The output itself, and the metadata, which is an object.
fn output(mut output: Fields, room: usize) -> Fields {
    let metadata = match output.remove("metadata") {
        Some(Value::Object(metadata)) => Some(metadata),
        _ => None,
    };
    let around = size(&json!({ "output": null, "metadata": null }));
    let value = output.remove("output").unwrap_or_default();
    let sizes = [size_up_to(&value, room), metadata.as_ref().map_or(0, |it| size_up_to(it, room))];
    let shares = shares(&sizes, room.saturating_sub(around));
    let mut cut = Fields::from_iter([("output".to_owned(), cut::value(value, shares[0]))]);
    cut.extend(metadata.map(|it| ("metadata".to_owned(), cut::object(it, shares[1]).into())));
    cut
}

/// The evaluations for which there is room: the one that was asked for, those without a score, and then the lowest.
fn evaluations(all: Fields, evaluator: Option<&str>, room: usize, left_out: &mut Vec<String>) -> Fields {
    let least = |name: &str, evaluation: &Value| {
        size(name) + size_up_to(evaluation, LEAST_EVALUATION).min(LEAST_EVALUATION)
    };
    let score = |evaluation: &Value| evaluation.get("score").and_then(Value::as_f64);
    let kept = keep(all, evaluator, room, score, least, "evaluations", left_out);
    let names = 2 + kept.keys().map(|name| size(name) + 2).sum::<usize>();
    let sizes: Vec<_> = kept.values().map(|evaluation| size_up_to(evaluation, room)).collect();
    let shares = shares(&sizes, room.saturating_sub(names));
    let cut = |((name, value), room)| match value {
        Value::Object(fields) => (name, evaluation(fields, room).into()),
        other => (name, other),
    };
    kept.into_iter().zip(shares).map(cut).collect()
}

/// An evaluation; who was asked for it goes first, then the reasoning where there is a reason.
fn evaluation(mut fields: Fields, room: usize) -> Fields {
    for name in ["judge", "chainOfThought", "metadata"] {
        if size_up_to(&fields, room) > room && (name != "chainOfThought" || fields.contains_key("reason")) {
            fields.shift_remove(name);
        }
    }
    cut::object(fields, room)
}

fn runs(all: Vec<Value>, evaluator: Option<&str>, room: usize, left_out: &mut Vec<String>) -> Vec<Value> {
    let (most, number) = ((room / LEAST_RUN).max(1), all.len());
    if number > most {
        left_out.push(format!("runs: {} of {number}", number - most));
    }
    let kept: Vec<_> = all.into_iter().take(most).collect();
    let shares = shares(
        &kept.iter().map(|run| size_up_to(run, room)).collect::<Vec<_>>(),
        room.saturating_sub(kept.len() + 2),
    );
    let cut = |(run, room)| match run {
        Value::Object(run) if size_up_to(&run, room) > room => {
            parts(run, evaluator, room, &mut Vec::new()).into()
        }
        run => run,
    };
    kept.into_iter().zip(shares).map(cut).collect()
}

/// The first of the scores that changed.
fn scores(mut all: Vec<Value>, room: usize) -> Vec<Value> {
    for score in &mut all {
        if let Some(Value::String(name)) = score.get_mut("evaluator") {
            *name = cut::text(name, LONGEST_NAME);
        }
    }
    size::keep(&mut all, room, "scores", &mut Vec::new());
    all
}

/// The figures of all runs, which cannot be cut: those of some evaluators.
fn aggregated(mut all: Fields, evaluator: Option<&str>, room: usize, left_out: &mut Vec<String>) -> Fields {
    if let Some(Value::Object(figures)) = all.get_mut("evaluations") {
        let score = |figures: &Value| figures.get("mean").and_then(Value::as_f64);
        let whole = |name: &str, figures: &Value| size(name) + size(figures);
        let room = room.saturating_sub(LEAST_EVALUATION);
        *figures =
            keep(std::mem::take(figures), evaluator, room, score, whole, "aggregated.evaluations", left_out);
    }
    all
}

/// Those of the fields that have room, which stay in their order: first the evaluator that was asked for, then the lowest score,
/// and none counts as lower than any.
fn keep(
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
