//! BLEU: the share of a text's n-grams that occur in its references, with smoothing for orders without a match.

mod tokenizer;

use super::alignment::ElementIds;
use super::n_grams::{clipped_matches, n_gram_count};
pub use tokenizer::BleuTokenizer;

/// BLEU (Papineni et al. 2002), computed like sacrebleu 2.6, with its options. The defaults are those of sacrebleu for single sentences.
///
/// BLEU = BP · exp(Σ ln pₙ / N) over the orders n from 1 to N. pₙ is the share of the output's n-grams that occur in a reference, each
/// counted at most as often as in the reference that contains it most often. BP is the brevity penalty, in tokens: 1 for an output at least
/// as long as the reference, else exp(1 - reference length / output length). With several references, the length closest to the output's
/// counts, or the shorter one if equally close.
///
/// Scores are shares, not percentages, and never exceed 1 by rounding. Counts are those before smoothing. Case and, for
/// [`BleuTokenizer::Intl`], character classes follow the Unicode version that this library is built with.
///
/// ```
/// use cobalt::metrics::Bleu;
///
/// let score = Bleu::default().score("The mill stands still.", &["The old mill stands still."]);
/// assert_eq!(score.matches, [5, 3, 2, 1]);
/// assert!((score.score - 0.5789).abs() < 1e-4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bleu {
    /// The tokenizer: [`BleuTokenizer::V13a`] by default.
    pub tokenizer: BleuTokenizer,
    /// The smoothing of orders without a match: [`BleuSmoothing::Exponential`] by default.
    pub smoothing: BleuSmoothing,
    /// The longest n-grams, in tokens: 4 by default. With 0, every score is 0.
    pub max_order: usize,
    /// Whether orders for which the output is too short are skipped, instead of making the score 0: `true` by default. In sacrebleu it is
    /// off for corpora.
    pub effective_order: bool,
    /// Whether case is ignored: `false` by default.
    pub lowercase: bool,
}

impl Default for Bleu {
    fn default() -> Self {
        Self {
            tokenizer: BleuTokenizer::default(),
            smoothing: BleuSmoothing::default(),
            max_order: 4,
            effective_order: true,
            lowercase: false,
        }
    }
}

/// A score of [`Bleu`] and its components. Lists are by order, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct BleuScore {
    /// From 0 to 1.
    pub score: f64,
    /// The smoothed share of the output's n-grams that match. All are 0 if nothing matches.
    pub precisions: Vec<f64>,
    /// How many n-grams of the output match, before smoothing.
    pub matches: Vec<usize>,
    /// How many n-grams the output has, before smoothing.
    pub totals: Vec<usize>,
    /// The factor for the mean of the precisions, from 0 to 1.
    pub brevity_penalty: f64,
    /// In tokens.
    pub output_length: usize,
    /// The length of the closest reference, in tokens; 0 without one.
    pub reference_length: usize,
}

impl Bleu {
    /// The defaults of sacrebleu for corpora: those of [`Bleu::default`], but without an effective order.
    pub const CORPUS: Self = Self {
        tokenizer: BleuTokenizer::V13a,
        smoothing: BleuSmoothing::Exponential,
        max_order: 4,
        effective_order: false,
        lowercase: false,
    };

    /// Scores a text against its references. Without one, nothing matches.
    #[must_use]
    pub fn score(&self, output: &str, references: &[impl AsRef<str>]) -> BleuScore {
        self.score_of(self.counts(output, references))
    }

