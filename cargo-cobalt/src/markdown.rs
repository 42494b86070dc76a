//! Texts in Markdown of GitHub's dialect. What was not written by us stands in code spans and blocks, where it can neither
//! format nor mention anything.

use std::fmt::Write as _;

use cobalt_core::reporters::printable;
use cobalt_core::wording::cut;

use crate::terminal::one_line;

/// The longest text in a block, in characters.
pub const LONGEST_TEXT: usize = 600;

/// A text in a block of code under a label, cut to [`LONGEST_TEXT`].
pub fn block(text: &mut String, label: &str, content: &str) {
    let _ = write!(text, "\n{label}:\n\n{}", fenced(&cut(content, LONGEST_TEXT)));
}

/// A text in a block of code.
pub fn fenced(content: &str) -> String {
    let content = printable(content);
    let fence = "`".repeat(longest_run(&content).max(2) + 1);
    format!("{fence}text\n{content}\n{fence}\n")
}

/// A text in a code span, on one line.
pub fn code(text: &str) -> String {
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
pub fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// How many backticks stand side by side, at the most.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// A sentence of ours, in which names of others stand in backticks. Where these have backticks themselves, so that parts of
/// them may stand outside, all is code: a backslash would not keep an `@` from mentioning somebody.
pub fn sentence(text: &str) -> String {
    let text = one_line(text);
    let is_ours = |character: char| character.is_ascii_alphanumeric() || " ,;:()'✅❌".contains(character);
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
