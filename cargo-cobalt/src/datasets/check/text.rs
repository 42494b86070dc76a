//! What was found in a data set, as people read it.

use cobalt::reporters::Paint;
use cobalt::wording::{count, cut, decimal};

use super::Checked;
use super::finding::{Finding, Level, Place};
use crate::datasets::values::plain;
use crate::terminal::{fit, one_line};

/// How many findings of one check are shown.
const MOST_FINDINGS: usize = 10;
/// How many items of a finding are shown.
const MOST_ITEMS: usize = 4;
/// The most characters of a value where no terminal tells a width.
const LONGEST: usize = 200;
/// What stands before a finding's items.
const INDENT: &str = "         ";

/// A line for the set, then its findings, the errors first.
pub(super) fn text(checked: &Checked, width: Option<usize>, paint: Paint) -> String {
    let of = |level| checked.findings.iter().filter(|finding| finding.level == level).count();
    let counts = [(of(Level::Error), "error"), (of(Level::Note), "note")];
    let counts: Vec<_> = counts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| count(number, noun))
        .collect();
    let counts = if counts.is_empty() { paint.good("nothing found") } else { counts.join(", ") };
    let items = count(checked.items, "item");
    let mut text = format!("{}: {items}, {counts}\n", paint.strong(one_line(&checked.source)));
    for of_check in checked.findings.chunk_by(|one, other| one.check == other.check) {
        for finding in &of_check[..of_check.len().min(MOST_FINDINGS)] {
            text += &lines(finding, width, paint);
        }
        if let Some(more @ 1..) = of_check.len().checked_sub(MOST_FINDINGS) {
            let more = format!("{INDENT}and {more} more of this kind (`--json` has all)");
            text += &(paint.faint(cut_to(&more, width)) + "\n");
        }
    }
    text
}

fn lines(finding: &Finding, width: Option<usize>, paint: Paint) -> String {
    let level = match finding.level {
        Level::Error => paint.bad("error"),
        Level::Note => paint.odd("note "),
    };
    let mut text = format!("  {level}  {}\n", one_line(&finding.message));
    for place in &finding.items[..finding.items.len().min(MOST_ITEMS)] {
        text += &(cut_to(&format!("{INDENT}{}", shown(place)), width) + "\n");
    }
    if let Some(more @ 1..) = finding.items.len().checked_sub(MOST_ITEMS) {
        text += &format!("{INDENT}{}\n", paint.faint(format!("and {}", count(more, "more item"))));
    }
    text
}

fn shown(place: &Place) -> String {
    let line = place.line.map(|line| format!("line {line}, ")).unwrap_or_default();
    let similarity = place
        .similarity
        .map(|similarity| format!(", {} %", decimal((similarity * 1000.0).floor() / 10.0, 1)));
    let value = place.value.as_ref().map(|value| format!(": {}", cut(&plain(value), LONGEST)));
    let key = &place.key;
    one_line(&format!("{line}`{key}`{}{}", similarity.unwrap_or_default(), value.unwrap_or_default()))
}

fn cut_to(text: &str, width: Option<usize>) -> String {
    width.map_or_else(|| text.to_owned(), |width| fit(text, width))
}
