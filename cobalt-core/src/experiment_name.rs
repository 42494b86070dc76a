//! The two forms of an experiment's name: declared (`traveller/gpt-4o-mini`) and in test cases (`traveller-gpt-4o-mini`). Users
//! can use either form.

use crate::pattern::Pattern;
use crate::report::SourceLocation;
use crate::slug::slug;

/// The maximum length of the experiment part of a test case name, in bytes.
const LONGEST: usize = 160;

/// Converts a declared name to its test case form.
#[must_use]
pub fn case_name(declared: &str) -> String {
    let name = slug(declared, LONGEST);
    if name.is_empty() { "experiment".to_owned() } else { name }
}

/// The message for two experiments that would share test case and file names.
#[must_use]
pub fn conflict_message(
    (name, place): &(String, SourceLocation),
    (other_name, other): &(String, SourceLocation),
) -> String {
    let both = match name == other_name {
        true => format!("two experiments are named `{name}`: at {place} and at {other}"),
        false => format!(
            "two experiments have the name `{}` in test cases and files: `{name}` at {place} and `{other_name}` at {other}",
            case_name(name)
        ),
    };
    format!("{both}; give one of them a different `name`")
}

/// Whether `typed` is the name of this experiment, in either form.
#[must_use]
pub fn matches_name(typed: &str, declared: &str) -> bool {
    typed == declared || typed == case_name(declared)
}

/// Whether a pattern matches either form.
#[must_use]
pub fn matches(pattern: &Pattern, declared: &str) -> bool {
    pattern.matches(declared) || pattern.matches(&case_name(declared))
}

/// The declared name that `typed` refers to: an exact match, or else the first whose test case form matches.
#[must_use]
pub fn find_declared<'a>(typed: &str, declared: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let by_case_name = || declared.clone().find(|name| case_name(name) == typed);
    declared.clone().find(|name| *name == typed).or_else(by_case_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_form_names_an_experiment() {
        let declared = "traveller/gpt-4o-mini";
        assert_eq!(case_name(declared), "traveller-gpt-4o-mini");
        assert!(matches_name(declared, declared) && matches_name("traveller-gpt-4o-mini", declared));
        assert!(!matches_name("traveller", declared));
        assert_eq!(case_name("?!"), "experiment");
    }

    #[test]
    fn a_pattern_matches_either_form() {
        let matches = |pattern: &str| matches(&pattern.parse().unwrap(), "Q & A: desk");
        for pattern in ["Q & A", "Q-A", "A: d", "A-d", "Q-A-d*", "Q & * desk"] {
            assert!(matches(pattern), "{pattern}");
        }
        assert!(!matches("Q/A") && !matches("Q-A"[..1].to_lowercase().as_str()));
    }

    #[test]
    fn the_declared_form_goes_before_that_of_another_experiment() {
        assert_eq!(find_declared("a-b", ["a/b", "a-b"].into_iter()), Some("a-b"));
        assert_eq!(find_declared("a-b", ["a/b", "a b"].into_iter()), Some("a/b"));
        assert_eq!(find_declared("a/b", ["a-b"].into_iter()), None);
    }
}
