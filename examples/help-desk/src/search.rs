//! The search: BM25 over the stems of short texts. Unknown words are treated as misspellings of known ones.
//!
//! The formula and its usual constants: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.

use std::collections::{BTreeMap, HashMap};

use crate::words::{is_one_edit_apart, stems};

/// The term-frequency saturation, k1.
const SATURATION: f64 = 1.2;
/// The length normalization, b, from 0 to 1.
const LENGTH_WEIGHT: f64 = 0.75;
/// Shorter words have too many neighbours to correct a typo.
const MIN_TYPO_LEN: usize = 5;

/// A search index of texts.
#[derive(Debug)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    /// The document frequency of each stem; sorted, so that a typo is always corrected to the same word.
    document_frequency: BTreeMap<String, usize>,
    mean_length: f64,
}

#[derive(Debug)]
struct Entry {
    counts: HashMap<String, f64>,
    length: f64,
}

/// A text that shares a word with the question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// The index of the text.
    pub(crate) entry: usize,
    /// Its BM25 score: above 0, comparable only within one search.
    pub(crate) score: f64,
    /// The share of the question's weight that the text covers, from 0 to 1; rare words weigh more.
    pub(crate) closeness: f64,
}

impl Index {
    pub(crate) fn new(texts: impl Iterator<Item = String>) -> Self {
        let entries: Vec<Entry> = texts.map(|text| Entry::new(stems(&text))).collect();
        let mut document_frequency = BTreeMap::new();
        for stem in entries.iter().flat_map(|entry| entry.counts.keys()) {
            *document_frequency.entry(stem.clone()).or_default() += 1;
        }
        let mean_length = entries.iter().map(|entry| entry.length).sum::<f64>() / entries.len().max(1) as f64;
        Self { entries, document_frequency, mean_length }
    }

    /// The texts that share a word with the question, best first.
    pub(crate) fn search(&self, question: &str) -> Vec<Hit> {
        let mut words: Vec<String> =
            stems(question).into_iter().map(|stem| self.correct_typo(stem)).collect();
        words.sort();
        words.dedup();
        let total: f64 = words.iter().map(|word| self.weight(word)).sum();
        let mut hits: Vec<Hit> = (0..self.entries.len())
            .map(|entry| {
                let shared = words.iter().filter(|word| self.entries[entry].counts.contains_key(*word));
                let closeness = shared.clone().map(|word| self.weight(word)).sum::<f64>() / total;
                Hit { entry, score: shared.map(|word| self.score(entry, word)).sum(), closeness }
            })
            .filter(|hit| hit.score > 0.0)
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits
    }

    /// The known stem that is at most one typo away, if any.
    fn correct_typo(&self, stem: String) -> String {
        if self.document_frequency.contains_key(&stem) || stem.len() < MIN_TYPO_LEN {
            return stem;
        }
        self.document_frequency.keys().find(|known| is_one_edit_apart(known, &stem)).cloned().unwrap_or(stem)
    }

    /// The inverse document frequency of a stem. An unknown stem counts like one that occurs in a single text.
    fn weight(&self, stem: &str) -> f64 {
        let (all, with) =
            (self.entries.len() as f64, self.document_frequency.get(stem).copied().unwrap_or(1) as f64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    fn score(&self, entry: usize, stem: &str) -> f64 {
        let Entry { counts, length } = &self.entries[entry];
        let count = counts.get(stem).copied().unwrap_or(0.0);
        let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / self.mean_length;
        self.weight(stem) * count * (SATURATION + 1.0) / (count + SATURATION * length)
    }
}

impl Entry {
    fn new(stems: Vec<String>) -> Self {
        let length = stems.len() as f64;
        let mut counts = HashMap::new();
        for stem in stems {
            *counts.entry(stem).or_default() += 1.0;
        }
        Self { counts, length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(texts: &[&str], question: &str) -> Vec<usize> {
        let index = Index::new(texts.iter().map(|&text| text.to_owned()));
        index.search(question).into_iter().map(|hit| hit.entry).collect()
    }

    #[test]
    fn a_rare_word_counts_more_than_a_common_one() {
        assert_eq!(search(&["bike lock", "bike", "bike bell"], "bike bell")[0], 2);
    }

    #[test]
    fn a_short_text_goes_before_a_long_one() {
        assert_eq!(search(&["bell rope tower church stone", "bell", "rain"], "bell"), [1, 0]);
    }

    #[test]
    fn a_slip_finds_the_word_that_was_meant() {
        assert_eq!(search(&["a helmet", "a basket"], "helmt?"), [0]);
    }

    #[test]
    fn a_question_of_common_words_finds_nothing() {
        assert_eq!(search(&["a helmet"], "What is it?"), [] as [usize; 0]);
    }

    #[test]
    fn a_text_with_every_word_of_the_question_is_as_close_as_can_be() {
        let index = Index::new(["red bike", "blue car"].map(str::to_owned).into_iter());
        assert_eq!(index.search("the blue car")[0].closeness, 1.0);
        assert!(index.search("the blue bike")[0].closeness < 1.0);
    }
}
