//! GitHub-flavored Markdown. Text from elsewhere goes into code spans and blocks, so it cannot add formatting or mentions.

use std::fmt::Write as _;

use cobalt_core::reporters::escape_control;
use cobalt_core::wording::truncate;

use crate::terminal::one_line;

/// Maximum length of a text in a block, in characters.
pub const LONGEST_TEXT: usize = 600;

/// Appends a labelled code block, truncated to [`LONGEST_TEXT`].
pub fn block(text: &mut String, label: &str, content: &str) {
    let _ = write!(text, "\n{label}:\n\n{}", fenced(&truncate(content, LONGEST_TEXT)));
}

/// A code block.
pub fn fenced(content: &str) -> String {
    let content = escape_control(content);
    let fence = "`".repeat(longest_run(&content).max(2) + 1);
    format!("{fence}text\n{content}\n{fence}\n")
}

/// A code span on one line.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    if text.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    // Without spaces, a backtick at the start or end would be part of the fence.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// The text of a table cell: a bar would end the cell even in a code span.
pub fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// A sentence of ours with foreign names in backticks. If a name contains backticks itself, part of it could be outside, so the
/// whole sentence becomes code: a backslash would not prevent an `@` from mentioning somebody.
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
        assert_eq!(escape_cell(&code("a|b")), "`a\\|b`");
    }

    #[test]
    fn a_name_in_a_sentence_stays_as_it_is_and_can_mention_nobody() {
        assert_eq!(sentence("`a_b`, `<c>` are new"), "`a_b`, `<c>` are new");
        assert_eq!(sentence("only `x` @you `y` is new"), "``only `x` @you `y` is new``");
        assert_eq!(sentence("`a`b` @you"), "`` `a`b` @you ``");
        assert_eq!(sentence("0123456 with uncommitted changes"), "0123456 with uncommitted changes");
    }

    #[test]
    fn no_text_leaves_its_block() {
        let mut text = String::new();
        block(&mut text, "run A", "```\n# a\n````");
        assert_eq!(text, "\nrun A:\n\n`````text\n```\n# a\n````\n`````\n");
    }
}
