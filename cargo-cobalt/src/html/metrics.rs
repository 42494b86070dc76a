//! The metrics and tables of a run.

use cobalt_core::report::{MetricStats, RunMetric, RunTable, Summary};
use cobalt_core::reporters::{
    escape_control, format_metric_interval, format_metric_number, format_run_metric,
};
use maud::{Markup, html};

use super::components::name;

/// The most columns and rows of a table.
const MAX_COLUMNS: usize = 50;
const MAX_ROWS: usize = 200;

/// The metrics of the run, those that the agent recorded, and the tables; empty if there are none.
pub fn section(summary: &Summary) -> Markup {
    let Summary { metrics, run_metrics, tables, .. } = summary;
    if metrics.is_empty() && run_metrics.is_empty() && tables.is_empty() {
        return Markup::default();
    }
    html! {
        h3 { "Metrics" }
        @if !run_metrics.is_empty() {
            dl.tiles { @for (metric_name, metric) in run_metrics { (run_metric(metric_name, metric)) } }
        }
        @if !metrics.is_empty() {
            div.scroll tabindex="0" role="group" aria-label="Recorded metrics" {
                table.metrics {
                    thead {
                        tr {
                            th scope="col" { "Recorded metric" }
                            @for title in ["Mean", "95% CI", "Min", "P50", "P95", "P99", "Max", "Total", "Trials"] {
                                th.number scope="col" { (title) }
                            }
                        }
                    }
                    tbody { @for (metric_name, stats) in metrics { (metric_row(metric_name, stats)) } }
                }
            }
        }
        @for (table_name, rows) in tables { (table(table_name, rows)) }
    }
}

fn run_metric(metric_name: &str, metric: &RunMetric) -> Markup {
    html! { div { dt { (name(metric_name)) } dd { (format_run_metric(metric)) } } }
}

fn metric_row(metric_name: &str, stats: &MetricStats) -> Markup {
    let MetricStats { avg, min, max, p50, p95, p99, total, count, ci95, unit, .. } = stats;
    let interval = ci95.map_or_else(|| "–".to_owned(), format_metric_interval);
    html! {
        tr {
            th scope="row" { (name(metric_name)) @if let Some(unit) = unit { small { (escape_control(unit)) } } }
            td.number { strong { (format_metric_number(*avg)) } }
            td.number { (interval) }
            @for value in [min, p50, p95, p99, max, total] { td.number { (format_metric_number(*value)) } }
            td.number { (count) }
        }
    }
}

fn table(table_name: &str, RunTable { label, columns, rows }: &RunTable) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(escape_control(table_name)) {
            table.run-table {
                caption { (name(table_name)) }
                thead {
                    tr {
                        th scope="col" { (name(label)) }
                        @for column in columns.iter().take(MAX_COLUMNS) { th.number scope="col" { (name(column)) } }
                    }
                }
                tbody {
                    @for (row, values) in rows.iter().take(MAX_ROWS) {
                        tr {
                            th scope="row" { (name(row)) }
                            @for value in values.iter().take(MAX_COLUMNS) { td.number { (format_metric_number(*value)) } }
                        }
                    }
                }
            }
        }
        @if columns.len() > MAX_COLUMNS || rows.len() > MAX_ROWS {
            p.note { "Only the first part is shown, of " (columns.len()) " columns and " (rows.len()) " rows." }
        }
    }
}
