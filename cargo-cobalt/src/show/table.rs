//! The items of a run as a table, a line each.

use cobalt::report::ItemResult;
use cobalt::reporters::{Paint, figure, time};
use cobalt::wording::count;
use cobalt::{Output, Report};

use super::items::{Named, result};
use crate::datasets::grid::{Column, fits, grid};
use crate::runs::ItemCounts;
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
    let ItemCounts { finished, below_pass_mark, in_error, .. } = (&report.summary).into();
    let mut parts = vec![count(finished, "item")];
    if below_pass_mark > 0 {
        parts.push(paint.odd(format!("{below_pass_mark} below pass mark")));
    }
    if in_error > 0 {
        parts.push(paint.bad(format!("{in_error} in error")));
    }
    let name = paint.strong(one_line(&report.name));
    format!("{name}, run {} of {}: {}\n", one_line(&report.id), report.timestamp, parts.join(", "))
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