    /// Scores a corpus, each text against its references. The counts are summed first, so this is not a mean of scores.
    ///
    /// ```
    /// use cobalt::metrics::Bleu;
    ///
    /// let texts = [("a b c d e", vec!["a b c d e"]), ("f", vec!["g h", "f"])];
    /// assert_eq!(Bleu::CORPUS.corpus_score(texts).score, 1.0);
    /// ```
    #[must_use]
    pub fn corpus_score<'a, R, S>(&self, texts: impl IntoIterator<Item = (&'a str, R)>) -> BleuScore
    where
        R: AsRef<[S]>,
        S: AsRef<str>,
    {
        let counts = texts.into_iter().map(|(output, references)| self.counts(output, references.as_ref()));
        self.score_of(counts.fold(Counts::zero(self.max_order), |sum, counts| sum.add(&counts)))
    }

    /// The score of a corpus from those of its texts, of which only the counts matter. It is that of
    /// [`corpus_score`](Self::corpus_score), if this `Bleu` has scored the texts.
    #[must_use]
    pub fn combine<'a>(&self, scores: impl IntoIterator<Item = &'a BleuScore>) -> BleuScore {
        let counts = scores.into_iter().map(|score| Counts {
            matches: score.matches.clone(),
            totals: score.totals.clone(),
            output_length: score.output_length,
            reference_length: score.reference_length,
        });
        self.score_of(counts.fold(Counts::zero(self.max_order), |sum, counts| sum.add(&counts)))
    }

    fn counts(&self, output: &str, references: &[impl AsRef<str>]) -> Counts {
        let line = |text| self.tokenizer.prepare(text, self.lowercase);
        let output = line(output);
        let references: Vec<_> = references.iter().map(|text| line(text.as_ref())).collect();
        let mut known = ElementIds::new();
        let mut numbered = |line| {
            let mut tokens = Vec::new();
            self.tokenizer.tokens(line, |token| tokens.push(known.of(token)));
            tokens
        };
        let output = numbered(&output);
        let references: Vec<_> = references.iter().map(|line| numbered(line)).collect();
        let lengths = references.iter().map(Vec::len);
        let closest = lengths.min_by_key(|length| (length.abs_diff(output.len()), *length));
        Counts {
            matches: clipped_matches(&output, &references, self.max_order),
            totals: (1..=self.max_order).map(|order| n_gram_count(output.len(), order)).collect(),
            output_length: output.len(),
            reference_length: closest.unwrap_or(0),
        }
    }

    fn score_of(&self, counts: Counts) -> BleuScore {
        let Counts { matches, totals, output_length, reference_length } = counts;
        let precisions = self.smoothing.precisions(&matches, &totals);
        let brevity_penalty = brevity_penalty(output_length, reference_length);
        let averaged = if self.effective_order { self.smoothing.orders(&totals) } else { self.max_order };
        let score = if matches.iter().all(|matches| *matches == 0) {
            0.0
        } else {
            let logarithms = precisions[..averaged].iter().map(|precision| precision.ln());
            // Smoothing with large values would make precisions exceed 1.
            (brevity_penalty * (logarithms.sum::<f64>() / averaged as f64).exp()).min(1.0)
        };
        BleuScore { score, precisions, matches, totals, brevity_penalty, output_length, reference_length }
    }
}

/// The counts that are summed over a corpus. Lists are by order.
struct Counts {
    matches: Vec<usize>,
    totals: Vec<usize>,
    output_length: usize,
    reference_length: usize,
}

impl Counts {
    fn zero(orders: usize) -> Self {
        Self { matches: vec![0; orders], totals: vec![0; orders], output_length: 0, reference_length: 0 }
    }

    fn add(mut self, other: &Self) -> Self {
        self.matches.iter_mut().zip(&other.matches).for_each(|(sum, matches)| *sum += matches);
        self.totals.iter_mut().zip(&other.totals).for_each(|(sum, totals)| *sum += totals);
        self.output_length += other.output_length;
        self.reference_length += other.reference_length;
        self
    }
}

fn brevity_penalty(output_length: usize, reference_length: usize) -> f64 {
    match output_length {
        length if length >= reference_length => 1.0,
        0 => 0.0,
        length => (1.0 - reference_length as f64 / length as f64).exp(),
    }
}

/// How [`Bleu`](Bleu) treats an order without a match. If no order has a match, the score is always 0. The methods are those of Chen and
/// Cherry (2014) in sacrebleu; negative values count as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BleuSmoothing {
    /// None: the precision is 0, and so is the score.
    None,
    /// This many matches instead of none (method 1). sacrebleu's default is 0.1.
    Floor(f64),
    /// Adds this number to matches and n-grams in each order above 1 (method 2). sacrebleu's default is 1.
    AddK(f64),
    /// 1/2 of a match in the first order without one, 1/4 in the second, and so on (method 3, that of NIST).
    #[default]
    Exponential,
}

