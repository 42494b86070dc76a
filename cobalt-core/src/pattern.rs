//! Patterns for names: a part of the name or, with `*`, `?` or `[…]`, all of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a name is to match. Case matters.
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
pub struct Pattern(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// The name contains this.
    Part(String),
    /// The whole name matches this.
    Glob(glob::Pattern),
}

/// Why a text with wildcards is no pattern.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is no pattern: {}, at character {}; a plain `[` is written `[[]`", .source.msg, .source.pos)]
pub struct PatternError {
    text: String,
    source: glob::PatternError,
}

impl Pattern {
    /// Whether a name matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Part(part) => name.contains(part),
            Kind::Glob(glob) => glob.matches(name),
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        if text.contains(['*', '?', '[']) {
            let refused = |source| PatternError { text: text.to_owned(), source };
            glob::Pattern::new(text).map(|glob| Self(Kind::Glob(glob))).map_err(refused)
        } else {
            Ok(Self(Kind::Part(text.to_owned())))
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
            Kind::Part(part) => f.write_str(part),
            Kind::Glob(glob) => f.write_str(glob.as_str()),
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
            "`[a` is no pattern: invalid range pattern, at character 0; a plain `[` is written `[[]`"
        );
        assert!(matches("a[[]b", "a[b"));
    }
}
