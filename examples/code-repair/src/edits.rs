//! The edits that the agent tries: one operator or bound is replaced at a time.

use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// What is replaced, and with what, in the order in which it is tried. Operators have spaces around them, as rustfmt writes them.
const REPLACEMENTS: [(&str, &str); 16] = [
    (" < ", " <= "),
    (" > ", " >= "),
    (" < ", " > "),
    (" > ", " < "),
    (" <= ", " < "),
    (" >= ", " > "),
    ("..", "..="),
    ("..=", ".."),
    (" + 1", ""),
    (" - 1", ""),
    (" + ", " - "),
    (" - ", " + "),
    (" && ", " || "),
    (" || ", " && "),
    (".max(", ".min("),
    (".min(", ".max("),
];

/// Comments are not changed.
static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new("//[^\n]*").expect("the pattern is valid"));

/// An edit of a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    range: Range<usize>,
    line: usize,
    from: &'static str,
    to: &'static str,
}

impl Edit {
    /// The text after the edit.
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        let mut edited = text.to_owned();
        edited.replace_range(self.range.clone(), self.to);
        edited
    }
}

/// Reads like "`<` to `<=` in line 3".
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to.trim() {
            "" => write!(f, "removed `{}` in line {}", self.from.trim(), self.line),
            to => write!(f, "changed `{}` to `{to}` in line {}", self.from.trim(), self.line),
        }
    }
}

/// All edits of a source text.
#[must_use]
pub fn edits(text: &str) -> Vec<Edit> {
    let comments: Vec<_> = COMMENT.find_iter(text).map(|comment| comment.range()).collect();
    let is_code = |at: usize| comments.iter().all(|comment| !comment.contains(&at));
    let mut edits = Vec::new();
    for (from, to) in REPLACEMENTS {
        for (at, _) in text.match_indices(from).filter(|(at, _)| is_code(*at)) {
            // `..` is part of `..=`.
            if !(from == ".." && text[at..].starts_with("..=")) {
                let line = text[..at].matches('\n').count() + 1;
                edits.push(Edit { range: at..at + from.len(), line, from, to });
            }
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operator_in_the_code_is_replaced_alone() {
        let text = "// a < b\nfn f() -> bool {\n    1 < 2 && 3 < 4\n}\n";
        let tried: Vec<_> = edits(text).iter().map(|edit| edit.apply(text)).collect();
        assert_eq!(tried.len(), 5);
        assert!(tried[0].contains("    1 <= 2 && 3 < 4") && tried[1].contains("    1 < 2 && 3 <= 4"));
        assert!(tried[4].contains("1 < 2 || 3 < 4"));
        assert!(tried.iter().all(|tried| tried.starts_with("// a < b")));
    }

    #[test]
    fn a_range_is_closed_or_opened() {
        let of = |text: &str| edits(text).iter().map(|edit| edit.apply(text)).collect::<Vec<_>>();
        assert_eq!(of("1..n"), ["1..=n"]);
        assert_eq!(of("1..=n"), ["1..n"]);
    }

    #[test]
    fn an_edit_is_described_with_its_line() {
        let shown: Vec<_> = edits("a\n + 1").iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["removed `+ 1` in line 2", "changed `+` to `-` in line 2"]);
    }
}
