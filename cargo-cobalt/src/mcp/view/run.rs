//! A run with some of its items, the cursor of the next page, and a single item.

use cobalt_core::hash::sha256_hex;
use cobalt_core::report::{ItemResult, Report};
use cobalt_core::store::{ReportFile, StoreError};
use cobalt_core::wording::{self, count};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::item::{self, ItemQuery};
use super::truncate::{self, size};
use super::{overview, text};
use crate::error::Error;
use crate::formats::markdown::verdict;
use crate::runs::ItemCounts;

/// The maximum [`size()`] of the structured content of a response, in addition to its text.
pub const MAX_STRUCTURED: usize = 48_000;
/// How many hash digits a cursor has.
const HASH_DIGITS: usize = 16;
/// The number of items that always fit on a page, however large they are.
const MIN_ITEMS: usize = 10;
/// The number of items that are read at once: those of a run in parts may all be in different parts.
const READ_AT_ONCE: usize = 25;

/// A run with some of its items.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The run without its items, truncated.
    #[serde(skip)]
    pub head: Report,
    /// Whether it passed, and why, in a sentence.
    #[serde(skip)]
    pub verdict: String,
    /// One text per item.
    #[serde(skip)]
    pub lines: Vec<String>,
    /// The run in the format of a result file, with the items of this page.
    #[serde(flatten)]
    #[schemars(with = "Report")]
    pub run: Map<String, Value>,
    /// The other finished runs of the variants that were run together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_variants: Vec<OtherVariant>,
    /// Items at or above every pass mark in every trial, without an error.
    items_at_pass_marks: usize,
    /// Items below a pass mark in some trial, without an error; if thresholds decide, this alone fails no item.
    items_below_pass_mark: usize,
    /// Items in error: the agent failed or timed out, or an evaluator returned no score.
    items_in_error: usize,
    /// Total number of matching items.
    pub items_matching: usize,
    /// Number of items on this page: the worst that were not on a previous page.
    pub items_shown: usize,
    /// The `cursor` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How to get the remaining items; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// Truncated lists, with the number of missing elements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A run of another variant.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherVariant {
    /// The variant's name.
    pub variant: String,
    /// The run ID, for `cobalt_results` and `cobalt_compare`.
    pub run_id: String,
}

/// Shows a run, from a cursor on, in at most `budget` bytes, which must be 10,000 or more.
///
/// # Errors
///
/// The query is invalid, the cursor belongs to another run or query, or the items cannot be read.
pub fn run(
    file: &ReportFile,
    wanted: &ItemQuery,
    cursor: Option<&str>,
    budget: usize,
) -> Result<RunPage, Error> {
    let report = file.report();
    let matching = wanted.select(file)?;
    let start = cursor.map(|cursor| parse_cursor(cursor, report, wanted)).transpose()?.unwrap_or(0);
    let left = matching.get(start..).unwrap_or_default();
    let evaluator = wanted.evaluator.as_deref();
    let (head, left_out) = overview::overview(report, evaluator, budget / 3);
    let mut run = match serde_json::to_value(&head) {
        Ok(Value::Object(run)) => run,
        _ => Map::new(),
    };
    // For the sentences about the rest, and the list of what was left out.
    let around = size(&run) + size(&left_out) + 2 * truncate::LONGEST_SENTENCE;
    let room = budget.saturating_sub(around);
    let largest = room / left.len().clamp(1, MIN_ITEMS);
    let fitting = PageItems { file, evaluator, room, largest };
    let (items, lines) = fitting.read(&left[..left.len().min(wanted.limit.unwrap_or(usize::MAX))])?;
    let counts = ItemCounts::from(&report.summary);
    let (items_shown, next) = (items.len(), start + items.len());
    // The items come before the comparison with the baseline.
    let baseline = run.shift_remove("baseline");
    run.insert("items".to_owned(), items.into());
    run.extend(baseline.map(|baseline| ("baseline".to_owned(), baseline)));
    let next_cursor = (next < matching.len()).then(|| cursor_at(next, report, wanted));
    Ok(RunPage {
        rest: next_cursor.as_deref().map(|cursor| rest_hint(&head, items_shown, matching.len(), cursor)),
        verdict: verdict(report),
        other_variants: Vec::new(),
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

/// The items of a page.
struct PageItems<'a> {
    file: &'a ReportFile,
    evaluator: Option<&'a str>,
    /// The size of the page, and of its largest item, in bytes.
    room: usize,
    largest: usize,
}

impl PageItems<'_> {
    /// The items at the first of these positions, as many as fit but at least one, and a text for each.
    fn read(&self, positions: &[usize]) -> Result<(Vec<Value>, Vec<String>), Error> {
        let (mut items, mut lines, mut taken) = (Vec::new(), Vec::new(), 0);
        for positions in positions.chunks(READ_AT_ONCE) {
            for (key, result) in self.file.keyed_items_at(positions)? {
                let item = item::listed_item(&result, &key, self.evaluator, self.largest.saturating_sub(1));
                taken += size(&item) + 1;
                if taken > self.room && !items.is_empty() {
                    return Ok((items, lines));
                }
                items.push(Value::from(item));
                lines.push(text::item_line(&result, &key, &self.file.report().config));
            }
        }
        Ok((items, lines))
    }
}

fn rest_hint(head: &Report, shown: usize, matching: usize, cursor: &str) -> String {
    format!(
        "{shown} of {} shown, worst first; for the next ones, call `cobalt_results` with `runId` \"{}\", `cursor` \"{cursor}\" \
         and the same `status`, `evaluator` and `maxScore`",
        count(matching, "item"),
        head.id
    )
}

/// An item of a run, in full if it fits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemPage {
    /// The run ID.
    pub run_id: String,
    /// The experiment's name.
    pub experiment: String,
    /// The item as in the result file; texts that do not fit are cut and marked, and traces that do not fit are outlined.
    #[schemars(with = "ItemResult")]
    pub item: Map<String, Value>,
}

