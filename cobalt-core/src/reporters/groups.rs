//! Statistics by the values of a field, as tables.

use std::fmt::{self, Write as _};

use super::format::Style;
use crate::report::{FieldGroups, GroupScore, GroupStats, Report};
use crate::wording::{count, escape_control, group_thousands, percent, truncate};

/// What marks the lowest mean of an evaluator.
pub const LOWEST: &str = "↓";
/// The maximum number of rows of a table, besides the groups with the lowest means.
const MAX_ROWS: usize = 20;
/// The maximum length of a group's value, in characters.
const MAX_VALUE_CHARS: usize = 40;

/// The table of the groups of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupTable {
    /// The field.
    pub field: String,
    /// The column heads: the group, its items, and for each evaluator its mean and its pass rate.
    pub titles: Vec<String>,
    /// The groups, in order.
    pub rows: Vec<GroupRow>,
    /// The number of groups that are left out.
    pub more: usize,
}

/// A row of a [`GroupTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRow {
    /// The cells, in the order of the titles.
    pub cells: Vec<GroupCell>,
}

/// A cell of a [`GroupTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupCell {
    /// The text; `n/a` for an evaluator without a score in the group.
    pub text: String,
    /// Whether it is the evaluator's lowest mean.
    pub is_lowest: bool,
}

/// The tables of a run, one for each field.
#[must_use]
pub fn group_tables(report: &Report) -> Vec<GroupTable> {
    report.summary.groups.iter().map(|groups| group_table(groups, &report.config.evaluators)).collect()
}

fn group_table(
    FieldGroups { field, groups, more_groups }: &FieldGroups,
    evaluators: &[String],
) -> GroupTable {
    let is_scored = |name: &&String| groups.iter().any(|group| group.scores.contains_key(*name));
    let evaluators: Vec<_> = evaluators.iter().filter(is_scored).collect();
    let lowest: Vec<_> = evaluators.iter().map(|name| lowest_mean(groups, name)).collect();
    let is_lowest = |group: &GroupStats, place: usize| {
        let score = group.scores.get(evaluators[place]);
        score.is_some_and(|score| lowest[place] == Some(score.avg))
    };
    let row = |group: &GroupStats| {
        let mut cells = vec![
            GroupCell::plain(truncate(&group.value, MAX_VALUE_CHARS).into_owned()),
            GroupCell::plain(group_thousands(group.items as u64)),
        ];
        for (place, name) in evaluators.iter().enumerate() {
            let score = group.scores.get(*name);
            cells.push(GroupCell {
                text: score.map_or_else(|| "n/a".to_owned(), format_mean),
                is_lowest: is_lowest(group, place),
            });
            let pass_rate = score.and_then(|score| score.pass_rate);
            cells.push(GroupCell::plain(pass_rate.map_or_else(String::new, percent)));
        }
        GroupRow { cells }
    };
    let is_shown = |(index, group): &(usize, &GroupStats)| {
        *index < MAX_ROWS || (0..evaluators.len()).any(|place| is_lowest(group, place))
    };
    let rows: Vec<_> = groups.iter().enumerate().filter(is_shown).map(|(_, group)| row(group)).collect();
    let names = evaluators.iter().flat_map(|name| [(*name).clone(), "pass rate".to_owned()]);
    GroupTable {
        field: field.clone(),
        titles: ["group".to_owned(), "items".to_owned()].into_iter().chain(names).collect(),
        more: groups.len() - rows.len() + more_groups,
        rows,
    }
}

/// An evaluator's lowest mean, if the groups differ.
fn lowest_mean(groups: &[GroupStats], evaluator: &str) -> Option<f64> {
    let means = || groups.iter().filter_map(|group| Some(group.scores.get(evaluator)?.avg));
    let (low, high) = (means().reduce(f64::min)?, means().reduce(f64::max)?);
    (low < high).then_some(low)
}

