//! The items of a run that need work, the worst first.

use std::fmt::Write as _;

use cobalt_core::report::{ItemResult, Report};
use cobalt_core::reporters::{expected_field, explain, figure};
use serde_json::Value;

use super::text::{data, name};

/// The most bytes of what is known of an item.
const LONGEST_ITEM: usize = 2500;
/// The most bytes of the fields of an item that are neither its input nor what is expected.
const LONGEST_FIELDS: usize = 600;
/// The most evaluators that are named in the heading of an item.
const MOST_LOW: usize = 5;

/// An item that needs work.
#[derive(Debug)]
pub struct Wanting<'a> {
    pub item: &'a ItemResult,
    /// The evaluators that scored it too low, with the lowest of these scores, the lowest first.
    low: Vec<(&'a str, f64)>,
}

impl Wanting<'_> {
    /// In error first, then by the lowest score.
    fn rank(&self) -> (bool, f64) {
        (!self.item.is_in_error(), self.low.first().map_or(1.0, |(_, score)| *score))
    }
}

/// The items that are in error, or that some evaluator scored below its pass mark or the aim, the worst first.
pub fn wanting(report: &Report, aim: Option<f64>) -> Vec<Wanting<'_>> {
    let aim = aim.unwrap_or(0.0);
    let judged = report.items.iter().filter_map(|item| {
        let scores = report.config.evaluators().filter_map(|(name, mark)| {
            let lowest = item.scores(name).reduce(f64::min)?;
            (lowest < mark.max(aim)).then_some((name, lowest))
        });
        let mut low: Vec<_> = scores.collect();
        low.sort_by(|(_, one), (_, two)| one.total_cmp(two));
        (item.is_in_error() || !low.is_empty()).then_some(Wanting { item, low })
    });
    let mut wanting: Vec<_> = judged.collect();
    // Stable: the data set's order remains among equals.
    wanting.sort_by(|one, two| {
        let (one, two) = (one.rank(), two.rank());
        one.0.cmp(&two.0).then(one.1.total_cmp(&two.1))
    });
    wanting
}

/// As many of the items as have room in so many bytes, and how many these are.
pub fn written(report: &Report, wanting: &[Wanting<'_>], room: usize) -> (String, usize) {
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

fn section(report: &Report, wanting: &Wanting<'_>) -> String {
    let mut found: Vec<_> = wanting
        .low
        .iter()
        .take(MOST_LOW)
        .map(|(evaluator, score)| format!("{} {}", name(evaluator), figure(*score)))
        .collect();
    if wanting.low.len() > MOST_LOW {
        found.push(format!("and {} more", wanting.low.len() - MOST_LOW));
    }
    if wanting.item.is_in_error() {
        found.insert(0, "in error".to_owned());
    }
    let mut text = format!("\n### {}: {}\n\n", heading(wanting.item), found.join(", "));
    text += &known(report, wanting.item, LONGEST_ITEM);
    text
}

/// An item by its key and its index.
pub fn heading(item: &ItemResult) -> String {
    format!("Item {} (index {})", name(&item.key), item.index)
}

/// What is known of an item, as a block: its input, what is expected, the outputs, the scores and reasons, other fields.
pub fn known(report: &Report, item: &ItemResult, most: usize) -> String {
    let mut text = explain(item, &report.name, &report.config);
    let expected = expected_field(&item.input);
    let fields = item
        .input
        .iter()
        .filter(|(field, _)| *field != "input" && *field != "id" && Some(field.as_str()) != expected);
    let fields: serde_json::Map<_, _> = fields.map(|(field, value)| (field.clone(), value.clone())).collect();
    if !fields.is_empty() {
        let fields = Value::Object(fields).to_string();
        let _ = write!(text, "\n  other fields: {}", cobalt_core::wording::cut(&fields, LONGEST_FIELDS));
    }
    data(&text, most)
}
