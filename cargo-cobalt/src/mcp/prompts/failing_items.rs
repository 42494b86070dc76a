//! The items of a run that need work, worst first.

use std::fmt::Write as _;

use cobalt_core::report::{ItemResult, Report};
use cobalt_core::reporters::{expected_field, explain, format_score};
use serde_json::Value;

use super::text::{fenced_data, inline_name};

/// The maximum size of an item, in bytes.
const LONGEST_ITEM: usize = 2500;
/// The maximum size of an item's fields other than its input and expected answer, in bytes.
const LONGEST_FIELDS: usize = 600;
/// The maximum number of evaluators in an item's heading.
const MOST_LOW: usize = 5;

/// An item that needs work.
#[derive(Debug)]
pub struct FailingItem<'a> {
    pub item: &'a ItemResult,
    /// The evaluators whose scores are too low, with their lowest score, lowest first.
    low: Vec<(&'a str, f64)>,
}

impl FailingItem<'_> {
    /// In error first, then by the lowest score.
    fn rank(&self) -> (bool, f64) {
        (!self.item.is_in_error(), self.low.first().map_or(1.0, |(_, score)| *score))
    }
}

/// The items in error or with a score below its pass mark or the target score, worst first.
pub fn items_below_target(report: &Report, aim: Option<f64>) -> Vec<FailingItem<'_>> {
    let aim = aim.unwrap_or(0.0);
    let judged = report.items.iter().filter_map(|item| {
        let scores = report.config.evaluators().filter_map(|(name, mark)| {
            let lowest = item.scores(name).reduce(f64::min)?;
            (lowest < mark.max(aim)).then_some((name, lowest))
        });
        let mut low: Vec<_> = scores.collect();
        low.sort_by(|(_, one), (_, two)| one.total_cmp(two));
        (item.is_in_error() || !low.is_empty()).then_some(FailingItem { item, low })
    });
    let mut wanting: Vec<_> = judged.collect();
    // Stable: equal items stay in dataset order.
    wanting.sort_by(|one, two| {
        let (one, two) = (one.rank(), two.rank());
        one.0.cmp(&two.0).then(one.1.total_cmp(&two.1))
    });
    wanting
}

/// The items that fit into `room` bytes, and their number.
pub fn render_fitting(report: &Report, wanting: &[FailingItem<'_>], room: usize) -> (String, usize) {
    let (mut text, mut shown) = (String::new(), 0);
    for item in wanting {
        let next = section(report, item);
        if text.len() + next.len() > room {
            break;
        }
        text += &next;
        shown += 1;
    }
    (text, shown)
}

fn section(report: &Report, wanting: &FailingItem<'_>) -> String {
    let mut found: Vec<_> = wanting
        .low
        .iter()
        .take(MOST_LOW)
        .map(|(evaluator, score)| format!("{} {}", inline_name(evaluator), format_score(*score)))
        .collect();
    if wanting.low.len() > MOST_LOW {
        found.push(format!("and {} more", wanting.low.len() - MOST_LOW));
    }
    if wanting.item.is_in_error() {
        found.insert(0, "in error".to_owned());
    }
    let mut text = format!("\n### {}: {}\n\n", heading(wanting.item), found.join(", "));
    text += &item_block(report, wanting.item, LONGEST_ITEM);
    text
}

/// An item by its key and its index.
pub fn heading(item: &ItemResult) -> String {
    format!("Item {} (index {})", inline_name(&item.key), item.index)
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
