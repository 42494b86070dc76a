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

impl Pattern {
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Part(part) => name.contains(part),
            Self::Glob(glob) => glob.matches(name),
        }
    }
}

impl FromStr for Pattern {
    type Err = glob::PatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains(['*', '?', '[']) {
            text.parse().map(Self::Glob)
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
        assert!("[a".parse::<Pattern>().is_err());
    }
}
