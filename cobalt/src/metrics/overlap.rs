//! How much two lists of words share, as precision, recall and their harmonic mean.

use std::collections::HashMap;
use std::hash::Hash;

/// What an output and a reference share, each figure from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// The share of the output that is in the reference.
    pub precision: f64,
    /// The share of the reference that is in the output.
    pub recall: f64,
    /// The harmonic mean of both, `2 · precision · recall / (precision + recall)`; 0 where nothing is shared.
    pub f1: f64,
}

impl Overlap {
    /// `common` of `output` and of `reference` parts are shared. Without a part on one side, all is 0.
    pub(super) fn of_counts(common: usize, output: usize, reference: usize) -> Self {
        if common == 0 {
            return Self::default();
        }
        let (precision, recall) = (common as f64 / output as f64, common as f64 / reference as f64);
        Self { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }

    /// The overlap with the highest F1, the first of equal ones: how an output is compared with several references. `None`
    /// of none.
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

/// How many sequences of `n` words are in both lists, each as often as it is in the one that has fewer of it.
pub(super) fn common_sequences<T: Eq + Hash>(output: &[T], reference: &[T], n: usize) -> usize {
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
