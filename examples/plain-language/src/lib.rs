//! Plain-language evaluators: a library that other packages link and use by name in `cobalt.toml`.
//!
//! ```toml
//! # In the package's Cargo.toml, under [dev-dependencies]
//! plain-language = { path = "../plain-language" }
//!
//! # In its cobalt.toml
//! evaluators = ["plain_language", { type = "short_sentences", pass-mark = 0.9 }]
//! ```
//!
//! The test target needs `use plain_language as _;`: an unreferenced crate is not linked, and its evaluators are not registered.
//! Experiments can also list them by path: `evaluators = [plain_language::easy_to_read]`.
//!
//! The rules are for English only.

mod jargon;
mod reading_ease;
mod text;

use cobalt::{EvalError, Score};

pub use crate::reading_ease::{reading_ease, syllables};
use crate::text::{sentences, words};

/// The maximum length of an easy sentence in words. Guides to plain English recommend 15 to 20 on average.
const LONGEST_SENTENCE: usize = 25;

/// Flesch's reading ease of the output, divided by 100. 0.6 is plain English, readable at the age of 13.
#[cobalt::evaluator(pass_mark = 0.6)]
pub fn easy_to_read(output: &str) -> Result<Score, EvalError> {
    let ease = reading_ease(output).ok_or_else(no_words)?;
    let score = Score::new((ease / 100.0).clamp(0.0, 1.0)).metadata("readingEase", ease);
    Ok(score.reason(format!("reading ease {ease:.0} of 100")))
}

/// The share of sentences with at most 25 words.
#[cobalt::evaluator(pass_mark = 1.0)]
pub fn short_sentences(output: &str) -> Result<Score, EvalError> {
    let lengths: Vec<_> = sentences(output).map(|sentence| words(sentence).count()).collect();
    let longest = lengths.iter().copied().max().ok_or_else(no_words)?;
    let long = lengths.iter().filter(|words| **words > LONGEST_SENTENCE).count();
    let score = Score::new(1.0 - long as f64 / lengths.len() as f64).metadata("longestSentence", longest);
    Ok(match long {
        0 => score,
        _ => score.reason(format!(
            "{long} of {} sentences are too long; the longest has {longest} words",
            lengths.len()
        )),
    })
}

/// Whether the output avoids jargon that has a plain alternative.
#[cobalt::evaluator]
pub fn no_jargon(output: &str) -> Score {
    let found: Vec<_> = jargon::found(output)
        .into_iter()
        .map(|(word, plain)| format!("\"{word}\" for \"{plain}\""))
        .collect();
    match found.is_empty() {
        true => Score::from(true),
        false => Score::from(false).reason(found.join(", ")),
    }
}

/// The mean of the three scores.
#[cobalt::evaluator(name = "plain_language", pass_mark = 0.7)]
pub fn plain(output: &str) -> Result<Score, EvalError> {
    let parts = [
        ("easyToRead", easy_to_read(output)?),
        ("shortSentences", short_sentences(output)?),
        ("noJargon", no_jargon(output)),
    ];
    let mean = parts.iter().map(|(_, score)| score.value()).sum::<f64>() / parts.len() as f64;
    let reasons: Vec<_> = parts.iter().filter_map(|(_, score)| score.why()).collect();
    let score = Score::new(mean).reason(reasons.join("; "));
    Ok(parts.iter().fold(score, |score, (name, part)| score.metadata(*name, part.value())))
}

fn no_words() -> EvalError {
    EvalError::new("the output has no words to evaluate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_easier_to_read_than_those_of_offices() {
        let plain = easy_to_read("We will fix your bike. Come back on Monday.").unwrap();
        let office = easy_to_read(
            "Remediation of the aforementioned vehicular irregularities necessitates authorisation.",
        );
        assert!(plain.value() > 0.9 && office.unwrap().value() < 0.1, "{plain:?}");
    }

    #[test]
    fn each_sentence_that_is_too_long_costs() {
        let long = "word ".repeat(26);
        let score = short_sentences(&format!("Short. {long}.")).unwrap();
        assert_eq!(
            (score.value(), score.why()),
            (0.5, Some("1 of 2 sentences are too long; the longest has 26 words"))
        );
        assert_eq!(
            short_sentences("Short. As this one.").unwrap(),
            Score::from(true).metadata("longestSentence", 3)
        );
    }

    #[test]
    fn jargon_is_named_with_the_plain_word() {
        let score = no_jargon("Please utilise the form prior to your visit.");
        assert_eq!(score.why(), Some("\"utilise\" for \"use\", \"prior to\" for \"before\""));
        assert_eq!(no_jargon("Use the form before your visit.").value(), 1.0);
    }

    #[test]
    fn all_together_is_the_mean() {
        let score = plain("Please utilise it.").unwrap();
        let parts: f64 = score.all_metadata().values().map(|part| part.as_f64().unwrap()).sum();
        assert_eq!(score.value(), parts / 3.0);
        assert!(score.why().unwrap().contains("utilise"), "{score:?}");
    }

    #[test]
    fn nothing_is_no_low_score() {
        assert!(easy_to_read(" …").is_err() && short_sentences("").is_err() && plain("").is_err());
    }
}