/// Shows an item of a run in at most `budget` bytes, which must be 10,000 or more.
///
/// # Errors
///
/// The run has no item with this key, or it cannot be read.
pub fn item(file: &ReportFile, key: &str, budget: usize) -> Result<ItemPage, Error> {
    let report = file.report();
    let (run_id, experiment) = (
        truncate::text(&report.id, overview::LONGEST_NAME),
        truncate::text(&report.name, overview::LONGEST_NAME),
    );
    let positions: Vec<_> = file.positions_of(&[key])?.into_iter().flatten().collect();
    let Some((_, item)) = file.keyed_items_at(&positions)?.pop() else {
        let keys = file.outcomes().map(|item| Ok(item?.key)).collect::<Result<Vec<_>, StoreError>>()?;
        let instead = wording::closest(key, keys.iter().map(String::as_str));
        let hint = instead.map_or(String::new(), |key| format!(" (did you mean `{key}`?)"));
        return Err(Error::Arguments(format!(
            "run `{run_id}` has no item `{key}`{hint}; `cobalt_results` with `runId` \"{run_id}\" lists its items"
        )));
    };
    let room = budget.saturating_sub(size(&run_id) + size(&experiment) + 100);
    Ok(ItemPage { run_id, experiment, item: item::item(&item, key, room) })
}

/// The cursor of a position among the matching items of a run.
fn cursor_at(place: usize, report: &Report, wanted: &ItemQuery) -> String {
    format!("{place}-{}", query_hash(report, wanted))
}

/// The position of a cursor.
fn parse_cursor(cursor: &str, report: &Report, wanted: &ItemQuery) -> Result<usize, Error> {
    let place = cursor.split_once('-').and_then(|(place, choice)| Some((place.parse().ok()?, choice)));
    match place {
        Some((place, choice)) if choice == self::query_hash(report, wanted) => Ok(place),
        Some(_) => Err(Error::Arguments(format!(
            "`cursor` belongs to another run than `{}`, or to another `status`, `evaluator` or `maxScore`: pass the arguments of \
             the call that returned it, or omit `cursor` to start from the worst item",
            report.id
        ))),
        None => Err(malformed_cursor()),
    }
}

/// The error for a text that is not a cursor.
pub fn malformed_cursor() -> Error {
    Error::Arguments(
        "invalid `cursor`: pass the `nextCursor` of a previous result unchanged, or omit it to start from the beginning"
            .to_owned(),
    )
}

/// A hash of the run and query that a cursor belongs to.
fn query_hash(report: &Report, wanted: &ItemQuery) -> String {
    // Writing plain texts and numbers cannot fail.
    let wanted = serde_json::to_string(wanted).unwrap_or_default();
    sha256_hex(&[&report.id, "\0", &wanted])[..HASH_DIGITS].to_owned()
}
