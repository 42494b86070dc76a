//! The items of a run that need work, worst first.

use std::fmt::Write as _;

use cobalt_core::report::{ItemResult, Report};
use cobalt_core::reporters::{expected_field, explain, format_score};
use cobalt_core::store::{ReportFile, StoreError};
use serde_json::Value;

use super::text::{fenced_data, inline_name};

/// The maximum size of an item, in bytes.
const LONGEST_ITEM: usize = 2500;
/// The maximum size of an item's fields other than its input and expected answer, in bytes.
const LONGEST_FIELDS: usize = 600;
/// The maximum number of evaluators in an item's heading.
const MOST_LOW: usize = 5;
/// The number of items that are read at once: those of a run in parts may all be in different parts.
const READ_AT_ONCE: usize = 10;

/// The positions of the items in error or with a score below its pass mark or the target score, worst first.
pub fn items_below_target(file: &ReportFile, aim: Option<f64>) -> Result<Vec<usize>, StoreError> {
    let (config, aim) = (&file.report().config, aim.unwrap_or(0.0));
    let mut wanting = Vec::new();
    for (position, item) in file.outcomes().enumerate() {
        let item = item?;
        let low = config.evaluators().enumerate().filter_map(|(evaluator, (_, mark))| {
            item.scores.lowest(evaluator).filter(|lowest| *lowest < mark.max(aim))
        });
        let lowest = low.reduce(f64::min);
        if item.is_in_error || lowest.is_some() {
            wanting.push((!item.is_in_error, lowest.unwrap_or(1.0), position));
        }
    }
    // Stable: equal items stay in dataset order.
    wanting.sort_by(|one, two| one.0.cmp(&two.0).then(one.1.total_cmp(&two.1)));
    Ok(wanting.into_iter().map(|(.., position)| position).collect())
}

/// The items at the first of these positions that fit into `room` bytes, and their number.
pub fn render_fitting(
    file: &ReportFile,
    wanting: &[usize],
    aim: Option<f64>,
    room: usize,
) -> Result<(String, usize), StoreError> {
    let (mut text, mut shown) = (String::new(), 0);
    for positions in wanting.chunks(READ_AT_ONCE) {
        for (key, item) in file.keyed_items_at(positions)? {
            let next = section(file.report(), &key, &item, aim.unwrap_or(0.0));
            if text.len() + next.len() > room {
                return Ok((text, shown));
            }
            text += &next;
            shown += 1;
        }
    }
    Ok((text, shown))
}

fn section(report: &Report, key: &str, item: &ItemResult, aim: f64) -> String {
    let scores = report.config.evaluators().filter_map(|(name, mark)| {
        let lowest = item.scores(name).reduce(f64::min)?;
        (lowest < mark.max(aim)).then_some((name, lowest))
    });
    let mut low: Vec<_> = scores.collect();
    low.sort_by(|(_, one), (_, two)| one.total_cmp(two));
    let score =
        |(evaluator, score): &(&str, f64)| format!("{} {}", inline_name(evaluator), format_score(*score));
    let mut found: Vec<_> = low.iter().take(MOST_LOW).map(score).collect();
    if low.len() > MOST_LOW {
        found.push(format!("and {} more", low.len() - MOST_LOW));
    }
    if item.is_in_error() {
        found.insert(0, "in error".to_owned());
    }
    let heading = format!("Item {} (index {})", inline_name(key), item.index);
    format!("\n### {heading}: {}\n\n{}", found.join(", "), item_block(report, item, LONGEST_ITEM))
}

/// An item as a block: input, expected answer, outputs, scores and reasons, other fields.
pub fn item_block(report: &Report, item: &ItemResult, most: usize) -> String {
    let mut text = explain(item, &report.name, &report.config);
    let expected = expected_field(&item.input);
    let fields = item
        .input
        .iter()
        .filter(|(field, _)| *field != "input" && *field != "id" && Some(field.as_str()) != expected);
    let fields: serde_json::Map<_, _> = fields.map(|(field, value)| (field.clone(), value.clone())).collect();
    if !fields.is_empty() {
        let fields = Value::Object(fields).to_string();
        let _ = write!(text, "\n  other fields: {}", cobalt_core::wording::truncate(&fields, LONGEST_FIELDS));
    }
    fenced_data(&text, most)
}
