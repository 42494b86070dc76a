//! The items that changed most between two runs, and the regressions.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::pairs::Pair;
use super::{RegressedItem, ScoreChange};
use crate::item::{Item, Output, content_hash};
use crate::report::identity::item_keys;
use crate::report::stats::sum;
use crate::report::{Evaluations, Execution, ItemResult, MeasuredItemRef, Report, Status};

/// The tolerance for means of the same scores in a different order.
const ROUNDING: f64 = 1e-9;

/// An item in two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ItemChange {
    /// The item's identity.
    pub key: String,
    /// The item in the other run.
    pub input: Item,
    /// Whether the item's content differs from the base run.
    pub content_changed: bool,
    /// The rank of the item: its largest score change, negative if the other run is worse. A new failure counts as -1, a fixed
    /// failure as 1.
    pub change: f64,
    /// The changed scores, largest change first.
    pub scores: Vec<ScoreChange>,
    /// The result in the base run.
    pub base: ItemSide,
    /// The result in the other run.
    pub other: ItemSide,
}

impl ScoreChange {
    /// `other - base`, if both are known.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        Some(self.other? - self.base?)
    }

    /// From an evaluator's mean scores of an item in the base run and in the other run.
    #[must_use]
    pub fn new(evaluator: &str, base: Option<f64>, other: Option<f64>) -> Self {
        Self { evaluator: evaluator.to_owned(), base, other }
    }

    /// An item's [rank](ItemChange::change) and its changed scores, largest change first. `is_in_error` is whether the agent or an
    /// evaluator failed in the base run and in the other run.
    #[must_use]
    pub fn ranked_changes(scores: impl Iterator<Item = Self>, is_in_error: [bool; 2]) -> (f64, Vec<Self>) {
        let mut scores: Vec<_> = scores.filter(Self::is_change).collect();
        let size = |score: &Self| score.difference().unwrap_or(0.0).abs();
        scores.sort_by(|one, two| size(two).total_cmp(&size(one)));
        let [base, other] = is_in_error.map(|is_in_error| f64::from(u8::from(is_in_error)));
        let (failure, largest) = (base - other, scores.first().and_then(Self::difference).unwrap_or(0.0));
        (if failure.abs() >= largest.abs() { failure } else { largest }, scores)
    }

    fn is_change(&self) -> bool {
        match self.difference() {
            Some(difference) => difference.abs() > ROUNDING,
            None => self.base.is_some() || self.other.is_some(),
        }
    }
}

/// The result of an item in one run: of several trials, the one that shows the change best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ItemSide {
    /// The trial, from 0.
    pub run: usize,
    /// The status.
    pub status: Status,
    /// What the agent returned; absent if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// Why there is no output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The evaluators' results.
    pub evaluations: Evaluations,
}

/// The items that changed most from `base` to `other`, at most `most`, largest change first and regressions before equal
/// improvements. Items without a changed score or status are excluded.
///
/// Items are matched by their keys, as [`compare`](super::compare) matches them.
#[must_use]
pub fn most_changed(base: &Report, other: &Report, most: usize) -> Vec<ItemChange> {
    with_changes(base, other, |changes| {
        changes.into_iter().take(most).map(PendingChange::into_item_change).collect()
    })
}

/// The regressed and the improved items.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedItems {
    /// The first regressions, largest change first.
    pub regressed: Vec<ItemChange>,
    /// The number of regressions.
    pub regressed_count: usize,
    /// The first improvements, largest change first.
    pub improved: Vec<ItemChange>,
    /// The number of improvements.
    pub improved_count: usize,
}

/// The items that regressed and improved from `base` to `other`, at most `most` of each, in the order of [`most_changed`].
#[must_use]
pub fn changed_items(base: &Report, other: &Report, most: usize) -> ChangedItems {
    with_changes(base, other, |changes| {
        let (regressed, improved): (Vec<_>, Vec<_>) = changes.into_iter().partition(|it| it.size < 0.0);
        let shown = |changes: Vec<PendingChange<'_>>| {
            changes.into_iter().take(most).map(PendingChange::into_item_change).collect()
        };
        ChangedItems {
            regressed_count: regressed.len(),
            improved_count: improved.len(),
            regressed: shown(regressed),
            improved: shown(improved),
        }
    })
}

