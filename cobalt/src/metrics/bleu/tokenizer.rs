//! BLEU tokenizers, based on character classes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex_syntax::hir::{Class as Letters, HirKind};

use crate::metrics::n_grams::{is_whitespace, words};

/// The tokenizers of sacrebleu 2.6 that need no model, for [`Bleu`](super::Bleu). All of them split at whitespace, which is in no token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BleuTokenizer {
    /// `13a`, as in mteval-v13a: ASCII symbols are tokens; so are full stops and commas, except between digits, and hyphens after digits.
    /// First, `<skipped>`, hyphens at line ends and four HTML entities (such as `&quot;`) are resolved.
    #[default]
    V13a,
    /// `none`: splits only at whitespace.
    None,
    /// `char`: each character (code point) is a token.
    Char,
    /// `intl`, as in mteval-v14: Unicode symbols are tokens; so is punctuation, except between numbers, and after a number at the end.
    Intl,
    /// `zh`: Chinese characters, punctuation and symbols, including full-width ones, are separate tokens; the rest is split as by `13a`,
    /// without its resolving.
    Zh,
}

impl BleuTokenizer {
    /// Prepares a text for tokenization.
    pub(super) fn prepare(self, text: &str, lowercase: bool) -> Cow<'_, str> {
        let text = text.trim_end_matches(is_whitespace);
        let text = if lowercase { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) };
        if self == Self::V13a { resolve_entities(text) } else { text }
    }

    /// Calls a function with each token of a line, in their order.
    pub(super) fn tokens<'a>(self, line: &'a str, each: impl FnMut(&'a str)) {
        match self {
            Self::V13a => split_line(line, class_v13a, Some(Class::Space), each),
            Self::None => words(line).for_each(each),
            Self::Char => words(line)
                .flat_map(|word| {
                    word.char_indices().map(|(start, letter)| &word[start..start + letter.len_utf8()])
                })
                .for_each(each),
            Self::Intl => split_line(line, class_intl, None, each),
            Self::Zh => split_line(line, class_zh, Some(Class::Space), each),
        }
    }
}

/// Resolves what mteval-v13a resolves, one after the other: `&amp;lt;` becomes `<`.
fn resolve_entities(text: Cow<'_, str>) -> Cow<'_, str> {
    const RESOLVED: [(&str, &str); 7] = [
        ("<skipped>", ""),
        ("-\n", ""),
        ("\n", " "),
        ("&quot;", "\""),
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
    ];
    if !text.bytes().any(|byte| matches!(byte, b'<' | b'\n' | b'&')) {
        return text;
    }
    RESOLVED.iter().fold(
        text,
        |text, (from, to)| {
            if text.contains(from) { Cow::Owned(text.replace(from, to)) } else { text }
        },
    )
}

/// Splits a line at whitespace, and makes separate tokens of characters depending on their class and their neighbours. `outside` is the
/// class before and after the line.
///
/// mteval uses regular expressions, one after the other. The first one for marks, such as `([^0-9])([.,])`, consumes two characters and so
/// skips every other mark of a run; the second one, `([.,])([^0-9])`, splits all of those except the last one if a number follows it.
fn split_line<'a>(
    line: &'a str,
    class_of: impl Fn(char) -> Class,
    outside: Option<Class>,
    mut each: impl FnMut(&'a str),
) {
    let mut letters =
        line.char_indices().map(|(at, letter)| (at, letter.len_utf8(), class_of(letter))).peekable();
    let mut token = 0;
    let mut before = outside;
    let mut before_is_taken = false;
    while let Some((at, length, class)) = letters.next() {
        let after = letters.peek().map(|(.., class)| *class).or(outside);
        let no_number = |class: Option<Class>| class.is_some_and(|class| class != Class::Number);
        let is_taken = class == Class::Mark && no_number(before) && !before_is_taken;
        let stands_alone = match class {
            Class::Space | Class::Symbol => true,
            Class::Mark => is_taken || no_number(after),
            Class::Dash => before == Some(Class::Number),
            Class::Number | Class::Other => false,
        };
        if stands_alone {
            if token < at {
                each(&line[token..at]);
            }
            token = at + length;
            if class != Class::Space {
                each(&line[at..token]);
            }
        }
        (before, before_is_taken) = (Some(class), is_taken);
    }
    if token < line.len() {
        each(&line[token..]);
    }
}

/// The class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Space,
    Number,
    /// A separate token, except next to numbers.
    Mark,
    /// A separate token.
    Symbol,
    /// A separate token after a number.
    Dash,
    Other,
}

/// The classes of mteval-v13a.
pub fn class_v13a(letter: char) -> Class {
    match letter {
        '0'..='9' => Class::Number,
        '.' | ',' => Class::Mark,
        '-' => Class::Dash,
        '\'' => Class::Other,
        '!'..='/' | ':'..='@' | '['..='`' | '{'..='~' => Class::Symbol,
        _ if is_whitespace(letter) => Class::Space,
        _ => Class::Other,
    }
}

