//! How a run differs from its baseline, in a few lines.

use super::difference::DifferenceFigures;
use super::paint::Paint;
use crate::report::comparison::{Comparison, Difference, Matching, RunIdentity, Verdict};
use crate::wording::count;
use crate::wording::printable;

/// The lines: what the run is held against, each figure, and what speaks against the comparison.
pub(super) fn lines(comparison: &Comparison, paint: Paint) -> Vec<String> {
    let figures = comparison.evaluators.iter().chain(&comparison.amounts);
    let rows: Vec<_> = figures.map(|difference| row(difference, paint)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [name, change, interval] = [0, 1, 2].map(width);
    let rows =
        rows.iter().map(|[a, b, c, verdict]| format!("{a:name$}  {b:change$}  {c:interval$}  {verdict}"));
    let notes = comparison.notes.iter().map(|note| format!("note: {}", printable(note)));
    [run(&comparison.base, &comparison.items)].into_iter().chain(rows).chain(notes).collect()
}

fn run(base: &RunIdentity, items: &Matching) -> String {
    let date = &base.timestamp.to_string()[..10];
    let commit = base.git.as_ref().map(|git| {
        let dirty = if git.dirty { " with changes" } else { "" };
        format!(", commit {}{dirty}", git.commit.get(..7).unwrap_or(&git.commit))
    });
    format!(
        "run {} of {date}{}, {} in common",
        printable(&base.id),
        commit.unwrap_or_default(),
        count(items.matched, "item")
    )
}

/// A figure's name, its two values, the difference with its interval, and what can be said of it.
fn row(difference: &Difference, paint: Paint) -> [String; 4] {
    let DifferenceFigures { base, other, difference: change, ci95, .. } = DifferenceFigures::from(difference);
    // Where no item's figure differs, the interval may have no width.
    let has_width = difference.ci95.is_some_and(|ci| ci.low < ci.high);
    let interval =
        ci95.filter(|_| has_width).map(|interval| format!(" (95 %: {interval})")).unwrap_or_default();
    let verdict = difference.verdict.to_string();
    [
        printable(&difference.name).into_owned(),
        format!("{base} → {other}"),
        format!("{change}{interval}"),
        match difference.verdict {
            Verdict::Better => paint.good(verdict),
            Verdict::Worse => paint.bad(verdict),
            Verdict::Inconclusive => paint.odd(verdict),
            Verdict::WithinNoise => verdict,
        },
    ]
}