fn format_mean(GroupScore { avg, ci95, .. }: &GroupScore) -> String {
    let ci95 = ci95.map_or_else(String::new, |ci| format!(" ({:.3}–{:.3})", ci.low, ci.high));
    format!("{avg:.3}{ci95}")
}

impl GroupCell {
    fn plain(text: String) -> Self {
        Self { text, is_lowest: false }
    }

    fn marked(&self) -> String {
        let mark = if self.is_lowest { LOWEST } else { "" };
        format!("{}{mark}", escape_control(&self.text))
    }
}

impl GroupTable {
    /// What the table shows, for the line above it.
    #[must_use]
    pub fn caption(&self) -> String {
        let has_lowest = self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.is_lowest);
        let legend = if has_lowest { format!("; {LOWEST} lowest mean") } else { String::new() };
        format!("by {}: mean (95% CI){legend}", self.field)
    }

    /// The line below a table without some of the groups; `None` if it has all.
    #[must_use]
    pub fn more_line(&self) -> Option<String> {
        (self.more > 0).then(|| format!("and {}", count(self.more, "more group")))
    }

    fn write(&self, text: &mut String, paint: Style) -> fmt::Result {
        let marked = |row: &GroupRow| row.cells.iter().map(GroupCell::marked).collect::<Vec<_>>();
        let rows: Vec<_> = self.rows.iter().map(marked).collect();
        let titles: Vec<_> = self.titles.iter().map(|title| escape_control(title).into_owned()).collect();
        let width = |column: usize| {
            let cells = rows.iter().chain([&titles]).map(|cells| cells[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..titles.len()).map(width).collect();
        let line = |cells: &[String]| {
            let [group, others @ ..] = cells else { return String::new() };
            let mut line = format!("    {group:0$}", widths[0]);
            for (cell, width) in others.iter().zip(&widths[1..]) {
                let _ = write!(line, "  {cell:>width$}");
            }
            line.trim_end().to_owned()
        };
        writeln!(text, "  {}", escape_control(&self.caption()))?;
        writeln!(text, "{}", paint.faint(line(&titles)))?;
        for (row, cells) in self.rows.iter().zip(&rows) {
            let is_lowest = row.cells.iter().any(|cell| cell.is_lowest);
            let line = line(cells);
            writeln!(text, "{}", if is_lowest { paint.warning(line) } else { line })?;
        }
        self.more_line().map_or(Ok(()), |more| writeln!(text, "    {more}"))
    }
}

/// The tables of a run for a terminal; empty without groups.
#[must_use]
pub fn render_groups(report: &Report, paint: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = group_tables(report).iter().try_for_each(|table| table.write(&mut text, paint));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_has_each_mean_with_its_interval_and_marks_the_lowest() {
        let group = |value: &str, items: usize, score: serde_json::Value| json!({ "value": value, "items": items, "passedItems": 0, "failedItems": 0, "avgLatencyMs": 1, "scores": score });
        let report: Report = serde_json::from_value(json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z",
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": ["right", "cites", "never"] },
            "summary": { "groups": [{ "field": "category", "moreGroups": 2, "groups": [
                group("billing", 1200, json!({
                    "right": { "avg": 0.9, "count": 1200, "ci95": { "low": 0.88, "high": 0.92 }, "passRate": 0.95 },
                    "cites": { "avg": 1.0, "count": 3, "passRate": 1.0 },
                })),
                group("(none)", 1, json!({ "right": { "avg": 0.25, "count": 1, "passRate": 0.0 } })),
            ] }] },
        }))
        .unwrap();
        let expected = [
            "  by category: mean (95% CI); ↓ lowest mean",
            "    group    items                right  pass rate  cites  pass rate",
            "    billing  1,200  0.900 (0.880–0.920)        95%  1.000       100%",
            "    (none)       1               0.250↓         0%    n/a",
            "    and 2 more groups",
        ];
        assert_eq!(render_groups(&report, Style::Plain).lines().collect::<Vec<_>>(), expected);
    }
}
