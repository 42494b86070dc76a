//! How two runs of an experiment differ: the verdicts, and the items that regressed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use cobalt_core::report::ItemResult;
use cobalt_core::report::comparison::{Comparison, RegressedItem, Verdict, compare};
use cobalt_core::reporters::format_score;
use cobalt_core::store::{ReportFile, StoreError};
use cobalt_core::wording::{count, truncate};
use serde_json::json;

use super::failing_items::item_block;
use super::text::{ToolCallWriter, inline_name};
use crate::compare::markdown::{headline, run_table};
use crate::compare::view::verdict_rank;
use crate::error::Error;
use crate::markdown::sentence;
use crate::mcp::past_runs::{LoadedRun, PastRuns};

/// The maximum number of rows in a table of differences.
const MOST_ROWS: usize = 10;
/// The maximum number of regressed items per experiment.
const MOST_NAMED: usize = 10;
/// The maximum size of an item's result in one run, in bytes.
const LONGEST_SIDE: usize = 1000;
/// The longest note on a comparison, in characters.
const LONGEST_NOTE: usize = 300;

/// The section for an experiment: how its newest run differs from the base. Items are added while it is below `room` bytes.
pub fn section(
    past: &PastRuns,
    tools: &ToolCallWriter,
    [base, newest]: [&LoadedRun; 2],
    room: usize,
) -> Result<String, Error> {
    let [before, after] = [base, newest].map(|run| run.file.measurements(past.prices()));
    let Some(comparison) = compare(&before?, &[&after?]).pop() else { return Ok(String::new()) };
    let mut text = format!("\n## {}\n\n", inline_name(&newest.report().name));
    let of = |run: &LoadedRun| {
        let report = run.report();
        format!("{} of {} UTC", inline_name(&report.id), report.timestamp.to_minute())
    };
    let _ = writeln!(
        text,
        "Run B ({}) vs. run A ({}): {} in both.",
        of(newest),
        of(base),
        count(comparison.items.matched, "item")
    );
    if base.report().id == newest.report().id {
        text += "\nThe run to compare with is the newest run itself: run the experiment again first.\n";
        return Ok(text);
    }
    if comparison.items.matched == 0 {
        text += "\nThe runs have no items in common and cannot be compared.\n";
        return Ok(text);
    }
    let _ = writeln!(text, "\n**{}**", bounded_headline(&comparison));
    for note in comparison.notes.iter().take(3) {
        let _ = writeln!(text, "\n> {}", sentence(&truncate(note, LONGEST_NOTE)));
    }
    text += &differences(&comparison);
    let room = room.saturating_sub(text.len());
    Ok(text + &regressed(tools, [&base.file, &newest.file], &comparison, room)?)
}

fn bounded_headline(comparison: &Comparison) -> String {
    if comparison.evaluators.len() > MOST_ROWS {
        let of = |verdict| comparison.evaluators.iter().filter(|it| it.verdict == verdict).count();
        return format!(
            "{} evaluators are worse, {} better, {} inconclusive",
            of(Verdict::Worse),
            of(Verdict::Better),
            of(Verdict::Inconclusive)
        );
    }
    headline(comparison)
}

/// The differences, most important first.
fn differences(comparison: &Comparison) -> String {
    let mut all: Vec<_> = comparison.evaluators.iter().chain(&comparison.amounts).collect();
    all.sort_by_key(|difference| verdict_rank(difference.verdict));
    let more = all.len().saturating_sub(MOST_ROWS);
    let mut text = run_table("mean per item", all.into_iter().take(MOST_ROWS));
    if more > 0 {
        let _ = writeln!(text, "\nand {more} more, none worse than these.");
    }
    text
}

/// The items that regressed, with their results in both runs as far as they fit.
fn regressed(
    tools: &ToolCallWriter,
    files: [&ReportFile; 2],
    comparison: &Comparison,
    room: usize,
) -> Result<String, Error> {
    let named: Vec<_> = comparison.regressed.iter().take(MOST_NAMED).collect();
    if named.is_empty() {
        return Ok("\nNo items regressed.\n".to_owned());
    }
    let [base, newest] = files.map(ReportFile::report);
    let items = tools.call("cobalt_compare", json!({ "runA": base.id, "runB": newest.id }));
    let mut text = format!("\nRegressions, worst first (all of them: {items}):\n\n");
    for item in &named {
        let _ = writeln!(text, "- {}: {}", inline_name(&item.key), describe_change(item));
    }
    let keys: Vec<_> = named.iter().map(|item| &*item.key).collect();
    let [before, after] = files.map(|file| items_by_key(file, &keys));
    let (before, after) = (before?, after?);
    for key in keys {
        let (Some(before), Some(after)) = (before.get(key), after.get(key)) else { continue };
        let next = format!(
            "\n### {}\n\nbefore:\n\n{}\nnow:\n\n{}",
            inline_name(key),
            item_block(base, before, LONGEST_SIDE),
            item_block(newest, after, LONGEST_SIDE)
        );
        if text.len() + next.len() > room {
            break;
        }
        text += &next;
    }
    Ok(text)
}

fn items_by_key<'f>(
    file: &'f ReportFile,
    keys: &[&str],
) -> Result<HashMap<String, Cow<'f, ItemResult>>, StoreError> {
    let positions: Vec<_> = file.positions_of(keys)?.into_iter().flatten().collect();
    Ok(file.keyed_items_at(&positions)?.into_iter().collect())
}

/// How an item regressed.
fn describe_change(item: &RegressedItem) -> String {
    let score = |score: Option<f64>| score.map_or("no score".to_owned(), format_score);
    let fallen = item
        .scores
        .iter()
        .take(3)
        .map(|it| format!("{} {} → {}", inline_name(&it.evaluator), score(it.base), score(it.other)));
    let failed = item.failed.then(|| "in error now".to_owned());
    failed.into_iter().chain(fallen).collect::<Vec<_>>().join(", ")
}
