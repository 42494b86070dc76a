//! chrF: the overlap of character n-grams between a text and its references.

use std::borrow::Cow;

use super::alignment::ElementIds;
use super::n_grams::{clipped_matches, is_whitespace, n_gram_count, words};

/// Replaces an undefined precision or recall if `eps_smoothing` is set.
const EPSILON: f64 = 1e-16;

/// chrF (Popović 2015) and chrF++ (Popović 2017), computed like sacrebleu 2.6, with its options and defaults.
///
/// chrF = (1 + β²) P R / (β² P + R). P is the mean precision over the orders of character n-grams (code points) and, for chrF++, word
/// n-grams; R is the mean recall. Orders for which either text is too short are skipped. With several references, the one with the best
/// score counts.
///
/// ```
/// use cobalt::metrics::ChrF;
///
/// let (output, references) = ("The mill stands still.", ["The old mill stands still."]);
/// let found = ChrF::default().score(output, &references);
/// assert!((found.score - 0.7602).abs() < 1e-4);
/// assert!(found.precision > found.recall);
/// assert!((ChrF::plus_plus().score(output, &references).score - 0.7561).abs() < 1e-4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ChrF {
    /// The longest character n-grams: 6 by default.
    pub char_order: usize,
    /// The longest word n-grams: 0 by default, which means none; 2 for chrF++.
    pub word_order: usize,
    /// The weight of recall relative to precision: 2 by default. At least 0; above 1e150, only recall counts.
    pub beta: f64,
    /// Whether case is ignored: `false` by default.
    pub lowercase: bool,
    /// Whether whitespace counts as characters: `false` by default.
    pub whitespace: bool,
    /// Whether to average the F-scores of all orders, including those for which a text is too short, like chrF++.py, NLTK and Moses:
    /// `false` by default.
    pub eps_smoothing: bool,
}

impl Default for ChrF {
    fn default() -> Self {
        Self {
            char_order: 6,
            word_order: 0,
            beta: 2.0,
            lowercase: false,
            whitespace: false,
            eps_smoothing: false,
        }
    }
}

/// A score of [`ChrF`] and its components, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChrFScore {
    /// The F-score; with `eps_smoothing`, the mean of the F-scores of all orders.
    pub score: f64,
    /// The mean share of the output's n-grams that match, over the orders for which both texts are long enough.
    pub precision: f64,
    /// The mean share of the reference's n-grams that match, over the same orders.
    pub recall: f64,
}

impl ChrF {
    /// chrF++: with n-grams of up to 2 words.
    #[must_use]
    pub fn plus_plus() -> Self {
        Self { word_order: 2, ..Self::default() }
    }

    /// Scores a text against its references. 0 without a reference, or without an n-gram on either side.
    #[must_use]
    pub fn score(&self, output: &str, references: &[impl AsRef<str>]) -> ChrFScore {
        self.score_of(&self.best(output, references))
    }

    /// Scores a corpus, each text against its references. The counts of each text and its best reference are summed first, so this is not a
    /// mean of scores.
    ///
    /// ```
    /// use cobalt::metrics::ChrF;
    ///
    /// let texts = [("the ferry left", vec!["a ferry came", "the ferry left"]), ("late", vec!["late"])];
    /// assert_eq!(ChrF::default().corpus_score(texts).score, 1.0);
    /// ```
    #[must_use]
    pub fn corpus_score<'a, R, S>(&self, texts: impl IntoIterator<Item = (&'a str, R)>) -> ChrFScore
    where
        R: AsRef<[S]>,
        S: AsRef<str>,
    {
        let mut sums = vec![Counts::default(); self.char_order + self.word_order];
        for (output, references) in texts {
            for (sum, counts) in sums.iter_mut().zip(self.best(output, references.as_ref())) {
                sum.add(counts);
            }
        }
        self.score_of(&sums)
    }

    /// The counts for the reference with the best score, or the first one if equal. `None` without a reference.
    fn best(&self, output: &str, references: &[impl AsRef<str>]) -> Vec<Counts> {
        let cased = |text| if self.lowercase { str::to_lowercase(text).into() } else { Cow::Borrowed(text) };
        let output = cased(output);
        let mut best: Option<(f64, Vec<Counts>)> = None;
        for reference in references {
            let counts = self.counts(&output, &cased(reference.as_ref()));
            let score = self.score_of(&counts).score;
            if best.as_ref().is_none_or(|(best, _)| score > *best) {
                best = Some((score, counts));
            }
        }
        best.map(|(_, counts)| counts).unwrap_or_default()
    }

    /// The counts per order: character n-grams, then word n-grams.
    fn counts(&self, output: &str, reference: &str) -> Vec<Counts> {
        let [letters, other_letters] = [output, reference].map(|text| self.letters(text));
        let mut counts = Counts::of_orders(&letters, other_letters, self.char_order);
        if self.word_order > 0 {
            let mut known = ElementIds::new();
            let [words, other_words] = [output, reference]
                .map(|text| words_and_punctuation(text).map(|word| known.of(word)).collect::<Vec<_>>());
            counts.extend(Counts::of_orders(&words, other_words, self.word_order));
        }
        counts
    }

    fn letters(&self, text: &str) -> Vec<usize> {
        let letters = text.chars().filter(|letter| self.whitespace || !is_whitespace(*letter));
        letters.map(|letter| letter as usize).collect()
    }

    fn score_of(&self, counts: &[Counts]) -> ChrFScore {
        let defined = counts.iter().filter(|counts| counts.output > 0 && counts.reference > 0);
        let precision = mean(defined.clone().map(|counts| counts.matches as f64 / counts.output as f64));
        let recall = mean(defined.map(|counts| counts.matches as f64 / counts.reference as f64));
        let score = if self.eps_smoothing {
            self.mean_of_f_scores(counts)
        } else {
            self.f_score(precision, recall).unwrap_or(0.0)
        };
        ChrFScore { score, precision, recall }
    }

    fn mean_of_f_scores(&self, counts: &[Counts]) -> f64 {
        mean(counts.iter().map(|counts| {
            let [precision, recall] = [counts.output, counts.reference]
                .map(|total| if total > 0 { counts.matches as f64 / total as f64 } else { EPSILON });
            self.f_score(precision, recall).unwrap_or(EPSILON)
        }))
    }

    /// `None` if both are 0.
    fn f_score(&self, precision: f64, recall: f64) -> Option<f64> {
        // Avoids NaN from infinity.
        let factor = (self.beta * self.beta).clamp(0.0, 1e300);
        let weighed = factor * precision + recall;
        (weighed > 0.0).then(|| (1.0 + factor) * precision * recall / weighed)
    }
}

