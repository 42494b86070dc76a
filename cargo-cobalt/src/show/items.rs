//! The items of a run: lookup by name, and the table.

use cobalt_core::item::Output;
use cobalt_core::report::{ItemNames, ItemResult, Report, Status};
use cobalt_core::reporters::{Paint, figure, time};
use cobalt_core::wording::{self, count};
use serde_json::Value;

use crate::datasets::grid::{Column, fits, grid};
use crate::datasets::{place, within};
use crate::error::Error;
use crate::terminal::{Align, one_line};

/// Maximum number of keys listed for an ambiguous prefix.
const MOST_NAMED: usize = 5;

/// An item and its names.
pub struct Named<'r> {
    pub key: String,
    /// Its test-case name.
    pub case: String,
    pub item: &'r ItemResult,
}

/// All items.
pub fn named(report: &Report) -> Vec<Named<'_>> {
    let mut names = ItemNames::new(report.partial);
    report.items.iter().for_each(|item| names.add(item));
    let named = names.keys().into_iter().zip(names.case_names()).zip(&report.items);
    named.map(|((key, case), item)| Named { key, case, item }).collect()
}

/// Whether an item is below a pass mark or in error.
pub fn is_low(report: &Report, item: &ItemResult) -> bool {
    item.is_in_error() || report.config.low_scores(item).next().is_some()
}

/// Finds an item by key, test-case name, index, or unique prefix of key or name.
pub fn find<'n, 'r>(report: &Report, named: &'n [Named<'r>], typed: &str) -> Result<&'n Named<'r>, Error> {
    let of = |name: fn(&Named<'_>) -> String| named.iter().map(name).collect::<Vec<_>>();
    let (keys, cases) = (of(|named| named.key.clone()), of(|named| named.case.clone()));
    if let Some(place) = place(report, typed, &keys, &cases) {
        return Ok(&named[place]);
    }
    let beginning = within(report, typed).unwrap_or(typed);
    let begins = |named: &&Named<'_>| named.key.starts_with(beginning) || named.case.starts_with(beginning);
    let begun: Vec<_> = named.iter().filter(begins).filter(|_| !beginning.is_empty()).collect();
    let (id, name) = (&report.id, &report.name);
    match &begun[..] {
        [only] => Ok(only),
        [] => {
            let known = wording::instead(typed, keys.iter().map(String::as_str));
            Err(Error::NothingMatched(one_line(&format!(
                "run {id} of `{name}` has no item `{typed}`; {known}"
            ))))
        }
        several => {
            let keys = wording::list(several.iter().take(MOST_NAMED).map(|named| &*named.key));
            let more = several.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let problem = format!("`{typed}` matches several items of run {id} of `{name}`: {keys}{more}");
            Err(Error::NothingMatched(one_line(&format!("{problem}; use a longer prefix"))))
        }
    }
}

/// An item in the format of result files. Items of the original tool have no key.
pub fn as_in_file(named: &Named<'_>) -> Value {
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
        Status::Ok if is_low(report, item) => "below pass mark",
        Status::Ok => "passed",
    }
}

/// A line on the run, then the table of items.
pub fn text(report: &Report, shown: &[&Named<'_>], width: Option<usize>, paint: Paint) -> String {
    let mut text = heading(report, paint);
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
    columns.push(column("latency", Align::Right, &|item| time(item.latency_ms())));
    columns.push(column("output", Align::Left, &output));
    if width.is_some_and(|width| !fits(&columns, width)) {
        // Drop scores before outputs.
        let last = columns.split_off(columns.len() - 2);
        columns.splice(2..2, last);
    }
    text += &grid(&columns, width, paint);
    text
}

fn heading(report: &Report, paint: Paint) -> String {
    let items = &report.items;
    let in_error = items.iter().filter(|item| item.is_in_error()).count();
    let below = items.iter().filter(|item| is_low(report, item)).count() - in_error;
    let mut parts = vec![count(items.len(), "item")];
    if below > 0 {
        parts.push(paint.odd(format!("{below} below pass mark")));
    }
    if in_error > 0 {
        parts.push(paint.bad(format!("{in_error} in error")));
    }
    let name = paint.strong(one_line(&report.name));
    format!("{name}, run {} of {}: {}\n", one_line(&report.id), report.timestamp, parts.join(", "))
}

/// The mean over the trials.
fn score(item: &ItemResult, evaluator: &str) -> String {
    let scores: Vec<_> = item.scores(evaluator).collect();
    match scores.len() {
        0 => "–".to_owned(),
        number => figure(scores.iter().sum::<f64>() / number as f64),
    }
}

/// The output of the first trial, or its error.
fn output(item: &ItemResult) -> String {
    match (&item.first().output, item.why_in_error()) {
        (Some(output), _) => Output::text(output).into_owned(),
        (None, error) => error.unwrap_or_default(),
    }
}
