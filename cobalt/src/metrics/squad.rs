//! How answers to questions are compared: the metrics of SQuAD 1.1 (Rajpurkar and others 2016).

use super::overlap::{Overlap, common_sequences};

/// What SQuAD leaves out of an answer.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Brings an answer to the form in which SQuAD 1.1 compares: in lower case, without the punctuation of ASCII, without the words
/// `a`, `an` and `the`, and with one space between words.
///
/// ```
/// assert_eq!(cobalt::metrics::squad_normalize("The  U.S. dollar!"), "us dollar");
/// ```
#[must_use]
pub fn squad_normalize(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    // Where the run of letters and digits begins that the text ends with.
    let mut run = 0;
    for letter in text.to_lowercase().chars().filter(|letter| !letter.is_ascii_punctuation()) {
        if letter.is_alphanumeric() {
            normal.push(letter);
            continue;
        }
        drop_article(&mut normal, run);
        if super::words::is_white_space(letter) {
            end_word(&mut normal);
        } else {
            normal.push(letter);
        }
        run = normal.len();
    }
    drop_article(&mut normal, run);
    normal.truncate(normal.trim_end_matches(' ').len());
    normal
}

/// Puts a space in place of the run of letters at the end where that is an article.
fn drop_article(normal: &mut String, run: usize) {
    if ARTICLES.contains(&&normal[run..]) {
        normal.truncate(run);
        end_word(normal);
    }
}

/// Puts a space where a word has come to its end.
fn end_word(normal: &mut String) {
    if !normal.is_empty() && !normal.ends_with(' ') {
        normal.push(' ');
    }
}

/// Token F1 of SQuAD 1.1: the words that output and reference share once both are [normalised](squad_normalize), in whatever
/// order, each counted as often as in the one that has fewer of it.
///
/// As in SQuAD 1.1, nothing is shared where nothing is left of a text: two answers `the` have an F1 of 0, but
/// [match](squad_exact_match).
///
/// ```
/// use cobalt::metrics::token_f1;
///
/// assert_eq!(token_f1("The old mill", "a mill").f1, 2.0 / 3.0);
/// ```
#[must_use]
pub fn token_f1(output: &str, reference: &str) -> Overlap {
    let texts = [output, reference].map(squad_normalize);
    let [output, reference] =
        texts.each_ref().map(|text| text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>());
    Overlap::of_counts(common_sequences(&output, &reference, 1), output.len(), reference.len())
}

/// Exact match of SQuAD 1.1: whether output and reference are the same text once both are [normalised](squad_normalize).
///
/// ```
/// assert!(cobalt::metrics::squad_exact_match("The Mill.", "mill"));
/// ```
#[must_use]
pub fn squad_exact_match(output: &str, reference: &str) -> bool {
    squad_normalize(output) == squad_normalize(reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_is_a_word_by_itself() {
        assert_eq!(squad_normalize("A theatre, an anthem, the arena"), "theatre anthem arena");
        assert_eq!(squad_normalize("the–end of “a” line"), "–end of “ ” line");
        assert_eq!(squad_normalize("thé a9 the_end th.e"), "thé a9 theend");
    }

    #[test]
    fn words_are_parted_by_one_space_and_nothing_is_at_the_ends() {
        assert_eq!(squad_normalize(" \t the\u{a0}old \u{1f} , mill a\n"), "old mill");
        assert_eq!(squad_normalize("... the a an"), "");
    }

    #[test]
    fn texts_of_which_nothing_is_left_match_but_share_nothing() {
        assert!(squad_exact_match("the", "...") && squad_exact_match("", ""));
        assert_eq!(token_f1("the", "the"), Overlap::default());
    }

    #[test]
    fn a_word_counts_as_often_as_the_text_with_fewer_has_it() {
        let overlap = token_f1("mill mill mill", "old mill mill");
        assert_eq!((overlap.precision, overlap.recall), (2.0 / 3.0, 2.0 / 3.0));
    }
}
