//! The two forms of an experiment's name: as it is declared, `traveller/gpt-4o-mini`, and as it stands in the names of test cases,
//! `traveller-gpt-4o-mini`. Either form finds the experiment, wherever one is named.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::Pattern;
use crate::report::SourcePlace;

/// The longest part of a case's name that comes from an experiment's, in bytes.
const LONGEST: usize = 160;

/// A declared name in the form of case names.
#[must_use]
pub fn case_name(declared: &str) -> String {
    let name = slug(declared, LONGEST);
    if name.is_empty() { "experiment".to_owned() } else { name }
}

/// Says that two experiments, each with its place, would have the same test cases and files.
#[must_use]
pub fn clash((name, place): &(String, SourcePlace), (other_name, other): &(String, SourcePlace)) -> String {
    let both = match name == other_name {
        true => format!("two experiments are named `{name}`: at {place} and at {other}"),
        false => format!(
            "two experiments have the name `{}` in test cases and files: `{name}` at {place} and `{other_name}` at {other}",
            case_name(name)
        ),
    };
    format!("{both}; give one of them another `name`")
}

/// Whether a text names the experiment that is declared so, in either form.
#[must_use]
pub fn is_name_of(typed: &str, declared: &str) -> bool {
    typed == declared || typed == case_name(declared)
}

/// Whether a pattern matches either form.
#[must_use]
pub fn matches(pattern: &Pattern, declared: &str) -> bool {
    pattern.matches(declared) || pattern.matches(&case_name(declared))
}

/// The declared name that a text means: the very same, or else the first that has it as its form in case names.
#[must_use]
pub fn find<'a>(typed: &str, declared: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let by_case_name = || declared.clone().find(|name| case_name(name) == typed);
    declared.clone().find(|name| *name == typed).or_else(by_case_name)
}

/// Keeps letters and digits of every script with their accents and vowel signs, `-`, `_` and `.`; each run of
/// anything else becomes one `-`. Dots and dashes at the ends go (`..` is no file name), and the result is cut
/// to `max_bytes` of UTF-8 at a character. Empty where nothing is left.
pub(crate) fn slug(text: &str, max_bytes: usize) -> String {
    let mut slug = String::with_capacity(text.len().min(max_bytes));
    let mut gap = false;
    for character in text.chars().filter(|character| !is_invisible(*character)) {
        if !belongs(character, slug.chars().next_back().filter(|_| !gap)) {
            gap = true;
            continue;
        }
        let dash = gap && !slug.is_empty() && !slug.ends_with('-') && character != '-';
        if slug.len() + usize::from(dash) + character.len_utf8() > max_bytes {
            break;
        }
        if dash {
            slug.push('-');
        }
        gap = false;
        if !(slug.is_empty() && matches!(character, '-' | '.')) {
            slug.push(character);
        }
    }
    slug.truncate(slug.trim_end_matches(['-', '.']).len());
    slug
}

fn belongs(character: char, previous: Option<char>) -> bool {
    character.is_alphanumeric()
        || matches!(character, '-' | '_' | '.')
        || (!character.is_ascii()
            && previous.is_some_and(|previous| previous.is_alphanumeric() || is_mark(previous))
            && is_mark(character))
}

/// Whether a character only completes the one before it, such as a combining accent or a virama.
fn is_mark(character: char) -> bool {
    static MARK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\p{M}").expect("a class of Unicode"));
    MARK.is_match(character.encode_utf8(&mut [0; 4]))
}

/// Joiners and variation selectors change how a text is drawn, not what it says.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::{slug, *};

    #[test]
    fn either_form_names_an_experiment() {
        let declared = "traveller/gpt-4o-mini";
        assert_eq!(case_name(declared), "traveller-gpt-4o-mini");
        assert!(is_name_of(declared, declared) && is_name_of("traveller-gpt-4o-mini", declared));
        assert!(!is_name_of("traveller", declared));
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
        assert_eq!(find("a-b", ["a/b", "a-b"].into_iter()), Some("a-b"));
        assert_eq!(find("a-b", ["a/b", "a b"].into_iter()), Some("a/b"));
        assert_eq!(find("a/b", ["a-b"].into_iter()), None);
    }

    #[test]
    fn runs_of_other_characters_become_one_dash() {
        assert_eq!(slug("How do I  reset: my password?!", 80), "How-do-I-reset-my-password");
        assert_eq!(slug("a::b / c\\d", 80), "a-b-c-d");
        assert_eq!(slug("a - b", 80), "a-b");
        assert_eq!(slug("a -- b", 80), "a--b");
    }

    #[test]
    fn names_that_are_safe_stay_as_they_are() {
        for name in ["reset-password", "v1.2_final", "0007", "Ünïcode", "質問", "a--b"] {
            assert_eq!(slug(name, 80), name);
        }
    }

    #[test]
    fn letters_keep_their_accents_and_vowel_signs() {
        for word in ["हिन्दी", "cafe\u{301}", "ภาษาไทยได้", "العَرَبِيَّة", "ཀ\u{f3f}"]
        {
            assert_eq!(slug(word, 80), word);
        }
        assert_eq!(slug("\u{301}x", 80), "x");
        assert_eq!(slug("a \u{301}x", 80), "a-x");
    }

    #[test]
    fn pictures_and_invisible_characters_leave_nothing_behind() {
        assert_eq!(slug("❤\u{fe0f}", 80), "");
        assert_eq!(slug("a\u{200d}b\u{feff}", 80), "ab");
        assert_eq!(slug("go 🚀 now", 80), "go-now");
    }

    #[test]
    fn dots_and_dashes_at_the_ends_go() {
        assert_eq!(slug("--..a..--", 80), "a");
        assert_eq!(slug("..", 80), "");
        assert_eq!(slug("../../etc/passwd", 80), "etc-passwd");
        assert_eq!(slug("", 80), "");
    }

    #[test]
    fn the_cut_falls_between_characters_and_leaves_no_dash_behind() {
        assert_eq!(slug("質問質問", 7), "質問");
        assert_eq!(slug("abc def", 4), "abc");
        assert_eq!(slug("abc def", 5), "abc-d");
        assert_eq!(slug(&"x".repeat(1000), 80).len(), 80);
        assert_eq!(slug("anything", 0), "");
    }
}
