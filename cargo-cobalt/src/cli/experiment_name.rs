//! An experiment by its name, as flags take it.

use std::fmt;
use std::str::FromStr;

use cobalt::name;
use cobalt::pattern::{Pattern, PatternError};

/// The whole name of an experiment, as declared or as in test cases; or with `*`, `?` or `[…]` a pattern of such names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExperimentName {
    Whole(String),
    /// With the text, as a name may have brackets itself.
    Pattern(Pattern, String),
}

impl ExperimentName {
    pub(crate) fn matches(&self, declared: &str) -> bool {
        match self {
            Self::Whole(typed) => name::is_name_of(typed, declared),
            Self::Pattern(pattern, typed) => {
                name::matches(pattern, declared) || name::is_name_of(typed, declared)
            }
        }
    }
}

impl FromStr for ExperimentName {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        match text.contains(['*', '?', '[']) {
            true => Ok(Self::Pattern(text.parse()?, text.to_owned())),
            false => Ok(Self::Whole(text.to_owned())),
        }
    }
}

/// As it was typed.
impl fmt::Display for ExperimentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(typed) | Self::Pattern(_, typed) => f.write_str(typed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_whole_unless_it_has_wildcards() {
        let matches =
            |typed: &str, declared: &str| typed.parse::<ExperimentName>().unwrap().matches(declared);
        assert!(matches("desk", "desk") && matches("Help-desk", "Help desk"));
        assert!(!matches("desk", "help-desk") && matches("*desk", "help-desk"));
        assert!(matches("desk [v2]", "desk [v2]") && matches("desk [v2]", "desk 2"));
        assert!("[a".parse::<ExperimentName>().is_err());
    }
}
