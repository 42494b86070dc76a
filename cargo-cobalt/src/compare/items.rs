//! The items that changed most, for a terminal.

use std::fmt::Write as _;

use cobalt::report::comparison::{Comparison, ItemChange, ItemSide};
use cobalt::reporters::Paint;

use super::sides;
use super::text::paragraph;
use crate::terminal::{one_line, wrap};

/// The indent of what belongs to an item, with its label.
const INDENT: usize = 11;
/// The most lines of a text.
const LINES: usize = 3;
/// How wide texts are where no terminal reads.
const USUAL: usize = 120;

/// Writes the items, each with its scores, its input, and both outputs with the evaluators' reasons.
pub(super) fn write(
    text: &mut String,
    comparison: &Comparison,
    changes: &[ItemChange],
    width: Option<usize>,
    paint: Paint,
) {
    let room = width.unwrap_or(USUAL).saturating_sub(INDENT).max(INDENT);
    for change in changes {
        let scores = sides::scores(change, one_line);
        let look = if change.change < 0.0 { Paint::bad } else { Paint::good };
        let scores = if scores.is_empty() { "failed in one of the runs".to_owned() } else { scores };
        let other = if change.content_changed { ", with other content" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}{other}", paint.strong(one_line(&change.key)));
        paragraph(text, "    ", &scores, width, |line| look(paint, line));
        labelled(text, "input", &sides::input(change), room, paint);
        let [base, other] = sides::outputs(change, room);
        let mut side = |label, side: &ItemSide, output: &str, runs: usize| {
            let run = if runs > 1 { format!("[run {} of {runs}] ", side.run + 1) } else { String::new() };
            labelled(text, label, &format!("{run}{output}"), room, paint);
            for reason in sides::reasons(change, side, one_line) {
                for line in wrap(&one_line(&reason), room, LINES) {
                    let _ = writeln!(text, "{:INDENT$}{}", "", paint.faint(line));
                }
            }
        };
        side("base", &change.base, &base, comparison.base.runs);
        side("other", &change.other, &other, comparison.other.runs);
    }
}

fn labelled(text: &mut String, label: &str, content: &str, room: usize, paint: Paint) {
    for (index, line) in wrap(&one_line(content), room, LINES).into_iter().enumerate() {
        let label = format!("    {:1$}", if index == 0 { label } else { "" }, INDENT - 4);
        let _ = writeln!(text, "{}{line}", paint.faint(label));
    }
}
