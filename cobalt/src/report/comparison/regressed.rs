//! The items that became worse from one run to another, by their numbers alone, as a baseline has no more.

use serde::{Deserialize, Serialize};

use super::ScoreChange;
use super::matching::Pair;
use crate::report::MeasuredItem;
use crate::report::stats::sum;

/// The most items that are named.
const MOST: usize = 20;

/// An item that became worse. Whether that is more than noise, the evaluators' differences tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegressedItem {
    /// The item's identity.
    pub key: String,
    /// Whether the agent or an evaluator failed in more of its runs than before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The evaluators whose mean score fell, with these means, the largest drop first.
    pub scores: Vec<ScoreChange>,
}

impl RegressedItem {
    fn of(pair: &Pair<'_>, evaluators: &[&str]) -> Option<Self> {
        let scores = evaluators.iter().map(|name| ScoreChange {
            evaluator: (*name).to_owned(),
            base: mean(pair.base, name),
            other: mean(pair.other, name),
        });
        let mut scores: Vec<_> =
            scores.filter(|score| score.is_change() && score.difference().is_some_and(|d| d < 0.0)).collect();
        scores.sort_by(|one, two| drop_of(two).total_cmp(&drop_of(one)));
        let failed = pair.other.failed.len() > pair.base.failed.len();
        (failed || !scores.is_empty()).then(|| Self { key: pair.other.key.clone(), failed, scores })
    }

    /// How much worse it is; one that came to fail is as bad as one that lost all.
    fn size(&self) -> f64 {
        if self.failed { 1.0 } else { self.scores.first().map_or(0.0, drop_of) }
    }
}

/// The items that became worse, the worst first and no more than are named. Where numbers of runs differ, so do those of
/// failures: see [`RegressedItem::failed`].
pub(super) fn regressed(pairs: &[Pair<'_>], evaluators: &[&str]) -> Vec<RegressedItem> {
    let mut items: Vec<_> = pairs.iter().filter_map(|pair| RegressedItem::of(pair, evaluators)).collect();
    // Stable: the data set's order remains among equals.
    items.sort_by(|one, two| two.size().total_cmp(&one.size()));
    items.truncate(MOST);
    items
}

fn drop_of(score: &ScoreChange) -> f64 {
    -score.difference().unwrap_or(0.0)
}

fn mean(item: &MeasuredItem, evaluator: &str) -> Option<f64> {
    let scores = item.scores.get(evaluator).filter(|scores| !scores.is_empty())?;
    Some(sum(scores.iter().copied()) / scores.len() as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::compare;
    use crate::report::Measurements;

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
