//! How a run differs from its baseline: every figure with its interval and verdict.

use cobalt::report::comparison::{Comparison, Difference, Verdict};
use cobalt::reporters::{explained, printable};
use maud::{Markup, html};

use super::chart;
use super::words::{Mark, badge, code, name};
use crate::compare::words;

/// The titles of a difference's figures, in the order of [`words::cells`].
const TITLES: [&str; 6] = ["Baseline", "This run", "Change", "95 % interval", "P", "Detectable"];

/// The comparison as tables, one of scores and one of amounts.
pub(super) fn section(comparison: &Comparison) -> Markup {
    let base = &comparison.base;
    html! {
        h3 { "Against the baseline" }
        p {
            "Run " (code(&base.id)) " of " (words::start(base)) ", " (words::size(base))
            @if let Some(commit) = words::commit(base) { ", commit " (code(&commit)) }
            ". Items: " (words::matching(&comparison.items, |key| format!("“{}”", printable(key)))) "."
        }
        @for note in &comparison.notes { p.note { (printable(note)) } }
        @if let Some(nothing) = words::without_headline(comparison) { p { (nothing) "." } }
        @for (title, differences) in [("Score", &comparison.evaluators), ("Amount", &comparison.amounts)] {
            @if !differences.is_empty() { (table(title, differences)) }
        }
        @if let Some(correction) = words::correction(comparison) { p.faint { (correction) "." } }
    }
}

fn table(title: &str, differences: &[Difference]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label={ (title) "s against the baseline" } {
            table.baseline {
                thead {
                    tr {
                        th scope="col" { (title) }
                        th scope="col" { "Verdict" }
                        @for title in TITLES { th.number scope="col" { (title) } }
                        th scope="col" { span.hidden { "Chart of the interval" } }
                    }
                }
                tbody { @for difference in differences { (row(difference, largest(difference, differences))) } }
            }
        }
    }
}

fn row(difference: &Difference, largest: f64) -> Markup {
    let [figures @ .., verdict] = words::cells(difference);
    let mark = match difference.verdict {
        Verdict::Better => Mark::Good,
        Verdict::Worse => Mark::Bad,
        Verdict::Inconclusive => Mark::Odd,
        Verdict::WithinNoise => Mark::None,
    };
    html! {
        tr {
            th scope="row" { (name(&difference.name)) small { (explained(difference)) } }
            td { (badge(mark, &verdict)) }
            @for figure in &figures { td.number { (figure) } }
            td { (chart::difference(difference, mark.class(), largest)) }
        }
    }
}

/// How far the chart of a difference reaches: as far as those of all figures of its kind do.
fn largest(difference: &Difference, all: &[Difference]) -> f64 {
    let alike = all.iter().filter(|other| other.quantity == difference.quantity);
    let ends = alike.filter_map(|it| it.ci95).flat_map(|ci| [ci.low.abs(), ci.high.abs()]);
    ends.fold(0.0, f64::max)
}
