//! Recorded metrics, and the metrics and tables of a run, as text.

use std::fmt::Write as _;

use crate::report::stats::Interval;
use crate::report::{MetricStats, MetricValue, Metrics, RunMetric, RunTable, Summary};
use crate::wording::{escape_control, format_decimal, group_decimal, truncate};

/// The most columns and rows of a table in the summary of a run.
const MAX_COLUMNS: usize = 10;
const MAX_ROWS: usize = 20;
/// The most characters of a name in a table.
const MAX_NAME: usize = 20;

/// A value of a metric, with its unit: `1,234.5 documents`.
#[must_use]
pub fn format_metric(metric: &MetricValue) -> String {
    with_unit(format_metric_number(metric.value), metric.unit.as_deref())
}

/// The metrics of one execution, in one line: `documents 7, recall 0.844`.
#[must_use]
pub fn format_metrics(metrics: &Metrics) -> String {
    let metrics: Vec<_> = metrics
        .iter()
        .map(|(name, metric)| format!("{} {}", escape_control(name), format_metric(metric)))
        .collect();
    metrics.join(", ")
}

/// A number of any size: at most three decimals, or two significant digits if it is small.
#[must_use]
pub fn format_metric_number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (0.01..1e15).contains(&size) {
        group_decimal(&format_decimal(value, 3))
    } else if (1e-6..0.01).contains(&size) {
        // The number of zeros between the decimal point and the first digit.
        format_decimal(value, (-size.log10().floor()) as usize + 1)
    } else {
        format!("{value:e}")
    }
}

/// The mean of a recorded metric with its interval, then percentiles and total: `mean 7.2 documents (95% CI 6.8–7.6), min 1, p50 8, p95 9,
/// max 9, total 72`.
#[must_use]
pub fn format_metric_stats(stats: &MetricStats) -> String {
    let MetricStats { avg, min, max, p50, p95, total, ci95, unit, .. } = stats;
    let mean = with_unit(format_metric_number(*avg), unit.as_deref());
    let rest = [("min", min), ("p50", p50), ("p95", p95), ("max", max), ("total", total)];
    let rest: String =
        rest.map(|(name, value)| format!(", {name} {}", format_metric_number(*value))).concat();
    format!("mean {mean}{}{rest}", interval(*ci95))
}

/// A metric of the whole run with its interval: `0.71 (95% CI 0.65–0.77)`.
#[must_use]
pub fn format_run_metric(metric: &RunMetric) -> String {
    let RunMetric { value, ci95, unit, .. } = metric;
    with_unit(format_metric_number(*value), unit.as_deref()) + &interval(*ci95)
}

/// An interval: `0.65–0.77`.
#[must_use]
pub fn format_metric_interval(Interval { low, high, .. }: Interval) -> String {
    format!("{}–{}", format_metric_number(low), format_metric_number(high))
}

fn interval(ci95: Option<Interval>) -> String {
    ci95.map_or_else(String::new, |ci95| format!(" (95% CI {})", format_metric_interval(ci95)))
}

fn with_unit(number: String, unit: Option<&str>) -> String {
    match unit {
        None | Some("") => number,
        Some("%") => number + "%",
        Some(unit) => format!("{number} {}", escape_control(unit)),
    }
}

/// The lines of a run's recorded metrics, its own metrics and its tables.
pub(super) fn metric_lines(summary: &Summary) -> Vec<String> {
    let named = |name: &String, text: String| format!("{}: {text}", escape_control(name));
    let recorded = summary.metrics.iter().map(|(name, stats)| named(name, format_metric_stats(stats)));
    let of_run = summary.run_metrics.iter().map(|(name, metric)| named(name, format_run_metric(metric)));
    let tables = summary.tables.iter().flat_map(|(name, table)| table_lines(name, table));
    of_run.chain(recorded).chain(tables).collect()
}

/// A table, cut to a size for the terminal.
fn table_lines(name: &str, table: &RunTable) -> Vec<String> {
    let RunTable { label, columns, rows } = table;
    let cut = |name: &str| truncate(&escape_control(name).replace(['\n', '\t'], " "), MAX_NAME).into_owned();
    let head = std::iter::once(cut(label)).chain(columns.iter().take(MAX_COLUMNS).map(|column| cut(column)));
    let row = |(name, values): &(String, Vec<f64>)| -> Vec<String> {
        let values = values.iter().take(MAX_COLUMNS).map(|value| format_metric_number(*value));
        std::iter::once(cut(name)).chain(values).collect()
    };
    let cells: Vec<Vec<String>> =
        std::iter::once(head.collect()).chain(rows.iter().take(MAX_ROWS).map(row)).collect();
    let width = |column: usize| {
        cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let line = |row: &Vec<String>| {
        let mut line = String::from(" ");
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            let _ = match column {
                0 => write!(line, " {cell:width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        line.trim_end().to_owned()
    };
    let of = match (columns.len() > MAX_COLUMNS, rows.len() > MAX_ROWS) {
        (false, false) => String::new(),
        _ => format!(" (first part of {} columns and {} rows)", columns.len(), rows.len()),
    };
    std::iter::once(format!("{}{of}", escape_control(name))).chain(cells.iter().map(line)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_of_any_size_are_readable() {
        let numbers = [0.0, -0.0, 7.0, 12_400.5, 0.844_44, 0.01, 0.001_234, -0.000_05, 1e-9, 1e20, 0.009_99];
        assert_eq!(
            numbers.map(format_metric_number),
            ["0", "0", "7", "12,400.5", "0.844", "0.01", "0.0012", "-0.00005", "1e-9", "1e20", "0.01"]
        );
    }

    #[test]
    fn metrics_and_tables_have_units_and_intervals() {
        let summary: Summary = serde_json::from_value(json!({
            "metrics": { "retrieved": { "avg": 7.25, "min": 1, "max": 9, "p50": 8, "p95": 9, "p99": 9, "total": 29, "count": 4,
                "ci95": { "low": 6.1, "high": 8.4 }, "unit": "documents" } },
            "runMetrics": { "macro_f1": { "value": 0.71, "ci95": { "low": 0.65, "high": 0.77 } }, "share": { "value": 12.5, "unit": "%" } },
            "tables": { "confusion": { "label": "expected", "columns": ["yes", "no"], "rows": [["yes", [1200, 3]], ["no", [0, 7]]] } },
        }))
        .unwrap();
        assert_eq!(
            metric_lines(&summary),
            [
                "macro_f1: 0.71 (95% CI 0.65–0.77)",
                "share: 12.5%",
                "retrieved: mean 7.25 documents (95% CI 6.1–8.4), min 1, p50 8, p95 9, max 9, total 29",
                "confusion",
                "  expected    yes  no",
                "  yes       1,200   3",
                "  no            0   7",
            ]
        );
    }

    #[test]
    fn a_large_table_is_cut() {
        let table = RunTable {
            label: String::new(),
            columns: (0..30).map(|column| format!("column {column}")).collect(),
            rows: (0..30).map(|row| (format!("row {row}"), vec![0.0; 30])).collect(),
        };
        let lines = table_lines("confusion", &table);
        assert_eq!(lines.len(), 2 + MAX_ROWS);
        assert_eq!(lines[0], "confusion (first part of 30 columns and 30 rows)");
    }
}
