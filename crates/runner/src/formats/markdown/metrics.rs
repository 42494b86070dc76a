//! The metrics and tables of a run.

use std::fmt::Write as _;

use cobalt_core::report::{RunTable, Summary};
use cobalt_core::reporters::{format_metric_number, format_metric_stats, format_run_metric};
use cobalt_core::wording::{count, truncate};

use crate::markdown::{code, escape_cell};
use crate::terminal::one_line;

/// The maximum number of metrics of each kind, and of tables.
const MAX_METRICS: usize = 20;
/// The maximum number of columns and of rows of a table.
const MAX_COLUMNS: usize = 10;
const MAX_ROWS: usize = 20;
/// The maximum length of a name, in characters.
const MAX_NAME_LEN: usize = 80;

/// The metrics, one line each; empty if there are none.
pub fn metrics(summary: &Summary) -> String {
    let Summary { metrics, run_metrics, .. } = summary;
    let name = |name: &String| code(&truncate(name, MAX_NAME_LEN));
    let mut text = String::new();
    for (metric, value) in run_metrics.iter().take(MAX_METRICS) {
        let _ = writeln!(text, "- {}: {}", name(metric), code(&format_run_metric(value)));
    }
    for (metric, stats) in metrics.iter().take(MAX_METRICS) {
        let _ = writeln!(text, "- {}: {}", name(metric), code(&format_metric_stats(stats)));
    }
    let more = run_metrics.len().saturating_sub(MAX_METRICS) + metrics.len().saturating_sub(MAX_METRICS);
    if more > 0 {
        let _ = writeln!(text, "- and {}", count(more, "more metric"));
    }
    text
}

/// The tables, collapsed and cut; empty if there are none.
pub fn tables(summary: &Summary) -> String {
    let all = &summary.tables;
    let mut text: String = all.iter().take(MAX_METRICS).map(|(name, rows)| table(name, rows)).collect();
    if all.len() > MAX_METRICS {
        let _ = writeln!(text, "\nand {}", count(all.len() - MAX_METRICS, "more table"));
    }
    text
}

fn table(name: &str, RunTable { label, columns, rows }: &RunTable) -> String {
    let cell = |name: &str| match name {
        "" => String::new(),
        name => escape_cell(&code(&truncate(name, MAX_NAME_LEN))),
    };
    let shown = columns.len().min(MAX_COLUMNS);
    let titles: Vec<_> = columns[..shown].iter().map(|column| cell(column)).collect();
    // Markdown is not interpreted within HTML.
    let title = one_line(&truncate(name, MAX_NAME_LEN)).replace('&', "&amp;").replace('<', "&lt;");
    let mut text = format!(
        "\n<details><summary>Table <code>{title}</code></summary>\n\n| {} | {} |\n|---|{}\n",
        cell(label),
        titles.join(" | "),
        "--:|".repeat(shown.max(1))
    );
    for (row, values) in rows.iter().take(MAX_ROWS) {
        let values: Vec<_> = values.iter().take(shown).map(|value| format_metric_number(*value)).collect();
        let _ = writeln!(text, "| {} | {} |", cell(row), values.join(" | "));
    }
    if columns.len() > MAX_COLUMNS || rows.len() > MAX_ROWS {
        let _ = writeln!(text, "\nThe first part of {} columns and {} rows.", columns.len(), rows.len());
    }
    text + "\n</details>\n"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metrics_are_lines_and_tables_are_collapsed() {
        let summary: Summary = serde_json::from_value(json!({
            "metrics": { "retrieved": { "avg": 7, "min": 7, "max": 7, "count": 1, "unit": "documents" } },
            "runMetrics": { "macro_f1": { "value": 0.71, "ci95": { "low": 0.6, "high": 0.8 } } },
            "tables": { "conf<b>usion": { "label": "expected", "columns": ["a|b", "no"], "rows": [["yes", [1200, 0.5]]] } },
        }))
        .unwrap();
        assert_eq!(
            metrics(&summary),
            "- `macro_f1`: `0.71 (95% CI 0.6–0.8)`\n\
             - `retrieved`: `mean 7 documents, min 7, p50 0, p95 0, max 7, total 0`\n"
        );
        assert_eq!(
            tables(&summary),
            "\n<details><summary>Table <code>conf&lt;b>usion</code></summary>\n\n| `expected` | `a\\|b` | `no` |\n|---|--:|--:|\n\
             | `yes` | 1,200 | 0.5 |\n\n</details>\n"
        );
    }

    #[test]
    fn a_name_with_line_breaks_stays_on_its_line() {
        let table = super::table("a\r\n\r\n# b", &RunTable::default());
        assert!(table.contains("<code>a\\r\\n\\r\\n# b</code>"), "{table}");
    }

    #[test]
    fn a_large_table_is_cut() {
        let table = RunTable {
            label: String::new(),
            columns: (0..30).map(|column| format!("column {column}")).collect(),
            rows: (0..30).map(|row| (format!("row {row}"), vec![0.0; 30])).collect(),
        };
        let text = super::table("confusion", &table);
        assert!(
            text.contains("The first part of 30 columns and 30 rows.") && !text.contains("column 10"),
            "{text}"
        );
    }
}
