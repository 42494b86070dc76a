//! A run with some of its items, the cursor that the next page begins at, and an item of its own.

use cobalt_core::hash::sha256_hex;
use cobalt_core::report::{ItemNames, ItemResult, Report};
use cobalt_core::wording::{self, count};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::cut::{self, size};
use super::item::{self, Wanted};
use super::{head, text};
use crate::error::Error;
use crate::formats::markdown::verdict;
use crate::runs::ItemCounts;

/// How many bytes the structured part of an answer takes at the most, as [`size()`] counts them; beside it there is the text.
pub const BUDGET: usize = 48_000;
/// How many digits of the hash a cursor has.
const DIGITS: usize = 16;
/// How many items at the least have room side by side, however large they are.
const FEWEST: usize = 10;

/// A run with some of its items.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownRun {
    /// All but the items, as far as there is room.
    #[serde(skip)]
    pub head: Report,
    /// Whether it passed, and why, in a sentence.
    #[serde(skip)]
    pub verdict: String,
    /// An item in a line each.
    #[serde(skip)]
    pub lines: Vec<String>,
    /// The same as a result file has it, with the items that are shown.
    #[serde(flatten)]
    #[schemars(with = "Report")]
    pub run: Map<String, Value>,
    /// How many items of the run are at or above every pass mark in every trial, without an error.
    items_at_pass_marks: usize,
    /// How many are below a pass mark in some trial, without an error; where thresholds decide, that fails no item by itself.
    items_below_pass_mark: usize,
    /// How many are in error: the agent failed or took too long, or an evaluator gave no score.
    items_in_error: usize,
    /// How many items there are of those that were asked for.
    pub items_matching: usize,
    /// How many of them are here: the worst that were not on a page before.
    pub items_shown: usize,
    /// What to give as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How to get the items that are not here; absent where these are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// The lists of the run that had no room for all of their elements, and how many are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// Shows a run, from a cursor on, in so many bytes, of which there are to be 10,000 at least.
///
/// # Errors
///
/// Nothing of what is wanted can be there, or the cursor is not of this run and choice.
pub fn run(report: &Report, wanted: &Wanted, cursor: Option<&str>, budget: usize) -> Result<ShownRun, Error> {
    let keys = keys(report);
    let matching = wanted.of(report)?;
    let start = cursor.map(|cursor| place_of(cursor, report, wanted)).transpose()?.unwrap_or(0);
    let left = matching.get(start..).unwrap_or_default();
    let evaluator = wanted.evaluator.as_deref();
    let (head, left_out) = head::head(report, evaluator, budget / 3);
    let mut run = match serde_json::to_value(&head) {
        Ok(Value::Object(run)) => run,
        _ => Map::new(),
    };
    // For the sentences about the rest, and what tells of what was left out.
    let around = size(&run) + size(&left_out) + 2 * cut::LONGEST_SENTENCE;
    let room = budget.saturating_sub(around);
    let largest = room / left.len().clamp(1, FEWEST);
    let (mut items, mut lines, mut taken) = (Vec::new(), Vec::new(), 0);
    for place in left.iter().take(wanted.limit.unwrap_or(usize::MAX)) {
        let (key, result) = (&keys[*place], &report.items[*place]);
        let item = item::item(result, key, evaluator, largest.saturating_sub(1));
        taken += size(&item) + 1;
        if taken > room && !items.is_empty() {
            break;
        }
        items.push(Value::from(item));
        lines.push(text::line(result, key, &report.config));
    }
    let counts = ItemCounts::from(&report.summary);
    let (items_shown, next) = (items.len(), start + items.len());
    // What failed comes before what it was compared with.
    let baseline = run.shift_remove("baseline");
    run.insert("items".to_owned(), items.into());
    run.extend(baseline.map(|baseline| ("baseline".to_owned(), baseline)));
    let next_cursor = (next < matching.len()).then(|| cursor_at(next, report, wanted));
    Ok(ShownRun {
        rest: next_cursor.as_deref().map(|cursor| rest(&head, items_shown, matching.len(), cursor)),
        verdict: verdict(report),
        items_at_pass_marks: counts.passed,
        items_below_pass_mark: counts.below_pass_mark,
        items_in_error: counts.in_error,
        items_matching: matching.len(),
        head,
        lines,
        run,
        items_shown,
        next_cursor,
        left_out,
    })
}

fn rest(head: &Report, shown: usize, matching: usize, cursor: &str) -> String {
    format!(
        "{shown} of {} are here, the worst first: call `cobalt_results` with `runId` \"{}\", `cursor` \"{cursor}\" and the same \
         `status`, `evaluator` and `maxScore` for the next ones",
        count(matching, "item"),
        head.id
    )
}

/// An item of a run, all of it as far as there is room.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownItem {
    /// The run's id.
    pub run_id: String,
    /// The experiment's name.
    pub experiment: String,
    /// The item as a result file has it; texts without room are cut, and tell so.
    #[schemars(with = "ItemResult")]
    pub item: Map<String, Value>,
}

/// Shows an item of a run in so many bytes, of which there are to be 10,000 at least.
///
/// # Errors
///
/// The run has no item of this key.
pub fn item(report: &Report, key: &str, budget: usize) -> Result<ShownItem, Error> {
    let keys = keys(report);
    let (run_id, experiment) =
        (cut::text(&report.id, head::LONGEST_NAME), cut::text(&report.name, head::LONGEST_NAME));
    let Some(place) = keys.iter().position(|known| known == key) else {
        let instead = wording::closest(key, keys.iter().map(String::as_str));
        let hint = instead.map_or(String::new(), |key| format!("; did you mean `{key}`?"));
        return Err(Error::Arguments(format!(
            "run `{run_id}` has no item `{key}`{hint}; `cobalt_results` with `runId` \"{run_id}\" shows its items"
        )));
    };
    let room = budget.saturating_sub(size(&run_id) + size(&experiment) + 100);
    Ok(ShownItem { run_id, experiment, item: item::item(&report.items[place], key, None, room) })
}

/// What each item is found by: its key, made unique.
pub fn keys(report: &Report) -> Vec<String> {
    let mut names = ItemNames::new(report.partial);
    report.items.iter().for_each(|item| names.add(item));
    names.keys()
}

/// The cursor of a place among the items that are wanted of a run.
fn cursor_at(place: usize, report: &Report, wanted: &Wanted) -> String {
    format!("{place}-{}", choice(report, wanted))
}

/// The place of a cursor.
fn place_of(cursor: &str, report: &Report, wanted: &Wanted) -> Result<usize, Error> {
    let place = cursor.split_once('-').and_then(|(place, choice)| Some((place.parse().ok()?, choice)));
    match place {
        Some((place, choice)) if choice == self::choice(report, wanted) => Ok(place),
        Some(_) => Err(Error::Arguments(format!(
            "`cursor` is one of another run than `{}`, or of other `status`, `evaluator` or `maxScore`: give those of the \
             answer that it came with, or leave `cursor` out to begin with the worst item",
            report.id
        ))),
        None => Err(malformed_cursor()),
    }
}

/// What is said of a text that is no cursor.
pub fn malformed_cursor() -> Error {
    Error::Arguments(
        "invalid `cursor`: pass the `nextCursor` of a previous answer unchanged, or omit it to start from the beginning"
            .to_owned(),
    )
}

/// A hash of what a cursor is good for.
fn choice(report: &Report, wanted: &Wanted) -> String {
    // Writing plain texts and numbers cannot fail.
    let wanted = serde_json::to_string(wanted).unwrap_or_default();
    sha256_hex(&[&report.id, "\0", &wanted])[..DIGITS].to_owned()
}
