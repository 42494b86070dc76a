//! The features of a message: its words, and their letter trigrams.

use std::collections::BTreeMap;

/// A feature of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Feature {
    /// A word in lower case.
    Word(String),
    /// Three consecutive letters, with a space for the start or end of the word. A typo changes only a few of a word's trigrams.
    Trigram([char; 3]),
}

/// The features of a text with their counts; sorted, so that sums over them are reproducible.
pub(crate) fn features(text: &str) -> BTreeMap<Feature, f64> {
    let mut counts = BTreeMap::new();
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.map(str::to_lowercase) {
        for trigram in trigrams(&word) {
            *counts.entry(Feature::Trigram(trigram)).or_default() += 1.0;
        }
        *counts.entry(Feature::Word(word)).or_default() += 1.0;
    }
    counts
}

fn trigrams(word: &str) -> impl Iterator<Item = [char; 3]> {
    let letters: Vec<char> = format!(" {word} ").chars().collect();
    (2..letters.len()).map(move |last| [letters[last - 2], letters[last - 1], letters[last]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, f64)> {
        let words = features(text).into_iter().filter_map(|(feature, count)| match feature {
            Feature::Word(word) => Some((word, count)),
            Feature::Trigram(_) => None,
        });
        words.collect()
    }

    #[test]
    fn words_are_counted_whatever_stands_between_them() {
        let counted = [("box", 2.0), ("it", 1.0), ("s", 1.0), ("where", 1.0)];
        assert_eq!(words("Where's \"it\"?\n\nBox, box!"), counted.map(|(word, n)| (word.to_owned(), n)));
        assert_eq!(features("?!"), BTreeMap::new());
    }

    #[test]
    fn trigrams_know_where_a_word_begins_and_ends() {
        let of = |word| trigrams(word).map(String::from_iter).collect::<Vec<_>>();
        assert_eq!(of("late"), [" la", "lat", "ate", "te "]);
        assert_eq!(of("né"), [" né", "né "], "letters, not bytes");
        assert_eq!(of("a"), [" a "]);
    }

    #[test]
    fn a_word_of_three_letters_is_not_its_trigram() {
        let features = features("box");
        assert_eq!(features[&Feature::Word("box".to_owned())], 1.0);
        assert_eq!(features[&Feature::Trigram(['b', 'o', 'x'])], 1.0);
    }
}
