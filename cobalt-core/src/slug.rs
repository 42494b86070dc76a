//! Converts texts to slugs for the names of files and test cases.

use std::sync::LazyLock;

use regex::Regex;

/// Keeps letters and digits of every script with their accents and vowel signs, `-`, `_` and `.`; each run of
/// anything else becomes one `-`. Leading and trailing dots and dashes are removed (`..` is not a file name), and the
/// result is truncated to `max_bytes` of UTF-8 at a character boundary. May be empty.
pub fn slug(text: &str, max_bytes: usize) -> String {
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

/// Whether a character is a combining mark, such as an accent or a virama.
fn is_mark(character: char) -> bool {
    static MARK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\p{M}").expect("a class of Unicode"));
    MARK.is_match(character.encode_utf8(&mut [0; 4]))
}

/// Joiners and variation selectors affect only how a text is rendered.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::slug;

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
