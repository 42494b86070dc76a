//! The classes of letters by which tokens are parted.

use std::sync::LazyLock;

use regex_syntax::hir::{Class as Letters, HirKind};

use crate::metrics::words::is_white_space;

/// What a letter is to a tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Space,
    Number,
    /// A token by itself, but for numbers beside it.
    Mark,
    /// A token by itself.
    Symbol,
    /// A token by itself after a number.
    Dash,
    Other,
}

/// The classes of mteval-v13a.
pub(super) fn western(letter: char) -> Class {
    match letter {
        '0'..='9' => Class::Number,
        '.' | ',' => Class::Mark,
        '-' => Class::Dash,
        '\'' => Class::Other,
        '!'..='/' | ':'..='@' | '['..='`' | '{'..='~' => Class::Symbol,
        _ if is_white_space(letter) => Class::Space,
        _ => Class::Other,
    }
}

/// The classes of sacrebleu's tokenizer for Chinese: what it takes for Chinese is a token by itself, and the rest has the classes
/// of mteval-v13a.
pub(super) fn chinese(letter: char) -> Class {
    /// From the first to the last letter of each stretch. The first is not of Chinese letters, but of punctuation and symbols:
    /// sacrebleu writes the five digits of rarer letters with an escape that reads four of them.
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
    match western(letter) {
        Class::Other if is_chinese() => Class::Symbol,
        class => class,
    }
}

/// The classes of mteval-v14: numbers, punctuation and symbols of Unicode.
pub(super) fn international(letter: char) -> Class {
    match letter {
        'a'..='z' | 'A'..='Z' => Class::Other,
        ' ' => Class::Space,
        '0'..='9' => Class::Number,
        '$' | '+' | '<'..='>' | '^' | '`' | '|' | '~' => Class::Symbol,
        '!'..='/' | ':'..='@' | '['..='_' | '{'..='}' => Class::Mark,
        _ if is_white_space(letter) => Class::Space,
        _ => by_unicode(letter),
    }
}

/// Classes with the first and the last letter of each stretch, in the order of letters.
static STRETCHES: LazyLock<Vec<(char, char, Class)>> = LazyLock::new(|| {
    let classes = [(r"\p{N}", Class::Number), (r"\p{P}", Class::Mark), (r"\p{S}", Class::Symbol)];
    let mut stretches: Vec<_> =
        classes.into_iter().flat_map(|(pattern, class)| stretches(pattern, class)).collect();
    stretches.sort_unstable_by_key(|(first, ..)| *first);
    stretches
});

fn by_unicode(letter: char) -> Class {
    let next = STRETCHES.partition_point(|(first, ..)| *first <= letter);
    match next.checked_sub(1).map(|index| STRETCHES[index]) {
        Some((_, last, class)) if letter <= last => class,
        _ => Class::Other,
    }
}

/// The stretches of letters that a pattern names.
fn stretches(pattern: &str, class: Class) -> Vec<(char, char, Class)> {
    let parsed = regex_syntax::parse(pattern).expect("the name of a class that the feature `unicode` knows");
    match parsed.into_kind() {
        HirKind::Class(Letters::Unicode(letters)) => {
            letters.iter().map(|stretch| (stretch.start(), stretch.end(), class)).collect()
        }
        _ => Vec::new(),
    }
}
