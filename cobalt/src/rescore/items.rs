//! Matches the items of a stored run with those of the current dataset.

use std::collections::HashMap;
use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::redact::redacted_item;
use cobalt_core::report::{DatasetSummary, Report};
use cobalt_core::wording::count;

use crate::dataset::Dataset;
use crate::experiment::user_fields;

/// The items that evaluators see.
pub struct MatchedItems {
    /// The items by their indexes in the stored run. Those that are not part of a partial run are empty.
    pub dataset: Dataset,
    pub keys: Vec<String>,
    pub summary: DatasetSummary,
    /// Stored items that are not in the dataset any more.
    gone: usize,
    /// Stored items whose input has changed.
    changed: usize,
    /// Items that have changed except for their input.
    updated: usize,
    /// Items that are only in the dataset now.
    new: usize,
    input: AgentInput,
}

/// The part of an item that decides what the agent is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentInput {
    /// The field `input`.
    Field,
    /// What the user of a conversation says, wants and is.
    User,
}

impl MatchedItems {
    pub fn new(report: &Report, current: &Dataset, input: AgentInput) -> Self {
        let stored_keys = stored_keys(report);
        let current_keys = current.keys();
        let places: HashMap<&str, usize> =
            (0..).zip(&current_keys).map(|(place, key)| (&**key, place)).collect();
        let last = report.items.iter().map(|item| item.index + 1).max().unwrap_or_default();
        let size = report.dataset.as_ref().map_or(last, |dataset| dataset.items.max(last));
        let (mut items, mut keys) = (vec![Arc::default(); size], vec![String::new(); size]);
        let (mut gone, mut changed, mut updated, mut matched) = (0, 0, 0, 0);
        let mut is_same_dataset = size == current.len();
        for (item, key) in report.items.iter().zip(stored_keys) {
            let place = places.get(&*key).copied();
            let now = place.map(|place| current.shared(place));
            matched += usize::from(place.is_some());
            let shown = match now {
                Some(now) => {
                    let redacted = redacted_item(&now);
                    let is_equal = *redacted == *item.input;
                    let is_match = is_equal || input.is_same(&redacted, &item.input);
                    updated += usize::from(is_match && !is_equal);
                    changed += usize::from(!is_match);
                    is_match.then_some(now)
                }
                None => {
                    gone += 1;
                    None
                }
            };
            is_same_dataset &= shown.is_some() && place == Some(item.index);
            items[item.index] = shown.unwrap_or_else(|| Arc::clone(&item.input));
            keys[item.index] = key;
        }
        let new = if report.partial { 0 } else { current_keys.len() - matched };
        if is_same_dataset {
            let (dataset, summary) = (current.clone(), current.summary());
            return Self { dataset, keys: current_keys, summary, gone, changed, updated, new, input };
        }
        let dataset = Dataset::from_shared(current.source(), items);
        let summary = report.dataset.clone().unwrap_or_else(|| dataset.summary());
        Self { dataset, keys, summary, gone, changed, updated, new, input }
    }

    /// How the items differ from those of the dataset and of the stored run.
    pub fn notes(&self) -> Vec<String> {
        let (same, other) = match self.input {
            AgentInput::Field => ("`input`", "`input`"),
            AgentInput::User => ("its script or simulated user", "script or simulated user"),
        };
        let note = |number: usize, one: String, several: String| {
            let are = if number == 1 { one } else { several };
            (number > 0).then(|| format!("{} {are}", count(number, "item")))
        };
        let notes = [
            note(
                self.updated,
                format!("has changed except for {same}: evaluators saw it as it is in the dataset now"),
                format!("have changed except for {same}: evaluators saw them as they are in the dataset now"),
            ),
            note(
                self.changed,
                format!("has a different {other} in the dataset now: evaluators saw it as stored"),
                format!("have a different {other} in the dataset now: evaluators saw them as stored"),
            ),
            note(
                self.gone,
                "is not in the dataset any more: evaluators saw it as stored".to_owned(),
                "are not in the dataset any more: evaluators saw them as stored".to_owned(),
            ),
            note(
                self.new,
                "is only in the dataset now: it has no output, so it is not part of this run".to_owned(),
                "are only in the dataset now: they have no output, so they are not part of this run"
                    .to_owned(),
            ),
        ];
        notes.into_iter().flatten().collect()
    }
}

impl AgentInput {
    /// Whether both items ask the agent the same. Without a field `input`, only equal items of no conversation do.
    fn is_same(self, one: &Item, other: &Item) -> bool {
        match self {
            Self::Field => one.get("input").is_some() && one.get("input") == other.get("input"),
            Self::User => user_fields(one) == user_fields(other),
        }
    }
}

/// The keys of the stored items. Files of the original tool have none.
fn stored_keys(report: &Report) -> Vec<String> {
    if report.items.iter().any(|item| item.key.is_empty()) {
        let items = report.items.iter().map(|item| Arc::clone(&item.input)).collect();
        return Dataset::from_shared("", items).keys();
    }
    report.items.iter().map(|item| item.key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use cobalt_core::item::into_item;
    use serde_json::{Value, json};

    use super::*;

    fn is_same_user(one: Value, other: Value) -> bool {
        let item = |value| into_item(value).unwrap();
        AgentInput::User.is_same(&item(one), &item(other))
    }

    #[test]
    fn a_script_is_the_same_whatever_it_expects() {
        let stored =
            json!({ "turns": ["To York", { "say": "Friday", "when": "which day", "expect": "York" }] });
        let corrected = json!({
            "turns": [{ "say": "To York", "expect": "day" }, { "say": "Friday", "when": "which day" }],
            "booking": "York",
        });
        assert!(is_same_user(stored.clone(), corrected));
        for turns in [
            json!(["To York", "Friday"]),
            json!(["To York", { "say": "Monday", "when": "which day" }]),
            json!(["To York"]),
        ] {
            assert!(!is_same_user(stored.clone(), json!({ "turns": turns })), "{turns}");
        }
    }

    #[test]
    fn a_simulated_user_is_the_same_with_the_same_goal_and_ways() {
        let stored =
            json!({ "goal": "York", "persona": "In a hurry.", "booking": "Leeds", "withhold": null });
        assert!(is_same_user(
            stored.clone(),
            json!({ "goal": "York", "persona": "In a hurry.", "booking": "York" })
        ));
        for (field, value) in [
            ("goal", json!("Hull")),
            ("persona", json!("Calm.")),
            ("firstMessage", json!("Hello")),
            ("maxTurns", json!(3)),
            ("withhold", json!(["TR-12"])),
        ] {
            let mut other = stored.clone();
            other[field] = value;
            assert!(!is_same_user(stored.clone(), other), "{field}");
        }
    }

    #[test]
    fn other_items_are_the_same_with_the_same_input() {
        let item = |value| into_item(value).unwrap();
        let is_same = |one, other| AgentInput::Field.is_same(&item(one), &item(other));
        assert!(is_same(json!({ "input": "x", "answer": "y" }), json!({ "input": "x" })));
        assert!(!is_same(json!({ "input": "x" }), json!({ "input": "y" })));
        assert!(!is_same(json!({ "question": "x", "answer": "y" }), json!({ "question": "x" })));
    }
}
