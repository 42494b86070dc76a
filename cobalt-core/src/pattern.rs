//! Patterns for names: a substring or, with `*`, `?` or `[…]`, a glob for the whole name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A pattern for names. Case-sensitive.
///
/// ```
/// use cobalt_core::pattern::Pattern;
///
/// let part: Pattern = "desk".parse()?;
/// assert!(part.matches("help-desk-gated"));
/// let whole: Pattern = "help-*".parse()?;
/// assert!(whole.matches("help-desk") && !whole.matches("my-help-desk"));
/// # Ok::<(), cobalt_core::pattern::PatternError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(PatternKind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternKind {
    /// A substring of the name.
    Substring(String),
    /// A glob for the whole name.
    Glob(glob::Pattern),
}

/// An invalid glob.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not a valid pattern: {} at character {}; write a literal `[` as `[[]`", .source.msg, .source.pos)]
pub struct PatternError {
    text: String,
    source: glob::PatternError,
}

impl Pattern {
    /// Whether a name matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match &self.0 {
            PatternKind::Substring(part) => name.contains(part),
            PatternKind::Glob(glob) => glob.matches(name),
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        if text.contains(['*', '?', '[']) {
            let refused = |source| PatternError { text: text.to_owned(), source };
            glob::Pattern::new(text).map(|glob| Self(PatternKind::Glob(glob))).map_err(refused)
        } else {
            Ok(Self(PatternKind::Substring(text.to_owned())))
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            PatternKind::Substring(part) => f.write_str(part),
            PatternKind::Glob(glob) => f.write_str(glob.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        pattern.parse::<Pattern>().unwrap().matches(name)
    }

    #[test]
    fn a_plain_text_is_looked_for_in_the_name() {
        assert!(matches("desk", "help-desk-gated"));
        assert!(!matches("Desk", "help-desk-gated"));
    }

    #[test]
    fn a_pattern_matches_the_whole_name() {
        assert!(matches("help-*", "help-desk"));
        assert!(!matches("desk*", "help-desk"));
        assert!(matches("v[12]?", "v2b"));
        assert!(matches("*", "any/name"));
    }

    #[test]
    fn a_pattern_that_makes_no_sense_is_refused() {
        let message = "[a".parse::<Pattern>().unwrap_err().to_string();
        assert_eq!(
            message,
            "`[a` is not a valid pattern: invalid range pattern at character 0; write a literal `[` as `[[]`"
        );
        assert!(matches("a[[]b", "a[b"));
    }
}
