//! Flesch's reading ease.

use crate::text::{sentences, words};

/// The reading ease of an English text: about 100 is very easy, 60 to 70 is plain English, 30 and less is academic. It can be below 0
/// and above 100. `None` for a text without words.
///
/// 206.835 − 1.015 · words per sentence − 84.6 · syllables per word (R. Flesch, "A new readability yardstick", Journal of
/// Applied Psychology 32, 1948).
#[must_use]
pub fn reading_ease(text: &str) -> Option<f64> {
    let (sentences, count) = (sentences(text).count() as f64, words(text).count() as f64);
    let syllables = words(text).map(syllables).sum::<usize>() as f64;
    (count > 0.0).then(|| 206.835 - 1.015 * count / sentences - 84.6 * syllables / count)
}

/// The approximate number of syllables of an English word, at least one: groups of vowels, minus most silent endings.
#[must_use]
pub fn syllables(word: &str) -> usize {
    let word = word.to_lowercase();
    let is_vowel = |letter: char| matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let mut groups = 0;
    let mut after_vowel = false;
    for letter in word.chars() {
        groups += usize::from(is_vowel(letter) && !after_vowel);
        after_vowel = is_vowel(letter);
    }
    let is_mute = |stem: &str| !stem.ends_with(is_vowel) && !stem.is_empty();
    // `make` and `makes` and `baked`, but not `table`, `houses` or `wanted`.
    let silent = match () {
        () if word.ends_with("le") => word.strip_suffix("le").is_some_and(|stem| stem.ends_with(is_vowel)),
        () if word.ends_with("es") => {
            let hisses = ["ses", "zes", "xes", "ces", "ges", "ches", "shes"];
            !hisses.iter().any(|end| word.ends_with(end)) && is_mute(&word[..word.len() - 2])
        }
        () if word.ends_with("ed") => {
            !word.ends_with("ted") && !word.ends_with("ded") && is_mute(&word[..word.len() - 2])
        }
        () => word.strip_suffix('e').is_some_and(is_mute),
    };
    groups.saturating_sub(usize::from(silent)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syllables_are_counted_without_silent_letters() {
        let counted =
            "the make makes baked table houses wanted whale bicycle readability rhythm be".split(' ');
        assert_eq!(counted.map(syllables).collect::<Vec<_>>(), [1, 1, 1, 1, 2, 2, 2, 1, 3, 5, 1, 1]);
    }

    #[test]
    fn the_figures_are_those_of_the_formula() {
        // Six words of one syllable in one sentence.
        let ease = reading_ease("The cat sat on the mat.").unwrap();
        assert!((ease - (206.835 - 1.015 * 6.0 - 84.6)).abs() < 1e-9, "{ease}");
        assert_eq!(reading_ease(" … "), None);
    }
}
