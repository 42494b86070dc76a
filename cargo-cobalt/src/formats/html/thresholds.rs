//! The thresholds of an experiment, each with its figure and what became of it.

use cobalt::Report;
use cobalt::report::ThresholdOutcome;
use cobalt::report::comparison::Finding;
use cobalt::reporters::printable;
use maud::{Markup, html};

use super::words::{Mark, badge, code};

/// The thresholds, if there are any.
pub(super) fn section(report: &Report) -> Markup {
    let Some(status) = &report.ci_status else { return Markup::default() };
    html! {
        h3 { "Thresholds" }
        @if report.thresholds().is_empty() {
            p { (badge(Mark::of(status.passed), if status.passed { "met" } else { "missed" })) " " (printable(&status.summary)) }
            // Files of the original name those only that are missed.
            ul { @for violation in &status.violations { li { (printable(&violation.message)) } } }
        } @else {
            div.scroll tabindex="0" role="group" aria-label="Thresholds" {
                table.thresholds {
                    thead {
                        tr {
                            th scope="col" { "Verdict" }
                            th scope="col" { "Threshold" }
                            th.number scope="col" { "Found" }
                            th scope="col" { "What that means" }
                        }
                    }
                    tbody { @for outcome in report.thresholds() { (row(outcome)) } }
                }
            }
        }
    }
}

fn row(outcome: &ThresholdOutcome) -> Markup {
    let (mark, word) = match (outcome.finding, outcome.passed) {
        (Finding::Inconclusive, true) => (Mark::Odd, "inconclusive"),
        (Finding::Inconclusive, false) => (Mark::Bad, "inconclusive"),
        (Finding::Met, _) => (Mark::Good, "met"),
        (Finding::Missed, _) => (Mark::Bad, "missed"),
    };
    html! {
        tr {
            td { (badge(mark, word)) }
            th scope="row" { (code(&outcome.name)) }
            td.number { (outcome.figure.as_deref().unwrap_or("–")) }
            // Of one that is met, the figure says it all.
            @let is_plain = outcome.finding == Finding::Met && !outcome.against_baseline;
            td.message { @if !is_plain { (printable(&outcome.message)) } }
        }
    }
}
