//! The notes of a comparison: what makes two runs hard to compare, and a baseline that is too old.

use std::time::Duration;

use super::ItemMatching;
use super::pairs::{Pair, match_items};
use crate::report::{EvaluatorSettings, MeasuredItemRef, Measurements};
use crate::timestamp::Timestamp;
use crate::wording::{self, count, group_thousands};

/// What makes two runs hard to compare, such as different data or evaluators: the notes of [`compare`](super::compare), except
/// those on replays, on retries and on what was asked.
#[must_use]
pub fn caveats(base: &Measurements, other: &Measurements) -> Vec<String> {
    let pairs = match_items(base, other);
    notes(base, other, &ItemMatching::of(base, other, &pairs), &pairs)
}

/// Caveats for the reader of a comparison; empty if the runs were made the same way.
pub fn notes(
    base: &Measurements,
    other: &Measurements,
    items: &ItemMatching,
    pairs: &[Pair<'_>],
) -> Vec<String> {
    let mut notes = Vec::new();
    if base.experiment() != other.experiment() {
        notes.push(format!(
            "the runs are of different experiments: `{}` and `{}`",
            base.experiment(),
            other.experiment()
        ));
    }
    let is_same = base.id == other.id;
    if is_same {
        notes.push("both sides are the same run".to_owned());
    }
    for run in [base, other].into_iter().take(if is_same { 1 } else { 2 }) {
        if run.partial {
            notes.push(format!("run {} is partial: only some of its items were run", run.id));
        }
    }
    if !is_same {
        notes.extend(output_note(base, other));
    }
    notes.extend(item_notes(base, other, items));
    notes.extend(evaluator_notes(base, other));
    notes.extend(unscored_evaluators(base, other, pairs));
    notes
}

/// Whether both have the same outputs, or one of them has those of an earlier run.
fn output_note(base: &Measurements, other: &Measurements) -> Option<String> {
    let origin = |run: &Measurements| run.outputs_of.clone().unwrap_or_else(|| run.id.clone());
    if origin(base) == origin(other) {
        return Some(format!(
            "both runs score the outputs of run {}: the difference is that of the evaluators and expectations",
            origin(base)
        ));
    }
    let rescored = [base, other].into_iter().filter_map(|run| Some((&run.id, run.outputs_of.as_ref()?)));
    let notes: Vec<_> =
        rescored.map(|(id, outputs)| format!("run {id} scores the outputs of run {outputs}")).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn item_notes(base: &Measurements, other: &Measurements, items: &ItemMatching) -> Option<String> {
    if items.matched == 0 {
        return Some(
            "the runs have no items in common: items are matched by `id`, or by input if they have none"
                .to_owned(),
        );
    }
    let parts = [
        (items.changed_count(), "changed (included here, excluded from baseline thresholds)"),
        (items.added_count(), "added"),
        (items.removed_count(), "removed"),
    ];
    let parts: Vec<_> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", count(*number, "item")))
        .collect();
    if parts.is_empty() {
        return None;
    }
    let is_other_data =
        base.dataset.as_ref().zip(other.dataset.as_ref()).is_some_and(|(a, b)| a.hash != b.hash);
    let subject = if is_other_data { "the datasets differ" } else { "the items differ" };
    Some(format!("{subject}: {}", parts.join(", ")))
}

fn evaluator_notes(base: &Measurements, other: &Measurements) -> Vec<String> {
    let missing = |run: &Measurements, having: &Measurements| {
        let names: Vec<_> = having
            .evaluators
            .iter()
            .map(|one| &*one.name)
            .filter(|name| settings(run, name).is_none())
            .collect();
        (!names.is_empty()).then(|| format!("only run {} has {}", having.id, wording::join_quoted(names)))
    };
    let is_set_otherwise = |now: &&EvaluatorSettings| {
        let before = settings(base, &now.name).and_then(|before| before.hash.as_ref());
        before.zip(now.hash.as_ref()).is_some_and(|(before, now)| before != now)
    };
    let otherwise: Vec<_> = other.evaluators.iter().filter(is_set_otherwise).map(|one| &*one.name).collect();
    let otherwise = (!otherwise.is_empty()).then(|| {
        let names = wording::join_quoted(otherwise);
        format!("{names} had different settings in run {}, which may explain a difference", base.id)
    });
    [missing(base, other), missing(other, base), otherwise].into_iter().flatten().collect()
}

/// Names evaluators of both runs that cannot be compared, for example because every item of a run failed.
fn unscored_evaluators(base: &Measurements, other: &Measurements, pairs: &[Pair<'_>]) -> Option<String> {
    let has = |item: MeasuredItemRef<'_>, name: &str| item.scores(name).is_some();
    let is_in_either = |name: &str| pairs.iter().any(|pair| has(pair.base, name) || has(pair.other, name));
    let is_in_both = |name: &str| pairs.iter().any(|pair| has(pair.base, name) && has(pair.other, name));
    let common = other.evaluators.iter().map(|one| &*one.name).filter(|name| settings(base, name).is_some());
    let names: Vec<_> = common.filter(|name| is_in_either(name) && !is_in_both(name)).collect();
    let they = if names.len() == 1 { "it" } else { "they" };
    (!names.is_empty()).then(|| {
        let names = wording::join_quoted(names);
        format!("not scored in both runs: {names}; {they} cannot be compared")
    })
}

/// What of the runs was replayed.
pub fn replay_notes(base: &Measurements, other: &Measurements) -> Vec<String> {
    let runs = [base, other].into_iter().take(if base.id == other.id { 1 } else { 2 });
    runs.filter_map(replay_note).collect()
}

/// How many items needed a retry in each run; `None` if none did.
pub fn retry_note(base: &Measurements, other: &Measurements) -> Option<String> {
    let retried = |run: &Measurements| run.items.iter().filter(|item| item.retried() > 0).count();
    let (before, now) = (retried(base), retried(other));
    (before + now > 0).then(|| {
        let of = |run: &Measurements, retried| {
            format!(
                "{} of {} in run {}",
                group_thousands(retried as u64),
                count(run.items.len(), "item"),
                run.id
            )
        };
        format!("retried after a transient error: {}, {}", of(base, before), of(other, now))
    })
}

/// A note for a replayed run: what of it was not measured. `None` if nothing was replayed.
#[must_use]
pub fn replay_note(run: &Measurements) -> Option<String> {
    let Measurements { id, items, .. } = run;
    let replayed = items.iter().filter(|item| item.is_replayed()).count();
    let note = match replayed {
        all if all == items.len() && !run.replayed_in_part => {
            format!("run {id} was replayed: its latency and agent cost are those of the recording")
        }
        // Some items had live requests, too, or only requests that could not be attributed to an item were replayed.
        some if some == 0 || some == items.len() => {
            format!(
                "run {id} was replayed in part: some of its latency and agent cost is that of the recording"
            )
        }
        some => {
            let all = count(items.len(), "item");
            format!(
                "run {id} was replayed in part: the latency and agent cost of {some} of {all} are those of the recording"
            )
        }
    };
    run.replayed.then_some(note)
}

fn settings<'a>(run: &'a Measurements, name: &str) -> Option<&'a EvaluatorSettings> {
    run.evaluators.iter().find(|evaluator| evaluator.name == name)
}

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// The message for a baseline that is older than `most` at a given time, such as the start of the run compared with it.
#[must_use]
pub fn stale_baseline_warning(baseline: &Measurements, at: Timestamp, most: Duration) -> Option<String> {
    let age = at.time().duration_since(baseline.timestamp.time()).ok().filter(|age| *age > most)?;
    let hours = age.as_secs() / HOUR;
    let age = match usize::try_from(hours * HOUR / DAY).unwrap_or(usize::MAX) {
        0 => count(usize::try_from(hours).unwrap_or_default(), "hour"),
        days => count(days, "day"),
    };
    Some(format!("the baseline is {age} old; update it with `cargo cobalt baseline set`"))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use serde_json::json;

    use super::*;
    use crate::report::comparison::compare;

    fn age_of(hours: u64) -> Option<String> {
        let at = |hours| Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_secs(hours * HOUR));
        let baseline = json!({
            "measurements": 1, "id": "a", "name": "desk", "timestamp": at(0), "runs": 1, "evaluators": [], "items": [],
        });
        let baseline: Measurements = serde_json::from_value(baseline).unwrap();
        stale_baseline_warning(&baseline, at(hours), Duration::from_secs(12 * HOUR))
    }

    #[test]
    fn retried_items_of_both_runs_are_counted() {
        let run = |id: &str, retried: [usize; 3]| -> Measurements {
            let item = |(index, retried)| json!({ "key": format!("i{index}"), "content": "1", "latencyMs": 1.0, "scores": {}, "retried": retried });
            let items: Vec<_> = retried.into_iter().enumerate().map(item).collect();
            serde_json::from_value(
                json!({ "measurements": 1, "id": id, "name": "desk", "timestamp": "2026-11-21T00:00:00Z",
                "runs": 1, "evaluators": [], "items": items }),
            )
            .unwrap()
        };
        let (sound, flaky) = (run("a", [0; 3]), run("b", [2, 0, 1]));
        let expected = "retried after a transient error: 0 of 3 items in run a, 2 of 3 items in run b";
        assert_eq!(retry_note(&sound, &flaky).unwrap(), expected);
        assert_eq!(retry_note(&sound, &sound), None);
        let notes = crate::report::comparison::compare(&sound, &[&flaky]).remove(0).notes;
        assert_eq!(notes, [expected]);
    }

    #[test]
    fn replayed_runs_are_named() {
        let run = |id: &str, replayed: [bool; 4]| -> Measurements {
            let item = |(index, replayed)| json!({ "key": format!("i{index}"), "content": "1", "latencyMs": 1.0, "scores": {}, "replayed": replayed });
            let items: Vec<_> = replayed.into_iter().enumerate().map(item).collect();
            let run = json!({ "measurements": 1, "id": id, "name": "desk", "timestamp": "2026-11-21T00:00:00Z", "runs": 1,
                "evaluators": [], "items": items, "replayed": replayed.contains(&true) });
            serde_json::from_value(run).unwrap()
        };
        let (before, now) = (run("a", [false; 4]), run("b", [true; 4]));
        let notes = |one: &Measurements, other: &Measurements| compare(one, &[other]).remove(0).notes;
        let replayed = "run b was replayed: its latency and agent cost are those of the recording";
        assert_eq!(notes(&before, &now), [replayed]);
        assert_eq!(notes(&before, &before), ["both sides are the same run"]);
        assert_eq!(notes(&now, &now), ["both sides are the same run", replayed]);
        assert_eq!(
            replay_note(&run("b", [true, true, true, false])).unwrap(),
            "run b was replayed in part: the latency and agent cost of 3 of 4 items are those of the recording"
        );
        assert_eq!(replay_note(&before), None);
        assert_eq!(
            caveats(&before, &now),
            [""; 0],
            "a baseline is not stale because a later run is replayed"
        );
    }

    #[test]
    fn a_baseline_is_old_only_beyond_its_age() {
        assert_eq!(age_of(12), None);
        let said = age_of(13).unwrap();
        assert_eq!(said, "the baseline is 13 hours old; update it with `cargo cobalt baseline set`");
        assert!(age_of(49).unwrap().contains(" 2 days old"));
    }
}
