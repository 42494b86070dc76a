//! Metrics of classifiers, from pairs of an expected and a predicted label.

use std::collections::{BTreeMap, BTreeSet};

use cobalt_core::report::builders::Table;

/// The macro-averaged F1 score of pairs of an expected and a predicted label: the mean of the F1 scores of all labels that occur on either
/// side, as scikit-learn's `f1_score(average="macro")` has it. F1 = 2·TP / (2·TP + FP + FN). 0 without pairs.
///
/// ```
/// use cobalt::metrics::macro_f1;
///
/// let f1 = macro_f1([("spam", "spam"), ("spam", "ham"), ("ham", "ham"), ("ham", "ham")]);
/// assert!((f1 - (2.0 / 3.0 + 4.0 / 5.0) / 2.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn macro_f1<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> f64 {
    /// True positives, and the numbers of expected and predicted labels.
    #[derive(Default)]
    struct Counts {
        hits: usize,
        expected: usize,
        predicted: usize,
    }
    let mut labels: BTreeMap<&str, Counts> = BTreeMap::new();
    for (expected, predicted) in pairs {
        labels.entry(expected).or_default().expected += 1;
        let counts = labels.entry(predicted).or_default();
        counts.predicted += 1;
        counts.hits += usize::from(expected == predicted);
    }
    let f1 = |counts: &Counts| 2.0 * counts.hits as f64 / (counts.expected + counts.predicted) as f64;
    labels.values().map(f1).sum::<f64>() / labels.len().max(1) as f64
}

/// The confusion matrix of pairs of an expected and a predicted label: a row per expected label, a column per predicted one, sorted.
///
/// ```
/// use cobalt::Table;
/// use cobalt::metrics::confusion_matrix;
///
/// let matrix = confusion_matrix([("spam", "spam"), ("spam", "ham"), ("ham", "ham")]);
/// assert_eq!(matrix, Table::new(["ham", "spam"]).label("expected").row("ham", [1, 0]).row("spam", [1, 1]));
/// ```
pub fn confusion_matrix<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Table {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for pair in pairs {
        *counts.entry(pair).or_default() += 1;
    }
    let labels: BTreeSet<&str> =
        counts.keys().flat_map(|(expected, predicted)| [*expected, *predicted]).collect();
    let count = |expected, predicted| counts.get(&(expected, predicted)).copied().unwrap_or(0);
    let table = Table::new(labels.iter().copied()).label("expected");
    labels.iter().fold(table, |table, expected| {
        table.row(*expected, labels.iter().map(|predicted| count(*expected, *predicted)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_are_only_expected_or_only_predicted_count_with_an_f1_of_0() {
        let f1 = macro_f1([("a", "a"), ("b", "c")]);
        assert!((f1 - 1.0 / 3.0).abs() < 1e-12, "{f1}");
        assert_eq!(macro_f1([]), 0.0);
        assert_eq!(macro_f1([("a", "a"), ("b", "b")]), 1.0);
    }

    #[test]
    fn macro_f1_is_that_of_scikit_learn() {
        // f1_score([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1], average="macro") in its documentation.
        let pairs = [("0", "0"), ("1", "2"), ("2", "1"), ("0", "0"), ("1", "0"), ("2", "1")];
        assert!((macro_f1(pairs) - 0.266_666_666_7).abs() < 1e-9);
    }

    #[test]
    fn a_matrix_without_pairs_is_empty() {
        assert_eq!(confusion_matrix([]), Table::new([] as [&str; 0]).label("expected"));
    }
}
