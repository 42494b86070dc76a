//! What makes two runs hard to compare, in sentences.

use super::Matching;
use super::matching::{Pair, pairs};
use crate::report::{EvaluatorSettings, MeasuredItem, Measurements};
use crate::suggest;
use crate::wording::count;

/// What makes two runs hard to compare: other data, other evaluators. It is what [`compare`](super::compare) notes, without
/// its figures.
#[must_use]
pub fn caveats(base: &Measurements, other: &Measurements) -> Vec<String> {
    let pairs = pairs(base, other);
    notes(base, other, &Matching::of(base, other, &pairs), &pairs)
}

/// What a reader of the comparison should know of the runs; nothing where they were made alike.
pub(super) fn notes(
    base: &Measurements,
    other: &Measurements,
    items: &Matching,
    pairs: &[Pair<'_>],
) -> Vec<String> {
    let mut notes = Vec::new();
    if base.name != other.name {
        notes.push(format!("the runs are of two experiments, `{}` and `{}`", base.name, other.name));
    }
    if base.id == other.id {
        notes.push("both are the same run".to_owned());
    }
    for (run, which) in [(base, "base"), (other, "other run")] {
        if run.partial {
            notes.push(format!("the {which} is partial: only some of its items were run"));
        }
    }
    notes.extend(of_items(base, other, items));
    notes.extend(of_evaluators(base, other));
    notes.extend(not_scored(base, other, pairs));
    notes
}

fn of_items(base: &Measurements, other: &Measurements, items: &Matching) -> Option<String> {
    if items.matched == 0 {
        return Some(
            "the runs have no item in common: items are matched by their `id`, or else by their input"
                .to_owned(),
        );
    }
    let parts = [
        (items.changed.len(), "changed (counted in here, left out by gates)"),
        (items.added.len(), "added"),
        (items.removed.len(), "removed"),
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
    let subject = if is_other_data { "the data sets differ" } else { "the items differ" };
    Some(format!("{subject}: {}", parts.join(", ")))
}

fn of_evaluators(base: &Measurements, other: &Measurements) -> Vec<String> {
    let missing = |run: &Measurements, there: &Measurements, which: &str| {
        let names: Vec<_> = there
            .evaluators
            .iter()
            .map(|one| &*one.name)
            .filter(|name| settings(run, name).is_none())
            .collect();
        (!names.is_empty()).then(|| format!("only the {which} has {}", suggest::list(names)))
    };
    let is_set_otherwise = |now: &&EvaluatorSettings| {
        let before = settings(base, &now.name).and_then(|before| before.hash.as_ref());
        before.zip(now.hash.as_ref()).is_some_and(|(before, now)| before != now)
    };
    let otherwise: Vec<_> = other.evaluators.iter().filter(is_set_otherwise).map(|one| &*one.name).collect();
    let otherwise = (!otherwise.is_empty()).then(|| {
        format!("{} had other settings in the base, which may explain a difference", suggest::list(otherwise))
    });
    [missing(base, other, "other run"), missing(other, base, "base"), otherwise]
        .into_iter()
        .flatten()
        .collect()
}

/// An evaluator that both runs have would else be missing without a word, as where every item of a run failed.
fn not_scored(base: &Measurements, other: &Measurements, pairs: &[Pair<'_>]) -> Option<String> {
    let has = |item: &MeasuredItem, name: &str| item.scores.contains_key(name);
    let is_in_either = |name: &str| pairs.iter().any(|pair| has(pair.base, name) || has(pair.other, name));
    let is_in_both = |name: &str| pairs.iter().any(|pair| has(pair.base, name) && has(pair.other, name));
    let common = other.evaluators.iter().map(|one| &*one.name).filter(|name| settings(base, name).is_some());
    let names: Vec<_> = common.filter(|name| is_in_either(name) && !is_in_both(name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "no item has a score of {} in both runs, which leaves nothing to compare",
            suggest::list(names)
        )
    })
}

fn settings<'a>(run: &'a Measurements, name: &str) -> Option<&'a EvaluatorSettings> {
    run.evaluators.iter().find(|evaluator| evaluator.name == name)
}