/// Calls `hand_on` with the changed items, largest change first.
fn with_changes<T>(base: &Report, other: &Report, hand_on: impl FnOnce(Vec<PendingChange<'_>>) -> T) -> T {
    let (base_keys, other_keys) = (item_keys(&base.items), item_keys(&other.items));
    let in_base: HashMap<&str, &ItemResult> = base_keys.iter().map(String::as_str).zip(&base.items).collect();
    let pairs = other_keys.iter().zip(&other.items);
    let pairs = pairs.filter_map(|(key, other)| Some((&**key, *in_base.get(&**key)?, other)));
    let changes =
        pairs.map(|(key, before, after)| PendingChange::of(key, before, after, &other.config.evaluators));
    let mut changes: Vec<_> = changes.filter(|change| change.size != 0.0).collect();
    // Stable: keeps the dataset order of equal changes.
    changes.sort_by(PendingChange::rank);
    hand_on(changes)
}

/// A changed item before truncation of the list.
struct PendingChange<'a> {
    key: &'a str,
    base: &'a ItemResult,
    other: &'a ItemResult,
    size: f64,
    scores: Vec<ScoreChange>,
}

impl<'a> PendingChange<'a> {
    fn of(key: &'a str, base: &'a ItemResult, other: &'a ItemResult, evaluators: &[String]) -> Self {
        let scores = evaluators
            .iter()
            .filter(|name| !is_not_applicable(base, name) && !is_not_applicable(other, name))
            .map(|name| ScoreChange::new(name, mean(base.scores(name)), mean(other.scores(name))));
        let (size, scores) = ScoreChange::ranked_changes(scores, [base.is_in_error(), other.is_in_error()]);
        Self { key, base, other, size, scores }
    }

    fn rank(one: &Self, two: &Self) -> Ordering {
        two.size.abs().total_cmp(&one.size.abs()).then(one.size.total_cmp(&two.size))
    }

    fn into_item_change(self) -> ItemChange {
        let evaluator = self.scores.first().map(|score| &*score.evaluator);
        // A regression is shown by the best trial before and the worst trial after.
        let is_worse = self.size < 0.0;
        ItemChange {
            key: self.key.to_owned(),
            input: (*self.other.input).clone(),
            content_changed: content_hash(&self.base.input) != content_hash(&self.other.input),
            change: self.size,
            base: ItemSide::of(self.base, evaluator, !is_worse),
            other: ItemSide::of(self.other, evaluator, is_worse),
            scores: self.scores,
        }
    }
}

impl ItemSide {
    /// The worst or best trial of an item by an evaluator's score. A trial in error is worst.
    fn of(item: &ItemResult, evaluator: Option<&str>, worst: bool) -> Self {
        let quality = |run: &Execution| match evaluator.and_then(|name| run.evaluations.get(name)?.score) {
            _ if run.is_in_error() => -1.0,
            Some(score) => score,
            // A trial with a score shows the change better.
            None => {
                if worst {
                    2.0
                } else {
                    -0.5
                }
            }
        };
        let sign = if worst { 1.0 } else { -1.0 };
        let by_quality = |one: &(usize, &Execution), two: &(usize, &Execution)| {
            (sign * quality(one.1)).total_cmp(&(sign * quality(two.1)))
        };
        let (run, shown) =
            item.runs.iter().enumerate().min_by(by_quality).unwrap_or_else(|| (0, item.first_trial()));
        Self {
            run,
            status: shown.status,
            output: shown.output.clone(),
            error: shown.error.clone(),
            evaluations: shown.evaluations.clone(),
        }
    }
}

/// Whether an evaluator gave an item no score because it does not apply.
fn is_not_applicable(item: &ItemResult, evaluator: &str) -> bool {
    let mut evaluations = item.runs.iter().filter_map(|run| run.evaluations.get(evaluator));
    item.scores(evaluator).next().is_none() && evaluations.any(|evaluation| evaluation.not_applicable)
}

fn mean(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let scores: Vec<_> = scores.collect();
    (!scores.is_empty()).then(|| sum(scores.iter().copied()) / scores.len() as f64)
}

/// The maximum number of regressions.
const MAX_REGRESSIONS: usize = 20;

