//! The model traffic of a run in words: what was replayed, what was sent, and what is therefore not a measurement of this run.

use crate::duration::format_duration;
use crate::prices::format_cost_precise;
use crate::report::{Summary, Traffic, TrafficSummary};
use crate::timestamp::Timestamp;
use crate::wording::{count, group_thousands};

/// What was replayed and what was sent, in one line: `45 items: 41 replayed (recorded 2026-11-21), 4 live, live agent cost $0.030`. The cost is
/// that of what was sent, if prices are known. `None` if no traffic passed through the gateway.
#[must_use]
pub fn format_traffic(summary: &Summary) -> Option<String> {
    let parts = traffic_parts(summary)?;
    Some(format!("{}: {}", count(summary.total_items, "item"), parts.join(", ")))
}

fn traffic_parts(summary: &Summary) -> Option<Vec<String>> {
    let traffic = summary.traffic.as_ref()?;
    let TrafficSummary {
        replayed_items,
        live_items,
        refused_items,
        replayed,
        live,
        recorded_at,
        live_cost,
        ..
    } = traffic;
    let recorded = recorded_at.map(|at| format!("recorded {}", date(at)));
    let mut parts = Vec::new();
    if *replayed_items > 0 {
        let recorded = recorded.as_ref().map_or_else(String::new, |recorded| format!(" ({recorded})"));
        parts.push(format!("{} replayed{recorded}", group_thousands(*replayed_items as u64)));
    }
    if *live_items > 0 {
        let in_part = (*replayed_items == 0 && *replayed > 0).then(|| {
            let requests = format!("{} replayed", count(*replayed, "request"));
            let facts = [Some(requests), recorded.clone()].into_iter().flatten();
            format!(" ({})", facts.collect::<Vec<_>>().join(", "))
        });
        parts.push(format!("{} live{}", group_thousands(*live_items as u64), in_part.unwrap_or_default()));
    }
    if *refused_items > 0 {
        parts.push(format!("{} refused", group_thousands(*refused_items as u64)));
    }
    let others = summary.total_items.saturating_sub(replayed_items + live_items + refused_items);
    match recorded.filter(|_| *replayed == 0) {
        Some(recorded) if parts.is_empty() => parts.push(format!("judges replayed ({recorded})")),
        _ if others > 0 => parts.push(format!("{} without model responses", group_thousands(others as u64))),
        _ => {}
    }
    if *live > 0 && *live_cost > 0.0 {
        parts.push(format!("live agent cost {}", format_cost_precise(*live_cost)));
    }
    Some(parts)
}

/// How many items diverged from the recording; `None` if none did.
#[must_use]
pub fn format_diverged(summary: &Summary) -> Option<String> {
    let diverged = summary.traffic.as_ref()?.diverged_items;
    (diverged > 0).then(|| format!("{} diverged from the recording", count(diverged, "item")))
}

/// What else is to know about the traffic of a run, one line each: requests that no token attributed, retries and waits.
#[must_use]
pub fn traffic_notes(summary: &Summary) -> Vec<String> {
    let Some(traffic) = &summary.traffic else { return Vec::new() };
    let TrafficSummary { attributed_by_content, unattributed, unattributed_replayed, .. } = traffic;
    let mut notes = Vec::new();
    if *attributed_by_content > 0 {
        notes.push(format!("{} attributed by content", count(*attributed_by_content, "request")));
    }
    if *unattributed > 0 {
        let replayed = match *unattributed_replayed {
            0 => String::new(),
            all if all == *unattributed => ", replayed".to_owned(),
            some => format!(", {} of them replayed", group_thousands(some as u64)),
        };
        let requests = count(*unattributed, "request");
        notes.push(format!("{requests} not attributed to an item{replayed}; see `cobalt::recording`"));
    }
    notes.extend(format_waits(traffic.retried, traffic.waited_ms));
    notes
}

