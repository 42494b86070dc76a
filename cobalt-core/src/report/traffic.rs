//! The model traffic of an agent that passed through the gateway: what was replayed, and what was sent.

use serde::{Deserialize, Serialize};

use super::item::ItemResult;
use crate::serde_skip::is_zero;
use crate::timestamp::Timestamp;

/// The model traffic of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Traffic {
    /// Requests answered from the recording.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed: usize,
    /// Requests sent to a provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub live: usize,
    /// Judge answers from the recording.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed_judges: usize,
    /// When the oldest replayed part was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
    /// The cost of the requests sent to a provider in USD, as far as prices are known.
    #[serde(skip_serializing_if = "is_zero")]
    pub live_cost: f64,
    /// Requests that were sent again after the provider was busy or failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub retried: usize,
    /// Milliseconds in which all requests waited for a limit or for a retry. They are not part of the latency.
    #[serde(skip_serializing_if = "is_zero")]
    pub waited_ms: f64,
    /// Where the conversation diverged from the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged: Option<String>,
    /// Hashes of what was sent to models, in order: for each conversation one of its model, tools and settings, which begins with `s`,
    /// and then one of each new message. Trials with the same hashes, in any order, asked the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Calls of tools answered from the recording.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed_tools: usize,
    /// Requests that may be the trial's, but could not be attributed to it. What it called and spent is then unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub unattributed: usize,
}

/// The prefix of a hash of a model, its tools and its settings in [`Traffic::asked`], with which a conversation begins.
pub const SETTINGS_HASH_PREFIX: &str = "s";

impl Traffic {
    /// Whether any request or call of a tool was answered from the recording.
    #[must_use]
    pub fn has_replays(&self) -> bool {
        self.replayed + self.replayed_tools > 0
    }

    /// Whether a request or a call of a tool was answered from the recording, and no request was sent.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.has_replays() && self.live == 0
    }

    /// Whether all requests were refused, for example because they are not recorded.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.replayed + self.live == 0 && !self.asked.is_empty()
    }
}

/// The model traffic of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrafficSummary {
    /// Items whose requests were all answered from recordings. Their latency and agent cost are those of the recording.
    pub replayed_items: usize,
    /// Items with a request to a provider.
    pub live_items: usize,
    /// Items whose conversation diverged from the recording.
    #[serde(skip_serializing_if = "is_zero")]
    pub diverged_items: usize,
    /// Items without a model response whose requests were refused, for example because they are not recorded.
    #[serde(skip_serializing_if = "is_zero")]
    pub refused_items: usize,
    /// Requests answered from recordings.
    pub replayed: usize,
    /// Requests sent to providers.
    pub live: usize,
    /// When the oldest replayed part was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
    /// The cost of the requests sent to providers in USD, as far as prices are known.
    #[serde(skip_serializing_if = "is_zero")]
    pub live_cost: f64,
    /// Requests that were sent again after a provider was busy or failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub retried: usize,
    /// Milliseconds in which agents waited for limits and retries; not part of any latency.
    #[serde(skip_serializing_if = "is_zero")]
    pub waited_ms: f64,
    /// Requests attributed to an item only by their content.
    #[serde(skip_serializing_if = "is_zero")]
    pub attributed_by_content: usize,
    /// Requests that could not be attributed to an item. They were still recorded and replayed.
    #[serde(skip_serializing_if = "is_zero")]
    pub unattributed: usize,
    /// Those of them that were answered from recordings.
    #[serde(skip_serializing_if = "is_zero")]
    pub unattributed_replayed: usize,
    /// Calls of tools answered from recordings.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed_tools: usize,
}

