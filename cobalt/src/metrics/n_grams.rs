//! Words, n-grams and their overlap: precision, recall and F1.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// How many n-grams of `output` occur in the references, for each order from 1 to `orders`. Each counts at most as often as in the
/// reference that contains it most often (clipped counts, Papineni et al. 2002). Tokens are identified by numbers.
///
/// Runs in time proportional to tokens × orders: an n-gram is identified by the number of its first n - 1 tokens and its last token, so
/// none is ever copied.
pub fn clipped_matches(output: &[usize], references: &[Vec<usize>], orders: usize) -> Vec<usize> {
    let mut in_output = NGrams::empty(output);
    let mut in_references: Vec<_> = references.iter().map(|tokens| NGrams::empty(tokens)).collect();
    let mut numbers: HashMap<NGram, usize, BuildHasherDefault<PairHasher>> =
        HashMap::with_capacity_and_hasher(output.len(), BuildHasherDefault::default());
    let mut matches = vec![0; orders];
    for matches in &mut matches {
        numbers.clear();
        in_output.extend(|gram| {
            let next = numbers.len();
            Some(*numbers.entry(gram).or_insert(next))
        });
        let counts = in_output.counts(numbers.len());
        let mut most = vec![0; numbers.len()];
        for reference in &mut in_references {
            reference.extend(|gram| numbers.get(&gram).copied());
            for (most, count) in most.iter_mut().zip(reference.counts(numbers.len())) {
                *most = count.max(*most);
            }
        }
        // An n-gram that no reference contains cannot be part of a longer match.
        in_output.places.retain(|(_, number)| most[*number] > 0);
        *matches = counts.iter().zip(&most).map(|(count, most)| count.min(most)).sum();
        if *matches == 0 {
            break;
        }
    }
    matches
}

/// The number of n-grams of an order in a text with this many tokens.
pub fn n_gram_count(tokens: usize, order: usize) -> usize {
    (tokens + 1).saturating_sub(order)
}

/// The number of the first n - 1 tokens, and the last token.
type NGram = (usize, usize);

/// The n-grams of a text that may still match another text.
struct NGrams<'a> {
    tokens: &'a [usize],
    /// The end and the number of each n-gram.
    places: Vec<(usize, usize)>,
}

impl<'a> NGrams<'a> {
    /// An empty n-gram before each token.
    fn empty(tokens: &'a [usize]) -> Self {
        Self { tokens, places: (0..tokens.len()).map(|place| (place, 0)).collect() }
    }

    /// Extends each by one token, and drops those without a number or a next token.
    fn extend(&mut self, mut number_of: impl FnMut(NGram) -> Option<usize>) {
        self.places.retain_mut(|(end, number)| {
            let grown = self.tokens.get(*end).and_then(|token| number_of((*number, *token)));
            *end += 1;
            grown.inspect(|grown| *number = *grown).is_some()
        });
    }

    /// How often each number occurs.
    fn counts(&self, numbers: usize) -> Vec<usize> {
        let mut counts = vec![0; numbers];
        for (_, number) in &self.places {
            counts[*number] += 1;
        }
        counts
    }
}

/// A hash of two small numbers: both halves of a product, which depend on all input bits.
#[derive(Default)]
struct PairHasher(u64);

impl Hasher for PairHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, number: usize) {
        let product = u128::from(self.0.rotate_left(32) ^ number as u64 ^ SEED) * u128::from(FACTOR);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Odd numbers without a pattern: the first digits of the fractions of π and e.
const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0xb7e1_5162_8aed_2a6b;

/// The overlap of an output and a reference; all values are from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// The share of the output that is in the reference.
    pub precision: f64,
    /// The share of the reference that is in the output.
    pub recall: f64,
    /// The harmonic mean of both, `2 · precision · recall / (precision + recall)`; 0 if nothing is shared.
    pub f1: f64,
}

impl Overlap {
    /// From counts: `common` parts are shared of `output` and of `reference` parts. All values are 0 if either side is empty.
    pub(super) fn of_counts(common: usize, output: usize, reference: usize) -> Self {
        if common == 0 {
            return Self::default();
        }
        let (precision, recall) = (common as f64 / output as f64, common as f64 / reference as f64);
        Self { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }

    /// The overlap with the highest F1, or the first one if equal: compares an output with several references. `None` if there are none.
    ///
    /// ```
    /// use cobalt::metrics::{Overlap, rouge_n};
    ///
    /// let references = ["the boat was late", "the ferry was late"];
    /// let best = Overlap::best(references.map(|reference| rouge_n("a ferry was late", reference, 1, false)));
    /// assert_eq!(best.map(|overlap| overlap.f1), Some(0.75));
    /// ```
    #[must_use]
    pub fn best(overlaps: impl IntoIterator<Item = Self>) -> Option<Self> {
        overlaps.into_iter().reduce(|best, next| if next.f1 > best.f1 { next } else { best })
    }
}

/// How many sequences of `n` words both lists share; each counts as often as in the list that contains it less often.
pub fn common_n_grams<T: Eq + Hash>(output: &[T], reference: &[T], n: usize) -> usize {
    let mut left: HashMap<&[T], usize> = HashMap::with_capacity(reference.len());
    for sequence in reference.windows(n) {
        *left.entry(sequence).or_default() += 1;
    }
    let taken = |sequence: &&[T]| match left.get_mut(*sequence) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    output.windows(n).filter(taken).count()
}

/// The words separated by whitespace, like Python's `str.split()`, which the reference implementations use.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_whitespace).filter(|word| !word.is_empty())
}

/// Whether a character is whitespace in Unicode, or one of the four ASCII separators.
pub fn is_whitespace(letter: char) -> bool {
    letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_n_gram_counts_as_often_as_both_have_it() {
        assert_eq!(clipped_matches(&[1, 1, 1, 2], &[vec![1, 1, 2]], 4), [3, 2, 1, 0]);
        assert_eq!(clipped_matches(&[1, 2], &[vec![2, 1]], 2), [2, 0]);
    }

    #[test]
    fn the_reference_that_has_it_most_often_counts() {
        assert_eq!(clipped_matches(&[1, 1, 2, 2], &[vec![1, 1], vec![1, 2, 2, 2]], 2), [4, 3]);
    }

    #[test]
    fn nothing_matches_nothing() {
        assert_eq!(clipped_matches(&[], &[vec![]], 2), [0, 0]);
        assert_eq!(clipped_matches(&[1], &[], 2), [0, 0]);
        assert_eq!((n_gram_count(0, 1), n_gram_count(3, 3), n_gram_count(3, 5)), (0, 1, 0));
    }
}
