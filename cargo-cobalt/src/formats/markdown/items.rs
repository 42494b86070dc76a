//! The items of a run that somebody should look at, each with what is known of it.

use std::fmt::Write as _;

use cobalt::Report;
use cobalt::report::RunVerdict;
use cobalt::reporters::explain;
use cobalt::wording::{count, cut};

use crate::formats::{Gravity, Notable};
use crate::markdown::{code, fenced};

/// The longest explanation of an item, in characters.
const LONGEST: usize = 3000;
/// The longest error in a line, in characters.
const LONGEST_ERROR: usize = 200;

/// The items, of which at most so many are told; empty where there are none.
pub(super) fn items(report: &Report, notable: &[Notable<'_>], most: usize) -> String {
    if notable.is_empty() {
        return String::new();
    }
    // Where something failed, the reader is spared a click.
    let open =
        if notable[0].gravity == Gravity::Low && report.verdict != RunVerdict::Failed { "" } else { " open" };
    let mut text = format!("\n<details{open}><summary>{}</summary>\n", title(notable));
    for item in notable.iter().take(most) {
        let reason = item.reason(code, |error| code(&cut(error, LONGEST_ERROR)));
        let _ = writeln!(text, "\n{} **{}**: {reason}\n", sign(item.gravity), code(&item.name));
        let explained = explain(item.item, &report.name, &report.config);
        text += &fenced(&cut(&explained, LONGEST));
    }
    if notable.len() > most {
        let _ = writeln!(text, "\nand {}", count(notable.len() - most, "more item"));
    }
    text + "\n</details>\n"
}

/// How many items there are of each kind.
pub(crate) fn title(notable: &[Notable<'_>]) -> String {
    let kinds =
        [(Gravity::Error, "in error"), (Gravity::Failed, "failed"), (Gravity::Low, "with low scores")];
    let counted = kinds.into_iter().filter_map(|(gravity, what)| {
        let number = notable.iter().filter(|item| item.gravity == gravity).count();
        (number > 0).then(|| format!("{} {what}", count(number, "item")))
    });
    counted.collect::<Vec<_>>().join(", ")
}

fn sign(gravity: Gravity) -> &'static str {
    if gravity == Gravity::Low { "⚠️" } else { "❌" }
}
