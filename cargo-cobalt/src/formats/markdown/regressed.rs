//! The items that became worse since the baseline.

use std::fmt::Write as _;

use cobalt::report::comparison::{Comparison, RegressedItem};
use cobalt::reporters::figure;
use cobalt::wording::cut;

use crate::markdown::{cell, code};

/// The longest key of an item, in characters.
const LONGEST: usize = 120;

/// A table of the items, folded away; empty where there are none.
pub(crate) fn regressed(against: &Comparison) -> String {
    if against.regressed.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n<details><summary>Items that became worse</summary>\n\n| item | score | base | now |\n|---|---|--:|--:|\n",
    );
    against.regressed.iter().for_each(|item| text += &rows(item));
    let worst = against.evaluators.iter().map(|evaluator| evaluator.worse).max().unwrap_or(0);
    if worst > against.regressed.len() {
        let _ = writeln!(text, "\nThese are the worst; by one evaluator alone, {worst} items became worse.");
    }
    text + "\n</details>\n"
}

/// A row for each score that fell, and one for a failure.
fn rows(item: &RegressedItem) -> String {
    let key = cell(&code(&cut(&item.key, LONGEST)));
    let failure = if item.failed { format!("| {key} | | | in error |\n") } else { String::new() };
    let score = |score: Option<f64>| score.map_or_else(String::new, figure);
    let fallen = item.scores.iter().map(|it| {
        format!("| {key} | {} | {} | {} |\n", cell(&code(&it.evaluator)), score(it.base), score(it.other))
    });
    std::iter::once(failure).chain(fallen).collect()
}