impl BleuSmoothing {
    /// The precision of each order; all 0 if no order has a match.
    pub(super) fn precisions(self, matches: &[usize], totals: &[usize]) -> Vec<f64> {
        if matches.iter().all(|matches| *matches == 0) {
            return vec![0.0; matches.len()];
        }
        let mut next = 1.0;
        let precision = |(order, (matches, total)): (usize, (&usize, &usize))| {
            let more = self.addend(order);
            let (mut matches, total) = (*matches as f64 + more, *total as f64 + more);
            if total == 0.0 {
                return 0.0;
            }
            if matches == 0.0 {
                matches = match self {
                    Self::None | Self::AddK(_) => 0.0,
                    Self::Floor(value) => value.max(0.0),
                    Self::Exponential => {
                        next /= 2.0;
                        next
                    }
                };
            }
            matches / total
        };
        (1..).zip(matches.iter().zip(totals)).map(precision).collect()
    }

    /// The number of orders with an n-gram.
    pub(super) fn orders(self, totals: &[usize]) -> usize {
        (1..).zip(totals).filter(|(order, total)| **total as f64 + self.addend(*order) > 0.0).count()
    }

    /// How many matches and n-grams smoothing adds to an order.
    fn addend(self, order: usize) -> f64 {
        match self {
            Self::AddK(k) if order > 1 => k.max(0.0),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_too_short_for_an_order_has_a_score_by_the_orders_it_has() {
        let plain = Bleu { effective_order: false, ..Bleu::default() };
        assert_eq!(Bleu::default().score("the mill", &["the mill"]).score, 1.0);
        assert_eq!(plain.score("the mill", &["the mill"]).score, 0.0);
    }

    #[test]
    fn an_order_without_a_match_is_smoothed_as_asked() {
        let precisions = |smoothing| {
            Bleu { smoothing, max_order: 3, ..Bleu::default() }.score("a b c d", &["d c b a"]).precisions
        };
        assert_eq!(precisions(BleuSmoothing::None), [1.0, 0.0, 0.0]);
        assert_eq!(precisions(BleuSmoothing::Floor(0.1)), [1.0, 0.1 / 3.0, 0.1 / 2.0]);
        assert_eq!(precisions(BleuSmoothing::AddK(1.0)), [1.0, 1.0 / 4.0, 1.0 / 3.0]);
        assert_eq!(precisions(BleuSmoothing::Exponential), [1.0, 0.5 / 3.0, 0.25 / 2.0]);
    }

    #[test]
    fn smoothing_makes_no_score_of_nothing_and_none_above_one() {
        for smoothing in [BleuSmoothing::Floor(9.0), BleuSmoothing::AddK(9.0), BleuSmoothing::Exponential] {
            let bleu = Bleu { smoothing, ..Bleu::default() };
            assert_eq!(bleu.score("a b", &["c d"]).score, 0.0);
            assert!(bleu.score("a b c d", &["a c b d"]).score <= 1.0);
        }
    }

    #[test]
    fn of_references_as_close_the_shorter_one_counts() {
        let score = Bleu::default().score("a b c", &["a b c d", "a b", "a b c d e"]);
        assert_eq!((score.reference_length, score.brevity_penalty), (2, 1.0));
    }

    #[test]
    fn a_text_shorter_than_its_reference_is_penalised() {
        let score = Bleu::default().score("a b", &["a b c d"]);
        assert_eq!(score.brevity_penalty, (-1.0_f64).exp());
        assert_eq!(score.score, score.brevity_penalty);
        assert_eq!(Bleu::default().score("", &["a"]).brevity_penalty, 0.0);
    }

    #[test]
    fn without_a_reference_nothing_matches() {
        let score = Bleu::default().score("a", &[] as &[&str]);
        assert_eq!((score.score, score.reference_length, score.output_length), (0.0, 0, 1));
    }
}
