//! The items of a run as a table.

use cobalt_core::item::Output;
use cobalt_core::report::{ItemResult, Report, Status, Summary};
use cobalt_core::reporters::{
    Style, format_diverged, format_duration, format_retried, format_score, format_traffic, render_groups,
    traffic_notes,
};
use cobalt_core::wording::{count, group_thousands, pass_mark_counts, passed_count};
use serde_json::Value;

use crate::results::NamedItem;
use crate::terminal::{Align, one_line};
use crate::text_table::{Column, fits_side_by_side, render_table};

/// An item in the format of result files. Items of the original tool have no key.
pub fn to_file_json(key: &str, item: &ItemResult) -> Value {
    let mut item = serde_json::to_value(item).unwrap_or_default();
    if let Some(known) = item.get_mut("key") {
        *known = key.into();
    }
    item
}

/// The result of an item.
pub fn result(report: &Report, item: &ItemResult) -> &'static str {
    match item.status() {
        Status::Error => "error",
        Status::Timeout => "timeout",
        Status::Ok if item.is_in_error() => "scoring error",
        Status::Ok if !report.config.passes(item) => "below pass mark",
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
pub fn text(report: &Report, shown: &[NamedItem], width: Option<usize>, paint: Style) -> String {
    let mut text = heading(report, paint);
    text += &labels(report);
    text += &render_groups(report, paint);
    if shown.is_empty() {
        let nothing = if report.summary.total_items == 0 {
            "no finished items"
        } else {
            "no items below a pass mark or in error"
        };
        return format!("{text}{nothing}\n");
    }
    let items = || shown.iter().map(|named| &named.item);
    let column = |title: &str, align, cell: &dyn Fn(&ItemResult) -> String| {
        Column::new(title, align, items().map(cell))
    };
    let mut columns = vec![
        Column::names("key", shown.iter().map(|named| named.key.clone())),
        column("result", Align::Left, &|item| result(report, item).to_owned()),
    ];
    let scores = report.config.evaluators.iter();
    columns.extend(scores.map(|name| column(name, Align::Right, &|item| score(item, name))));
    if items().any(|item| item.runs.iter().any(|run| run.traffic.is_some())) {
        columns.push(column("requests", Align::Left, &requests));
    }
    if items().any(|item| item.retried_attempts() > 0) {
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
    let Summary { total_items, passed_items, low_items, .. } = report.summary;
    let in_error = report.summary.items_in_error();
    let mut parts = match report.config.strict {
        true if low_items > 0 => {
            let below = group_thousands(low_items as u64);
            vec![passed_count(passed_items, total_items), format!("{below} below pass mark")]
        }
        true => vec![passed_count(passed_items, total_items)],
        false => vec![count(total_items, "item"), pass_mark_counts(passed_items, low_items)],
    };
    if in_error > 0 {
        parts.push(paint.error(format!("{} in error", group_thousands(in_error as u64))));
    }
    let name = paint.bold(one_line(&report.name));
    let mut text = format!(
        "{name}, run {} of {} UTC: {}\n",
        one_line(&report.id),
        report.timestamp.to_minute(),
        parts.join(", ")
    );
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