/// `2 requests retried, 3.0 s waited, which is not part of the latency`
fn format_waits(retried: usize, waited_ms: f64) -> Option<String> {
    let retried = (retried > 0).then(|| format!("{} retried", count(retried, "request")));
    let waited = (waited_ms > 0.0)
        .then(|| format!("{} waited, which is not part of the latency", format_duration(waited_ms)));
    let parts: Vec<_> = [retried, waited].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The mark of a run's latency and agent cost if they are those of recordings: `as recorded`, or `38 of 45 as recorded`. `None` if
/// no item was replayed.
#[must_use]
pub fn replay_mark(summary: &Summary) -> Option<String> {
    let replayed = summary.traffic.as_ref()?.replayed_items;
    match summary.total_items {
        _ if replayed == 0 => None,
        total if replayed >= total => Some("as recorded".to_owned()),
        total => {
            let [replayed, total] = [replayed, total].map(|number| group_thousands(number as u64));
            Some(format!("{replayed} of {total} as recorded"))
        }
    }
}

/// The same in brackets after a space, or nothing.
pub(super) fn replay_suffix(summary: &Summary) -> String {
    replay_mark(summary).map_or_else(String::new, |mark| format!(" ({mark})"))
}

/// The traffic of a trial: `3 requests replayed (recorded 2026-11-21), 1 live, $0.0012`. `None` if there was none.
#[must_use]
pub fn format_trial_traffic(traffic: &Traffic) -> Option<String> {
    let Traffic { replayed, live, replayed_judges, recorded_at, live_cost, replayed_tools, .. } = traffic;
    let mut parts = Vec::new();
    if *replayed > 0 {
        parts.push(format!("{} replayed", count(*replayed, "request")));
    }
    if *replayed_tools > 0 {
        parts.push(format!("{} replayed", count(*replayed_tools, "tool call")));
    }
    if *replayed_judges > 0 {
        parts.push(format!("{} replayed", count(*replayed_judges, "judge answer")));
    }
    if let (Some(last), Some(at)) = (parts.last_mut(), recorded_at) {
        *last += &format!(" (recorded {})", date(*at));
    }
    match (*live, *replayed) {
        (0, _) => {}
        (live, 0) => parts.push(format!("{} live", count(live, "request"))),
        (live, _) => parts.push(format!("{} live", group_thousands(live as u64))),
    }
    if *live > 0 && *live_cost > 0.0 {
        parts.push(format!("live agent cost {}", format_cost_precise(*live_cost)));
    }
    parts.extend(format_waits(traffic.retried, traffic.waited_ms));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Whether a trial was replayed: `replayed (recorded 2026-11-21)`, or `replayed in part (…)`. `None` if no request of its agent and no
/// call of a tool was.
pub(super) fn format_replayed(traffic: &Traffic) -> Option<String> {
    let recorded = traffic.recorded_at.map_or_else(String::new, |at| format!(" (recorded {})", date(at)));
    let in_part = if traffic.live > 0 { " in part" } else { "" };
    (traffic.replayed + traffic.replayed_tools > 0).then(|| format!("replayed{in_part}{recorded}"))
}

/// The day of a time, in UTC.
fn date(at: Timestamp) -> String {
    at.to_string()[..10].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn summary(traffic: &Value) -> Summary {
        serde_json::from_value(json!({ "totalItems": 45, "traffic": traffic })).unwrap()
    }

    fn line(traffic: &Value) -> String {
        format_traffic(&summary(traffic)).unwrap()
    }

    const RECORDED: &str = "2026-11-21T09:00:00.000Z";

    #[test]
    fn a_line_says_what_was_replayed_and_what_was_sent() {
        let mixed = json!({ "replayedItems": 41, "liveItems": 4, "replayed": 120, "live": 9, "recordedAt": RECORDED, "liveCost": 0.03 });
        assert_eq!(
            line(&mixed),
            "45 items: 41 replayed (recorded 2026-11-21), 4 live, live agent cost $0.030"
        );
        let refused = json!({ "replayedItems": 40, "replayed": 45, "refusedItems": 5 });
        assert_eq!(line(&refused), "45 items: 40 replayed, 5 refused");
        let all = json!({ "replayedItems": 45, "replayed": 45, "recordedAt": RECORDED });
        assert_eq!(line(&all), "45 items: 45 replayed (recorded 2026-11-21)");
        let live = json!({ "liveItems": 40, "live": 80 });
        assert_eq!(
            line(&live),
            "45 items: 40 live, 5 without model responses",
            "an unknown cost is not $0.00"
        );
        let in_part = json!({ "liveItems": 45, "live": 9, "replayed": 1, "recordedAt": RECORDED });
        assert_eq!(line(&in_part), "45 items: 45 live (1 request replayed, recorded 2026-11-21)");
        assert_eq!(
            line(&json!({ "recordedAt": RECORDED })),
            "45 items: judges replayed (recorded 2026-11-21)"
        );
        assert_eq!(format_traffic(&Summary::default()), None);
    }

    #[test]
    fn requests_without_an_item_and_waits_are_said() {
        let notes = |traffic: &Value| traffic_notes(&summary(traffic));
        let all = json!({ "attributedByContent": 1, "unattributed": 3, "unattributedReplayed": 1, "retried": 2, "waitedMs": 3000.0 });
        assert_eq!(
            notes(&all),
            [
                "1 request attributed by content",
                "3 requests not attributed to an item, 1 of them replayed; see `cobalt::recording`",
                "2 requests retried, 3.0 s waited, which is not part of the latency",
            ]
        );
        assert_eq!(
            notes(&json!({ "unattributed": 1, "unattributedReplayed": 1 })),
            ["1 request not attributed to an item, replayed; see `cobalt::recording`"]
        );
        assert_eq!(notes(&json!({ "liveItems": 45, "live": 45 })), [""; 0]);
        assert_eq!(
            format_diverged(&summary(&json!({ "divergedItems": 1 }))).unwrap(),
            "1 item diverged from the recording"
        );
        assert_eq!(format_diverged(&summary(&json!({}))), None);
    }

    #[test]
    fn latency_and_cost_are_marked_if_items_were_replayed_as_a_whole() {
        let mark =
            |items: usize| replay_mark(&summary(&json!({ "replayedItems": items, "replayed": items })));
        assert_eq!(mark(45).unwrap(), "as recorded");
        assert_eq!(mark(38).unwrap(), "38 of 45 as recorded");
        assert_eq!(mark(0), None);
    }

    #[test]
    fn a_trial_says_what_was_replayed_and_what_was_sent() {
        let trial = |traffic: Value| format_trial_traffic(&serde_json::from_value(traffic).unwrap());
        let mixed = trial(json!({ "replayed": 3, "live": 1, "recordedAt": RECORDED, "liveCost": 0.0012 }));
        assert_eq!(
            mixed.unwrap(),
            "3 requests replayed (recorded 2026-11-21), 1 live, live agent cost $0.0012"
        );
        let judged = trial(json!({ "live": 2, "replayedJudges": 1, "recordedAt": RECORDED, "retried": 1 }));
        assert_eq!(
            judged.unwrap(),
            "1 judge answer replayed (recorded 2026-11-21), 2 requests live, 1 request retried"
        );
        assert_eq!(trial(json!({ "asked": ["a"] })), None, "a refused request has no answer");
    }
}
