//! The experiments of a call in a table, a row each.

use cobalt::Report;
use cobalt::llm::prices::format_cost;
use cobalt::reporters::time;
use maud::{Markup, html};

use super::words::{name, verdict_badge};
use crate::results::Finished;

/// The table, whose names lead to the sections.
pub(super) fn table(experiments: &[Finished]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Experiments" {
            table {
                thead {
                    tr {
                        @for title in ["Experiment", "Verdict"] { th scope="col" { (title) } }
                        th.number scope="col" { "Items" }
                        th scope="col" { "Mean scores" }
                        @for title in ["Cost", "Time"] { th.number scope="col" { (title) } }
                    }
                }
                tbody {
                    @for (index, finished) in experiments.iter().enumerate() { (row(index, &finished.report)) }
                }
            }
        }
    }
}

fn row(index: usize, report: &Report) -> Markup {
    let summary = &report.summary;
    let scores = report.config.evaluators.iter().filter_map(|it| Some((it, summary.scores.get(it)?.avg)));
    html! {
        tr {
            th scope="row" { a href={ "#experiment-" (index) } { (name(&report.name)) } }
            td { (verdict_badge(report.verdict)) }
            td.number { (summary.total_items) }
            td {
                @for (index, (evaluator, avg)) in scores.enumerate() {
                    @if index > 0 { ", " }
                    (name(evaluator)) " " span.figure { (format!("{avg:.3}")) }
                }
            }
            td.number { @if let Some(cost) = summary.estimated_cost { (format_cost(cost)) } }
            td.number { (time(summary.total_duration_ms as f64)) }
        }
    }
}
