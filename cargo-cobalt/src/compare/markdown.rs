//! A comparison as Markdown, as for a comment on a pull request. What was not written by us stands in code spans and blocks,
//! where it can neither format nor mention anything.

use std::fmt::Write as _;

use cobalt::report::comparison::{Comparison, Difference, ItemChange, ItemSide, RunIdentity, Verdict};
use cobalt::reporters::explained;

use super::{Compared, sides, words};
use crate::terminal::one_line;

/// The longest text of an item, in characters.
const LONGEST: usize = 600;

/// The comparison as Markdown in GitHub's dialect.
pub(super) fn markdown(compared: &Compared) -> String {
    let comparison = &compared.comparison;
    let mut text = format!("### {}: {}\n\n", code(&words::experiments(comparison)), headline(comparison));
    text.push_str("| | run | start (UTC) | commit | size |\n|---|---|---|---|---|\n");
    for (label, run) in [("base", &comparison.base), ("other", &comparison.other)] {
        text.push_str(&row(label, run));
    }
    let _ = writeln!(text, "\nItems: {}.", words::matching(&comparison.items, code));
    for note in &comparison.notes {
        let _ = writeln!(text, "\n> {}", sentence(note));
    }
    for (title, differences) in [("score", &comparison.evaluators), ("amount", &comparison.amounts)] {
        if !differences.is_empty() {
            let _ = writeln!(
                text,
                "\n| {title} | {} |\n|---|--:|--:|--:|--:|--:|--:|---|",
                words::TITLES.join(" | ")
            );
            differences.iter().for_each(|difference| text.push_str(&figures(difference)));
        }
    }
    text.push('\n');
    for difference in words::differences(comparison) {
        let _ = writeln!(text, "- {}: {}", code(&difference.name), explained(difference));
    }
    if let Some(correction) = words::correction(comparison) {
        let _ = writeln!(text, "\n{correction}.");
    }
    if !compared.most_changed.is_empty() {
        text.push_str("\n<details><summary>The items that changed most</summary>\n");
        compared.most_changed.iter().for_each(|change| item(&mut text, compared, change));
        text.push_str("\n</details>\n");
    }
    text
}

fn headline(comparison: &Comparison) -> String {
    if let Some(nothing) = words::without_headline(comparison) {
        return nothing.to_owned();
    }
    let said = words::headline(comparison).into_iter().map(|(verdict, names)| {
        let names = names.into_iter().map(code).collect::<Vec<_>>().join(", ");
        format!("{verdict} in {names}")
    });
    said.collect::<Vec<_>>().join("; ")
}

fn row(label: &str, run: &RunIdentity) -> String {
    let commit = words::commit(run).unwrap_or_default();
    format!(
        "| {label} | {} | {} | {} | {} |\n",
        cell(&code(&run.id)),
        words::start(run),
        cell(&sentence(&commit)),
        words::size(run)
    )
}

fn figures(difference: &Difference) -> String {
    let [figures @ .., mut verdict] = words::cells(difference);
    if matches!(difference.verdict, Verdict::Better | Verdict::Worse) {
        verdict = format!("**{verdict}**");
    }
    format!("| {} | {} | {verdict} |\n", cell(&code(&difference.name)), figures.join(" | "))
}

fn item(text: &mut String, compared: &Compared, change: &ItemChange) {
    let scores = sides::scores(change, code);
    let scores = if scores.is_empty() { "failed in one of the runs".to_owned() } else { scores };
    let other = if change.content_changed { ", with other content" } else { "" };
    let _ = writeln!(text, "\n**{}**: {scores}{other}", code(&change.key));
    block(text, "input", &sides::input(change));
    let [base, other] = sides::outputs(change, LONGEST);
    let mut side = |label: &str, side: &ItemSide, output: &str, runs: usize| {
        let run = if runs > 1 { format!(", run {} of {runs}", side.run + 1) } else { String::new() };
        let reasons = sides::reasons(change, side, str::to_owned);
        block(text, &format!("{label}{run}"), output);
        for reason in reasons {
            let _ = writeln!(text, "\n{}", code(&cut(&reason)));
        }
    };
    side("base", &change.base, &base, compared.comparison.base.runs);
    side("other", &change.other, &other, compared.comparison.other.runs);
}

fn block(text: &mut String, label: &str, content: &str) {
    let content = cut(content);
    let content = cobalt::reporters::printable(&content);
    let fence = "`".repeat(longest_run(&content).max(2) + 1);
    let _ = writeln!(text, "\n{label}:\n\n{fence}text\n{content}\n{fence}");
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text in a code span, on one line.
fn code(text: &str) -> String {
    let text = one_line(text);
    if text.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    // Without the spaces, a backtick at an end would be part of the fence.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// What stands in a cell of a table: even in a code span, a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// How many backticks stand side by side, at the most.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// A sentence of ours, in which names of others stand in backticks. Where these have backticks themselves, so that parts of
/// them may stand outside, all is code: a backslash would not keep an `@` from mentioning somebody.
fn sentence(text: &str) -> String {
    let text = one_line(text);
    let is_ours = |character: char| character.is_ascii_alphanumeric() || " ,;:()'".contains(character);
    let parts: Vec<_> = text.split('`').collect();
    let is_well_formed = parts.len() % 2 == 1 && !text.contains("``");
    if is_well_formed && parts.iter().step_by(2).all(|outside| outside.chars().all(is_ours)) {
        text
    } else {
        code(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_code_span() {
        assert_eq!(code("right"), "`right`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code(" "), "(empty)");
        assert_eq!(code("a\n# b"), "`a\\n# b`");
        assert_eq!(cell(&code("a|b")), "`a\\|b`");
    }

    #[test]
    fn a_name_in_a_sentence_stays_as_it_is_and_can_mention_nobody() {
        assert_eq!(sentence("`a_b`, `<c>` are new"), "`a_b`, `<c>` are new");
        assert_eq!(sentence("only `x` @you `y` is new"), "``only `x` @you `y` is new``");
        assert_eq!(sentence("`a`b` @you"), "`` `a`b` @you ``");
        assert_eq!(sentence("0123456 with changes"), "0123456 with changes");
    }

    #[test]
    fn no_text_leaves_its_block() {
        let mut text = String::new();
        block(&mut text, "base", "```\n# a\n````");
        assert_eq!(text, "\nbase:\n\n`````text\n```\n# a\n````\n`````\n");
    }
}
