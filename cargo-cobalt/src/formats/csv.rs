//! Runs as CSV: a row for each run of each item, as RFC 4180 has it.
//!
//! No cell is a formula: a text that a spreadsheet would take for one has a `'` before it.

use std::borrow::Cow;

use ::csv::{Terminator, Writer, WriterBuilder};
use cobalt::Report;
use cobalt::llm::prices::PriceTable;
use cobalt::report::{Execution, ItemResult, Status};
use cobalt::reporters::expected_field;
use serde_json::Value;

use crate::results::Results;

/// The columns before those of the evaluators.
const COLUMNS: [&str; 17] = [
    "run_id",
    "experiment",
    "index",
    "key",
    "case",
    "run",
    "status",
    "passed",
    "latency_ms",
    "tokens",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "error",
    "input",
    "expected",
    "output",
];

/// With what a spreadsheet takes a text for a formula, or for the end of the cell before it; in wide letters too.
const DANGEROUS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A row for each run of each item, below a header; `docs/formats.md` says what the columns hold. Costs are worked out by
/// `prices`.
pub(crate) fn csv(results: &Results, prices: &PriceTable) -> String {
    let evaluators = evaluators(results);
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    let of_evaluator = |name: &&str| ["score", "reason", "error"].map(|what| format!("{name}.{what}"));
    let header = COLUMNS.iter().map(ToString::to_string).chain(evaluators.iter().flat_map(of_evaluator));
    write(&mut writer, header.map(|cell| guarded(&cell).into_owned()));
    for finished in &results.experiments {
        let report = &finished.report;
        for (item, case) in report.items.iter().zip(report.case_names()) {
            for (index, run) in item.runs.iter().enumerate() {
                let row = item_cells(report, item, &case).into_iter().chain([(index + 1).to_string()]);
                let row = row.chain(run_cells(item, run, prices));
                write(&mut writer, row.chain(evaluators.iter().flat_map(|name| evaluation_cells(run, name))));
            }
        }
    }
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("it is made of texts alone")
}

fn write(writer: &mut Writer<Vec<u8>>, row: impl Iterator<Item = String>) {
    writer.write_record(row.collect::<Vec<_>>()).expect("all rows have as many cells, and memory takes them");
}

/// The names of all evaluators, each once.
fn evaluators(results: &Results) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in results.experiments.iter().flat_map(|finished| &finished.report.config.evaluators) {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    names
}

fn item_cells(report: &Report, item: &ItemResult, case: &str) -> [String; 5] {
    let text = |text: &str| guarded(text).into_owned();
    [text(&report.id), text(&report.name), item.index.to_string(), text(&item.key), text(case)]
}

/// The cells from the status to the output.
fn run_cells(item: &ItemResult, run: &Execution, prices: &PriceTable) -> [String; 11] {
    let tokens = run.token_count();
    let split = tokens.and_then(|tokens| tokens.split);
    let whole = || Value::Object((*item.input).clone()).to_string();
    [
        status(run.status).to_owned(),
        item.passed.to_string(),
        run.latency_ms.to_string(),
        number(tokens.map(|tokens| tokens.total)),
        number(split.map(|(input, _)| input)),
        number(split.map(|(_, output)| output)),
        number(run.cost(prices)),
        guarded(run.error.as_deref().unwrap_or_default()).into_owned(),
        item.input.get("input").map_or_else(whole, value),
        expected_field(&item.input).map(|field| value(&item.input[field])).unwrap_or_default(),
        run.output.as_ref().map(|output| value(output.value())).unwrap_or_default(),
    ]
}

fn evaluation_cells(run: &Execution, evaluator: &str) -> [String; 3] {
    let Some(evaluation) = run.evaluations.get(evaluator) else { return <[String; 3]>::default() };
    let text = |text: &Option<String>| guarded(text.as_deref().unwrap_or_default()).into_owned();
    [number(evaluation.score), text(&evaluation.reason), text(&evaluation.error)]
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Timeout => "timeout",
        Status::Error => "error",
    }
}

fn number(number: Option<impl ToString>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// A text as it is, all else as JSON.
fn value(value: &Value) -> String {
    match value {
        Value::String(text) => guarded(text).into_owned(),
        // No other JSON but a negative number begins with what could be a formula, and that is none.
        other => other.to_string(),
    }
}

/// A text with a `'` before it where a spreadsheet would take it for a formula. It can be taken away again: what is a formula
/// behind any number of `'` has one more.
fn guarded(text: &str) -> Cow<'_, str> {
    match text.trim_start_matches('\'').starts_with(DANGEROUS) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests;