/// The regressed items, worst first, at most [`MAX_REGRESSIONS`]. If the numbers of trials differ, so do those of failures: see
/// [`RegressedItem::failed`].
pub fn regressions(pairs: &[Pair<'_>], evaluators: &[&str]) -> Vec<RegressedItem> {
    let regressed = pairs.iter().filter_map(|pair| Some((regression_size(pair, evaluators)?, pair)));
    let mut regressed: Vec<_> = regressed.collect();
    // Stable: keeps the dataset order of equal regressions.
    regressed.sort_by(|(one, _), (two, _)| two.total_cmp(one));
    regressed.truncate(MAX_REGRESSIONS);
    regressed.into_iter().map(|(_, pair)| RegressedItem::of(pair, evaluators)).collect()
}

/// The largest drop of a score; a new failure counts like a drop by 1. `None` if the item did not regress.
fn regression_size(pair: &Pair<'_>, evaluators: &[&str]) -> Option<f64> {
    if has_newly_failed(pair) {
        return Some(1.0);
    }
    let drops = evaluators.iter().filter_map(|name| score_drop(pair, name));
    drops.max_by(f64::total_cmp)
}

/// Whether the agent or an evaluator failed in more trials than before.
fn has_newly_failed(pair: &Pair<'_>) -> bool {
    pair.other.failed().len() > pair.base.failed().len()
}

/// By how much an evaluator's mean score dropped, if it did.
fn score_drop(pair: &Pair<'_>, evaluator: &str) -> Option<f64> {
    let drop = mean_score(pair.base, evaluator)? - mean_score(pair.other, evaluator)?;
    (drop > ROUNDING).then_some(drop)
}

impl RegressedItem {
    /// Of an item that regressed.
    fn of(pair: &Pair<'_>, evaluators: &[&str]) -> Self {
        let drops = evaluators.iter().filter_map(|name| Some((score_drop(pair, name)?, *name)));
        let mut drops: Vec<_> = drops.collect();
        drops.sort_by(|(one, _), (two, _)| two.total_cmp(one));
        let change = |(_, name): (f64, &str)| {
            ScoreChange::new(name, mean_score(pair.base, name), mean_score(pair.other, name))
        };
        Self {
            key: pair.other.key().to_owned(),
            failed: has_newly_failed(pair),
            scores: drops.into_iter().map(change).collect(),
        }
    }
}

/// The mean score of an item.
fn mean_score(item: MeasuredItemRef<'_>, evaluator: &str) -> Option<f64> {
    let scores = item.scores(evaluator)?;
    Some(sum(scores.iter().copied()) / scores.len() as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::report::Measurements;
    use crate::report::comparison::compare;

    /// A run of items, each with the scores of its trials by `right`; `None` if the agent failed.
    fn report(items: &[(&str, &[Option<f64>])]) -> Report {
        let item = |(index, (key, scores)): (usize, &(&str, &[Option<f64>]))| {
            let run = |score: &Option<f64>| match score {
                Some(score) => json!({
                    "output": { "output": format!("an answer worth {score}") }, "latencyMs": 1.0, "status": "ok",
                    "evaluations": { "right": { "score": score, "reason": "as it is" } },
                }),
                None => json!({ "latencyMs": 1.0, "status": "error", "error": "broke" }),
            };
            let runs: Vec<Value> = scores.iter().map(run).collect();
            json!({ "index": index, "key": key, "input": { "id": key }, "runs": runs })
        };
        let items: Vec<_> = items.iter().enumerate().map(item).collect();
        serde_json::from_value(json!({
            "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "summary": {},
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"] }, "items": items,
        }))
        .unwrap()
    }

    fn keys_of(changes: &[ItemChange]) -> Vec<&str> {
        changes.iter().map(|change| &*change.key).collect()
    }

    #[test]
    fn the_largest_changes_come_first_and_of_equal_ones_the_bad_ones() {
        let base = report(&[
            ("up", &[Some(0.0)]),
            ("same", &[Some(0.5)]),
            ("down", &[Some(1.0)]),
            ("bit", &[Some(0.5)]),
        ]);
        let other = report(&[
            ("bit", &[Some(0.6)]),
            ("down", &[Some(0.0)]),
            ("same", &[Some(0.5)]),
            ("up", &[Some(1.0)]),
        ]);
        let changes = most_changed(&base, &other, 10);
        assert_eq!(keys_of(&changes), ["down", "up", "bit"]);
        assert_eq!((changes[0].change, changes[1].change), (-1.0, 1.0));
        assert_eq!(keys_of(&most_changed(&base, &other, 1)), ["down"]);
        let ChangedItems { regressed, regressed_count, improved, improved_count } =
            changed_items(&base, &other, 1);
        assert_eq!((keys_of(&regressed), regressed_count), (vec!["down"], 1));
        assert_eq!((keys_of(&improved), improved_count), (vec!["up"], 2));
    }

    #[test]
    fn an_item_that_came_to_fail_changed_most() {
        let base = report(&[("low", &[Some(0.9)]), ("broken", &[Some(0.1)])]);
        let other = report(&[("low", &[Some(0.1)]), ("broken", &[None])]);
        let changes = most_changed(&base, &other, 10);
        assert_eq!(keys_of(&changes), ["broken", "low"]);
        assert_eq!((changes[0].change, changes[0].other.error.as_deref()), (-1.0, Some("broke")));
        assert_eq!(changes[0].scores[0].difference(), None, "no difference without a score");
    }

    #[test]
    fn of_several_executions_those_are_shown_that_show_the_change() {
        let base = report(&[("a", &[Some(0.0), Some(1.0), Some(1.0)])]);
        let other = report(&[("a", &[Some(1.0), Some(0.5), Some(0.0)])]);
        let changes = most_changed(&base, &other, 10);
        assert_eq!((changes[0].base.run, changes[0].other.run), (1, 2));
        assert_eq!(changes[0].other.output.as_ref().unwrap().text(), "an answer worth 0");
    }

    #[test]
    fn scores_in_another_order_are_no_change() {
        let base = report(&[("a", &[Some(0.1), Some(0.2), Some(0.3)])]);
        let other = report(&[("a", &[Some(0.3), Some(0.2), Some(0.1)])]);
        assert_eq!(most_changed(&base, &other, 10), []);
    }

    #[test]
    fn items_are_matched_by_their_keys_and_another_content_is_said() {
        let base = report(&[("gone", &[Some(1.0)]), ("a", &[Some(1.0)])]);
        let mut other = report(&[("a", &[Some(0.0)]), ("new", &[Some(0.0)])]);
        assert!(!most_changed(&base, &other, 10)[0].content_changed);
        other.items[0].input =
            std::sync::Arc::new(crate::item::into_item(json!({ "id": "a", "input": "another" })).unwrap());
        let changes = most_changed(&base, &other, 10);
        assert_eq!((keys_of(&changes), changes[0].content_changed), (vec!["a"], true));
    }

    fn run(items: &[(&str, Option<f64>)]) -> Measurements {
        let item = |(key, score): &(&str, Option<f64>)| {
            let scores = score.map_or(json!({}), |score| json!({ "right": [score] }));
            let failed = if score.is_some() { json!([]) } else { json!([0]) };
            json!({ "key": key, "content": key, "latencyMs": 1.0, "scores": scores, "failed": failed })
        };
        let items: Vec<Value> = items.iter().map(item).collect();
        let run = json!({
            "measurements": 1, "id": "a", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "runs": 1,
            "evaluators": [{ "name": "right" }], "items": items,
        });
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn the_items_that_became_worse_are_named_the_worst_first() {
        let scores =
            |scores: [Option<f64>; 5]| ["up", "same", "bit", "down", "broken"].into_iter().zip(scores);
        let base = run(&scores([0.0, 0.5, 0.5, 1.0, 0.2].map(Some)).collect::<Vec<_>>());
        let other = run(&scores([Some(1.0), Some(0.5), Some(0.4), Some(0.25), None]).collect::<Vec<_>>());
        let regressed = compare(&base, &[&other]).pop().unwrap().regressed;
        let keys: Vec<_> = regressed.iter().map(|item| (&*item.key, item.failed)).collect();
        assert_eq!(keys, [("broken", true), ("down", false), ("bit", false)]);
        assert_eq!((regressed[1].scores[0].base, regressed[1].scores[0].other), (Some(1.0), Some(0.25)));
        assert!(compare(&base, &[&base]).pop().unwrap().regressed.is_empty());
    }
}
