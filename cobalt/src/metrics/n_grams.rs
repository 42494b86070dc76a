//! Which n-grams (runs of n tokens) two texts have in common.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// How many n-grams of `output` the references have too, for each order from 1 to `orders`. Each counts at most as often as
/// in the reference that has it most often (clipped counts, Papineni et al. 2002). Tokens are told apart by their numbers.
///
/// Takes time in proportion to tokens times orders: an n-gram is known by the number of its first n - 1 tokens and its last
/// token, so that none is ever copied.
pub(super) fn clipped_matches(output: &[usize], references: &[Vec<usize>], orders: usize) -> Vec<usize> {
    let mut in_output = NGrams::of_order_0(output);
    let mut in_references: Vec<_> = references.iter().map(|tokens| NGrams::of_order_0(tokens)).collect();
    let mut numbers: HashMap<NGram, usize, BuildHasherDefault<Mixer>> =
        HashMap::with_capacity_and_hasher(output.len(), BuildHasherDefault::default());
    let mut matches = vec![0; orders];
    for matches in &mut matches {
        numbers.clear();
        in_output.grow(|gram| {
            let next = numbers.len();
            Some(*numbers.entry(gram).or_insert(next))
        });
        let counts = in_output.counts(numbers.len());
        let mut most = vec![0; numbers.len()];
        for reference in &mut in_references {
            reference.grow(|gram| numbers.get(&gram).copied());
            for (most, count) in most.iter_mut().zip(reference.counts(numbers.len())) {
                *most = count.max(*most);
            }
        }
        // What no reference has is in no longer n-gram that one has.
        in_output.places.retain(|(_, number)| most[*number] > 0);
        *matches = counts.iter().zip(&most).map(|(count, most)| count.min(most)).sum();
        if *matches == 0 {
            break;
        }
    }
    matches
}

/// How many n-grams of an order a text of so many tokens has.
pub(super) fn n_grams(tokens: usize, order: usize) -> usize {
    (tokens + 1).saturating_sub(order)
}

/// The number of the first n - 1 tokens, and the last token.
type NGram = (usize, usize);

/// The n-grams of a text that may be in another too.
struct NGrams<'a> {
    tokens: &'a [usize],
    /// Where each one ends, and its number.
    places: Vec<(usize, usize)>,
}

impl<'a> NGrams<'a> {
    /// One of no token before each token.
    fn of_order_0(tokens: &'a [usize]) -> Self {
        Self { tokens, places: (0..tokens.len()).map(|place| (place, 0)).collect() }
    }

    /// Makes each longer by a token, and drops those that have no number, or no token left.
    fn grow(&mut self, mut number_of: impl FnMut(NGram) -> Option<usize>) {
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

/// A hash of two small numbers: both halves of a product, which depend on all their bits.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
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
        assert_eq!((n_grams(0, 1), n_grams(3, 3), n_grams(3, 5)), (0, 1, 0));
    }
}