/// The classes of sacrebleu's Chinese tokenizer: characters that it considers Chinese are separate tokens, the rest has the classes of
/// mteval-v13a.
pub fn class_zh(letter: char) -> Class {
    /// The first and last character of each range. The first range contains punctuation and symbols, not Chinese: sacrebleu writes the
    /// five digits of rarer characters with an escape that reads four of them.
    const STRETCHES: [(char, char); 19] = [
        ('\u{2001}', '\u{2a6d}'),
        ('\u{2e80}', '\u{2eff}'),
        ('\u{2f00}', '\u{2fdf}'),
        ('\u{2ff0}', '\u{2fff}'),
        ('\u{3000}', '\u{303f}'),
        ('\u{3100}', '\u{312f}'),
        ('\u{31a0}', '\u{31bf}'),
        ('\u{31c0}', '\u{31ef}'),
        ('\u{3200}', '\u{32ff}'),
        ('\u{3300}', '\u{33ff}'),
        ('\u{3400}', '\u{4db5}'),
        ('\u{4e00}', '\u{9fa5}'),
        ('\u{9fa6}', '\u{9fbb}'),
        ('\u{f900}', '\u{fa2d}'),
        ('\u{fa30}', '\u{fa6a}'),
        ('\u{fa70}', '\u{fad9}'),
        ('\u{fe10}', '\u{fe1f}'),
        ('\u{fe30}', '\u{fe4f}'),
        ('\u{ff00}', '\u{ffef}'),
    ];
    let is_chinese = || STRETCHES.iter().any(|(first, last)| (*first..=*last).contains(&letter));
    match class_v13a(letter) {
        Class::Other if is_chinese() => Class::Symbol,
        class => class,
    }
}

/// The classes of mteval-v14: numbers, punctuation and symbols of Unicode.
pub fn class_intl(letter: char) -> Class {
    match letter {
        'a'..='z' | 'A'..='Z' => Class::Other,
        ' ' => Class::Space,
        '0'..='9' => Class::Number,
        '$' | '+' | '<'..='>' | '^' | '`' | '|' | '~' => Class::Symbol,
        '!'..='/' | ':'..='@' | '['..='_' | '{'..='}' => Class::Mark,
        _ if is_whitespace(letter) => Class::Space,
        _ => unicode_class(letter),
    }
}

/// Classes with the first and the last character of each range, in order.
static CLASS_RANGES: LazyLock<Vec<(char, char, Class)>> = LazyLock::new(|| {
    let classes = [(r"\p{N}", Class::Number), (r"\p{P}", Class::Mark), (r"\p{S}", Class::Symbol)];
    let mut stretches: Vec<_> =
        classes.into_iter().flat_map(|(pattern, class)| class_ranges(pattern, class)).collect();
    stretches.sort_unstable_by_key(|(first, ..)| *first);
    stretches
});

fn unicode_class(letter: char) -> Class {
    let next = CLASS_RANGES.partition_point(|(first, ..)| *first <= letter);
    match next.checked_sub(1).map(|index| CLASS_RANGES[index]) {
        Some((_, last, class)) if letter <= last => class,
        _ => Class::Other,
    }
}

/// The ranges of characters that match a pattern.
fn class_ranges(pattern: &str, class: Class) -> Vec<(char, char, Class)> {
    let parsed = regex_syntax::parse(pattern).expect("the name of a class that the feature `unicode` knows");
    match parsed.into_kind() {
        HirKind::Class(Letters::Unicode(letters)) => {
            letters.iter().map(|stretch| (stretch.start(), stretch.end(), class)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(tokenizer: BleuTokenizer, text: &str) -> String {
        let line = tokenizer.prepare(text, false);
        let mut tokens = Vec::new();
        tokenizer.tokens(&line, |token| tokens.push(token));
        tokens.join(" ")
    }

    #[test]
    fn texts_have_the_tokens_of_mteval_v13a() {
        for (text, expected) in [
            ("It's 1,000.5 km, i.e. far.", "It's 1,000.5 km , i . e . far ."),
            ("1990-2000 (well-known)", "1990 - 2000 ( well-known )"),
            ("5..6 ..5 7.", "5 . . 6 . .5 7 ."),
            ("&amp;lt;b re-\ntold <skipped>", "< b retold"),
            ("«Oui», 5€ ½… 2020.", "«Oui» , 5€ ½… 2020 ."),
        ] {
            assert_eq!(tokens(BleuTokenizer::V13a, text), expected);
        }
    }

    #[test]
    fn texts_have_the_chinese_tokens_of_sacrebleu() {
        for (text, expected) in [
            ("他有3.5元，2千米。", "他 有 3.5 元 ， 2 千 米 。"),
            ("用Rust写 re-use, 1,000.", "用 Rust 写 re-use , 1,000 ."),
            ("说“好”—行…", "说 “ 好 ” — 行 …"),
            ("&lt;b 中.文", "& lt ; b 中 . 文"),
            // Characters outside the Basic Multilingual Plane are not split.
            ("𠀀𠀁x", "𠀀𠀁x"),
            ("ｗｉｄｅ 漢\u{3000}字", "ｗ ｉ ｄ ｅ 漢 字"),
        ] {
            assert_eq!(tokens(BleuTokenizer::Zh, text), expected);
        }
    }

    #[test]
    fn texts_have_the_international_tokens_of_mteval_v14() {
        for (text, expected) in [
            ("It's 1,000.5 km, i.e. far.", "It ' s 1,000.5 km , i . e . far ."),
            ("1990-2000 (well-known)", "1990-2000 ( well - known )"),
            ("5..6 ..5 7.", "5 . . 6 . .5 7."),
            ("&amp;lt;b re-\ntold <skipped>", "& amp ; lt ; b re - told < skipped >"),
            ("«Oui», 5€ ½… 2020.", "« Oui » , 5 € ½ … 2020."),
        ] {
            assert_eq!(tokens(BleuTokenizer::Intl, text), expected);
        }
    }

    #[test]
    fn white_space_is_in_no_token() {
        for tokenizer in [BleuTokenizer::V13a, BleuTokenizer::None, BleuTokenizer::Char, BleuTokenizer::Intl]
        {
            assert_eq!(tokens(tokenizer, "\u{a0}a\u{1f}é \n "), "a é");
        }
        assert_eq!(tokens(BleuTokenizer::Char, "né à"), "n é à");
    }
}
