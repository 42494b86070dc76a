//! The statistics of every evaluator, with charts of its mean and of all of its scores.

use cobalt::Report;
use cobalt::report::ScoreStats;
use maud::{Markup, html};

use super::chart;
use super::words::{Mark, badge, name};

/// The table of scores.
pub(super) fn section(report: &Report) -> Markup {
    html! {
        h3 { "Scores" }
        div.scroll tabindex="0" role="group" aria-label="Scores" {
            table.scores {
                thead {
                    tr {
                        th scope="col" { "Evaluator" }
                        th.number scope="col" { "Mean" }
                        th.number scope="col" { "95 % interval" }
                        th scope="col" { "Mean and interval" }
                        th.number scope="col" { "Passed" }
                        @for title in ["Min", "P50", "P95", "P99", "Max"] { th.number scope="col" { (title) } }
                        th scope="col" { "All scores" }
                    }
                }
                tbody { @for (evaluator, mark) in report.config.evaluators() { (row(report, evaluator, mark)) } }
            }
        }
    }
}

fn row(report: &Report, evaluator: &str, mark: f64) -> Markup {
    html! {
        tr {
            th scope="row" { (name(evaluator)) small { "passes from " (mark) } }
            @match report.summary.scores.get(evaluator) {
                Some(stats) => {
                    (figures(stats, mark))
                    td { (chart::scores(&scores(report, evaluator), mark)) }
                }
                None => { td colspan="10" { (badge(Mark::Bad, "no score")) } }
            }
        }
    }
}

fn figures(stats: &ScoreStats, mark: f64) -> Markup {
    let interval = stats.ci95.map(|ci| format!("{:.3} to {:.3}", ci.low, ci.high));
    html! {
        td.number { strong { (figure(stats.avg)) } }
        td.number { (interval.as_deref().unwrap_or("–")) }
        td { (chart::mean(stats, mark)) }
        td.number { (stats.pass_rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.1} %", rate * 100.0))) }
        @for value in [stats.min, stats.p50, stats.p95, stats.p99, stats.max] { td.number { (figure(value)) } }
    }
}

fn figure(value: f64) -> String {
    format!("{value:.3}")
}

/// All scores that an evaluator gave.
fn scores(report: &Report, evaluator: &str) -> Vec<f64> {
    report.items.iter().flat_map(|item| item.scores(evaluator)).collect()
}
