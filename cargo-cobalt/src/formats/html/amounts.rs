//! How long the agent took, and what it and the judges cost.

use cobalt::Report;
use cobalt::reporters::{agent_usage, judge_usage, printable, time};
use cobalt::wording::count;
use maud::{Markup, html};

use super::chart;

/// The figures, a tile each, and a chart of the latencies.
pub(super) fn section(report: &Report) -> Markup {
    let summary = &report.summary;
    let latencies: Vec<_> = report.items.iter().map(|item| item.latency_ms()).collect();
    let mut tiles = vec![("Latency, mean", time(summary.avg_latency_ms))];
    if let Some(latency) = &summary.latency {
        let figures = [
            ("Min", latency.min),
            ("P50", latency.p50),
            ("P95", latency.p95),
            ("P99", latency.p99),
            ("Max", latency.max),
        ];
        tiles.extend(figures.map(|(title, figure)| (title, time(figure))));
    }
    tiles.push(("In all", time(summary.total_duration_ms as f64)));
    html! {
        h3 { "Time and cost" }
        dl.tiles { @for (title, figure) in &tiles { div { dt { (title) } dd { (figure) } } } }
        (chart::latencies(&latencies))
        dl.facts {
            @if let Some(tokens) = agent_usage(summary) { div { dt { "Tokens" } dd { (printable(&tokens)) } } }
            @if let Some(judges) = judge_usage(summary) { div { dt { "Judges" } dd { (printable(&judges)) } } }
            @if !summary.unpriced_models.is_empty() {
                div {
                    dt { "Without a price" }
                    dd { (printable(&summary.unpriced_models.join(", "))) " (" (count(summary.unpriced_items, "item")) ")" }
                }
            }
            @if let Some(date) = report.prices_as_of.as_ref().filter(|_| summary.total_tokens.or(summary.judge_calls).is_some()) { div { dt { "Prices of" } dd { (printable(date)) } } }
        }
    }
}
