//! Regular expressions, compiled for how they are to match.

use regex::{Error, Regex, RegexBuilder};

/// How a pattern is to match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matching {
    /// Whether the whole text must match.
    pub(super) whole: bool,
    pub(super) case_sensitive: bool,
}

impl Default for Matching {
    fn default() -> Self {
        Self { whole: false, case_sensitive: true }
    }
}

/// A regular expression, or what is wrong with it.
pub(crate) fn expression(pattern: &str) -> Result<Regex, String> {
    compile(pattern, Matching::default())
}

/// A regular expression that matches in this way, or what is wrong with it.
pub(super) fn compile(pattern: &str, matching: Matching) -> Result<Regex, String> {
    let built = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(!matching.case_sensitive).build();
    let broken =
        |error: Error| format!("`{}` is no regular expression: {}", super::shown(pattern), cause(&error));
    // By itself first: one with too many brackets may be in order within those below.
    let anywhere = built(pattern).map_err(broken)?;
    if !matching.whole {
        return Ok(anywhere);
    }
    // A comment at the end of a pattern with the flag `x` would hide the bracket after it, but for a line of its own.
    built(&format!(r"\A(?:{pattern})\z"))
        .or_else(|_| built(&format!("\\A(?:{pattern}\n)\\z")))
        .map_err(broken)
}

/// What is wrong, without the drawing over several lines that shows where.
fn cause(error: &Error) -> String {
    match error {
        Error::CompiledTooBig(limit) => {
            format!("it takes more than {limit} bytes when compiled; repeat less, or write `[a-z]` for `\\w`")
        }
        error => {
            let text = error.to_string();
            text.rsplit_once("error: ").map_or(&*text, |(_, cause)| cause).trim().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches_whole(pattern: &str, text: &str) -> bool {
        compile(pattern, Matching { whole: true, case_sensitive: true }).unwrap().is_match(text)
    }

    #[test]
    fn a_whole_text_matches_by_any_alternative() {
        assert!(matches_whole("a|ab", "ab"));
        assert!(!matches_whole("a|b", "ab"));
        assert!(!matches_whole("a", "a\n"));
        assert!(!matches_whole("(?m)^a$", "a\na"));
    }

    #[test]
    fn a_comment_at_the_end_hides_nothing() {
        assert!(matches_whole("(?x) a b # the two letters", "ab"));
        assert!(!matches_whole("(?x) a b # the two letters", "ab\n"));
    }

    #[test]
    fn a_broken_pattern_is_told_in_a_line() {
        assert_eq!(expression("(a").unwrap_err(), "`(a` is no regular expression: unclosed group");
        for pattern in ["a)|(?:b", "a)(b"] {
            let whole = compile(pattern, Matching { whole: true, case_sensitive: true });
            assert!(whole.unwrap_err().contains("unopened group"), "{pattern}");
        }
        let error = expression("((a{1000}){1000}){1000}").unwrap_err();
        assert!(error.contains("bytes when compiled"), "{error}");
    }
}
