//! The items of a run: lookup by name, and the table.

use cobalt_core::item::Output;
use cobalt_core::report::{ItemNames, ItemResult, Report, Status};
use cobalt_core::reporters::{
    Style, format_diverged, format_duration, format_retried, format_score, format_traffic, render_groups,
    traffic_notes,
};
use cobalt_core::wording::{self, count};
use serde_json::Value;

use crate::datasets::text_table::{Column, fits_side_by_side, render_table};
use crate::datasets::{find_item, strip_experiment};
use crate::error::Error;
use crate::terminal::{Align, one_line};

/// Maximum number of keys listed for an ambiguous prefix.
const MOST_NAMED: usize = 5;

/// An item and its names.
pub struct NamedItem<'r> {
    pub key: String,
    /// Its test-case name.
    pub case: String,
    pub item: &'r ItemResult,
}

/// All items.
pub fn named_items(report: &Report) -> Vec<NamedItem<'_>> {
    let mut names = ItemNames::new(report.partial);
    report.items.iter().for_each(|item| names.add(item));
    let named = names.keys().into_iter().zip(names.case_names()).zip(&report.items);
    named.map(|((key, case), item)| NamedItem { key, case, item }).collect()
}

/// Whether an item is below a pass mark or in error.
pub fn is_below_pass_mark_or_error(report: &Report, item: &ItemResult) -> bool {
    item.is_in_error() || report.config.scores_below_pass_mark(item).next().is_some()
}

/// Finds an item by key, test-case name, index, or unique prefix of key or name.
pub fn find<'n, 'r>(
    report: &Report,
    named: &'n [NamedItem<'r>],
    typed: &str,
) -> Result<&'n NamedItem<'r>, Error> {
    let of = |name: fn(&NamedItem<'_>) -> String| named.iter().map(name).collect::<Vec<_>>();
    let (keys, cases) = (of(|named| named.key.clone()), of(|named| named.case.clone()));
    if let Some(place) = find_item(report, typed, &keys, &cases) {
        return Ok(&named[place]);
    }
    let beginning = strip_experiment(report, typed).unwrap_or(typed);
    let begins =
        |named: &&NamedItem<'_>| named.key.starts_with(beginning) || named.case.starts_with(beginning);
    let begun: Vec<_> = named.iter().filter(begins).filter(|_| !beginning.is_empty()).collect();
    let (id, name) = (&report.id, &report.name);
    match &begun[..] {
        [only] => Ok(only),
        [] => {
            let known = wording::suggest_or_list(typed, keys.iter().map(String::as_str));
            Err(Error::NothingMatched(one_line(&format!(
                "run {id} of `{name}` has no item `{typed}`; {known}"
            ))))
        }
        several => {
            let keys = wording::join_quoted(several.iter().take(MOST_NAMED).map(|named| &*named.key));
            let more = several.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let problem = format!("`{typed}` matches several items of run {id} of `{name}`: {keys}{more}");
            Err(Error::NothingMatched(one_line(&format!("{problem}; use a longer prefix"))))
        }
    }
}

/// An item in the format of result files. Items of the original tool have no key.
pub fn to_file_json(named: &NamedItem<'_>) -> Value {
    let mut item = serde_json::to_value(named.item).unwrap_or_default();
    if let Some(key) = item.get_mut("key") {
        *key = named.key.clone().into();
    }
    item
}

/// The result of an item.
pub fn result(report: &Report, item: &ItemResult) -> &'static str {
    match item.status() {
        Status::Error => "error",
        Status::Timeout => "timeout",
        Status::Ok if item.is_in_error() => "scoring error",
        Status::Ok if is_below_pass_mark_or_error(report, item) => "below pass mark",
        Status::Ok => "passed",
    }
}

/// The name and the note that a user gave to the run.
fn labels(report: &Report) -> String {
    let name = report.run_name.iter().map(|name| format!("name: {}\n", one_line(name)));
    let note = report.note.iter().flat_map(|note| note.lines()).enumerate();
    let note = note.map(|(index, line)| {
        let label = if index == 0 { "note: " } else { "      " };
        format!("{label}{}\n", one_line(line))
    });
    name.chain(note).collect()
}

