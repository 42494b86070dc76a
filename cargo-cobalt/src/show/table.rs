//! The items of a run as a table, a line each.

use cobalt::report::{ItemResult, Status};
use cobalt::reporters::{Paint, figure, time};
use cobalt::wording::count;
use cobalt::{Output, Report};

use super::{Named, is_low};
use crate::datasets::grid::{Column, fits, grid};
use crate::terminal::{Align, one_line};

/// Below a line on the run, the items that are shown.
pub(super) fn text(report: &Report, shown: &[&Named<'_>], width: Option<usize>, paint: Paint) -> String {
    let mut text = heading(report, paint);
    if shown.is_empty() {
        let nothing = if report.items.is_empty() {
            "no item is finished"
        } else {
            "no item is below a pass mark or in error"
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
        // Scores are left out before outputs.
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

/// How an item ended, in a word or two.
pub(super) fn result(report: &Report, item: &ItemResult) -> &'static str {
    match item.status() {
        Status::Error => "error",
        Status::Timeout => "timeout",
        Status::Ok if item.is_in_error() => "scoring error",
        Status::Ok if is_low(report, item) => "below pass mark",
        Status::Ok => "passed",
    }
}

/// The mean over the trials, which is the score where there is one.
fn score(item: &ItemResult, evaluator: &str) -> String {
    let scores: Vec<_> = item.scores(evaluator).collect();
    match scores.len() {
        0 => "–".to_owned(),
        number => figure(scores.iter().sum::<f64>() / number as f64),
    }
}

/// The output of the first trial, or why there is none.
fn output(item: &ItemResult) -> String {
    match (&item.first().output, item.why_in_error()) {
        (Some(output), _) => Output::text(output).into_owned(),
        (None, error) => error.unwrap_or_default(),
    }
}
