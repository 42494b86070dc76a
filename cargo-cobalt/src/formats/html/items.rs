//! The items of an experiment: as data, which the script shows, and those that failed in words, for readers without it.

use cobalt::report::{Evaluations, Execution, ItemResult, Report, Status};
use cobalt::reporters::{expected_field, explain};
use cobalt::wording::count;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use serde_json::Value;

use super::parts::name;
use crate::results::Finished;

/// So many items that did not pass are shown without the script.
const WITHOUT_SCRIPT: usize = 50;

/// The items, or why they are not known.
pub(super) fn section(index: usize, finished: &Finished) -> Markup {
    let report = &finished.report;
    html! {
        h3 { "Items" }
        @if let Some(why) = &finished.without_items {
            p.note { "The items are not known: " (name(why)) }
        } @else if report.items.is_empty() {
            p.note { "The run has no items." }
        } @else {
            div.items id={ "items-of-" (index) } data-items={ "items-" (index) } {}
            script type="application/json" id={ "items-" (index) } { (PreEscaped(data(report))) }
            noscript { (without_script(report)) }
        }
    }
}

/// Why items did not pass, at length.
fn without_script(report: &Report) -> Markup {
    let is_low = |item: &&ItemResult| !item.passed || report.config.low_scores(item).next().is_some();
    let low: Vec<_> = report.items.iter().filter(is_low).collect();
    html! {
        p.note {
            (count(report.items.len(), "item")) ", " (low.len()) " of them with errors or low scores. "
            "A script of this page shows all of them."
            @if low.len() > WITHOUT_SCRIPT { " Without it, the first " (WITHOUT_SCRIPT) " of those are shown." }
        }
        @for item in low.into_iter().take(WITHOUT_SCRIPT) {
            pre.explained dir="auto" { (explain(item, &report.name, &report.config)) }
        }
    }
}

/// What the script knows of an experiment.
#[derive(Serialize)]
struct Data<'a> {
    evaluators: Vec<(&'a str, f64)>,
    items: Vec<ItemData<'a>>,
}

#[derive(Serialize)]
struct ItemData<'a> {
    name: &'a str,
    passed: bool,
    /// Whether it fails by itself: in error or, in a strict experiment, below a pass mark.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
    /// Whether something failed, or a score is absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    error: bool,
    status: Status,
    input: &'a cobalt::Item,
    /// The field of the input that has the answer that is hoped for.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'static str>,
    runs: Vec<RunData<'a>>,
}

#[derive(Serialize)]
struct RunData<'a> {
    #[serde(skip_serializing_if = "is_ok")]
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a cobalt::Item>,
    /// In milliseconds, to the microsecond.
    latency: f64,
    evaluations: &'a Evaluations,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

fn is_ok(status: &Status) -> bool {
    *status == Status::Ok
}

/// The items as JSON that may stand in a page: no text in it can end the element that it is in.
fn data(report: &Report) -> String {
    let names = report.case_names();
    let items = report.items.iter().zip(&names).map(|(item, name)| ItemData {
        name,
        passed: item.passed,
        failed: report.config.fails(item),
        error: item.is_in_error(),
        status: item.status(),
        input: &item.input,
        expected: expected_field(&item.input),
        runs: item.runs.iter().map(RunData::of).collect(),
    });
    let data = Data { evaluators: report.config.evaluators().collect(), items: items.collect() };
    let json = serde_json::to_string(&data).expect("texts, numbers and maps by text can be written as JSON");
    // Outside of texts JSON has no such character.
    json.replace('<', "\\u003c")
}

impl<'a> RunData<'a> {
    fn of(run: &'a Execution) -> Self {
        let metadata = Some(run.metadata()).filter(|it| !it.is_empty());
        Self {
            status: run.status,
            output: run.output.as_ref().map(cobalt::Output::value),
            metadata,
            latency: (run.latency_ms * 1000.0).round() / 1000.0,
            evaluations: &run.evaluations,
            error: run.error.as_deref(),
        }
    }
}
