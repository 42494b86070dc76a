//! Patterns for names: a part of the name or, with wildcards, all of it.

use std::str::FromStr;

/// What a name is to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// The name contains this.
    Part(String),
    /// The whole name matches this.
    Glob(glob::Pattern),
}

/// Why a text with wildcards is no pattern.
#[derive(Debug, thiserror::Error)]
#[error("{}, at character {}; a plain `[` is written `[[]`", .0.msg, .0.pos)]
pub(crate) struct PatternError(glob::PatternError);

impl Pattern {
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Part(part) => name.contains(part),
            Self::Glob(glob) => glob.matches(name),
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        if text.contains(['*', '?', '[']) {
            glob::Pattern::new(text).map(Self::Glob).map_err(PatternError)
        } else {
            Ok(Self::Part(text.to_owned()))
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
        assert_eq!(message, "invalid range pattern, at character 0; a plain `[` is written `[[]`");
        assert!(matches("a[[]b", "a[b"));
    }
}