impl TrafficSummary {
    /// The traffic of items; `None` if there was none.
    pub fn of<'a>(items: impl IntoIterator<Item = &'a ItemResult>) -> Option<Self> {
        let mut summary = None;
        items.into_iter().for_each(|item| Self::add_to(&mut summary, item));
        summary
    }

    /// Adds an item to the traffic of a run; `None` as long as there is none.
    pub(super) fn add_to(summary: &mut Option<Self>, item: &ItemResult) {
        if item.runs.iter().any(|run| run.traffic.is_some()) {
            summary.get_or_insert_default().add(item);
        }
    }

    fn add(&mut self, item: &ItemResult) {
        let (mut live, mut diverged, mut refused) = (0, false, false);
        for trial in item.runs.iter().filter_map(|run| run.traffic.as_deref()) {
            self.replayed += trial.replayed;
            self.replayed_tools += trial.replayed_tools;
            live += trial.live;
            diverged |= trial.diverged.is_some();
            refused |= trial.was_refused();
            self.live_cost += trial.live_cost;
            self.retried += trial.retried;
            self.waited_ms += trial.waited_ms;
            self.recorded_at = self.recorded_at.into_iter().chain(trial.recorded_at).min();
        }
        self.live += live;
        self.replayed_items += usize::from(item.is_replayed());
        self.refused_items += usize::from(refused && live == 0 && !item.is_replayed());
        self.live_items += usize::from(live > 0);
        self.diverged_items += usize::from(diverged);
    }

    /// Whether any request or call of a tool was answered from a recording.
    #[must_use]
    pub fn has_replays(&self) -> bool {
        self.replayed + self.unattributed_replayed + self.replayed_tools > 0
    }
}

impl ItemResult {
    /// Whether model responses or tool results came from the recording, and no request was sent.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        let traffic = self.runs.iter().filter_map(|run| run.traffic.as_deref());
        let mut answered = traffic.filter(|traffic| traffic.has_replays() || traffic.live > 0).peekable();
        answered.peek().is_some() && answered.all(Traffic::is_replayed)
    }

    /// Whether its latency is not that of an agent and its models: some trial was replayed, or refused because it was not recorded.
    #[must_use]
    pub fn has_replayed_latency(&self) -> bool {
        let mut traffic = self.runs.iter().filter_map(|run| run.traffic.as_deref());
        traffic.any(|traffic| traffic.has_replays() || traffic.was_refused())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::item::Item;
    use crate::report::Execution;

    fn item(trials: &[Option<Traffic>]) -> ItemResult {
        let run = |traffic: &Option<Traffic>| Execution {
            traffic: traffic.clone().map(Box::new),
            ..Execution::default()
        };
        let runs = trials.iter().map(run).collect();
        ItemResult { index: 0, key: String::new(), input: Arc::new(Item::new()), passed: true, runs }
    }

    #[test]
    fn replayed_calls_of_tools_are_replays_even_without_requests() {
        let replayed = item(&[Some(Traffic { replayed_tools: 2, ..Traffic::default() })]);
        assert!(replayed.is_replayed() && replayed.has_replayed_latency());
        let summary = TrafficSummary::of([&replayed]).unwrap();
        assert_eq!((summary.replayed_items, summary.replayed, summary.replayed_tools), (1, 0, 2));
        assert!(summary.has_replays());
    }

    #[test]
    fn items_are_counted_by_what_all_of_their_trials_did() {
        let traffic =
            |replayed, live| Some(Traffic { replayed, live, live_cost: live as f64, ..Traffic::default() });
        let items = [
            item(&[None]),
            item(&[traffic(2, 0), traffic(3, 0)]),
            item(&[traffic(2, 0), traffic(1, 1)]),
            item(&[traffic(0, 4)]),
        ];
        let summary = TrafficSummary::of(&items).unwrap();
        assert_eq!((summary.replayed_items, summary.live_items), (1, 2));
        assert_eq!((summary.replayed, summary.live, summary.live_cost), (8, 5, 5.0));
        assert!(items[2].has_replayed_latency() && !items[3].has_replayed_latency());
        let refused = Some(Traffic { asked: vec!["s1".to_owned()], ..Traffic::default() });
        let [refused, in_part] =
            [vec![refused.clone()], vec![traffic(2, 0), refused]].map(|trials| item(&trials));
        assert!(refused.has_replayed_latency(), "a request that was refused took no time");
        assert!(!refused.is_replayed() && in_part.is_replayed());
        let summary = TrafficSummary::of([&refused, &in_part]).unwrap();
        assert_eq!((summary.refused_items, summary.replayed_items), (1, 1));
        assert_eq!(TrafficSummary::of(&items[..1]), None);
    }
}
