//! A comparison for who reads: what it comes to, its figures and the items that changed most, in Markdown.

use std::fmt::Write as _;

use cobalt::report::comparison::{ChangedItems, Comparison, Difference, ItemChange};
use cobalt::reporters::explained;

use super::{NAME_ROOM, conclusion, weight};
use crate::compare::{markdown, sides, words};
use crate::markdown::{code, sentence};
use crate::mcp::shown::{self, ROOM, cut, size};

/// The longest key of an item among others, in bytes.
const KEY: usize = 60;
/// The longest reason, in bytes.
const REASON: usize = 300;
/// How many of the figures and items the text tells of take how many bytes.
const FIGURES: usize = 3_000;

/// The comparison in Markdown.
pub(super) fn text(comparison: &Comparison, changed: &ChangedItems) -> String {
    let experiments = code(&cut::text(&words::experiments(comparison), NAME_ROOM));
    let mut text = format!("### {experiments}: {}\n\n", sentence(&conclusion(comparison)));
    text += &markdown::runs(comparison);
    let key = |key: &str| code(&cut::text(key, KEY));
    let _ = writeln!(text, "\nItems: {}.", words::matching(&comparison.items, key));
    for note in comparison.notes.iter().take(3) {
        let _ = writeln!(text, "\n> {}", sentence(&cut::text(note, REASON)));
    }
    text += "\n";
    let mut differences: Vec<_> = words::differences(comparison).collect();
    differences.sort_by_key(|difference| weight(difference.verdict));
    text += &shown::list(differences.into_iter().map(difference), FIGURES / 2, "figure");
    for (changes, count, what) in [
        (&changed.regressed, changed.regressed_count, "worse"),
        (&changed.improved, changed.improved_count, "better"),
    ] {
        if count > 0 {
            let _ = writeln!(text, "\nItems that became {what}: {count}\n");
            let room = (ROOM.saturating_sub(size(&text))).min(FIGURES / 2);
            text += &shown::list(changes.iter().map(item), room, "item");
        }
    }
    text
}

/// A difference in a line.
fn difference(difference: &Difference) -> String {
    let [base, other, change, interval, p, ..] = words::cells(difference);
    let interval = if interval.is_empty() { interval } else { format!(", 95 % interval {interval}") };
    let p = if p.is_empty() { p } else { format!(", p {p}") };
    let name = code(&cut::text(&difference.name, NAME_ROOM / 3));
    format!(
        "- {name} {}: {base} → {other}, {change}{interval}{p}; {}",
        difference.verdict,
        explained(difference)
    )
}

/// An item in a line.
fn item(change: &ItemChange) -> String {
    let first = ItemChange { scores: change.scores.iter().take(3).cloned().collect(), ..change.clone() };
    let quote = |name: &str| code(&cut::text(name, NAME_ROOM / 5));
    let scores = sides::scores(&first, quote);
    let scores = if scores.is_empty() { "failed in one of the runs".to_owned() } else { scores };
    let key = code(&cut::text(&change.key, NAME_ROOM / 3));
    let why = change
        .other
        .error
        .clone()
        .or_else(|| sides::reasons(&first, &change.other, str::to_owned).into_iter().next());
    let why = why.map_or(String::new(), |why| format!(": {}", code(&cut::text(&why, REASON))));
    format!("- {key} {scores}{why}")
}
