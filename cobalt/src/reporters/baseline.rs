//! How a run differs from its baseline, in a few lines.

use super::paint::Paint;
use super::printable::printable;
use super::summary::time;
use crate::report::comparison::{Comparison, Difference, Matching, Quantity, RunIdentity, Verdict};
use crate::report::stats::Interval;
use crate::wording::{count, decimal};

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
    let Difference { name, quantity, base, other, ci95, verdict, .. } = difference;
    let interval = ci95.map(|Interval { low, high }| {
        format!("(95 %: {} to {})", signed(*quantity, low), signed(*quantity, high))
    });
    [
        printable(name).into_owned(),
        format!("{} → {}", amount(*quantity, *base), amount(*quantity, *other)),
        format!("{} {}", signed(*quantity, difference.difference), interval.unwrap_or_default()),
        match verdict {
            Verdict::Better => paint.good("better"),
            Verdict::Worse => paint.bad("worse"),
            Verdict::WithinNoise => "no difference seen".to_owned(),
            Verdict::Inconclusive => paint.odd("inconclusive"),
        },
    ]
}

/// A figure in the unit that suits it.
fn amount(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Score => format!("{value:.3}"),
        Quantity::Latency => time(value),
        Quantity::Tokens => decimal(value, 1),
        Quantity::Cost => format!("${}", decimal(value, 6)),
        Quantity::Errors => format!("{:.1} %", value * 100.0),
    }
}

fn signed(quantity: Quantity, value: f64) -> String {
    format!("{}{}", if value < 0.0 { "-" } else { "+" }, amount(quantity, value.abs()))
}