/// The n-gram counts of an order.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// 0 if the reference has none.
    output: usize,
    reference: usize,
    /// In both.
    matches: usize,
}

impl Counts {
    fn of_orders(output: &[usize], reference: Vec<usize>, orders: usize) -> Vec<Self> {
        let (length, other_length) = (output.len(), reference.len());
        let matches = clipped_matches(output, &[reference], orders);
        let counts = |(order, matches)| {
            let reference = n_gram_count(other_length, order);
            let output = if reference > 0 { n_gram_count(length, order) } else { 0 };
            Self { output, reference, matches }
        };
        (1..).zip(matches).map(counts).collect()
    }

    fn add(&mut self, other: Self) {
        self.output += other.output;
        self.reference += other.reference;
        self.matches += other.matches;
    }
}

/// The words of a text. An ASCII punctuation mark at a word's end or, if there is none, at its start becomes a separate word.
fn words_and_punctuation(text: &str) -> impl Iterator<Item = &str> {
    words(text).flat_map(|word| {
        let sign = |letter: char| letter.is_ascii_punctuation();
        let (first, second) = match word.len() {
            1 => (word, ""),
            length if word.ends_with(sign) => word.split_at(length - 1),
            _ if word.starts_with(sign) => word.split_at(1),
            _ => (word, ""),
        };
        [first, second].into_iter().filter(|part| !part.is_empty())
    })
}

/// 0 for no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_parts_from_the_end_of_a_word_before_its_start() {
        let words: Vec<_> = words_and_punctuation("(hi) \"so ... , l'eau «x»").collect();
        assert_eq!(words, ["(hi", ")", "\"", "so", "..", ".", ",", "l'eau", "«x»"]);
    }

    #[test]
    fn orders_that_a_text_is_too_short_for_are_left_out_or_count_as_nothing() {
        let eps_smoothing = ChrF { eps_smoothing: true, ..ChrF::default() };
        assert_eq!(ChrF::default().score("mill", &["mill"]).score, 1.0);
        assert!((eps_smoothing.score("mill", &["mill"]).score - 4.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn white_space_and_case_count_where_they_are_said_to() {
        let [plain, whitespace, lowercase] = [(false, false), (true, false), (false, true)]
            .map(|(whitespace, lowercase)| ChrF { whitespace, lowercase, ..ChrF::default() });
        assert_eq!(plain.score("ferry boat", &["ferryboat"]).score, 1.0);
        assert!(whitespace.score("ferry boat", &["ferryboat"]).score < 1.0);
        assert_eq!(plain.score("FERRY", &["ferry"]).score, 0.0);
        assert_eq!(lowercase.score("ΟΔΟΣ", &["οδος"]).score, 1.0);
    }

    #[test]
    fn nothing_to_compare_with_is_zero() {
        let nothing = ChrFScore::default();
        assert_eq!(ChrF::default().score("", &[""]), nothing);
        assert_eq!(ChrF::plus_plus().score("a", &[] as &[&str]), nothing);
        assert_eq!(ChrF { char_order: 0, ..ChrF::default() }.score("a", &["a"]), nothing);
    }

    #[test]
    fn precision_and_recall_are_means_over_the_orders() {
        let found = ChrF { char_order: 2, ..ChrF::default() }.score("abx", &["abcd"]);
        assert_eq!(found.precision, f64::midpoint(2.0 / 3.0, 1.0 / 2.0));
        assert_eq!(found.recall, f64::midpoint(2.0 / 4.0, 1.0 / 3.0));
    }

    #[test]
    fn however_much_recall_counts_the_score_is_a_number() {
        for beta in [1e150, 1e200, f64::MAX] {
            let found = ChrF { beta, ..ChrF::default() }.score("the mill", &["the old mill"]);
            assert_eq!(found.score, found.recall, "{beta}");
        }
    }

    #[test]
    fn the_best_reference_counts() {
        let chrf = ChrF::plus_plus();
        let scores = ["the old mill", "the mill"].map(|reference| chrf.score("a mill", &[reference]).score);
        assert_eq!(chrf.score("a mill", &["the old mill", "the mill"]).score, scores[0].max(scores[1]));
        assert_ne!(scores[0], scores[1]);
    }
}