/// A line on the run, then the table of items.
pub fn text(report: &Report, shown: &[&NamedItem<'_>], width: Option<usize>, paint: Style) -> String {
    let mut text = heading(report, paint);
    text += &labels(report);
    text += &render_groups(report, paint);
    if shown.is_empty() {
        let nothing = if report.items.is_empty() {
            "no finished items"
        } else {
            "no items below a pass mark or in error"
        };
        return format!("{text}{nothing}\n");
    }
    let column = |title: &str, align, cell: &dyn Fn(&ItemResult) -> String| {
        Column::new(title, align, shown.iter().map(|named| cell(named.item)))
    };
    let mut columns = vec![
        Column::new("key", Align::Left, shown.iter().map(|named| named.key.clone())),
        column("result", Align::Left, &|item| result(report, item).to_owned()),
    ];
    let scores = report.config.evaluators.iter();
    columns.extend(scores.map(|name| column(name, Align::Right, &|item| score(item, name))));
    if report.items.iter().any(|item| item.runs.iter().any(|run| run.traffic.is_some())) {
        columns.push(column("requests", Align::Left, &requests));
    }
    if report.items.iter().any(|item| item.retried_attempts() > 0) {
        columns.push(column("retried", Align::Right, &retried));
    }
    columns.push(column("latency", Align::Right, &|item| format_duration(item.latency_ms())));
    columns.push(column("output", Align::Left, &output));
    if width.is_some_and(|width| !fits_side_by_side(&columns, width)) {
        // Drop scores before outputs.
        let last = columns.split_off(columns.len() - 2);
        columns.splice(2..2, last);
    }
    text += &render_table(&columns, width, paint);
    text
}

fn heading(report: &Report, paint: Style) -> String {
    let items = &report.items;
    let in_error = items.iter().filter(|item| item.is_in_error()).count();
    let below = items.iter().filter(|item| is_below_pass_mark_or_error(report, item)).count() - in_error;
    let mut parts = vec![count(items.len(), "item")];
    if below > 0 {
        parts.push(paint.warning(format!("{below} below pass mark")));
    }
    if in_error > 0 {
        parts.push(paint.error(format!("{in_error} in error")));
    }
    let name = paint.bold(one_line(&report.name));
    let mut text =
        format!("{name}, run {} of {}: {}\n", one_line(&report.id), report.timestamp, parts.join(", "));
    if let Some(retried) = format_retried(&report.summary, paint) {
        text += &format!("retried: {retried}\n");
    }
    let traffic = format_traffic(&report.summary).into_iter();
    for line in traffic.chain(format_diverged(&report.summary)).chain(traffic_notes(&report.summary)) {
        text += &format!("traffic: {line}\n");
    }
    text
}

/// The model requests of all trials: `2 replayed, 1 live, diverged`.
fn requests(item: &ItemResult) -> String {
    let trials = || item.runs.iter().filter_map(|run| run.traffic.as_deref());
    let counts = [
        (trials().map(|traffic| traffic.replayed).sum::<usize>(), "replayed"),
        (trials().map(|traffic| traffic.live).sum(), "live"),
    ];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let mut parts: Vec<_> = counts.map(|(number, what)| format!("{number} {what}")).collect();
    if trials().any(|traffic| traffic.diverged.is_some()) {
        parts.push("diverged".to_owned());
    }
    parts.join(", ")
}

/// How many attempts of all trials were retried; empty if none.
fn retried(item: &ItemResult) -> String {
    match item.retried_attempts() {
        0 => String::new(),
        attempts => attempts.to_string(),
    }
}

/// The mean over the trials.
fn score(item: &ItemResult, evaluator: &str) -> String {
    let scores: Vec<_> = item.scores(evaluator).collect();
    match scores.len() {
        0 if item
            .runs
            .iter()
            .filter_map(|run| run.evaluations.get(evaluator))
            .any(|it| it.not_applicable) =>
        {
            "n/a".to_owned()
        }
        0 => "–".to_owned(),
        number => format_score(scores.iter().sum::<f64>() / number as f64),
    }
}

/// The output of the first trial, or its error.
fn output(item: &ItemResult) -> String {
    match (&item.first_trial().output, item.first_error()) {
        (Some(output), _) => Output::text(output).into_owned(),
        (None, error) => error.unwrap_or_default(),
    }
}
